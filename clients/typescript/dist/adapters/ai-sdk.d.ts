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
import type { Client, ConfirmOptions } from "../client.js";
/** What the SDK asks its policy about. */
interface Question {
    toolCall: {
        toolName: string;
        toolCallId: string;
        input: unknown;
    };
}
type Answer = {
    type: "approved";
} | {
    type: "denied";
    reason: string;
} | {
    type: "not-applicable";
};
/** Confirms the calls of the tools it is given. */
export declare class Confirmed {
    #private;
    constructor(client: Client, options?: Omit<ConfirmOptions, "signal" | "consume">);
    /** Returns the tools, each of which runs with exactly what was approved. */
    tools<T extends Record<string, object>>(tools: T): T;
    /** The SDK's `toolApproval`: asks people, and gives the model the words of a refusal. */
    readonly approval: ({ toolCall }: Question) => Promise<Answer>;
}
export {};
