import {
  Confirm
} from "./chunk-EPSSDFDB.js";
import {
  Empty,
  Facts,
  Head,
  Loading,
  Overrides,
  Problem,
  Words,
  a,
  ago,
  at,
  explain,
  fullMoment,
  get,
  many,
  mayAnswer,
  now,
  remove,
  say,
  segment,
  span,
  useLoaded,
  useSignal
} from "./chunk-FKD5T3PG.js";

// src/views/grants.tsx
function Grants() {
  const isAll = useSignal(false);
  const grants = useLoaded(() => get(`/v1/grants?all=${isAll.peek()}`), ["grant."], String(isAll.value));
  const found = grants.value.value?.grants;
  return a("div", { class: "page", children: [
    a(Head, { title: "Grants", lead: "Standing permissions: these calls run without a question. A grant never covers more than its text says.", children: a("label", { class: "tick", children: [
      a("input", { type: "checkbox", checked: isAll.value, onChange: (event) => isAll.value = event.currentTarget.checked }),
      a("span", { children: "Show ended grants" })
    ] }) }),
    a(Overrides, {}),
    found === void 0 ? grants.error.value !== null ? a(Problem, { error: grants.error.value, again: grants.again }) : a(Loading, {}) : found.length === 0 ? a(Empty, { isPart: true, icon: "grants", title: isAll.value ? "No grants yet" : "No active grants", children: a("p", { children: "“Allow for this session” and “Add to permanent allowlist” on a card create one. The card shows it first, the narrowest on top, with how often it would have matched." }) }) : a("ul", { class: "stack", children: [...found].sort((a2, b) => Number(b.live) - Number(a2.live) || b.created_at - a2.created_at).map((grant) => a("li", { children: a(Grant, { grant, onRevoked: grants.again }) }, grant.grant_id)) })
  ] });
}
function Grant({ grant, onRevoked }) {
  const problem = useSignal(null);
  const revoke = async () => {
    try {
      await remove(`/v1/grants/${segment(grant.grant_id)}`);
      say("Revoked. Such calls ask again.");
      onRevoked();
    } catch (error) {
      problem.value = explain(error);
    }
  };
  return a("article", { class: grant.live ? "panel fill item" : "panel fill item over", children: [
    a("header", { class: "item-head", children: [
      a("span", { class: grant.live ? "pill tone-yes" : "pill tone-none", children: grant.live ? lasts(grant) : "Ended" }),
      a("h2", { children: a(Words, { text: grant.words }) })
    ] }),
    a(
      Facts,
      {
        fields: [
          { name: "Given by", text: `${grant.by}, ${fullMoment(grant.created_at)}`, href: at("approvals", grant.approval_id) },
          { name: "Valid for", text: grant.session_id ? `session ${grant.session_id}` : "every session of that agent" },
          { name: "Used", text: used(grant) },
          ...grant.expires_at ? [{ name: grant.live ? "Ends" : "Ended", text: fullMoment(grant.expires_at) }] : []
        ]
      }
    ),
    problem.value === null ? null : a("p", { class: "problem", role: "alert", children: problem.value }),
    grant.live && mayAnswer.value ? a(Confirm, { label: "Revoke", about: grant.words, asks: "Such calls ask again from now on. This does not undo calls that already ran.", yes: "Revoke it", onYes: () => void revoke() }) : null
  ] });
}
function lasts(grant) {
  if (grant.uses_left !== null && grant.uses_left !== void 0) return `${many(grant.uses_left, "use")} left`;
  if (grant.expires_at !== null && grant.expires_at !== void 0) return `${span(grant.expires_at - now.value)} left`;
  return grant.session_id ? "This session" : "Permanent";
}
function used(grant) {
  if (grant.uses === 0) return "not yet";
  const last = grant.last_used_at ? `, last ${ago(grant.last_used_at, now.value)}` : "";
  return `${many(grant.uses, "time")}${last}`;
}
export {
  Grants
};
