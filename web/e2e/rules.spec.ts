// The view of rules and configuration in force.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, signIn, test } from "./gateway";

test.describe("with rules of the owner", () => {
  test.use({
    config: [
      "approvals: { deny: ['rm -rf /data'], allow: [{ tool: get_weather, name: weather }], timeout: 7m }",
      "agent: { base_url: 'https://models.example.org/s3cr3t-path', model: small, api_key_env: HOME }",
      "contacts: { boss: boss@example.org }",
      "",
    ].join("\n"),
  });

  test("each rule and key says where it comes from, and no secret is there", async ({ page, gateway }) => {
    const project = mkdtempSync(join(tmpdir(), "countersign-project-"));
    writeFileSync(join(project, ".countersign.yaml"), "approvals: { ask: ['make deploy'] }\n");
    await gateway.call("terminal", { command: "ls" }, { cwd: project });
    await signIn(page, gateway);
    await page.getByRole("link", { name: "Rules" }).click();
    const own = page.getByRole("region", { name: "Your rules" });
    await expect(own.getByRole("row")).toHaveText([
      "EffectMatchesFrom",
      "Denyrm -rf /dataconfig.yaml",
      /^Allow.*get_weather.*config\.yaml$/,
      `Askmake deploy${project}/.countersign.yaml`,
    ]);
    await expect(page.getByRole("region", { name: "Order of decision" }).getByRole("row")).toHaveCount(13);
    const keys = page.getByRole("region", { name: "Configuration" });
    await expect(keys.getByRole("row", { name: "approvals.timeout" })).toHaveText("approvals.timeout7mconfig.yaml");
    await expect(keys.getByRole("row", { name: "agent.base_url" })).toHaveText("agent.base_urlhttps://models.example.org/…config.yaml");
    await expect(keys.getByRole("row", { name: "approvals.mode" })).toHaveCount(0);
    await keys.getByLabel("Show defaults").check();
    await expect(keys.getByRole("row", { name: "approvals.mode" })).toHaveText("approvals.modemanualDefault");
    const shown = await page.locator("main").textContent();
    for (const secret of ["s3cr3t-path", "boss@example.org"]) expect(shown).not.toContain(secret);
    rmSync(project, { recursive: true });
  });

  test("who may only look may read the rules", async ({ page, gateway }) => {
    const viewer = await gateway.key("vera", "viewer");
    await page.setExtraHTTPHeaders({ authorization: `Bearer ${viewer}` });
    await page.goto(`${gateway.url}/#/rules`);
    await expect(page.getByRole("region", { name: "Your rules" })).toContainText("rm -rf /data");
  });
});

test("without rules of the owner the view says so, and how to get some", async ({ page, gateway, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await signIn(page, gateway);
  await page.goto(`${gateway.url}/#/rules`);
  const own = page.getByRole("region", { name: "Your rules" });
  await expect(own.getByRole("heading", { name: "No rules of your own" })).toBeVisible();
  await expect(page.getByText("Nothing was changed: every key has its default.")).toBeVisible();
  const isSaid = expect(own.getByText("Copied")).toBeVisible();
  await own.getByRole("button", { name: "Copy the command" }).click();
  await isSaid;
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("countersign policy suggest");
});
