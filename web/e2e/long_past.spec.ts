// Load test with a hundred thousand past calls. Run by ./soak, because creating them takes minutes.

import { execFileSync } from "node:child_process";

import { expect, PAST, signIn, test } from "./gateway";

const CALLS = 100_000;
const DAYS = 30;
/** What a person still calls at once, in milliseconds, with a gateway that is not optimised. */
const AT_ONCE_MS = 4000;

async function timed(what: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await what();
  return Math.round(performance.now() - begun);
}

test("a hundred thousand calls stay usable", async ({ page, gateway }) => {
  test.setTimeout(1_800_000);
  await gateway.stop();
  execFileSync(PAST, [gateway.home, String(CALLS), String(DAYS)]);
  await gateway.start(Number(new URL(gateway.url).port));
  await signIn(page, gateway);
  const took: Record<string, number> = {};
  const calls = page.getByRole("region", { name: "Calls" });

  took["history"] = await timed(async () => {
    await page.goto(`${gateway.url}/#/history`);
    await expect(calls.getByText("The newest 100 calls")).toBeVisible();
  });
  took["first search"] = await timed(async () => {
    await page.getByRole("searchbox").fill("kubectl api");
    // The ledger is read for the first time.
    await expect(calls.getByRole("link").first()).toContainText("kubectl delete", { timeout: 60_000 });
  });
  took["next search"] = await timed(async () => {
    await page.getByRole("searchbox").fill("nginx");
    await expect(calls.getByRole("link").first()).toContainText("nginx");
  });
  took["rare filter"] = await timed(async () => {
    await page.getByRole("searchbox").fill("");
    await page.getByLabel("Status").selectOption("Refused");
    await expect(calls.getByRole("link").first()).toContainText("rm -rf /");
  });
  await page.getByLabel("Status").selectOption("Any status");
  await expect(calls.getByText("The newest 100 calls")).toBeVisible();

  // Somebody who scrolls for a while finds older ones, and the page does not grow with them.
  took["20 pages further"] = await timed(async () => {
    for (let pages = 2; pages <= 20; pages += 1) {
      await page.locator(".records .virtual").evaluate((list) => list.scrollTo(0, list.scrollHeight));
      await expect(calls.getByText(`The newest ${(pages * 100).toLocaleString("en")} calls`)).toBeVisible();
    }
  });
  expect(await calls.getByRole("listitem").count()).toBeLessThan(60);

  took["insights"] = await timed(async () => {
    await page.goto(`${gateway.url}/#/insights?period=month`);
    await expect(page.locator(".tile").filter({ hasText: "Calls" })).toContainText(/\d\d,\d\d\d/);
  });
  const asked = page.locator(".difference-main");
  await expect(asked).toContainText("asked about");
  const before = await asked.textContent();
  took["slider"] = await timed(async () => {
    await page.getByRole("slider", { name: /Asks above this risk/ }).focus();
    await page.keyboard.press("Home");
    await expect(asked).not.toHaveText(before ?? "");
  });
  took["verified ledger"] = await timed(async () => {
    await page.goto(`${gateway.url}/#/ledger`);
    await page.getByRole("button", { name: "Verify the ledger" }).click();
    await expect(page.getByRole("heading", { name: "The ledger is intact" })).toBeVisible({ timeout: 120_000 });
  });
  console.log(`${CALLS.toLocaleString("en")} calls, in ms: ${Object.entries(took).map(([name, ms]) => `${name} ${ms}`).join(", ")}`);
  for (const name of ["history", "next search", "rare filter", "slider"]) expect(took[name], name).toBeLessThan(AT_ONCE_MS);
});
