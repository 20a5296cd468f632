import {
  $,
  A,
  ApiError,
  CardView,
  Commands,
  Empty,
  Icon,
  Loading,
  Problem,
  QuestionView,
  T,
  Unreachable,
  a,
  ago,
  approvals,
  at,
  explain,
  follow,
  get,
  go,
  link,
  listen,
  mayAnswer,
  me,
  now,
  place,
  post,
  putQuestion,
  questions,
  queueOf,
  r,
  refresh,
  rows,
  segment,
  useSignal,
  w,
  y
} from "./chunk-FKD5T3PG.js";

// src/conversation.ts
var RUNS_MAX = 12;
var RETRY_MS = 1e3;
var FINAL = ["completed", "failed", "cancelled"];
function stateOf(event) {
  if (event.outcome === "unknown") return "unknown";
  return event.outcome === "done" || (event.outcome ?? null) === null && event.error !== true ? "done" : "failed";
}
function saidIn(run, messages) {
  const own = messages.filter((message) => message.run_id === run);
  const answered = own.findIndex((message) => message.role !== "user" && message.role !== "system");
  const texts = (some) => some.filter((message) => message.role === "user").map((message) => message.content ?? "");
  const first = texts(answered < 0 ? own : own.slice(0, answered));
  return { first: first.at(-1) ?? null, later: answered < 0 ? [] : texts(own.slice(answered)) };
}
var Conversation = class {
  constructor(session) {
    this.session = session;
    this.queue = queueOf(me.value?.key_id ?? "", session);
  }
  session;
  blocks = y([]);
  /** The run that goes on, if one does. */
  running = y(null);
  isLoaded = y(false);
  /** Messages that are sent when the run has ended. */
  queue;
  /** Messages that were sent into the run and that the agent has not read yet. */
  unread = y([]);
  /** How many messages that were sent into a run are shown, by run. */
  #shown = /* @__PURE__ */ new Map();
  #hasCompleted = false;
  #said = /* @__PURE__ */ new Map();
  /** The last notice that stands for a draft, and which draft that is. */
  #held = null;
  /** Whether nothing was heard live yet: what was said before the stream was opened is not told again. */
  #mayHaveMissed = false;
  /** Whether stored messages are being read, and must be read once more behind that. */
  #recalling = "no";
  #closed = new AbortController();
  close() {
    this.#closed.abort();
  }
  /** Reads what happened so far, and follows the run that goes on. */
  async open() {
    if (this.session === null) {
      this.isLoaded.value = true;
      return;
    }
    const messages = await this.#messages(this.session);
    const { runs } = await get(`/v1/runs?session_id=${segment(this.session)}&limit=${RUNS_MAX}`);
    runs.reverse();
    for (const message of messages) {
      for (const call of message.tool_calls ?? []) if (message.content) this.#said.set(call.id, message.content);
    }
    for (const run of runs) {
      if (this.#closed.signal.aborted) return;
      const { first } = saidIn(run.run_id, messages);
      if (first !== null) this.#push({ kind: "person", text: first });
      if (FINAL.includes(run.status)) {
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
  async say(text) {
    if (this.running.value !== null && this.session !== null) {
      this.queue.value = [...this.queue.value, text];
      return this.session;
    }
    const body = this.session === null ? { input: text } : { input: text, session_id: this.session };
    const started = await post("/v1/runs", body);
    if (this.session !== null) {
      this.#push({ kind: "person", text });
      void this.#drive(started.run_id);
      return this.session;
    }
    const run = await get(`/v1/runs/${segment(started.run_id)}`);
    return run.session_id;
  }
  /** Takes a message out of the queue. */
  unqueue(index) {
    this.queue.value = this.queue.value.toSpliced(index, 1);
  }
  /** Sends a message of the queue into the run, or begins the next run with it. */
  async sendNow(index) {
    const text = this.queue.value[index];
    if (text === void 0) return;
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
      this.unread.value = this.unread.value.filter((it) => it !== text);
      this.queue.value = this.queue.value.toSpliced(index, 0, text);
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
  }
  async stop() {
    if (this.running.value !== null) await post(`/v1/runs/${segment(this.running.value)}/stop`);
  }
  async #drive(run) {
    this.running.value = run;
    this.#hasCompleted = false;
    await this.#follow(run, true);
    if (this.running.value !== run || this.#closed.signal.aborted) return;
    this.running.value = null;
    this.queue.value = [...this.unread.value, ...this.queue.value];
    this.unread.value = [];
    const [next] = this.queue.value;
    if (!this.#hasCompleted || next === void 0) return;
    this.unqueue(0);
    await this.say(next).catch(() => this.queue.value = [next, ...this.queue.value]);
  }
  /** Follows a run to its end, across lost connections. */
  async #follow(run, isLive) {
    let last = null;
    let hasEnded = false;
    const listener = {
      opened: () => {
        this.#mayHaveMissed = isLive;
      },
      told: (event, id) => {
        if (id !== null) last = id;
        hasEnded ||= event.event === "run.completed" || event.event === "run.failed" || event.event === "run.cancelled";
        r(() => this.#hear(event));
      }
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
  async #messages(session) {
    return (await get(`/v1/sessions/${segment(session)}/messages`)).messages;
  }
  /** Puts what was said before the stream was opened in its place, once for all tools that start meanwhile. */
  async #recall() {
    if (this.#recalling !== "no") {
      this.#recalling = "again";
      return;
    }
    do {
      this.#recalling = "once";
      await this.#recallOnce();
    } while (this.#recalling === "again");
    this.#recalling = "no";
  }
  async #recallOnce() {
    if (this.session === null) return;
    const messages = await this.#messages(this.session).catch((error) => {
      if (error instanceof Unreachable) return [];
      throw error;
    });
    for (const { content, tool_calls } of messages) {
      const first = tool_calls?.[0]?.id;
      if (!content || first === void 0) continue;
      const blocks = this.blocks.value;
      const index = blocks.findIndex((block) => block.kind === "tool" && block.id === first);
      if (index < 0) this.#said.set(first, content);
      else if (blocks[index - 1]?.kind !== "said") this.blocks.value = blocks.toSpliced(index, 0, { kind: "said", text: content, isOpen: false });
    }
  }
  #hear(event) {
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
  async #steer(run, count) {
    this.#shut();
    const before = this.#shown.get(run) ?? 0;
    this.#shown.set(run, before + count);
    this.unread.value = this.unread.value.slice(count);
    const at2 = this.blocks.value.length;
    for (let more = 0; more < count; more += 1) this.#push({ kind: "person", text: "…" });
    const messages = await this.#messages(this.session ?? "").catch(() => []);
    const texts = saidIn(run, messages).later.slice(before, before + count);
    this.blocks.value = this.blocks.value.map((block, index) => {
      const text = texts[index - at2];
      return text === void 0 || block.kind !== "person" ? block : { kind: "person", text };
    });
  }
  /** The notice stands there once for each draft, in a block of its own. */
  #hold(event) {
    const draft = event.draft === null || event.draft === void 0 ? null : `${event.run_id} ${event.draft}`;
    const isShown = draft !== null && this.#held?.draft === draft && this.#held.notice === event.notice;
    this.#held = { notice: event.notice, draft };
    if (!isShown) this.#push({ kind: "held", notice: event.notice, wasReached: event.reached !== false });
  }
  #speak(text, how) {
    const blocks = this.blocks.value;
    const last = blocks.at(-1);
    if (last?.kind === "said" && last.isOpen) {
      const whole = how === "all" ? text : last.text + text;
      this.blocks.value = [...blocks.slice(0, -1), { ...last, text: whole }];
    } else {
      this.#push({ kind: "said", text, isOpen: true });
    }
  }
  #start(event) {
    const id = event.tool_call_id;
    const said = this.#said.get(id);
    const last = this.blocks.value.at(-1);
    if (said !== void 0 && !(last?.kind === "said" && last.isOpen)) {
      this.#push({ kind: "said", text: said, isOpen: false });
    }
    for (const [other, text] of this.#said) if (text === said) this.#said.delete(other);
    this.#shut();
    const { tool, preview } = event;
    this.#push({ kind: "tool", call: event.call_id ?? null, id, tool, preview, state: "runs", words: "", seconds: null });
  }
  /** Says how a tool ended: the one the event names, by the gateway's name for it or else the model's. */
  #finish(event) {
    const runs = (block2) => block2.kind === "tool" && block2.state === "runs";
    const isCall = (block2) => block2.kind === "tool" && block2.call !== null && block2.call === event.call_id;
    const isOfModel = (block2) => block2.kind === "tool" && block2.id === event.tool_call_id;
    const byCall = this.blocks.value.findIndex((block2) => runs(block2) && isCall(block2));
    const index = byCall >= 0 ? byCall : this.blocks.value.findIndex((block2) => runs(block2) && isOfModel(block2));
    const block = this.blocks.value[index];
    if (block?.kind !== "tool") return;
    const seconds = event.duration ?? null;
    this.blocks.value = this.blocks.value.with(index, { ...block, state: stateOf(event), words: event.words ?? "", seconds });
  }
  /** The run is over: what nobody has told of by now is not known. */
  #settle() {
    const isOpen = (block) => block.kind === "tool" && block.state === "runs";
    if (!this.blocks.value.some(isOpen)) return;
    this.blocks.value = this.blocks.value.map(
      (block) => block.kind === "tool" && block.state === "runs" ? { ...block, state: "unknown", words: "outcome unknown" } : block
    );
  }
  #ask(block) {
    this.#shut();
    this.#push(block);
  }
  #conclude(output) {
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
  #shut() {
    const last = this.blocks.value.at(-1);
    if (last?.kind === "said" && last.isOpen) {
      this.blocks.value = [...this.blocks.value.slice(0, -1), { ...last, isOpen: false }];
    }
  }
  #push(block) {
    this.blocks.value = [...this.blocks.value, block];
  }
};

