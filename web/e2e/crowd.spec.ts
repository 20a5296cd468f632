// Load test with a thousand waiting cards: how fast the first is there, how fast the next follows, and
// how much is sent for it. Run by ./soak.

import type { Page } from "@playwright/test";

import { armed, expect, test } from "./gateway";

const CARDS = 1000;
/** Cards of one agent that may wait at once. */
const OF_ONE = 20;

/** On a machine that does nothing else, with a release build. */
const GOAL = { firstMs: 1000, nextMs: 40, kilobytes: 300 };
/** The gateway of the tests is a debug build, and the machine is shared; bytes are the same everywhere. */
const SLACK = 4;

/** Counts the bytes that the page receives, headers included. Returns how many there were so far. */
async function traffic(page: Page): Promise<() => number> {
  const session = await page.context().newCDPSession(page);
  let bytes = 0;
  session.on("Network.loadingFinished", (event) => (bytes += event.encodedDataLength));
  await session.send("Network.enable");
  return () => bytes;
}

/** Presses `j` in the page. Returns after how many milliseconds another card is drawn. */
async function next(): Promise<number> {
  const shown = (): string => document.querySelector("article.card h2")?.id ?? "";
  const before = shown();
  const begun = performance.now();
  window.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
  while (shown() === before || shown() === "") {
    if (performance.now() - begun > 5000) throw new Error("no other card");
    await new Promise(requestAnimationFrame);
  }
  await new Promise(requestAnimationFrame);
  return performance.now() - begun;
}

test.use({ config: "approvals: { timeout: 1h }\n" });

test("a thousand waiting cards stay usable", async ({ page, gateway }) => {
  test.setTimeout(600_000);
  for (let index = 0; index < CARDS; index += 1) {
    const agent = `agent-${Math.floor(index / OF_ONE)}`;
    await gateway.call("terminal", { command: `rm -rf /srv/site-${index}` }, { session_id: `s${index}` }, agent);
  }
  const wire = await traffic(page);
  const begun = Date.now();
  await page.goto(await gateway.link());
  await expect(page.getByRole("article")).toBeVisible();
  const first = Date.now() - begun;
  await expect(page.locator(".quantity")).toHaveText("1,000 waiting");
  const bytes = wire();
  const rows = await page.getByRole("list", { name: "Waiting" }).getByRole("listitem").count();
  expect(rows).toBeLessThan(60);
  const spans: number[] = [];
  for (let step = 0; step < 50; step += 1) spans.push(await page.evaluate(next));
  spans.sort((a, b) => a - b);
  const middle = spans[Math.floor(spans.length / 2)] ?? 0;
  const worst = spans.at(-1) ?? 0;
  console.log(
    `${CARDS} cards: first card ${first} ms after the link (goal ${GOAL.firstMs}), ${Math.round(bytes / 1000)} kB on the wire (goal ${GOAL.kilobytes}), ` +
      `next card ${middle.toFixed(0)} ms after its key (goal ${GOAL.nextMs}), at worst ${worst.toFixed(0)} ms`,
  );
  expect(bytes).toBeLessThanOrEqual(GOAL.kilobytes * 1000);
  expect(first).toBeLessThanOrEqual(GOAL.firstMs * SLACK);
  expect(middle).toBeLessThanOrEqual(GOAL.nextMs * SLACK);
  await page.getByRole("searchbox", { name: "Filter" }).fill("site-777");
  await expect(page.getByRole("list", { name: "Waiting" }).getByRole("listitem")).toHaveCount(1);
  await page.getByRole("link", { name: /site-777/ }).click();
  await armed(page);
  await page.getByRole("button", { name: "Deny", exact: true }).click();
  await expect(page.locator(".outcome-words", { hasText: "Denied by you on the page" })).toBeVisible();
});
