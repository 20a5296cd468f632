// A real gateway in its own home, and a signed-in page.

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { test as base, expect, type Page } from "@playwright/test";

import { Model, type Reply } from "./model";

const BINARY = process.env["COUNTERSIGN_BIN"] ?? join(import.meta.dirname, "../../target/debug/countersign");
/** `cargo build -p countersign-gate --example past` makes it. */
export const PAST = join(dirname(BINARY), "examples/past");

export class Gateway {
  url = "";
  #login = "";
  #child: ChildProcess | null = null;
  #agents = new Map<string, string>();

  constructor(readonly home: string) {}

  /** Starts it at `port`; 0 takes any free one. */
  async start(port = 0): Promise<void> {
    const words = ["serve", "--json", "--listen", `127.0.0.1:${port}`, "--home", this.home];
    if (process.env["COUNTERSIGN_WEB_DIR"]) words.push("--web-dir", process.env["COUNTERSIGN_WEB_DIR"]);
    const child = spawn(BINARY, words, { stdio: ["ignore", "pipe", "pipe"], env: { HOME: this.home } });
    this.#child = child;
    let log = "";
    child.stderr.on("data", (text: Buffer) => (log = (log + text.toString()).slice(-2000)));
    const first = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once("line", resolve);
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`the gateway ended with ${code}: ${log.trim()}`)));
    });
    const said = JSON.parse(first) as { url: string; login_url: string };
    this.url = said.url;
    this.#login = said.login_url;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await gone;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start(Number(new URL(this.url).port));
  }

  get #admin(): string {
    return readFileSync(join(this.home, "cli.key"), "utf8").trim();
  }

  async request(method: string, path: string, key: string, body?: unknown): Promise<any> {
    const headers: Record<string, string> = { authorization: `Bearer ${key}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    const response = await fetch(this.url + path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? null : JSON.parse(text);
  }

  /** Asks as the admin of the command line. */
  asAdmin(method: string, path: string, body?: unknown): Promise<any> {
    return this.request(method, path, this.#admin, body);
  }

  async key(name: string, role: string): Promise<string> {
    return (await this.asAdmin("POST", "/v1/keys", { name, role })).key;
  }

  async #agent(name: string): Promise<string> {
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const made = await this.key(name, "agent");
    this.#agents.set(name, made);
    return made;
  }

  /** Submits a call as an agent and returns it. */
  async call(tool: string, args: unknown, more: Record<string, unknown> = {}, agent = "coder"): Promise<any> {
    return this.request("POST", "/v1/calls", await this.#agent(agent), { tool, args, session_id: "s1", ...more });
  }

  /** Submits a command that waits and returns the id of its approval. */
  async ask(command: string, more: Record<string, unknown> = {}): Promise<string> {
    const call = await this.call("terminal", { command }, more);
    expect(call.approval_id, JSON.stringify(call)).toBeTruthy();
    return call.approval_id;
  }

  async question(text: string, choices: string[], session = "s1"): Promise<any> {
    return this.request("POST", "/v1/clarifications", await this.#agent("coder"), { question: text, choices, session_id: session });
  }

  async approval(id: string): Promise<any> {
    return this.asAdmin("GET", `/v1/approvals/${id}`);
  }

  /** What waits for an answer. */
  async waiting(): Promise<any[]> {
    return (await this.asAdmin("GET", "/v1/approvals?status=waiting")).approvals;
  }

  async answer(id: string, choice: string, more: Record<string, unknown> = {}): Promise<any> {
    return this.asAdmin("POST", `/v1/approvals/${id}/resolve`, { choice, ...more });
  }

  /** Returns a link that signs a browser in, once. */
  async link(): Promise<string> {
    const { code } = await this.asAdmin("POST", "/v1/login/code", {});
    return `${this.url}/#code=${code}`;
  }

  /** The link that was printed when it started. */
  get firstLink(): string {
    return this.#login;
  }
}

/** Signs `page` in and waits until it is live. An answered card stays open, so that it can be looked at. */
export async function signIn(page: Page, gateway: Gateway): Promise<void> {
  await page.addInitScript(() => {
    if (localStorage.getItem("countersign.advances") === null) localStorage.setItem("countersign.advances", "false");
  });
  await page.goto(await gateway.link());
  await expect(page.getByRole("link", { name: "Countersign" }).or(page.getByRole("navigation", { name: "Views, short" })).first()).toBeVisible();
}

/** Waits until the card in view takes answers. */
export async function armed(page: Page): Promise<void> {
  await expect(page.locator('.answer[data-armed="true"]').first()).toBeVisible();
  // The input before must be 300 ms old, and the test has just pressed something.
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 320)));
}

/** Allows the card in view once; a critical one by Enter after the click. */
export async function allowOnce(page: Page): Promise<void> {
  await armed(page);
  await page.getByRole("button", { name: "Allow once" }).click();
  const asksAgain = page.getByText("Critical: press Enter");
  await expect(asksAgain.or(page.locator(".outcome-words")).first()).toBeVisible();
  if (!(await asksAgain.isVisible())) return;
  await armed(page);
  await page.keyboard.press("Enter");
}

interface Scene {
  /** Calls of the last weeks that the home has seen already. */
  past: number;
  /** Lines of config.yaml. */
  config: string;
  /** What the built-in agent's model says; none: there is no model. */
  script: Reply[];
  gateway: Gateway;
}

export const test = base.extend<Scene>({
  config: ["", { option: true }],
  script: [[], { option: true }],
  past: [0, { option: true }],
  gateway: async ({ config, script, past }, use) => {
    const home = mkdtempSync(join(tmpdir(), "countersign-page-"));
    const model = script.length === 0 ? null : await Model.start(script);
    writeFileSync(join(home, "config.yaml"), config + (model?.config ?? ""));
    if (past > 0) execFileSync(PAST, [home, String(past), "30"], { stdio: "ignore" });
    const gateway = new Gateway(home);
    await gateway.start();
    await use(gateway);
    await gateway.stop();
    model?.stop();
    rmSync(home, { recursive: true, force: true });
  },
});

export { expect };
