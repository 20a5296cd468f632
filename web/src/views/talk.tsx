// Conversations with the built-in agent.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import { get, segment } from "../api";
import { ago, now } from "../clock";
import { Conversation, type Block, type Session } from "../conversation";
import { useFollowing } from "../following";
import { approvals, link, listen, mayAnswer, questions, refresh, rows, putQuestion } from "../live";
import { CardView } from "../parts/card";
import { Composer } from "../parts/composer";
import { Icon } from "../parts/icon";
import { Markdown } from "../parts/markdown";
import { QuestionView } from "../parts/question";
import { Commands, Empty, Loading, Problem } from "../parts/states";
import { at, place } from "../router";
import type { Clarification } from "../wire";

/** Conversations whose first words are read for the list. */
const TITLES_MAX = 20;

export function Talk() {
  const session = place.value.parts[1] ?? null;
  const hasModel = useSignal<boolean | null>(null);
  const problem = useSignal<unknown>(null);
  const look = (): void => {
    problem.value = null;
    get<{ features: { run_submission: boolean } }>("/v1/capabilities").then(
      (it) => (hasModel.value = it.features.run_submission),
      (error: unknown) => (problem.value = error),
    );
  };
  useEffect(look, [link.value === "live"]);
  if (problem.value !== null && hasModel.value === null) return <Problem error={problem.value} again={look} />;
  if (hasModel.value === null) return <Loading />;
  if (!hasModel.value && session === null) return <NoModel />;
  return (
    <div class={session === null ? "talk" : "talk has-thread"}>
      <Sessions current={session} />
      <section class="detail" aria-label="Conversation">
        {session === null ? null : <h1 class="unseen narrow">Conversation</h1>}
        <a class="back" href="#/talk">
          <Icon name="back" /> Conversations
        </a>
        <Thread key={session ?? "new"} session={session} />
      </section>
    </div>
  );
}

function NoModel() {
  return (
    <Empty icon="talk" title="The built-in agent has no model yet">
      <p>Any server with an OpenAI-compatible chat completions API works, including a local one.</p>
      <Commands
        lines={[
          "countersign config set agent.base_url http://127.0.0.1:11434/v1",
          "countersign config set agent.model qwen3",
          "countersign serve",
        ]}
      />
      <p class="hint">Its calls pass the same gate as those of any other agent.</p>
    </Empty>
  );
}

