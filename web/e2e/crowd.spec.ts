// Load test with a thousand waiting cards: how fast the first is there, how fast the next follows, and
// how much is sent for it. Run by `web/test soak`, with a release build.
//
// Other work on the machine makes every clock run longer, so processor time is measured beside it: that of
// the page's own thread and that of the gateway. The goals are tested on it; the times are printed.

import { readFileSync } from "node:fs";
import { loadavg } from "node:os";

import type { Browser, CDPSession, Page } from "@playwright/test";

import { armed, expect, test, type Gateway } from "./gateway";

const CARDS = 1000;
/** Cards of one agent that may wait at once. */
const OF_ONE = 20;
/** Browsers that open the link, one after the other, each with an empty cache. */
const VISITS = 9;
/** Cards that are gone through by key. */
const STEPS = 60;
/** Ticks of /proc/PID/stat in a second. */
const TICKS = 100;

const GOAL = { firstMs: 1000, nextMs: 40, kilobytes: 300 };

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const words = (values: number[]): string => {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(0)} ms (${least.toFixed(0)}–${most.toFixed(0)})`;
};

/** Processor time of the page's thread so far, in milliseconds. */
async function pageTime(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return (metrics.find((it) => it.name === "TaskDuration")?.value ?? 0) * 1000;
}

/** Processor time of the gateway so far, in milliseconds. */
function gatewayTime(gateway: Gateway): number {
  const fields = readFileSync(`/proc/${gateway.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}

/** Runs before the page's scripts: notes when the first card has been drawn, in milliseconds since the link was opened. */
function noteFirst(): void {
  const seen = (): boolean => document.querySelector("article.card h2") !== null;
  const look = (): void => {
    if (!seen()) return void requestAnimationFrame(look);
    requestAnimationFrame(() => Object.assign(window, { firstCardAt: performance.now() }));
  };
  look();
}

interface Visit {
  firstMs: number;
  pageMs: number;
  gatewayMs: number;
  bytes: number;
  /** What was read on the way: name, begin and end in milliseconds since the link was opened. */
  read: string[];
}

/** Opens the link in a browser that was never here. */
async function visit(browser: Browser, gateway: Gateway): Promise<[Page, Visit]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let bytes = 0;
  session.on("Network.loadingFinished", (event) => (bytes += event.encodedDataLength));
  await session.send("Network.enable");
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.addInitScript(noteFirst);
  const link = await gateway.link();
  const before = gatewayTime(gateway);
  await page.goto(link);
  const at = await page.waitForFunction(() => (window as { firstCardAt?: number }).firstCardAt, undefined, { polling: "raf" });
  const firstMs = (await at.jsonValue()) as number;
  const pageMs = await pageTime(session);
  const gatewayMs = gatewayTime(gateway) - before;
  await expect(page.locator(".quantity")).toHaveText(`${CARDS.toLocaleString("en")} waiting`);
  const read = await page.evaluate(() =>
    performance.getEntriesByType("resource").map((it) => `${new URL(it.name).pathname} ${it.startTime.toFixed(0)}–${(it.startTime + it.duration).toFixed(0)}`),
  );
  return [page, { firstMs, pageMs, gatewayMs, bytes, read }];
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

test("a thousand waiting cards stay usable", async ({ browser, gateway }) => {
  test.setTimeout(900_000);
  for (let index = 0; index < CARDS; index += 1) {
    const agent = `agent-${Math.floor(index / OF_ONE)}`;
    await gateway.call("terminal", { command: `rm -rf /srv/site-${index}` }, { session_id: `s${index}` }, agent);
  }
  const visits: Visit[] = [];
  for (let count = 1; count < VISITS; count += 1) {
    const [page, made] = await visit(browser, gateway);
    visits.push(made);
    await page.context().close();
  }
  const [page, last] = await visit(browser, gateway);
  visits.push(last);
  const bytes = median(visits.map((it) => it.bytes));
  const firstCpu = visits.map((it) => it.pageMs + it.gatewayMs);
  console.log(last.read.join("\n"));
  console.log(
    `${CARDS} cards, load ${loadavg()[0]?.toFixed(1)}: first card ${words(visits.map((it) => it.firstMs))} after the link, goal ${GOAL.firstMs}; ` +
      `processor time ${words(firstCpu)}, of it the page ${words(visits.map((it) => it.pageMs))}; ${Math.round(bytes / 1000)} kB on the wire, goal ${GOAL.kilobytes}`,
  );
  const rows = await page.getByRole("list", { name: "Waiting" }).getByRole("listitem").count();
  expect(rows).toBeLessThan(60);

  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const before = await pageTime(session);
  const spans: number[] = [];
  for (let step = 0; step < STEPS; step += 1) spans.push(await page.evaluate(next));
  const nextCpu = ((await pageTime(session)) - before) / STEPS;
  console.log(
    `load ${loadavg()[0]?.toFixed(1)}: next card ${words(spans)} after its key, goal ${GOAL.nextMs}; processor time of the page ${nextCpu.toFixed(1)} ms for each`,
  );
  expect(bytes).toBeLessThanOrEqual(GOAL.kilobytes * 1000);
  expect(median(firstCpu)).toBeLessThanOrEqual(GOAL.firstMs);
  expect(nextCpu).toBeLessThanOrEqual(GOAL.nextMs);

  await page.getByRole("searchbox", { name: "Filter" }).fill("site-777");
  await expect(page.getByRole("list", { name: "Waiting" }).getByRole("listitem")).toHaveCount(1);
  await page.getByRole("link", { name: /site-777/ }).click();
  await armed(page);
  await page.getByRole("button", { name: "Deny", exact: true }).click();
  await expect(page.locator(".outcome-words", { hasText: "Denied by you on the page" }).first()).toBeVisible();
  await page.context().close();
});
