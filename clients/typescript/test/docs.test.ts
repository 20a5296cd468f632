/** Every TypeScript example of docs/clients.md runs against a real gateway, with a mock model where it needs one. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { Gateway } from "./gateway.js";
import { scripted } from "./model.js";

const TEXT = readFileSync(new URL("../../../../docs/clients.md", import.meta.url), "utf8");
const EXAMPLES = [...TEXT.matchAll(/^## ([^\n]+)\n((?:(?!^## )[^])*)/gm)]
  .map(([, name, section]) => [name!, /^```js\n([^]*?)^```/m.exec(section!)?.[1]] as const)
  .filter((it): it is readonly [string, string] => it[1] !== undefined);
const FOLDER = new URL("../docs/", import.meta.url);

let gateway: Gateway;
before(async () => { gateway = await Gateway.start(); });
after(async () => { await gateway.end(); });

test("there is an example for each framework", () => {
  assert.deepEqual(EXAMPLES.map(([name]) => name), ["Plain TypeScript", "Vercel AI SDK"]);
});

for (const [name, code] of EXAMPLES) {
  for (const choice of ["once", "deny"]) {
    test(`the example runs: ${name}, ${choice}`, async () => {
      process.env["COUNTERSIGN_URL"] = gateway.url;
      process.env["COUNTERSIGN_KEY"] = gateway.newKey("agent", randomUUID());
      (globalThis as { model?: unknown }).model = scripted({ to: "ana@example.org", text: "The release is ready." });
      mkdirSync(FOLDER, { recursive: true });
      const file = new URL(`${name.replaceAll(" ", "-")}-${choice}.mjs`, FOLDER);
      writeFileSync(file, `const model = globalThis.model;\n${code}\nexport { result };\n`);
      const [{ result }] = await Promise.all([
        import(file.href) as Promise<{ result: unknown }>,
        gateway.answer(undefined, choice),
      ]);
      const { calls } = await gateway.ask("GET", "/v1/calls?limit=1");
      const { outcome } = await gateway.trace(calls[0]["call_id"]);
      assert.equal(calls[0]["status"], choice === "once" ? "approved" : "denied");
      assert.equal(outcome?.failed, choice === "once" ? false : undefined);
      if (typeof result === "string") assert.match(result, choice === "once" ? /^sent to ana/ : /^ana denied/);
    });
  }
}
