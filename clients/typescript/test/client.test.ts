/** `Client` against a real gateway. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { inspect } from "node:util";

import {
  AlreadyUsed, Client, ConfigError, Denied, GatewayAway, NotRun, Refused, Rejected, Unfit, Withdrawn,
  type ClientOptions, type GuardOptions,
} from "../src/index.js";
import { ApprovalRequired, Verifier } from "../src/verify.js";
import { Gateway, until } from "./gateway.js";

type Mail = { to: string; text?: string };

let gateway: Gateway;
before(async () => { gateway = await Gateway.start(); });
after(async () => { await gateway.end(); });

function clientOf(sessionId: string, options: ClientOptions = {}): Client {
  return new Client({ url: gateway.url, key: gateway.newKey("agent", randomUUID()), sessionId, reachSeconds: 0.5, ...options });
}

function mailer(client: Client, options: GuardOptions<Mail> = {}) {
  const ran: unknown[] = [];
  const send = client.guard("send_email", async (args: Mail) => { ran.push(args); return "sent"; }, options);
  return { ran, send };
}

test("an approved call runs once, and its outcome is reported", async () => {
  const session = randomUUID();
  const { ran, send } = mailer(clientOf(session));
  const [result] = await Promise.all([send({ to: "ana@example.org" }), gateway.answer(session, "once")]);
  assert.equal(result, "sent");
  assert.deepEqual(ran, [{ to: "ana@example.org" }]);
  const [call] = await gateway.calls(session);
  assert.equal((await gateway.trace(call!["call_id"]))["outcome"]["failed"], false);
});

test("a denied call does not run", async () => {
  const session = randomUUID();
  const { ran, send } = mailer(clientOf(session));
  const denied = assert.rejects(send({ to: "ana@example.org" }), (error: unknown) => {
    assert.ok(error instanceof Denied);
    assert.equal(error.call?.decision?.note, "not today");
    return /ana denied this call.*not today/.test(error.message);
  });
  await Promise.all([denied, gateway.answer(session, "deny", { note: "not today" })]);
  assert.deepEqual(ran, []);
});

test("a refused call does not run", async () => {
  const remove = clientOf(randomUUID()).guard("terminal", () => assert.fail("it ran"));
  await assert.rejects(remove({ command: "rm -rf /" }), Refused);
});

test("edited arguments are those that run, if the function takes them", async () => {
  const edited = { to: "bo@example.org", text: "edited" };
  for (const takes of [true, false]) {
    const session = randomUUID();
    const check = (args: unknown) => { (args as Mail).to = "changed by the check"; if (!takes) throw new Error("no"); };
    const { ran, send } = mailer(clientOf(session), { check });
    const ended = takes ? send({ to: "ana@example.org" }) : assert.rejects(send({ to: "ana@example.org" }), Unfit);
    await Promise.all([ended, gateway.answer(session, "once", { args: edited })]);
    assert.deepEqual(ran, takes ? [edited] : []);
  }
});

test("a call that takes no changes is not offered to be edited", async () => {
  const session = randomUUID();
  const { send } = mailer(clientOf(session), { editable: false });
  const [, approval] = await Promise.all([send({ to: "ana@example.org" }), gateway.answer(session, "once")]);
  assert.equal(approval["editable"], false);
});

test("changing the arguments while a person decides has no effect", async () => {
  const session = randomUUID();
  const { ran, send } = mailer(clientOf(session));
  const mail = { to: "ana@example.org" };
  const sending = send(mail);
  await gateway.nextQuestion(session);
  mail.to = "eve@example.org";
  await gateway.answer(session, "once");
  await sending;
  assert.deepEqual(ran, [{ to: "ana@example.org" }]);
});

test("large integers arrive as they are", async () => {
  const session = randomUUID();
  const ran: unknown[] = [];
  const send = clientOf(session).guard("send_email", (args: object) => { ran.push(args); });
  const args = { to: "ana@example.org", chat: 2n ** 63n + 1n, big: 1e300 };
  await Promise.all([send(args), gateway.answer(session, "once")]);
  assert.deepEqual(ran, [args]);
});

test("what is no JSON is an error, and nothing is asked", async () => {
  const session = randomUUID();
  const { send } = mailer(clientOf(session));
  class Text { text = "x"; }
  for (const value of [new Date(0), () => 1, Symbol(), NaN, new Map(), new Text(), [undefined]]) {
    await assert.rejects(send({ to: value as unknown as string }), TypeError);
  }
  await assert.rejects(send({ to: "a", text: "x".repeat(256 * 1024) }), NotRun);
  await assert.rejects(send({ to: "a", text: "\ud800" }), NotRun);
  assert.deepEqual(await gateway.calls(session), []);
});

test("a key called __proto__ is an argument like any other", async () => {
  const session = randomUUID();
  const ran: object[] = [];
  const look = clientOf(session).guard("terminal", (args: object) => { ran.push(args); });
  await look(JSON.parse('{"command":"ls","__proto__":{"admin":true}}') as object);
  assert.equal(JSON.stringify(ran), '[{"command":"ls","__proto__":{"admin":true}}]');
  assert.equal((ran[0] as { admin?: unknown }).admin, undefined);
});

test("the token is passed, and is good for this call alone", async () => {
  const session = randomUUID();
  const client = clientOf(session);
  let token: string | null = null;
  const send = client.guard("send_email", (_: Mail, context) => {
    token = context.token;
    assert.ok(!inspect(context.call).includes(context.token!) && !JSON.stringify(context.call).includes(context.token!));
  });
  await Promise.all([send({ to: "ana@example.org" }), gateway.answer(session, "once")]);
  const verifier = new Verifier(await client.jwks(), "tool:send_email");
  const call = { tool: "send_email", session };
  await assert.rejects(verifier.verify(token, { ...call, arguments: { to: "eve@example.org" } }), ApprovalRequired);
  await verifier.verify(token, { ...call, arguments: { to: "ana@example.org" } });
});

test("one approval of two equal calls runs one", async () => {
  const session = randomUUID();
  const { ran, send } = mailer(clientOf(session));
  const sending = Promise.allSettled([send({ to: "ana@example.org" }), send({ to: "ana@example.org" })]);
  await until(async () => (await gateway.calls(session)).length === 2, "two calls");
  await gateway.answer(session, "once");
  const ends = (await sending).map((it) => (it.status === "fulfilled" ? it.value : it.reason instanceof AlreadyUsed && "used"));
  assert.deepEqual(ends.sort(), ["sent", "used"]);
  assert.equal(ran.length, 1);
});

test("a failure is reported and passed on", async () => {
  const session = randomUUID();
  const run = clientOf(session).guard("terminal", () => { throw new RangeError("secret"); });
  await assert.rejects(run({ command: "ls" }), RangeError);
  const [call] = await gateway.calls(session);
  const { outcome } = await gateway.trace(call!["call_id"]);
  assert.deepEqual([outcome.failed, outcome.summary], [true, "RangeError"]);
});

test("the single steps", async () => {
  const session = randomUUID();
  const client = clientOf(session);
  let call = await client.submit("send_email", { to: "ana@example.org" });
  assert.equal(call.status, "waiting");
  await gateway.answer(session, "once");
  call = await client.wait(call);
  await client.consume(call);
  await assert.rejects(client.consume(call), AlreadyUsed);
  await client.outcome(call, { failed: false, summary: "sent" });
  const other = await client.submit("send_email", { to: "bo@example.org" });
  await client.withdraw(other, "not needed");
  assert.equal((await client.wait(other)).status, "withdrawn");
  await assert.rejects(client.consume(await client.wait(other)), Withdrawn);
  client.close();
});

test("an aborted signal withdraws the question", async () => {
  const session = randomUUID();
  const { ran, send } = mailer(clientOf(session));
  const stop = new AbortController();
  const sending = send({ to: "ana@example.org" }, { signal: stop.signal });
  const question = await gateway.nextQuestion(session);
  stop.abort(new Error("stopped"));
  await assert.rejects(sending, /stopped/);
  assert.equal((await gateway.ask("GET", `/v1/approvals/${question["approval_id"]}`))["status"], "withdrawn");
  assert.deepEqual(ran, []);
  await assert.rejects(send({ to: "bo@example.org" }, { signal: stop.signal }), /stopped/);
});

for (const how of ["SIGTERM", "SIGKILL"] as const) {
  test(`a gateway that restarts (${how}) while a question waits loses nothing`, async () => {
    const own = await Gateway.start();
    const session = randomUUID();
    const { ran, send } = mailer(new Client({ url: own.url, key: own.newKey("agent", "x"), sessionId: session }));
    const sending = send({ to: "ana@example.org" });
    await own.nextQuestion(session);
    await own.stop(how);
    await own.start();
    await own.answer(session, "once");
    assert.equal(await sending, "sent");
    assert.equal(ran.length, 1);
    assert.equal((await own.calls(session)).length, 1);
    await own.end();
  });
}

test("a gateway that is away runs nothing", async () => {
  const { ran, send } = mailer(clientOf(randomUUID(), { url: "http://127.0.0.1:9", reachSeconds: 0.3 }));
  await assert.rejects(send({ to: "ana@example.org" }), GatewayAway);
  assert.deepEqual(ran, []);
});

test("a key that may not ask runs nothing", async () => {
  const client = clientOf(randomUUID(), { key: gateway.newKey("approver", "bo") });
  await assert.rejects(mailer(client).send({ to: "ana@example.org" }), (error: unknown) => error instanceof Rejected && error.status === 403);
});

test("the socket of a home and the key of the environment are found, and nothing is guessed", async () => {
  const empty = mkdtempSync(join(tmpdir(), "countersign-empty-"));
  const environment = { ...process.env };
  try {
    delete process.env["COUNTERSIGN_URL"];
    delete process.env["COUNTERSIGN_KEY"];
    process.env["COUNTERSIGN_HOME"] = empty;
    assert.throws(() => new Client({ key: "cs_agent_x" }), /no gateway is named/);
    assert.throws(() => new Client({ url: gateway.url }), /no key is given/);
    process.env["COUNTERSIGN_HOME"] = gateway.home;
    process.env["COUNTERSIGN_KEY"] = gateway.newKey("agent", randomUUID());
    assert.equal((await new Client().confirm("terminal", { command: "ls" })).status, "allowed");
    writeFileSync(join(empty, "key"), `${process.env["COUNTERSIGN_KEY"]}\n`);
    const options = { url: gateway.url, keyFile: join(empty, "key") };
    assert.equal((await new Client(options).confirm("terminal", { command: "ls" })).status, "allowed");
    assert.throws(() => new Client({ ...options, key: "x" }), ConfigError);
  } finally {
    process.env = environment;
    rmSync(empty, { recursive: true });
  }
});
