// Load test with a thousand waiting cards. Run by ./soak.

import { expect, signIn, test } from "./gateway";

const CARDS = 1000;
/** Cards of one agent that may wait at once. */
const OF_ONE = 20;

test.use({ config: "approvals: { timeout: 1h }\n" });

test("a thousand waiting cards stay usable", async ({ page, gateway }) => {
  test.setTimeout(600_000);
  for (let index = 0; index < CARDS; index += 1) {
    const agent = `agent-${Math.floor(index / OF_ONE)}`;
    await gateway.call("terminal", { command: `rm -rf /srv/site-${index}` }, { session_id: `s${index}` }, agent);
  }
  const begun = Date.now();
  await signIn(page, gateway);
  await expect(page.getByText("1,000 waiting", { exact: true })).toBeVisible();
  const loaded = Date.now() - begun;
  const rows = await page.getByRole("list", { name: "Waiting" }).getByRole("listitem").count();
  expect(rows).toBeLessThan(60);
  const spans: number[] = [];
  for (let step = 0; step < 50; step += 1) {
    spans.push(
      await page.evaluate(async () => {
        const before = performance.now();
        window.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        return performance.now() - before;
      }),
    );
  }
  spans.sort((a, b) => a - b);
  const middle = spans[Math.floor(spans.length / 2)] ?? 0;
  const worst = spans.at(-1) ?? 0;
  console.log(`${CARDS} cards: signed in and drawn in ${loaded} ms; next card in ${middle.toFixed(0)} ms, at worst ${worst.toFixed(0)} ms`);
  expect(middle).toBeLessThan(250);
  await page.getByRole("searchbox", { name: "Filter" }).fill("site-777");
  await expect(page.getByRole("list", { name: "Waiting" }).getByRole("listitem")).toHaveCount(2);
  await page.getByRole("link", { name: /site-777/ }).click();
  await page.getByRole("button", { name: "Deny", exact: true }).click();
  await expect(page.locator(".outcome-words", { hasText: "Denied by you on the page" })).toBeVisible();
});
