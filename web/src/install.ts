// Registers the service worker, which makes the page installable and shows notifications.

import { go } from "./router";

/** Trusted Types as far as they are used: the type library does not have them yet. */
interface Policies {
  createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL: (text: string) => string };
}

const WORKER = "/worker.js";

/** The one script that the page loads by its name. Whatever is asked for, it is this one. */
function workerUrl(): string {
  const policies = (window as { trustedTypes?: Policies }).trustedTypes;
  if (policies === undefined) return WORKER;
  return policies.createPolicy("countersign-worker", { createScriptURL: () => WORKER }).createScriptURL("");
}

/** Registers the worker and follows the links of notifications. Without it the page works as well. */
export function install(): void {
  if (!("serviceWorker" in navigator)) return;
  navigator.serviceWorker.addEventListener("message", (event: MessageEvent<unknown>) => {
    const said = event.data as { type?: unknown; address?: unknown } | null;
    const address = said?.type === "open" ? said.address : null;
    if (typeof address === "string" && address.startsWith("/#/")) go(address.slice(1));
  });
  void navigator.serviceWorker.register(workerUrl(), { updateViaCache: "none" }).catch((error: unknown) => {
    console.warn("the service worker is not registered", error);
  });
}
