// The body of a card: exactly what would run, complete. Long texts are folded, and nothing can be
// allowed before they were opened.

import { compare, edit, isPatch, patch } from "../diff";
import { languageOfArgument } from "../syntax";
import type { Approval, Field } from "../wire";
import { FileChanges } from "./changes";
import { Difference } from "./difference";
import { Code, Copy, Facts, Prose } from "./fields";

const HEAD = { lines: 30, chars: 2400 };
const TAIL = { lines: 12, chars: 900 };
const FOLD = { lines: 80, chars: 8000 };

/** Arguments that are what somebody else will read. */
const SPOKEN_NAMES = ["text", "body", "message", "content", "caption", "html"];

/** Whether a field is a fact beside its name rather than a text of its own. */
const isShort = (field: Field): boolean =>
  !field.code && field.text.length <= 120 && (field.marks ?? []).length === 0 && !SPOKEN_NAMES.includes(field.name.toLowerCase());

/** Whether a text is shown as head and tail at first. */
export function isLong(text: string): boolean {
  return text.length > FOLD.chars || text.split("\n").length > FOLD.lines;
}

/** Whether anything of the card is folded at first. */
export const needsOpening = (approval: Approval): boolean => approval.card.body.some((field) => isLong(field.text));

export function Body({ approval, isOpen }: { approval: Approval; isOpen: boolean }) {
  const fields = approval.card.body;
  const changes = edit(approval.args);
  const compared: string[] = changes?.names ?? [];
  const rest = fields.filter((field) => !compared.includes(field.name));
  const short = rest.filter(isShort);
  return (
    <>
      <Facts fields={short} />
      <FileChanges approval={approval} />
      {rest.filter((field) => !isShort(field)).map((field, index) => (
        <Long key={index} field={field} approval={approval} isOpen={isOpen} />
      ))}
      {changes === null ? null : <Difference name="Change" lines={compare(changes.before, changes.after)} of={languageOfArgument(changes.names[1], approval.args)} />}
    </>
  );
}

function Long({ field, approval, isOpen }: { field: Field; approval: Approval; isOpen: boolean }) {
  const { args, digest } = approval;
  const of = languageOfArgument(field.name, args);
  if (isLong(field.text) && !isOpen) {
    const head = first(field.text);
    const tail = last(field.text.slice(head.length));
    const hidden = field.text.length - head.length - tail.length;
    return (
      <section class="long">
        <h3>{field.name}</h3>
        <Code name={`${field.name}, beginning`} text={head} of={of} />
        <p class="hidden-part">
          … {hidden.toLocaleString()} of {field.text.length.toLocaleString()} characters hidden · {digest.slice(0, 19)} …
        </p>
        <Code name={`${field.name}, end`} text={tail} of={of} />
      </section>
    );
  }
  if (isPatch(field.name, field.text)) return <Difference name={field.name} lines={patch(field.text)} of={of} />;
  return (
    <section class="long">
      <div class="long-head">
        <h3>{field.name}</h3>
        <Copy name={field.name} text={field.text} />
      </div>
      {field.code ? (
        <Code name={field.name} text={field.text} marks={field.marks ?? []} of={of} />
      ) : (
        <Prose text={field.text} marks={field.marks ?? []} />
      )}
    </section>
  );
}

function first(text: string): string {
  return text.split("\n").slice(0, HEAD.lines).join("\n").slice(0, HEAD.chars);
}

function last(text: string): string {
  return text.split("\n").slice(-TAIL.lines).join("\n").slice(-TAIL.chars);
}
