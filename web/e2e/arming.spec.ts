// What has just appeared under a finger is not what the finger meant.

import { allowOnce, armed, expect, signIn, test } from "./gateway";

test("a click as the card appears does nothing", async ({ page, gateway }) => {
  await signIn(page, gateway);
  const id = await gateway.ask("rm -rf /srv/www");
  const allow = page.getByRole("button", { name: "Allow once" });
  await allow.click({ force: true });
  await expect(page.locator('.answer[data-armed="true"]')).toBeVisible();
  expect((await gateway.approval(id)).status).toBe("waiting");
  // The click was dropped, not kept for later.
  await expect(allow).toBeVisible();
  await allowOnce(page);
  await expect(page.locator(".outcome-words", { hasText: "Allowed once by you on the page" })).toBeVisible();
});

test("a key pressed as the card appears does nothing, nor does a burst of typing", async ({ page, gateway }) => {
  await signIn(page, gateway);
  const id = await gateway.ask("rm -rf /srv/www");
  await expect(page.getByRole("button", { name: "Allow once" })).toBeVisible();
  await page.keyboard.press("1");
  await armed(page);
  // Sent at once: a busy machine may put pauses between keys that are sent one after the other.
  await Promise.all([..."asd1"].map((key) => page.keyboard.press(key)));
  expect((await gateway.approval(id)).status).toBe("waiting");
  await expect(page.getByText("Too fast: that press was ignored. Press again.")).toBeVisible();
  // A held key repeats; only its beginning could count, and that was no answer.
  await Promise.all([page.keyboard.down("a"), page.keyboard.press("1")]);
  await page.keyboard.up("a");
  expect((await gateway.approval(id)).status).toBe("waiting");
  await armed(page);
  await page.keyboard.press("1");
  await armed(page);
  await page.keyboard.press("Enter");
  await expect(page.locator(".outcome-words", { hasText: "Allowed once by you on the page" })).toBeVisible();
});

test("a click that no person made is no answer", async ({ page, gateway }) => {
  const id = await gateway.ask("rm -rf /srv/www");
  await signIn(page, gateway);
  await armed(page);
  await page.getByRole("button", { name: "Allow once" }).evaluate((button: HTMLButtonElement) => button.click());
  await page.getByRole("button", { name: "Allow once" }).dispatchEvent("click");
  expect((await gateway.approval(id)).status).toBe("waiting");
});

test("a new card takes neither the focus nor the place of the one in view", async ({ page, gateway }) => {
  await gateway.ask("rm -rf /srv/first");
  await signIn(page, gateway);
  await page.getByRole("button", { name: "Full analysis" }).focus();
  await gateway.ask("rm -rf /srv/second", { session_id: "s2" });
  await expect(page.getByRole("status").filter({ hasText: "1 more waiting" })).toHaveCount(1);
  await expect(page.getByRole("group", { name: "Command" })).toHaveText("rm -rf /srv/first");
  await expect(page.getByRole("button", { name: "Full analysis" })).toBeFocused();
});

test("a long text of high risk is read to its end before it can be allowed, however it is folded", async ({ page, gateway }) => {
  await page.setViewportSize({ width: 1280, height: 2000 });
  const lines = Array.from({ length: 400 }, (_, index) => `rm -rf /srv/www/${index}`);
  await gateway.ask(lines.join("\n"));
  await signIn(page, gateway);
  // Folded, the end is in view already; that is not the end of what would run.
  await expect(page.getByText("characters hidden")).toBeVisible();
  await armed(page);
  await page.getByRole("button", { name: "Show full command" }).click();
  const allow = page.getByRole("button", { name: "Allow once" });
  await expect(page.getByText("Read to the end (PgDn, End) to allow.")).toBeVisible();
  await expect(allow).toHaveAttribute("aria-disabled", "true");
  await page.locator(".card-scroll").evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await expect(allow).toHaveAttribute("aria-disabled", "false");
});

test("keys answer nothing that lies below a window", async ({ page, gateway }) => {
  const id = await gateway.ask("rm -rf /srv/www");
  await signIn(page, gateway);
  await armed(page);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
  await armed(page);
  await page.keyboard.press("1");
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
  expect((await gateway.approval(id)).status).toBe("waiting");
  await expect(page.getByRole("button", { name: "Allow once", includeHidden: true })).toHaveCount(1);
});

test("a rule that has only just been shown is not left by a click that came with it", async ({ page, gateway }) => {
  const id = await gateway.ask("git push origin main");
  await page.clock.install();
  await signIn(page, gateway);
  await armed(page);
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/v1/grants/preview", async (route) => {
    await held;
    await route.continue();
  });
  // A clock that stands still before the question is out would keep it back.
  const asked = page.waitForRequest("**/v1/grants/preview");
  await page.getByRole("button", { name: "Allow for this session" }).click();
  await asked;
  const leave = page.locator(".scope").getByRole("button", { name: "Allow for this session" });
  await expect(page.locator(".scope")).toBeVisible();
  // Long enough for the panel, but there is nothing to be read in it yet; then time stands still.
  await page.clock.pauseAt(Date.now() + 5000);
  release();
  await expect(page.locator(".scope-row").first()).toBeVisible();
  await expect(leave).toHaveAttribute("aria-disabled", "true");
  await leave.click({ force: true });
  expect((await gateway.approval(id)).status).toBe("waiting");
  await page.clock.resume();
  await expect(leave).toHaveAttribute("aria-disabled", "false");
});
