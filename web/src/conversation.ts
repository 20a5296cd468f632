// A conversation with the built-in agent: messages, tool calls and approvals, in order.
//
// A run's events say what happened. What the agent said between tools is streamed and then kept as
// messages; when a run is read later, each message takes its place before the tool it asked for.

import { batch, signal, type Signal } from "@preact/signals";

import { ApiError, get, post, segment, Unreachable } from "./api";
import { me } from "./live";
import { queueOf } from "./queue";
import { follow } from "./stream";
import type { LiveEvent } from "./wire";
import type { MessageHeld, ToolCompleted, ToolStarted } from "./wire.gen";

export type Block =
  | { kind: "person"; text: string }
  | { kind: "said"; text: string; isOpen: boolean }
  | { kind: "tool"; call: string | null; id: string; tool: string; preview: string; state: ToolState; words: string; seconds: number | null }
  | { kind: "approval"; id: string }
  | { kind: "question"; id: string }
  | { kind: "held"; notice: string; wasReached: boolean }
  | { kind: "ended"; how: "failed" | "cancelled"; text: string };

export type ToolState = "runs" | "done" | "failed" | "unknown";

export interface Session {
  session_id: string;
  started_by: string;
  runs: number;
  last_run: string;
  status: string;
  updated_at: number;
}

interface Run {
  run_id: string;
  status: string;
  unread?: string[];
}

interface Message {
  role: string;
  run_id?: string;
  content: string | null;
  tool_calls?: { id: string }[];
}

/** Runs of a conversation that are read; older ones stay in the history. */
const RUNS_MAX = 12;
const RETRY_MS = 1000;
const FINAL = ["completed", "failed", "cancelled"];

function stateOf(event: ToolCompleted): ToolState {
  if (event.outcome === "unknown") return "unknown";
  return event.outcome === "done" || ((event.outcome ?? null) === null && event.error !== true) ? "done" : "failed";
}

/** Returns what a person said in `run`: what began it, and what was sent into it later. */
function saidIn(run: string, messages: Message[]): { first: string | null; later: string[] } {
  const own = messages.filter((message) => message.run_id === run);
  const answered = own.findIndex((message) => message.role !== "user" && message.role !== "system");
  const texts = (some: Message[]) => some.filter((message) => message.role === "user").map((message) => message.content ?? "");
  const first = texts(answered < 0 ? own : own.slice(0, answered));
  return { first: first.at(-1) ?? null, later: answered < 0 ? [] : texts(own.slice(answered)) };
}

/** One conversation, followed until it is closed. */
export class Conversation {
  readonly blocks: Signal<Block[]> = signal([]);
  /** The run that goes on, if one does. */
  readonly running: Signal<string | null> = signal(null);
  readonly isLoaded = signal(false);
  /** Messages that are sent when the run has ended. */
  readonly queue: Signal<string[]>;
  /** Messages that were sent into the run and that the agent has not read yet. */
  readonly unread: Signal<string[]> = signal([]);
  /** How many messages that were sent into a run are shown, by run. */
  #shown = new Map<string, number>();
  #hasCompleted = false;
  #said = new Map<string, string>();
  /** The last notice that stands for a draft, and which draft that is. */
  #held: { notice: string; draft: string | null } | null = null;
  /** Whether nothing was heard live yet: what was said before the stream was opened is not told again. */
  #mayHaveMissed = false;
  /** Whether stored messages are being read, and must be read once more behind that. */
  #recalling: "no" | "once" | "again" = "no";
  #closed = new AbortController();

  constructor(readonly session: string | null) {
    this.queue = queueOf(me.value?.key_id ?? "", session);
  }

  close(): void {
    this.#closed.abort();
  }

