import {
  $,
  A,
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
  now,
  place,
  post,
  putQuestion,
  questions,
  r,
  refresh,
  rows,
  segment,
  useSignal,
  w,
  y
} from "./chunk-OXIQVGR3.js";

// src/conversation.ts
var RUNS_MAX = 12;
var RETRY_MS = 1e3;
var FINAL = ["completed", "failed", "cancelled"];
function stateOf(event) {
  if (event.outcome === "unknown") return "unknown";
  return event.outcome === "done" || (event.outcome ?? null) === null && event.error !== true ? "done" : "failed";
}
var Conversation = class {
  constructor(session) {
    this.session = session;
  }
  session;
  blocks = y([]);
  /** The run that goes on, if one does. */
  running = y(null);
  isLoaded = y(false);
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
    const asked = messages.filter((message) => message.role === "user");
    for (const message of messages) {
      for (const call of message.tool_calls ?? []) if (message.content) this.#said.set(call.id, message.content);
    }
    for (const [index, run] of runs.entries()) {
      if (this.#closed.signal.aborted) return;
      const said = asked[asked.length - runs.length + index];
      if (said?.content) this.#push({ kind: "person", text: said.content });
      if (FINAL.includes(run.status)) {
        await this.#follow(run.run_id, false);
      } else {
        this.isLoaded.value = true;
        await this.#drive(run.run_id);
      }
    }
    this.isLoaded.value = true;
  }
  /** Says `text` to the agent. Returns the conversation's id. */
  async say(text) {
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
  async stop() {
    if (this.running.value !== null) await post(`/v1/runs/${segment(this.running.value)}/stop`);
  }
  async #drive(run) {
    this.running.value = run;
    await this.#follow(run, true);
    if (this.running.value === run) this.running.value = null;
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
      case "run.completed":
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
  const end = T(null);
  const scroll = T(null);
  const follows = T(true);
  A(() => {
    conversation.open().catch((error) => problem.value = error);
    return () => conversation.close();
  }, []);
  const blocks = conversation.blocks.value;
  const list = T(null);
  A(() => {
    const observer = new ResizeObserver(() => {
      const asked = list.current?.querySelector(".block-approval .answer:not(.outcome)");
      if (follows.current) (asked ?? end.current)?.scrollIntoView({ block: "end" });
    });
    if (list.current !== null) observer.observe(list.current);
    return () => observer.disconnect();
  }, []);
  const scrolled = () => {
    const element = scroll.current;
    if (element === null) return;
    const asked = list.current?.querySelector(".block-approval .answer:not(.outcome)");
    const bottom = asked === null || asked === void 0 ? element.scrollHeight : element.scrollTop + asked.getBoundingClientRect().bottom - element.getBoundingClientRect().top;
    follows.current = Math.abs(bottom - element.scrollTop - element.clientHeight) < 80;
  };
  if (problem.value !== null) return a(Problem, { error: problem.value });
  const waits = blocks.filter((block) => block.kind === "approval" && rows.value.get(block.id)?.status === "waiting");
  const [first] = waits;
  return a("div", { class: "thread", children: [
    a("div", { class: "thread-scroll", ref: scroll, onScroll: scrolled, children: [
      !conversation.isLoaded.value && blocks.length === 0 ? a(Loading, {}) : null,
      session === null ? a(Welcome, {}) : null,
      a("ol", { class: "blocks", ref: list, "aria-label": "What was said and done", children: blocks.map((block, index) => a("li", { class: `block block-${block.kind}`, children: a(BlockView, { block, hasKeys: block === first, isAsked: waits.includes(blocks[index + 1] ?? block) }) }, index)) }),
      conversation.running.value !== null && waits.length === 0 ? a("p", { class: "works", role: "status", children: [
        a("span", { class: "pulse", "aria-hidden": "true" }),
        " The agent is working"
      ] }) : null,
      a("div", { ref: end })
    ] }),
    mayAnswer.value ? a(Composer, { conversation }) : a("p", { class: "hint pad", children: "You can only view this. Approvers can talk to the agent." })
  ] });
}
function Welcome() {
  return a(Empty, { icon: "talk", title: "What should the agent do?", isPart: true, children: a("p", { children: "You see what it does as it happens. Calls that matter wait for a person, here and in the inbox." }) });
}
function BlockView({ block, hasKeys, isAsked }) {
  switch (block.kind) {
    case "person":
      return a($, { children: [
        a("span", { class: "unseen", children: "You said: " }),
        a("p", { class: "bubble", children: block.text })
      ] });
    case "said":
      return a($, { children: [
        a("span", { class: "unseen", children: "The agent said: " }),
        a("p", { class: "speech", children: block.text })
      ] });
    case "tool":
      return a(Tool, { block, isAsked });
    case "approval":
      return a(InlineApproval, { id: block.id, hasKeys });
    case "question":
      return a(InlineQuestion, { id: block.id });
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
function InlineQuestion({ id }) {
  const question = questions.value.get(id);
  A(() => {
    if (question !== void 0) return;
    get(`/v1/clarifications/${segment(id)}`).then(putQuestion, () => null);
  }, [id]);
  return question === void 0 ? a(Loading, { what: "A question" }) : a(QuestionView, { question, hasKeys: false }, id);
}
function Composer({ conversation }) {
  const text = useSignal("");
  const problem = useSignal(null);
  const isBusy = useSignal(false);
  const field = T(null);
  const isRunning = conversation.running.value !== null;
  const send = async () => {
    const words = text.value.trim();
    if (words === "" || isBusy.value || isRunning) return;
    isBusy.value = true;
    problem.value = null;
    try {
      const session = await conversation.say(words);
      text.value = "";
      go(at("talk", session));
    } catch (error) {
      problem.value = explain(error);
    } finally {
      isBusy.value = false;
    }
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
        problem.value === null ? null : a("p", { class: "problem", role: "alert", children: problem.value }),
        a("label", { children: [
          a("span", { class: "unseen", children: "Message to the agent" }),
          a(
            "textarea",
            {
              ref: field,
              rows: 2,
              placeholder: "What should it do?",
              value: text.value,
              onInput: (event) => text.value = event.currentTarget.value,
              onKeyDown: typed
            }
          )
        ] }),
        a("div", { class: "row-of-buttons", children: isRunning ? a("button", { type: "button", class: "button danger", onClick: () => void conversation.stop().catch((error) => problem.value = explain(error)), children: [
          a(Icon, { name: "stop" }),
          " Stop"
        ] }) : a("button", { type: "submit", class: "button primary", "aria-disabled": isBusy.value || text.value.trim() === "", children: "Send" }) })
      ]
    }
  );
}
export {
  Talk
};
