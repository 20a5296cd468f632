// The files of the page: what is loaded when, what is kept, and what happens when a file is missing.

import { expect, signIn, test } from "./gateway";

// The worker would answer for the gateway, and what a worker fetches is not seen here.
test.use({ serviceWorkers: "block" });

test("a view's script is loaded when it is opened, and files are kept by their name", async ({ page, gateway }) => {
  const loaded: string[] = [];
  page.on("response", (response) => {
    const path = new URL(response.url()).pathname;
    if (/\.(js|css)$/.test(path)) loaded.push(`${path} ${response.headers()["content-encoding"]}`);
  });
  await signIn(page, gateway);
  await expect(page.getByText("Try a practice card")).toBeVisible();
  const first = loaded.length;
  for (const file of loaded) expect(file).toMatch(/-[A-Z0-9]{8}\.(js|css) gzip$/);
  expect(first).toBeLessThanOrEqual(4);
  expect(loaded.join()).not.toContain("/insights-");
  await page.getByRole("link", { name: "Insights" }).click();
  await expect(page.getByRole("heading", { name: "Insights" })).toBeVisible();
  expect(loaded.slice(first).join()).toContain("/insights-");
});

test("a view that cannot be loaded says so and offers a way out", async ({ page, gateway }) => {
  await signIn(page, gateway);
  let isMissing = true;
  await page.route(/\/ledger-\w+\.js/, (route) => (isMissing ? route.fulfill({ status: 404 }) : route.continue()));
  await page.getByRole("link", { name: "Ledger" }).click();
  await expect(page.getByRole("heading", { name: "This view could not be loaded" })).toBeVisible();
  isMissing = false;
  await page.getByRole("button", { name: "Reload the page" }).click();
  await expect(page.getByRole("button", { name: "Verify the ledger" })).toBeVisible();
});

test("a full card is read when it is opened, and the list has rows only", async ({ page, gateway }) => {
  for (let index = 0; index < 8; index += 1) await gateway.ask(`systemctl restart service-${index}`, { session_id: `s${index}` });
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await signIn(page, gateway);
  await expect(page.getByRole("article")).toContainText("service-0");
  const cards = (): string[] => asked.filter((path) => path.startsWith("/v1/approvals/"));
  // The open one and the one behind it.
  await expect.poll(() => new Set(cards()).size).toBe(2);
  await page.keyboard.press("j");
  await expect(page.getByRole("article")).toContainText("service-1");
  await expect.poll(() => new Set(cards()).size).toBe(3);
  expect(asked).not.toContain("/v1/approvals");
});
