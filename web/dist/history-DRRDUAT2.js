import {
  Confirm
} from "./chunk-EPSSDFDB.js";
import {
  $,
  A,
  ENDINGS,
  Empty,
  Facts,
  Icon,
  Loading,
  O,
  Problem,
  Quote,
  RiskWord,
  T,
  VERDICTS,
  VirtualList,
  Why,
  a,
  at,
  brief,
  callsOf,
  ended,
  fullMoment,
  get,
  lift,
  link,
  listen,
  many,
  mayAnswer,
  me,
  moment,
  now,
  place,
  r,
  riskOf,
  say,
  segment,
  settle,
  short,
  span,
  took,
  useKeys,
  useLoaded,
  useSignal,
  useSignalEffect,
  y
} from "./chunk-FKD5T3PG.js";

// src/views/history.tsx
var ROW_REM = 4.5;
var PAGE = 100;
var PAUSE_MS = 250;
var ENDS = [
  ["", "Any status"],
  ["waiting", "Waiting"],
  ["allowed", "Allowed"],
  ["approved", "Approved"],
  ["denied", "Denied"],
  ["refused", "Refused"],
  ["expired", "Expired"],
  ["withdrawn", "Withdrawn"]
];
var WHENS = [
  ["", "Any time", 0],
  ["hour", "Last hour", 3600],
  ["day", "Last 24 hours", 86400],
  ["week", "Last 7 days", 7 * 86400],
  ["month", "Last 30 days", 30 * 86400]
];
var FILTERS = ["q", "outcome", "tool", "by", "when", "run_id", "session_id"];
var rows = y([]);
var next = y(null);
var state = y("loading");
var problem = y(null);
var fresh = y(0);
var shownFor = y(null);
var turn = 0;
var asked = O(() => {
  const words = new URLSearchParams();
  for (const name of FILTERS) {
    const value = place.value.query.get(name) ?? "";
    if (value === "") continue;
    const [, , seconds = 0] = WHENS.find(([word]) => word === value) ?? [];
    if (name === "when") words.set("since", String(Math.floor(Date.now() / 6e4) * 60 - seconds));
    else words.set(name, value);
  }
  return words.toString();
});
async function read(isMore) {
  const mine = turn += 1;
  const query = asked.peek();
  r(() => {
    state.value = isMore ? "more" : "loading";
    problem.value = null;
  });
  const behind = isMore && next.peek() !== null ? `&behind=${segment(next.peek() ?? "")}` : "";
  try {
    const page = await get(`/v1/traces?limit=${PAGE}${query === "" ? "" : `&${query}`}${behind}`);
    if (mine !== turn) return;
    const found = page.traces.map((trace) => short(trace, me.peek()?.name ?? ""));
    r(() => {
      rows.value = isMore ? [...rows.peek(), ...found] : found;
      next.value = page.next ?? null;
      if (!isMore) fresh.value = 0;
      shownFor.value = query;
      state.value = "ready";
    });
  } catch (error) {
    if (mine !== turn) return;
    r(() => {
      problem.value = error;
      state.value = "ready";
    });
  }
}
function History() {
  const id = place.value.parts[1];
  const field = T(null);
  useSignalEffect(() => {
    if (asked.value !== shownFor.peek()) void read(false);
  });
  A(() => {
    if (shownFor.peek() !== null && asked.peek() === shownFor.peek()) void read(false);
    return listen((event) => {
      if (event.event === "call.assessed") came();
      if (event.event === "approval.resolved") void settleRow(event.call_id);
    });
  }, []);
  const move = (step) => {
    const list = rows.value;
    const from = list.findIndex((row2) => row2.id === id);
    const row = list[from === -1 ? 0 : from + step];
    if (row === void 0) return false;
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
      else if (id !== void 0) settle(addressOf(null));
      else return false;
      return true;
    }
  });
  return a("div", { class: id === void 0 ? "records" : "records has-record", children: [
    a("section", { class: "list", "aria-label": "Calls", children: [
      a("header", { class: "list-head", children: [
        a("h1", { children: "History" }),
        a(Search, { field }),
        a(Filters, {})
      ] }),
      fresh.value > 0 && state.value === "ready" ? a("button", { type: "button", class: "fresh", onClick: () => void read(false), children: [
        many(fresh.value, "new call"),
        ", show"
      ] }) : null,
      a(List, { id })
    ] }),
    a("section", { class: "detail", "aria-label": "One call", children: id === void 0 ? a(Hint, {}) : a(Detail, { id }, id) })
  ] });
}
function came() {
  fresh.value += 1;
  if (rows.peek().length === 0 && asked.peek() === "" && state.peek() === "ready") void read(false);
}
var addressOf = (id) => {
  const query = place.peek().query.toString();
  return `${id === null ? at("history") : at("history", id)}${query === "" ? "" : `?${query}`}`;
};
function filterBy(name, value) {
  const query = new URLSearchParams(place.peek().query);
  if (value === "") query.delete(name);
  else query.set(name, value);
  const words = query.toString();
  settle(`${at("history")}${words === "" ? "" : `?${words}`}`);
}
async function settleRow(id) {
  if (!rows.peek().some((row) => row.id === id)) return;
  const trace = await get(`/v1/traces/${segment(id)}`).catch(() => null);
  if (trace === null) return;
  const now2 = short(trace, me.peek()?.name ?? "");
  rows.value = rows.peek().map((row) => row.id === id ? now2 : row);
}
function Search({ field }) {
  const timer = T(0);
  const typed = (event) => {
    const text = event.currentTarget.value;
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => filterBy("q", text.trim()), PAUSE_MS);
  };
  return a("label", { class: "search", children: [
    a("span", { class: "unseen", children: "Search commands, reasons and agents" }),
    a(Icon, { name: "search" }),
    a(
      "input",
      {
        ref: field,
        type: "search",
        placeholder: "Search commands, reasons, agents",
        maxLength: 200,
        defaultValue: place.peek().query.get("q") ?? "",
        onInput: typed
      }
    ),
    a("kbd", { children: "/" })
  ] });
}
function Filters() {
  const known = useLoaded(() => get("/v1/stats"));
  const query = place.value.query;
  const options = (name, all, found) => {
    const chosen = query.get(name) ?? "";
    const more = chosen === "" || found.includes(chosen) ? found : [chosen, ...found];
    return [["", all], ...more.map((word) => [word, word])];
  };
  const stats = known.value.value;
  const only = [["run_id", "run"], ["session_id", "session"]];
  return a("div", { class: "filters", children: [
    a(Choose, { name: "outcome", label: "Status", options: ENDS }),
    a(Choose, { name: "when", label: "When", options: WHENS.map(([word, words]) => [word, words]) }),
    a(Choose, { name: "tool", label: "Tool", options: options("tool", "Any tool", stats?.tools ?? []) }),
    a(Choose, { name: "by", label: "Who decided", options: options("by", "Anybody", stats?.people.map((it) => it.name) ?? []) }),
    only.filter(([name]) => query.get(name) !== null).map(([name, word]) => a("button", { type: "button", class: "chip", onClick: () => filterBy(name, ""), children: [
      "One ",
      word,
      " ",
      a(Icon, { name: "cross" }),
      a("span", { class: "unseen", children: [
        ", show all ",
        word,
        "s"
      ] })
    ] }, name))
  ] });
}
function Choose({ name, label, options }) {
  const value = place.value.query.get(name) ?? "";
  return a("label", { class: value === "" ? "" : "chosen", children: [
    a("span", { class: "unseen", children: label }),
    a("select", { value, onChange: (event) => filterBy(name, event.currentTarget.value), children: options.map(([word, words]) => a("option", { value: word, children: words }, word)) })
  ] });
}
function List({ id }) {
  const list = rows.value;
  if (problem.value !== null && list.length === 0) return a(Problem, { error: problem.value, again: () => void read(false) });
  if (state.value === "loading" && (list.length === 0 || shownFor.value !== asked.value)) return a(Loading, { what: "Loading history" });
  if (list.length === 0) return a(NoRows, {});
  return a($, { children: [
    a(
      VirtualList,
      {
        items: list,
        rowRem: ROW_REM,
        label: `${many(list.length, "call")}${next.value === null ? "" : " so far"}, the newest first`,
        shown: list.findIndex((row) => row.id === id),
        id: (row) => row.id,
        row: (row) => a(CallRow, { row, isCurrent: row.id === id }),
        onEnd: () => {
          if (next.peek() !== null && state.peek() === "ready" && problem.peek() === null) void read(true);
        }
      }
    ),
    a("p", { class: "list-foot", role: "status", children: problem.value !== null ? a("button", { type: "button", class: "quiet", onClick: () => void read(true), children: "Loading older calls failed. Try again" }) : state.value === "more" ? "Loading older calls …" : next.value === null ? `${many(list.length, "call")}, no more` : `The newest ${many(list.length, "call")}; scroll for older ones` })
  ] });
}
function CallRow({ row, isCurrent }) {
  const ending = ENDINGS[row.status];
  return a("a", { class: "record", href: addressOf(row.id), "aria-current": isCurrent ? "true" : void 0, children: [
    a("span", { class: "record-top", children: [
      a("span", { class: `pill tone-${ending?.tone ?? "none"}`, children: ending?.word ?? row.status }),
      a("code", { children: row.command })
    ] }),
    a("span", { class: "record-meta", children: [
      a("time", { children: moment(row.at) }),
      a("span", { children: row.who }),
      a("span", { children: row.tool }),
      row.took === null ? null : a("span", { children: brief(row.took) })
    ] })
  ] });
}
function NoRows() {
  const isFiltered = asked.value !== "";
  return isFiltered ? a(Empty, { isPart: true, icon: "search", title: "No matching calls", children: [
    a("p", { children: "The search covers commands, first reasons, tools and agents of the newest 100 000 calls." }),
    a("button", { type: "button", class: "button", onClick: () => settle(at("history")), children: "Show everything" })
  ] }) : a(Empty, { isPart: true, icon: "history", title: "No calls yet", children: [
    a("p", { children: "Every call of an agent appears here, with every factor that counted, including calls that ran without a question. So “why was I not asked?” has an answer." }),
    a("p", { children: a("a", { href: "#/", children: "How to connect an agent" }) })
  ] });
}
function Hint() {
  return a(Empty, { isPart: true, icon: "history", title: "Select a call", children: [
    a("p", { children: "See what it would do, the verdict and its rule, every factor, and who decided where and how fast." }),
    a("p", { class: "hint", children: [
      a("kbd", { children: "j" }),
      " ",
      a("kbd", { children: "k" }),
      " move, ",
      a("kbd", { children: "/" }),
      " searches."
    ] })
  ] });
}
function Detail({ id }) {
  const loaded = useLoaded(() => get(`/v1/traces/${segment(id)}`), ["approval.", "tool.completed"], id);
  const trace = loaded.value.value;
  return a($, { children: [
    a("a", { class: "back", href: addressOf(null), children: [
      a(Icon, { name: "back" }),
      "All calls"
    ] }),
    trace !== null ? a(Explained, { trace }) : loaded.error.value !== null ? a(Problem, { error: loaded.error.value, again: loaded.again }) : a(Loading, { what: "Loading the call" })
  ] });
}
function denial({ status, approval_id: approval, decision }) {
  if (status === "denied") return approval ?? null;
  return decision?.cause === "deny_memory" ? decision.denial_id ?? null : null;
}
function Lift({ trace }) {
  const problem2 = useSignal(null);
  const id = denial(trace);
  const mayLift = mayAnswer.value && (trace.decision?.by === me.value?.name || me.value?.role === "admin");
  if (id === null || !mayLift) return null;
  const doIt = async () => {
    problem2.value = await lift(id);
    if (problem2.value === null) say("Lifted. The agent may ask again.");
  };
  return a("p", { children: [
    a(
      Confirm,
      {
        label: "Lift the denial",
        about: trace.command,
        asks: "The agent may ask about this again. It still needs an approval.",
        yes: "Lift it",
        onYes: () => void doIt()
      }
    ),
    problem2.value === null ? null : a("span", { class: "problem", role: "alert", children: problem2.value })
  ] });
}
function Explained({ trace }) {
  const { assessment, decision } = trace;
  const risk = riskOf(assessment);
  const who = me.value?.name ?? "";
  const seconds = took(trace);
  const facts = [
    { name: "When", text: `${fullMoment(trace.created_at)} (${span(now.value - trace.created_at)} ago)` },
    { name: "Verdict", text: `${VERDICTS[trace.verdict]}: ${assessment.rule.sentence} (rule ${assessment.rule.number})` },
    ...seconds === null ? [] : [{ name: "Time to answer", text: brief(seconds) }],
    ...decision?.note ? [{ name: "Note", text: decision.note }] : [],
    { name: "Asked by", text: trace.agent ? `${trace.key_name}, calls itself ${trace.agent}` : trace.key_name },
    { name: "Tool", text: trace.tool },
    ...trace.cwd ? [{ name: "Directory", text: trace.cwd }] : [],
    { name: "Run", text: trace.run_id, href: callsOf("run_id", trace.run_id) },
    { name: "Session", text: trace.session_id, href: callsOf("session_id", trace.session_id) },
    ...trace.outcome ? [{ name: "Outcome", text: outcomeWords(trace.outcome) }] : []
  ];
  return a("article", { class: `card-scroll edge-${risk}`, children: [
    a("header", { class: "card-head", children: [
      a("p", { class: "verdict", children: [
        a(RiskWord, { risk }),
        " ",
        a("span", { children: assessment.reasons[0] ?? "No warnings." })
      ] }),
      a("h2", { tabIndex: -1, children: ended(trace.status, decision, who) })
    ] }),
    a(Quote, { name: "Command", text: trace.command }),
    a(Facts, { fields: facts }),
    trace.approval_id && trace.verdict === "ask" ? a("p", { children: a("a", { href: at("approvals", trace.approval_id), children: trace.status === "waiting" ? "Answer it in the inbox" : "Show the card people saw" }) }) : null,
    a(Lift, { trace }),
    assessment.reasons.length < 2 ? null : a("section", { class: "reasons", children: [
      a("h3", { children: "Reasons" }),
      a("ul", { children: assessment.reasons.map((reason) => a("li", { children: reason }, reason)) })
    ] }),
    a("section", { class: "long", children: [
      a("h3", { children: "Full analysis" }),
      a(Why, { assessment })
    ] }),
    trace.args === null ? null : a(Quote, { name: "Arguments", text: JSON.stringify(trace.args, null, 2) }),
    a("p", { class: "digest", children: [
      trace.call_id,
      " · ",
      trace.digest,
      " · policy ",
      trace.policy.slice(0, 16)
    ] })
  ] });
}
function outcomeWords(outcome) {
  const word = outcome.failed ? "It failed" : "It ran";
  const time = outcome.duration === null || outcome.duration === void 0 ? "" : ` in ${brief(outcome.duration / 1e3)}`;
  return outcome.summary ? `${word}${time}: ${outcome.summary}` : `${word}${time}`;
}
link.subscribe((state2) => {
  if (state2 === "signed_out") rows.value = [];
});
export {
  History
};
