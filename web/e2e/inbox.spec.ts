// Answering cards.

import { allowOnce, armed, expect, signIn, test } from "./gateway";

test("a card is allowed once", async ({ page, gateway }) => {
  await signIn(page, gateway);
  const id = await gateway.ask("rm -rf /srv/www", { agent: "release-bot", cwd: "/srv", explanation: "It is old." });
  await expect(page).toHaveTitle("(1) Countersign");
  const card = page.getByRole("article");
  await expect(card.getByRole("heading", { name: "Run a shell command" })).toBeVisible();
  await expect(card.getByText("Critical")).toBeVisible();
  await expect(card.getByRole("group", { name: "Command" })).toHaveText("rm -rf /srv/www");
  await expect(card.getByText(/expires in \d min/)).toBeVisible();
  await expect(card.getByText("release-bot")).toBeVisible();
  await expect(card.locator("blockquote")).toHaveText("It is old.");
  expect(page.url()).toBe(`${gateway.url}/#/approvals/${id}`);
  await allowOnce(page);
  await expect(card.locator(".outcome-words", { hasText: "Allowed once by you on the page" })).toBeVisible();
  const { decision } = await gateway.approval(id);
  expect([decision.outcome, decision.choice, decision.via]).toEqual(["approved", "once", "page"]);
  await expect(page).toHaveTitle("Countersign");
});

test("a denial carries its note to the agent", async ({ page, gateway }) => {
  const id = await gateway.ask("rm -rf /srv/www");
  await signIn(page, gateway);
  await page.getByRole("button", { name: "Deny with a note" }).click();
  await page.getByLabel("Deny and tell the agent why").fill("not on a Friday");
  await page.keyboard.press("Enter");
  await expect(page.locator(".outcome-words", { hasText: "Denied by you on the page" })).toBeVisible();
  expect((await gateway.approval(id)).decision.note).toBe("not on a Friday");
});

test("a session's rule is shown before it is left", async ({ page, gateway }) => {
  const id = await gateway.ask("rm -rf /srv/www", { cwd: "/srv" });
  await signIn(page, gateway);
  await page.getByRole("button", { name: "Allow for this session" }).click();
  const panel = page.getByRole("region", { name: "Allow for this session: which grant it creates" });
  await expect(panel.locator(".scope-words").first()).toHaveText("terminal: exactly rm -rf /srv/www, from /srv");
  await expect(panel.locator(".scope-words code").first()).toHaveText("rm -rf /srv/www");
  await expect(panel.getByText("For calls of coder in the session s1.")).toBeVisible();
  await expect(panel.getByText("Still asks about: any other word, option or command, or another directory.")).toBeVisible();
  await expect(panel.getByText(/Would have matched 1 of the last 1 call/)).toBeVisible();
  expect((await gateway.approval(id)).status).toBe("waiting");
  await panel.getByLabel("For how long").selectOption("1 hour");
  await panel.getByLabel("How often").selectOption("5 times");
  await panel.getByRole("button", { name: "Allow for this session" }).click();
  await expect(page.locator(".outcome-words", { hasText: "Allowed for this session by you on the page" })).toBeVisible();
  const [grant] = (await gateway.asAdmin("GET", "/v1/grants")).grants;
  expect([grant.session_id, grant.uses_left]).toEqual(["s1", 5]);
  expect(grant.expires_at - grant.created_at).toBe(3600);
});

test("why: every factor and finding is there", async ({ page, gateway }) => {
  await gateway.ask("rm -rf /srv/www");
  await signIn(page, gateway);
  await page.getByRole("button", { name: "Full analysis" }).click();
  for (const words of ["What it does", "What it touches", "How hard to undo", "Effect on people", "How clear it is"]) {
    await expect(page.getByText(words, { exact: true })).toBeVisible();
  }
  await expect(page.locator(".findings li")).not.toHaveCount(0);
});

