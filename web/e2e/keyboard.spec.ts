// Without a mouse.

import { armed, expect, signIn, test } from "./gateway";

test("everything is answered with the keyboard alone", async ({ page, gateway }) => {
  const ids = [await gateway.ask("rm -rf /srv/a"), await gateway.ask("rm -rf /srv/b", { session_id: "s2" })];
  await signIn(page, gateway);
  await expect(page.getByRole("group", { name: "Command" })).toHaveText("rm -rf /srv/a");
  await armed(page);
  await page.keyboard.press("j");
  await expect(page.getByRole("group", { name: "Command" })).toHaveText("rm -rf /srv/b");
  await page.keyboard.press("k");
  await expect(page.getByRole("group", { name: "Command" })).toHaveText("rm -rf /srv/a");
  await armed(page);
  await page.keyboard.press("4");
  await page.keyboard.type("too early");
  await page.keyboard.press("Enter");
  await expect(page.locator(".outcome-words", { hasText: "Denied by you on the page" })).toBeVisible();
  await page.keyboard.press("j");
  await armed(page);
  // Enter goes to the choices; the highlight starts on Deny, because the risk is high.
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Deny" })).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("button", { name: "Allow once" })).toBeFocused();
  await armed(page);
  await page.keyboard.press("Enter");
  await expect(page.locator(".outcome-words", { hasText: "Allowed once by you on the page" })).toBeVisible();
  const decisions = await Promise.all(ids.map(async (id) => (await gateway.approval(id)).decision));
  expect(decisions.map((it) => [it.outcome, it.note])).toEqual([
    ["denied", "too early"],
    ["approved", null],
  ]);
});

test("a digit nobody offered, Esc and space answer nothing", async ({ page, gateway }) => {
  const id = await gateway.ask("rm -rf /srv/a");
  await signIn(page, gateway);
  for (const key of ["9", "Escape", "Space", "Enter"]) {
    await armed(page);
    await page.keyboard.press(key);
  }
  // Esc leaves the note and the rule without answering, too.
  for (const [key, shown] of [["4", "Tell the agent why"], ["2", "For how long"]] as const) {
    await armed(page);
    await page.keyboard.press(key);
    await expect(page.getByLabel(shown)).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("button", { name: "Allow once" })).toBeVisible();
  }
  expect((await gateway.approval(id)).status).toBe("waiting");
});

test("the help shows the keys the page has, and the filter narrows the list", async ({ page, gateway }) => {
  await gateway.ask("rm -rf /srv/apples");
  await gateway.ask("rm -rf /srv/pears", { session_id: "s2" });
  await signIn(page, gateway);
  await expect(page.getByRole("group", { name: "Command" })).toHaveText("rm -rf /srv/apples");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" }).getByText("Undo an answer before it takes effect")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("j");
  await expect(page.getByRole("group", { name: "Command" })).toHaveText("rm -rf /srv/pears");
  await page.keyboard.press("/");
  await page.keyboard.type("pears");
  await expect(page.getByRole("list", { name: "Waiting" }).getByRole("listitem")).toHaveCount(1);
});
