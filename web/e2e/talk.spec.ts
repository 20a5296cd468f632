// Talking to the built-in agent.

import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";

import { allowOnce, armed, expect, signIn, test, type Gateway } from "./gateway";
import type { Reply } from "./model";

const shell = (id: string, command: string) => ({ id, name: "terminal", args: { command } });
/** Options that are lists are given as such. */
const script = (...replies: Reply[]) => ({ script: [replies, { option: true }] as unknown as Reply[] });

test.describe("a run with a card", () => {
  test.use(script(
    { say: ["I look first. "], tools: [shell("c1", "ls")] },
    { say: ["Now I remove it."], tools: [shell("c2", "rm -rf /srv/countersign-practice/2024-01")] },
    { say: ["It is ", "gone."] },
  ));

  test("what is said, done and asked stands where it happened, and is there after a reload", async ({ page, gateway }) => {
    await signIn(page, gateway);
    await page.getByRole("link", { name: "Talk", exact: true }).first().click();
    await page.getByLabel("Message to the agent").fill("Clean up");
    await page.keyboard.press("Enter");
    const blocks = page.getByRole("list", { name: "What was said and done" });
    await expect(blocks.getByText("Now I remove it.")).toBeVisible();
    await expect(blocks.getByText("waiting for an answer")).toBeVisible();
    // The message that caused it and the calls before it are on its card, too.
    await page.getByRole("button", { name: "What led here" }).click();
    await expect(page.locator(".led-message")).toHaveText("root saidClean up");
    await expect(page.locator(".led li")).toHaveText(/^ls/);
    await allowOnce(page);
    await expect(blocks.getByText("It is gone.")).toBeVisible();
    const kinds = () => blocks.locator(":scope > li").evaluateAll((all) => all.map((it) => it.className));
    const expected = ["person", "said", "tool", "said", "tool", "approval", "said"].map((kind) => `block block-${kind}`);
    await expect.poll(kinds).toEqual(expected);
    await page.reload();
    await expect(blocks.getByText("It is gone.")).toBeVisible();
    await expect(blocks.locator(".outcome-words", { hasText: "Allowed once by you on the page" })).toBeVisible();
    await expect.poll(kinds).toEqual(expected);
  });

  test("what was said before the page listens is there, too", async ({ page, gateway }) => {
    await signIn(page, gateway);
    // The stream of the run is opened when the run has come to its card.
    await page.route("**/v1/runs/*/events", async (route) => {
      await expect.poll(async () => (await gateway.waiting()).length).toBe(1);
      await route.continue();
    });
    await page.getByRole("link", { name: "Talk", exact: true }).first().click();
    await page.getByLabel("Message to the agent").fill("Clean up");
    await page.keyboard.press("Enter");
    const blocks = page.getByRole("list", { name: "What was said and done" });
    await expect(blocks.getByText("waiting for an answer")).toBeVisible();
    await expect(blocks.getByText("I look first.")).toBeVisible();
    await expect(blocks.getByText("Now I remove it.")).toBeVisible();
  });
});

test.describe("a run with two cards at once", () => {
  test.use(script({ tools: [shell("c1", "rm -rf /srv/countersign-practice/a"), shell("c2", "rm -rf /srv/countersign-practice/b")] }));

  test("the first has the keys, and then the other, after it was looked at", async ({ page, gateway }) => {
    await signIn(page, gateway);
    await page.goto(`${gateway.url}/#/talk`);
    await page.getByLabel("Message to the agent").fill("Clean up");
    await page.keyboard.press("Enter");
    const cards = page.getByRole("article");
    await expect(cards).toHaveCount(2);
    await page.getByLabel("Message to the agent").blur();
    const deny = await cards.first().getByRole("button", { name: "Deny", exact: true }).locator("kbd").innerText();
    await cards.first().getByRole("button", { name: "Deny", exact: true }).scrollIntoViewIfNeeded();
    await armed(page);
    await page.keyboard.press(deny);
    await expect(cards.first().locator(".outcome-words", { hasText: "Denied by you on the page" })).toBeVisible();
    await cards.last().getByRole("button", { name: "Deny", exact: true }).scrollIntoViewIfNeeded();
    await armed(page);
    await page.keyboard.press(deny);
    await expect(cards.last().locator(".outcome-words", { hasText: "Denied by you on the page" })).toBeVisible();
  });
});

test.describe("a run that takes long", () => {
  test.use(script({ say: ["I begin. And I go on, "], until: new Promise(() => undefined) }));

  test("it is seen while it is said, and can be stopped", async ({ page, gateway }) => {
    await signIn(page, gateway);
    await page.goto(`${gateway.url}/#/talk`);
    await page.getByLabel("Message to the agent").fill("Go");
    await page.getByRole("button", { name: "Send" }).click();
    await expect(page.getByText("I begin.")).toBeVisible();
    await page.getByRole("button", { name: "Stop" }).click();
    await expect(page.getByText("Stopped.")).toBeVisible();
    await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
  });
});

