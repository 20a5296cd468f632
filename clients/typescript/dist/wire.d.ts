/**
 * Sends one request, and reads what the gateway says about a call.
 *
 * Separate because everything that a hostile or broken server could do is met here. It uses `node:http` and not
 * `fetch`: no proxy of the environment gets the key, no redirect is followed, and a socket in the file system works.
 */
import type { Asked, Call } from "./call.js";
import { BadAnswer } from "./errors.js";
import type { Place } from "./place.js";
/** Longest answer that is read, in bytes. */
export declare const ANSWER_BYTES_MAX: number;
/** A request to send. */
export interface Send {
    method: "GET" | "POST";
    path: string;
    body?: Uint8Array | string;
    seconds: number;
    name?: string;
    signal?: AbortSignal | undefined;
}
export interface Reply {
    status: number;
    data: Buffer;
    retryAfter: number | undefined;
}
/** A request got no answer. `wasSent` is whether the gateway may have received it. */
export declare class Lost extends Error {
    readonly why: string;
    readonly wasSent: boolean;
    constructor(why: string, wasSent: boolean);
}
/** Connections to one gateway. */
export declare class Wire {
    #private;
    readonly place: Place;
    readonly ca: string | undefined;
    constructor(place: Place, key: string, ca: string | undefined);
    /** Closes its connections. */
    close(): void;
    /** Sends a request; throws `Lost` if there is no answer, and the signal's reason if it is aborted. */
    send(send: Send): Promise<Reply>;
}
export type Json = Record<string, unknown>;
/** Reads the answer to a request that was taken. */
export declare function objectOf({ status, data }: Reply): Json;
/** Reads a call and makes sure that it is the one that was asked about. */
export declare function callOf(view: Json, asked: Asked, keyId: string): Call;
export declare function nonsense(detail: string): BadAnswer;
export declare function textOf(view: Json, name: string): string;
/** Returns an id as one segment of a path. */
export declare function segment(id: string): string;
