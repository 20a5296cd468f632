// Countersign for Cline: lets a tool call through only if the PreToolUse hook has answered it.
//
// `countersign init cline` writes this file to Cline's plugin folder, next to the hook files, and
// fills in the two placeholders. The hook file waits for the decision (Cline gives it 120 s, a
// plugin only 3 s) and writes it into the input under the key `countersign`. Cline ignores a hook
// file that is missing, killed or too slow; this plugin then finds no mark and denies the call.
// It also denies one call without ending the run, which a hook file cannot.

import { spawn } from "node:child_process"

const PROGRAM = "@COUNTERSIGN_PROGRAM@"
const HOME = "@COUNTERSIGN_HOME@"

const MARK = "countersign"
const PROMPT_MS_MAX = 2_000

// Cline loads the `.env` file of the project: its variables must not choose the gateway.
const PASSED_ENVIRONMENT = ["HOME", "USER", "PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_RUNTIME_DIR"]

const UNANSWERED =
  "Countersign's hook did not answer, so the call was not run. Run `countersign doctor` to find out why."
const RESERVED = "The argument `countersign` is reserved, so the call was not run."

// Cline wraps what a person typed; the task of a subagent, written by the model, has no wrapper.
const TYPED = /^<user_input[^>]*>([\s\S]*)<\/user_input>$/

let session = ""

export default {
  name: "countersign",
  manifest: { capabilities: ["hooks"] },

  setup(_api, context) {
    session = context?.session?.sessionId ?? ""
  },

  hooks: {
    beforeRun: async ({ snapshot }) => {
      const prompt = lastTyped(snapshot?.messages ?? [])
      if (prompt !== undefined) await report(promptEvent(snapshot, prompt))
    },

    beforeTool: async ({ toolCall, input }) => {
      if (isRecord(toolCall.input) && MARK in toolCall.input) return { skip: true, reason: RESERVED }
      if (!isRecord(input)) return { skip: true, reason: UNANSWERED }
      const { [MARK]: mark, ...rest } = input
      if (!isRecord(mark) || mark.call !== toolCall.toolCallId) return { skip: true, reason: UNANSWERED }
      if ("denied" in mark) return { skip: true, reason: typeof mark.denied === "string" ? mark.denied : UNANSWERED }
      return { input: rest }
    },
  },
}

function isRecord(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value)
}

function lastTyped(messages) {
  const texts = messages
    .filter((message) => message.role === "user")
    .flatMap((message) => message.content)
    .filter((part) => part.type === "text")
    .map((part) => TYPED.exec(part.text)?.[1])
  return texts.findLast((text) => text !== undefined)
}

// The shape of Cline's own `UserPromptSubmit` hook, which Cline 3.0.65 does not run.
function promptEvent(snapshot, prompt) {
  return {
    hookName: "prompt_submit",
    taskId: snapshot.conversationId,
    sessionContext: { rootSessionId: session },
    workspaceRoots: [process.cwd()],
    agent_id: snapshot.agentId,
    parent_agent_id: null,
    userPromptSubmit: { prompt, attachments: [] },
  }
}

// Waits until the hook has read the prompt. A failure loses context, it does not stop the run.
function report(event) {
  return new Promise((resolve) => {
    const present = PASSED_ENVIRONMENT.filter((name) => process.env[name] !== undefined)
    const child = spawn(PROGRAM, ["hook", "cline", "--home", HOME], {
      env: Object.fromEntries(present.map((name) => [name, process.env[name]])),
      stdio: ["pipe", "ignore", "ignore"],
    })
    const timer = setTimeout(() => child.kill("SIGKILL"), PROMPT_MS_MAX)
    child.on("error", resolve)
    child.stdin.on("error", () => {})
    child.on("close", () => {
      clearTimeout(timer)
      resolve()
    })
    child.stdin.end(JSON.stringify(event))
  })
}
