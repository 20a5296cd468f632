// What a call would change in a file, compared with the file as it is now.

import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { AxeBuilder } from "@axe-core/playwright";

import { expect, signIn, test as base, type Gateway } from "./gateway";

/** A workspace with a file that a build server runs, so that changing it asks, and an agent that is bound to it. */
interface Shop {
  root: string;
  key: string;
}

const test = base.extend<{ shop: Shop }>({
  shop: async ({ gateway }, use) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "countersign-shop-")));
    mkdirSync(join(root, ".github/workflows"), { recursive: true });
    writeFileSync(join(root, CI), lines(40));
    const { key } = await gateway.asAdmin("POST", "/v1/keys", { name: "shopper", role: "agent", workspaces: [root] });
    await use({ root, key });
    rmSync(root, { recursive: true, force: true });
  },
});

/** Submits a call in the workspace. */
const submit = (gateway: Gateway, { root, key }: Shop, tool: string, args: unknown): Promise<any> =>
  gateway.request("POST", "/v1/calls", key, { tool, args, session_id: "s1", cwd: root, workspace: root });

const CI = ".github/workflows/ci.yml";
const lines = (count: number, changed = 0): string =>
  Array.from({ length: count }, (_, index) => (index + 1 === changed ? "changed line\n" : `line ${index + 1}\n`)).join("");

test("a written file is compared, unchanged lines are folded, and narrow and wide look different", async ({ page, gateway, shop }) => {
  const call = await submit(gateway, shop, "write_file", { path: CI, content: lines(40, 20) });
  expect(call.approval_id, JSON.stringify(call)).toBeTruthy();
  await page.setViewportSize({ width: 480, height: 900 });
  await signIn(page, gateway);
  await page.goto(`${gateway.url}/#/approvals/${call.approval_id}`);
  const diff = page.getByRole("group", { name: /^Change to .*ci\.yml$/ });
  await expect(diff).toContainText("removed: line 20");
  await expect(diff).toContainText("added: changed line");
  await expect(diff.getByText("line 5", { exact: true })).toHaveCount(0);
  await diff.getByRole("button", { name: "Show 16 unchanged lines" }).first().click();
  await expect(diff.getByText("line 5", { exact: true })).toBeVisible();
  await expect(diff).not.toHaveClass(/diff-wide/);
  await page.setViewportSize({ width: 1920, height: 900 });
  await expect(diff).toHaveClass(/diff-wide/);
  // What was sent stands there as well, complete.
  await expect(page.getByRole("group", { name: "content" })).toContainText("changed line");
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
});

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(`in the ${colorScheme} theme`, () => {
    test.use({ colorScheme });

    test("code in a difference has colours that can be read on every line", async ({ page, gateway, shop }) => {
      const step = (name: string): string => `name: "${name}" # a comment\non: true\nport: 80\n`;
      writeFileSync(join(shop.root, CI), step("old") + lines(3));
      const call = await submit(gateway, shop, "write_file", { path: CI, content: step("new") + lines(3) });
      await page.setViewportSize({ width: 1920, height: 900 });
      await signIn(page, gateway);
      await page.goto(`${gateway.url}/#/approvals/${call.approval_id}`);
      const diff = page.getByRole("group", { name: /^Change to .*ci\.yml$/ });
      for (const line of [".line-gone", ".line-new"]) {
        await expect(diff.locator(`${line} .code-string`)).toHaveCount(1);
        await expect(diff.locator(`${line} .code-comment`)).toHaveText("# a comment");
        await expect(diff.locator(`${line} .code-name`)).toHaveText("name");
      }
      await expect(page.locator('.answer[data-armed="true"]')).toBeVisible();
      expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    });
  });
}

test("an edit shows where it falls, and a file that changes meanwhile is compared again", async ({ page, gateway, shop }) => {
  const args = { file_path: join(shop.root, CI), old_string: "line 20\n", new_string: "line twenty\n" };
  const call = await submit(gateway, shop, "Edit", args);
  await signIn(page, gateway);
  await page.goto(`${gateway.url}/#/approvals/${call.approval_id}`);
  const diff = page.getByRole("group", { name: /^Change to .*ci\.yml$/ });
  await expect(diff).toContainText("added: line twenty");
  writeFileSync(join(shop.root, CI), "another first line\n" + readFileSync(join(shop.root, CI), "utf8").replace("line 19\n", "line nineteen\n"));
  await expect(page.getByText("while this card was open")).toBeVisible();
  await expect(diff).toContainText("line nineteen");
  writeFileSync(join(shop.root, CI), "nothing of it\n");
  await expect(page.getByText("does not hold the text that this call would replace")).toBeVisible();
});

test("secrets in the file are named, hostile text stays text, and links are not followed", async ({ page, gateway, shop }) => {
  const token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a";
  writeFileSync(join(shop.root, CI), `token: ${token}\n<img src=x onerror=alert(1)>\nright\u202eleft\n`);
  const call = await submit(gateway, shop, "write_file", { path: CI, content: "new\n" });
  await signIn(page, gateway);
  await page.goto(`${gateway.url}/#/approvals/${call.approval_id}`);
  const diff = page.getByRole("group", { name: /^Change to .*ci\.yml$/ });
  await expect(diff).toContainText("‹secret: ");
  await expect(diff).toContainText("<img src=x onerror=alert(1)>");
  await expect(diff).toContainText("⟨U+202E⟩");
  expect(await page.content()).not.toContain(token);
  rmSync(join(shop.root, CI));
  writeFileSync(join(shop.root, "secret.txt"), "hidden words\n");
  symlinkSync(join(shop.root, "secret.txt"), join(shop.root, CI));
  await expect(page.getByText("Not compared with the file on disk")).toBeVisible();
  await expect(page.getByText("hidden words")).toHaveCount(0);
});

test("the agent that asks never gets the file's content", async ({ gateway, shop }) => {
  const { key } = shop;
  const call = await submit(gateway, shop, "write_file", { path: CI, content: "x" });
  expect((await gateway.asAdmin("GET", `/v1/approvals/${call.approval_id}/changes`)).files[0].before).toContain("line 20");
  await expect(gateway.request("GET", `/v1/approvals/${call.approval_id}/changes`, key)).rejects.toThrow("403");
  const viewer = await gateway.key("vera", "viewer");
  await expect(gateway.request("GET", `/v1/approvals/${call.approval_id}/changes`, viewer)).rejects.toThrow("403");
  for (const path of [`/v1/approvals/${call.approval_id}`, `/v1/calls/${call.call_id}`, `/v1/traces/${call.call_id}`]) {
    expect(JSON.stringify(await gateway.request("GET", path, key))).not.toContain("line 20");
  }
});
