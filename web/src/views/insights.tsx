// Statistics: verdicts over time, answers, frequent reasons, and a trial of other thresholds.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { explain, get, post, segment } from "../api";
import { now } from "../clock";
import { mayAnswer } from "../live";
import { useLoaded } from "../load";
import { Bars, Columns, type Series } from "../parts/charts";
import { Commands, Empty, Head, Loading, Problem } from "../parts/states";
import { at, place, settle } from "../router";
import { brief, VERDICTS } from "../verdicts";
import type { Bucket, Replayed, StatsView, ThresholdsView } from "../wire.gen";
import { many } from "../words";

const HOUR = 3600;
const DAY = 24 * HOUR;
interface Period {
  word: string;
  label: string;
  seconds: number;
  bucket: number;
}
const PERIODS: [Period, ...Period[]] = [
  { word: "day", label: "24 hours", seconds: DAY, bucket: HOUR / 2 },
  { word: "week", label: "7 days", seconds: 7 * DAY, bucket: 4 * HOUR },
  { word: "month", label: "30 days", seconds: 30 * DAY, bucket: DAY },
  { word: "quarter", label: "90 days", seconds: 90 * DAY, bucket: 2 * DAY },
];
const SERIES: Series[] = [
  { tone: "allow", label: VERDICTS.allow },
  { tone: "review", label: VERDICTS.allow_then_review },
  { tone: "ask", label: VERDICTS.ask },
  { tone: "refuse", label: VERDICTS.refuse },
];
const ANSWERED: Series[] = [
  { tone: "yes", label: "Approved" },
  { tone: "refuse", label: "Denied" },
  { tone: "none", label: "Not answered" },
];
/** A slider is read after this pause. */
const PAUSE_MS = 120;

export function Insights() {
  const word = place.value.query.get("period") ?? "week";
  const period = PERIODS.find((it) => it.word === word) ?? PERIODS[0];
  // Whole minutes, so that an answer can be compared with the one before.
  const since = (): number => Math.floor((now.peek() - period.seconds) / 60) * 60;
  const read = (): Promise<StatsView> => get<StatsView>(`/v1/stats?since=${since()}&bucket=${period.bucket}`);
  const loaded = useLoaded(read, ["approval.resolved", "run.completed"], period.word);
  const stats = loaded.value.value;
  return (
    <div class="page wide">
      <Head title="Insights" lead="What agents asked for, what the firewall decided, and how people answered.">
        <div class="segments" role="group" aria-label="Period">
          {PERIODS.map((it) => (
            <button
              key={it.word}
              type="button"
              aria-pressed={it === period}
              onClick={() => settle(`${at("insights")}?period=${segment(it.word)}`)}
            >
              {it.label}
            </button>
          ))}
        </div>
      </Head>
      {stats === null ? (
        loaded.error.value !== null ? <Problem error={loaded.error.value} again={loaded.again} /> : <Loading what="Loading statistics" />
      ) : stats.calls === 0 ? (
        <Nothing period={period} />
      ) : (
        <Counted stats={stats} period={period} />
      )}
    </div>
  );
}

function Nothing({ period }: { period: Period }) {
  return (
    <Empty isPart icon="insights" title={`No calls in the last ${period.label}`}>
      <p>
        Once an agent is connected, this page shows how many calls ran, asked or were refused, how fast people answered,
        and which thresholds could change.
      </p>
      <p>
        <a href="#/">How to connect an agent</a>
      </p>
    </Empty>
  );
}

function Counted({ stats, period }: { stats: StatsView; period: Period }) {
  return (
    <>
      {stats.counted_since === null || stats.counted_since === undefined ? null : (
        <p class="hint">Statistics cover the newest 100 000 calls, since {new Date(stats.counted_since * 1000).toLocaleString()}.</p>
      )}
      <Tiles stats={stats} />
      <section class="panel fill">
        <h2>Calls by verdict</h2>
        <Columns
          label="Calls by verdict over time"
          series={SERIES}
          columns={stats.buckets.map((bucket) => ({
            short: when(bucket.at, period, "short"),
            full: when(bucket.at, period, "full"),
            counts: counts(bucket),
          }))}
        />
      </section>
      <div class="side-by-side">
        <Answers stats={stats} />
        <Reasons stats={stats} />
      </div>
      {mayAnswer.value && stats.thresholds ? <WhatIf lines={stats.thresholds} since={stats.since} /> : null}
      <div class="side-by-side">
        <Agents stats={stats} />
        <People stats={stats} />
      </div>
    </>
  );
}

const counts = (bucket: Bucket): number[] => [bucket.allow, bucket.allow_then_review, bucket.ask, bucket.refuse];
const percent = (share: number): string => `${Math.round(share * 100)} %`;

function when(at: number, period: Period, form: "short" | "full"): string {
  const date = new Date(at * 1000);
  const hours: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit" };
  const day: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
  if (form === "short") return date.toLocaleString(undefined, period.word === "day" ? hours : day);
  const weekday: Intl.DateTimeFormatOptions = { weekday: "short", ...day };
  return date.toLocaleString(undefined, period.bucket < DAY ? { ...weekday, ...hours } : weekday);
}

