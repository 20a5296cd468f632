/**
 * Sends one request, and reads what the gateway says about a call.
 *
 * Separate because everything that a hostile or broken server could do is met here. It uses `node:http` and not
 * `fetch`: no proxy of the environment gets the key, no redirect is followed, and a socket in the file system works.
 */
import * as http from "node:http";
import * as https from "node:https";
import { BadAnswer, Expired, Rejected, UNREADABLE } from "./errors.js";
/** Longest answer that is read, in bytes. */
export const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const TEXT_MAX = 300;
const STATUSES = new Set(["waiting", "allowed", "approved", "denied", "refused", "expired", "withdrawn"]);
/** Failures of a request that reached nobody; every other failure may have reached the gateway. */
const UNSENT = new Set(["ECONNREFUSED", "ENOENT", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "EACCES", "EAI_AGAIN"]);
/** A request got no answer. `wasSent` is whether the gateway may have received it. */
export class Lost extends Error {
    why;
    wasSent;
    constructor(why, wasSent) {
        super(why);
        this.why = why;
        this.wasSent = wasSent;
    }
}
/** Connections to one gateway. */
export class Wire {
    place;
    ca;
    #agent;
    #key;
    constructor(place, key, ca) {
        this.place = place;
        this.ca = ca;
        this.#key = key;
        this.#agent = place.url.protocol === "https:" ? new https.Agent({ keepAlive: true, ca }) : new http.Agent({ keepAlive: true });
    }
    /** Closes its connections. */
    close() {
        this.#agent.destroy();
    }
    /** Sends a request; throws `Lost` if there is no answer, and the signal's reason if it is aborted. */
    send(send) {
        const { place } = this;
        const headers = { authorization: `Bearer ${this.#key}`, "content-type": "application/json" };
        if (send.name !== undefined)
            headers["idempotency-key"] = send.name;
        const options = {
            agent: this.#agent,
            method: send.method,
            path: place.url.pathname.replace(/\/$/, "") + send.path,
            headers,
            ...(place.socket === undefined
                ? { hostname: place.url.hostname.replace(/^\[|\]$/g, ""), port: place.url.port }
                : { socketPath: place.socket }),
        };
        return new Promise((resolve, reject) => {
            const { signal } = send;
            if (signal?.aborted)
                return reject(signal.reason);
            const request = (place.url.protocol === "https:" ? https : http).request(options);
            const done = (settle) => {
                clearTimeout(timer);
                signal?.removeEventListener("abort", abort);
                settle();
            };
            const fail = (error) => {
                done(() => reject(error));
                request.destroy();
            };
            const abort = () => fail(signal?.reason);
            const timer = setTimeout(() => fail(new Lost("it does not answer in time", true)), send.seconds * 1000);
            signal?.addEventListener("abort", abort, { once: true });
            request.on("error", (error) => {
                const code = error.code ?? error.name;
                fail(new Lost(code, !UNSENT.has(code)));
            });
            request.on("response", (response) => {
                const pieces = [];
                let length = 0;
                response.on("data", (piece) => {
                    length += piece.length;
                    if (length > ANSWER_BYTES_MAX)
                        fail(nonsense(`it is longer than ${ANSWER_BYTES_MAX} bytes`));
                    else
                        pieces.push(piece);
                });
                response.on("aborted", () => fail(new Lost("it broke off", true)));
                response.on("error", () => fail(new Lost("it broke off", true)));
                response.on("end", () => {
                    const after = response.headers["retry-after"] ?? "";
                    const retryAfter = /^\d{1,5}$/.test(after) ? Number(after) : undefined;
                    done(() => resolve({ status: response.statusCode ?? 0, data: Buffer.concat(pieces), retryAfter }));
                });
            });
            request.end(send.body);
        });
    }
}
/** Reads the answer to a request that was taken. */
export function objectOf({ status, data }) {
    if (status >= 300 && status < 400)
        throw nonsense("it is a redirect, which is not followed");
    let view;
    try {
        view = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
    }
    catch {
        throw nonsense(`it is not JSON (status ${status})`);
    }
    if (!isObject(view))
        throw nonsense(`it is not an object (status ${status})`);
    if (status === 200 || status === 202)
        return view;
    const error = isObject(view["error"]) ? view["error"] : {};
    const words = "The gateway that confirms actions did not accept this one, so it was not carried out: ";
    throw new Rejected(words + shown(error["message"]), status, shown(error["code"]));
}
/** Reads a call and makes sure that it is the one that was asked about. */
export function callOf(view, asked, keyId) {
    const decision = view["decision"] == null ? null : decisionOf(view["decision"], asked);
    const edited = decision?.args ?? null;
    const status = textOf(view, "status");
    if (!STATUSES.has(status))
        throw nonsense("its status is unknown");
    const token = typeof view["token"] === "string" ? view["token"] : null;
    const call = {
        callId: textOf(view, "call_id"),
        tool: textOf(view, "tool"),
        sessionId: textOf(view, "session_id"),
        status: status,
        verdict: textOf(view, "verdict"),
        digest: textOf(view, "digest"),
        message: textOf(view, "message"),
        args: edited ?? asked.args,
        approvalId: typeof view["approval_id"] === "string" ? view["approval_id"] : null,
        expiresAt: typeof view["expires_at"] === "number" ? view["expires_at"] : null,
        decision,
        assessment: isObject(view["assessment"]) ? view["assessment"] : {},
    };
    if (call.tool !== asked.tool || call.sessionId !== asked.sessionId)
        throw nonsense("it is about another call");
    let digest;
    try {
        digest = asked.digest(keyId, edited);
    }
    catch {
        throw nonsense("its arguments have no canonical form");
    }
    if (call.digest !== digest)
        throw nonsense("its digest is not the one of this call");
    const mayRun = status === "allowed" || status === "approved";
    if (mayRun && decision?.outcome !== status)
        throw nonsense("it may run and nothing decided so");
    if (status === "approved" && token === null) {
        const words = "The approval of this action expired before it ran, so it was not carried out.";
        throw new Expired(words, { detail: "approved without a token" });
    }
    return Object.defineProperty(call, "token", { value: token, enumerable: false });
}
function decisionOf(given, asked) {
    if (!isObject(given))
        throw nonsense("its decision is not an object");
    const optional = (name) => (typeof given[name] === "string" ? given[name] : null);
    const args = given["args"] ?? null;
    if (args !== null && !(isObject(args) && asked.editable)) {
        throw nonsense("it changes arguments that cannot be changed");
    }
    return {
        outcome: textOf(given, "outcome"),
        cause: textOf(given, "cause"),
        choice: optional("choice"),
        by: optional("by"),
        via: optional("via"),
        note: optional("note"),
        args: args,
    };
}
export function nonsense(detail) {
    return new BadAnswer(UNREADABLE, { detail });
}
export function textOf(view, name) {
    const value = view[name];
    if (typeof value !== "string")
        throw nonsense(`\`${name}\` is not a text`);
    return value;
}
/** Returns an id as one segment of a path. */
export function segment(id) {
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(id))
        throw nonsense("the id of the call is malformed");
    return id;
}
function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
/** Returns a text of the gateway on one line of bounded length, without control letters or keys. */
function shown(text) {
    if (typeof text !== "string")
        return "it gives no reason";
    return text.slice(0, TEXT_MAX).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").replace(/cs_[a-z]+_[\w-]+/g, "…");
}
