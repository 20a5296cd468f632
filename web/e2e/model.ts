// A scripted model: says what the test wants, in the shape of OpenAI's chat completions. Questions of the second
// reader of crises are no part of the script: they get nonsense, so it fails its examination and is not asked.

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
      let body = "";
      request.setEncoding("utf8").on("data", (part: string) => (body += part));
      request.once("end", () => {
        const reads = body.includes("You read messages for signs of a person in crisis.");
        const reply = reads ? { say: ["I read for nobody."] } : this.#script.shift();
        void this.#answer(response, reply ?? { say: ["That is all."] });
      });
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

  async #answer(response: import("node:http").ServerResponse, reply: Reply): Promise<void> {
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
