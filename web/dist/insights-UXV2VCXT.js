import {
  $,
  A,
  Commands,
  Empty,
  Head,
  Loading,
  Problem,
  VERDICTS,
  a,
  at,
  brief,
  explain,
  get,
  many,
  mayAnswer,
  now,
  place,
  post,
  segment,
  settle,
  useLoaded,
  useSignal
} from "./chunk-FKD5T3PG.js";

// src/parts/charts.tsx
var STEP = 10;
var HEIGHT = 100;
var ENDS = [1, 1.2, 1.5, 2, 3, 4, 5, 6, 8, 10];
var TICKS_MAX = 8;
function roundEnd(highest) {
  if (highest <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(highest));
  const end = ENDS.find((end2) => end2 * power >= highest && Number.isInteger(Math.round(end2 * power * 10) / 10)) ?? 10;
  return Math.round(end * power);
}
var sum = (counts2) => counts2.reduce((all, count) => all + count, 0);
function Columns({ series, columns, label }) {
  const pointed = useSignal(null);
  const end = roundEnd(Math.max(0, ...columns.map((column) => sum(column.counts))));
  const width = columns.length * STEP;
  const told = pointed.value === null ? void 0 : columns[pointed.value];
  const ticks = ticksOf(columns);
  return a("figure", { class: "chart", children: [
    a("figcaption", { class: "unseen", children: label }),
    a("ul", { class: "legend", children: series.map((it) => a("li", { children: [
      a("span", { class: `swatch tone-${it.tone}`, "aria-hidden": "true" }),
      it.label
    ] }, it.tone)) }),
    a("div", { class: "plot", "aria-hidden": "true", onPointerLeave: () => pointed.value = null, children: [
      a("span", { class: "axis-end", children: end.toLocaleString() }),
      a("span", { class: "axis-half", children: end % 2 === 0 ? (end / 2).toLocaleString() : "" }),
      a("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, preserveAspectRatio: "none", focusable: "false", children: columns.map((column, index) => a("g", { onPointerEnter: () => pointed.value = index, children: [
        a("rect", { class: pointed.value === index ? "hit pointed" : "hit", x: index * STEP, y: 0, width: STEP, height: HEIGHT }),
        stacked(column.counts, end).map((part, place2) => a(
          "rect",
          {
            class: `tone-${series[place2]?.tone ?? ""}`,
            x: index * STEP + STEP * 0.12,
            y: part.y,
            width: STEP * 0.76,
            height: part.height
          },
          place2
        ))
      ] }, index)) })
    ] }),
    a("div", { class: "axis", "aria-hidden": "true", children: ticks.map((index) => a("span", { style: { left: `${index / columns.length * 100}%` }, children: columns[index]?.short }, index)) }),
    a("p", { class: "readout", "aria-hidden": "true", children: told === void 0 ? "Point at a column to read it." : `${told.full}: ${words(series, told.counts)}` }),
    a(Numbers, { label, head: ["When", ...series.map((it) => it.label)], children: columns.filter((column) => sum(column.counts) > 0).map((column) => a("tr", { children: [
      a("th", { scope: "row", children: column.full }),
      column.counts.map((count, place2) => a("td", { children: count.toLocaleString() }, place2))
    ] }, column.full)) })
  ] });
}
function ticksOf(columns) {
  const changes = columns.flatMap((column, index) => column.short === columns[index - 1]?.short ? [] : [index]);
  const every = Math.max(1, Math.ceil(changes.length / TICKS_MAX));
  const room = columns.length * 0.06;
  const chosen = changes.filter((index, place2) => place2 % every === 0 && index / columns.length < 0.88);
  return chosen.filter((index, place2) => (chosen[place2 + 1] ?? Infinity) - index > room);
}
function stacked(counts2, end) {
  let top = HEIGHT;
  return counts2.map((count) => {
    const height = count / end * HEIGHT;
    top -= height;
    return { y: top, height };
  });
}
function words(series, counts2) {
  const said = series.map((it, place2) => `${(counts2[place2] ?? 0).toLocaleString()} ${it.label.toLowerCase()}`);
  return said.filter((_, place2) => (counts2[place2] ?? 0) > 0).join(", ") || "nothing";
}
function Bars({ series, bars, label }) {
  const end = Math.max(1, ...bars.map((bar) => sum(bar.counts)));
  return a("div", { class: "chart", children: [
    series.length < 2 ? null : a("ul", { class: "legend", children: series.map((it) => a("li", { children: [
      a("span", { class: `swatch tone-${it.tone}`, "aria-hidden": "true" }),
      it.label
    ] }, it.tone)) }),
    a("ul", { class: "bars", "aria-label": label, children: bars.map((bar) => a("li", { children: [
      a("span", { class: "bar-name", children: bar.name }),
      a("span", { class: "bar-said", children: bar.said }),
      bar.detail === void 0 ? null : a("span", { class: "bar-detail", children: bar.detail }),
      a("svg", { class: "bar-line", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true", focusable: "false", children: [
        a("rect", { class: "bar-rest", x: 0, y: 0, width: 100, height: 4 }),
        bar.counts.map((count, place2) => a(
          "rect",
          {
            class: `tone-${series[place2]?.tone ?? ""}`,
            x: sum(bar.counts.slice(0, place2)) / end * 100,
            y: 0,
            width: count / end * 100,
            height: 4
          },
          place2
        ))
      ] })
    ] }, bar.name)) })
  ] });
}
function Numbers({ label, head, children }) {
  return a("details", { class: "numbers", children: [
    a("summary", { children: "Show as a table" }),
    a("div", { class: "table-box", tabIndex: 0, role: "region", "aria-label": `${label}, as a table`, children: a("table", { children: [
      a("thead", { children: a("tr", { children: head.map((name) => a("th", { scope: "col", children: name }, name)) }) }),
      a("tbody", { children })
    ] }) })
  ] });
}