function Tiles({ stats }: { stats: StatsView }) {
  const { answers, questions } = stats;
  const alone = stats.buckets.reduce((all, bucket) => all + bucket.allow + bucket.allow_then_review, 0);
  const refused = stats.buckets.reduce((all, bucket) => all + bucket.refuse, 0);
  return (
    <dl class="tiles">
      <Tile name="Calls" value={stats.calls.toLocaleString()} said={`${percent(alone / stats.calls)} ran without a question, ${many(refused, "was", "were")} refused`} />
      <Tile name="Questions" value={questions.asked.toLocaleString()} said={`${questions.waiting} waiting, ${questions.expired} expired`} />
      <Tile
        name="Approved"
        value={answers.approval_rate === null || answers.approval_rate === undefined ? "–" : percent(answers.approval_rate)}
        said={approvalWords(stats)}
      />
      <Tile
        name="Time to answer"
        value={answers.p50_seconds === null || answers.p50_seconds === undefined ? "–" : brief(answers.p50_seconds)}
        said={answers.p90_seconds === null || answers.p90_seconds === undefined ? "Nobody has answered yet" : `median; 90 % within ${brief(answers.p90_seconds)}`}
      />
      <Tile
        name={"Approvals under 1\u00a0s"}
        value={answers.hasty_approvals.toLocaleString()}
        said={answers.hasty_approvals === 0 ? "None" : "Too fast to have been read"}
        isWarning={answers.hasty_approvals > 0}
      />
    </dl>
  );
}

function approvalWords(stats: StatsView): string {
  const { approval_rate: rate, count } = stats.answers;
  if (rate === null || rate === undefined) return "Nobody has answered yet";
  if (rate > 0.97 && count >= 20) return `of ${many(count, "answer")}: perhaps too many questions`;
  return `of ${many(count, "answer")}`;
}

function Tile({ name, value, said, isWarning = false }: { name: string; value: string; said: string; isWarning?: boolean }) {
  return (
    <div class={isWarning ? "tile warning" : "tile"}>
      <dt>{name}</dt>
      <dd>
        <span class="tile-value">{value}</span>
        <span class="tile-said">{said}</span>
      </dd>
    </div>
  );
}

function Answers({ stats }: { stats: StatsView }) {
  let from = 0;
  const spans = stats.answers.spans.map((it) => {
    const begins = from;
    from = it.below_seconds ?? from;
    const name = it.below_seconds === null || it.below_seconds === undefined ? `${brief(begins)} or longer` : `${begins === 0 ? "Under" : `${brief(begins)} to`} ${brief(it.below_seconds)}`;
    return { name: name.replaceAll(".0 s", " s"), counts: [it.count], said: it.count.toLocaleString() };
  });
  return (
    <section class="panel fill">
      <h2>Time to answer</h2>
      {stats.answers.count === 0 ? (
        <p class="hint">No answers in this period.</p>
      ) : (
        <Bars label="Answers by time to answer" series={[{ tone: "accent", label: "Answers" }]} bars={spans} />
      )}
    </section>
  );
}

function Reasons({ stats }: { stats: StatsView }) {
  return (
    <section class="panel fill">
      <h2>Most frequent reasons</h2>
      {stats.reasons.length === 0 ? (
        <p class="hint">No questions in this period.</p>
      ) : (
        <Bars
          label="Most frequent reasons of questions"
          series={ANSWERED}
          bars={stats.reasons.map((it) => ({
            name: it.code === "" ? "No specific finding" : it.code,
            detail: it.example,
            counts: [it.approved, it.denied, it.asked - it.approved - it.denied],
            said: `${it.asked.toLocaleString()} asked`,
          }))}
        />
      )}
    </section>
  );
}

function Agents({ stats }: { stats: StatsView }) {
  const series: Series[] = [
    { tone: "allow", label: "Not asked" },
    { tone: "ask", label: "Asked" },
    { tone: "refuse", label: "Refused" },
  ];
  return (
    <section class="panel fill">
      <h2>Calls by agent</h2>
      <Bars
        label="Calls by agent"
        series={series}
        bars={stats.agents.map((it) => ({
          name: it.name,
          counts: [it.calls - it.asked - it.refused, it.asked, it.refused],
          said: many(it.calls, "call"),
        }))}
      />
    </section>
  );
}

function People({ stats }: { stats: StatsView }) {
  return (
    <section class="panel fill">
      <h2>Who answered</h2>
      {stats.people.length === 0 ? (
        <p class="hint">No answers in this period.</p>
      ) : (
        <Bars
          label="Answers by person"
          series={ANSWERED.slice(0, 2)}
          bars={stats.people.map((it) => ({
            name: it.name,
            detail: `median ${brief(it.p50_seconds)}${it.under_one_second === 0 ? "" : `, ${it.under_one_second} under 1 s`}`,
            counts: [it.approved, it.answers - it.approved],
            said: many(it.answers, "answer"),
          }))}
        />
      )}
    </section>
  );
}