// src/following.ts
var NEAR = 48;
function useFollowing() {
  const scroll = T(null);
  const content = T(null);
  const isAway = useSignal(false);
  const seen = T({ top: 0, height: 0 });
  const hasNew = useSignal(false);
  const remember = (element) => {
    seen.current = { top: element.scrollTop, height: element.scrollHeight };
  };
  const goToEnd = () => {
    const element = scroll.current;
    if (element === null) return;
    const asked = content.current?.querySelector("[data-waits] .answer");
    if (asked !== null && asked !== void 0) asked.scrollIntoView({ block: "end" });
    else element.scrollTop = element.scrollHeight;
    hasNew.value = false;
    remember(element);
  };
  A(() => {
    const observer = new ResizeObserver(() => {
      const element = scroll.current;
      if (element === null) return;
      if (!isAway.value) goToEnd();
      else {
        hasNew.value ||= element.scrollHeight > seen.current.height;
        remember(element);
      }
    });
    if (content.current !== null) observer.observe(content.current);
    if (scroll.current !== null) observer.observe(scroll.current);
    return () => observer.disconnect();
  }, []);
  const scrolled = () => {
    const element = scroll.current;
    if (element === null) return;
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    const wentUp = element.scrollTop < seen.current.top && element.scrollHeight >= seen.current.height;
    if (isAtEnd) {
      isAway.value = false;
      hasNew.value = false;
    } else if (wentUp) isAway.value = true;
    remember(element);
  };
  const toEnd = () => {
    isAway.value = false;
    goToEnd();
  };
  return { scroll, content, hasNew, isAway, toEnd, scrolled };
}

