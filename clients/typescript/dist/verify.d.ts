/**
 * Checks, inside a tool, that a person said yes to exactly the call the tool is about to make.
 *
 *     const verifier = new Verifier(jwks, "tool:send_message");
 *     await verifier.verify(token, { tool: "send_message", arguments: {…}, session: "…", cwd: "…" });
 *
 * `jwks` is what the gateway serves at `/.well-known/jwks.json`. `verify` returns the claims or throws
 * `ApprovalRequired`; then do nothing and hand its message back. Each verifier accepts a token once.
 * Only the gateway can promise once in all: where several processes run the same tool, send the token
 * to `POST /v1/tokens/consume` as well, before acting.
 *
 * Separate because a tool needs nothing else of the client: this file can be copied alone.
 */
export declare const MESSAGE = "This action requires user approval. Ask the user to confirm.";
export type Json = null | boolean | number | string | Json[] | {
    [key: string]: Json;
};
export interface Claims {
    v: 1;
    iss: string;
    aud: string;
    sub: string;
    jti: string;
    iat: number;
    nbf: number;
    exp: number;
    tool: string;
    tdh: string;
    enc: "jcs" | "raw";
    adg: string;
    ses: string;
    agt: string;
    apr: {
        who: string;
        channel: string;
        tier: string;
    };
    tier: string;
    pol: string;
}
/** A key as the gateway publishes it. */
export interface Jwk {
    [name: string]: unknown;
}
/** The call a tool is about to make. */
export interface Call {
    tool: string;
    session: string;
    /** A JSON value; or `argumentsRaw`, the bytes the gateway was given. */
    arguments?: Json;
    argumentsRaw?: Uint8Array;
    cwd?: string | null;
    attachments?: string[];
    /** The id of the key that asked, where the tool knows it. */
    agent?: string;
}
/** The call must not be made. `code` says why, for the log; the message is for the agent. */
export declare class ApprovalRequired extends Error {
    readonly code: string;
    constructor(code: string);
}
/** Verifies the tokens of one gateway for one executor. */
export declare class Verifier {
    #private;
    readonly jwks: {
        keys: Jwk[];
    };
    readonly audience: string;
    readonly clock: () => number;
    constructor(jwks: {
        keys: Jwk[];
    }, audience: string, clock?: () => number);
    /** Returns the claims of `token` if it is for exactly this call, and uses it up. */
    verify(token: unknown, call: Call): Promise<Claims>;
}
/** Returns the bytes of a JSON value in the form that is hashed (RFC 8785). */
export declare function canonical(value: unknown): Uint8Array;
/** Returns where and by whom a call is run, as it is hashed. */
export declare function contextOf(cwd: string | null, executor: string, attachments: string[]): Uint8Array;
/** Returns the digest of a call, to which decisions and tokens are bound, in hexadecimal. */
export declare function digestOf(tool: string, tdh: string, enc: string, data: Uint8Array, where: Uint8Array, session: string, agent: string): string;
