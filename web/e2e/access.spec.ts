// Accessibility on every screen: axe reports nothing, nothing is cut off, motion and colours follow
// the person's settings.

import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";

import { Gateway, allowOnce, expect, signIn, test } from "./gateway";

interface View {
  name: string;
  address: string;
  /** What shows that it is there. */
  ready: string;
}

/** Views that need nothing but what waits; records.spec.ts tries those of the past with one. */
const PRESENT: View[] = [
  { name: "inbox", address: "#/inbox", ready: ".inbox" },
  { name: "card", address: "", ready: "article.card" },
  { name: "talk", address: "#/talk", ready: ".empty" },
  { name: "settings", address: "#/settings", ready: ".panel" },
  { name: "rules", address: "#/rules", ready: ".in-force" },
  { name: "more", address: "#/more", ready: "h1" },
];
const VIEWS: View[] = [
  ...PRESENT,
  ...["history", "insights", "reviews", "grants", "people", "ledger"].map((name) => ({ name, address: `#/${name}`, ready: "h1" })),
];

async function waits(gateway: Gateway): Promise<string> {
  await gateway.call("send_message", { to: "ana@example.org", text: "The deploy is finished." });
  await gateway.question("Which environment?", ["staging", "production"]);
  for (let index = 0; index < 3; index += 1) await gateway.ask(`git push --force origin r${index}`);
  return gateway.ask(`rm -rf /srv/${"long/".repeat(40)}`, { agent: "release-bot", explanation: "It is old." });
}

async function clean(page: Page, name: string): Promise<void> {
  const axe = new AxeBuilder({ page });
  // The other theme has the same elements in other colours.
  const isDark = await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches);
  const found = await (isDark ? axe.withRules("color-contrast") : axe).analyze();
  const said = found.violations.map((it) => `${name}: ${it.id}: ${it.nodes.map((node) => node.html).join(" | ").slice(0, 300)}`);
  expect(said).toEqual([]);
}

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(`in the ${colorScheme} theme`, () => {
    test.use({ colorScheme });

    test("axe finds nothing in any view", async ({ page, gateway }) => {
      test.setTimeout(300_000);
      await page.goto(gateway.url);
      await expect(page.getByText("This browser is not signed in.")).toBeVisible();
      await clean(page, "signed out");
      await signIn(page, gateway);
      await expect(page.getByText("Try a practice card")).toBeVisible();
      await clean(page, "first visit");
      const id = await waits(gateway);
      for (const view of PRESENT) {
        await page.goto(`${gateway.url}/${view.address === "" ? `#/approvals/${id}` : view.address}`);
        await expect(page.locator(view.ready).first()).toBeVisible();
        // Buttons are dim on purpose until they are armed.
        if (view.ready === "article.card" || view.name === "inbox") await expect(page.locator('.answer[data-armed="true"]')).toBeVisible();
        await clean(page, view.name);
      }
      await page.goto(`${gateway.url}/#/approvals/${id}`);
      await page.keyboard.press("w");
      await page.keyboard.press("b");
      await expect(page.locator(".led li").first()).toBeAttached();
      await page.getByRole("button", { name: "Allow for this session" }).click();
      await expect(page.getByText(/Would have matched/)).toBeVisible();
      await expect(page.locator('.answer[data-armed="true"]')).toBeVisible();
      await expect(page.getByRole("button", { name: "Allow for this session" })).toHaveAttribute("aria-disabled", "false");
      await clean(page, "rule");
      await page.keyboard.press("Escape");
      await page.keyboard.press("?");
      await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
      await clean(page, "keys");
      await page.keyboard.press("Escape");
      await page.setViewportSize({ width: 390, height: 844 });
      await clean(page, "card on a phone");
      await page.goto(`${gateway.url}/#/inbox`);
      await expect(page.getByRole("list", { name: "Waiting" })).toBeVisible();
      await clean(page, "inbox on a phone");
    });
  });
}

