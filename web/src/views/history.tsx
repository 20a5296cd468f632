// The history: a list that the gateway searches, and one call in full.

import { batch, computed, signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { lift } from "../answer";
import { get, segment } from "../api";
import { fullMoment, moment, now, span } from "../clock";
import { useKeys } from "../keys";
import { link, listen, mayAnswer, me, say } from "../live";
import { useLoaded } from "../load";
import { Confirm } from "../parts/confirm";
import { Facts, Quote } from "../parts/fields";
import { Icon } from "../parts/icon";
import { callsOf } from "../parts/led";
import { RiskWord } from "../parts/risk";
import { Empty, Loading, Problem } from "../parts/states";
import { VirtualList } from "../parts/virtual";
import { Why } from "../parts/why";
import { at, place, settle } from "../router";
import { brief, ended, ENDINGS, riskOf, short, took, VERDICTS, type Short } from "../verdicts";
import type { StatsView, TraceList, TraceView } from "../wire.gen";
import { many } from "../words";

const ROW_REM = 4.5;
const PAGE = 100;
/** Typing is searched for after this pause. */
const PAUSE_MS = 250;

const ENDS: [string, string][] = [
  ["", "Any status"],
  ["waiting", "Waiting"],
  ["allowed", "Allowed"],
  ["approved", "Approved"],
  ["denied", "Denied"],
  ["refused", "Refused"],
  ["expired", "Expired"],
  ["withdrawn", "Withdrawn"],
];
const WHENS: [string, string, number][] = [
  ["", "Any time", 0],
  ["hour", "Last hour", 3600],
  ["day", "Last 24 hours", 86_400],
  ["week", "Last 7 days", 7 * 86_400],
  ["month", "Last 30 days", 30 * 86_400],
];
/** What can be filtered by, in the order it stands in the address. */
const FILTERS = ["q", "outcome", "tool", "by", "when", "run_id", "session_id"] as const;
type Filter = (typeof FILTERS)[number];

const rows = signal<Short[]>([]);
const next = signal<string | null>(null);
const state = signal<"loading" | "ready" | "more">("loading");
const problem = signal<unknown>(null);
/** Calls that came after the list was read. */
const fresh = signal(0);
const shownFor = signal<string | null>(null);
let turn = 0;

/** The filters of the address, as the gateway is asked. */
const asked = computed(() => {
  const words = new URLSearchParams();
  for (const name of FILTERS) {
    const value = place.value.query.get(name) ?? "";
    if (value === "") continue;
    const [, , seconds = 0] = WHENS.find(([word]) => word === value) ?? [];
    if (name === "when") words.set("since", String(Math.floor(Date.now() / 60_000) * 60 - seconds));
    else words.set(name, value);
  }
  return words.toString();
});

async function read(isMore: boolean): Promise<void> {
  const mine = (turn += 1);
  const query = asked.peek();
  batch(() => {
    state.value = isMore ? "more" : "loading";
    problem.value = null;
  });
  const behind = isMore && next.peek() !== null ? `&behind=${segment(next.peek() ?? "")}` : "";
  try {
    const page = await get<TraceList>(`/v1/traces?limit=${PAGE}${query === "" ? "" : `&${query}`}${behind}`);
    if (mine !== turn) return;
    const found = page.traces.map((trace) => short(trace, me.peek()?.name ?? ""));
    batch(() => {
      rows.value = isMore ? [...rows.peek(), ...found] : found;
      next.value = page.next ?? null;
      if (!isMore) fresh.value = 0;
      shownFor.value = query;
      state.value = "ready";
    });
  } catch (error) {
    if (mine !== turn) return;
    batch(() => {
      problem.value = error;
      state.value = "ready";
    });
  }
}

export function History() {
  const id = place.value.parts[1];
  const field = useRef<HTMLInputElement>(null);
  useSignalEffect(() => {
    if (asked.value !== shownFor.peek()) void read(false);
  });
  useEffect(() => {
    if (shownFor.peek() !== null && asked.peek() === shownFor.peek()) void read(false);
    return listen((event) => {
      if (event.event === "call.assessed") came();
      if (event.event === "approval.resolved") void settleRow(event.call_id);
    });
  }, []);
  const move = (step: 1 | -1): boolean => {
    const list = rows.value;
    const from = list.findIndex((row) => row.id === id);
    const row = list[from === -1 ? 0 : from + step];
    if (row === undefined) return false;
    settle(addressOf(row.id));
    return true;
  };
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    filter: () => {
      field.current?.focus();
      return true;
    },
    close: () => {
      if (document.activeElement === field.current) field.current?.blur();
      else if (id !== undefined) settle(addressOf(null));
      else return false;
      return true;
    },
  });
  return (
    <div class={id === undefined ? "records" : "records has-record"}>
      <section class="list" aria-label="Calls">
        <header class="list-head">
          <h1>History</h1>
          <Search field={field} />
          <Filters />
        </header>
        {fresh.value > 0 && state.value === "ready" ? (
          <button type="button" class="fresh" onClick={() => void read(false)}>
            {many(fresh.value, "new call")}, show
          </button>
        ) : null}
        <List id={id} />
      </section>
      <section class="detail" aria-label="One call">
        {id === undefined ? <Hint /> : <Detail key={id} id={id} />}
      </section>
    </div>
  );
}