test.describe("a person in crisis", () => {
  test.use(script({ say: ["Here is what you should do."] }));

  test("only the notice is shown, and the person cannot allow the answer", async ({ page, gateway }) => {
    await gateway.key("ben", "approver");
    await signIn(page, gateway);
    await page.goto(`${gateway.url}/#/talk`);
    await page.getByLabel("Message to the agent").fill("I want to kill myself tonight. I have the pills here.");
    await page.getByRole("button", { name: "Send" }).click();
    await expect(page.getByText("A person has been asked to look at this before anything is sent.").first()).toBeVisible();
    await expect(page.getByText("Here is what you should do.")).toHaveCount(0);
    await allowOnce(page);
    await expect(page.getByRole("alert")).toContainText("another person must answer");
    await expect(page.getByText("Here is what you should do.")).toHaveCount(0);
  });
});

test.describe("a long conversation", () => {
  const long = (name: string): Reply => ({ say: Array.from({ length: 40 }, (_, index) => `${name} ${index}\n\n`) });
  test.use(script(long("first"), long("second"), long("third"), { say: ["Now.\n\n"], tools: [shell("c1", "rm -rf /srv/countersign-practice/x")] }));

  test("its end stays in view, unless the person scrolled up", async ({ page, gateway }) => {
    await signIn(page, gateway);
    await page.goto(`${gateway.url}/#/talk`);
    const field = page.getByLabel("Message to the agent");
    for (const name of ["first", "second"]) {
      await field.fill("Go");
      await page.keyboard.press("Enter");
      await expect(page.getByText(`${name} 39`)).toBeInViewport();
      await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
    }
    await page.locator(".thread-scroll").hover();
    await page.mouse.wheel(0, -4000);
    await expect(page.getByText("first 0", { exact: true })).toBeInViewport();
    await field.fill("Go");
    await page.keyboard.press("Enter");
    await expect(page.getByText("third 39")).toBeAttached();
    await expect(page.getByText("third 39")).not.toBeInViewport();
    await page.getByRole("button", { name: "New messages" }).click();
    await expect(page.getByText("third 39")).toBeInViewport();
    // A card that waits is in view, with its choices.
    await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
    await field.fill("Go");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("button", { name: "Deny", exact: true })).toBeInViewport();
    await expect(page.getByText("Waiting for you")).toBeVisible();
  });
});

test.describe("what a model writes", () => {
  const text = "# Plan\n\n**Careful**: run `ls -la`, see [this](https://evil.example) ![x](https://evil.example/x.png)\n\n1. one\n2. two\n   - three\n\n```\nrm **x** <img src=y onerror=alert(1)>\n```\n\n| a | b |\n|---|---|\n";
  test.use(script({ say: [text] }));

  test("is drawn as Markdown in which nothing acts", async ({ page, gateway }) => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await signIn(page, gateway);
    await page.goto(`${gateway.url}/#/talk`);
    await page.getByLabel("Message to the agent").fill("Go");
    await page.keyboard.press("Enter");
    const speech = page.locator(".speech");
    await expect(speech.locator("strong")).toHaveText("Careful");
    await expect(speech.locator("p code")).toHaveText("ls -la");
    await expect(speech.locator("li")).toHaveText(["one", "two", "three"]);
    await expect(speech.locator("pre").first()).toHaveText("rm **x** <img src=y onerror=alert(1)>");
    await expect(speech.locator("pre").last()).toHaveText("| a | b |\n|---|---|");
    await expect(speech.getByText("[this](https://evil.example)")).toBeVisible();
    await expect(speech.locator("a, img")).toHaveCount(0);
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    expect(asked.filter((url) => url.includes("evil"))).toEqual([]);
  });
});

test.describe("a question in a conversation", () => {
  test.use(script({ tools: [{ id: "c1", name: "clarify", args: { question: "Which one?", choices: ["the old", "the new"] } }] }, { say: ["Good."] }));

  test("is answered by its number", async ({ page, gateway }) => {
    await signIn(page, gateway);
    await page.goto(`${gateway.url}/#/talk`);
    await page.getByLabel("Message to the agent").fill("Go");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: "Which one?" })).toBeVisible();
    await expect(page.getByText("Waiting for you")).toBeVisible();
    await page.getByLabel("Message to the agent").blur();
    await armed(page);
    await page.keyboard.press("2");
    await expect(page.getByText("answered: the new")).toBeVisible();
    await expect(page.getByText("Good.")).toBeVisible();
  });
});