test("a phone on its side shows the card and every choice", async ({ page, gateway }) => {
  await page.setViewportSize({ width: 740, height: 360 });
  const id = await gateway.ask("systemctl restart nginx");
  await signIn(page, gateway);
  await page.goto(`${gateway.url}/#/approvals/${id}`);
  await expect(page.locator('.answer[data-armed="true"]')).toBeVisible();
  for (const name of ["Allow once", "Allow for this session", "Add to permanent allowlist", "Deny"]) {
    await expect(page.getByRole("button", { name, exact: true })).toBeInViewport({ ratio: 1 });
  }
  await expect(page.getByRole("group", { name: "Command" })).toBeInViewport({ ratio: 1 });
  await clean(page, "a phone on its side");
});

test("a narrow screen says why a card cannot be allowed yet", async ({ page, gateway }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  const lines = Array.from({ length: 40 }, (_, index) => `echo line ${index}`);
  const id = await gateway.ask(`${lines.join("\n")}\nrm -rf /srv/www`);
  await signIn(page, gateway);
  await page.goto(`${gateway.url}/#/approvals/${id}`);
  await expect(page.locator('.answer[data-armed="true"]')).toBeVisible();
  await expect(page.getByRole("button", { name: "Allow once" })).toHaveAttribute("aria-disabled", "true");
  await expect(page.getByText("Read to the end")).toBeInViewport({ ratio: 1 });
  // A broken line goes on under its text.
  const [number, code] = await page.locator(".code-line").first().evaluate((line) => {
    const box = line.closest("pre")?.getBoundingClientRect().left ?? 0;
    return [Number.parseFloat(getComputedStyle(line, "::before").marginLeft), line.getBoundingClientRect().left - box];
  });
  expect(number).toBeLessThan(-20);
  expect(code).toBeGreaterThan(0);
  await page.locator(".end").scrollIntoViewIfNeeded();
  await expect(page.getByRole("button", { name: "Allow once" })).toHaveAttribute("aria-disabled", "false");
  await expect(page.getByText("Read to the end")).toBeHidden();
  await page.goto(`${gateway.url}/#/`);
  await expect(page.getByRole("link", { name: /echo line 0 ↵ echo line 1/ })).toBeVisible();
});

for (const [name, viewport] of [
  ["320 pixels", { width: 320, height: 640 }],
  ["a phone", { width: 390, height: 844 }],
  ["200 % of 1280", { width: 640, height: 400 }],
  ["4K", { width: 3840, height: 2160 }],
] as const) {
  test(`nothing is cut off at ${name}`, async ({ page, gateway }) => {
    await page.setViewportSize(viewport);
    await signIn(page, gateway);
    const id = await waits(gateway);
    for (const view of VIEWS) {
      await page.goto(`${gateway.url}/${view.address === "" ? `#/approvals/${id}` : view.address}`);
      await expect(page.locator(view.ready).first()).toBeVisible();
      const over = await page.evaluate(() => {
        const wide = (element: Element): boolean => element.scrollWidth > element.clientWidth + 1;
        const boxes = [document.documentElement, ...document.querySelectorAll("main, .card-scroll, .answer, .thread-scroll, .list")];
        return boxes.filter(wide).map((element) => element.className || element.tagName);
      });
      expect(over, view.name).toEqual([]);
    }
    await page.goto(`${gateway.url}/#/approvals/${id}`);
    await page.locator(".end").scrollIntoViewIfNeeded();
    const allow = page.getByRole("button", { name: "Allow once" });
    await expect(allow).toHaveAttribute("aria-disabled", "false");
    await allow.scrollIntoViewIfNeeded();
    const box = await allow.boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
    await allowOnce(page);
    await expect(page.locator(".outcome-words", { hasText: "Allowed once by you on the page" })).toBeVisible();
  });
}

test("motion is not moved and forced colours are kept", async ({ page, gateway }) => {
  await page.emulateMedia({ reducedMotion: "reduce", forcedColors: "active" });
  await gateway.ask("rm -rf /srv/www");
  await signIn(page, gateway);
  await expect(page.getByRole("article")).toBeVisible();
  const moved = await page.locator(".choice").first().evaluate((element) => getComputedStyle(element).transitionDuration);
  expect(moved).toBe("0s");
  const edge = await page.locator(".risk").first().evaluate((element) => getComputedStyle(element).borderTopStyle);
  expect(edge).toBe("solid");
});
