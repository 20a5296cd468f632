// Draws a difference: in one column where it is narrow, side by side where there is room. Signs and
// spoken words say what the colours say.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { folded, paired, type Line, type Part } from "../diff";
import type { Language } from "../syntax";
import { many } from "../words";
import { Coloured } from "./fields";

/** From this width on, in pixels, old and new stand side by side. */
const WIDE = 880;

const SIGNS: Record<Line["kind"], string> = { same: " ", gone: "−", new: "+", mark: " " };
const ALOUD: Record<Line["kind"], string> = { same: "", gone: "removed: ", new: "added: ", mark: "" };

interface Props {
  name: string;
  lines: Line[];
  /** Whether unchanged lines far from any change are folded. */
  folds?: boolean;
  /** In which colours its lines are drawn. */
  of?: Language | null;
  /** Stands below the name. */
  children?: ComponentChildren;
}

export function Difference({ name, lines, folds = false, of = null, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const isWide = useSignal(false);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => (isWide.value = element.clientWidth >= WIDE));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const parts: Part[] = folds ? folded(lines) : [{ kind: "shown", lines }];
  const digits = String(Math.max(0, ...lines.map((line) => Math.max(line.old ?? 0, line.fresh ?? 0)))).length;
  return (
    <section class="long diff-section">
      <h3>{name}</h3>
      {children}
      <div class={isWide.value ? "code diff diff-wide" : "code diff"} role="group" aria-label={name} ref={box} style={{ "--digits": String(digits) }}>
        {parts.map((part, index) =>
          part.kind === "folded" ? <Folded key={index} lines={part.lines} of={of} isWide={isWide.value} /> : <Rows key={index} lines={part.lines} of={of} isWide={isWide.value} />,
        )}
      </div>
    </section>
  );
}

interface Drawn {
  lines: Line[];
  of: Language | null;
  isWide: boolean;
}

function Folded({ lines, of, isWide }: Drawn) {
  const isOpen = useSignal(false);
  if (isOpen.value) return <Rows lines={lines} of={of} isWide={isWide} />;
  return (
    <button type="button" class="diff-fold" onClick={() => (isOpen.value = true)}>
      Show {many(lines.length, "unchanged line")}
    </button>
  );
}

function Rows({ lines, of, isWide }: Drawn) {
  if (!isWide) {
    return (
      <>
        {lines.map((line, index) => (
          <div key={index} class={`diff-row line-${line.kind}`}>
            <span class="number" aria-hidden="true">{line.old ?? ""}</span>
            <span class="number" aria-hidden="true">{line.fresh ?? ""}</span>
            <Text line={line} of={of} />
          </div>
        ))}
      </>
    );
  }
  return (
    <>
      {paired(lines).map(([old, fresh], index) => (
        <div key={index} class="diff-row">
          <Half line={old} of={of} number={old?.old} />
          <Half line={fresh} of={of} number={fresh?.fresh} isRepeated={old === fresh} />
        </div>
      ))}
    </>
  );
}

function Half({ line, of, number, isRepeated = false }: { line: Line | null; of: Language | null; number: number | undefined; isRepeated?: boolean }) {
  return (
    <div class={`diff-half line-${line?.kind ?? "none"}`} aria-hidden={isRepeated ? "true" : undefined}>
      <span class="number" aria-hidden="true">{number ?? ""}</span>
      {line === null ? null : <Text line={line} of={of} />}
    </div>
  );
}

function Text({ line, of }: { line: Line; of: Language | null }) {
  return (
    <>
      <span class="sign" aria-hidden="true">
        {SIGNS[line.kind]}
      </span>
      <span class="unseen">{ALOUD[line.kind]}</span>
      <span class="diff-text">{line.text === "" ? "\u00a0" : <Coloured text={line.text} of={line.kind === "mark" ? null : of} />}</span>
    </>
  );
}
