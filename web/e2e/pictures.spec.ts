// Screenshots of the page for the documentation and for review. Run by web/screenshots.

import type { Page } from "@playwright/test";
import { join } from "node:path";

import { armed, expect, Gateway, signIn, test } from "./gateway";
import type { Reply } from "./model";

const DIRECTORY = process.env["COUNTERSIGN_PICTURES_DIR"] ?? "test-results";
const IS_ALL = process.env["COUNTERSIGN_PICTURES"] === "all";
const SIZES = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 800 }, wall: { width: 2560, height: 1440 } };

const SCRIPT: Reply[] = [
  { say: ["I look at what is there. "], tools: [{ id: "c1", name: "terminal", args: { command: "ls -la /srv/releases" } }] },
  {
    say: ["There are three old releases. I remove the oldest one."],
    tools: [{ id: "c2", name: "terminal", args: { command: "rm -rf /srv/releases/2024-01" } }],
  },
];
test.use({ script: [SCRIPT, { option: true }] as unknown as Reply[], past: 4000 });

interface Picture {
  name: string;
  /** Which sizes of it the documentation shows, in which themes. */
  docs: ("light" | "dark" | "phone")[];
  show: (page: Page, gateway: Gateway) => Promise<void>;
}

let deletion = "";
let message = "";
let edit = "";

async function card(page: Page, gateway: Gateway, id: string): Promise<void> {
  await page.goto(`${gateway.url}/#/approvals/${id}`);
  await expect(page.getByRole("article")).toHaveAttribute("aria-labelledby", `title-${id}`);
  await armed(page);
}

const PICTURES: Picture[] = [
  { name: "inbox", docs: ["light", "dark", "phone"], show: (page, gateway) => card(page, gateway, deletion) },
  {
    name: "list",
    docs: [],
    show: async (page, gateway) => {
      await page.goto(`${gateway.url}/#/inbox`);
      await expect(page.getByRole("list", { name: "Waiting" }).or(page.getByRole("article")).first()).toBeVisible();
    },
  },
  { name: "message", docs: ["light"], show: (page, gateway) => card(page, gateway, message) },
  { name: "edit", docs: ["dark"], show: (page, gateway) => card(page, gateway, edit) },
  {
    name: "why",
    docs: ["light"],
    show: async (page, gateway) => {
      await card(page, gateway, deletion);
      await page.keyboard.press("w");
      await page.locator(".factors").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "rule",
    docs: ["light"],
    show: async (page, gateway) => {
      await card(page, gateway, deletion);
      await page.keyboard.press("2");
      await expect(page.getByText(/Would have matched/).first()).toBeVisible();
      await expect(page.getByRole("button", { name: "Allow for this session" })).toHaveAttribute("aria-disabled", "false");
    },
  },
  {
    name: "talk",
    docs: ["light", "phone"],
    show: async (page, gateway) => {
      await page.goto(`${gateway.url}/#/talk`);
      const first = page.getByRole("link", { name: /Clean up the old releases/ });
      const field = page.getByLabel("Message to the agent");
      await expect(field).toBeVisible();
      if ((await gateway.asAdmin("GET", "/v1/sessions")).sessions.length === 0) {
        await field.fill("Clean up the old releases");
        await page.keyboard.press("Enter");
      } else {
        await first.click();
      }
      await expect(page.locator(".tool", { hasText: "waiting for an answer" })).toBeVisible();
      await page.getByRole("button", { name: "Deny", exact: true }).scrollIntoViewIfNeeded();
      await armed(page);
    },
  },
  ...["history", "insights", "reviews", "grants", "people", "rules", "ledger", "settings"].map(
    (name): Picture => ({
      name,
      docs: name === "history" || name === "insights" ? ["light", "dark"] : ["light"],
      show: async (page, gateway) => {
        await page.goto(`${gateway.url}/#/${name}`);
        await expect(page.getByRole("heading", { level: 1 }).first()).toBeVisible();
        await expect(page.locator(".loading")).toHaveCount(0);
      },
    }),
  ),
];

async function fill(gateway: Gateway): Promise<void> {
  for (const name of ["ana", "ben"]) await gateway.key(name, "approver");
  const calls = ["ls", "cargo test", "git status", "rg -n todo src", "cat README.md"];
  for (const command of calls) await gateway.call("terminal", { command }, { cwd: "/home/dev/shop" });
  deletion = await gateway.ask("cd /srv && tar czf backup.tgz www && rm -rf www", {
    cwd: "/srv",
    session_id: "release 41",
    agent: "release-bot",
    explanation: "The old site is no longer linked from anywhere.",
  });
  const text = "Hi Ana, the deploy is finished. Please look at the dashboard before noon, and tell Ben if something looks odd.";
  message = (await gateway.call("send_message", { to: "ana@example.org", text }, { agent: "assistant", session_id: "release 41" })).approval_id;
  const old_string = "listen 80;\nserver_name shop.example.org;\nroot /srv/www;";
  const new_string = "listen 443 ssl;\nserver_name shop.example.org;\nroot /srv/www-next;";
  edit = (await gateway.call("patch", { path: "/etc/nginx/sites-enabled/shop", old_string, new_string }, { cwd: "/srv", agent: "release-bot" })).approval_id;
  for (let index = 1; index < 5; index += 1) {
    await gateway.ask(`git push --force origin feature-${index}`, { cwd: "/home/dev/shop", session_id: "s7", agent: "coder" });
  }
  await gateway.question("Which environment should I deploy to?", ["staging", "production"]);
}

test("pictures", async ({ browser, gateway }) => {
  test.setTimeout(600_000);
  const shots: { scheme: "light" | "dark"; size: keyof typeof SIZES }[] = [];
  for (const scheme of ["light", "dark"] as const) {
    for (const size of ["desk", "phone", ...(IS_ALL ? (["wall"] as const) : [])] as const) shots.push({ scheme, size });
  }
  const link = await gateway.link();
  const first = await browser.newContext({ viewport: SIZES.desk });
  const page = await first.newPage();
  await page.goto(gateway.url);
  await expect(page.getByText("This browser is not signed in.")).toBeVisible();
  await page.screenshot({ path: join(DIRECTORY, "page-sign-in.png") });
  await page.goto(link);
  await expect(page.getByText("Try a practice card")).toBeVisible();
  await page.screenshot({ path: join(DIRECTORY, "page-nothing.png") });
  await first.close();
  await fill(gateway);
  for (const { scheme, size } of shots) {
    const context = await browser.newContext({ colorScheme: scheme, viewport: SIZES[size] });
    const page = await context.newPage();
    await signIn(page, gateway);
    for (const picture of PICTURES) {
      const isWanted = size === "desk" ? picture.docs.includes(scheme) : size === "phone" && scheme === "light" && picture.docs.includes("phone");
      if (!IS_ALL && !isWanted) continue;
      await picture.show(page, gateway);
      await page.screenshot({ path: join(DIRECTORY, `page-${picture.name}-${size === "desk" ? "" : `${size}-`}${scheme}.png`) });
    }
    await context.close();
  }
});