function Sessions({ current }: { current: string | null }) {
  const sessions = useSignal<Session[] | null>(null);
  const titles = useSignal<ReadonlyMap<string, string>>(new Map());
  const look = async (): Promise<void> => {
    const list = await get<{ sessions: Session[] }>("/v1/sessions").catch(() => null);
    if (list === null) return;
    sessions.value = list.sessions;
    for (const { session_id: id } of list.sessions.slice(0, TITLES_MAX)) {
      if (titles.value.has(id)) continue;
      const path = `/v1/sessions/${segment(id)}/messages`;
      const said = await get<{ messages: { role: string; content: string | null }[] }>(path).catch(() => null);
      const first = said?.messages.find((message) => message.role === "user")?.content ?? id;
      titles.value = new Map(titles.value).set(id, first);
    }
  };
  useEffect(() => {
    void look();
    return listen((event) => {
      if (event.event.startsWith("run.")) void look();
    });
  }, []);
  return (
    <section class="list" aria-label="Conversations">
      <div class="list-head">
        <h1>Talk</h1>
        {mayAnswer.value ? (
          <a class="button" href="#/talk" aria-current={current === null ? "page" : undefined}>
            <Icon name="plus" /> New conversation
          </a>
        ) : null}
      </div>
      <ul class="sessions" aria-label="Conversations">
        {sessions.value?.map((session) => (
          <li key={session.session_id}>
            <a
              class="row"
              href={at("talk", session.session_id)}
              aria-current={session.session_id === current ? "true" : undefined}
            >
              <span class="row-title">{titles.value.get(session.session_id) ?? session.session_id}</span>
              <span class="row-meta">
                {stateOf(session)} · {session.started_by} · {ago(session.updated_at, now.value)}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {sessions.value?.length === 0 ? <p class="hint pad">No messages yet.</p> : null}
    </section>
  );
}

function stateOf(session: Session): string {
  const waits = [...rows.value.values()].some((it) => it.status === "waiting" && it.session_id === session.session_id);
  if (waits) return "waiting for an answer";
  return { running: "works", stopping: "stops", completed: "done", failed: "failed", cancelled: "stopped" }[session.status] ?? session.status;
}

function Thread({ session }: { session: string | null }) {
  const conversation = useMemo(() => new Conversation(session), []);
  const problem = useSignal<unknown>(null);
  useEffect(() => {
    conversation.open().catch((error: unknown) => (problem.value = error));
    return () => conversation.close();
  }, []);
  const blocks = conversation.blocks.value;
  const { scroll, content, hasNew, isAway, toEnd, scrolled } = useFollowing();
  if (problem.value !== null) return <Problem error={problem.value} />;
  const waits = blocks.filter(isWaiting);
  // The oldest has the keys: one that comes later does not take them from it.
  const [first] = waits;
  return (
    <div class="thread">
      <div class="thread-scroll" ref={scroll} onScroll={scrolled}>
        <div ref={content}>
          {!conversation.isLoaded.value && blocks.length === 0 ? <Loading /> : null}
          {session === null ? <Welcome /> : null}
          <ol class="blocks" aria-label="What was said and done">
            {blocks.map((block, index) => (
              <li key={index} class={`block block-${block.kind}`} data-waits={waits.includes(block) ? "" : undefined}>
                <BlockView block={block} hasKeys={block === first} isAsked={waits.includes(blocks[index + 1] ?? block)} />
              </li>
            ))}
          </ol>
          {conversation.running.value !== null && waits.length === 0 ? (
            <p class="works" role="status">
              <span class="pulse" aria-hidden="true" /> The agent is working
            </p>
          ) : null}
        </div>
      </div>
      {hasNew.value || waits.length > 0 ? (
        <div class="thread-news">
          {waits.length > 0 ? (
            <p class="waits" role="status">
              <Icon name="clock" /> Waiting for you
            </p>
          ) : null}
          {hasNew.value || isAway.value ? (
            <button type="button" class="button" onClick={toEnd}>
              {waits.length > 0 ? "Show it" : "New messages"} ↓
            </button>
          ) : null}
        </div>
      ) : null}
      {mayAnswer.value ? <Composer conversation={conversation} /> : <p class="hint pad">You can only view this. Approvers can talk to the agent.</p>}
    </div>
  );
}

/** Whether a block waits for an answer of a person. */
function isWaiting(block: Block): boolean {
  if (block.kind === "approval") return rows.value.get(block.id)?.status === "waiting";
  return block.kind === "question" && questions.value.get(block.id)?.status === "waiting";
}

function Welcome() {
  return (
    <Empty icon="talk" title="What should the agent do?" isPart>
      <p>Its steps appear here as they happen. Calls that matter wait for a person, here and in the inbox.</p>
    </Empty>
  );
}

function BlockView({ block, hasKeys, isAsked }: { block: Block; hasKeys: boolean; isAsked: boolean }) {
  switch (block.kind) {
    case "person":
      return (
        <>
          <span class="unseen">You said: </span>
          <p class="bubble">{block.text}</p>
        </>
      );
    case "said":
      return (
        <>
          <span class="unseen">The agent said: </span>
          <Markdown text={block.text} />
        </>
      );
    case "tool":
      return <Tool block={block} isAsked={isAsked} />;
    case "approval":
      return <InlineApproval id={block.id} hasKeys={hasKeys} />;
    case "question":
      return <InlineQuestion id={block.id} hasKeys={hasKeys} />;
    case "held":
      return (
        <div class="held">
          <strong>{block.notice}</strong>
          <p>
            {block.wasReached
              ? "The agent's reply is held until another person has reviewed it."
              : "The agent's reply is shown to nobody."}
          </p>
        </div>
      );
    case "ended":
      return <p class="ended">{block.how === "cancelled" ? "Stopped." : `It failed: ${block.text}`}</p>;
  }
}

const STATES = { runs: "runs", done: "done", failed: "failed or not run", unknown: "outcome unknown" } as const;
const SIGNS = { runs: "clock", done: "check", failed: "cross", unknown: "question" } as const;

function Tool({ block, isAsked }: { block: Extract<Block, { kind: "tool" }>; isAsked: boolean }) {
  return (
    <div class={`tool tool-${block.state}`}>
      <Icon name={SIGNS[block.state]} />
      <code>{block.preview === "" ? block.tool : block.preview}</code>
      <span>
        {isAsked ? "waiting for an answer" : block.words === "" ? STATES[block.state] : block.words}
        {block.seconds === null || block.seconds < 0.05 ? "" : `, ${block.seconds.toFixed(1)} s`}
      </span>
    </div>
  );
}

function InlineApproval({ id, hasKeys }: { id: string; hasKeys: boolean }) {
  const approval = approvals.value.get(id);
  useEffect(() => {
    if (approval === undefined) void refresh(id).catch(() => null);
  }, [id, approval === undefined]);
  return approval === undefined ? <Loading what="A card" /> : <CardView key={id} approval={approval} hasKeys={hasKeys} isInline />;
}

function InlineQuestion({ id, hasKeys }: { id: string; hasKeys: boolean }) {
  const question = questions.value.get(id);
  useEffect(() => {
    if (question !== undefined) return;
    get<Clarification>(`/v1/clarifications/${segment(id)}`).then(putQuestion, () => null);
  }, [id]);
  return question === undefined ? <Loading what="A question" /> : <QuestionView key={id} question={question} hasKeys={hasKeys} />;
}
