// Signing in and out.

import { expect, signIn, test } from "./gateway";

test("the printed link signs in once, and its code leaves the address", async ({ page, gateway, browser }) => {
  await page.goto(gateway.firstLink);
  await expect(page.getByRole("heading", { name: "no agent connected yet" })).toBeVisible();
  expect(page.url()).toBe(`${gateway.url}/`);
  const cookies = await page.context().cookies();
  expect(cookies.map((it) => [it.httpOnly, it.sameSite])).toEqual([[true, "Strict"]]);

  const other = await (await browser.newContext()).newPage();
  await other.goto(gateway.firstLink);
  await expect(other.getByRole("alert")).toHaveText("This link was already used or has expired.");
  await expect(other.getByText("countersign keys login")).toBeVisible();
  expect(other.url()).toBe(`${gateway.url}/`);
});

test("a link opened in a tab that shows the page already signs it in", async ({ page, gateway }) => {
  await page.goto(gateway.url);
  await expect(page.getByText("This browser is not signed in.")).toBeVisible();
  await signIn(page, gateway);
});

test("signing out ends it", async ({ page, gateway }) => {
  await signIn(page, gateway);
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByText("This browser is not signed in.")).toBeVisible();
});

test("whoever may only look is offered no choice", async ({ page, gateway }) => {
  await gateway.ask("rm -rf /srv/www");
  const viewer = await gateway.key("vera", "viewer");
  await page.setExtraHTTPHeaders({ authorization: `Bearer ${viewer}` });
  await page.goto(gateway.url);
  await expect(page.getByText("You can only view this. An approver answers it.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Deny", exact: true })).toHaveCount(0);
});
