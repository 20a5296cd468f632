// Edits a call before it is allowed: the text, then how the edited call is judged, then the choice.
// Nothing is answered before the last step, and Escape goes back one step.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

import { explain, post, segment } from "../api";
import type { More } from "../answer";
import { useArming } from "../arming";
import { compare } from "../diff";
import { argsWith, subjectOf, textOf, type Subject } from "../edit";
import { useKeys } from "../keys";
import { isCurrent } from "../live";
import { LABELS, NUMBERS, RISKS } from "../words";
import type { Approval, Risk } from "../wire";
import type { EditedView } from "../wire.gen";
import { Difference } from "./difference";

interface Props {
  approval: Approval;
  isBusy: boolean;
  onAllow: (more: More) => void;
  onDeny: () => void;
  onClose: () => void;
}

/** The edited arguments and how they are judged. */
interface Judged {
  args: Record<string, unknown>;
  view: EditedView;
}

export function EditPanel(props: Props) {
  const { approval } = props;
  const subject = useSignal<Subject>(subjectOf(approval));
  const text = useSignal(textOf(approval.args, subject.value));
  const judged = useSignal<Judged | null>(null);
  const problem = useSignal<string | null>(null);
  const isAsking = useSignal(false);
  const check = async (): Promise<void> => {
    if (isAsking.value) return;
    const args = argsWith(approval.args, subject.value, text.value);
    if (args === null) {
      problem.value = "This is not a JSON object. Correct it, or press Esc to leave the call as it is.";
      return;
    }
    isAsking.value = true;
    problem.value = null;
    try {
      const view = await post<EditedView>(`/v1/approvals/${segment(approval.approval_id)}/assess`, { args });
      judged.value = { args, view };
    } catch (error) {
      problem.value = `${explain(error)} Nothing was answered.`;
    } finally {
      isAsking.value = false;
    }
  };
  const switchTo = (to: Subject): void => {
    const args = argsWith(approval.args, subject.value, text.value);
    if (args === null) {
      problem.value = "This is not a JSON object.";
      return;
    }
    subject.value = to;
    text.value = textOf(args, to);
  };
  if (judged.value !== null) return <Review {...props} judged={judged.value} onBack={() => (judged.value = null)} />;
  return <Write {...props} subject={subject.value} text={text.value} problem={problem.value} onInput={(words) => (text.value = words)} onSwitch={switchTo} onCheck={() => void check()} />;
}

interface WriteProps extends Props {
  subject: Subject;
  text: string;
  problem: string | null;
  onInput: (text: string) => void;
  onSwitch: (to: Subject) => void;
  onCheck: () => void;
}

function Write({ approval, subject, text, problem, onInput, onSwitch, onCheck, onClose }: WriteProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  useKeys({
    close: () => {
      onClose();
      return true;
    },
    choose: () => true,
  });
  const typed = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onCheck();
  };
  const telling = subjectOf(approval);
  const isSame = text === textOf(approval.args, subject);
  return (
    <section class="edit" aria-label="Edit the call">
      <label>
        <span>{subject === "all" ? "Arguments as JSON" : `Edit “${subject.name}”`}</span>
        <textarea ref={field} class="edit-text" rows={Math.min(14, Math.max(3, text.split("\n").length + 1))} spellcheck={false} value={text} onInput={(event) => onInput(event.currentTarget.value)} onKeyDown={typed} />
      </label>
      {problem === null ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p class="hint">The edited call is judged again before you can allow it. Ctrl+Enter checks it, Esc leaves the call as it is.</p>
      <div class="row-of-buttons">
        <button type="button" class="button primary" aria-disabled={isSame} onClick={() => (isSame ? undefined : onCheck())}>
          Check the edited call
        </button>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        {telling === "all" ? null : (
          <button type="button" class="quiet" onClick={() => onSwitch(subject === "all" ? telling : "all")}>
            {subject === "all" ? `Edit only “${telling.name}”` : "Edit all arguments"}
          </button>
        )}
      </div>
    </section>
  );
}

function Review({ approval, judged, isBusy, onAllow, onDeny, onBack }: Props & { judged: Judged; onBack: () => void }) {
  const { view, args } = judged;
  const { arming, armed, watch } = useArming(`${approval.approval_id}/${view.digest}`);
  const isChosen = useSignal(false);
  const wasQuick = useSignal(false);
  const allow = useRef<HTMLButtonElement>(null);
  const isReady = armed.value && !isBusy && isCurrent.value;
  const press = (choice: "once" | "deny", event: Event): void => {
    if (isBusy || (choice === "once" && !isReady)) return;
    wasQuick.value = !arming.admits(event);
    if (wasQuick.value) return;
    if (choice === "deny") {
      onDeny();
      return;
    }
    const isConfirmed = event instanceof MouseEvent && (event.detail === 0 || isChosen.value);
    if (view.confirm_allow && !isConfirmed) {
      isChosen.value = true;
      allow.current?.focus();
    } else onAllow({ args });
  };
  useKeys({
    close: () => {
      onBack();
      return true;
    },
    choose: (event) => {
      if (Number(event.key) === NUMBERS.once) press("once", event);
      else if (Number(event.key) === NUMBERS.deny) press("deny", event);
      return true;
    },
  });
  const before = RISKS[approval.card.risk];
  const after = RISKS[view.card.risk as Risk];
  const [reason] = view.card.reasons;
  return (
    <section class="edit" aria-label="The edited call">
      <p class={`edit-risk risk-${view.card.risk}`} role="status">
        <strong>{before === after ? `Risk stays ${after.toLowerCase()}` : `Risk ${before.toLowerCase()} → ${after.toLowerCase()}`}</strong>
        {reason === undefined ? null : <span>{reason}</span>}
      </p>
      <div class="edit-difference">
        <Difference name="Original and edited" lines={compare(readable(approval.args), readable(view.args))} />
      </div>
      <p class="hint">
        {wasQuick.value
          ? "Too fast: that press was ignored. Press again."
          : isChosen.value
            ? "Critical: press Enter, or click again, to allow it."
            : "1 allows the edited call once, 4 denies, Esc goes back to the text."}
      </p>
      <ol class="choices" aria-label="Choices for the edited call" ref={(element) => void (watch.current = element)}>
        <li>
          <button type="button" ref={allow} class="choice choice-once" aria-disabled={!isReady} onClick={(event) => press("once", event)}>
            <kbd aria-hidden="true">{NUMBERS.once}</kbd>
            <span>{LABELS.once}, as edited</span>
          </button>
        </li>
        <li>
          <button type="button" class="choice choice-deny" aria-disabled={isBusy} onClick={(event) => press("deny", event)}>
            <kbd aria-hidden="true">{NUMBERS.deny}</kbd>
            <span>{LABELS.deny}</span>
          </button>
        </li>
      </ol>
      <div class="row-of-buttons">
        <button type="button" class="button" onClick={onBack}>
          Back to the text
        </button>
      </div>
    </section>
  );
}

/** Returns arguments as lines: a name, then its text. Every character of every argument is in it. */
export function readable(args: unknown): string {
  if (typeof args !== "object" || args === null) return JSON.stringify(args);
  const rows = Object.entries(args).map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value, null, 2)}`);
  return rows.join("\n");
}
