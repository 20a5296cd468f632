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

import { createHash, createPublicKey, verify as isSigned, type KeyObject } from "node:crypto";

export const MESSAGE = "This action requires user approval. Ask the user to confirm.";
const TOKEN_BYTES_MAX = 4096;
const TOKEN_SECONDS_MAX = 300;
const SKEW_SECONDS = 30;
const DEPTH_MAX = 64;
const HEADER = kinds({ string: ["alg", "kid", "typ"] });
const CLAIMS = kinds({
  string: ["iss", "aud", "sub", "jti", "tool", "tdh", "enc", "adg", "ses", "agt", "tier", "pol"],
  integer: ["v", "iat", "nbf", "exp"],
  object: ["apr"],
});
const APPROVER = kinds({ string: ["who", "channel", "tier"] });

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Claims {
  v: 1; iss: string; aud: string; sub: string; jti: string; iat: number; nbf: number; exp: number;
  tool: string; tdh: string; enc: "jcs" | "raw"; adg: string; ses: string; agt: string;
  apr: { who: string; channel: string; tier: string }; tier: string; pol: string;
}

/** A key as the gateway publishes it. */
export interface Jwk { [name: string]: unknown }

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
export class ApprovalRequired extends Error {
  constructor(readonly code: string) {
    super(MESSAGE);
  }
}

/** Verifies the tokens of one gateway for one executor. */
export class Verifier {
  #used = new Map<string, number>();

  constructor(readonly jwks: { keys: Jwk[] }, readonly audience: string, readonly clock = () => Date.now() / 1000) {}

