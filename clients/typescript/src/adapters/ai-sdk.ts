/**
 * Vercel AI SDK: tools that are confirmed before they run.
 *
 *     const confirmed = new Confirmed(client);
 *     await generateText({ model, tools: confirmed.tools(tools), toolApproval: confirmed.approval, … });
 *
 * Separate because it alone knows the SDK's shapes; it imports nothing of it. `toolApproval` asks before the step
 * runs; without it, or where somebody else approved, the tool itself asks. What is not approved becomes the result
 * that the model reads.
 */

import { snapshot, type Call } from "../call.js";
import type { Client, ConfirmOptions } from "../client.js";
import { NotRun } from "../errors.js";

/** What the SDK gives a tool besides its input. */
interface Execution {
  toolCallId: string;
  abortSignal?: AbortSignal | undefined;
}

/** What the SDK asks its policy about. */
interface Question {
  toolCall: { toolName: string; toolCallId: string; input: unknown };
}

type Answer = { type: "approved" } | { type: "denied"; reason: string } | { type: "not-applicable" };

/** Confirms the calls of the tools it is given. */
export class Confirmed {
  readonly #client: Client;
  readonly #options: ConfirmOptions;
  readonly #approved = new Map<string, { call: Call; asked: string }>();
  readonly #names = new Set<string>();

  constructor(client: Client, options: Omit<ConfirmOptions, "signal" | "consume"> = {}) {
    this.#client = client;
    this.#options = { ...options, consume: false };
  }

  /** Returns the tools, each of which runs with exactly what was approved. */
  tools<T extends Record<string, object>>(tools: T): T {
    const wrapped = Object.entries(tools).map(([name, tool]) => {
      if (!("execute" in tool) || typeof tool.execute !== "function") return [name, tool];
      this.#names.add(name);
      const run = tool.execute.bind(tool) as (input: unknown, options: Execution) => unknown;
      return [name, { ...tool, execute: (input: object, options: Execution) => this.#run(name, run, input, options) }];
    });
    return Object.fromEntries(wrapped) as T;
  }

  /** The SDK's `toolApproval`: asks people, and gives the model the words of a refusal. */
  readonly approval = async ({ toolCall }: Question): Promise<Answer> => {
    const { toolName, toolCallId, input } = toolCall;
    if (!this.#names.has(toolName)) return { type: "not-applicable" };
    try {
      const asked = formOf(input);
      const call = await this.#client.confirm(toolName, input as object, this.#options);
      this.#approved.set(toolCallId, { call, asked });
      return { type: "approved" };
    } catch (error) {
      if (error instanceof NotRun) return { type: "denied", reason: error.message };
      throw error;
    }
  };

  async #run(name: string, run: (input: unknown, options: Execution) => unknown, input: object, options: Execution) {
    const known = this.#approved.get(options.toolCallId);
    this.#approved.delete(options.toolCallId);
    // A model may use an id twice: what was approved under it must be this very call.
    const isKnown = known !== undefined && known.call.tool === name && known.asked === formOf(input);
    const more = { ...this.#options, signal: options.abortSignal };
    const call = isKnown ? known.call : await this.#client.confirm(name, input, more);
    await this.#client.consume(call);
    return this.#client.running(call, () => last(run(call.args, options)));
  }
}

/** Returns one text for equal inputs. */
function formOf(input: unknown): string {
  return JSON.stringify(snapshot(input));
}

/** Returns the result of a tool; of one that yields several, the last. */
async function last(result: unknown): Promise<unknown> {
  const given = await result;
  if (typeof given !== "object" || given === null || !(Symbol.asyncIterator in given)) return given;
  let latest: unknown;
  for await (const item of given as AsyncIterable<unknown>) latest = item;
  return latest;
}
