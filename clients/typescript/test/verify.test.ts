/** Holds the verifier against the vectors that every verifier of the project agrees on. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ApprovalRequired, canonical, MESSAGE, Verifier, type Call, type Jwk } from "../src/verify.js";

interface Row {
  name: string;
  token: string;
  jwks: { keys: Jwk[] };
  now: number;
  expected: Call & { audience: string; arguments_text?: string; arguments_raw?: string };
  after?: string;
  result: string;
}

const file = new URL("../../../../corpus/tokens.jsonl", import.meta.url);
const lines = readFileSync(file, "utf8").trimEnd().split("\n");
const rows = new Map(lines.map((line) => JSON.parse(line) as Row).map((row) => [row.name, row]));

function callOf(row: Row): Call {
  const { arguments_text: text, arguments_raw: raw, audience: _, ...call } = row.expected;
  if (text !== undefined) call.arguments = JSON.parse(text);
  if (raw !== undefined) call.argumentsRaw = new Uint8Array(Buffer.from(raw, "base64"));
  return call;
}

async function present(verifier: Verifier, token: unknown, call: Call): Promise<string> {
  try {
    await verifier.verify(token, call);
    return "ok";
  } catch (refusal) {
    assert.ok(refusal instanceof ApprovalRequired, String(refusal));
    assert.equal(refusal.message, MESSAGE);
    return refusal.code;
  }
}

test("every vector ends as it should", async () => {
  assert.ok(rows.size >= 200);
  const wrong: string[] = [];
  for (const row of rows.values()) {
    let now = 0;
    const verifier = new Verifier(row.jwks, row.expected.audience, () => now);
    const before = row.after === undefined ? [] : [rows.get(row.after)!];
    for (const step of [...before, row]) {
      now = step.now;
      const result = await present(verifier, step.token, callOf(step));
      if (result !== step.result) wrong.push(`${row.name}: ${result}, not ${step.result}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("the message is the one tools promise", () => {
  assert.equal(MESSAGE, "This action requires user approval. Ask the user to confirm.");
});

test("what is no text is no token", async () => {
  const row = rows.get("honest")!;
  const verifier = new Verifier(row.jwks, row.expected.audience, () => row.now);
  for (const token of [undefined, null, 1, [row.token], { token: row.token }, new String(row.token)]) {
    assert.equal(await present(verifier, token, callOf(row)), "malformed");
  }
});

test("of many at once one is let through", async () => {
  const row = rows.get("honest")!;
  const verifier = new Verifier(row.jwks, row.expected.audience, () => row.now);
  const results = await Promise.all(Array.from({ length: 16 }, () => present(verifier, row.token, callOf(row))));
  assert.deepEqual(results.sort(), ["ok", ...Array(15).fill("used")]);
});

test("what has no canonical form is refused", () => {
  const holes: unknown[] = [];
  holes[1] = 1;
  class Named {}
  for (const value of [
    undefined, 2 ** 53, -(2 ** 53), NaN, Infinity, 1n, Symbol(), () => 1, new Map([["a", 1]]), new Date(0), new Named(),
    "\ud800", { "\udc00": 1 }, { a: undefined }, holes,
  ]) {
    assert.throws(() => canonical(value), TypeError, String(value));
  }
});
