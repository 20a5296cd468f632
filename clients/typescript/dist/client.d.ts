/**
 * `Client`: submits calls, waits for people, runs what they approved.
 *
 * Separate because it decides which request follows which answer; `wire` sends them.
 */
import { type Call, type Options } from "./call.js";
import type { Jwk } from "./verify.js";
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
/** A gateway. */
export declare class Client {
    #private;
    readonly sessionId: string;
    constructor(options?: ClientOptions);
    /** Submits a call and returns how it stands at once. */
    submit(tool: string, args: object, options?: Options & {
        signal?: AbortSignal | undefined;
    }): Promise<Call>;
    /** Waits until a submitted call is decided, and returns it. The gateway may go away and come back meanwhile. */
    wait(call: Call, signal?: AbortSignal): Promise<Call>;
    /**
     * Submits a call, waits, and uses its token up: who gets a call back runs it, once, with exactly its `args`.
     * Rejects with `NotRun` otherwise. Aborting the signal withdraws the question.
     */
    confirm(tool: string, args: object, options?: ConfirmOptions): Promise<Call>;
    /** Takes a call back. */
    withdraw(call: Call, note?: string): Promise<void>;
    /**
     * Uses the token of an approved call up; who returns from here may run the call. A request that may have arrived is
     * not repeated: whether the first one or somebody else used the token could not be told.
     */
    consume(call: Call): Promise<void>;
    /** Reports what came of a call. */
    outcome(call: Call, report: {
        failed: boolean;
        summary?: string;
        durationMillis?: number;
    }): Promise<void>;
    /** Runs `work` and reports its outcome. A report that fails changes nothing. */
    running<R>(call: Call, work: () => R | Promise<R>): Promise<R>;
    /** Returns the keys with which the gateway signs, for `Verifier`. */
    jwks(): Promise<{
        keys: Jwk[];
    }>;
    /** Wraps a function so that every call of it is confirmed first, and runs with exactly what was approved. */
    guard<A extends object, R>(tool: string, run: (args: A, context: Context) => R | Promise<R>, options?: GuardOptions<A>): (args: A, more?: {
        signal?: AbortSignal | undefined;
    }) => Promise<R>;
    /** Closes its connections. */
    close(): void;
}
