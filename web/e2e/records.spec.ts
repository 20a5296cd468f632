// History, insights, reviews, grants, people and keys, the ledger.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";

import { Gateway, expect, signIn, test } from "./gateway";
import type { Reply } from "./model";

/** Every view of this file, and what shows that it is there. */
const VIEWS: { name: string; address: string; ready: RegExp }[] = [
  { name: "history", address: "#/history", ready: /no more|scroll for older/ },
  { name: "insights", address: "#/insights", ready: /Calls by verdict/ },
  { name: "reviews", address: "#/reviews", ready: /Nothing to review/ },
  { name: "grants", address: "#/grants", ready: /Valid for/ },
  { name: "people", address: "#/people", ready: /Signed-in browsers/ },
  { name: "ledger", address: "#/ledger", ready: /of \d+/ },
];

/** Lets some calls run, be denied, be refused and be granted. */
async function happenings(gateway: Gateway): Promise<void> {
  await gateway.call("terminal", { command: "git status" });
  await gateway.call("terminal", { command: "rm -rf /" });
  await gateway.answer(await gateway.ask("rm -rf /srv/releases/2023"), "deny", { note: "still needed" });
  await gateway.answer(await gateway.ask("systemctl restart nginx"), "session");
}

async function open(page: Page, gateway: Gateway, address: string): Promise<void> {
  await page.goto(`${gateway.url}/${address}`);
}

test("history is searched and filtered, and every call is explained factor by factor", async ({ page, gateway }) => {
  await happenings(gateway);
  await signIn(page, gateway);
  await open(page, gateway, "#/history");
  const calls = page.getByRole("region", { name: "Calls" }).getByRole("listitem");
  await expect(calls).toHaveCount(4);
  await page.keyboard.press("/");
  await page.getByRole("searchbox").fill("RELEASES rm");
  await expect(calls).toHaveCount(1);
  await page.getByRole("searchbox").fill("");
  await expect(calls).toHaveCount(4);
  await page.getByLabel("Status").selectOption("Refused");
  await expect(calls).toHaveCount(1);
  await expect(calls.first()).toContainText("rm -rf /");
  await page.getByLabel("Status").selectOption("Denied");
  await page.getByRole("link", { name: /releases/ }).click();
  const detail = page.getByRole("region", { name: "One call" });
  await expect(detail.getByRole("heading", { level: 2 })).toHaveText(/^Denied by you on the API$|^Denied by .* on the API$/);
  await expect(detail).toContainText("still needed");
  await expect(detail).toContainText("How hard to undo");
  await expect(detail).toContainText("fs.delete");
  // The address says what is shown, so that it can be sent to somebody.
  await page.reload();
  await expect(detail).toContainText("still needed");
  await expect(calls).toHaveCount(1);
  await page.getByRole("searchbox").fill("there is no such call");
  await expect(page.getByText("No matching calls")).toBeVisible();
  await page.getByRole("button", { name: "Show everything" }).click();
  await expect(calls).toHaveCount(4);
  await gateway.call("terminal", { command: "ls new" });
  await page.getByRole("button", { name: "1 new call, show" }).click();
  await expect(calls).toHaveCount(5);
});

test("the keyboard goes through history, and hostile text stays text", async ({ page, gateway }) => {
  const hostile = "echo '<img src=x onerror=alert(1)>' \u202e gpj.exe";
  await gateway.call("terminal", { command: hostile });
  await gateway.call("terminal", { command: "git log" });
  await signIn(page, gateway);
  await page.keyboard.press("h");
  await expect(page.getByRole("region", { name: "Calls" }).getByRole("listitem")).toHaveCount(2);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const command = page.getByRole("group", { name: "Command" });
  await expect(command).toContainText("<img src=x onerror=alert(1)>");
  await expect(command).toContainText("⟨U+202E⟩");
  await expect(page.locator("img")).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(page.getByText("Select a call")).toBeVisible();
});

test("insights count, can be read as a table, and other thresholds are tried at once", async ({ page, gateway }) => {
  await happenings(gateway);
  await gateway.call("terminal", { command: "curl https://example.org/data.json -o data.json" });
  await signIn(page, gateway);
  await open(page, gateway, "#/insights");
  await expect(page.locator(".tile").filter({ hasText: "Calls" })).toContainText("5");
  await expect(page.locator(".tile").filter({ hasText: "Approved" })).toContainText("50 %");
  await page.getByText("Show as a table").click();
  // A head and at least one day: it may be midnight.
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  const asked = page.locator(".difference-main");
  await expect(asked).toContainText("asked about, instead of 2");
  const slider = page.getByRole("slider", { name: /Asks above this risk/ });
  await slider.focus();
  await page.keyboard.press("Home");
  // The thresholds stay in order: one cannot pass the other.
  await expect(page.getByRole("slider", { name: /Runs without a question/ })).toHaveValue("0");
  await expect(asked).toContainText("4 of 5 calls asked about, instead of 2");
  await expect(page.getByRole("list", { name: "Calls with a different verdict" }).getByRole("link")).toHaveCount(2);
  await page.getByRole("button", { name: "Reset" }).click();
  await expect(asked).toContainText("2 of 5 calls");
  await page.getByRole("button", { name: "24 hours" }).click();
  await expect(page.getByRole("button", { name: "24 hours" })).toHaveAttribute("aria-pressed", "true");
  await expect(page.locator(".tile").filter({ hasText: "Calls" })).toContainText("5");
});

