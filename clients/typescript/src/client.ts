/**
 * `Client`: submits calls, waits for people, runs what they approved.
 *
 * Separate because it decides which request follows which answer; `wire` sends them.
 */

import { randomUUID } from "node:crypto";

import { Asked, type Arguments, type Call, type Options } from "./call.js";
import { AlreadyUsed, AWAY, BadAnswer, Denied, Expired, GatewayAway, NotRun, Refused, Rejected, UNFIT, Unfit, Withdrawn } from "./errors.js";
import { keyOf, placeOf } from "./place.js";
import type { Jwk } from "./verify.js";
import { callOf, Lost, nonsense, objectOf, segment, textOf, Wire, type Json, type Reply, type Send } from "./wire.js";

/** How long the gateway holds one request while nobody has answered, in seconds. */
const WAIT_SECONDS = 25;
/** How long a request may take beyond that, in seconds. */
const REQUEST_SECONDS = 15;
/** How long a request may take that gives a question up, in seconds. */
const ABANDON_SECONDS = 2;
/** Longest pause between two attempts, in seconds. */
const PAUSE_SECONDS_MAX = 5;
/** Shortest time between two questions whether somebody has answered, in seconds. */
const PACE_SECONDS = 1;
const SUMMARY_MAX = 1000;

/** Where the gateway is, and who asks. */
export interface ClientOptions {
  /** The gateway's address; by default COUNTERSIGN_URL, then the socket in COUNTERSIGN_HOME. */
  url?: string;
  /** The path of the gateway's `agent.sock`, instead of an address. */
  socket?: string;
  /** An agent's key; by default COUNTERSIGN_KEY. */
  key?: string;
  keyFile?: string;
  /** The conversation that calls belong to; a new one by default. */
  sessionId?: string;
  agent?: string;
  cwd?: string;
  /** Certificates (PEM) that are trusted instead of the system's. */
  ca?: string;
  /** How long a gateway that cannot be reached is tried again, in seconds. */
  reachSeconds?: number;
  /** The same while a question waits. */
  awaySeconds?: number;
}

export interface ConfirmOptions extends Options {
  /** Gives the question up. */
  signal?: AbortSignal | undefined;
  /** Whether the token is used up before the function runs; true by default. */
  consume?: boolean;
}

export interface GuardOptions<A> extends Omit<ConfirmOptions, "signal"> {
  /** Throws if the function does not take these arguments. Called with what a person changed. */
  check?: (args: unknown) => unknown;
  /** Not called: it names the type of the arguments. */
  readonly args?: A;
}

/** What a guarded function gets besides its arguments. */
export interface Context {
  call: Call;
  /** The proof of a person's approval; null if a rule allowed the call. */
  token: string | null;
  signal: AbortSignal | undefined;
}

/** What must be known of a question to give it up. */
interface Ticket {
  name: string;
  callId?: string;
  wasSent: boolean;
  isSettled: boolean;
}

/** A gateway. */
export class Client {
  readonly sessionId: string;
  readonly #wire: Wire;
  readonly #defaults: Options;
  readonly #reach: number;
  readonly #away: number;
  readonly #asked = new WeakMap<Call, Asked>();
  #keyId: string | undefined;