/** What would have been asked under other thresholds. */
function WhatIf({ lines, since }: { lines: ThresholdsView; since: number }) {
  const auto = useSignal(lines.auto_below);
  const ask = useSignal(lines.ask_above);
  const sure = useSignal(lines.confidence_min);
  const found = useSignal<Replayed | null>(null);
  const problem = useSignal<string | null>(null);
  const thresholds = { auto_below: auto.value, ask_above: ask.value, confidence_min: sure.value };
  useEffect(() => {
    let isOver = false;
    const timer = window.setTimeout(() => {
      post<Replayed>("/v1/replay", { since, thresholds }).then(
        (replayed) => {
          if (isOver) return;
          found.value = replayed;
          problem.value = null;
        },
        (error: unknown) => {
          if (!isOver) problem.value = explain(error);
        },
      );
    }, PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [auto.value, ask.value, sure.value, since]);
  const isSame = auto.value === lines.auto_below && ask.value === lines.ask_above && sure.value === lines.confidence_min;
  const reset = (): void => {
    auto.value = lines.auto_below;
    ask.value = lines.ask_above;
    sure.value = lines.confidence_min;
  };
  return (
    <section class="panel fill what-if">
      <h2>Try other thresholds</h2>
      <p class="hint">
        Move a slider to see which calls of this period would have asked. Critical calls, crisis, money, outbound
        calls and your own rules ask at any threshold. This changes nothing.
      </p>
      <div class="sliders">
        <Slider
          label="Runs without a question below this risk"
          value={auto}
          now={lines.auto_below}
          onMove={(value) => {
            if (value > ask.value) ask.value = value;
          }}
        />
        <Slider
          label="Asks above this risk"
          value={ask}
          now={lines.ask_above}
          onMove={(value) => {
            if (value < auto.value) auto.value = value;
          }}
        />
        <Slider label="Between the two, asks below this confidence" value={sure} now={lines.confidence_min} />
      </div>
      {problem.value !== null ? <p class="problem" role="alert">{problem.value}</p> : null}
      {found.value === null ? <Loading what="Loading statistics" /> : <Difference found={found.value} isSame={isSame} />}
      {isSame ? null : (
        <>
          <div class="row-of-buttons">
            <button type="button" class="button" onClick={reset}>
              Reset
            </button>
          </div>
          <p class="hint">To apply:</p>
          <Commands lines={commands(thresholds)} />
        </>
      )}
    </section>
  );
}

const commands = (lines: ThresholdsView): string[] =>
  Object.entries(lines).map(([name, value]) => `countersign config set approvals.thresholds.${name} ${value}`);

interface SliderProps {
  label: string;
  value: Signal<number>;
  now: number;
  onMove?: (value: number) => void;
}

function Slider({ label, value, now, onMove }: SliderProps) {
  return (
    <label class="slider">
      <span>{label}</span>
      <span class="slider-value">{value.value.toFixed(2)}</span>
      <input
        type="range"
        min={0}
        max={1}
        step={0.01}
        value={value.value}
        aria-valuetext={value.value.toFixed(2)}
        onInput={(event) => {
          value.value = Number(event.currentTarget.value);
          onMove?.(value.value);
        }}
      />
      <small>{value.value === now ? "current" : `now ${now.toFixed(2)}`}</small>
    </label>
  );
}

function Difference({ found, isSame }: { found: Replayed; isSame: boolean }) {
  const of = (was: string, now: string): number => found.verdicts[was]?.[now] ?? 0;
  const asksWas = Object.values(found.verdicts["ask"] ?? {}).reduce((all, count) => all + count, 0);
  const asksNow = Object.keys(found.verdicts).reduce((all, was) => all + of(was, "ask"), 0);
  const runs = of("ask", "allow") + of("ask", "allow_then_review");
  const asks = of("allow", "ask") + of("allow_then_review", "ask");
  return (
    <>
      <div class="difference" role="status">
        <p class="difference-main">
          <strong>{asksNow.toLocaleString()}</strong> of {many(found.calls, "call")} asked about, instead of <strong>{asksWas.toLocaleString()}</strong>
        </p>
        <p>
          {isSame
            ? "These are the current thresholds."
            : runs + asks === 0
              ? "No call of this period would have a different verdict."
              : `${many(runs, "call")} would have run without a question, ${many(asks, "more call")} would have been asked about.`}
        </p>
      </div>
      {found.changed.length === 0 || isSame ? null : (
        <ul class="changed" aria-label="Calls with a different verdict">
          {found.changed.slice(0, 12).map((call) => (
            <li key={call.call_id}>
              <span class={`pill tone-${call.now === "ask" ? "ask" : "allow"}`}>{call.now === "ask" ? "Would ask" : "Would run"}</span>
              <a href={at("history", call.call_id)}>
                <code>{call.command}</code>
              </a>
            </li>
          ))}
          {found.changed.length > 12 ? <li class="hint">and {found.changed.length - 12}{found.changed.length >= 100 ? " or more" : ""} others</li> : null}
        </ul>
      )}
    </>
  );
}
