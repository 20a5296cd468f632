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
  await page.keyboard.press("n");
  await page.keyboard.type("too early");
  await page.keyboard.press("Enter");
  await expect(page.locator(".outcome-words", { hasText: "Denied by you on the page" })).toBeVisible();
  await page.keyboard.press("j");
  await armed(page);
  // An arrow goes to the choices; the highlight starts on Deny, because the risk is high.
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("button", { name: "Deny", exact: true })).toBeFocused();
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

test("a critical call is allowed by Enter after its number, and denied by a number alone", async ({ page, gateway }) => {
  const ids = [await gateway.ask("rm -rf /srv/a"), await gateway.ask("rm -rf /srv/b", { session_id: "s2" })];
  await signIn(page, gateway);
  await expect(page.getByText("A number, then Enter, to allow; 4 to deny")).toBeVisible();
  for (const press of ["1", "1"]) {
    await armed(page);
    await page.keyboard.press(press);
  }
  await expect(page.getByText("Critical: press Enter, or click again, to allow it.")).toBeVisible();
  expect((await gateway.approval(ids[0] ?? "")).status).toBe("waiting");
  await armed(page);
  await page.keyboard.press("Enter");
  await expect(page.locator(".outcome-words", { hasText: "Allowed once by you on the page" })).toBeVisible();
  await page.keyboard.press("j");
  await armed(page);
  await page.keyboard.press("4");
  await expect(page.locator(".outcome-words", { hasText: "Denied by you on the page" })).toBeVisible();
});

test.describe("where the owner wants no second step", () => {
  test.use({ config: "approvals: { confirm_critical: false }\n" });

  test("a number allows a critical call", async ({ page, gateway }) => {
    await gateway.ask("rm -rf /srv/a");
    await signIn(page, gateway);
    await expect(page.getByText("A number answers, or ↑/↓ and Enter")).toBeVisible();
    await armed(page);
    await page.keyboard.press("1");
    await expect(page.locator(".outcome-words", { hasText: "Allowed once by you on the page" })).toBeVisible();
  });
});

test("a card of 300 lines is read and answered with the keyboard alone", async ({ page, gateway }) => {
  const lines = Array.from({ length: 300 }, (_, index) => `echo line ${index}`);
  const id = await gateway.ask(`${lines.join("\n")}\nrm -rf /srv/www`);
  await signIn(page, gateway);
  await armed(page);
  await page.keyboard.press("5");
  await expect(page.getByRole("group", { name: "Command" })).toContainText("echo line 150");
  const allow = page.getByRole("button", { name: "Allow once" });
  await expect(allow).toHaveAttribute("aria-disabled", "true");
  await expect(async () => {
    await page.keyboard.press("Space");
    await expect(allow).toHaveAttribute("aria-disabled", "false", { timeout: 100 });
  }).toPass();
  // The choices are reached by Tab, too.
  for (let pressed = 0; pressed < 60; pressed += 1) {
    await page.keyboard.press("Tab");
    if (await allow.evaluate((element) => element === document.activeElement)) break;
  }
  await expect(allow).toBeFocused();
  await armed(page);
  await page.keyboard.press("1");
  await armed(page);
  await page.keyboard.press("Enter");
  await expect(page.locator(".outcome-words", { hasText: "Allowed once by you on the page" })).toBeVisible();
  expect((await gateway.approval(id)).decision.choice).toBe("once");
});

test("a digit nobody offered, Esc and space answer nothing", async ({ page, gateway }) => {
  const id = await gateway.ask("rm -rf /srv/a");
  await signIn(page, gateway);
  for (const key of ["9", "Escape", "Space", "Enter"]) {
    await armed(page);
    await page.keyboard.press(key);
  }
  // Esc leaves the note and the rule without answering, too.
  for (const [key, shown] of [["n", "Deny and tell the agent why"], ["2", "For how long"]] as const) {
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