  /** Reads what happened so far, and follows the run that goes on. */
  async open(): Promise<void> {
    if (this.session === null) {
      this.isLoaded.value = true;
      return;
    }
    const messages = await this.#messages(this.session);
    const { runs } = await get<{ runs: Run[] }>(`/v1/runs?session_id=${segment(this.session)}&limit=${RUNS_MAX}`);
    runs.reverse();
    for (const message of messages) {
      for (const call of message.tool_calls ?? []) if (message.content) this.#said.set(call.id, message.content);
    }
    for (const run of runs) {
      if (this.#closed.signal.aborted) return;
      const { first } = saidIn(run.run_id, messages);
      if (first !== null) this.#push({ kind: "person", text: first });
      if (FINAL.includes(run.status)) {
        // Everything it said was read above.
        await this.#follow(run.run_id, false);
      } else {
        this.isLoaded.value = true;
        this.unread.value = run.unread ?? [];
        await this.#drive(run.run_id);
      }
    }
    this.isLoaded.value = true;
  }

  /** Says `text` to the agent, now or when the run has ended. Returns the conversation's id. */
  async say(text: string): Promise<string> {
    if (this.running.value !== null && this.session !== null) {
      this.queue.value = [...this.queue.value, text];
      return this.session;
    }
    const body = this.session === null ? { input: text } : { input: text, session_id: this.session };
    const started = await post<{ run_id: string }>("/v1/runs", body);
    if (this.session !== null) {
      this.#push({ kind: "person", text });
      void this.#drive(started.run_id);
      return this.session;
    }
    const run = await get<{ session_id: string }>(`/v1/runs/${segment(started.run_id)}`);
    return run.session_id;
  }

  /** Takes a message out of the queue. */
  unqueue(index: number): void {
    this.queue.value = this.queue.value.toSpliced(index, 1);
  }

  /** Sends a message of the queue into the run, or begins the next run with it. */
  async sendNow(index: number): Promise<void> {
    const text = this.queue.value[index];
    if (text === undefined) return;
    const run = this.running.value;
    this.unqueue(index);
    try {
      if (run === null) {
        await this.say(text);
        return;
      }
      this.unread.value = [...this.unread.value, text];
      await post(`/v1/runs/${segment(run)}/steer`, { input: text });
    } catch (error) {
      // It stays where it was, unless the run has just ended and takes it from there.
      this.unread.value = this.unread.value.filter((it) => it !== text);
      this.queue.value = this.queue.value.toSpliced(index, 0, text);
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
  }

  async stop(): Promise<void> {
    if (this.running.value !== null) await post(`/v1/runs/${segment(this.running.value)}/stop`);
  }

  async #drive(run: string): Promise<void> {
    this.running.value = run;
    this.#hasCompleted = false;
    await this.#follow(run, true);
    if (this.running.value !== run || this.#closed.signal.aborted) return;
    this.running.value = null;
    // What the agent did not read before it failed or was stopped is not lost.
    this.queue.value = [...this.unread.value, ...this.queue.value];
    this.unread.value = [];
    const [next] = this.queue.value;
    if (!this.#hasCompleted || next === undefined) return;
    this.unqueue(0);
    await this.say(next).catch(() => (this.queue.value = [next, ...this.queue.value]));
  }

  /** Follows a run to its end, across lost connections. */
  async #follow(run: string, isLive: boolean): Promise<void> {
    let last: string | null = null;
    let hasEnded = false;
    const listener = {
      opened: () => {
        this.#mayHaveMissed = isLive;
      },
      told: (event: LiveEvent, id: string | null) => {
        if (id !== null) last = id;
        hasEnded ||= event.event === "run.completed" || event.event === "run.failed" || event.event === "run.cancelled";
        batch(() => this.#hear(event));
      },
    };
    while (!hasEnded && !this.#closed.signal.aborted) {
      try {
        await follow(`/v1/runs/${segment(run)}/events`, last, listener, this.#closed.signal);
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
      }
      if (!hasEnded && !this.#closed.signal.aborted) {
        await new Promise((resolve) => {
          setTimeout(resolve, RETRY_MS);
        });
      }
    }
  }

  async #messages(session: string): Promise<Message[]> {
    return (await get<{ messages: Message[] }>(`/v1/sessions/${segment(session)}/messages`)).messages;
  }

  /** Puts what was said before the stream was opened in its place, once for all tools that start meanwhile. */
  async #recall(): Promise<void> {
    if (this.#recalling !== "no") {
      this.#recalling = "again";
      return;
    }
    do {
      this.#recalling = "once";
      await this.#recallOnce();
      // Another tool may have started since.
    } while ((this.#recalling as string) === "again");
    this.#recalling = "no";
  }

  async #recallOnce(): Promise<void> {
    if (this.session === null) return;
    const messages = await this.#messages(this.session).catch((error: unknown) => {
      // Without a connection the text comes with the next reading.
      if (error instanceof Unreachable) return [];
      throw error;
    });
    for (const { content, tool_calls } of messages) {
      const first = tool_calls?.[0]?.id;
      if (!content || first === undefined) continue;
      const blocks = this.blocks.value;
      const index = blocks.findIndex((block) => block.kind === "tool" && block.id === first);
      if (index < 0) this.#said.set(first, content);
      else if (blocks[index - 1]?.kind !== "said") this.blocks.value = blocks.toSpliced(index, 0, { kind: "said", text: content, isOpen: false });
    }
  }

  #hear(event: LiveEvent): void {
    // From the first word that is heard live, none is missed.
    if (event.event === "message.delta" || event.event === "message.snapshot") this.#mayHaveMissed = false;
    switch (event.event) {
      case "message.delta":
        if (event.notice !== true) this.#speak(event.delta, "more");
        break;
      case "message.snapshot":
        if (event.notice !== true) this.#speak(event.text, "all");
        break;
      case "message.held":
        this.#hold(event);
        break;
      case "tool.started":
        if (this.#mayHaveMissed && !this.#said.has(event.tool_call_id)) void this.#recall();
        this.#start(event);
        break;
      case "tool.completed":
        this.#finish(event);
        break;
      case "approval.required":
        this.#ask({ kind: "approval", id: event.approval_id });
        break;
      case "clarify.required":
        this.#ask({ kind: "question", id: event.clarification_id });
        break;
      case "run.steered":
        void this.#steer(event.run_id, event.messages);
        break;
      case "run.completed":
        this.#hasCompleted = true;
        this.#conclude(event.output);
        break;
      case "run.failed":
        this.#settle();
        this.#push({ kind: "ended", how: "failed", text: event.error });
        break;
      case "run.cancelled":
        this.#settle();
        this.#push({ kind: "ended", how: "cancelled", text: "" });
        break;
      default:
        break;
    }
  }

  /** Puts the messages that the agent read where it read them. */
  async #steer(run: string, count: number): Promise<void> {
    this.#shut();
    const before = this.#shown.get(run) ?? 0;
    this.#shown.set(run, before + count);
    this.unread.value = this.unread.value.slice(count);
    const at = this.blocks.value.length;
    for (let more = 0; more < count; more += 1) this.#push({ kind: "person", text: "…" });
    const messages = await this.#messages(this.session ?? "").catch(() => []);
    const texts = saidIn(run, messages).later.slice(before, before + count);
    this.blocks.value = this.blocks.value.map((block, index) => {
      const text = texts[index - at];
      return text === undefined || block.kind !== "person" ? block : { kind: "person", text };
    });
  }

