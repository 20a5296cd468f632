/**
 * A real gateway for the tests, on a free port of this machine, and a person who answers in it.
 *
 * Separate because the tests of the client, of every adapter and of the documentation need the same one.
 */

import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
export const BINARY = process.env["COUNTERSIGN_BIN"] ?? join(ROOT, "target/debug/countersign");
const SECONDS_MAX = 10;

type Json = Record<string, any>;

export class Gateway {
  url = "";
  #process: ChildProcess | undefined;
  #person = "";

  private constructor(readonly home: string) {}

  static async start(): Promise<Gateway> {
    const it = new Gateway(mkdtempSync(join(tmpdir(), "countersign-ts-")));
    await it.start();
    it.#person = it.newKey("approver", "ana");
    return it;
  }

  /** Starts it again, at the same port. */
  async start(): Promise<void> {
    const listen = this.url.replace("http://", "") || "127.0.0.1:0";
    const environment = { PATH: process.env["PATH"] ?? "", HOME: this.home };
    const command = ["serve", "--home", this.home, "--listen", listen];
    this.#process = spawn(BINARY, command, { env: environment, stdio: ["ignore", "pipe", "ignore"] });
    const [line] = (await once(createInterface(this.#process.stdout!), "line")) as [string];
    assert.match(line, /^countersign listening on /);
    this.url = line.replace("countersign listening on ", "").trim();
  }

  async stop(how: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const ended = once(this.#process!, "exit");
    this.#process!.kill(how);
    await ended;
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.home, { recursive: true });
  }

  newKey(role: string, name: string): string {
    return execFileSync(BINARY, ["keys", "create", "--home", this.home, "--role", role, "--name", name], { encoding: "utf8" }).trim();
  }

  async ask(method: string, path: string, body?: object): Promise<Json> {
    const headers = { authorization: `Bearer ${this.#person}`, "content-type": "application/json" };
    const response = await fetch(this.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return JSON.parse(text) as Json;
  }

  async waiting(session: string | undefined): Promise<Json[]> {
    const { approvals } = await this.ask("GET", "/v1/approvals?status=waiting&limit=200");
    return (approvals as Json[]).filter((it) => session === undefined || it["session_id"] === session);
  }

  async nextQuestion(session: string | undefined): Promise<Json> {
    return until(async () => (await this.waiting(session))[0], `a question of ${session}`);
  }

  /** Answers the next question of a session, or of any. */
  async answer(session: string | undefined, choice: string, more: object = {}): Promise<Json> {
    const question = await this.nextQuestion(session);
    return this.ask("POST", `/v1/approvals/${question["approval_id"]}/resolve`, { choice, ...more });
  }

  async calls(session: string): Promise<Json[]> {
    return (await this.ask("GET", `/v1/calls?session_id=${session}`))["calls"] as Json[];
  }

  async trace(callId: string): Promise<Json> {
    return this.ask("GET", `/v1/traces/${callId}`);
  }
}

export async function until<T>(find: () => Promise<T | undefined>, what: string): Promise<T> {
  const deadline = performance.now() + SECONDS_MAX * 1000;
  for (;;) {
    const found = await find();
    if (found) return found;
    assert.ok(performance.now() < deadline, `not in time: ${what}`);
    await pause(20);
  }
}