// src/parts/composer.tsx
function Composer({ conversation }) {
  const text = useSignal("");
  const problem = useSignal(null);
  const isBusy = useSignal(false);
  const isRunning = conversation.running.value !== null;
  const attempt = async (work) => {
    problem.value = null;
    await work().catch((error) => problem.value = explain(error));
  };
  const send = async () => {
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
  const typed = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void send();
  };
  return a(
    "form",
    {
      class: "composer",
      onSubmit: (event) => {
        event.preventDefault();
        void send();
      },
      children: [
        a(Queue, { conversation, attempt }),
        problem.value === null ? null : a("p", { class: "problem", role: "alert", children: problem.value }),
        a("label", { children: [
          a("span", { class: "unseen", children: "Message to the agent" }),
          a(
            "textarea",
            {
              rows: 2,
              placeholder: isRunning ? "Write the next message" : "What should it do?",
              value: text.value,
              onInput: (event) => text.value = event.currentTarget.value,
              onKeyDown: typed
            }
          )
        ] }),
        a("div", { class: "row-of-buttons", children: [
          a("button", { type: "submit", class: "button primary", "aria-disabled": isBusy.value || text.value.trim() === "", children: isRunning ? "Queue" : "Send" }),
          isRunning ? a("button", { type: "button", class: "button danger", onClick: () => void attempt(() => conversation.stop()), children: [
            a(Icon, { name: "stop" }),
            " Stop"
          ] }) : null
        ] })
      ]
    }
  );
}
function Queue({ conversation, attempt }) {
  const queue = conversation.queue.value;
  const unread = conversation.unread.value;
  const isRunning = conversation.running.value !== null;
  if (queue.length + unread.length === 0) return null;
  return a("ul", { class: "queue", "aria-label": "Messages that are not read yet", children: [
    unread.map((text, index) => a("li", { children: [
      a("span", { class: "queue-text", children: text }),
      a("small", { children: "Sent; the agent reads it before its next step" })
    ] }, `unread-${index}`)),
    queue.map((text, index) => a("li", { children: [
      a("span", { class: "queue-text", children: text }),
      a("small", { children: isRunning ? "Queued; sent when the run has completed" : "Not sent" }),
      a("span", { class: "row-of-buttons", children: [
        a("button", { type: "button", class: "quiet", onClick: () => void attempt(() => conversation.sendNow(index)), children: isRunning ? "Steer: send it now" : "Send now" }),
        a("button", { type: "button", class: "quiet", onClick: () => conversation.unqueue(index), children: "Remove" })
      ] })
    ] }, index))
  ] });
}

