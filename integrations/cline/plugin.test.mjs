// Fast checks of the Cline plugin and hook files alone; Cline is not needed.
//
//     node --test integrations/cline/plugin.test.mjs

import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, beforeEach, test } from "node:test"

const folder = mkdtempSync(join(tmpdir(), "countersign-cline-"))
const program = join(folder, "hook")
const seen = join(folder, "seen.json")
const ARGS = { commands: ["ls"] }

const source = (name) => readFileSync(new URL(name, import.meta.url), "utf8")

const file = join(folder, "plugin.mjs")
writeFileSync(
  file,
  source("countersign.js")
    .replace('"@COUNTERSIGN_PROGRAM@"', JSON.stringify(program))
    .replace('"@COUNTERSIGN_HOME@"', JSON.stringify(folder)),
)
const { default: plugin } = await import(file)
plugin.setup({}, { session: { sessionId: "root_1" } })

function hookDoes(body) {
  writeFileSync(program, `#!/bin/sh\ncat > ${seen}\n${body}\n`)
  chmodSync(program, 0o755)
}

// Runs a hook file as Cline does, with a variable that a project's `.env` could have set.
function runHookFile(name) {
  const text = source(name)
    .replace("'@COUNTERSIGN_PROGRAM@'", `'${program}'`)
    .replace("'@COUNTERSIGN_HOME@'", `'${folder}'`)
  writeFileSync(join(folder, name), text)
  const env = { PATH: process.env.PATH, COUNTERSIGN_URL: "http://127.0.0.1:1" }
  const done = spawnSync("sh", [join(folder, name)], { input: "{}", env, encoding: "utf8" })
  return JSON.parse(done.stdout)
}

// What the plugin answers when the hook file has put `mark` into the input of the call.
const beforeTool = (mark, original = ARGS) =>
  plugin.hooks.beforeTool({ toolCall: { toolCallId: "call_1", input: original }, input: { ...ARGS, ...mark } })

beforeEach(() => rmSync(seen, { force: true }))
after(() => rmSync(folder, { recursive: true }))

test("a call that the hook allowed runs without the mark", async () => {
  assert.deepEqual(await beforeTool({ countersign: { call: "call_1" } }), { input: ARGS })
})

test("the model reads the reason of a denied call", async () => {
  const answer = await beforeTool({ countersign: { call: "call_1", denied: "Not today." } })
  assert.deepEqual(answer, { skip: true, reason: "Not today." })
})

const UNANSWERED = {
  "no mark": {},
  "a mark of another call": { countersign: { call: "call_0" } },
  "a mark that is a text": { countersign: "call_1" },
  "a denial that is no text": { countersign: { call: "call_1", denied: true } },
}
for (const [name, mark] of Object.entries(UNANSWERED)) {
  test(`${name} denies the call`, async () => {
    const answer = await beforeTool(mark)
    assert.equal(answer.skip, true)
    assert.match(answer.reason, /did not answer/)
  })
}

test("a model cannot write the mark itself", async () => {
  const mark = { countersign: { call: "call_1" } }
  const answer = await beforeTool(mark, { ...ARGS, ...mark })
  assert.equal(answer.skip, true)
  assert.match(answer.reason, /reserved/)
})

test("an input that is no object denies the call", async () => {
  const answer = await plugin.hooks.beforeTool({ toolCall: { toolCallId: "call_1", input: "ls" }, input: "ls" })
  assert.equal(answer.skip, true)
})

const message = (text) => ({ role: "user", content: [{ type: "text", text }] })
const run = (...messages) =>
  plugin.hooks.beforeRun({ snapshot: { agentId: "agent_1", conversationId: "conv_1", messages } })

test("the last message of the person is reported", async () => {
  hookDoes("true")
  const typed = (text) => message(`<user_input mode="act">${text}</user_input>`)
  await run(typed("first"), typed("last\nline"))
  const event = JSON.parse(readFileSync(seen, "utf8"))
  assert.equal(event.hookName, "prompt_submit")
  assert.equal(event.sessionContext.rootSessionId, "root_1")
  assert.equal(event.userPromptSubmit.prompt, "last\nline")
})

test("the task of a subagent is not the person's message", async () => {
  hookDoes("true")
  await run(message("clean up"))
  assert.equal(existsSync(seen), false)
})

test("a failing report does not stop the run", async () => {
  rmSync(program, { force: true })
  await run(message("<user_input>hello</user_input>"))
})

test("the hook file passes the hook's answer on", () => {
  hookDoes(`echo '{"overrideInput":{"a":1}}'`)
  assert.deepEqual(runHookFile("PreToolUse"), { overrideInput: { a: 1 } })
})

const FAILURES = {
  "exit code 1": `echo '{}'; exit 1`,
  "a killed hook": "kill -9 $$",
  "no answer": "true",
  "a project that names a gateway": '[ -z "$COUNTERSIGN_URL" ] || echo {}',
}
for (const [name, body] of Object.entries(FAILURES)) {
  test(`the hook file cancels on ${name}`, () => {
    hookDoes(body)
    assert.equal(runHookFile("PreToolUse").cancel, true)
  })
}

test("the hook file cancels when the program is missing", () => {
  rmSync(program, { force: true })
  assert.equal(runHookFile("PreToolUse").cancel, true)
})

test("the report after a call says nothing to Cline", () => {
  hookDoes("echo noise; exit 1")
  assert.deepEqual(runHookFile("PostToolUse"), {})
})
