// A card: the call, the reasons, who asks, and the choices.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { viewed } from "../answer";
import { ago, moment, now } from "../clock";
import { useKeys } from "../keys";
import { mayAnswer, me, people } from "../live";
import { at } from "../router";
import { isGrave, TIERS } from "../words";
import type { Approval } from "../wire";
import { Body, needsOpening } from "./body";
import { Copy, Facts, Quote } from "./fields";
import { Foot } from "./foot";
import { callsOf, Led } from "./led";
import { RiskWord } from "./risk";
import { Why } from "./why";

/** Reasons that are shown before somebody asks why. */
const REASONS_SHOWN = 3;

interface Props {
  approval: Approval;
  /** Whether keys answer this card. */
  hasKeys: boolean;
  /** Whether it stands in a conversation, which says already who asks. */
  isInline?: boolean;
  /** What follows when it is answered. */
  onNext?: (() => void) | undefined;
  /** Called when it was answered here. */
  onAnswered?: (() => void) | undefined;
}

export function CardView({ approval, hasKeys, isInline = false, onNext, onAnswered }: Props) {
  const { card, assessment } = approval;
  const why = useSignal(false);
  const led = useSignal(false);
  const isOpen = useSignal(!needsOpening(approval));
  const endSeen = useSignal(!isGrave(card.risk));
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = end.current;
    // The end of what is folded is not the end of what was read.
    if (element === null || endSeen.value || !isOpen.value) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) endSeen.value = true;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [isOpen.value]);
  const open = (): boolean => {
    if (isOpen.value) return false;
    isOpen.value = true;
    if (mayAnswer.value) void viewed(approval.approval_id);
    return true;
  };
  const scrolled = useRef<HTMLDivElement>(null);
  const scroll = (to: (element: HTMLElement) => number) => (event: KeyboardEvent): boolean => {
    // In a short window the page scrolls as a whole.
    const own = scrolled.current;
    const element = own !== null && own.scrollHeight > own.clientHeight ? own : document.scrollingElement;
    if (!(element instanceof HTMLElement)) return false;
    // Space presses what has the focus.
    if (event.key === " " && event.target instanceof HTMLElement && event.target.matches("button, a, input, summary")) return false;
    element.scrollTo({ top: to(element) });
    return true;
  };
  const page = (element: HTMLElement): number => Math.max(40, element.clientHeight - 48);
  useKeys(
    hasKeys
      ? {
          why: () => (why.value = !why.value) || true,
          mark: () => {
            open();
            // The marks of what was folded are there after the next frame.
            requestAnimationFrame(() => toNextMark(scrolled.current));
            return true;
          },
          led: () => (led.value = !led.value) || true,
          full: open,
          page_down: scroll((it) => it.scrollTop + page(it)),
          page_up: scroll((it) => it.scrollTop - page(it)),
          // First to the end of what would run, then to the end of the card.
          end: (event) => {
            if (endSeen.value || end.current === null) return scroll((it) => it.scrollHeight)(event);
            end.current.scrollIntoView({ block: "end" });
            return true;
          },
          top: scroll(() => 0),
        }
      : {},
  );
  const quoted = card.lineage.filter((field) => field.code);
  // The first reason stands at the top already.
  const more = card.reasons.slice(1, why.value ? undefined : REASONS_SHOWN);
  const rest = (
    <>
      <section class="reasons">
        {more.length === 0 ? null : <h3>Other reasons</h3>}
        {more.length === 0 ? null : (
          <ul>
            {more.map((reason, index) => (
              <li key={index}>{reason}</li>
            ))}
          </ul>
        )}
        <button type="button" class="quiet" aria-expanded={why.value} onClick={() => (why.value = !why.value)}>
          {why.value ? "Less" : "Full analysis"} <kbd>w</kbd>
        </button>
        {why.value ? <Why assessment={assessment} /> : null}
        <button type="button" class="quiet" aria-expanded={led.value} onClick={() => (led.value = !led.value)}>
          What led here <kbd>b</kbd>
        </button>
        {led.value ? <Led approval={approval} /> : null}
      </section>
      {quoted.map((field, index) => (
        <Quote key={index} name={field.name} text={field.text} marks={field.marks ?? []} />
      ))}
      {isInline ? (
        <details class="lineage">
          <summary>Who asks</summary>
          <Lineage approval={approval} />
        </details>
      ) : (
        <section class="lineage">
          <h3>Who asks</h3>
          <Lineage approval={approval} />
        </section>
      )}
    </>
  );
  return (
    <article class={`card edge-${card.risk}`} aria-labelledby={`title-${approval.approval_id}`}>
      <div class="card-scroll" ref={scrolled}>
        <header class="card-head">
          <p class="verdict">
            <RiskWord risk={card.risk} />
            <span>{approval.description}</span>
          </p>
          <h2 id={`title-${approval.approval_id}`} tabIndex={-1}>
            {card.title}
          </h2>
          {assessment.crisis_sensitive ? (
            <p class="crisis">This may affect a person in crisis. You can allow it once or deny it; grants are not offered.</p>
          ) : null}
          {(card.help_lines ?? []).length === 0 ? null : (
            <ul class="crisis" aria-label="Help lines">
              {(card.help_lines ?? []).map((line, index) => (
                <li key={index}>{line}</li>
              ))}
            </ul>
          )}
        </header>
        <Body approval={approval} isOpen={isOpen.value} />
        <div ref={end} class="end" />
        {isInline && approval.status !== "waiting" ? (
          <details>
            <summary>Details</summary>
            {rest}
          </details>
        ) : (
          rest
        )}
        {card.explanation === null ? null : (
          <section class="claim">
            <h3>The agent says (unverified)</h3>
            <blockquote>{card.explanation}</blockquote>
          </section>
        )}
      </div>
      <Foot approval={approval} hasKeys={hasKeys} isOpen={isOpen.value} endSeen={endSeen.value} onOpen={open} onNext={onNext} onAnswered={onAnswered} />
    </article>
  );
}

