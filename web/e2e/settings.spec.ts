// Settings of a browser.

import { expect, signIn, test } from "./gateway";

test("notifications and sound are off at first, and remembered", async ({ page, gateway, context }) => {
  await context.grantPermissions(["notifications"], { origin: gateway.url });
  await signIn(page, gateway);
  await page.goto(`${gateway.url}/#/settings`);
  const notify = page.getByLabel("Notify me while this tab is in the background");
  const sound = page.getByLabel("Play a sound");
  await expect(notify).not.toBeChecked();
  await expect(sound).not.toBeChecked();
  await sound.check();
  await page.reload();
  await expect(sound).toBeChecked();
  await expect(notify).not.toBeChecked();
});