// src/markdown.ts
var FENCE = /^ {0,3}(`{3,}|~{3,})/;
var HEADING = /^ {0,3}#{1,6} +(.*)$/;
var RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
var QUOTE = /^ {0,3}> ?(.*)$/;
var ITEM = /^( *)(?:[-*+]|(\d{1,9})[.)]) +(.*)$/;
var TABLE = /^ *\|.*\| *$/;
var DEPTH_MAX = 6;
function parse(text) {
  const blocks = [];
  const lines = text.split("\n");
  let paragraph = [];
  const flush = () => {
    if (paragraph.length > 0) blocks.push({ kind: "paragraph", parts: inlines(paragraph.join("\n")) });
    paragraph = [];
  };
  for (let at2 = 0; at2 < lines.length; at2 += 1) {
    const line = lines[at2] ?? "";
    const fence = FENCE.exec(line)?.[1];
    if (fence !== void 0) {
      flush();
      const inside = [];
      for (at2 += 1; at2 < lines.length && !closes(lines[at2] ?? "", fence); at2 += 1) inside.push(lines[at2] ?? "");
      blocks.push({ kind: "code", text: inside.join("\n") });
      continue;
    }
    if (TABLE.test(line)) {
      flush();
      const rows2 = [line];
      while (TABLE.test(lines[at2 + 1] ?? "")) rows2.push(lines[at2 += 1] ?? "");
      blocks.push({ kind: "table", text: rows2.join("\n") });
      continue;
    }
    if (line.trim() === "") {
      flush();
      continue;
    }
    if (!single(line, blocks, flush)) paragraph.push(line);
  }
  flush();
  return blocks;
}
function single(line, blocks, flush) {
  const heading = HEADING.exec(line);
  const quote = QUOTE.exec(line);
  const item = ITEM.exec(line);
  if (RULE.test(line)) {
    flush();
    blocks.push({ kind: "rule" });
  } else if (heading !== null) {
    flush();
    blocks.push({ kind: "heading", parts: inlines(heading[1] ?? "") });
  } else if (quote !== null) {
    flush();
    blocks.push({ kind: "quote", parts: inlines(quote[1] ?? "") });
  } else if (item !== null) {
    flush();
    const [, indent = "", number, rest = ""] = item;
    const isOrdered = number !== void 0;
    const entry = { depth: Math.min(DEPTH_MAX, Math.floor(indent.length / 2)), number: isOrdered ? Number(number) : null, parts: inlines(rest) };
    const last = blocks.at(-1);
    if (last?.kind === "list" && (last.isOrdered === isOrdered || entry.depth > 0)) last.items.push(entry);
    else blocks.push({ kind: "list", isOrdered, items: [entry] });
  } else return false;
  return true;
}
var closes = (line, fence) => line.trim().startsWith(fence) && line.trim().replaceAll(fence.charAt(0), "") === "";
var MARKS = [
  ["**", "strong"],
  ["__", "strong"],
  ["*", "emphasis"],
  ["_", "emphasis"]
];
function inlines(text) {
  const parts = [];
  let plain = "";
  const alone = /* @__PURE__ */ new Set();
  const add = (part) => {
    if (plain !== "") parts.push(plain);
    plain = "";
    parts.push(part);
  };
  for (let at2 = 0; at2 < text.length; ) {
    const ticks = /^`+/.exec(text.slice(at2, at2 + 8))?.[0];
    const mark = ticks === void 0 ? MARKS.find(([sign2]) => text.startsWith(sign2, at2)) : void 0;
    const sign = ticks ?? mark?.[0];
    if (sign === void 0 || alone.has(sign) || mark !== void 0 && !opens(text, at2, sign)) {
      plain += text.charAt(at2);
      at2 += 1;
      continue;
    }
    const end = text.indexOf(sign, at2 + sign.length);
    if (end < 0) alone.add(sign);
    const inside = end < 0 ? "" : text.slice(at2 + sign.length, end);
    if (inside.trim() === "" || mark !== void 0 && /\s$/.test(inside)) {
      plain += sign;
      at2 += sign.length;
      continue;
    }
    add({ kind: mark?.[1] ?? "code", text: inside });
    at2 = end + sign.length;
  }
  if (plain !== "") parts.push(plain);
  return parts;
}
function opens(text, at2, sign) {
  const next = text.charAt(at2 + sign.length);
  const before = text.charAt(at2 - 1);
  return next !== "" && !/\s/.test(next) && !/[\p{L}\p{N}]/u.test(before);
}

