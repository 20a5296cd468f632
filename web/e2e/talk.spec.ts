// Talking to the built-in agent.

import { allowOnce, armed, expect, signIn, test } from "./gateway";
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

test("without a model the page says how to get one", async ({ page, gateway }) => {
  await signIn(page, gateway);
  await page.goto(`${gateway.url}/#/talk`);
  await expect(page.getByText("The built-in agent has no model yet")).toBeVisible();
  await expect(page.getByText("countersign config set agent.base_url")).toBeVisible();
});