// src/views/insights.tsx
var HOUR = 3600;
var DAY = 24 * HOUR;
var PERIODS = [
  { word: "day", label: "24 hours", seconds: DAY, bucket: HOUR / 2 },
  { word: "week", label: "7 days", seconds: 7 * DAY, bucket: 4 * HOUR },
  { word: "month", label: "30 days", seconds: 30 * DAY, bucket: DAY },
  { word: "quarter", label: "90 days", seconds: 90 * DAY, bucket: 2 * DAY }
];
var SERIES = [
  { tone: "allow", label: VERDICTS.allow },
  { tone: "review", label: VERDICTS.allow_then_review },
  { tone: "ask", label: VERDICTS.ask },
  { tone: "refuse", label: VERDICTS.refuse }
];
var ANSWERED = [
  { tone: "yes", label: "Approved" },
  { tone: "refuse", label: "Denied" },
  { tone: "none", label: "Not answered" }
];
var PAUSE_MS = 120;
function Insights() {
  const word = place.value.query.get("period") ?? "week";
  const period = PERIODS.find((it) => it.word === word) ?? PERIODS[0];
  const since = () => Math.floor((now.peek() - period.seconds) / 60) * 60;
  const read = () => get(`/v1/stats?since=${since()}&bucket=${period.bucket}`);
  const loaded = useLoaded(read, ["approval.resolved", "run.completed"], period.word);
  const stats = loaded.value.value;
  return a("div", { class: "page wide", children: [
    a(Head, { title: "Insights", lead: "What agents asked for, what the firewall decided, and how people answered.", children: a("div", { class: "segments", role: "group", "aria-label": "Period", children: PERIODS.map((it) => a(
      "button",
      {
        type: "button",
        "aria-pressed": it === period,
        onClick: () => settle(`${at("insights")}?period=${segment(it.word)}`),
        children: it.label
      },
      it.word
    )) }) }),
    stats === null ? loaded.error.value !== null ? a(Problem, { error: loaded.error.value, again: loaded.again }) : a(Loading, { what: "Loading statistics" }) : stats.calls === 0 ? a(Nothing, { period }) : a(Counted, { stats, period })
  ] });
}
function Nothing({ period }) {
  return a(Empty, { isPart: true, icon: "insights", title: `No calls in the last ${period.label}`, children: [
    a("p", { children: "Once an agent is connected, this page shows how many calls ran, asked or were refused, how fast people answered, and which thresholds could change." }),
    a("p", { children: a("a", { href: "#/", children: "How to connect an agent" }) })
  ] });
}
function Counted({ stats, period }) {
  return a($, { children: [
    stats.counted_since === null || stats.counted_since === void 0 ? null : a("p", { class: "hint", children: [
      "Statistics cover the newest 100 000 calls, since ",
      new Date(stats.counted_since * 1e3).toLocaleString(),
      "."
    ] }),
    a(Tiles, { stats }),
    a("section", { class: "panel fill", children: [
      a("h2", { children: "Calls by verdict" }),
      a(
        Columns,
        {
          label: "Calls by verdict over time",
          series: SERIES,
          columns: stats.buckets.map((bucket) => ({
            short: when(bucket.at, period, "short"),
            full: when(bucket.at, period, "full"),
            counts: counts(bucket)
          }))
        }
      )
    ] }),
    a("div", { class: "side-by-side", children: [
      a(Answers, { stats }),
      a(Reasons, { stats })
    ] }),
    mayAnswer.value && stats.thresholds ? a(WhatIf, { lines: stats.thresholds, since: stats.since }) : null,
    a("div", { class: "side-by-side", children: [
      a(Agents, { stats }),
      a(People, { stats })
    ] })
  ] });
}
var counts = (bucket) => [bucket.allow, bucket.allow_then_review, bucket.ask, bucket.refuse];
var percent = (share) => `${Math.round(share * 100)} %`;
function when(at2, period, form) {
  const date = new Date(at2 * 1e3);
  const hours = { hour: "2-digit", minute: "2-digit" };
  const day = { day: "numeric", month: "short" };
  if (form === "short") return date.toLocaleString(void 0, period.word === "day" ? hours : day);
  const weekday = { weekday: "short", ...day };
  return date.toLocaleString(void 0, period.bucket < DAY ? { ...weekday, ...hours } : weekday);
}
function Tiles({ stats }) {
  const { answers, questions } = stats;
  const alone = stats.buckets.reduce((all, bucket) => all + bucket.allow + bucket.allow_then_review, 0);
  const refused = stats.buckets.reduce((all, bucket) => all + bucket.refuse, 0);
  return a("dl", { class: "tiles", children: [
    a(Tile, { name: "Calls", value: stats.calls.toLocaleString(), said: `${percent(alone / stats.calls)} ran without a question, ${many(refused, "was", "were")} refused` }),
    a(Tile, { name: "Questions", value: questions.asked.toLocaleString(), said: `${questions.waiting} waiting, ${questions.expired} expired` }),
    a(
      Tile,
      {
        name: "Approved",
        value: answers.approval_rate === null || answers.approval_rate === void 0 ? "–" : percent(answers.approval_rate),
        said: approvalWords(stats)
      }
    ),
    a(
      Tile,
      {
        name: "Time to answer",
        value: answers.p50_seconds === null || answers.p50_seconds === void 0 ? "–" : brief(answers.p50_seconds),
        said: answers.p90_seconds === null || answers.p90_seconds === void 0 ? "Nobody has answered yet" : `median; 90 % within ${brief(answers.p90_seconds)}`
      }
    ),
    a(
      Tile,
      {
        name: "Approvals under 1 s",
        value: answers.hasty_approvals.toLocaleString(),
        said: answers.hasty_approvals === 0 ? "None" : "Too fast to have been read",
        isWarning: answers.hasty_approvals > 0
      }
    )
  ] });
}
function approvalWords(stats) {
  const { approval_rate: rate, count } = stats.answers;
  if (rate === null || rate === void 0) return "Nobody has answered yet";
  if (rate > 0.97 && count >= 20) return `of ${many(count, "answer")}: perhaps too many questions`;
  return `of ${many(count, "answer")}`;
}
function Tile({ name, value, said, isWarning = false }) {
  return a("div", { class: isWarning ? "tile warning" : "tile", children: [
    a("dt", { children: name }),
    a("dd", { children: [
      a("span", { class: "tile-value", children: value }),
      a("span", { class: "tile-said", children: said })
    ] })
  ] });
}
function Answers({ stats }) {
  let from = 0;
  const spans = stats.answers.spans.map((it) => {
    const begins = from;
    from = it.below_seconds ?? from;
    const name = it.below_seconds === null || it.below_seconds === void 0 ? `${brief(begins)} or longer` : `${begins === 0 ? "Under" : `${brief(begins)} to`} ${brief(it.below_seconds)}`;
    return { name: name.replaceAll(".0 s", " s"), counts: [it.count], said: it.count.toLocaleString() };
  });
  return a("section", { class: "panel fill", children: [
    a("h2", { children: "Time to answer" }),
    stats.answers.count === 0 ? a("p", { class: "hint", children: "No answers in this period." }) : a(Bars, { label: "Answers by time to answer", series: [{ tone: "accent", label: "Answers" }], bars: spans })
  ] });
}
function Reasons({ stats }) {
  return a("section", { class: "panel fill", children: [
    a("h2", { children: "Most frequent reasons" }),
    stats.reasons.length === 0 ? a("p", { class: "hint", children: "No questions in this period." }) : a(
      Bars,
      {
        label: "Most frequent reasons of questions",
        series: ANSWERED,
        bars: stats.reasons.map((it) => ({
          name: it.code === "" ? "No specific finding" : it.code,
          detail: it.example,
          counts: [it.approved, it.denied, it.asked - it.approved - it.denied],
          said: `${it.asked.toLocaleString()} asked`
        }))
      }
    )
  ] });
}
function Agents({ stats }) {
  const series = [
    { tone: "allow", label: "Not asked" },
    { tone: "ask", label: "Asked" },
    { tone: "refuse", label: "Refused" }
  ];
  return a("section", { class: "panel fill", children: [
    a("h2", { children: "Calls by agent" }),
    a(
      Bars,
      {
        label: "Calls by agent",
        series,
        bars: stats.agents.map((it) => ({
          name: it.name,
          counts: [it.calls - it.asked - it.refused, it.asked, it.refused],
          said: many(it.calls, "call")
        }))
      }
    )
  ] });
}
function People({ stats }) {
  return a("section", { class: "panel fill", children: [
    a("h2", { children: "Who answered" }),
    stats.people.length === 0 ? a("p", { class: "hint", children: "No answers in this period." }) : a(
      Bars,
      {
        label: "Answers by person",
        series: ANSWERED.slice(0, 2),
        bars: stats.people.map((it) => ({
          name: it.name,
          detail: `median ${brief(it.p50_seconds)}${it.under_one_second === 0 ? "" : `, ${it.under_one_second} under 1 s`}`,
          counts: [it.approved, it.answers - it.approved],
          said: many(it.answers, "answer")
        }))
      }
    )
  ] });
}
function WhatIf({ lines, since }) {
  const auto = useSignal(lines.auto_below);
  const ask = useSignal(lines.ask_above);
  const sure = useSignal(lines.confidence_min);
  const found = useSignal(null);
  const problem = useSignal(null);
  const thresholds = { auto_below: auto.value, ask_above: ask.value, confidence_min: sure.value };
  A(() => {
    let isOver = false;
    const timer = window.setTimeout(() => {
      post("/v1/replay", { since, thresholds }).then(
        (replayed) => {
          if (isOver) return;
          found.value = replayed;
          problem.value = null;
        },
        (error) => {
          if (!isOver) problem.value = explain(error);
        }
      );
    }, PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [auto.value, ask.value, sure.value, since]);
  const isSame = auto.value === lines.auto_below && ask.value === lines.ask_above && sure.value === lines.confidence_min;
  const reset = () => {
    auto.value = lines.auto_below;
    ask.value = lines.ask_above;
    sure.value = lines.confidence_min;
  };
  return a("section", { class: "panel fill what-if", children: [
    a("h2", { children: "Try other thresholds" }),
    a("p", { class: "hint", children: "Move a slider to see which calls of this period would have asked. Critical calls, crisis, money, outbound calls and your own rules ask at any threshold. This changes nothing." }),
    a("div", { class: "sliders", children: [
      a(
        Slider,
        {
          label: "Runs without a question below this risk",
          value: auto,
          now: lines.auto_below,
          onMove: (value) => {
            if (value > ask.value) ask.value = value;
          }
        }
      ),
      a(
        Slider,
        {
          label: "Asks above this risk",
          value: ask,
          now: lines.ask_above,
          onMove: (value) => {
            if (value < auto.value) auto.value = value;
          }
        }
      ),
      a(Slider, { label: "Between the two, asks below this confidence", value: sure, now: lines.confidence_min })
    ] }),
    problem.value !== null ? a("p", { class: "problem", role: "alert", children: problem.value }) : null,
    found.value === null ? a(Loading, { what: "Loading statistics" }) : a(Difference, { found: found.value, isSame }),
    isSame ? null : a($, { children: [
      a("div", { class: "row-of-buttons", children: a("button", { type: "button", class: "button", onClick: reset, children: "Reset" }) }),
      a("p", { class: "hint", children: "To apply:" }),
      a(Commands, { lines: commands(thresholds) })
    ] })
  ] });
}
var commands = (lines) => Object.entries(lines).map(([name, value]) => `countersign config set approvals.thresholds.${name} ${value}`);
function Slider({ label, value, now: now2, onMove }) {
  return a("label", { class: "slider", children: [
    a("span", { children: label }),
    a("span", { class: "slider-value", children: value.value.toFixed(2) }),
    a(
      "input",
      {
        type: "range",
        min: 0,
        max: 1,
        step: 0.01,
        value: value.value,
        "aria-valuetext": value.value.toFixed(2),
        onInput: (event) => {
          value.value = Number(event.currentTarget.value);
          onMove?.(value.value);
        }
      }
    ),
    a("small", { children: value.value === now2 ? "current" : `now ${now2.toFixed(2)}` })
  ] });
}
function Difference({ found, isSame }) {
  const of = (was, now2) => found.verdicts[was]?.[now2] ?? 0;
  const asksWas = Object.values(found.verdicts["ask"] ?? {}).reduce((all, count) => all + count, 0);
  const asksNow = Object.keys(found.verdicts).reduce((all, was) => all + of(was, "ask"), 0);
  const runs = of("ask", "allow") + of("ask", "allow_then_review");
  const asks = of("allow", "ask") + of("allow_then_review", "ask");
  return a($, { children: [
    a("div", { class: "difference", role: "status", children: [
      a("p", { class: "difference-main", children: [
        a("strong", { children: asksNow.toLocaleString() }),
        " of ",
        many(found.calls, "call"),
        " asked about, instead of ",
        a("strong", { children: asksWas.toLocaleString() })
      ] }),
      a("p", { children: isSame ? "These are the current thresholds." : runs + asks === 0 ? "No call of this period would have a different verdict." : `${many(runs, "call")} would have run without a question, ${many(asks, "more call")} would have been asked about.` })
    ] }),
    found.changed.length === 0 || isSame ? null : a("ul", { class: "changed", "aria-label": "Calls with a different verdict", children: [
      found.changed.slice(0, 12).map((call) => a("li", { children: [
        a("span", { class: `pill tone-${call.now === "ask" ? "ask" : "allow"}`, children: call.now === "ask" ? "Would ask" : "Would run" }),
        a("a", { href: at("history", call.call_id), children: a("code", { children: call.command }) })
      ] }, call.call_id)),
      found.changed.length > 12 ? a("li", { class: "hint", children: [
        "and ",
        found.changed.length - 12,
        found.changed.length >= 100 ? " or more" : "",
        " others"
      ] }) : null
    ] })
  ] });
}
export {
  Insights
};
