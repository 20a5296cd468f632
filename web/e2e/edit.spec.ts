// Editing a call before it is allowed.

import { AxeBuilder } from "@axe-core/playwright";

import { armed, expect, signIn, test } from "./gateway";

const ORIGINAL = "rm -rf /srv/www";

test("an edited command is judged again, shown beside the original, and bound as edited", async ({ page, gateway }) => {
  const call = await gateway.call("terminal", { command: ORIGINAL });
  await signIn(page, gateway);
  await armed(page);
  await page.keyboard.press("e");
  const field = page.getByLabel("Edit “command”");
  await expect(field).toBeFocused();
  await expect(field).toHaveValue(ORIGINAL);
  // Digits are text while something is typed.
  await field.fill("rm -rf /srv/www/cache/1");
  await page.keyboard.press("Control+Enter");
  const edited = page.getByRole("region", { name: "The edited call" });
  await expect(edited.getByText("Risk stays critical")).toBeVisible();
  await expect(edited.getByRole("group", { name: "Original and edited" })).toContainText("removed: command: rm -rf /srv/www");
  await expect(edited.getByRole("group", { name: "Original and edited" })).toContainText("added: command: rm -rf /srv/www/cache/1");
  const allow = edited.getByRole("button", { name: "Allow once, as edited" });
  await expect(allow).toHaveAttribute("aria-disabled", "false");
  await armed(page);
  await page.keyboard.press("1");
  await expect(page.getByText("Critical: press Enter")).toBeVisible();
  expect((await gateway.approval(call.approval_id)).status).toBe("waiting");
  await armed(page);
  await page.keyboard.press("Enter");
  await expect(page.locator(".outcome-words")).toContainText("Allowed once by you on the page, edited");
  await page.getByText("Edited by you: original and edited").click();
  await expect(page.getByRole("group", { name: "Original and edited" })).toContainText("rm -rf /srv/www/cache/1");
  const after = await gateway.approval(call.approval_id);
  expect(after.decision.args).toEqual({ command: "rm -rf /srv/www/cache/1" });
  expect(after.digest).not.toBe(call.digest);
});

test("Escape leaves the editor step by step and answers nothing", async ({ page, gateway }) => {
  const id = await gateway.ask(ORIGINAL);
  await signIn(page, gateway);
  await page.getByRole("button", { name: "Edit e" }).click();
  await page.getByLabel("Edit “command”").fill("rm -rf /srv/www/a");
  await page.getByRole("button", { name: "Check the edited call" }).click();
  await expect(page.getByRole("region", { name: "The edited call" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByLabel("Edit “command”")).toHaveValue("rm -rf /srv/www/a");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Allow once" })).toBeVisible();
  expect((await gateway.approval(id)).status).toBe("waiting");
});

test("what is always refused cannot be made of a call", async ({ page, gateway }) => {
  const id = await gateway.ask(ORIGINAL);
  await signIn(page, gateway);
  await page.getByRole("button", { name: "Edit e" }).click();
  await page.getByLabel("Edit “command”").fill("rm -rf /");
  await page.getByRole("button", { name: "Check the edited call" }).click();
  await expect(page.getByRole("alert")).toContainText("always refused");
  await expect(page.getByRole("alert")).toContainText("Nothing was answered");
  expect((await gateway.approval(id)).status).toBe("waiting");
});

test("all arguments are edited as JSON, and what is none says so", async ({ page, gateway }) => {
  await gateway.call("terminal", { command: ORIGINAL, timeout: 5 });
  await signIn(page, gateway);
  await page.getByRole("button", { name: "Edit e" }).click();
  await page.getByRole("button", { name: "Edit all arguments" }).click();
  await page.getByLabel("Arguments as JSON").fill("{");
  await page.getByRole("button", { name: "Check the edited call" }).click();
  await expect(page.getByRole("alert")).toContainText("not a JSON object");
});

test("no edit is offered where it could not be honoured or not everything is shown", async ({ page, gateway }) => {
  const token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a";
  const ids = [
    (await gateway.call("terminal", { command: ORIGINAL }, { takes_changes: false })).approval_id,
    (await gateway.call("terminal", { command: `curl -X DELETE -H 'Authorization: token ${token}' https://api.example.org/x` }, { session_id: "s2" })).approval_id,
  ];
  await signIn(page, gateway);
  for (const id of ids) {
    expect((await gateway.approval(id)).editable).toBe(false);
    await page.goto(`${gateway.url}/#/approvals/${id}`);
    await expect(page.getByRole("button", { name: "Deny", exact: true })).toBeVisible();
    await expect(page.getByRole("button", { name: "Edit e" })).toHaveCount(0);
  }
});

test("both steps of the editor are accessible, also on a phone", async ({ page, gateway }) => {
  await gateway.ask(ORIGINAL);
  await page.setViewportSize({ width: 320, height: 700 });
  await signIn(page, gateway);
  await page.goto(`${gateway.url}/#/inbox`);
  await page.locator(".row").first().click();
  await page.getByRole("button", { name: "Edit" }).click();
  const field = page.getByLabel("Edit “command”");
  await expect(field).toBeVisible();
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  await field.fill("rm -rf /srv/www/a");
  await page.getByRole("button", { name: "Check the edited call" }).click();
  await expect(page.getByRole("region", { name: "The edited call" })).toBeVisible();
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(overflow).toBe(0);
});