// src/parts/markdown.tsx
function Markdown({ text }) {
  return a("div", { class: "speech", children: parse(text).map((block, index) => a(BlockView, { block }, index)) });
}
function BlockView({ block }) {
  switch (block.kind) {
    case "paragraph":
      return a("p", { children: a(Parts, { parts: block.parts }) });
    case "heading":
      return a("p", { class: "speech-heading", children: a(Parts, { parts: block.parts }) });
    case "quote":
      return a("blockquote", { children: a(Parts, { parts: block.parts }) });
    case "code":
    case "table":
      return a("pre", { class: "code", tabIndex: 0, children: block.text });
    case "rule":
      return a("hr", {});
    case "list": {
      const items = block.items.map((item, index) => a("li", { class: `depth-${item.depth} ${item.number === null ? "bullet" : "numbered-item"}`, value: item.number ?? void 0, children: a(Parts, { parts: item.parts }) }, index));
      return block.isOrdered ? a("ol", { children: items }) : a("ul", { children: items });
    }
  }
}
function Parts({ parts }) {
  return a($, { children: parts.map((part, index) => {
    if (typeof part === "string") return part;
    if (part.kind === "code") return a("code", { children: part.text }, index);
    return part.kind === "strong" ? a("strong", { children: part.text }, index) : a("em", { children: part.text }, index);
  }) });
}

