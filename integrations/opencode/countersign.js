// Countersign for OpenCode: asks `countersign hook opencode` before every tool call.
//
// `countersign init opencode` writes this file to OpenCode's plugin folder and fills in the two
// placeholders. OpenCode takes a thrown error as "denied" and shows its text to the model, so
// everything but an explicit allow throws. The module must have one export: OpenCode drops a
// plugin with any export that is not a function, and goes on without it.

import { spawn } from "node:child_process"

const PROGRAM = "@COUNTERSIGN_PROGRAM@"
const HOME = "@COUNTERSIGN_HOME@"

// The hook has a shorter deadline of its own; these limits catch a hook that hangs.
const DECISION_MS_MAX = 3_660_000
const REPORT_MS_MAX = 5_000
const NOTICE_AFTER_MS = 1_500
const ANSWER_BYTES_MAX = 4 * 1024 * 1024
const RESULT_CHARS_MAX = 4_096

// `init` adds this key to `permission` in opencode.json. It denies every tool, and this plugin
// removes it when it loads: without a working plugin the agent has no tools.
const LOCK = "**"

// A fixed list, so that no variable of a project can point the hook at another gateway.
const PASSED_ENVIRONMENT = ["HOME", "USER", "PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_RUNTIME_DIR"]

const NOTICE = "A tool call waits for your answer: run `countersign` in another terminal."

export const Countersign = async ({ client, directory }) => {
  const roots = new Map()
  const running = new Map()

  // Subagents run in child sessions; what a person said belongs to the root of the tree.
  async function rootOf(sessionID) {
    if (!roots.has(sessionID)) {
      const found = await client.session.get({ path: { id: sessionID } })
      if (!found.data) throw new Error("the session is unknown")
      roots.set(sessionID, found.data.parentID ? await rootOf(found.data.parentID) : sessionID)
    }
    return roots.get(sessionID)
  }

  async function ask(hook, input, output, limit) {
    const root = await rootOf(input.sessionID)
    const parent = root === input.sessionID ? undefined : root
    const event = JSON.stringify({ hook, input, output, directory, parent })
    const child = spawn(PROGRAM, ["hook", "opencode", "--home", HOME], {
      env: passedEnvironment(),
      stdio: ["pipe", "pipe", "ignore"],
    })
    const siblings = running.get(input.sessionID) ?? new Set()
    running.set(input.sessionID, siblings.add(child))
    try {
      return await answerOf(child, event, limit)
    } finally {
      siblings.delete(child)
    }
  }

  async function decide(input, output) {
    const notice = setTimeout(() => {
      const body = { title: "Countersign", message: NOTICE, variant: "warning" }
      client.tui.showToast({ body }).catch(() => {})
    }, NOTICE_AFTER_MS)
    try {
      return await ask("tool.execute.before", input, output, DECISION_MS_MAX)
    } catch (error) {
      return { decision: "deny", reason: `Countersign could not decide, so the call was not run: ${error.message}` }
    } finally {
      clearTimeout(notice)
    }
  }

  return {
    config: async (config) => {
      if (config.permission) delete config.permission[LOCK]
    },

    "tool.execute.before": async (input, output) => {
      const answer = await decide(input, output)
      if (answer?.decision !== "allow") throw new Error(denial(answer))
      if (answer.args !== undefined) replace(output.args, answer.args)
    },

    "tool.execute.after": async (input, output) => {
      await ask("tool.execute.after", input, shortened(output), REPORT_MS_MAX).catch(() => {})
    },

    "chat.message": async (input, output) => {
      const written = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const said = { ...output, parts: written }
      // A subagent's prompt is the model's text, not the person's.
      const byPerson = (await rootOf(input.sessionID).catch(() => "")) === input.sessionID
      if (byPerson) await ask("chat.message", input, said, REPORT_MS_MAX).catch(() => {})
    },

    // An interrupted session does not wait any more: the hook withdraws its call when it is ended.
    event: async ({ event }) => {
      if (event.type !== "session.idle" && event.type !== "session.error") return
      for (const child of running.get(event.properties.sessionID) ?? []) child.kill("SIGTERM")
    },
  }
}

function passedEnvironment() {
  const present = PASSED_ENVIRONMENT.filter((name) => process.env[name] !== undefined)
  return Object.fromEntries(present.map((name) => [name, process.env[name]]))
}

// Writes the event to the hook and returns its answer; rejects on everything unexpected.
function answerOf(child, event, limit) {
  return new Promise((resolve, reject) => {
    const chunks = []
    let bytes = 0
    const fail = (text) => {
      clearTimeout(timer)
      child.kill("SIGKILL")
      // A program that the hook started may still hold the pipe.
      child.stdout.destroy()
      reject(new Error(text))
    }
    const timer = setTimeout(() => fail(`no answer within ${limit / 1000} s`), limit)
    child.on("error", (error) => fail(`the hook did not start (${error.code ?? error.message})`))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > ANSWER_BYTES_MAX) fail("the hook's answer is too long")
    })
    child.on("close", (code, signal) => {
      if (code !== 0) return fail(`the hook ended with ${signal ?? `exit code ${code}`}`)
      clearTimeout(timer)
      try {
        resolve(JSON.parse(Buffer.concat(chunks).toString("utf8")))
      } catch {
        reject(new Error("the hook's answer is not JSON"))
      }
    })
    child.stdin.end(event)
  })
}

function denial(answer) {
  if (answer?.decision === "deny" && typeof answer.reason === "string" && answer.reason !== "") return answer.reason
  return "Countersign could not decide, so the call was not run: the hook's answer is unknown"
}

// OpenCode runs the object it passed in: only a change in place reaches the tool.
function replace(args, edited) {
  if (edited === null || typeof edited !== "object" || Array.isArray(edited)) {
    throw new Error("Countersign could not decide, so the call was not run: the edited arguments are not an object")
  }
  for (const key of Object.keys(args)) delete args[key]
  Object.assign(args, edited)
}

// The outcome needs the exit code and the start of the text, not a whole file.
function shortened(output) {
  const text = typeof output?.output === "string" ? output.output : JSON.stringify(output?.content ?? null)
  return { title: output?.title, metadata: { exit: output?.metadata?.exit }, output: text.slice(0, RESULT_CHARS_MAX) }
}
