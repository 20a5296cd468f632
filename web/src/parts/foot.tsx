// The foot of a card: the choices while it waits, and then what became of it.

import { useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

import { answer, extend, takeBack, type More } from "../answer";
import { useArming } from "../arming";
import { moment, now, span } from "../clock";
import { useKeys } from "../keys";
import { approvals, isCurrent, link, mayAnswer, me, spoken } from "../live";
import { compare } from "../diff";
import { edited, ending, isGrave, LABELS, LEAVES, NUMBERS } from "../words";
import type { Approval, Choice } from "../wire";
import { Difference } from "./difference";
import { EditPanel, readable } from "./edit";
import { ScopePanel } from "./scope";

/** Seconds at which the time that is left is said aloud. */
const SAID_AT = [60, 30, 10];

type Option = Choice | "view";

interface FootProps {
  approval: Approval;
  /** Whether keys answer this card. */
  hasKeys: boolean;
  onNext: (() => void) | undefined;
  onAnswered: (() => void) | undefined;
  isOpen: boolean;
  endSeen: boolean;
  onOpen: () => boolean;
}

export function Foot(props: FootProps) {
  const { approval, hasKeys, onNext } = props;
  if (approval.status === "waiting" && approval.held_until === null) {
    return mayAnswer.value ? <Choices {...props} /> : <OnlyLooking approval={approval} />;
  }
  if (approval.held_until !== null) return <Held approval={approval} hasKeys={hasKeys} until={approval.held_until} />;
  return <Outcome approval={approval} onNext={onNext} />;
}

/** The card that was answered here last; where its choices were, the focus goes to what came of it. */
let answeredHere = "";

function Outcome({ approval, onNext }: { approval: Approval; onNext: (() => void) | undefined }) {
  const { decision } = approval;
  const line = useRef<HTMLParagraphElement>(null);
  const words = decision === null ? approval.status : ending(decision, me.value?.name ?? "");
  useLayoutEffect(() => {
    if (answeredHere !== approval.approval_id) return;
    spoken.value = words;
    if (document.activeElement === document.body) line.current?.focus();
  }, [words]);
  return (
    <footer class={`answer outcome outcome-${approval.status}`}>
      <p class="outcome-words" ref={line} tabIndex={-1}>
        <strong>{words}</strong>
        {decision === null ? null : <span>{moment(decision.at)}</span>}
      </p>
      {decision?.note ? <p class="note-said">“{decision.note}”</p> : null}
      {decision === null || edited(decision) === null ? null : (
        <details>
          <summary>Edited by {decision.by === me.value?.name ? "you" : decision.by}: original and edited</summary>
          <Difference name="Original and edited" lines={compare(readable(approval.args), readable(edited(decision)))} />
        </details>
      )}
      {onNext === undefined ? null : (
        <button type="button" class="button" onClick={onNext}>
          Next card <kbd>j</kbd>
        </button>
      )}
    </footer>
  );
}

function OnlyLooking({ approval }: { approval: Approval }) {
  return (
    <footer class="answer">
      <Countdown approval={approval} onExtend={undefined} />
      <p class="hint">You can only view this. An approver answers it.</p>
    </footer>
  );
}

function Held({ approval, hasKeys, until }: { approval: Approval; hasKeys: boolean; until: number }) {
  const problem = useSignal<string | null>(null);
  const undo = async (): Promise<void> => {
    problem.value = await takeBack(approval.approval_id);
  };
  useKeys(
    hasKeys
      ? {
          undo: () => {
            void undo();
            return true;
          },
        }
      : {},
  );
  const left = until - now.value;
  return (
    <footer class="answer outcome outcome-approved">
      <p class="outcome-words" role="status">
        <strong>Allowed</strong>
        <span>{left > 0 ? `runs in ${span(left)}` : "runs now"}</span>
      </p>
      {problem.value === null ? null : <p class="problem">{problem.value}</p>}
      <button type="button" class="button" onClick={() => void undo()}>
        Undo <kbd>z</kbd>
      </button>
    </footer>
  );
}

function Countdown({ approval, onExtend }: { approval: Approval; onExtend: (() => void) | undefined }) {
  const left = approval.expires_at - now.value;
  useSignalEffect(() => {
    const seconds = Math.ceil(approval.expires_at - now.value);
    if (SAID_AT.includes(seconds)) spoken.value = `Expires in ${seconds} seconds`;
  });
  return (
    <div class="time-left">
      <p class={left < 30 ? "countdown soon" : "countdown"} title={approval.card.on_timeout}>
        {left > 0 ? `expires in ${span(left)}` : "expired: nobody answered"}
      </p>
      {onExtend === undefined || !isExtendable(approval) ? null : (
        <button type="button" class="quiet" onClick={onExtend}>
          Add {span(approval.extend_seconds ?? 0)} <kbd>+</kbd>
        </button>
      )}
    </div>
  );
}

const isExtendable = ({ extend_seconds: more, expires_at: end }: Approval): boolean =>
  typeof more === "number" && end > now.value;

function Choices({ approval, hasKeys, isOpen, endSeen, onOpen, onAnswered }: FootProps) {
  const { card } = approval;
  const mode = useSignal<"choose" | "deny" | "edit" | "session" | "always">("choose");
  const note = useSignal("");
  const isBusy = useSignal(false);
  const wasQuick = useSignal(false);
  const problem = useSignal<string | null>(null);
  // A card that is given the keys is looked at anew.
  const { arming, armed, watch } = useArming(`${approval.approval_id}/${hasKeys ? "keys" : ""}`);
  const list = useRef<HTMLOListElement>(null);
  const noteField = useRef<HTMLInputElement>(null);
  // The permission of a critical call that was chosen and waits for Enter, or a second click.
  const chosen = useSignal<Option | null>(null);
  const isEmpty = card.command.trim() === "";
  const options: Option[] = [...approval.choices.filter((choice) => !isEmpty || choice === "deny"), ...(isOpen ? [] : (["view"] as const))];
  const mayEdit = approval.editable === true && isOpen && approval.choices.includes("once");
  const isOffered = (option: Option): boolean => option === "deny" || option === "view" || isOpen;
  const isReady = (option: Option): boolean => {
    if (isBusy.value) return false;
    if (option === "view") return true;
    if (!armed.value) return false;
    return option === "deny" || (isCurrent.value && endSeen);
  };
  const send = async (choice: Choice, more?: More): Promise<void> => {
    isBusy.value = true;
    answeredHere = approval.approval_id;
    problem.value = await answer(approval.approval_id, choice, more);
    isBusy.value = false;
    if (problem.value !== null) return;
    mode.value = "choose";
    onAnswered?.();
  };
  const giveTime = async (): Promise<void> => {
    const before = approval.expires_at;
    problem.value = await extend(approval.approval_id);
    const after = approvals.value.get(approval.approval_id)?.expires_at ?? before;
    if (after > before) spoken.value = `Expires in ${span(after - now.value)}`;
  };
  const needsConfirming = (option: Option, event: Event): boolean => {
    if (option !== "once" || !approval.confirm_allow) return false;
    // Enter on the focused button is a click of no pointer.
    const isConfirmed = event instanceof MouseEvent && (event.detail === 0 || chosen.value === option);
    return !isConfirmed;
  };
  const choose = (option: Option, event: Event): void => {
    if (option === "view") {
      onOpen();
      return;
    }
    if (!isReady(option)) return;
    wasQuick.value = !arming.admits(event);
    if (wasQuick.value) return;
    if (needsConfirming(option, event)) {
      chosen.value = option;
      list.current?.querySelector<HTMLButtonElement>(`.choice-${option}`)?.focus();
    } else if (option === "session" || option === "always") mode.value = option;
    else void send(option);
  };
  const step = (by: 1 | -1) => (): boolean => {
    if (mode.value !== "choose" || list.current === null) return false;
    const buttons = [...list.current.querySelectorAll("button")];
    const index = buttons.findIndex((button) => button === document.activeElement);
    const to = index === -1 ? buttons.find((button) => button.hasAttribute("data-first")) : buttons[(index + by + buttons.length) % buttons.length];
    to?.focus();
    return true;
  };
  useLayoutEffect(() => {
    if (mode.value === "deny") noteField.current?.focus();
  }, [mode.value]);
  const first = isGrave(card.risk) || !isOpen ? "deny" : (approval.choices[0] ?? "deny");
  useKeys(
    hasKeys && (mode.value === "choose" || mode.value === "deny")
      ? {
          choose: (event) => {
            const option = options.find((it) => NUMBERS[it] === Number(event.key));
            if (mode.value !== "choose" || option === undefined || !isOffered(option)) return false;
            choose(option, event);
            return true;
          },
          down: step(1),
          up: step(-1),
          note: () => {
            if (mode.value !== "choose") return false;
            mode.value = "deny";
            return true;
          },
          extend: () => {
            if (!isExtendable(approval)) return false;
            void giveTime();
            return true;
          },
          edit: () => {
            if (mode.value !== "choose" || !mayEdit) return false;
            mode.value = "edit";
            return true;
          },
          open: (event) => {
            if (event.target instanceof HTMLButtonElement || mode.value !== "choose") return false;
            if (event.target instanceof HTMLAnchorElement && event.target.getAttribute("aria-current") !== "true") return false;
            list.current?.querySelector<HTMLButtonElement>("[data-first]")?.focus();
            return true;
          },
          close: () => {
            if (mode.value === "choose") return false;
            mode.value = "choose";
            return true;
          },
        }
      : {},
  );
  const deny = (event: Event): void => {
    event.preventDefault();
    if (isBusy.value || !event.isTrusted) return;
    void send("deny", note.value.trim() === "" ? {} : { note: note.value.trim() });
  };
  return (
    <footer class="answer" data-armed={armed.value}>
      <div class="answer-line" ref={(element) => void (watch.current = element)}>
        <Countdown approval={approval} onExtend={() => void giveTime()} />
        <p
          class="hint"
          role={wasQuick.value || chosen.value !== null ? "status" : undefined}
          data-blocked={isCurrent.value && isOpen && endSeen ? undefined : ""}
        >
          {wasQuick.value
            ? "Too fast: that press was ignored. Press again."
            : chosen.value !== null
              ? "Critical: press Enter, or click again, to allow it."
              : mode.value === "edit"
                ? ""
                : hintFor(approval, armed.value, endSeen, isOpen)}
        </p>
        {mode.value === "choose" ? (
          <div class="answer-more">
            {mayEdit ? (
              <button type="button" class="quiet" onClick={() => (mode.value = "edit")}>
                Edit <kbd>e</kbd>
              </button>
            ) : null}
            <button type="button" class="quiet" onClick={() => (mode.value = "deny")}>
              Deny with a note <kbd>n</kbd>
            </button>
          </div>
        ) : null}
      </div>
      {problem.value === null ? null : (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      {mode.value === "session" || mode.value === "always" ? (
        <ScopePanel
          approval={approval}
          choice={mode.value}
          isBusy={isBusy.value}
          onAnswer={(more) => void send(mode.value as Choice, more)}
          onClose={() => (mode.value = "choose")}
        />
      ) : null}
      {mode.value === "edit" ? (
        <EditPanel
          approval={approval}
          isBusy={isBusy.value}
          onAllow={(more) => void send("once", more)}
          onDeny={() => void send("deny")}
          onClose={() => (mode.value = "choose")}
        />
      ) : null}
      {mode.value === "deny" ? (
        <form class="deny" onSubmit={deny}>
          <label>
            <span>Deny and tell the agent why</span>
            <input
              ref={noteField}
              type="text"
              maxLength={1000}
              value={note.value}
              autocomplete="off"
              onInput={(event) => (note.value = event.currentTarget.value)}
            />
          </label>
          <div class="row-of-buttons">
            <button type="submit" class="button danger" aria-disabled={isBusy.value}>
              Deny
            </button>
            <button type="button" class="button" onClick={() => (mode.value = "choose")}>
              Back
            </button>
          </div>
        </form>
      ) : null}
      {mode.value === "choose" ? (
        <ol class="choices" ref={list} aria-label="Choices">
          {options.map((option) =>
            isOffered(option) ? (
              <li key={option}>
                <button
                  type="button"
                  class={`choice choice-${option}`}
                  data-first={option === first ? "" : undefined}
                  aria-disabled={!isReady(option)}
                  title={option === "view" ? undefined : LEAVES[option]}
                  onClick={(event) => choose(option, event)}
                >
                  <kbd aria-hidden="true">{NUMBERS[option]}</kbd>
                  <span>{option === "view" ? "Show full command" : LABELS[option]}</span>
                </button>
              </li>
            ) : null,
          )}
        </ol>
      ) : null}
    </footer>
  );
}

function hintFor(approval: Approval, armed: boolean, endSeen: boolean, isOpen: boolean): string {
  if (!isCurrent.value) return link.value === "away" ? "Offline: nothing can be answered." : "Catching up: nothing can be allowed until this is done.";
  if (!isOpen) return "Open the full text (5) to allow.";
  if (!endSeen) return "Read to the end (PgDn, End) to allow.";
  if (!armed) return "One moment …";
  return approval.confirm_allow ? "A number, then Enter, to allow; 4 to deny" : "A number answers, or ↑/↓ and Enter";
}
