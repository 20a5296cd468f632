// The installed page: it starts offline, is notified while it is closed, and a notification opens its card.

import { expect, signIn, test, type Gateway } from "./gateway";
import { countPushes, delivery, PushService, shown, subscribable } from "./push";
import type { BrowserContext, Page, Worker } from "@playwright/test";

const COMMAND = "rm -rf /srv/www";

/** The worker's world, as far as these tests touch it: its types do not go with those of a page. */
interface Scope extends EventTarget {
  registration: ServiceWorkerRegistration;
  clients: { matchAll: () => Promise<unknown[]>; openWindow: (url: string) => Promise<null> };
  NotificationEvent: new (type: string, init: { notification: Notification }) => Event;
}

/** Signs `page` in and waits for its service worker. */
async function installed(page: Page, gateway: Gateway, context: BrowserContext): Promise<Worker> {
  await context.grantPermissions(["notifications"], { origin: gateway.url });
  await signIn(page, gateway);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
  await countPushes(worker);
  return worker;
}

/** Presses the notification about `id`, as far as a script can: the browser's own press cannot be made. */
async function press(worker: Worker, id: string): Promise<void> {
  await worker.evaluate(async (id) => {
    const scope = self as unknown as Scope;
    const [notification] = await scope.registration.getNotifications({ tag: id });
    if (notification === undefined) throw new Error("there is no such notification");
    scope.dispatchEvent(new scope.NotificationEvent("notificationclick", { notification }));
  }, id);
}

test("a reload while the gateway is away shows the app, and no answer of the API is kept", async ({ page, gateway, context }) => {
  await installed(page, gateway, context);
  await gateway.ask(COMMAND);
  await page.reload();
  await expect(page.getByText(COMMAND).first()).toBeVisible();
  await gateway.stop();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Gateway offline, reconnecting" })).toBeVisible();
  const kept = await page.evaluate(async () => {
    const names = await caches.keys();
    const paths = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map((it) => new URL(it.url).pathname)));
    return { names, paths: paths.flat() };
  });
  expect(kept.names).toHaveLength(1);
  expect(kept.paths).toContain("/");
  expect(kept.paths.filter((path) => path.startsWith("/v1/"))).toEqual([]);
  await gateway.start(Number(new URL(gateway.url).port));
  await expect(page.getByText(COMMAND).first()).toBeVisible();
});

test("the page's policy lets the worker in and no other script", async ({ page, gateway, context }) => {
  await installed(page, gateway, context);
  const refused = await page.evaluate(async () => {
    const others = ["/files.json", "/worker.js?x"];
    const tried = others.map((url) => navigator.serviceWorker.register(url).then(() => "registered", (error: Error) => error.name));
    return Promise.all(tried);
  });
  expect(refused).toEqual(["TypeError", "TypeError"]);
});

test("a message shows a notification, and one about the answer takes it away", async ({ page, gateway, context }) => {
  const deliver = await delivery(page, await installed(page, gateway, context));
  await deliver(JSON.stringify({ type: "waiting", id: "appr_1" }));
  expect(await shown(page)).toEqual([{ title: "Countersign", body: "A call is waiting for your answer.", tag: "appr_1" }]);
  await deliver(JSON.stringify({ type: "waiting", id: "appr_2", title: "<b>bold</b>", text: "rm -rf /" }));
  expect(await shown(page)).toHaveLength(2);
  expect(await shown(page)).toContainEqual({ title: "<b>bold</b>", body: "rm -rf /", tag: "appr_2" });
  await deliver(JSON.stringify({ type: "closed", id: "appr_1" }));
  await expect.poll(async () => (await shown(page)).map((it) => it.tag)).toEqual(["appr_2"]);
  // What cannot be read still says that something waits.
  await deliver("not JSON");
  expect(await shown(page)).toContainEqual({ title: "Countersign", body: "A call is waiting for your answer.", tag: "countersign" });
});

test("a notification opens its card in the window that is there", async ({ page, gateway, context }) => {
  const worker = await installed(page, gateway, context);
  const id = await gateway.ask(COMMAND);
  await gateway.ask("rm -rf /srv/other");
  await page.goto(`${gateway.url}/#/settings`);
  const deliver = await delivery(page, worker);
  await deliver(JSON.stringify({ type: "waiting", id }));
  await press(worker, id);
  await expect(page).toHaveURL(`${gateway.url}/#/approvals/${id}`);
  await expect(page.getByText(COMMAND).first()).toBeVisible();
  await expect.poll(() => shown(page)).toEqual([]);
});

test("without a window a notification opens one", async ({ page, gateway, context }) => {
  const worker = await installed(page, gateway, context);
  const deliver = await delivery(page, worker);
  await deliver(JSON.stringify({ type: "waiting", id: "appr_1" }));
  // A browser opens windows for a real press alone, so this one is told what would be opened.
  const opened = worker.evaluate(
    () =>
      new Promise<string>((resolve) => {
        const { clients } = self as unknown as Scope;
        clients.matchAll = async () => [];
        clients.openWindow = async (url) => (resolve(url), null);
      }),
  );
  await press(worker, "appr_1");
  expect(await opened).toBe("/#/approvals/appr_1");
});

test.describe("with a push service", () => {
  test.use({ config: "push: { loopback: true }\n" });

  test("a device is turned on, tested, notified of a question and its answer, and turned off", async ({ page, gateway, context }) => {
    const service = await PushService.start();
    await subscribable(page, service);
    service.deliver = await delivery(page, await installed(page, gateway, context));
    await page.goto(`${gateway.url}/#/settings`);
    const devices = page.getByRole("region", { name: "Devices" });
    await expect(devices.getByText("No device is notified yet.")).toBeVisible();
    const notify = page.getByLabel("Notify this device");
    await notify.click();
    await expect(notify).toBeChecked();
    await expect(devices.getByText("This device", { exact: true })).toBeVisible();
    await devices.getByRole("button", { name: /^Send a test/ }).click();
    await expect.poll(() => service.handled).toEqual(["test"]);
    expect(await shown(page)).toContainEqual({ title: "Countersign", body: "Notifications work on this device.", tag: "countersign-test" });
    const id = await gateway.ask(COMMAND);
    await expect.poll(() => service.handled).toEqual(["test", "waiting"]);
    expect((await shown(page)).map((it) => it.tag)).toContain(id);
    await gateway.answer(id, "deny");
    await expect.poll(async () => (await shown(page)).map((it) => it.tag)).not.toContain(id);
    // It is remembered by the gateway and by the browser.
    await page.reload();
    await expect(notify).toBeChecked();
    await notify.click();
    await expect(devices.getByText("No device is notified yet.")).toBeVisible();
    const sent = service.messages.length;
    const next = await gateway.ask("rm -rf /srv/other");
    await gateway.answer(next, "deny");
    expect(service.messages).toHaveLength(sent);
    service.stop();
  });

  test("signing out ends the notifications of this browser", async ({ page, gateway, context }) => {
    const service = await PushService.start();
    await subscribable(page, service);
    await installed(page, gateway, context);
    await page.goto(`${gateway.url}/#/settings`);
    await page.getByLabel("Notify this device").click();
    await expect.poll(async () => (await gateway.asAdmin("GET", "/v1/devices")).devices).toHaveLength(1);
    await page.getByRole("button", { name: "Sign out" }).last().click();
    await expect.poll(async () => (await gateway.asAdmin("GET", "/v1/devices")).devices).toHaveLength(0);
    service.stop();
  });
});
