// Text of an agent stays text, whatever it looks like.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, signIn, test } from "./gateway";

interface Row {
  id: string;
  tool: string;
  field: string;
  text: string;
  must_show: string[];
  must_not: string[];
}

const ROWS = readFileSync(join(import.meta.dirname, "../../corpus/spoof.jsonl"), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Row);

const MARKUP = [
  "<img src=x onerror=window.hacked=1>",
  "<script>window.hacked=1</script>",
  "[click](javascript:window.hacked=1)",
  "</pre><button>Allow once</button>",
];

test("hostile strings are shown as text, and nothing of them acts", async ({ page, gateway }) => {
  test.setTimeout(300_000);
  await signIn(page, gateway);
  const violations: string[] = [];
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) violations.push(message.text());
  });
  const asked: { row: Row; call: { approval_id: string | null } }[] = [];
  for (const [index, row] of ROWS.entries()) {
    const args = row.tool === "terminal" ? { command: row.text } : { to: "ana", text: "x", [row.field]: row.text };
    asked.push({ row, call: await gateway.call(row.tool, args, { session_id: `spoof-${index}` }, `coder-${index % 8}`) });
  }
  for (const { row, call } of asked) {
    if (call.approval_id === null) continue;
    await page.goto(`${gateway.url}/#/approvals/${call.approval_id}`);
    const card = page.getByRole("article");
    await expect(card).toHaveAttribute("aria-labelledby", `title-${call.approval_id}`);
    const open = card.getByRole("button", { name: "Show full command" });
    if ((await open.count()) > 0) await open.click();
    const text = await card.locator(".card-scroll").evaluate((element) => element.textContent ?? "");
    // The rows are for every surface; ours draws what is hidden in brackets of its own.
    const drawn = row.must_show.map((shown) => shown.replace(/<(U\+[0-9A-F]+)>/g, "⟨$1⟩"));
    for (const shown of drawn) expect.soft(text, row.id).toContain(shown);
    // What ends a line inside a text that has lines is drawn as one.
    for (const hidden of row.must_not.filter((it) => it !== "\n")) expect.soft(text, row.id).not.toContain(hidden);
  }
  expect(violations).toEqual([]);
});

test("markup is not markup, in no part of the page", async ({ page, gateway }) => {
  await signIn(page, gateway);
  for (const [index, text] of MARKUP.entries()) {
    const call = await gateway.call(
      "send_message",
      { to: text, text },
      { session_id: `m${index}`, agent: text, explanation: text, replying_to: text, cwd: `/srv/${index}` },
    );
    await page.goto(`${gateway.url}/#/approvals/${call.approval_id}`);
    await expect(page.locator(".prose")).toHaveText(text);
    await expect(page.locator("blockquote")).toHaveText(text);
    const asked = await gateway.question(text, [text], `m${index}`);
    await page.goto(`${gateway.url}/#/questions/${asked.clarification_id}`);
    await expect(page.locator(".question-text")).toHaveText(text);
  }
  await expect(page.locator("main img, main script, main a[href^=javascript]")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Allow once", exact: true })).toHaveCount(0);
  expect(await page.evaluate(() => (window as { hacked?: number }).hacked)).toBeUndefined();
});

test("the browser itself refuses markup from strings, and nothing comes from elsewhere", async ({ page, gateway }) => {
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await gateway.ask("rm -rf /srv/www");
  await signIn(page, gateway);
  await expect(page.getByRole("article")).toBeVisible();
  const refused = await page.evaluate(() => {
    try {
      document.body.innerHTML = "<b>x</b>";
      return "set";
    } catch (error) {
      return (error as Error).name;
    }
  });
  expect(refused).toBe("TypeError");
  expect(requests.filter((url) => !url.startsWith(gateway.url))).toEqual([]);
});

test("a command that looks like a patch is shown as the command it is", async ({ page, gateway }) => {
  const command = "cat <<'E'\n--- a\nE\nrm \\\n-rf /srv/www";
  await gateway.ask(command);
  await signIn(page, gateway);
  await expect(page.getByRole("group", { name: "Command" })).toHaveText(command);
  await expect(page.locator(".diff")).toHaveCount(0);
  const patch = "--- a/notes\n+++ b/notes\n@@ -1 +1 @@\n-one\n+two\n";
  const call = await gateway.call("deploy_patch", { patch }, { session_id: "s2" });
  await page.goto(`${gateway.url}/#/approvals/${call.approval_id}`);
  await expect(page.locator(".diff .line-gone")).toHaveText(/one/);
});