  /** The notice stands there once for each draft, in a block of its own. */
  #hold(event: MessageHeld): void {
    const draft = event.draft === null || event.draft === undefined ? null : `${event.run_id} ${event.draft}`;
    const isShown = draft !== null && this.#held?.draft === draft && this.#held.notice === event.notice;
    this.#held = { notice: event.notice, draft };
    if (!isShown) this.#push({ kind: "held", notice: event.notice, wasReached: event.reached !== false });
  }

  #speak(text: string, how: "more" | "all"): void {
    const blocks = this.blocks.value;
    const last = blocks.at(-1);
    if (last?.kind === "said" && last.isOpen) {
      const whole = how === "all" ? text : last.text + text;
      this.blocks.value = [...blocks.slice(0, -1), { ...last, text: whole }];
    } else {
      this.#push({ kind: "said", text, isOpen: true });
    }
  }

  #start(event: ToolStarted): void {
    const id = event.tool_call_id;
    const said = this.#said.get(id);
    const last = this.blocks.value.at(-1);
    if (said !== undefined && !(last?.kind === "said" && last.isOpen)) {
      this.#push({ kind: "said", text: said, isOpen: false });
    }
    // What several tools were asked with is said once.
    for (const [other, text] of this.#said) if (text === said) this.#said.delete(other);
    this.#shut();
    const { tool, preview } = event;
    this.#push({ kind: "tool", call: event.call_id ?? null, id, tool, preview, state: "runs", words: "", seconds: null });
  }

  /** Says how a tool ended: the one the event names, by the gateway's name for it or else the model's. */
  #finish(event: ToolCompleted): void {
    const runs = (block: Block) => block.kind === "tool" && block.state === "runs";
    const isCall = (block: Block) => block.kind === "tool" && block.call !== null && block.call === event.call_id;
    const isOfModel = (block: Block) => block.kind === "tool" && block.id === event.tool_call_id;
    const byCall = this.blocks.value.findIndex((block) => runs(block) && isCall(block));
    const index = byCall >= 0 ? byCall : this.blocks.value.findIndex((block) => runs(block) && isOfModel(block));
    const block = this.blocks.value[index];
    if (block?.kind !== "tool") return;
    const seconds = event.duration ?? null;
    this.blocks.value = this.blocks.value.with(index, { ...block, state: stateOf(event), words: event.words ?? "", seconds });
  }

  /** The run is over: what nobody has told of by now is not known. */
  #settle(): void {
    const isOpen = (block: Block) => block.kind === "tool" && block.state === "runs";
    if (!this.blocks.value.some(isOpen)) return;
    this.blocks.value = this.blocks.value.map((block) =>
      block.kind === "tool" && block.state === "runs" ? { ...block, state: "unknown", words: "outcome unknown" } : block,
    );
  }

  #ask(block: Block): void {
    this.#shut();
    this.#push(block);
  }

  #conclude(output: string): void {
    this.#settle();
    const isNotice = this.#held?.notice === output;
    this.#held = null;
    const last = this.blocks.value.at(-1);
    if (last?.kind === "said" && last.isOpen) {
      this.blocks.value = [...this.blocks.value.slice(0, -1), { kind: "said", text: output === "" ? last.text : output, isOpen: false }];
    } else if (output !== "" && !isNotice) {
      this.#push({ kind: "said", text: output, isOpen: false });
    }
  }

  /** What was said so far is complete. */
  #shut(): void {
    const last = this.blocks.value.at(-1);
    if (last?.kind === "said" && last.isOpen) {
      this.blocks.value = [...this.blocks.value.slice(0, -1), { ...last, isOpen: false }];
    }
  }

  #push(block: Block): void {
    this.blocks.value = [...this.blocks.value, block];
  }
}
