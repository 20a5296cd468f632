/**
 * A call: what is asked, how it stands, and how a person answered.
 *
 * Separate because it holds the types that callers see; it neither sends nor waits.
 */
/** Longest arguments, in bytes; the gateway takes no longer ones. */
export declare const ARGUMENTS_BYTES_MAX: number;
export type Status = "waiting" | "allowed" | "approved" | "denied" | "refused" | "expired" | "withdrawn";
/** A value as JSON writes it. Integers beyond 2^53-1 are `bigint`. */
export type Value = null | boolean | number | bigint | string | Value[] | {
    [name: string]: Value;
};
export type Arguments = {
    [name: string]: Value;
};
/** How a call was decided, and by whom. */
export interface Decision {
    outcome: string;
    cause: string;
    choice: string | null;
    by: string | null;
    via: string | null;
    note: string | null;
    /** The arguments as a person changed them; the call may run with these alone. */
    args: Arguments | null;
}
/** How a call stands. `args` are the arguments to run it with. */
export interface Call {
    callId: string;
    tool: string;
    sessionId: string;
    status: Status;
    verdict: string;
    digest: string;
    message: string;
    args: Arguments;
    approvalId: string | null;
    /** Unix seconds. */
    expiresAt: number | null;
    decision: Decision | null;
    assessment: Record<string, unknown>;
    /** The proof of a person's approval. It is not shown when the call is printed. */
    readonly token: string | null;
}
/** What can be said about a call besides tool and arguments. */
export interface Options {
    sessionId?: string;
    cwd?: string;
    workspace?: string;
    agent?: string;
    executor?: string;
    explanation?: string;
    replyingTo?: unknown;
    annotations?: object;
    toolDefinition?: object;
    /** SHA-256 of what is attached, in hexadecimal. */
    attachments?: string[];
    runId?: string;
    /** Whether the tool can take arguments that a person changed; true by default. */
    editable?: boolean;
}
/**
 * A call as it is sent. It keeps its own copy of the arguments: whatever the caller does to theirs while a person
 * decides, what was hashed is what runs.
 */
export declare class Asked {
    #private;
    readonly tool: string;
    readonly sessionId: string;
    readonly args: Arguments;
    readonly body: Buffer;
    readonly editable: boolean;
    constructor(tool: string, args: object, sessionId: string, options: Options);
    /** Returns the digest that a decision about this call, or about it as edited, must have. */
    digest(keyId: string, edited: Arguments | null): string;
}
/** Returns a copy of a JSON value that shares nothing with it; throws a TypeError for anything else. */
export declare function snapshot(value: unknown, depth?: number): Value;