/** Somebody who reads is not interrupted: the list changes when they say so, or if it is empty. */
function came(): void {
  fresh.value += 1;
  if (rows.peek().length === 0 && asked.peek() === "" && state.peek() === "ready") void read(false);
}

const addressOf = (id: string | null): string => {
  const query = place.peek().query.toString();
  return `${id === null ? at("history") : at("history", id)}${query === "" ? "" : `?${query}`}`;
};

function filterBy(name: Filter, value: string): void {
  const query = new URLSearchParams(place.peek().query);
  if (value === "") query.delete(name);
  else query.set(name, value);
  const words = query.toString();
  settle(`${at("history")}${words === "" ? "" : `?${words}`}`);
}

async function settleRow(id: string): Promise<void> {
  if (!rows.peek().some((row) => row.id === id)) return;
  const trace = await get<TraceView>(`/v1/traces/${segment(id)}`).catch(() => null);
  if (trace === null) return;
  const now = short(trace, me.peek()?.name ?? "");
  rows.value = rows.peek().map((row) => (row.id === id ? now : row));
}

function Search({ field }: { field: { current: HTMLInputElement | null } }) {
  const timer = useRef(0);
  const typed = (event: { currentTarget: HTMLInputElement }): void => {
    const text = event.currentTarget.value;
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => filterBy("q", text.trim()), PAUSE_MS);
  };
  return (
    <label class="search">
      <span class="unseen">Search commands, reasons and agents</span>
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        placeholder="Search commands, reasons, agents"
        maxLength={200}
        defaultValue={place.peek().query.get("q") ?? ""}
        onInput={typed}
      />
      <kbd>/</kbd>
    </label>
  );
}

function Filters() {
  const known = useLoaded(() => get<StatsView>("/v1/stats"));
  const query = place.value.query;
  const options = (name: Filter, all: string, found: string[]): [string, string][] => {
    const chosen = query.get(name) ?? "";
    const more = chosen === "" || found.includes(chosen) ? found : [chosen, ...found];
    return [["", all], ...more.map((word): [string, string] => [word, word])];
  };
  const stats = known.value.value;
  const only: [Filter, string][] = [["run_id", "run"], ["session_id", "session"]];
  return (
    <div class="filters">
      <Choose name="outcome" label="Status" options={ENDS} />
      <Choose name="when" label="When" options={WHENS.map(([word, words]) => [word, words])} />
      <Choose name="tool" label="Tool" options={options("tool", "Any tool", stats?.tools ?? [])} />
      <Choose name="by" label="Who decided" options={options("by", "Anybody", stats?.people.map((it) => it.name) ?? [])} />
      {only.filter(([name]) => query.get(name) !== null).map(([name, word]) => (
        <button key={name} type="button" class="chip" onClick={() => filterBy(name, "")}>
          One {word} <Icon name="cross" />
          <span class="unseen">, show all {word}s</span>
        </button>
      ))}
    </div>
  );
}

