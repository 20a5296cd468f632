// src/worker.ts
var SHELL = `shell-${"BBFAB6EC"}`;
var ICONS = { icon: "/icon-192.png", badge: "/icon-badge.png" };
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
  const { id } = event.notification.data ?? {};
  event.waitUntil(open(typeof id === "string" ? id : null));
});
function isFile(path) {
  return /^\/(?!v1\/|channels\/|mcp\/)[\w./-]+\.(?:js|css|svg|png|webmanifest)$/.test(path);
}
async function keepShell() {
  const list = await fetch("/files.json", { cache: "no-store" });
  if (!list.ok) throw new Error(`the list of files was answered with ${list.status}`);
  const cache = await caches.open(SHELL);
  await cache.addAll(await list.json());
}
async function forgetOthers() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name !== SHELL).map((name) => caches.delete(name)));
}
async function served(request, path) {
  const kept = () => caches.match(path, { cacheName: SHELL });
  try {
    const fresh = await fetch(request);
    if (fresh.status >= 502 && fresh.status <= 504) return await kept() ?? fresh;
    if (fresh.ok && path !== "/") await keep(path, fresh.clone());
    return fresh;
  } catch {
    return await kept() ?? Response.error();
  }
}
async function keep(path, file) {
  const cache = await caches.open(SHELL).catch(() => null);
  await cache?.put(path, file).catch(() => void 0);
}
function read(data) {
  try {
    const said = data?.json();
    const text = (name) => typeof said[name] === "string" ? said[name] : null;
    const id = text("id");
    const type = text("type");
    return {
      type: type === "waiting" || type === "closed" || type === "test" ? type : "unknown",
      id: id !== null && /^\w{1,64}$/.test(id) ? id : null,
      title: text("title"),
      text: text("text")
    };
  } catch {
    return { type: "unknown", id: null, title: null, text: null };
  }
}
async function tell(message) {
  const { id } = message;
  const show = (title, options) => self.registration.showNotification(title, { ...ICONS, tag: id ?? "countersign", data: { id }, ...options });
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
      await show("Countersign", { body: "Already answered.", silent: true });
      for (const shown of await self.registration.getNotifications({ tag: id ?? "countersign" })) shown.close();
  }
}
async function open(id) {
  const view = id?.startsWith("clar_") ? "questions" : "approvals";
  const address = id === null ? "/#/" : `/#/${view}/${id}`;
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const shown = windows.find((it) => it.visibilityState === "visible") ?? windows[0];
  if (shown === void 0) {
    await self.clients.openWindow(address);
    return;
  }
  shown.postMessage({ type: "open", address });
  await shown.focus();
}