/** Scrolls to the first mark below the middle; behind the last, to the first again. */
function toNextMark(within: HTMLElement | null): void {
  const marks = [...(within?.querySelectorAll("mark") ?? [])];
  const last = marks.findIndex((mark) => mark.hasAttribute("data-here"));
  for (const mark of marks) mark.removeAttribute("data-here");
  const next = marks[last + 1] ?? marks[0];
  next?.setAttribute("data-here", "");
  next?.scrollIntoView({ block: "center" });
}

function Lineage({ approval }: { approval: Approval }) {
  const { card } = approval;
  const lineage = card.lineage.filter((field) => !field.code);
  const isOurs = lineage.some((field) => field.name === "Asked by" && field.text === "builtin");
  const links: Record<string, string> = {
    Run: callsOf("run_id", approval.run_id),
    Session: isOurs ? at("talk", approval.session_id) : callsOf("session_id", approval.session_id),
  };
  const linked = lineage.map((field) => (links[field.name] === undefined ? field : { ...field, href: links[field.name] ?? "" }));
  return (
    <>
      <Facts
        fields={[
          ...linked,
          { name: "Asked", text: `${moment(approval.created_at)}, ${ago(approval.created_at, now.value)}` },
          { name: "Tier", text: `${card.tier}, ${TIERS[card.tier] ?? ""}` },
          { name: "Can also answer", text: othersWords() },
        ]}
      />
      <p class="digest">
        Bound to <code>{approval.digest}</code> <Copy name="the digest" text={approval.digest} />
      </p>
    </>
  );
}

function othersWords(): string {
  const others = people.value
    .filter((person) => person.name !== me.value?.name && person.roles.some((role) => role !== "viewer"))
    .map((person) => person.name);
  if (others.length === 0) return "nobody else";
  const shown = others.slice(0, 6).join(", ");
  return others.length > 6 ? `${shown} and ${others.length - 6} more` : shown;
}
