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

for (const [role, what] of [["approver", "key"], ["viewer", "key"], ["approver", "code"], ["approver", "link"]] as const) {
  test(`the ${role}'s ${what} can be pasted, and the address is kept`, async ({ page, gateway }) => {
    const id = await gateway.ask("rm -rf /srv/www");
    const key = await gateway.key("ana", role);
    const { code } = await gateway.request("POST", "/v1/login/code", key, {});
    await page.goto(`${gateway.url}/#/approvals/${id}`);
    const field = page.getByLabel("Or paste the link, its code, or your key");
    await field.fill({ key, code, link: `http://elsewhere.example/#code=${code}` }[what]);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("article")).toBeVisible();
    await expect(page.locator(".sidebar .who")).toContainText(`ana${role}`);
    await expect(page.getByRole("button", { name: "Deny", exact: true })).toHaveCount(role === "viewer" ? 0 : 1);
    expect(page.url()).toBe(`${gateway.url}/#/approvals/${id}`);
    expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))).not.toContain(key);
  });
}

test("what cannot sign in is told why, in words", async ({ page, gateway }) => {
  await page.goto(gateway.url);
  const field = page.getByLabel("Or paste the link, its code, or your key");
  for (const [pasted, said] of [
    ["", "Paste a link, a code or a key first."],
    ["nonsense", "This link was already used or has expired."],
    ["cs_admin_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "This key is not valid. It may have been revoked."],
    [await gateway.key("coder", "agent"), "This is the key of an agent. Sign in with the key of a person."],
  ] as const) {
    await field.fill(pasted);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("alert")).toHaveText(said);
  }
});

test("a session that ends leads to sign-in in whichever view it is noticed", async ({ page, gateway }) => {
  await signIn(page, gateway);
  const { logins } = await gateway.asAdmin("GET", "/v1/logins");
  for (const login of logins) await gateway.asAdmin("DELETE", `/v1/logins/${login.id}`);
  // The stream of events may notice it before the view does, and then there is no link to click.
  await page.evaluate(() => void (location.hash = "#/ledger"));
  await expect(page.getByText("Your session has ended.")).toBeVisible();
  await expect(page.getByLabel("Or paste the link, its code, or your key")).toBeVisible();
  await expect(page.getByText("Bearer")).toHaveCount(0);
});
