import {
  Confirm
} from "./chunk-EPSSDFDB.js";
import {
  $,
  Code,
  Commands,
  Difference,
  Empty,
  Facts,
  Head,
  Loading,
  Problem,
  RiskWord,
  a,
  ago,
  at,
  explain,
  get,
  languageOf,
  mayAnswer,
  now,
  patch,
  post,
  riskOf,
  say,
  segment,
  useLoaded,
  useSignal
} from "./chunk-FKD5T3PG.js";

// src/views/reviews.tsx
function Reviews() {
  const loaded = useLoaded(() => get("/v1/reviews"), ["review.", "tool.completed"]);
  const reviews = loaded.value.value?.reviews;
  return a("div", { class: "page", children: [
    a(Head, { title: "Reviews", lead: "These calls ran without a question because they can be undone. Keep or undo each." }),
    reviews === void 0 ? loaded.error.value !== null ? a(Problem, { error: loaded.error.value, again: loaded.again }) : a(Loading, {}) : reviews.length === 0 ? a(Nothing, {}) : a("ul", { class: "stack", children: [...reviews].reverse().map((review) => a("li", { children: a(Review, { review, onSettled: loaded.again }) }, review.review_id)) })
  ] });
}
function Nothing() {
  return a($, { children: [
    a(Empty, { isPart: true, icon: "reviews", title: "Nothing to review", children: a("p", { children: "With reviews enabled, an uncertain change that can be undone runs immediately and appears here with its diff instead of interrupting you." }) }),
    a("section", { class: "panel fill", children: [
      a("h2", { children: "Enable reviews" }),
      a(Commands, { lines: ["countersign config set review.enabled true"] })
    ] })
  ] });
}
function Review({ review, onSettled }) {
  const problem = useSignal(null);
  const settle = async (how) => {
    try {
      await post(`/v1/reviews/${segment(review.review_id)}/${how}`);
      say(how === "keep" ? "Kept." : review.path ? "Undone: the file is restored." : "The agent is told to undo it.");
      onSettled();
    } catch (error) {
      problem.value = explain(error);
    }
  };
  const { call } = review;
  const title = review.path ?? review.command;
  return a("article", { class: "panel fill", children: [
    a("header", { class: "item-head", children: [
      a(RiskWord, { risk: riskOf(call.assessment) }),
      a("h2", { children: title })
    ] }),
    a("p", { class: "reason", children: call.assessment.reasons[0] ?? "The judge was not sure about it." }),
    a(
      Facts,
      {
        fields: [
          { name: "Ran", text: `${ago(call.created_at, now.value)}, by ${review.agent ?? review.key_name} with ${call.tool}` },
          { name: "Why it ran", text: call.assessment.rule.sentence, href: at("history", call.call_id) }
        ]
      }
    ),
    review.diff ? a(Difference, { name: "What changed", lines: patch(review.diff.trimEnd()), of: languageOf(review.path ?? "") }) : review.path ? a("p", { class: "hint", children: "The diff is too large to show." }) : a(Code, { name: "Command", text: review.command }),
    problem.value === null ? null : a("p", { class: "problem", role: "alert", children: problem.value }),
    review.status === "undoing" ? a("p", { class: "hint", role: "status", children: "Undoing …" }) : mayAnswer.value ? a("div", { class: "row-of-buttons", children: [
      a("button", { type: "button", class: "button primary", onClick: () => void settle("keep"), children: [
        "Keep",
        a("span", { class: "unseen", children: [
          " ",
          title
        ] })
      ] }),
      a(
        Confirm,
        {
          label: "Undo",
          about: title,
          asks: review.path ? "Restores the file. If somebody changed it since, nothing is restored." : "Tells the agent that ran it to undo it.",
          yes: "Undo it",
          onYes: () => void settle("undo")
        }
      )
    ] }) : null
  ] });
}
export {
  Reviews
};