function Choose({ name, label, options }: { name: Filter; label: string; options: [string, string][] }) {
  const value = place.value.query.get(name) ?? "";
  return (
    <label class={value === "" ? "" : "chosen"}>
      <span class="unseen">{label}</span>
      <select value={value} onChange={(event) => filterBy(name, event.currentTarget.value)}>
        {options.map(([word, words]) => (
          <option key={word} value={word}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function List({ id }: { id: string | undefined }) {
  const list = rows.value;
  if (problem.value !== null && list.length === 0) return <Problem error={problem.value} again={() => void read(false)} />;
  if (state.value === "loading" && (list.length === 0 || shownFor.value !== asked.value)) return <Loading what="Loading history" />;
  if (list.length === 0) return <NoRows />;
  return (
    <>
      <VirtualList
        items={list}
        rowRem={ROW_REM}
        label={`${many(list.length, "call")}${next.value === null ? "" : " so far"}, the newest first`}
        shown={list.findIndex((row) => row.id === id)}
        id={(row) => row.id}
        row={(row) => <CallRow row={row} isCurrent={row.id === id} />}
        onEnd={() => {
          if (next.peek() !== null && state.peek() === "ready" && problem.peek() === null) void read(true);
        }}
      />
      <p class="list-foot" role="status">
        {problem.value !== null ? (
          <button type="button" class="quiet" onClick={() => void read(true)}>
            Loading older calls failed. Try again
          </button>
        ) : state.value === "more" ? (
          "Loading older calls …"
        ) : next.value === null ? (
          `${many(list.length, "call")}, no more`
        ) : (
          `The newest ${many(list.length, "call")}; scroll for older ones`
        )}
      </p>
    </>
  );
}

function CallRow({ row, isCurrent }: { row: Short; isCurrent: boolean }) {
  const ending = ENDINGS[row.status];
  return (
    <a class="record" href={addressOf(row.id)} aria-current={isCurrent ? "true" : undefined}>
      <span class="record-top">
        <span class={`pill tone-${ending?.tone ?? "none"}`}>{ending?.word ?? row.status}</span>
        <code>{row.command}</code>
      </span>
      <span class="record-meta">
        <time>{moment(row.at)}</time>
        <span>{row.who}</span>
        <span>{row.tool}</span>
        {row.took === null ? null : <span>{brief(row.took)}</span>}
      </span>
    </a>
  );
}

function NoRows() {
  const isFiltered = asked.value !== "";
  return isFiltered ? (
    <Empty isPart icon="search" title="No matching calls">
      <p>The search covers commands, first reasons, tools and agents of the newest 100 000 calls.</p>
      <button type="button" class="button" onClick={() => settle(at("history"))}>
        Show everything
      </button>
    </Empty>
  ) : (
    <Empty isPart icon="history" title="No calls yet">
      <p>
        Every call of an agent appears here, with every factor that counted, including calls that ran without a
        question. So “why was I not asked?” has an answer.
      </p>
      <p>
        <a href="#/">How to connect an agent</a>
      </p>
    </Empty>
  );
}

function Hint() {
  return (
    <Empty isPart icon="history" title="Select a call">
      <p>
        See what it would do, the verdict and its rule, every factor, and who decided where and how fast.
      </p>
      <p class="hint">
        <kbd>j</kbd> <kbd>k</kbd> move, <kbd>/</kbd> searches.
      </p>
    </Empty>
  );
}

function Detail({ id }: { id: string }) {
  const loaded = useLoaded(() => get<TraceView>(`/v1/traces/${segment(id)}`), ["approval.", "tool.completed"], id);
  const trace = loaded.value.value;
  return (
    <>
      <a class="back" href={addressOf(null)}>
        <Icon name="back" />
        All calls
      </a>
      {trace !== null ? (
        <Explained trace={trace} />
      ) : loaded.error.value !== null ? (
        <Problem error={loaded.error.value} again={loaded.again} />
      ) : (
        <Loading what="Loading the call" />
      )}
    </>
  );
}

/** Returns the question that was denied, where that is how a call ended or why. */
function denial({ status, approval_id: approval, decision }: TraceView): string | null {
  if (status === "denied") return approval ?? null;
  return decision?.cause === "deny_memory" ? (decision.denial_id ?? null) : null;
}

/** Who denied something lets the agent ask again, and an admin does. */
function Lift({ trace }: { trace: TraceView }) {
  const problem = useSignal<string | null>(null);
  const id = denial(trace);
  const mayLift = mayAnswer.value && (trace.decision?.by === me.value?.name || me.value?.role === "admin");
  if (id === null || !mayLift) return null;
  const doIt = async (): Promise<void> => {
    problem.value = await lift(id);
    if (problem.value === null) say("Lifted. The agent may ask again.");
  };
  return (
    <p>
      <Confirm
        label="Lift the denial"
        about={trace.command}
        asks="The agent may ask about this again. It still needs an approval."
        yes="Lift it"
        onYes={() => void doIt()}
      />
      {problem.value === null ? null : <span class="problem" role="alert">{problem.value}</span>}
    </p>
  );
}

function Explained({ trace }: { trace: TraceView }) {
  const { assessment, decision } = trace;
  const risk = riskOf(assessment);
  const who = me.value?.name ?? "";
  const seconds = took(trace);
  const facts = [
    { name: "When", text: `${fullMoment(trace.created_at)} (${span(now.value - trace.created_at)} ago)` },
    { name: "Verdict", text: `${VERDICTS[trace.verdict]}: ${assessment.rule.sentence} (rule ${assessment.rule.number})` },
    ...(seconds === null ? [] : [{ name: "Time to answer", text: brief(seconds) }]),
    ...(decision?.note ? [{ name: "Note", text: decision.note }] : []),
    { name: "Asked by", text: trace.agent ? `${trace.key_name}, calls itself ${trace.agent}` : trace.key_name },
    { name: "Tool", text: trace.tool },
    ...(trace.cwd ? [{ name: "Directory", text: trace.cwd }] : []),
    { name: "Run", text: trace.run_id, href: callsOf("run_id", trace.run_id) },
    { name: "Session", text: trace.session_id, href: callsOf("session_id", trace.session_id) },
    ...(trace.outcome ? [{ name: "Outcome", text: outcomeWords(trace.outcome) }] : []),
  ];
  return (
    <article class={`card-scroll edge-${risk}`}>
      <header class="card-head">
        <p class="verdict">
          <RiskWord risk={risk} /> <span>{assessment.reasons[0] ?? "No warnings."}</span>
        </p>
        <h2 tabIndex={-1}>{ended(trace.status, decision, who)}</h2>
      </header>
      <Quote name="Command" text={trace.command} />
      <Facts fields={facts} />
      {trace.approval_id && trace.verdict === "ask" ? (
        <p>
          <a href={at("approvals", trace.approval_id)}>
            {trace.status === "waiting" ? "Answer it in the inbox" : "Show the card people saw"}
          </a>
        </p>
      ) : null}
      <Lift trace={trace} />
      {assessment.reasons.length < 2 ? null : (
        <section class="reasons">
          <h3>Reasons</h3>
          <ul>
            {assessment.reasons.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        </section>
      )}
      <section class="long">
        <h3>Full analysis</h3>
        <Why assessment={assessment} />
      </section>
      {trace.args === null ? null : <Quote name="Arguments" text={JSON.stringify(trace.args, null, 2)} />}
      <p class="digest">
        {trace.call_id} · {trace.digest} · policy {trace.policy.slice(0, 16)}
      </p>
    </article>
  );
}

function outcomeWords(outcome: NonNullable<TraceView["outcome"]>): string {
  const word = outcome.failed ? "It failed" : "It ran";
  const time = outcome.duration === null || outcome.duration === undefined ? "" : ` in ${brief(outcome.duration / 1000)}`;
  return outcome.summary ? `${word}${time}: ${outcome.summary}` : `${word}${time}`;
}

// The list is of the session that is signed in; another one begins anew.
link.subscribe((state) => {
  if (state === "signed_out") rows.value = [];
});