  /** Returns the claims of `token` if it is for exactly this call, and uses it up. */
  async verify(token: unknown, call: Call): Promise<Claims> {
    const now = this.clock();
    const claims = this.#open(token, now);
    const enc = call.argumentsRaw === undefined ? "jcs" : "raw";
    demand(claims.aud === this.audience, "other_executor");
    demand(claims.tool === call.tool, "other_tool");
    demand(claims.ses === call.session, "other_session");
    demand(call.agent === undefined || claims.agt === call.agent, "other_agent");
    demand(claims.enc === enc, "other_encoding");
    const data = call.argumentsRaw ?? attempt(() => canonical(call.arguments), "other_call");
    const where = attempt(() => contextOf(call.cwd ?? null, this.audience, call.attachments ?? []), "other_call");
    demand(digestOf(call.tool, claims.tdh, enc, data, where, call.session, claims.agt) === claims.adg, "other_call");
    // Nothing is awaited from here on, so of two at once one is first.
    for (const [jti, end] of this.#used) if (end <= now) this.#used.delete(jti);
    demand(!this.#used.has(claims.jti), "used");
    this.#used.set(claims.jti, claims.exp + SKEW_SECONDS);
    return claims;
  }

  #open(token: unknown, now: number): Claims {
    demand(typeof token === "string" && token.length <= TOKEN_BYTES_MAX && token.split(".").length === 3, "malformed");
    const [head, body, signature] = token.split(".").map(decoded) as [Uint8Array, Uint8Array, Uint8Array];
    const header = closed(head, HEADER) as { alg: string; kid: string; typ: string };
    demand(header.alg === "EdDSA" && header.typ === "countersign+jwt", "malformed");
    const key = this.#key(header.kid);
    demand(key !== undefined, "unknown_key");
    const signed = new TextEncoder().encode(token.slice(0, token.lastIndexOf(".")));
    demand(signature.length === 64 && isSigned(null, signed, key, signature), "bad_signature");
    const claims = closed(body, CLAIMS) as unknown as Claims;
    closed(canonical(claims.apr), APPROVER);
    const isHash = [claims.tdh, claims.adg, claims.pol].every((hash) => /^[0-9a-f]{64}$/.test(hash));
    demand(claims.v === 1 && isHash && (claims.enc === "jcs" || claims.enc === "raw"), "malformed");
    const life = claims.exp - claims.iat;
    demand(life > 0 && life <= TOKEN_SECONDS_MAX && claims.nbf <= claims.exp, "malformed");
    demand(now < claims.exp + SKEW_SECONDS, "expired");
    demand(now + SKEW_SECONDS >= Math.max(claims.nbf, claims.iat), "not_yet_valid");
    return claims;
  }

  /** Returns the Ed25519 key of this thumbprint (RFC 7638); other keys are passed over. */
  #key(kid: string): KeyObject | undefined {
    for (const jwk of this.jwks.keys) {
      const { kty, crv, x } = jwk;
      if (jwk["kid"] !== kid || kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string") continue;
      if (encoded(createHash("sha256").update(canonical({ crv, kty, x })).digest()) !== kid) continue;
      return attempt(() => createPublicKey({ key: { kty, crv, x }, format: "jwk" }), "unknown_key");
    }
    return undefined;
  }
}

/** Returns the bytes of a JSON value in the form that is hashed (RFC 8785). */
export function canonical(value: unknown): Uint8Array {
  return new TextEncoder().encode(written(value, 0));
}

function written(value: unknown, depth: number): string {
  if (depth > DEPTH_MAX) throw new TypeError("nested too deep");
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return JSON.stringify(value);
  if (typeof value === "string" && !/\p{Surrogate}/u.test(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${Array.from(value, (item) => written(item, depth + 1)).join()}]`;
  // Only plain objects: what a class instance holds is not what its keys say.
  if (typeof value === "object" && [Object.prototype, null].includes(Object.getPrototypeOf(value))) {
    const member = ([key, item]: [string, unknown]) => `${written(key, 0)}:${written(item, depth + 1)}`;
    return `{${Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(member).join()}}`;
  }
  throw new TypeError("not a JSON value, or a number that not every reader keeps");
}

/** Returns where and by whom a call is run, as it is hashed. */
export function contextOf(cwd: string | null, executor: string, attachments: string[]): Uint8Array {
  return canonical({ attachments, cwd, executor });
}

/** Returns the digest of a call, to which decisions and tokens are bound, in hexadecimal. */
export function digestOf(
  tool: string, tdh: string, enc: string, data: Uint8Array, where: Uint8Array, session: string, agent: string,
): string {
  const hash = createHash("sha256").update("countersign/v1/action\0");
  for (const part of [tool, Buffer.from(tdh, "hex"), enc, data, where, session, agent]) {
    const bytes = typeof part === "string" ? new TextEncoder().encode(part) : part;
    const length = new Uint8Array(8);
    new DataView(length.buffer).setBigUint64(0, BigInt(bytes.length));
    hash.update(length).update(bytes);
  }
  return hash.digest("hex");
}

/** Reads an object of exactly these members. Any other spelling, a doubled key included, is refused. */
function closed(bytes: Uint8Array, members: string): Record<string, unknown> {
  return attempt(() => {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    demand(typeof value === "object" && value !== null && !Array.isArray(value), "malformed");
    demand(Buffer.compare(canonical(value), bytes) === 0, "malformed");
    const kind = (it: unknown) => (it === null ? "null" : Number.isInteger(it) ? "integer" : typeof it);
    const found = Object.entries(value).map(([name, it]) => `${name}:${kind(it)}`);
    demand(found.sort().join() === members, "malformed");
    return value as Record<string, unknown>;
  }, "malformed");
}

function kinds(names: Record<string, string[]>): string {
  return Object.entries(names).flatMap(([kind, list]) => list.map((name) => `${name}:${kind}`)).sort().join();
}

function decoded(part: string): Uint8Array {
  demand(/^[A-Za-z0-9_-]*$/.test(part), "malformed");
  const bytes = Buffer.from(part, "base64url");
  demand(encoded(bytes) === part, "malformed");
  return bytes;
}

function encoded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

function attempt<T>(what: () => T, code: string): T {
  try {
    return what();
  } catch {
    throw new ApprovalRequired(code);
  }
}

function demand(isSo: boolean, code: string): asserts isSo {
  if (!isSo) throw new ApprovalRequired(code);
}
