// The ledger: verification and entries.

import { useSignal } from "@preact/signals";

import { explain, get } from "../api";
import { fullMoment, moment } from "../clock";
import { useLoaded } from "../load";
import { Code, Facts, Quote } from "../parts/fields";
import { Icon } from "../parts/icon";
import { Commands, Head, Loading, Problem } from "../parts/states";
import type { Entry, EntryList, LedgerState } from "../wire.gen";
import { many } from "../words";

const PAGE = 25;

export function Ledger() {
  const state = useSignal<LedgerState | null>(null);
  const isBusy = useSignal(false);
  const problem = useSignal<string | null>(null);
  const verify = async (): Promise<void> => {
    if (isBusy.value) return;
    isBusy.value = true;
    try {
      state.value = await get<LedgerState>("/v1/ledger/verify");
      problem.value = null;
    } catch (error) {
      problem.value = explain(error);
    }
    isBusy.value = false;
  };
  return (
    <div class="page">
      <Head title="Ledger" lead="A hash-chained log of everything that happened. Changing one entry breaks every entry after it." />
      <section class={`panel fill ${state.value === null ? "" : state.value.ok ? "good" : "bad"}`} aria-live="polite">
        {state.value === null ? (
          <p>Verification checks the whole chain, its signatures and the stored head, and compares every record with it. It changes nothing.</p>
        ) : (
          <Verified state={state.value} />
        )}
        {problem.value === null ? null : <p class="problem">{problem.value}</p>}
        <button type="button" class="button primary" aria-disabled={isBusy.value} onClick={() => void verify()}>
          {isBusy.value ? "Verifying …" : state.value === null ? "Verify the ledger" : "Verify again"}
        </button>
      </section>
      <Entries />
      <section class="panel fill">
        <h2>Verify it yourself</h2>
        <p class="hint">
          The same check works offline, on another machine, without this gateway. Keep a copy of the head elsewhere
          from time to time; then even a complete rewrite of the ledger is detected.
        </p>
        <Commands lines={["countersign ledger verify", "countersign ledger anchor"]} />
      </section>
    </div>
  );
}

function heading({ ok, first_bad }: LedgerState): string {
  if (ok) return "The ledger is intact";
  return first_bad === null ? "Some records differ from the ledger" : `Entry ${first_bad} was changed`;
}

function Verified({ state }: { state: LedgerState }) {
  return (
    <>
      <h2 class="verified">
        <Icon name={state.ok ? "check" : "cross"} />
        {heading(state)}
      </h2>
      {state.ok || !state.why ? null : <p class="problem">{state.why}</p>}
      <Facts
        fields={[
          { name: "Valid entries", text: state.entries.toLocaleString() },
          { name: "Signatures", text: many(state.checkpoints, "checkpoint") },
          { name: "Matching records", text: state.ok ? state.records.toLocaleString() : "not all" },
        ]}
      />
      <Quote name="Head" text={`${state.entries}:${state.head}`} />
    </>
  );
}

function Entries() {
  /** The page ends at this entry; `null`: at the last. */
  const upTo = useSignal<number | null>(null);
  const read = async (): Promise<EntryList> => {
    const end = upTo.peek() ?? (await get<EntryList>(`/v1/ledger?limit=1&after=${Number.MAX_SAFE_INTEGER}`)).last;
    return get<EntryList>(`/v1/ledger?limit=${PAGE}&after=${Math.max(0, end - PAGE)}`);
  };
  const loaded = useLoaded(read, upTo.value === null ? ["approval.", "grant.", "key.", "run."] : [], String(upTo.value));
  const list = loaded.value.value;
  if (list === null) {
    return loaded.error.value !== null ? <Problem error={loaded.error.value} again={loaded.again} /> : <Loading what="Loading the ledger" />;
  }
  const entries = [...list.entries].reverse();
  const first = entries.at(-1)?.seq ?? 0;
  const last = entries[0]?.seq ?? 0;
  return (
    <section class="panel fill entries" aria-label="Entries">
      <header class="item-head">
        <h2>Entries</h2>
        <span class="hint">{`${first.toLocaleString()} to ${last.toLocaleString()} of ${list.last.toLocaleString()}`}</span>
      </header>
      <ul>
        {entries.map((entry) => (
          <li key={entry.seq}>
            <details>
              <summary>
                <span class="seq">{entry.seq.toLocaleString()}</span>
                <span class="event">{entry.event}</span>
                <span class="subject">{about(entry)}</span>
                <time>{moment(entry.at / 1000)}</time>
              </summary>
              <Facts
                fields={[
                  { name: "When", text: fullMoment(entry.at / 1000) },
                  { name: "Previous hash", text: entry.previous },
                  { name: "Hash", text: entry.hash },
                ]}
              />
              <Code name={`Entry ${entry.seq}`} text={pretty(entry.body)} />
            </details>
          </li>
        ))}
      </ul>
      <div class="row-of-buttons">
        <button type="button" class="button" aria-disabled={first <= 1} onClick={() => first > 1 && (upTo.value = first - 1)}>
          Older
        </button>
        <button
          type="button"
          class="button"
          aria-disabled={last >= list.last}
          onClick={() => last < list.last && (upTo.value = last + PAGE >= list.last ? null : last + PAGE)}
        >
          Newer
        </button>
      </div>
    </section>
  );
}

/** Returns what an entry is about, on one line. */
function about(entry: Entry): string {
  const body = parsed(entry.body);
  if (typeof body["outcome"] === "string") {
    return typeof body["by"] === "string" ? `${body["outcome"]} by ${body["by"]}` : body["outcome"];
  }
  for (const name of ["command", "name", "scope", "key", "channel", "session_id"]) {
    const text = body[name];
    if (typeof text === "string" && text !== "") return text;
  }
  return entry.subject;
}

function parsed(body: string): Record<string, unknown> {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const pretty = (body: string): string => JSON.stringify(parsed(body), null, 2);
