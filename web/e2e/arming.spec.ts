// What has just appeared under a finger is not what the finger meant.

import { armed, expect, signIn, test } from "./gateway";

test("a click as the card appears does nothing", async ({ page, gateway }) => {
  await signIn(page, gateway);
  const id = await gateway.ask("rm -rf /srv/www");
  const allow = page.getByRole("button", { name: "Allow once" });
  await allow.click({ force: true });
  await expect(page.locator('.answer[data-armed="true"]')).toBeVisible();
  expect((await gateway.approval(id)).status).toBe("waiting");
  // The click was dropped, not kept for later.
  await expect(allow).toBeVisible();
  await allow.click();
  await expect(page.locator(".outcome-words", { hasText: "Allowed once by you on the page" })).toBeVisible();
});

test("a key pressed as the card appears does nothing, nor does a burst of typing", async ({ page, gateway }) => {
  await signIn(page, gateway);
  const id = await gateway.ask("rm -rf /srv/www");
  await expect(page.getByRole("button", { name: "Allow once" })).toBeVisible();
  await page.keyboard.press("1");
  await armed(page);
  await page.keyboard.type("aaa1");
  expect((await gateway.approval(id)).status).toBe("waiting");
  await expect(page.getByText("That was too quick and did not count. Press again.")).toBeVisible();
  // A held key repeats; only its beginning could count, and that was no answer.
  await page.keyboard.down("a");
  await page.keyboard.press("1");
  await page.keyboard.up("a");
  expect((await gateway.approval(id)).status).toBe("waiting");
  await armed(page);
  await page.keyboard.press("1");
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
  await page.getByRole("button", { name: "Why: every factor and finding" }).focus();
  await gateway.ask("rm -rf /srv/second", { session_id: "s2" });
  await expect(page.getByRole("status").filter({ hasText: "1 more waiting" })).toHaveCount(1);
  await expect(page.getByRole("group", { name: "Command" })).toHaveText("rm -rf /srv/first");
  await expect(page.getByRole("button", { name: "Why: every factor and finding" })).toBeFocused();
});