test("a grant is revoked after asking once more", async ({ page, gateway }) => {
  await happenings(gateway);
  expect((await gateway.call("terminal", { command: "systemctl restart nginx" })).status).toBe("allowed");
  await signIn(page, gateway);
  await open(page, gateway, "#/grants");
  const grant = page.getByRole("article");
  await expect(grant).toContainText("systemctl restart nginx");
  await expect(grant).toContainText("1 time");
  await grant.getByRole("button", { name: /^Revoke/ }).click();
  await expect(grant.getByRole("button", { name: "Leave it" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(grant.getByRole("button", { name: /^Revoke/ })).toBeFocused();
  await page.keyboard.press("Enter");
  await grant.getByRole("button", { name: "Revoke it" }).click();
  await expect(page.getByText("No active grants")).toBeVisible();
  await page.getByLabel("Show ended grants").check();
  await expect(grant).toContainText("Ended");
  expect((await gateway.asAdmin("GET", "/v1/grants")).grants).toEqual([]);
});

test("a grant shows the backticks of its command", async ({ page, gateway }) => {
  const id = await gateway.ask("rm -rf '/srv/a`b`'");
  await gateway.answer(id, "session");
  await signIn(page, gateway);
  await open(page, gateway, "#/grants");
  await expect(page.getByRole("article").getByRole("heading")).toContainText("a`b`");
});

test.describe("what ran and can be undone", () => {
  const write = { id: "c1", name: "write_file", args: { path: "notes.md", content: "# Notes\nnew line\n" } };
  const look = { id: "c2", name: "read_file", args: { path: "notes.md" } };
  const script: Reply[] = [{ tools: [write] }, { say: ["Done."] }, { tools: [look] }, { say: ["Done."] }];
  test.use({
    config: [
      "review: { enabled: true }",
      "approvals: { allow: [{ tool: read_file, name: look }], thresholds: { auto_below: 0.0, ask_above: 0.6, confidence_min: 1.0 } }",
      "",
    ].join("\n"),
    script: [script, { option: true }] as unknown as Reply[],
  });

  test("shows its difference as soon as there is one", async ({ page, gateway }) => {
    // As if it was read before the tool had begun.
    let isEarly = true;
    await page.route("**/v1/reviews", async (route) => {
      const response = await route.fetch();
      const list = await response.json();
      if (isEarly) for (const review of list.reviews) Object.assign(review, { path: null, diff: null });
      isEarly &&= list.reviews.length === 0;
      await route.fulfill({ response, json: list });
    });
    await gateway.asAdmin("POST", "/v1/runs", { input: "Write a note", cwd: gateway.home });
    await signIn(page, gateway);
    await open(page, gateway, "#/reviews");
    const review = page.getByRole("article");
    await expect(review.getByRole("group", { name: "Command" })).toBeVisible();
    await expect.poll(async () => JSON.stringify(await gateway.asAdmin("GET", "/v1/reviews"))).toContain("new line");
    await gateway.asAdmin("POST", "/v1/runs", { input: "Look at it", cwd: gateway.home });
    await expect(review.getByRole("group", { name: "What changed" })).toContainText("new line");
  });

  test("shows its difference and is undone", async ({ page, gateway }) => {
    const work = join(gateway.home, "work");
    mkdirSync(work);
    const file = join(work, "notes.md");
    writeFileSync(file, "# Notes\nold line\n");
    await gateway.asAdmin("POST", "/v1/runs", { input: "Write a note", cwd: work });
    await signIn(page, gateway);
    await open(page, gateway, "#/reviews");
    const review = page.getByRole("article");
    await expect(review.getByRole("group", { name: "What changed" })).toContainText("new line");
    expect(readFileSync(file, "utf8")).toContain("new line");
    await expect(review).toContainText("notes.md");
    await review.getByRole("button", { name: /^Undo/ }).click();
    await review.getByRole("button", { name: "Undo it" }).click();
    await expect(page.getByText("Nothing to review")).toBeVisible();
    expect(existsSync(file) && readFileSync(file, "utf8")).toContain("old line");
  });
});

test("a key is shown once and revoked, and another browser is signed out", async ({ page, gateway, browser }) => {
  const other = await browser.newPage();
  await signIn(other, gateway);
  await signIn(page, gateway);
  await open(page, gateway, "#/people");
  const keys = page.getByRole("region", { name: "Keys" });
  await keys.getByText("Create a key").click();
  await keys.getByLabel("Name").fill("robot");
  await keys.getByRole("button", { name: "Create the key" }).click();
  const dialog = page.getByRole("dialog", { name: "The key of robot" });
  const secret = (await dialog.getByRole("group", { name: "The key", exact: true }).textContent()) ?? "";
  expect(secret).toMatch(/^cs_agent_/);
  expect((await gateway.request("GET", "/v1/whoami", secret)).name).toBe("robot");
  await dialog.getByRole("button", { name: "Close" }).click();
  await expect(page.getByText(secret)).toHaveCount(0);
  await keys.getByRole("button", { name: "Revoke the key of robot" }).click();
  await keys.getByRole("button", { name: "Revoke it" }).click();
  await expect(keys.getByText("robot")).toHaveCount(0);
  await expect(gateway.request("GET", "/v1/whoami", secret)).rejects.toThrow("401");
  const browsers = page.getByRole("region", { name: "Browsers" });
  await expect(browsers.getByRole("listitem")).toHaveCount(2);
  // The newest is this one, so the last is the other.
  await browsers.getByRole("button", { name: /^Sign out/ }).last().click();
  await browsers.getByRole("button", { name: "Sign it out" }).click();
  await expect(browsers.getByRole("listitem")).toHaveCount(1);
  await other.reload();
  await expect(other.getByText("This browser is not signed in.")).toBeVisible();
  await other.close();
});

test("the ledger is verified, and its entries can be read", async ({ page, gateway }) => {
  for (let index = 0; index < 30; index += 1) await gateway.call("terminal", { command: `ls ${index}` });
  await signIn(page, gateway);
  await open(page, gateway, "#/ledger");
  await page.getByRole("button", { name: "Verify the ledger" }).click();
  await expect(page.getByRole("heading", { name: "The ledger is intact" })).toBeVisible();
  await expect(page.getByRole("group", { name: "Head" })).toContainText("sha256:");
  const entries = page.getByRole("region", { name: "Entries" });
  await expect(entries.getByText("call.assessed").first()).toBeVisible();
  await entries.getByRole("button", { name: "Older" }).click();
  const started = entries.getByText("session.started", { exact: true });
  await expect(started).toBeVisible();
  await started.click();
  await expect(entries.locator("details[open]").getByText("Previous hash")).toBeVisible();
});

test("while the gateway is away what was read stays, and it goes on by itself", async ({ page, gateway }) => {
  await happenings(gateway);
  await signIn(page, gateway);
  await open(page, gateway, "#/grants");
  await expect(page.getByRole("article")).toContainText("systemctl restart nginx");
  await gateway.stop();
  await expect(page.getByText("Gateway offline, reconnecting.")).toBeVisible();
  await expect(page.getByRole("article")).toContainText("systemctl restart nginx");
  await page.getByRole("button", { name: /^Revoke/ }).click();
  await page.getByRole("button", { name: "Revoke it" }).click();
  await expect(page.getByText("The gateway does not respond. Nothing was changed.")).toBeVisible();
  await gateway.start(Number(new URL(gateway.url).port));
  await expect(page.getByText("Gateway offline, reconnecting.")).toHaveCount(0);
});

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(`in the ${colorScheme} theme`, () => {
    test.use({ colorScheme });

    test("axe finds nothing in history, insights, reviews, grants, people and ledger", async ({ page, gateway }) => {
      test.setTimeout(300_000);
      await signIn(page, gateway);
      await open(page, gateway, "#/history");
      await expect(page.getByText("No calls yet")).toBeVisible();
      await clean(page, "history, empty");
      await happenings(gateway);
      await page.reload();
      for (const view of VIEWS) {
        await open(page, gateway, view.address);
        await expect(page.getByText(view.ready).first()).toBeVisible();
        if (view.name === "history") await page.getByRole("link", { name: /releases/ }).click();
        if (view.name === "grants") await page.getByRole("button", { name: /^Revoke/ }).click();
        if (view.name === "ledger") await page.getByRole("button", { name: "Verify the ledger" }).click();
        if (view.name === "insights") await page.getByText("Show as a table").click();
        await clean(page, view.name);
      }
    });
  });
}

async function clean(page: Page, name: string): Promise<void> {
  const found = await new AxeBuilder({ page }).analyze();
  const said = found.violations.map((it) => `${name}: ${it.id}: ${it.nodes.map((node) => node.html).join(" | ").slice(0, 300)}`);
  expect(said).toEqual([]);
}

for (const [name, viewport] of [
  ["320 pixels", { width: 320, height: 640 }],
  ["4K", { width: 3840, height: 2160 }],
] as const) {
  test(`no record is cut off at ${name}`, async ({ page, gateway }) => {
    await page.setViewportSize(viewport);
    await happenings(gateway);
    await gateway.call("terminal", { command: `ls ${"deep/".repeat(60)}` }, { agent: "an-agent-with-a-long-name-without-breaks" });
    await signIn(page, gateway);
    for (const view of VIEWS) {
      await open(page, gateway, view.address);
      await expect(page.getByText(view.ready).first()).toBeVisible();
      if (view.name === "history") await page.getByRole("link", { name: /deep/ }).click();
      const over = await page.evaluate(() => {
        const wide = (element: Element): boolean => element.scrollWidth > element.clientWidth + 1;
        const boxes = [document.documentElement, ...document.querySelectorAll("main, .card-scroll, .list, .panel, .page")];
        return boxes.filter(wide).map((element) => element.className || element.tagName);
      });
      expect(over, view.name).toEqual([]);
    }
  });
}