test.describe("writing while a run is under way", () => {
  test.use(script(
    { tools: [shell("c1", "rm -rf /srv/countersign-practice/a")] },
    { say: ["First answer."] },
    { say: ["Second answer."] },
  ));

  test("a message waits in the queue, can be removed or sent into the run, and is sent when it ends", async ({ page, gateway }) => {
    await signIn(page, gateway);
    await page.goto(`${gateway.url}/#/talk`);
    const field = page.getByLabel("Message to the agent");
    const write = async (text: string) => {
      await field.fill(text);
      await page.keyboard.press("Enter");
    };
    await write("Go");
    await expect(page.getByRole("button", { name: "Deny", exact: true })).toBeVisible();
    for (const text of ["leave the logs", "never mind", "and then the rest"]) await write(text);
    const queue = page.getByRole("list", { name: "Messages that are not read yet" });
    await expect(queue.getByRole("listitem")).toHaveCount(3);
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    await queue.getByRole("listitem").nth(1).getByRole("button", { name: "Remove" }).click();
    await expect(queue.getByText("never mind")).toHaveCount(0);
    await queue.getByRole("listitem").first().getByRole("button", { name: "Steer" }).click();
    await expect(queue.getByText("Sent; the agent reads it before its next step")).toBeVisible();
    await field.blur();
    await page.getByRole("button", { name: "Deny", exact: true }).scrollIntoViewIfNeeded();
    await armed(page);
    await page.keyboard.press("4");
    const blocks = page.getByRole("list", { name: "What was said and done" });
    await expect(blocks.getByText("Second answer.")).toBeVisible();
    await expect(queue).toHaveCount(0);
    const said = () => blocks.locator(".bubble, .speech").allInnerTexts();
    const expected = ["Go", "leave the logs", "First answer.", "and then the rest", "Second answer."];
    await expect.poll(said).toEqual(expected);
    await page.reload();
    await expect(blocks.getByText("Second answer.")).toBeVisible();
    await expect.poll(said).toEqual(expected);
  });
});

test.describe("what is queued", () => {
  test.use(script({ tools: [shell("c1", "rm -rf /srv/countersign-practice/a")] }, { say: ["First answer."] }, { say: ["Second answer."] }));

  const queued = (page: Page) => page.getByRole("list", { name: "Messages that are not read yet" }).getByRole("listitem");
  const kept = (page: Page) => page.evaluate(() => JSON.stringify(sessionStorage));

  /** Queues two messages behind a card, and removes a third. */
  async function write(page: Page, gateway: Gateway): Promise<void> {
    await signIn(page, gateway);
    await page.goto(`${gateway.url}/#/talk`);
    const field = page.getByLabel("Message to the agent");
    await field.fill("Go");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("button", { name: "Deny", exact: true })).toBeVisible();
    for (const text of ["and then the rest", "never mind", "my secret plan"]) {
      await field.fill(text);
      await page.keyboard.press("Enter");
    }
    await queued(page).nth(1).getByRole("button", { name: "Remove" }).click();
    await expect(queued(page)).toHaveCount(2);
  }

  test("survives a reload, and leaves this browser when it is sent", async ({ page, gateway }) => {
    await write(page, gateway);
    await page.reload();
    await expect(queued(page)).toHaveText([/^and then the rest/, /^my secret plan/]);
    // A copy of the tab does not have it, and takes nothing from this one.
    const [copy] = await Promise.all([page.waitForEvent("popup"), page.evaluate(() => void window.open(location.href))]);
    await expect(copy.getByRole("button", { name: "Deny", exact: true })).toBeVisible();
    await expect.poll(() => kept(copy)).not.toContain("my secret plan");
    await expect(queued(copy)).toHaveCount(0);
    await copy.close();
    await page.reload();
    await expect(queued(page)).toHaveCount(2);
    await queued(page).last().getByRole("button", { name: "Remove" }).click();
    expect(await kept(page)).not.toContain("my secret plan");
    const [{ approval_id: id }] = await gateway.waiting();
    await gateway.answer(id, "deny");
    await expect(page.getByText("Second answer.")).toBeVisible();
    await expect(queued(page)).toHaveCount(0);
    expect(await kept(page)).not.toContain("and then the rest");
    const said = await gateway.asAdmin("GET", `/v1/sessions/${page.url().split("/").at(-1)}/messages`);
    expect(said.messages.filter((it: { content: string }) => it.content === "and then the rest")).toHaveLength(1);
  });

  test("is gone after signing out, and for whoever signs in later", async ({ page, gateway }) => {
    await write(page, gateway);
    const { logins } = await gateway.asAdmin("GET", "/v1/logins");
    for (const login of logins) await gateway.asAdmin("DELETE", `/v1/logins/${login.id}`);
    await page.reload();
    await page.getByLabel("Or paste the link, its code, or your key").fill(await gateway.key("ben", "approver"));
    await page.keyboard.press("Enter");
    await expect(page.getByRole("button", { name: "Deny", exact: true })).toBeVisible();
    await expect(page.locator(".sidebar .who")).toContainText("ben");
    await expect(queued(page)).toHaveCount(0);
    expect(await kept(page)).not.toContain("my secret plan");
    await page.getByLabel("Message to the agent").fill("words of ben");
    await page.keyboard.press("Enter");
    await expect.poll(() => kept(page)).toContain("words of ben");
    await page.getByRole("button", { name: "Sign out" }).click();
    await expect(page.getByText("This browser is not signed in.")).toBeVisible();
    expect(await kept(page)).not.toContain("words of ben");
  });
});

test("without a model the page says how to get one", async ({ page, gateway }) => {
  await signIn(page, gateway);
  await page.goto(`${gateway.url}/#/talk`);
  await expect(page.getByText("The built-in agent has no model yet")).toBeVisible();
  await expect(page.getByText("countersign config set agent.base_url")).toBeVisible();
});
