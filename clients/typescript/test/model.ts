/** A model for the Vercel AI SDK that calls `send_email` once. Separate because several tests need it. */

import { MockLanguageModelV4 } from "ai/test";

export function scripted(input: object): MockLanguageModelV4 {
  const inputTokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 };
  const usage = { inputTokens, outputTokens: { total: 1, text: 1, reasoning: 0 } };
  let steps = 0;
  return new MockLanguageModelV4({
    doGenerate: async () => {
      steps += 1;
      const call = { type: "tool-call" as const, toolCallId: "call-1", toolName: "send_email", input: JSON.stringify(input) };
      const unified = steps === 1 ? ("tool-calls" as const) : ("stop" as const);
      const content = steps === 1 ? [call] : [{ type: "text" as const, text: "done" }];
      return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
    },
  });
}
