import {
  $,
  Code,
  Commands,
  Facts,
  Head,
  Icon,
  Loading,
  Problem,
  Quote,
  a,
  explain,
  fullMoment,
  get,
  many,
  moment,
  useLoaded,
  useSignal
} from "./chunk-FKD5T3PG.js";

// src/views/ledger.tsx
var PAGE = 25;
function Ledger() {
  const state = useSignal(null);
  const isBusy = useSignal(false);
  const problem = useSignal(null);
  const verify = async () => {
    if (isBusy.value) return;
    isBusy.value = true;
    try {
      state.value = await get("/v1/ledger/verify");
      problem.value = null;
    } catch (error) {
      problem.value = explain(error);
    }
    isBusy.value = false;
  };
  return a("div", { class: "page", children: [
    a(Head, { title: "Ledger", lead: "A hash-chained log of everything that happened. Changing one entry breaks every entry after it." }),
    a("section", { class: `panel fill ${state.value === null ? "" : state.value.ok ? "good" : "bad"}`, "aria-live": "polite", children: [
      state.value === null ? a("p", { children: "Verification checks the whole chain, its signatures and the stored head, and compares every record with it. It changes nothing." }) : a(Verified, { state: state.value }),
      problem.value === null ? null : a("p", { class: "problem", children: problem.value }),
      a("button", { type: "button", class: "button primary", "aria-disabled": isBusy.value, onClick: () => void verify(), children: isBusy.value ? "Verifying …" : state.value === null ? "Verify the ledger" : "Verify again" })
    ] }),
    a(Entries, {}),
    a("section", { class: "panel fill", children: [
      a("h2", { children: "Verify it yourself" }),
      a("p", { class: "hint", children: "The same check works offline, on another machine, without this gateway. Keep a copy of the head elsewhere from time to time; then even a complete rewrite of the ledger is detected." }),
      a(Commands, { lines: ["countersign ledger verify", "countersign ledger anchor"] })
    ] })
  ] });
}
function heading({ ok, first_bad }) {
  if (ok) return "The ledger is intact";
  return first_bad === null ? "Some records differ from the ledger" : `Entry ${first_bad} was changed`;
}
function Verified({ state }) {
  return a($, { children: [
    a("h2", { class: "verified", children: [
      a(Icon, { name: state.ok ? "check" : "cross" }),
      heading(state)
    ] }),
    state.ok || !state.why ? null : a("p", { class: "problem", children: state.why }),
    a(
      Facts,
      {
        fields: [
          { name: "Valid entries", text: state.entries.toLocaleString() },
          { name: "Signatures", text: many(state.checkpoints, "checkpoint") },
          { name: "Matching records", text: state.ok ? state.records.toLocaleString() : "not all" }
        ]
      }
    ),
    a(Quote, { name: "Head", text: `${state.entries}:${state.head}` })
  ] });
}
function Entries() {
  const upTo = useSignal(null);
  const read = async () => {
    const end = upTo.peek() ?? (await get(`/v1/ledger?limit=1&after=${Number.MAX_SAFE_INTEGER}`)).last;
    return get(`/v1/ledger?limit=${PAGE}&after=${Math.max(0, end - PAGE)}`);
  };
  const loaded = useLoaded(read, upTo.value === null ? ["approval.", "grant.", "key.", "run."] : [], String(upTo.value));
  const list = loaded.value.value;
  if (list === null) {
    return loaded.error.value !== null ? a(Problem, { error: loaded.error.value, again: loaded.again }) : a(Loading, { what: "Loading the ledger" });
  }
  const entries = [...list.entries].reverse();
  const first = entries.at(-1)?.seq ?? 0;
  const last = entries[0]?.seq ?? 0;
  return a("section", { class: "panel fill entries", "aria-label": "Entries", children: [
    a("header", { class: "item-head", children: [
      a("h2", { children: "Entries" }),
      a("span", { class: "hint", children: `${first.toLocaleString()} to ${last.toLocaleString()} of ${list.last.toLocaleString()}` })
    ] }),
    a("ul", { children: entries.map((entry) => a("li", { children: a("details", { children: [
      a("summary", { children: [
        a("span", { class: "seq", children: entry.seq.toLocaleString() }),
        a("span", { class: "event", children: entry.event }),
        a("span", { class: "subject", children: about(entry) }),
        a("time", { children: moment(entry.at / 1e3) })
      ] }),
      a(
        Facts,
        {
          fields: [
            { name: "When", text: fullMoment(entry.at / 1e3) },
            { name: "Previous hash", text: entry.previous },
            { name: "Hash", text: entry.hash }
          ]
        }
      ),
      a(Code, { name: `Entry ${entry.seq}`, text: pretty(entry.body) })
    ] }) }, entry.seq)) }),
    a("div", { class: "row-of-buttons", children: [
      a("button", { type: "button", class: "button", "aria-disabled": first <= 1, onClick: () => first > 1 && (upTo.value = first - 1), children: "Older" }),
      a(
        "button",
        {
          type: "button",
          class: "button",
          "aria-disabled": last >= list.last,
          onClick: () => last < list.last && (upTo.value = last + PAGE >= list.last ? null : last + PAGE),
          children: "Newer"
        }
      )
    ] })
  ] });
}
function about(entry) {
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
function parsed(body) {
  try {
    return JSON.parse(body);
  } catch {
    return {};
  }
}
var pretty = (body) => JSON.stringify(parsed(body), null, 2);
export {
  Ledger
};