test("a message shows recipient and text apart, an edit its difference", async ({ page, gateway }) => {
  await gateway.call("send_message", { to: "ana@example.org", text: "The deploy is finished." });
  await signIn(page, gateway);
  const card = page.getByRole("article");
  await expect(card.locator("dd", { hasText: /^ana@example\.org$/ })).toBeVisible();
  await expect(card.locator(".prose")).toHaveText("The deploy is finished.");
  await expect(card.getByRole("button")).toHaveText([/Copy/, /Full analysis/, /What led here/, /Copy/, /Add 5 min/, /Edit/, /Deny with a note/, /Allow once/, /Deny/]);

  const edit = await gateway.call("patch", { path: "/etc/hosts", old_string: "a\nb\nc", new_string: "a\nB\nc" });
  await page.goto(`${gateway.url}/#/approvals/${edit.approval_id}`);
  await expect(card.locator(".line-gone")).toHaveText("2−removed: b");
  await expect(card.locator(".line-new")).toHaveText("2+added: B");
  await expect(card.locator(".line-same")).toHaveText(["11 a", "33 c"]);
});

test("a long text is opened before it can be allowed", async ({ page, gateway }) => {
  const lines = Array.from({ length: 200 }, (_, index) => `echo line ${index}`);
  const id = await gateway.ask(`${lines.join("\n")}\nrm -rf /srv/www`);
  await signIn(page, gateway);
  await expect(page.getByRole("button", { name: "Deny", exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Allow once" })).toHaveCount(0);
  await expect(page.getByText(/characters hidden/)).toBeVisible();
  await armed(page);
  await page.keyboard.press("1");
  expect((await gateway.approval(id)).status).toBe("waiting");

  await page.getByRole("button", { name: "Show full command" }).click();
  await expect(page.getByRole("group", { name: "Command" })).toContainText("echo line 100");
  // It is critical: it can be allowed only once its end was on the screen.
  const allow = page.getByRole("button", { name: "Allow once" });
  await expect(page.getByText("Read to the end (PgDn, End) to allow.")).toBeVisible();
  await expect(allow).toHaveAttribute("aria-disabled", "true");
  await page.keyboard.press("End");
  await expect(allow).toHaveAttribute("aria-disabled", "false");
  await allowOnce(page);
  await expect(page.locator(".outcome-words", { hasText: "Allowed once by you on the page" })).toBeVisible();
  const events = (await gateway.asAdmin("GET", "/v1/ledger?limit=500")).entries;
  expect(JSON.stringify(events)).toContain("approval.viewed");
});

test("repeats fold into one row, and are denied together", async ({ page, gateway }) => {
  for (let index = 0; index < 4; index += 1) await gateway.ask(`git push --force origin release-${index}`);
  await gateway.ask("rm -rf /srv/www");
  await signIn(page, gateway);
  await expect(page.getByRole("button", { name: /4 × git push/ })).toBeVisible();
  await page.goto(`${gateway.url}/#/`);
  await page.getByRole("button", { name: /4 × git push/ }).click();
  await page.getByRole("link", { name: /release-2/ }).click();
  await page.keyboard.press("X");
  const batch = page.getByRole("group", { name: "Selected cards" });
  await expect(batch.getByText("Only low and medium risk can be allowed together.")).toBeVisible();
  await expect(batch.getByRole("button", { name: "Allow 4 once" })).toHaveAttribute("aria-disabled", "true");
  await batch.getByRole("button", { name: "Deny 4" }).click();
  await expect(page.getByText("4 cards denied.").first()).toBeVisible();
  await expect(page).toHaveTitle("(1) Countersign");
});

test("three cards with one fold key are one row, two are not", async ({ page, gateway }) => {
  for (let index = 0; index < 2; index += 1) await gateway.ask(`git push --force origin release-${index}`);
  await gateway.ask("git push --force origin elsewhere", { cwd: "/srv/other" });
  await signIn(page, gateway);
  const rows = page.getByRole("list", { name: "Waiting" }).getByRole("listitem");
  await expect(rows).toHaveCount(3);
  await gateway.ask("git push --force origin release-2");
  await expect(page.getByRole("button", { name: /3 × git push/ })).toBeVisible();
  await expect(rows).toHaveCount(2);
});

test("the harmless are allowed together, once each", async ({ page, gateway }) => {
  const ids: string[] = [];
  for (let index = 0; index < 3; index += 1) ids.push((await gateway.call(`frobnicate_${index}`, { level: index })).approval_id);
  await signIn(page, gateway);
  await expect(page.getByRole("article")).toBeVisible();
  for (let index = 0; index < 3; index += 1) {
    await page.keyboard.press("x");
    await page.keyboard.press("j");
  }
  await page.getByRole("button", { name: "Allow 3 once" }).click();
  await expect(page.getByText("3 cards allowed once.").first()).toBeVisible();
  for (const id of ids) expect((await gateway.approval(id)).decision.choice).toBe("once");
});

test("what concerns a person in crisis says so, and never folds", async ({ page, gateway }) => {
  for (let index = 0; index < 3; index += 1) {
    const turn = `I want to kill myself tonight (${index})`;
    await gateway.call("send_message", { to: "sam", text: "ok" }, { replying_to: turn, session_id: `c${index}` });
  }
  await signIn(page, gateway);
  await expect(page.getByRole("list", { name: "Waiting" }).getByRole("listitem")).toHaveCount(3);
  await expect(page.getByText("This may affect a person in crisis.")).toBeVisible();
  await expect(page.getByRole("list", { name: "Choices" }).getByRole("button")).toHaveText(["1Allow once", "4Deny"]);
});

test("a question of an agent is answered by choice or in own words", async ({ page, gateway }) => {
  const first = await gateway.question("Which environment?", ["staging", "production"]);
  await signIn(page, gateway);
  await expect(page.getByRole("list", { name: "Waiting" }).locator(".row-top")).toHaveText(/^Which environment\?/);
  await page.getByRole("button", { name: "production" }).click();
  await expect(page.getByText("root answered: production")).toBeVisible();
  expect((await gateway.asAdmin("GET", `/v1/clarifications/${first.clarification_id}`)).answer.choice).toBe(2);

  const second = await gateway.question("Which name?", ["a", "b"]);
  await page.goto(`${gateway.url}/#/questions/${second.clarification_id}`);
  await page.getByRole("button", { name: "Other (type your answer)" }).click();
  await expect(page.getByLabel("Your answer")).toBeFocused();
  // Digits are text while an answer is typed.
  await page.keyboard.type("web1");
  await page.keyboard.press("Enter");
  await expect(page.getByText("root answered: web1")).toBeVisible();
});

test("the first visit offers a practice card, and nothing runs", async ({ page, gateway }) => {
  await signIn(page, gateway);
  await page.getByRole("button", { name: "Try a practice card" }).click();
  await expect(page.getByText("This is a practice card. Nothing runs, whatever you answer.")).toBeVisible();
  await allowOnce(page);
  await expect(page.locator(".outcome-words", { hasText: "Allowed once by you on the page" })).toBeVisible();
  // Practice connects no agent and counts nowhere.
  await page.goto(`${gateway.url}/#/insights`);
  await expect(page.getByRole("heading", { name: "No calls in the last 7 days" })).toBeVisible();
  await page.goto(`${gateway.url}/#/inbox`);
  await expect(page.getByRole("heading", { name: "no agent connected yet" })).toBeVisible();
  await gateway.call("terminal", { command: "ls" });
  await expect(page.getByRole("heading", { name: "Nothing waiting", exact: true })).toBeVisible();
  await expect(page.getByText("In the last hour: 1 call ran without a question, 0 refused, 0 questions asked.")).toBeVisible();
});

test.describe("with a hold", () => {
  test.use({ config: "approvals: { undo_seconds: 60 }\n" });

  test("an answer is taken back while it is held", async ({ page, gateway }) => {
    const id = await gateway.ask("rm -rf /srv/www");
    await signIn(page, gateway);
    await allowOnce(page);
    await expect(page.getByText(/runs in/)).toBeVisible();
    await page.keyboard.press("z");
    await expect(page.getByRole("button", { name: "Allow once" })).toBeVisible();
    expect((await gateway.approval(id)).held_until).toBeNull();
  });
});

test.describe("with time that can be added", () => {
  test.use({ config: "approvals: { timeout: 10m, extend_max: 15m }\n" });

  test("a card is given more time by key and by button, and every tab follows", async ({ page, gateway, context }) => {
    const id = await gateway.ask("rm -rf /srv/www");
    await signIn(page, gateway);
    const other = await context.newPage();
    await other.goto(`${gateway.url}/#/approvals/${id}`);
    await expect(page.locator(".countdown")).toHaveText("expires in 10 min");
    await expect(page.getByRole("button", { name: "Add 10 min" })).toBeVisible();
    await page.bringToFront();
    await page.keyboard.press("+");
    await expect(page.locator(".countdown")).toHaveText("expires in 20 min");
    await expect(other.locator(".countdown")).toHaveText("expires in 20 min");
    await expect(page.locator("[aria-live=polite]").first()).toContainText("Expires in 20 min");
    await page.getByRole("button", { name: "Add 5 min" }).click();
    await expect(page.locator(".countdown")).toHaveText("expires in 25 min");
    await expect(page.getByRole("button", { name: /Add .* min/ })).toHaveCount(0);
    await page.keyboard.press("+");
    await expect(page.getByRole("alert")).toHaveCount(0);
    expect((await gateway.approval(id)).status).toBe("waiting");
  });
});

test.describe("without time that can be added", () => {
  test.use({ config: "approvals: { extend_max: 0 }\n" });

  test("nothing is offered", async ({ page, gateway }) => {
    await gateway.ask("rm -rf /srv/www");
    await signIn(page, gateway);
    await expect(page.locator(".countdown")).toHaveText(/expires in/);
    await expect(page.getByRole("button", { name: /Add .* min/ })).toHaveCount(0);
  });
});

test("the next card follows an answer, if the person wants it", async ({ page, gateway }) => {
  await gateway.ask("rm -rf /srv/a");
  await gateway.ask("rm -rf /srv/b", { session_id: "s2" });
  await signIn(page, gateway);
  await page.goto(`${gateway.url}/#/settings`);
  await page.getByLabel("Open the next card").check();
  await page.goto(`${gateway.url}/#/`);
  await expect(page.getByRole("group", { name: "Command" })).toHaveText("rm -rf /srv/a");
  await armed(page);
  await page.keyboard.press("4");
  await expect(page.getByRole("group", { name: "Command" })).toHaveText("rm -rf /srv/b");
});

test("the list leads with the command, and is ordered and narrowed", async ({ page, gateway }) => {
  await gateway.ask("rm -rf /srv/first");
  await gateway.ask("git push origin main", { session_id: "s2" });
  await gateway.call("send_message", { to: "ana@example.org", text: "The deploy is finished.", urgent: true }, { session_id: "s3" });
  await signIn(page, gateway);
  const leads = page.getByRole("list", { name: "Waiting" }).locator(".row-top code");
  await expect(leads).toHaveText(["rm -rf /srv/first", "git push origin main", /^Send a message to ana@example\.org · The deploy is finished\.$/]);
  await page.getByLabel("Order").selectOption("Newest first");
  await expect(leads.first()).toHaveText(/^Send a message/);
  await page.getByLabel("Order").selectOption("Riskiest first");
  await expect(leads.first()).toHaveText("rm -rf /srv/first");
  await page.getByLabel("Session").selectOption("s2");
  await expect(leads).toHaveText(["git push origin main"]);
  // The open card stays open although the list does not show it, and a filter without matches says so.
  await expect(page.getByRole("group", { name: "Command" })).toHaveText("rm -rf /srv/first");
  await page.getByRole("searchbox", { name: "Filter" }).fill("nothing like it");
  await expect(page.getByText("No waiting card matches the filter.")).toBeVisible();
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await expect(leads).toHaveCount(3);
});

test("what led to a call is one key away, and its run is a link", async ({ page, gateway }) => {
  const run = { run_id: "run_cleanup" };
  await gateway.call("terminal", { command: "ls /srv" }, run);
  await gateway.ask("rm -rf /srv/www", run);
  await signIn(page, gateway);
  await expect(page.getByRole("group", { name: "Command" })).toHaveText("rm -rf /srv/www");
  await page.keyboard.press("b");
  await expect(page.locator(".led li")).toHaveText(/ls \/srv.*Allowed by a rule/);
  await page.getByRole("link", { name: "run_cleanup" }).click();
  await expect(page).toHaveURL(/#\/history\?run_id=run_cleanup/);
  await expect(page.getByText("ls /srv").first()).toBeVisible();
  // So is its session.
  await gateway.call("terminal", { command: "ls /elsewhere" }, { session_id: "s2" });
  await page.getByRole("link", { name: "Inbox" }).first().click();
  await page.getByRole("link", { name: "s1", exact: true }).click();
  await expect(page).toHaveURL(/#\/history\?session_id=s1/);
  await expect(page.getByRole("button", { name: "One session" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Calls" }).getByRole("link")).toHaveCount(2);
});

test("what was found is marked in the text, and a long text is searched by key", async ({ page, gateway }) => {
  const lines = Array.from({ length: 120 }, (_, index) => `echo line ${index}`);
  await gateway.ask(`${lines.join("\n")}\nrm -rf /srv/www\necho done`);
  await signIn(page, gateway);
  await armed(page);
  await page.keyboard.press("m");
  const mark = page.locator("mark").first();
  await expect(mark).toHaveText("/srv/www");
  await expect(mark).toBeInViewport();
  await expect(mark).toHaveAttribute("title", /deletes \/srv\/www/);
  // Every line has its number, and the text is what would run.
  await expect(page.locator(".numbered .code-line")).toHaveCount(122);
  await expect(page.getByRole("group", { name: "Command" })).toHaveText(/line 119\s*rm -rf \/srv\/www\s*echo done/);
});

test("a message marks secrets and personal data, and names every kind, worst first", async ({ page, gateway }) => {
  const token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a";
  const text = `Pay with 4111 1111 1111 1111, the token is ${token}, call +49 30 901820.`;
  await gateway.call("send_message", { to: "ana", text });
  await signIn(page, gateway);
  const card = page.getByRole("article");
  await expect(card.locator(".prose mark")).toHaveText(["4111 1111 1111 1111", /^‹secret: github token/, "+49 30 901820"]);
  await expect(card.getByText("holds personal data (card, phone)")).toBeVisible();
  await expect(card.locator(".prose")).not.toContainText(token);
  await armed(page);
  await page.keyboard.press("m");
  await expect(card.locator("mark").first()).toHaveAttribute("data-here", "");
});

test("code has colours, and the text is what it would be without them", async ({ page, gateway }) => {
  const command = 'for x in "$HOME"; do\n  rm -rf /srv/www --force # it is old\ndone';
  await gateway.ask(command);
  await signIn(page, gateway);
  const shown = page.getByRole("group", { name: "Command" });
  await expect(shown).toHaveText(command);
  await expect(shown.locator(".code-keyword")).toHaveText(["for", "in", "do", "done"]);
  await expect(shown.locator(".code-comment")).toHaveText("# it is old");
  await expect(shown.locator(".code-string")).toHaveText('"$HOME"');
  // What was found stays marked.
  await expect(shown.locator("mark").first()).toBeVisible();
});
