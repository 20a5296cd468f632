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
import { snapshot } from "../call.js";
import { NotRun } from "../errors.js";
/** Confirms the calls of the tools it is given. */
export class Confirmed {
    #client;
    #options;
    #approved = new Map();
    #names = new Set();
    constructor(client, options = {}) {
        this.#client = client;
        this.#options = { ...options, consume: false };
    }
    /** Returns the tools, each of which runs with exactly what was approved. */
    tools(tools) {
        const wrapped = Object.entries(tools).map(([name, tool]) => {
            if (!("execute" in tool) || typeof tool.execute !== "function")
                return [name, tool];
            this.#names.add(name);
            const run = tool.execute.bind(tool);
            return [name, { ...tool, execute: (input, options) => this.#run(name, run, input, options) }];
        });
        return Object.fromEntries(wrapped);
    }
    /** The SDK's `toolApproval`: asks people, and gives the model the words of a refusal. */
    approval = async ({ toolCall }) => {
        const { toolName, toolCallId, input } = toolCall;
        if (!this.#names.has(toolName))
            return { type: "not-applicable" };
        try {
            const asked = formOf(input);
            const call = await this.#client.confirm(toolName, input, this.#options);
            this.#approved.set(toolCallId, { call, asked });
            return { type: "approved" };
        }
        catch (error) {
            if (error instanceof NotRun)
                return { type: "denied", reason: error.message };
            throw error;
        }
    };
    async #run(name, run, input, options) {
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
function formOf(input) {
    return JSON.stringify(snapshot(input));
}
/** Returns the result of a tool; of one that yields several, the last. */
async function last(result) {
    const given = await result;
    if (typeof given !== "object" || given === null || !(Symbol.asyncIterator in given))
        return given;
    let latest;
    for await (const item of given)
        latest = item;
    return latest;
}