  constructor(options: ClientOptions = {}) {
    const place = placeOf(options.url, options.socket);
    this.#wire = new Wire(place, keyOf(options.key, options.keyFile), options.ca);
    this.sessionId = options.sessionId ?? `ts-${randomUUID()}`;
    this.#defaults = Object.fromEntries(
      Object.entries({ agent: options.agent, cwd: options.cwd }).filter(([, it]) => it !== undefined),
    );
    this.#reach = options.reachSeconds ?? 10;
    this.#away = options.awaySeconds ?? 300;
  }

  /** Submits a call and returns how it stands at once. */
  async submit(tool: string, args: object, options: Options & { signal?: AbortSignal | undefined } = {}): Promise<Call> {
    return this.#submit(this.#ask(tool, args, options), newTicket(), options.signal);
  }

  /** Waits until a submitted call is decided, and returns it. The gateway may go away and come back meanwhile. */
  async wait(call: Call, signal?: AbortSignal): Promise<Call> {
    const asked = this.#asked.get(call);
    if (asked === undefined) throw new TypeError("only a call that submit() returned can be waited for");
    return this.#wait(call, asked, newTicket(), signal);
  }

  /**
   * Submits a call, waits, and uses its token up: who gets a call back runs it, once, with exactly its `args`.
   * Rejects with `NotRun` otherwise. Aborting the signal withdraws the question.
   */
  async confirm(tool: string, args: object, options: ConfirmOptions = {}): Promise<Call> {
    const { signal, consume = true, ...rest } = options;
    const asked = this.#ask(tool, args, rest);
    const ticket = newTicket();
    let call: Call;
    try {
      call = await this.#wait(await this.#submit(asked, ticket, signal), asked, ticket, signal);
    } catch (error) {
      if (!ticket.isSettled) await this.#abandon(asked, ticket).catch(() => undefined);
      throw error;
    }
    if (consume) await this.consume(call);
    return requireMayRun(call);
  }

  /** Takes a call back. */
  async withdraw(call: Call, note?: string): Promise<void> {
    const path = `/v1/calls/${segment(call.callId)}/withdraw`;
    await this.#object(post(path, note === undefined ? {} : { note }), this.#reach);
  }

  /**
   * Uses the token of an approved call up; who returns from here may run the call. A request that may have arrived is
   * not repeated: whether the first one or somebody else used the token could not be told.
   */
  async consume(call: Call): Promise<void> {
    requireMayRun(call);
    if (call.token === null) return;
    try {
      const view = await this.#object(post("/v1/tokens/consume", { token: call.token }), this.#reach, false);
      // Identical calls that wait together share one approval; it counts for the one that uses it.
      textOf(view, "jti");
      textOf(view, "call_id");
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
      const more = { detail: error.detail, call };
      if (error.code === "token_used") {
        throw new AlreadyUsed("The approval of this action was already used, so it was not carried out again.", more);
      }
      if (error.code === "token_expired") {
        throw new Expired("The approval of this action expired before it ran, so it was not carried out.", more);
      }
      throw error;
    }
  }

  /** Reports what came of a call. */
  async outcome(call: Call, report: { failed: boolean; summary?: string; durationMillis?: number }): Promise<void> {
    const body = { failed: report.failed, summary: report.summary?.slice(0, SUMMARY_MAX), duration_millis: report.durationMillis };
    await this.#object(post(`/v1/calls/${segment(call.callId)}/outcome`, body), this.#reach);
  }

  /** Runs `work` and reports its outcome. A report that fails changes nothing. */
  async running<R>(call: Call, work: () => R | Promise<R>): Promise<R> {
    const begun = performance.now();
    const report = async (failure?: string) => {
      const durationMillis = Math.round(performance.now() - begun);
      const summary = failure === undefined ? {} : { summary: failure };
      await this.outcome(call, { failed: failure !== undefined, durationMillis, ...summary }).catch(() => undefined);
    };
    let result: R;
    try {
      result = await work();
    } catch (error) {
      await report(error instanceof Error ? error.name : typeof error);
      throw error;
    }
    await report();
    return result;
  }

  /** Returns the keys with which the gateway signs, for `Verifier`. */
  async jwks(): Promise<{ keys: Jwk[] }> {
    const view = await this.#object(get("/.well-known/jwks.json"), this.#reach);
    if (!Array.isArray(view["keys"])) throw nonsense("`keys` is not a list");
    return { keys: view["keys"] as Jwk[] };
  }

  /** Wraps a function so that every call of it is confirmed first, and runs with exactly what was approved. */
  guard<A extends object, R>(
    tool: string,
    run: (args: A, context: Context) => R | Promise<R>,
    options: GuardOptions<A> = {},
  ): (args: A, more?: { signal?: AbortSignal | undefined }) => Promise<R> {
    const { check, consume = true, ...rest } = options;
    return async (args, { signal } = {}) => {
      const call = await this.confirm(tool, args, { ...rest, signal, consume: false });
      if (call.decision?.args) {
        try {
          await check?.(structuredClone(call.args));
        } catch {
          throw new Unfit(UNFIT, { call });
        }
      }
      if (consume) await this.consume(call);
      return this.running(call, () => run(call.args as Arguments as A, { call, token: call.token, signal }));
    };
  }

  /** Closes its connections. */
  close(): void {
    this.#wire.close();
  }

  #ask(tool: string, args: object, options: Options): Asked {
    return new Asked(tool, args, options.sessionId ?? this.sessionId, { ...this.#defaults, ...options });
  }

  async #submit(asked: Asked, ticket: Ticket, signal: AbortSignal | undefined): Promise<Call> {
    const keyId = await this.#whoami(signal);
    ticket.wasSent = true;
    const send: Send = { ...post("/v1/calls", asked.body), name: ticket.name, signal };
    const view = await this.#object(send, this.#reach).catch((error: unknown) => {
      ticket.isSettled = error instanceof Rejected;
      throw error;
    });
    ticket.callId = textOf(view, "call_id");
    return this.#noted(callOf(view, asked, keyId), asked, ticket);
  }

  async #wait(call: Call, asked: Asked, ticket: Ticket, signal: AbortSignal | undefined): Promise<Call> {
    const keyId = await this.#whoami(signal);
    let now = call;
    while (now.status === "waiting") {
      const begun = performance.now();
      const send = get(`/v1/calls/${segment(call.callId)}?wait_seconds=${WAIT_SECONDS}`);
      const view = await this.#object({ ...send, seconds: WAIT_SECONDS + REQUEST_SECONDS, signal }, this.#away);
      if (view["call_id"] !== call.callId) throw nonsense("it is about another call");
      now = this.#noted(callOf(view, asked, keyId), asked, ticket);
      const early = PACE_SECONDS - (performance.now() - begun) / 1000;
      if (now.status === "waiting" && early > 0) await pause(early, signal);
    }
    return now;
  }

  /** Withdraws a question whose asker has gone, with one attempt: nobody waits for this. */
  async #abandon(asked: Asked, ticket: Ticket): Promise<void> {
    if (ticket.callId === undefined) {
      if (!ticket.wasSent) return;
      const send = { ...post("/v1/calls", asked.body), name: ticket.name, seconds: ABANDON_SECONDS };
      ticket.callId = textOf(objectOf(await this.#wire.send(send)), "call_id");
    }
    await this.#wire.send({ ...post(`/v1/calls/${segment(ticket.callId)}/withdraw`, {}), seconds: ABANDON_SECONDS });
  }

  async #whoami(signal: AbortSignal | undefined): Promise<string> {
    this.#keyId ??= textOf(await this.#object({ ...get("/v1/whoami"), signal }, this.#reach), "key_id");
    return this.#keyId;
  }

  #noted(call: Call, asked: Asked, ticket: Ticket): Call {
    ticket.isSettled = call.status !== "waiting";
    this.#asked.set(call, asked);
    return call;
  }

  /** Sends a request until the gateway has answered it, for as long as `seconds`. */
  async #object(send: Send, seconds: number, repeats = true): Promise<Json> {
    const deadline = performance.now() + seconds * 1000;
    for (let rest = 0.2; ; rest = Math.min(rest * 2, PAUSE_SECONDS_MAX)) {
      let why: string, isFinal: boolean, reply: Reply | undefined;
      try {
        reply = await this.#wire.send(send);
        if (reply.status < 500 && reply.status !== 429) return objectOf(reply);
        [why, isFinal] = [`it answered ${reply.status}`, reply.status >= 500 && !repeats];
      } catch (error) {
        if (!(error instanceof Lost)) throw error;
        [why, isFinal] = [error.why, error.wasSent && !repeats];
      }
      const seconds = Math.max(reply?.retryAfter ?? 0, rest * (0.5 + Math.random() / 2));
      if (isFinal || performance.now() + seconds * 1000 > deadline) throw new GatewayAway(AWAY, { detail: why });
      await pause(seconds, send.signal);
    }
  }
}

/** Returns a call that may run; throws what became of any other. */
function requireMayRun(call: Call): Call {
  if (call.status === "allowed" || call.status === "approved") return call;
  const kinds = { denied: Denied, refused: Refused, expired: Expired, withdrawn: Withdrawn, waiting: BadAnswer };
  throw new kinds[call.status](call.message, { call });
}

function newTicket(): Ticket {
  return { name: randomUUID(), wasSent: false, isSettled: false };
}

function get(path: string): Send {
  return { method: "GET", path, seconds: REQUEST_SECONDS };
}

function post(path: string, body: object): Send {
  return { method: "POST", path, body: body instanceof Uint8Array ? body : JSON.stringify(body), seconds: REQUEST_SECONDS };
}

function pause(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
