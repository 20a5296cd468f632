// Reviews: calls that ran because they can be undone.

import { useSignal } from "@preact/signals";

import { explain, get, post, segment } from "../api";
import { ago, now } from "../clock";
import { mayAnswer, say } from "../live";
import { useLoaded } from "../load";
import { Confirm } from "../parts/confirm";
import { Difference } from "../parts/difference";
import { Code, Facts } from "../parts/fields";
import { RiskWord } from "../parts/risk";
import { Commands, Empty, Head, Loading, Problem } from "../parts/states";
import { patch } from "../diff";
import { at } from "../router";
import { languageOf } from "../syntax";
import { riskOf } from "../verdicts";
import type { ReviewList, ReviewView } from "../wire.gen";

export function Reviews() {
  // A review begins before its call has changed anything; what changed is known when the tool is done.
  const loaded = useLoaded(() => get<ReviewList>("/v1/reviews"), ["review.", "tool.completed"]);
  const reviews = loaded.value.value?.reviews;
  return (
    <div class="page">
      <Head title="Reviews" lead="These calls ran without a question because they can be undone. Keep or undo each." />
      {reviews === undefined ? (
        loaded.error.value !== null ? <Problem error={loaded.error.value} again={loaded.again} /> : <Loading />
      ) : reviews.length === 0 ? (
        <Nothing />
      ) : (
        <ul class="stack">
          {[...reviews].reverse().map((review) => (
            <li key={review.review_id}>
              <Review review={review} onSettled={loaded.again} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Nothing() {
  return (
    <>
      <Empty isPart icon="reviews" title="Nothing to review">
        <p>
          With reviews enabled, an uncertain change that can be undone runs immediately and appears here with
          its diff instead of interrupting you.
        </p>
      </Empty>
      <section class="panel fill">
        <h2>Enable reviews</h2>
        <Commands lines={["countersign config set review.enabled true"]} />
      </section>
    </>
  );
}

function Review({ review, onSettled }: { review: ReviewView; onSettled: () => void }) {
  const problem = useSignal<string | null>(null);
  const settle = async (how: "keep" | "undo"): Promise<void> => {
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
  return (
    <article class="panel fill">
      <header class="item-head">
        <RiskWord risk={riskOf(call.assessment)} />
        <h2>{title}</h2>
      </header>
      <p class="reason">{call.assessment.reasons[0] ?? "The judge was not sure about it."}</p>
      <Facts
        fields={[
          { name: "Ran", text: `${ago(call.created_at, now.value)}, by ${review.agent ?? review.key_name} with ${call.tool}` },
          { name: "Why it ran", text: call.assessment.rule.sentence, href: at("history", call.call_id) },
        ]}
      />
      {review.diff ? <Difference name="What changed" lines={patch(review.diff.trimEnd())} of={languageOf(review.path ?? "")} /> : review.path ? <p class="hint">The diff is too large to show.</p> : <Code name="Command" text={review.command} />}
      {problem.value === null ? null : <p class="problem" role="alert">{problem.value}</p>}
      {review.status === "undoing" ? (
        <p class="hint" role="status">
          Undoing …
        </p>
      ) : mayAnswer.value ? (
        <div class="row-of-buttons">
          <button type="button" class="button primary" onClick={() => void settle("keep")}>
            Keep
            <span class="unseen"> {title}</span>
          </button>
          <Confirm
            label="Undo"
            about={title}
            asks={review.path ? "Restores the file. If somebody changed it since, nothing is restored." : "Tells the agent that ran it to undo it."}
            yes="Undo it"
            onYes={() => void settle("undo")}
          />
        </div>
      ) : null}
    </article>
  );
}
