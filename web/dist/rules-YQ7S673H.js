import {
  $,
  Commands,
  Copy,
  Empty,
  Head,
  Loading,
  Problem,
  a,
  get,
  useLoaded,
  useSignal
} from "./chunk-FKD5T3PG.js";

// src/views/rules.tsx
var LISTS = [
  ["approvals.deny", "Deny"],
  ["approvals.ask", "Ask"],
  ["approvals.allow", "Allow"]
];
function Rules() {
  const loaded = useLoaded(() => get("/v1/rules"), ["config."]);
  const rules = loaded.value.value;
  return a("div", { class: "page wide", children: [
    a(Head, { title: "Rules", lead: "Rules and configuration in force, and where each comes from. Secrets are not shown." }),
    rules === null ? loaded.error.value !== null ? a(Problem, { error: loaded.error.value, again: loaded.again }) : a(Loading, {}) : a($, { children: [
      a(Own, { rules }),
      a(Order, { rules }),
      a(Configuration, { rules })
    ] })
  ] });
}
function Own({ rules }) {
  const own = ownRules(rules);
  return a("section", { class: "panel fill", "aria-label": "Your rules", children: [
    a("h2", { children: "Your rules" }),
    own.length === 0 ? a(Empty, { isPart: true, icon: "rules", title: "No rules of your own", children: [
      a("p", { children: "The order below decides alone. Rules that deny, ask or allow by command, tool, path or recipient go into the configuration." }),
      a(Commands, { lines: ["countersign policy suggest"] })
    ] }) : a("table", { class: "in-force", children: [
      a("thead", { children: a("tr", { children: [
        a("th", { scope: "col", children: "Effect" }),
        a("th", { scope: "col", children: "Matches" }),
        a("th", { scope: "col", children: "From" })
      ] }) }),
      a("tbody", { children: own.map((rule, index) => a("tr", { children: [
        a("td", { children: rule.effect }),
        a("td", { children: a("code", { children: rule.text }) }),
        a("td", { children: rule.source })
      ] }, index)) })
    ] })
  ] });
}
function Order({ rules }) {
  return a("section", { class: "panel fill", "aria-label": "Order of decision", children: [
    a("h2", { children: "Order of decision" }),
    a("p", { class: "hint", children: "Every call goes through these rules. The first that applies decides; the order cannot be configured." }),
    a("table", { class: "in-force", children: [
      a("thead", { children: a("tr", { children: [
        a("th", { scope: "col", children: "Rule" }),
        a("th", { scope: "col", children: "Applies when" }),
        a("th", { scope: "col", children: "Result" })
      ] }) }),
      a("tbody", { children: rules.order.map((rule) => a("tr", { children: [
        a("td", { children: rule.number }),
        a("td", { children: rule.applies }),
        a("td", { children: rule.result })
      ] }, rule.number)) })
    ] })
  ] });
}
function Configuration({ rules }) {
  const isAll = useSignal(false);
  const rows = rowsOf(rules).filter((row) => isAll.value || !row.isDefault);
  return a("section", { class: "panel fill", "aria-label": "Configuration", children: [
    a("div", { class: "long-head", children: [
      a("h2", { children: "Configuration" }),
      a("label", { class: "tick", children: [
        a("input", { type: "checkbox", checked: isAll.value, onChange: (event) => isAll.value = event.currentTarget.checked }),
        a("span", { children: "Show defaults" })
      ] })
    ] }),
    a("p", { class: "hint", children: [
      a("code", { children: rules.file }),
      " ",
      a(Copy, { name: "the path of the configuration", text: rules.file }),
      " A project’s ",
      a("code", { children: ".countersign.yaml" }),
      " may only tighten it; files of projects that asked since the gateway started are listed."
    ] }),
    rules.projects.map(
      (project) => project.problem === null || project.problem === void 0 ? null : a("p", { class: "problem", role: "alert", children: [
        "Calls of this project are refused until its file can be read: ",
        project.problem
      ] }, project.file)
    ),
    rows.length === 0 ? a("p", { class: "hint", children: "Nothing was changed: every key has its default." }) : a("table", { class: "in-force", children: [
      a("thead", { children: a("tr", { children: [
        a("th", { scope: "col", children: "Key" }),
        a("th", { scope: "col", children: "Value" }),
        a("th", { scope: "col", children: "From" })
      ] }) }),
      a("tbody", { children: rows.map((row) => a("tr", { children: [
        a("td", { children: a("code", { children: row.key }) }),
        a("td", { children: a("code", { children: row.text }) }),
        a("td", { children: row.source })
      ] }, `${row.source} ${row.key}`)) })
    ] }),
    a("p", { class: "hint", children: "Change a key as an admin, or in the file:" }),
    a(Commands, { lines: ["countersign config set approvals.timeout 10m"] })
  ] });
}
function rowsOf({ keys, projects }) {
  const row = (source) => (it) => ({
    key: it.key,
    text: textOf(it.value),
    source: it.is_default ? "Default" : source,
    isDefault: it.is_default
  });
  const all = [...keys.map(row("config.yaml")), ...projects.flatMap((project) => project.keys.map(row(project.file)))];
  return all.filter((it) => !LISTS.some(([list]) => list === it.key));
}
function ownRules({ keys, projects }) {
  const of = (source, found) => LISTS.flatMap(([key, effect]) => {
    const value = found.find((it) => it.key === key)?.value;
    return Array.isArray(value) ? value.map((rule) => ({ effect, text: textOf(rule).replace(/^\{ | \}$/g, ""), source })) : [];
  });
  return [...of("config.yaml", keys), ...projects.flatMap((project) => of(project.file, project.keys))];
}
function textOf(value) {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(textOf).join(", ");
  if (value === null || typeof value !== "object") return String(value);
  const fields = Object.entries(value).map(([name, it]) => `${name}: ${textOf(it)}`);
  return fields.length === 0 ? "none" : `{ ${fields.join(", ")} }`;
}
export {
  Rules
};
