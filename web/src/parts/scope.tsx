// The grant step before *session* and *always*: possible grants, narrowest first, and what they
// would have matched.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { explain, post } from "../api";
import type { More } from "../answer";
import { useArming } from "../arming";
import { useKeys } from "../keys";
import { isCurrent } from "../live";
import { LABELS, many } from "../words";
import type { Approval, ScopeView } from "../wire";
import { Words } from "./fields";
import { Loading } from "./states";

const LASTS: [string, number | null][] = [
  ["1 hour", 3600],
  ["8 hours", 8 * 3600],
  ["7 days", 7 * 86_400],
];
const USES: [string, number | null][] = [
  ["Unlimited", null],
  ["Once more", 1],
  ["5 times", 5],
  ["20 times", 20],
];

interface Props {
  approval: Approval;
  choice: "session" | "always";
  isBusy: boolean;
  onAnswer: (more: More) => void;
  onClose: () => void;
}

export function ScopePanel({ approval, choice, isBusy, onAnswer, onClose }: Props) {
  const scopes = useSignal<ScopeView[] | null>(null);
  const problem = useSignal<string | null>(null);
  const chosen = useSignal(0);
  const lasts = useSignal(0);
  const uses = useSignal(0);
  // Its time in view begins when the rules are there to be read.
  const { arming, armed, watch } = useArming(`${approval.approval_id}/${choice}/${scopes.value === null ? "asked" : "shown"}`);
  const spans: [string, number | null][] = [[choice === "session" ? "Until the session ends" : "Until revoked", null], ...LASTS];
  useEffect(() => {
    const preview = post<{ scopes: ScopeView[] }>("/v1/grants/preview", { approval_id: approval.approval_id });
    preview.then(
      (list) => (scopes.value = list.scopes.filter((it) => choice === "session" || !it.session_only)),
      (error: unknown) => (problem.value = explain(error)),
    );
  }, []);
  useKeys({
    close: () => {
      onClose();
      return true;
    },
    // Digits answer the card and nothing here; arrows and Enter choose.
    choose: () => true,
  });
  const scope = scopes.value?.[chosen.value];
  const group = useRef<HTMLDivElement>(null);
  useEffect(() => group.current?.querySelector<HTMLInputElement>("input:checked")?.focus(), [scopes.value]);
  const confirm = (event: Event): void => {
    if (scope === undefined || isBusy || !isCurrent.value || !arming.admits(event)) return;
    const more: More = { scope: scope.scope };
    const seconds = spans[lasts.value]?.[1];
    const count = USES[uses.value]?.[1];
    if (typeof seconds === "number") more.lasts_seconds = seconds;
    if (typeof count === "number") more.uses = count;
    onAnswer(more);
  };
  return (
    <section
      class="scope"
      onKeyDown={(event) => {
        if (event.key !== "Enter" || event.target instanceof HTMLButtonElement) return;
        event.preventDefault();
        confirm(event);
      }}
      aria-label={`${LABELS[choice]}: which grant it creates`}
    >
      <h3>{LABELS[choice]}: create this grant</h3>
      <p>{whose(approval, choice)}</p>
      {problem.value === null ? null : <p class="problem">{problem.value}</p>}
      {scopes.value === null && problem.value === null ? <Loading what="Checking what it would have matched" /> : null}
      {scopes.value?.length === 0 ? <p>No grant is possible for this call.</p> : null}
      <div class="scopes" ref={group} role="radiogroup" aria-label="Grants, narrowest first">
        {scopes.value?.map((it, index) => (
          <label key={index} class="scope-row">
            <input
              type="radio"
              name={`scope-${approval.approval_id}`}
              checked={chosen.value === index}
              onChange={() => (chosen.value = index)}
            />
            <span>
              <span class="scope-words">
                <Words text={it.words} />
              </span>
              {it.excludes === "" ? null : <small>Still asks about: {it.excludes}.</small>}
              <small>{matched(it)}</small>
            </span>
          </label>
        ))}
      </div>
      <div class="scope-limits">
        <label>
          <span>For how long</span>
          <select value={lasts.value} onChange={(event) => (lasts.value = event.currentTarget.selectedIndex)}>
            {spans.map(([words], index) => (
              <option key={words} value={index}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>How often</span>
          <select value={uses.value} onChange={(event) => (uses.value = event.currentTarget.selectedIndex)}>
            {USES.map(([words], index) => (
              <option key={words} value={index}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </div>
      <div class="row-of-buttons" ref={(element) => void (watch.current = element)}>
        <button
          type="button"
          class="button primary"
          aria-disabled={!armed.value || isBusy || scope === undefined || !isCurrent.value}
          onClick={confirm}
        >
          {LABELS[choice]}
        </button>
        <button type="button" class="button" onClick={onClose}>
          Back
        </button>
      </div>
    </section>
  );
}

/** Returns whose calls the grant is about. */
function whose(approval: Approval, choice: Props["choice"]): string {
  const text = (name: string) => approval.card.lineage.find((field) => field.name === name)?.text;
  const agent = text("Agent");
  const key = text("Asked by") ?? "this agent";
  const asker = agent === undefined ? key : `${key} (${agent})`;
  return choice === "session" ? `For calls of ${asker} in the session ${approval.session_id}.` : `For calls of ${asker} in any session.`;
}

function matched(scope: ScopeView): string {
  if (scope.matched === null || scope.of === null) return "";
  const words = `Would have matched ${scope.matched} of the last ${many(scope.of, "call")}`;
  return scope.riskiest === null ? `${words}.` : `${words}; the riskiest: ${scope.riskiest}`;
}
