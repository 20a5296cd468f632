// What led to a call: the message that its run answers, the last calls, and the way to all of them.

import { get, segment } from "../api";
import { ago, now } from "../clock";
import { me } from "../live";
import { useLoaded } from "../load";
import { at } from "../router";
import { short } from "../verdicts";
import type { BeforeView } from "../wire.gen";
import type { Approval } from "../wire";
import { Loading, Problem } from "./states";

/** The address of all calls of a run or session. */
export const callsOf = (name: "run_id" | "session_id", id: string): string => `${at("history")}?${name}=${encodeURIComponent(id)}`;

export function Led({ approval }: { approval: Approval }) {
  const { value, error } = useLoaded(() => get<BeforeView>(`/v1/approvals/${segment(approval.approval_id)}/before`), [], approval.approval_id);
  if (error.value !== null) return <Problem error={error.value} />;
  if (value.value === null) return <Loading what="What led here" />;
  const { message, calls } = value.value;
  const before = calls.map((it) => short(it, me.value?.name ?? ""));
  return (
    <>
      {message === null || message === undefined ? null : (
        <figure class="led-message">
          <figcaption>{message.from} said</figcaption>
          <blockquote>{message.text}</blockquote>
        </figure>
      )}
      {before.length === 0 ? <p class="hint">This is the first call of its run.</p> : null}
      <ol class="led">
        {before.map((it) => (
          <li key={it.id}>
            <a href={at("history", it.id)}>
              <code>{it.command.slice(0, 200)}</code>
            </a>
            <span>
              {it.ending} · {ago(it.at, now.value)}
            </span>
          </li>
        ))}
      </ol>
      <p>
        <a href={callsOf("run_id", approval.run_id)}>All calls of this run</a>
      </p>
    </>
  );
}
