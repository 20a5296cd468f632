// Several people, several tabs, and a gateway that goes down.

import { allowOnce, armed, expect, signIn, test } from "./gateway";

test("two tabs: the first answer wins, and the other says who gave it", async ({ page, gateway, context }) => {
  const id = await gateway.ask("rm -rf /srv/www");
  await signIn(page, gateway);
  const other = await context.newPage();
  await other.goto(`${gateway.url}/#/approvals/${id}`);
  await armed(page);
  await armed(other);
  await page.bringToFront();
  await allowOnce(page);
  await expect(other.locator(".outcome-words", { hasText: "Allowed once by you on the page" })).toBeVisible();
  await expect(other.getByRole("button", { name: "Deny", exact: true })).toHaveCount(0);
});

test("an answer that comes too late is told who was faster, and changes nothing", async ({ page, gateway }) => {
  const id = await gateway.ask("rm -rf /srv/www");
  await signIn(page, gateway);
  await armed(page);
  // The event of the other answer is held back, so that both answer the same card.
  await page.route("**/v1/approvals/*/resolve", async (route) => {
    await gateway.answer(id, "deny", { note: "mine" });
    await route.continue();
  });
  await allowOnce(page);
  await expect(page.locator(".outcome-words", { hasText: "Denied by you on the API" })).toBeVisible();
  await expect(page.getByText("“mine”")).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test("a gateway that restarts loses nothing, and nothing can be allowed meanwhile", async ({ page, gateway }) => {
  const id = await gateway.ask("rm -rf /srv/before");
  await signIn(page, gateway);
  await armed(page);
  await gateway.stop();
  await expect(page.getByRole("alert").filter({ hasText: "Gateway offline, reconnecting" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Allow once" })).toHaveAttribute("aria-disabled", "true");
  await expect(page.getByText("Offline: nothing can be answered.")).toBeVisible();
  await expect(page).toHaveTitle("⚠ (1) Countersign");
  // The page finds the gateway once both have happened, however slow they are.
  await page.route("**/v1/whoami", (route) => route.abort());
  await gateway.start(Number(new URL(gateway.url).port));
  await gateway.answer(id, "deny");
  await gateway.ask("rm -rf /srv/while-away", { session_id: "s2" });
  await page.unroute("**/v1/whoami");
  const isBack = expect(page.getByText("Reconnected: 1 new, 1 answered or expired meanwhile.").first()).toBeVisible();
  // It may have tried by itself.
  void page.getByRole("button", { name: "Try now" }).click().catch(() => undefined);
  await isBack;
  await expect(page.locator(".outcome-words", { hasText: "Denied by you on the API" })).toBeVisible();
  await expect(page.getByRole("link", { name: /while-away/ })).toBeVisible();
  await expect(page).toHaveTitle("(1) Countersign");
  await gateway.ask("rm -rf /srv/after", { session_id: "s3" });
  await expect(page).toHaveTitle("(2) Countersign");
});

test("what happens while the page catches up is not lost", async ({ page, gateway }) => {
  const ended = await gateway.ask("rm -rf /srv/before");
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isFirst = true;
  const isReading = new Promise<void>((resolve) => {
    // Everything is read before anything is shown.
    void page.route("**/v1/clarifications", async (route) => {
      if (isFirst) {
        isFirst = false;
        resolve();
        await held;
      }
      await route.continue();
    });
  });
  const listed = page.waitForResponse(/\/v1\/inbox/);
  await page.goto(await gateway.link());
  await isReading;
  await listed;
  // Told by the stream, which is open; the list does not have it.
  const early = page.waitForResponse(/\/v1\/approvals\/appr_/, { timeout: 500 }).catch(() => null);
  await gateway.ask("rm -rf /srv/meanwhile", { session_id: "s2" });
  await gateway.answer(ended, "deny");
  // A page that looked at it at once would replace it by the older list.
  expect(await early).toBeNull();
  release();
  await expect(page).toHaveTitle("(1) Countersign");
  await expect(page.getByRole("link", { name: /meanwhile/ })).toBeVisible();
});

test("many that are settled at once leave the list, whatever came with them", async ({ page, gateway }) => {
  const ids: string[] = [];
  for (let index = 0; index < 60; index += 1) {
    // One agent may have twenty waiting.
    const call = await gateway.call("terminal", { command: `rm -rf /srv/d${index}` }, { session_id: `s${index}` }, `coder-${index % 6}`);
    ids.push(call.approval_id);
  }
  await signIn(page, gateway);
  await expect(page).toHaveTitle("(60) Countersign");
  // The first change is looked at for a while, so that the others are one burst.
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(`**/v1/approvals/${ids[0]}`, async (route) => {
    await held;
    await route.continue();
  });
  await Promise.all(ids.map((id) => gateway.answer(id, "deny")));
  await gateway.ask("rm -rf /srv/new", { session_id: "new" });
  release();
  await expect(page).toHaveTitle("(1) Countersign");
});

test("a card that was read before it was answered does not wait again", async ({ page, gateway }) => {
  await gateway.ask("rm -rf /srv/first");
  const second = await gateway.ask("rm -rf /srv/second", { session_id: "s2" });
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isFirst = true;
  // The card beside the open one is read in advance; that answer is old when it arrives.
  const isRead = new Promise<void>((resolve) => {
    void page.route(`**/v1/approvals/${second}`, async (route) => {
      if (!isFirst) return route.continue();
      isFirst = false;
      const response = await route.fetch();
      resolve();
      await held;
      return route.fulfill({ response });
    });
  });
  await signIn(page, gateway);
  await isRead;
  await expect(page).toHaveTitle("(2) Countersign");
  await gateway.answer(second, "deny");
  await expect(page).toHaveTitle("(1) Countersign");
  const late = page.waitForResponse(new RegExp(second));
  release();
  await (await late).finished();
  await page.evaluate(() => new Promise(requestAnimationFrame));
  await expect(page).toHaveTitle("(1) Countersign");
  await expect(page.getByRole("link", { name: /second/ })).toHaveCount(0);
});
