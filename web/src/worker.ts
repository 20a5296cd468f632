// The service worker: shows notifications, opens the card behind one, and serves the page's own
// files while the gateway is away. It keeps no answer of the API.

declare const self: ServiceWorkerGlobalScope;
/** Names the build this worker belongs to; build.mjs writes it. */
declare const VERSION: string;

/** What the gateway sends; anything else is shown as "something is waiting". */
interface Message {
  type: "waiting" | "closed" | "test" | "unknown";
  id: string | null;
  title: string | null;
  text: string | null;
}

const SHELL = `shell-${VERSION}`;
const ICONS = { icon: "/icon-192.png", badge: "/icon-badge.png" };

self.addEventListener("install", (event) => {
  event.waitUntil(keepShell().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(forgetOthers().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  const isOurs = origin === self.location.origin && (pathname === "/" || isFile(pathname));
  if (request.method === "GET" && isOurs) event.respondWith(served(request, pathname));
});

self.addEventListener("push", (event) => {
  event.waitUntil(tell(read(event.data)));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { id } = (event.notification.data ?? {}) as { id?: unknown };
  event.waitUntil(open(typeof id === "string" ? id : null));
});

/** Whether `path` is a file of the page. Answers of the API have no such names. */
function isFile(path: string): boolean {
  return /^\/(?!v1\/|channels\/|mcp\/)[\w./-]+\.(?:js|css|svg|png|webmanifest)$/.test(path);
}

/** Keeps the files of this version, those of views that were never opened, too. */
async function keepShell(): Promise<void> {
  const list = await fetch("/files.json", { cache: "no-store" });
  if (!list.ok) throw new Error(`the list of files was answered with ${list.status}`);
  const cache = await caches.open(SHELL);
  await cache.addAll((await list.json()) as string[]);
}

async function forgetOthers(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name !== SHELL).map((name) => caches.delete(name)));
}

/** Returns a file from the gateway, or as it was kept while the gateway is away. */
async function served(request: Request, path: string): Promise<Response> {
  const kept = () => caches.match(path, { cacheName: SHELL });
  try {
    const fresh = await fetch(request);
    // A proxy answers for a gateway that is away.
    if (fresh.status >= 502 && fresh.status <= 504) return (await kept()) ?? fresh;
    if (fresh.ok && path !== "/") await keep(path, fresh.clone());
    return fresh;
  } catch {
    return (await kept()) ?? Response.error();
  }
}

/** Keeps a file for later. A browser without room for it shows the page all the same. */
async function keep(path: string, file: Response): Promise<void> {
  const cache = await caches.open(SHELL).catch(() => null);
  await cache?.put(path, file).catch(() => undefined);
}

function read(data: PushMessageData | null): Message {
  try {
    const said = data?.json() as Record<string, unknown>;
    const text = (name: string): string | null => (typeof said[name] === "string" ? said[name] : null);
    const id = text("id");
    const type = text("type");
    return {
      type: type === "waiting" || type === "closed" || type === "test" ? type : "unknown",
      id: id !== null && /^\w{1,64}$/.test(id) ? id : null,
      title: text("title"),
      text: text("text"),
    };
  } catch {
    return { type: "unknown", id: null, title: null, text: null };
  }
}

async function tell(message: Message): Promise<void> {
  const { id } = message;
  const show = (title: string, options: NotificationOptions): Promise<void> =>
    self.registration.showNotification(title, { ...ICONS, tag: id ?? "countersign", data: { id }, ...options });
  switch (message.type) {
    case "waiting":
    case "unknown": {
      const asks = id?.startsWith("clar_") ? "A question is waiting for your answer." : "A call is waiting for your answer.";
      await show(message.title ?? "Countersign", { body: message.text ?? asks });
      return;
    }
    case "test":
      await show("Countersign", { body: "Notifications work on this device.", tag: "countersign-test" });
      return;
    case "closed":
      // Browsers take the right to notify from a page whose messages show nothing, so it is shown
      // silently in the place of the question before it goes.
      await show("Countersign", { body: "Already answered.", silent: true });
      for (const shown of await self.registration.getNotifications({ tag: id ?? "countersign" })) shown.close();
  }
}

/** Opens the card of `id` in a window that is there, or in a new one. */
async function open(id: string | null): Promise<void> {
  const view = id?.startsWith("clar_") ? "questions" : "approvals";
  const address = id === null ? "/#/" : `/#/${view}/${id}`;
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const shown = windows.find((it) => it.visibilityState === "visible") ?? windows[0];
  if (shown === undefined) {
    await self.clients.openWindow(address);
    return;
  }
  shown.postMessage({ type: "open", address });
  await shown.focus();
}

export {};
