// What led to a call: the last calls of its run, and the way to all of them.

import { get, segment } from "../api";
import { ago, now } from "../clock";
import { me } from "../live";
import { useLoaded } from "../load";
import { at } from "../router";
import { short } from "../verdicts";
import type { TraceList } from "../wire.gen";
import type { Approval } from "../wire";
import { Loading, Problem } from "./states";

/** How many calls before this one are shown. */
const SHOWN = 5;

/** The address of all calls of a run. */
export const runAddress = (run: string): string => `${at("history")}?run_id=${encodeURIComponent(run)}`;

export function Led({ approval }: { approval: Approval }) {
  const { value, error } = useLoaded(() => get<TraceList>(`/v1/traces?limit=${SHOWN + 1}&run_id=${segment(approval.run_id)}`), [], approval.run_id);
  if (error.value !== null) return <Problem error={error.value} />;
  if (value.value === null) return <Loading what="The calls before" />;
  const before = value.value.traces
    .filter((it) => it.call_id !== approval.call_id && it.created_at <= approval.created_at)
    .map((it) => short(it, me.value?.name ?? ""))
    .slice(0, SHOWN)
    .reverse();
  return (
    <>
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
        <a href={runAddress(approval.run_id)}>All calls of this run</a>
      </p>
    </>
  );
}
