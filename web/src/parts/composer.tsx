// Where a person writes to the agent. While a run is under way a message waits in the queue: it is
// sent when the run has ended, or into the run.

import { useSignal } from "@preact/signals";

import { explain } from "../api";
import type { Conversation } from "../conversation";
import { at, go } from "../router";
import { Icon } from "./icon";

export function Composer({ conversation }: { conversation: Conversation }) {
  const text = useSignal("");
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const isRunning = conversation.running.value !== null;
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    problem.value = null;
    await work().catch((error: unknown) => (problem.value = explain(error)));
  };
  const send = async (): Promise<void> => {
    const words = text.value.trim();
    if (words === "" || isBusy.value) return;
    isBusy.value = true;
    await attempt(async () => {
      const session = await conversation.say(words);
      text.value = "";
      go(at("talk", session));
    });
    isBusy.value = false;
  };
  const typed = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Queue conversation={conversation} attempt={attempt} />
      {problem.value === null ? null : (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      <label>
        <span class="unseen">Message to the agent</span>
        <textarea
          rows={2}
          placeholder={isRunning ? "Write the next message" : "What should it do?"}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={typed}
        />
      </label>
      <div class="row-of-buttons">
        <button type="submit" class="button primary" aria-disabled={isBusy.value || text.value.trim() === ""}>
          {isRunning ? "Queue" : "Send"}
        </button>
        {isRunning ? (
          <button type="button" class="button danger" onClick={() => void attempt(() => conversation.stop())}>
            <Icon name="stop" /> Stop
          </button>
        ) : null}
      </div>
    </form>
  );
}

function Queue({ conversation, attempt }: { conversation: Conversation; attempt: (work: () => Promise<unknown>) => Promise<void> }) {
  const queue = conversation.queue.value;
  const unread = conversation.unread.value;
  const isRunning = conversation.running.value !== null;
  if (queue.length + unread.length === 0) return null;
  return (
    <ul class="queue" aria-label="Messages that are not read yet">
      {unread.map((text, index) => (
        <li key={`unread-${index}`}>
          <span class="queue-text">{text}</span>
          <small>Sent; the agent reads it before its next step</small>
        </li>
      ))}
      {queue.map((text, index) => (
        <li key={index}>
          <span class="queue-text">{text}</span>
          <small>{isRunning ? "Queued; sent when the run has completed" : "Not sent"}</small>
          <span class="row-of-buttons">
            <button type="button" class="quiet" onClick={() => void attempt(() => conversation.sendNow(index))}>
              {isRunning ? "Steer: send it now" : "Send now"}
            </button>
            <button type="button" class="quiet" onClick={() => conversation.unqueue(index)}>
              Remove
            </button>
          </span>
        </li>
      ))}
    </ul>
  );
}
