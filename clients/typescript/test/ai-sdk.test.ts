/** The adapter of the Vercel AI SDK in real runs, with its mock model and a real gateway. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { randomUUID } from "node:crypto";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

import { Confirmed } from "../src/adapters/ai-sdk.js";
import { Client } from "../src/index.js";
import { Gateway } from "./gateway.js";
import { scripted } from "./model.js";

const ASKED = { to: "ana@example.org", text: "the draft" };
const EDITED = { to: "ana@example.org", text: "the final text" };
const AWAY = "http://127.0.0.1:9";

let gateway: Gateway;
before(async () => { gateway = await Gateway.start(); });
after(async () => { await gateway.end(); });

/** Runs an agent whose model calls `send_email` once; returns what ran and what the model read. */
async function run(url: string, session: string, asksFirst: boolean, signal?: AbortSignal) {
  const ran: unknown[] = [];
  const tools = {
    send_email: tool({
      description: "Sends an e-mail.",
      inputSchema: z.object({ to: z.string(), text: z.string() }),
      execute: async (input) => {
        ran.push(input);
        return `sent to ${input.to}`;
      },
    }),
  };
  const key = gateway.newKey("agent", randomUUID());
  const confirmed = new Confirmed(new Client({ url, key, sessionId: session, reachSeconds: 0.5 }));
  const model = scripted(ASKED);
  await generateText({
    model,
    tools: confirmed.tools(tools),
    ...(asksFirst && { toolApproval: confirmed.approval }),
    ...(signal && { abortSignal: signal }),
    prompt: "write to Ana",
    stopWhen: stepCountIs(3),
  });
  return { ran, read: JSON.stringify(model.doGenerateCalls.at(-1)?.prompt) };
}

for (const asksFirst of [true, false]) {
  const how = asksFirst ? "with toolApproval" : "in the tool itself";

  test(`approved runs once, ${how}`, async () => {
    const session = randomUUID();
    const [seen] = await Promise.all([run(gateway.url, session, asksFirst), gateway.answer(session, "once")]);
    assert.deepEqual(seen.ran, [ASKED]);
    assert.match(seen.read, /sent to ana@example.org/);
    const [call] = await gateway.calls(session);
    assert.equal((await gateway.trace(call!["call_id"]))["outcome"]["failed"], false);
  });

  test(`denied never runs, and the model reads why, ${how}`, async () => {
    const session = randomUUID();
    const answer = gateway.answer(session, "deny", { note: "ask her first" });
    const [seen] = await Promise.all([run(gateway.url, session, asksFirst), answer]);
    assert.deepEqual(seen.ran, []);
    assert.match(seen.read, /ana denied this call.*ask her first/);
  });

  test(`edited runs as edited, ${how}`, async () => {
    const session = randomUUID();
    const [seen] = await Promise.all([run(gateway.url, session, asksFirst), gateway.answer(session, "once", { args: EDITED })]);
    assert.deepEqual(seen.ran, [EDITED]);
  });

  test(`a gateway that is away: never runs, ${how}`, async () => {
    const seen = await run(AWAY, randomUUID(), asksFirst);
    assert.deepEqual(seen.ran, []);
    assert.match(seen.read, /could not be reached/);
  });
}

test("a run that is aborted withdraws its question", async () => {
  const session = randomUUID();
  const stop = new AbortController();
  const running = run(gateway.url, session, false, stop.signal);
  const question = await gateway.nextQuestion(session);
  stop.abort();
  await assert.rejects(running);
  const approval = await gateway.ask("GET", `/v1/approvals/${question["approval_id"]}`);
  assert.equal(approval["status"], "withdrawn");
});

test("an approval is not used for another tool with the same id", async () => {
  const session = randomUUID();
  const ran: string[] = [];
  const one = (name: string) => ({ execute: async () => { ran.push(name); } });
  const confirmed = new Confirmed(new Client({ url: gateway.url, key: gateway.newKey("agent", randomUUID()), sessionId: session }));
  const { send_money: pay } = confirmed.tools({ send_email: one("send_email"), send_money: one("send_money") });
  const input = { to: "ana@example.org" };
  const approving = confirmed.approval({ toolCall: { toolName: "send_email", toolCallId: "same", input } });
  await gateway.answer(session, "once");
  assert.deepEqual(await approving, { type: "approved" });
  const execute = pay.execute as unknown as (input: object, options: object) => Promise<void>;
  await Promise.all([
    assert.rejects(execute(input, { toolCallId: "same" }), /ana denied/),
    gateway.answer(session, "deny"),
  ]);
  assert.deepEqual(ran, []);
});
