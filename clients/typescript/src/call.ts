/**
 * A call: what is asked, how it stands, and how a person answered.
 *
 * Separate because it holds the types that callers see; it neither sends nor waits.
 */

import { createHash } from "node:crypto";

import { NotRun } from "./errors.js";
import { canonical, contextOf, digestOf } from "./verify.js";

/** Longest arguments, in bytes; the gateway takes no longer ones. */
export const ARGUMENTS_BYTES_MAX = 256 * 1024;
const DEPTH_MAX = 64;

export type Status = "waiting" | "allowed" | "approved" | "denied" | "refused" | "expired" | "withdrawn";

/** A value as JSON writes it. Integers beyond 2^53-1 are `bigint`. */
export type Value = null | boolean | number | bigint | string | Value[] | { [name: string]: Value };
export type Arguments = { [name: string]: Value };

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
export class Asked {
  readonly args: Arguments;
  readonly body: Buffer;
  readonly editable: boolean;
  readonly #data: Uint8Array;
  readonly #encoding: "jcs" | "raw";
  readonly #tdh: string;
  readonly #where: Uint8Array;

  constructor(readonly tool: string, args: object, readonly sessionId: string, options: Options) {
    const copied = snapshot(args);
    if (copied === null || typeof copied !== "object" || Array.isArray(copied)) {
      throw new TypeError("the arguments must be an object");
    }
    this.args = copied;
    this.editable = options.editable ?? true;
    try {
      this.#data = canonical(this.args);
      this.#encoding = "jcs";
    } catch {
      // An integer beyond 2^53-1 has no canonical form; as bytes it is kept exactly.
      this.#data = new TextEncoder().encode(written(this.args));
      this.#encoding = "raw";
    }
    if (this.#data.length > ARGUMENTS_BYTES_MAX) throw tooMuch(`longer than ${ARGUMENTS_BYTES_MAX} bytes`);
    const definition = options.toolDefinition === undefined ? undefined : snapshot(options.toolDefinition);
    const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
    this.#tdh = definition === undefined ? "0".repeat(64) : hash(canonical(definition));
    const attachments = (options.attachments ?? []).map((it) => it.replace(/^sha256:/, ""));
    this.#where = contextOf(options.cwd ?? null, options.executor ?? `tool:${tool}`, attachments);
    const body = {
      tool,
      session_id: sessionId,
      cwd: options.cwd,
      workspace: options.workspace,
      agent: options.agent,
      executor: options.executor,
      explanation: options.explanation,
      replying_to: options.replyingTo,
      annotations: options.annotations,
      tool_definition: definition,
      attachments: attachments.length > 0 ? attachments.map((it) => `sha256:${it}`) : undefined,
      run_id: options.runId,
      takes_changes: this.editable ? undefined : false,
      args_raw: this.#encoding === "raw" ? Buffer.from(this.#data).toString("base64") : undefined,
    };
    const text = JSON.stringify(body);
    // The bytes that are hashed are the bytes that are sent.
    const sent = [text.slice(0, -1), ',"args":', this.#data, "}"].map((it) => Buffer.from(it as string));
    this.body = this.#encoding === "raw" ? Buffer.from(text) : Buffer.concat(sent);
  }

  /** Returns the digest that a decision about this call, or about it as edited, must have. */
  digest(keyId: string, edited: Arguments | null): string {
    const [data, encoding] = edited === null ? [this.#data, this.#encoding] : [canonical(edited), "jcs"];
    return `sha256:${digestOf(this.tool, this.#tdh, encoding, data, this.#where, this.sessionId, keyId)}`;
  }
}

/** Returns a copy of a JSON value that shares nothing with it; throws a TypeError for anything else. */
export function snapshot(value: unknown, depth = 0): Value {
  if (depth > DEPTH_MAX) throw tooMuch("nested too deep");
  if (value === null || typeof value === "boolean" || typeof value === "string" || typeof value === "bigint") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return Array.from(value, (item) => snapshot(item, depth + 1));
  // Only plain objects: what a class instance holds is not what its keys say.
  if (typeof value === "object" && [Object.prototype, null].includes(Object.getPrototypeOf(value))) {
    const members = Object.entries(value).filter(([, item]) => item !== undefined);
    return Object.fromEntries(members.map(([name, item]) => [name, snapshot(item, depth + 1)]));
  }
  throw new TypeError(`not a JSON value: ${typeof value}`);
}

function written(value: Value): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(written).join()}]`;
  if (value === null || typeof value !== "object") {
    if (typeof value === "string" && /\p{Surrogate}/u.test(value)) throw tooMuch("a text is not Unicode");
    return JSON.stringify(value);
  }
  return `{${Object.entries(value).map(([name, item]) => `${written(name)}:${written(item)}`).join()}}`;
}

function tooMuch(why: string): NotRun {
  return new NotRun(`The arguments of this action cannot be shown to a person, so it was not carried out: ${why}.`);
}
