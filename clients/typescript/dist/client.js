/**
 * `Client`: submits calls, waits for people, runs what they approved.
 *
 * Separate because it decides which request follows which answer; `wire` sends them.
 */
import { randomUUID } from "node:crypto";
import { Asked } from "./call.js";
import { AlreadyUsed, AWAY, BadAnswer, Denied, Expired, GatewayAway, Refused, Rejected, UNFIT, Unfit, Withdrawn } from "./errors.js";
import { keyOf, placeOf } from "./place.js";
import { callOf, Lost, nonsense, objectOf, segment, textOf, Wire } from "./wire.js";
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
/** A gateway. */
export class Client {
    sessionId;
    #wire;
    #defaults;
    #reach;
    #away;
    #asked = new WeakMap();
    #keyId;
    constructor(options = {}) {
        const place = placeOf(options.url, options.socket);
        this.#wire = new Wire(place, keyOf(options.key, options.keyFile), options.ca);
        this.sessionId = options.sessionId ?? `ts-${randomUUID()}`;
        this.#defaults = Object.fromEntries(Object.entries({ agent: options.agent, cwd: options.cwd }).filter(([, it]) => it !== undefined));
        this.#reach = options.reachSeconds ?? 10;
        this.#away = options.awaySeconds ?? 300;
    }
    /** Submits a call and returns how it stands at once. */
    async submit(tool, args, options = {}) {
        return this.#submit(this.#ask(tool, args, options), newTicket(), options.signal);
    }
    /** Waits until a submitted call is decided, and returns it. The gateway may go away and come back meanwhile. */
    async wait(call, signal) {
        const asked = this.#asked.get(call);
        if (asked === undefined)
            throw new TypeError("only a call that submit() returned can be waited for");
        return this.#wait(call, asked, newTicket(), signal);
    }
    /**
     * Submits a call, waits, and uses its token up: who gets a call back runs it, once, with exactly its `args`.
     * Rejects with `NotRun` otherwise. Aborting the signal withdraws the question.
     */
    async confirm(tool, args, options = {}) {
        const { signal, consume = true, ...rest } = options;
        const asked = this.#ask(tool, args, rest);
        const ticket = newTicket();
        let call;
        try {
            call = await this.#wait(await this.#submit(asked, ticket, signal), asked, ticket, signal);
        }
        catch (error) {
            if (!ticket.isSettled)
                await this.#abandon(asked, ticket).catch(() => undefined);
            throw error;
        }
        if (consume)
            await this.consume(call);
        return requireMayRun(call);
    }
    /** Takes a call back. */
    async withdraw(call, note) {
        const path = `/v1/calls/${segment(call.callId)}/withdraw`;
        await this.#object(post(path, note === undefined ? {} : { note }), this.#reach);
    }
    /**
     * Uses the token of an approved call up; who returns from here may run the call. A request that may have arrived is
     * not repeated: whether the first one or somebody else used the token could not be told.
     */
    async consume(call) {
        requireMayRun(call);
        if (call.token === null)
            return;
        try {
            const view = await this.#object(post("/v1/tokens/consume", { token: call.token }), this.#reach, false);
            // Identical calls that wait together share one approval; it counts for the one that uses it.
            textOf(view, "jti");
            textOf(view, "call_id");
        }
        catch (error) {
            if (!(error instanceof Rejected))
                throw error;
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
    async outcome(call, report) {
        const body = { failed: report.failed, summary: report.summary?.slice(0, SUMMARY_MAX), duration_millis: report.durationMillis };
        await this.#object(post(`/v1/calls/${segment(call.callId)}/outcome`, body), this.#reach);
    }
    /** Runs `work` and reports its outcome. A report that fails changes nothing. */
    async running(call, work) {
        const begun = performance.now();
        const report = async (failure) => {
            const durationMillis = Math.round(performance.now() - begun);
            const summary = failure === undefined ? {} : { summary: failure };
            await this.outcome(call, { failed: failure !== undefined, durationMillis, ...summary }).catch(() => undefined);
        };
        let result;
        try {
            result = await work();
        }
        catch (error) {
            await report(error instanceof Error ? error.name : typeof error);
            throw error;
        }
        await report();
        return result;
    }
    /** Returns the keys with which the gateway signs, for `Verifier`. */
    async jwks() {
        const view = await this.#object(get("/.well-known/jwks.json"), this.#reach);
        if (!Array.isArray(view["keys"]))
            throw nonsense("`keys` is not a list");
        return { keys: view["keys"] };
    }
    /** Wraps a function so that every call of it is confirmed first, and runs with exactly what was approved. */
    guard(tool, run, options = {}) {
        const { check, consume = true, ...rest } = options;
        return async (args, { signal } = {}) => {
            const call = await this.confirm(tool, args, { ...rest, signal, consume: false });
            if (call.decision?.args) {
                try {
                    await check?.(structuredClone(call.args));
                }
                catch {
                    throw new Unfit(UNFIT, { call });
                }
            }
            if (consume)
                await this.consume(call);
            return this.running(call, () => run(call.args, { call, token: call.token, signal }));
        };
    }
    /** Closes its connections. */
    close() {
        this.#wire.close();
    }
    #ask(tool, args, options) {
        return new Asked(tool, args, options.sessionId ?? this.sessionId, { ...this.#defaults, ...options });
    }
    async #submit(asked, ticket, signal) {
        const keyId = await this.#whoami(signal);
        ticket.wasSent = true;
        const send = { ...post("/v1/calls", asked.body), name: ticket.name, signal };
        const view = await this.#object(send, this.#reach).catch((error) => {
            ticket.isSettled = error instanceof Rejected;
            throw error;
        });
        ticket.callId = textOf(view, "call_id");
        return this.#noted(callOf(view, asked, keyId), asked, ticket);
    }
    async #wait(call, asked, ticket, signal) {
        const keyId = await this.#whoami(signal);
        let now = call;
        while (now.status === "waiting") {
            const begun = performance.now();
            const send = get(`/v1/calls/${segment(call.callId)}?wait_seconds=${WAIT_SECONDS}`);
            const view = await this.#object({ ...send, seconds: WAIT_SECONDS + REQUEST_SECONDS, signal }, this.#away);
            if (view["call_id"] !== call.callId)
                throw nonsense("it is about another call");
            now = this.#noted(callOf(view, asked, keyId), asked, ticket);
            const early = PACE_SECONDS - (performance.now() - begun) / 1000;
            if (now.status === "waiting" && early > 0)
                await pause(early, signal);
        }
        return now;
    }
    /** Withdraws a question whose asker has gone, with one attempt: nobody waits for this. */
    async #abandon(asked, ticket) {
        if (ticket.callId === undefined) {
            if (!ticket.wasSent)
                return;
            const send = { ...post("/v1/calls", asked.body), name: ticket.name, seconds: ABANDON_SECONDS };
            ticket.callId = textOf(objectOf(await this.#wire.send(send)), "call_id");
        }
        await this.#wire.send({ ...post(`/v1/calls/${segment(ticket.callId)}/withdraw`, {}), seconds: ABANDON_SECONDS });
    }
    async #whoami(signal) {
        this.#keyId ??= textOf(await this.#object({ ...get("/v1/whoami"), signal }, this.#reach), "key_id");
        return this.#keyId;
    }
    #noted(call, asked, ticket) {
        ticket.isSettled = call.status !== "waiting";
        this.#asked.set(call, asked);
        return call;
    }
    /** Sends a request until the gateway has answered it, for as long as `seconds`. */
    async #object(send, seconds, repeats = true) {
        const deadline = performance.now() + seconds * 1000;
        for (let rest = 0.2;; rest = Math.min(rest * 2, PAUSE_SECONDS_MAX)) {
            let why, isFinal, reply;
            try {
                reply = await this.#wire.send(send);
                if (reply.status < 500 && reply.status !== 429)
                    return objectOf(reply);
                [why, isFinal] = [`it answered ${reply.status}`, reply.status >= 500 && !repeats];
            }
            catch (error) {
                if (!(error instanceof Lost))
                    throw error;
                [why, isFinal] = [error.why, error.wasSent && !repeats];
            }
            const seconds = Math.max(reply?.retryAfter ?? 0, rest * (0.5 + Math.random() / 2));
            if (isFinal || performance.now() + seconds * 1000 > deadline)
                throw new GatewayAway(AWAY, { detail: why });
            await pause(seconds, send.signal);
        }
    }
}
/** Returns a call that may run; throws what became of any other. */
function requireMayRun(call) {
    if (call.status === "allowed" || call.status === "approved")
        return call;
    const kinds = { denied: Denied, refused: Refused, expired: Expired, withdrawn: Withdrawn, waiting: BadAnswer };
    throw new kinds[call.status](call.message, { call });
}
function newTicket() {
    return { name: randomUUID(), wasSent: false, isSettled: false };
}
function get(path) {
    return { method: "GET", path, seconds: REQUEST_SECONDS };
}
function post(path, body) {
    return { method: "POST", path, body: body instanceof Uint8Array ? body : JSON.stringify(body), seconds: REQUEST_SECONDS };
}
function pause(seconds, signal) {
    return new Promise((resolve, reject) => {
        if (signal?.aborted)
            return reject(signal.reason);
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