// src/views/talk.tsx
var TITLES_MAX = 20;
function Talk() {
  const session = place.value.parts[1] ?? null;
  const hasModel = useSignal(null);
  const problem = useSignal(null);
  const look = () => {
    problem.value = null;
    get("/v1/capabilities").then(
      (it) => hasModel.value = it.features.run_submission,
      (error) => problem.value = error
    );
  };
  A(look, [link.value === "live"]);
  if (problem.value !== null && hasModel.value === null) return a(Problem, { error: problem.value, again: look });
  if (hasModel.value === null) return a(Loading, {});
  if (!hasModel.value && session === null) return a(NoModel, {});
  return a("div", { class: session === null ? "talk" : "talk has-thread", children: [
    a(Sessions, { current: session }),
    a("section", { class: "detail", "aria-label": "Conversation", children: [
      session === null ? null : a("h1", { class: "unseen narrow", children: "Conversation" }),
      a("a", { class: "back", href: "#/talk", children: [
        a(Icon, { name: "back" }),
        " Conversations"
      ] }),
      a(Thread, { session }, session ?? "new")
    ] })
  ] });
}
function NoModel() {
  return a(Empty, { icon: "talk", title: "The built-in agent has no model yet", children: [
    a("p", { children: "Any server with an OpenAI-compatible chat completions API works, including a local one." }),
    a(
      Commands,
      {
        lines: [
          "countersign config set agent.base_url http://127.0.0.1:11434/v1",
          "countersign config set agent.model qwen3",
          "countersign serve"
        ]
      }
    ),
    a("p", { class: "hint", children: "Its calls pass the same gate as those of any other agent." })
  ] });
}
function Sessions({ current }) {
  const sessions = useSignal(null);
  const titles = useSignal(/* @__PURE__ */ new Map());
  const look = async () => {
    const list = await get("/v1/sessions").catch(() => null);
    if (list === null) return;
    sessions.value = list.sessions;
    for (const { session_id: id } of list.sessions.slice(0, TITLES_MAX)) {
      if (titles.value.has(id)) continue;
      const path = `/v1/sessions/${segment(id)}/messages`;
      const said = await get(path).catch(() => null);
      const first = said?.messages.find((message) => message.role === "user")?.content ?? id;
      titles.value = new Map(titles.value).set(id, first);
    }
  };
  A(() => {
    void look();
    return listen((event) => {
      if (event.event.startsWith("run.")) void look();
    });
  }, []);
  return a("section", { class: "list", "aria-label": "Conversations", children: [
    a("div", { class: "list-head", children: [
      a("h1", { children: "Talk" }),
      mayAnswer.value ? a("a", { class: "button", href: "#/talk", "aria-current": current === null ? "page" : void 0, children: [
        a(Icon, { name: "plus" }),
        " New conversation"
      ] }) : null
    ] }),
    a("ul", { class: "sessions", "aria-label": "Conversations", children: sessions.value?.map((session) => a("li", { children: a(
      "a",
      {
        class: "row",
        href: at("talk", session.session_id),
        "aria-current": session.session_id === current ? "true" : void 0,
        children: [
          a("span", { class: "row-title", children: titles.value.get(session.session_id) ?? session.session_id }),
          a("span", { class: "row-meta", children: [
            stateOf2(session),
            " · ",
            session.started_by,
            " · ",
            ago(session.updated_at, now.value)
          ] })
        ]
      }
    ) }, session.session_id)) }),
    sessions.value?.length === 0 ? a("p", { class: "hint pad", children: "No messages yet." }) : null
  ] });
}
function stateOf2(session) {
  const waits = [...rows.value.values()].some((it) => it.status === "waiting" && it.session_id === session.session_id);
  if (waits) return "waiting for an answer";
  return { running: "works", stopping: "stops", completed: "done", failed: "failed", cancelled: "stopped" }[session.status] ?? session.status;
}
function Thread({ session }) {
  const conversation = w(() => new Conversation(session), []);
  const problem = useSignal(null);
  A(() => {
    conversation.open().catch((error) => problem.value = error);
    return () => conversation.close();
  }, []);
  const blocks = conversation.blocks.value;
  const { scroll, content, hasNew, isAway, toEnd, scrolled } = useFollowing();
  if (problem.value !== null) return a(Problem, { error: problem.value });
  const waits = blocks.filter(isWaiting);
  const [first] = waits;
  return a("div", { class: "thread", children: [
    a("div", { class: "thread-scroll", ref: scroll, onScroll: scrolled, children: a("div", { ref: content, children: [
      !conversation.isLoaded.value && blocks.length === 0 ? a(Loading, {}) : null,
      session === null ? a(Welcome, {}) : null,
      a("ol", { class: "blocks", "aria-label": "What was said and done", children: blocks.map((block, index) => a("li", { class: `block block-${block.kind}`, "data-waits": waits.includes(block) ? "" : void 0, children: a(BlockView2, { block, hasKeys: block === first, isAsked: waits.includes(blocks[index + 1] ?? block) }) }, index)) }),
      conversation.running.value !== null && waits.length === 0 ? a("p", { class: "works", role: "status", children: [
        a("span", { class: "pulse", "aria-hidden": "true" }),
        " The agent is working"
      ] }) : null
    ] }) }),
    hasNew.value || waits.length > 0 ? a("div", { class: "thread-news", children: [
      waits.length > 0 ? a("p", { class: "waits", role: "status", children: [
        a(Icon, { name: "clock" }),
        " Waiting for you"
      ] }) : null,
      hasNew.value || isAway.value ? a("button", { type: "button", class: "button", onClick: toEnd, children: [
        waits.length > 0 ? "Show it" : "New messages",
        " ↓"
      ] }) : null
    ] }) : null,
    mayAnswer.value ? a(Composer, { conversation }) : a("p", { class: "hint pad", children: "You can only view this. Approvers can talk to the agent." })
  ] });
}
function isWaiting(block) {
  if (block.kind === "approval") return rows.value.get(block.id)?.status === "waiting";
  return block.kind === "question" && questions.value.get(block.id)?.status === "waiting";
}
function Welcome() {
  return a(Empty, { icon: "talk", title: "What should the agent do?", isPart: true, children: a("p", { children: "Its steps appear here as they happen. Calls that matter wait for a person, here and in the inbox." }) });
}
function BlockView2({ block, hasKeys, isAsked }) {
  switch (block.kind) {
    case "person":
      return a($, { children: [
        a("span", { class: "unseen", children: "You said: " }),
        a("p", { class: "bubble", children: block.text })
      ] });
    case "said":
      return a($, { children: [
        a("span", { class: "unseen", children: "The agent said: " }),
        a(Markdown, { text: block.text })
      ] });
    case "tool":
      return a(Tool, { block, isAsked });
    case "approval":
      return a(InlineApproval, { id: block.id, hasKeys });
    case "question":
      return a(InlineQuestion, { id: block.id, hasKeys });
    case "held":
      return a("div", { class: "held", children: [
        a("strong", { children: block.notice }),
        a("p", { children: block.wasReached ? "The agent's reply is held until another person has reviewed it." : "The agent's reply is shown to nobody." })
      ] });
    case "ended":
      return a("p", { class: "ended", children: block.how === "cancelled" ? "Stopped." : `It failed: ${block.text}` });
  }
}
var STATES = { runs: "runs", done: "done", failed: "failed or not run", unknown: "outcome unknown" };
var SIGNS = { runs: "clock", done: "check", failed: "cross", unknown: "question" };
function Tool({ block, isAsked }) {
  return a("div", { class: `tool tool-${block.state}`, children: [
    a(Icon, { name: SIGNS[block.state] }),
    a("code", { children: block.preview === "" ? block.tool : block.preview }),
    a("span", { children: [
      isAsked ? "waiting for an answer" : block.words === "" ? STATES[block.state] : block.words,
      block.seconds === null || block.seconds < 0.05 ? "" : `, ${block.seconds.toFixed(1)} s`
    ] })
  ] });
}
function InlineApproval({ id, hasKeys }) {
  const approval = approvals.value.get(id);
  A(() => {
    if (approval === void 0) void refresh(id).catch(() => null);
  }, [id, approval === void 0]);
  return approval === void 0 ? a(Loading, { what: "A card" }) : a(CardView, { approval, hasKeys, isInline: true }, id);
}
function InlineQuestion({ id, hasKeys }) {
  const question = questions.value.get(id);
  A(() => {
    if (question !== void 0) return;
    get(`/v1/clarifications/${segment(id)}`).then(putQuestion, () => null);
  }, [id]);
  return question === void 0 ? a(Loading, { what: "A question" }) : a(QuestionView, { question, hasKeys }, id);
}
export {
  Talk
};
