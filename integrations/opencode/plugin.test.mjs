// Fast checks of the OpenCode plugin alone; OpenCode is not needed.
//
//     node --test integrations/opencode/plugin.test.mjs

import assert from "node:assert/strict"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, beforeEach, test } from "node:test"

const folder = mkdtempSync(join(tmpdir(), "countersign-opencode-"))
const program = join(folder, "hook")
const seen = join(folder, "seen.json")
const CALL = { tool: "bash", sessionID: "ses_1", callID: "call_1" }
const PARENTS = { ses_1: undefined, ses_2: "ses_1", ses_3: "ses_2" }

const client = {
  session: { get: async ({ path }) => (path.id in PARENTS ? { data: { parentID: PARENTS[path.id] } } : { error: {} }) },
  tui: { showToast: async () => {} },
}

async function plugin(options = {}) {
  const source = readFileSync(new URL("countersign.js", import.meta.url), "utf8")
    .replace('"@COUNTERSIGN_PROGRAM@"', JSON.stringify(options.program ?? program))
    .replace('"@COUNTERSIGN_HOME@"', JSON.stringify(folder))
    .replace("DECISION_MS_MAX = 3_660_000", `DECISION_MS_MAX = ${options.limit ?? 20_000}`)
  const file = join(folder, `plugin-${Math.random()}.mjs`)
  writeFileSync(file, source)
  const module = await import(file)
  assert.deepEqual(Object.keys(module), ["Countersign"])
  return module.Countersign({ client, directory: "/home/dev/project" })
}

// The hook keeps its input and its arguments, then runs `body`.
function hookDoes(body) {
  writeFileSync(program, `#!/bin/sh\ncat > ${seen}\nprintf '%s ' "$@" > ${seen}.words\n${body}\n`)
  chmodSync(program, 0o755)
}

const before = (hooks, args, call = CALL) => hooks["tool.execute.before"](call, { args })
const sent = () => JSON.parse(readFileSync(seen, "utf8"))

beforeEach(() => rmSync(seen, { force: true }))
after(() => rmSync(folder, { recursive: true }))

test("an allowed call runs as it is", async () => {
  hookDoes(`echo '{"decision":"allow"}'`)
  const args = { command: "ls" }
  await before(await plugin(), args)
  assert.deepEqual(args, { command: "ls" })
  assert.deepEqual(sent(), {
    hook: "tool.execute.before",
    input: CALL,
    output: { args: { command: "ls" } },
    directory: "/home/dev/project",
  })
  assert.equal(readFileSync(`${seen}.words`, "utf8").trim(), `hook opencode --home ${folder}`)
})

test("edited arguments replace the old ones in place", async () => {
  hookDoes(`echo '{"decision":"allow","args":{"command":"ls -l"}}'`)
  const args = { command: "ls", timeout: 5 }
  await before(await plugin(), args)
  assert.deepEqual(args, { command: "ls -l" })
})

test("the model reads the reason of a denied call", async () => {
  hookDoes(`echo '{"decision":"deny","reason":"Not today."}'`)
  await assert.rejects(before(await plugin(), {}), { message: "Not today." })
})

const FAILURES = {
  "exit code 1": "exit 1",
  "an allow with exit code 1": `echo '{"decision":"allow"}'; exit 1`,
  "a killed hook": "kill -9 $$",
  "no answer": "true",
  "text": "echo allow",
  "null": "echo null",
  "an unknown decision": `echo '{"decision":"maybe"}'`,
  "a denial without a reason": `echo '{"decision":"deny"}'`,
  "edited arguments that are a list": `echo '{"decision":"allow","args":["ls"]}'`,
  "an endless answer": "yes",
}
for (const [name, body] of Object.entries(FAILURES)) {
  test(`${name} denies the call`, async () => {
    hookDoes(body)
    await assert.rejects(before(await plugin(), { command: "ls" }), /Countersign could not decide/)
  })
}

test("a missing program denies the call", async () => {
  const hooks = await plugin({ program: join(folder, "nothing") })
  await assert.rejects(before(hooks, {}), /did not start \(ENOENT\)/)
})

test("a hook that hangs denies the call", async () => {
  hookDoes("exec sleep 60")
  await assert.rejects(before(await plugin({ limit: 300 }), {}), /no answer within 0.3 s/)
})

test("an unknown session denies the call", async () => {
  hookDoes(`echo '{"decision":"allow"}'`)
  await assert.rejects(before(await plugin(), {}, { ...CALL, sessionID: "ses_9" }), /session is unknown/)
})

test("a call of a subagent names the root session", async () => {
  hookDoes(`echo '{"decision":"allow"}'`)
  await before(await plugin(), {}, { ...CALL, sessionID: "ses_3" })
  assert.equal(sent().parent, "ses_1")
})

test("only what a person wrote is reported as said", async () => {
  hookDoes("true")
  const hooks = await plugin()
  const text = (text, more) => ({ type: "text", text, ...more })
  const parts = [text("hello"), text("added", { synthetic: true }), { type: "file" }]
  await hooks["chat.message"]({ sessionID: "ses_1" }, { message: {}, parts })
  assert.deepEqual(sent().output.parts, [text("hello")])
  rmSync(seen)
  await hooks["chat.message"]({ sessionID: "ses_2" }, { message: {}, parts })
  assert.equal(existsSync(seen), false)
})

test("a failing report does not fail the call", async () => {
  hookDoes("exit 1")
  const output = { title: "ls", metadata: { exit: 0 }, output: "x".repeat(10_000) }
  await (await plugin())["tool.execute.after"]({ ...CALL, args: {} }, output)
  assert.equal(sent().output.output.length, 4_096)
  assert.equal(sent().output.metadata.exit, 0)
})

test("an interrupted session ends its hook", async () => {
  hookDoes("exec sleep 60")
  const hooks = await plugin()
  const waiting = assert.rejects(before(hooks, {}), /SIGTERM/)
  const end = Date.now() + 10_000
  while (!existsSync(`${seen}`) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20))
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } })
  await waiting
})

test("loading the plugin takes the lock off, and only the lock", async () => {
  const config = { permission: { bash: "ask", "**": "deny" } }
  const hooks = await plugin()
  await hooks.config(config)
  assert.deepEqual(config, { permission: { bash: "ask" } })
  await hooks.config({})
})

test("the hook sees no variable that could choose the gateway", async () => {
  process.env.COUNTERSIGN_URL = "http://127.0.0.1:1"
  hookDoes(`[ -z "$COUNTERSIGN_URL" ] && echo '{"decision":"allow"}'`)
  await before(await plugin(), {})
  delete process.env.COUNTERSIGN_URL
})
