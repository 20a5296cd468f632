// A scripted model: says what the test wants, in the shape of OpenAI's chat completions.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Reply {
  /** What it says, in pieces. */
  say?: string[];
  /** Tools it asks for. */
  tools?: { id: string; name: string; args: unknown }[];
  /** Held back until this is settled. */
  until?: Promise<unknown>;
}

export class Model {
  #server: Server;
  #script: Reply[];

  private constructor(script: Reply[]) {
    this.#script = script;
    this.#server = createServer((request, response) => {
      request.resume();
      request.once("end", () => void this.#answer(response));
    });
  }

  static async start(script: Reply[]): Promise<Model> {
    const model = new Model([...script]);
    await new Promise<void>((resolve) => model.#server.listen(0, "127.0.0.1", resolve));
    return model;
  }

  get config(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `agent: { base_url: "http://127.0.0.1:${port}/v1", model: scripted }\n`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(response: import("node:http").ServerResponse): Promise<void> {
    const reply = this.#script.shift() ?? { say: ["That is all."] };
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta: unknown, finish: string | null = null): void => {
      const choices = [{ index: 0, delta, finish_reason: finish }];
      response.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "scripted", choices })}\n\n`);
    };
    for (const content of reply.say ?? []) send({ role: "assistant", content });
    if (reply.until !== undefined) await reply.until;
    for (const [index, tool] of (reply.tools ?? []).entries()) {
      const call = { name: tool.name, arguments: JSON.stringify(tool.args) };
      send({ tool_calls: [{ index, id: tool.id, type: "function", function: call }] });
    }
    send({}, reply.tools === undefined ? "stop" : "tool_calls");
    response.end("data: [DONE]\n\n");
  }
}
