// A push service for tests, and a browser that is subscribed there: messages are decrypted as the
// browser would and handed to its service worker.

import { createDecipheriv, createECDH, hkdfSync, randomBytes, type ECDH } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, type CDPSession, type Page, type Worker } from "@playwright/test";

export class PushService {
  readonly messages: { type: string; id?: string }[] = [];
  /** Types of the messages that the browser's worker has dealt with. */
  readonly handled: string[] = [];
  /** What happens with a message when it arrives. */
  deliver: (text: string) => Promise<void> = async () => undefined;
  #server: Server | null = null;
  #keys: ECDH = createECDH("prime256v1");
  #auth: Buffer = randomBytes(16);

  static async start(): Promise<PushService> {
    const service = new PushService();
    service.#keys.generateKeys();
    let last = Promise.resolve();
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const text = service.#opened(Buffer.concat(parts));
        const message = JSON.parse(text) as { type: string };
        service.messages.push(message);
        response.writeHead(201).end();
        // One after the other, as a browser would.
        last = last.then(() => service.deliver(text)).then(() => void service.handled.push(message.type));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    service.#server = server;
    return service;
  }

  stop(): void {
    this.#server?.close();
  }

  /** What the browser gives to the page. */
  get subscription(): { endpoint: string; p256dh: string; auth: string } {
    const { port } = this.#server?.address() as AddressInfo;
    return {
      endpoint: `http://127.0.0.1:${port}/push/1`,
      p256dh: this.#keys.getPublicKey("base64url"),
      auth: this.#auth.toString("base64url"),
    };
  }

  /** RFC 8291, as the browser reads it. */
  #opened(body: Buffer): string {
    const salt = body.subarray(0, 16);
    const sender = body.subarray(21, 21 + (body[20] ?? 0));
    const sealed = body.subarray(21 + sender.length);
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), this.#keys.getPublicKey(), sender]);
    const secret = this.#keys.computeSecret(sender);
    const material = Buffer.from(hkdfSync("sha256", secret, this.#auth, info, 32));
    const derived = (what: string, length: number): Buffer =>
      Buffer.from(hkdfSync("sha256", material, salt, `Content-Encoding: ${what}\0`, length));
    const opened = createDecipheriv("aes-128-gcm", derived("aes128gcm", 16), derived("nonce", 12));
    opened.setAuthTag(sealed.subarray(-16));
    const text = Buffer.concat([opened.update(sealed.subarray(0, -16)), opened.final()]);
    return text.subarray(0, text.lastIndexOf(2)).toString("utf8");
  }
}

/** Lets `page` subscribe at `service`; a browser without a network has no push service of its own. */
export async function subscribable(page: Page, service: PushService): Promise<void> {
  await page.addInitScript((given) => {
    const bytes = (text: string): ArrayBuffer => {
      const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
      return Uint8Array.from(letters, (letter) => letter.charCodeAt(0)).buffer;
    };
    const kept = "test.subscribed";
    const made = (key: string): unknown => ({
      endpoint: given.endpoint,
      options: { applicationServerKey: bytes(key) },
      getKey: (name: "p256dh" | "auth") => bytes(given[name]),
      unsubscribe: async () => localStorage.removeItem(kept),
    });
    PushManager.prototype.subscribe = async (options) => {
      if (options?.userVisibleOnly !== true) throw new Error("userVisibleOnly");
      localStorage.setItem(kept, String(options.applicationServerKey));
      return made(String(options.applicationServerKey)) as PushSubscription;
    };
    PushManager.prototype.getSubscription = async () => {
      const key = localStorage.getItem(kept);
      return (key === null ? null : made(key)) as PushSubscription | null;
    };
  }, service.subscription);
}

/** Counts the pushes that `worker` has dealt with. */
export async function countPushes(worker: Worker): Promise<void> {
  await worker.evaluate(() => {
    const scope = self as unknown as { pushes: number; ExtendableEvent: { prototype: { waitUntil: (work: Promise<unknown>) => void } } };
    const { prototype } = scope.ExtendableEvent;
    const { waitUntil } = prototype;
    scope.pushes = 0;
    prototype.waitUntil = function (this: Event, work) {
      waitUntil.call(this, work);
      if (this.type === "push") void work.finally(() => (scope.pushes += 1));
    };
  });
}

/** Returns how a message is given to the page's service worker, by the browser itself. It is done when
 * the worker has dealt with it: a browser asked for its notifications while it puts one up may drop that one. */
export async function delivery(page: Page, worker: Worker): Promise<(text: string) => Promise<void>> {
  const session: CDPSession = await page.context().newCDPSession(page);
  const registered = new Promise<{ registrationId: string; scopeURL: string }>((resolve) => {
    session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const [first] = registrations;
      if (first !== undefined) resolve(first);
    });
  });
  await session.send("ServiceWorker.enable");
  const { registrationId, scopeURL } = await registered;
  const origin = new URL(scopeURL).origin;
  const pushes = (): Promise<number> => worker.evaluate(() => (self as unknown as { pushes: number }).pushes);
  return async (data) => {
    const before = await pushes();
    await session.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data });
    await expect.poll(pushes).toBe(before + 1);
  };
}

/** Returns the notifications that are shown. */
export function shown(page: Page): Promise<{ title: string; body: string; tag: string }[]> {
  return page.evaluate(async () => {
    const worker = await navigator.serviceWorker.ready;
    return (await worker.getNotifications()).map(({ title, body, tag }) => ({ title, body, tag }));
  });
}
