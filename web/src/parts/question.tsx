// A question from an agent. An answer is information, never permission.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

import { ApiError, explain, get, post, segment } from "../api";
import { useArming } from "../arming";
import { moment, now, span } from "../clock";
import { useKeys } from "../keys";
import { mayAnswer, putQuestion } from "../live";
import type { Clarification } from "../wire";
import { Facts } from "./fields";

interface Props {
  question: Clarification;
  hasKeys: boolean;
}

export function QuestionView({ question, hasKeys }: Props) {
  return (
    <article class="card edge-question" aria-labelledby={`title-${question.clarification_id}`}>
      <div class="card-scroll">
        <header class="card-head">
          <p class="verdict">
            <span class="risk risk-question">Question</span>
            <span>From an agent. An answer permits nothing.</span>
          </p>
          <h2 id={`title-${question.clarification_id}`} class="question-text">
            {question.question}
          </h2>
        </header>
        <Facts
          fields={[
            { name: "Run", text: question.run_id },
            { name: "Session", text: question.session_id },
            { name: "Asked", text: moment(question.created_at) },
          ]}
        />
      </div>
      {question.status === "waiting" && mayAnswer.value ? (
        <Answers question={question} hasKeys={hasKeys} />
      ) : (
        <footer class="answer outcome">
          <p class="outcome-words">
            <strong>{said(question)}</strong>
          </p>
        </footer>
      )}
    </article>
  );
}

function said(question: Clarification): string {
  if (question.status === "waiting") return "Waiting for an approver.";
  const answer = question.answer;
  if (answer === null || !answer.answered) return "Nobody answered in time.";
  return `${answer.by ?? "Somebody"} answered: ${answer.text ?? ""}`;
}

function Answers({ question, hasKeys }: Props) {
  const { arming, armed, watch } = useArming(question.clarification_id);
  const other = useSignal(question.choices.length === 0);
  const text = useSignal("");
  const problem = useSignal<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const wantsFocus = useRef(false);
  useLayoutEffect(() => {
    if (other.value && wantsFocus.current) field.current?.focus();
  }, [other.value]);
  const send = async (body: { choice: number } | { text: string }): Promise<void> => {
    const path = `/v1/clarifications/${segment(question.clarification_id)}`;
    try {
      putQuestion(await post<Clarification>(`${path}/answer`, body));
    } catch (error) {
      if (error instanceof ApiError && (error.status === 409 || error.status === 410)) {
        putQuestion(await get<Clarification>(path));
      } else {
        problem.value = explain(error);
      }
    }
  };
  const choose = (index: number, event: Event): void => {
    if (!arming.admits(event)) return;
    if (index < question.choices.length) void send({ choice: index + 1 });
    else {
      wantsFocus.current = true;
      other.value = true;
    }
  };
  useKeys(
    hasKeys
      ? {
          choose: (event) => {
            const index = Number(event.key) - 1;
            if (other.value || index > question.choices.length) return false;
            choose(index, event);
            return true;
          },
          close: () => {
            if (!other.value || question.choices.length === 0) return false;
            other.value = false;
            return true;
          },
        }
      : {},
  );
  const submit = (event: Event): void => {
    event.preventDefault();
    if (event.isTrusted && text.value.trim() !== "") void send({ text: text.value.trim() });
  };
  const options = [...question.choices, "Other (type your answer)"];
  return (
    <footer class="answer" data-armed={armed.value}>
      <div class="answer-line" ref={(element) => void (watch.current = element)}>
        <p class="countdown">expires in {span(question.expires_at - now.value)}</p>
      </div>
      {problem.value === null ? null : (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      {other.value ? (
        <form class="deny" onSubmit={submit}>
          <label>
            <span>Your answer</span>
            <input
              ref={field}
              type="text"
              maxLength={4000}
              value={text.value}
              autocomplete="off"
              onInput={(event) => (text.value = event.currentTarget.value)}
            />
          </label>
          <div class="row-of-buttons">
            <button type="submit" class="button primary">
              Answer
            </button>
            {question.choices.length === 0 ? null : (
              <button type="button" class="button" onClick={() => (other.value = false)}>
                Back
              </button>
            )}
          </div>
        </form>
      ) : (
        <ol class="choices" aria-label="Choices">
          {options.map((option, index) => (
            <li key={index}>
              <button type="button" class="choice" aria-disabled={!armed.value} onClick={(event) => choose(index, event)}>
                <kbd aria-hidden="true">{index + 1}</kbd>
                <span>{option}</span>
              </button>
            </li>
          ))}
        </ol>
      )}
    </footer>
  );
}
