// Named fields of a card. All values are text nodes.

import { useSignal } from "@preact/signals";

import { say } from "../live";
import { tokens, type Kind, type Language } from "../syntax";
import type { Mark } from "../wire";

/** Short facts, name beside text. */
export function Facts({ fields }: { fields: { name: string; text: string; href?: string }[] }) {
  if (fields.length === 0) return null;
  return (
    <dl class="facts">
      {fields.map((field, index) => (
        <div key={index}>
          <dt>{field.name}</dt>
          <dd>{field.href === undefined ? field.text : <a href={field.href}>{field.text}</a>}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Words of the firewall in which commands stand between backticks. */
export function Words({ text }: { text: string }) {
  const parts = text.split("`");
  // Backticks of a command itself are part of it, and where it ends cannot be told.
  if (parts.length !== 3) return <>{text}</>;
  return <>{parts.map((part, index) => (index === 1 ? <code key={index}>{part}</code> : part))}</>;
}

/** A text as it is, with its line breaks, in fixed width; what was found in it is marked. */
export function Code({ name, text, marks = [], of = null }: { name: string; text: string; marks?: Mark[]; of?: Language | null }) {
  return (
    <pre class={text.includes("\n") ? "code numbered" : "code"} role="group" aria-label={name}>
      {lines(pieces(text, marks, of)).map((line, index) => (
        <span key={index} class="code-line">
          <Pieces of={line} />
        </span>
      ))}
    </pre>
  );
}

/** Words that somebody will read, with what was found in them marked. */
export function Prose({ text, marks }: { text: string; marks: Mark[] }) {
  return (
    <p class="prose">
      <Pieces of={pieces(text, marks, null)} />
    </p>
  );
}

/** A line of code in its colours. */
export function Coloured({ text, of }: { text: string; of: Language | null }) {
  return <Pieces of={pieces(text, [], of)} />;
}

function Pieces({ of }: { of: Piece[] }) {
  return (
    <>
      {of.map(({ text, mark, kind }, at) => {
        const drawn = kind === null ? text : <span key={at} class={`code-${kind}`}>{text}</span>;
        if (mark === null) return drawn;
        return (
          <mark key={at} class={`mark-${mark.severity}`} title={mark.words}>
            {drawn}
          </mark>
        );
      })}
    </>
  );
}

/** A text under its name, with a way to copy it. */
export function Quote({ name, text, marks = [] }: { name: string; text: string; marks?: Mark[] }) {
  return (
    <section class="long">
      <div class="long-head">
        <h3>{name}</h3>
        <Copy name={name.toLowerCase()} text={text} />
      </div>
      <Code name={name} text={text} marks={marks} />
    </section>
  );
}

interface Piece {
  text: string;
  mark: Mark | null;
  kind: Kind | null;
}

/** Cuts `text` at its marks, which are given in UTF-8 bytes and in order, and what is between them by colour. */
function pieces(text: string, marks: Mark[], of: Language | null): Piece[] {
  const bytes = marks.length === 0 ? null : new TextEncoder().encode(text);
  const cut = (start: number, end: number): string => new TextDecoder().decode(bytes?.subarray(start, end));
  const made: Piece[] = [];
  const plain = (between: string): void => void made.push(...tokens(between, of).map((it) => ({ ...it, mark: null })));
  let at = 0;
  for (const mark of marks) {
    plain(cut(at, mark.start));
    made.push({ text: cut(mark.start, mark.end), mark, kind: null });
    at = mark.end;
  }
  plain(bytes === null ? text : cut(at, bytes.length));
  return made.filter((piece) => piece.text !== "");
}

/** Breaks pieces into lines. Each keeps its line break, so that what is copied is the text. */
function lines(parts: Piece[]): Piece[][] {
  const made: Piece[][] = [[]];
  for (const { text, mark, kind } of parts) {
    for (const line of text.split(/(?<=\n)/)) {
      made.at(-1)?.push({ text: line, mark, kind });
      if (line.endsWith("\n")) made.push([]);
    }
  }
  return made;
}

/** Copies what is shown, as it is shown. */
export function Copy({ name, text }: { name: string; text: string }) {
  const isDone = useSignal(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      isDone.value = true;
      setTimeout(() => (isDone.value = false), 2000);
    } catch {
      say("The browser does not let this page copy. Select the text instead.");
    }
  };
  // Without a secure origin there is no clipboard.
  if (!("clipboard" in navigator)) return null;
  return (
    <button type="button" class="quiet copy" aria-label={`Copy ${name}`} onClick={() => void copy()}>
      {isDone.value ? "Copied" : "Copy"}
    </button>
  );
}
