// Page tests: Debian's Chromium against the real gateway.

import { defineConfig } from "@playwright/test";

/** What takes long, or only makes pictures, is asked for: by ./soak and by web/screenshots. */
const ASKED_FOR: [string, boolean][] = [
  ["**/crowd.spec.ts", process.env["COUNTERSIGN_SOAK"] === "1"],
  ["**/long_past.spec.ts", process.env["COUNTERSIGN_SOAK"] === "1"],
  ["**/pictures.spec.ts", process.env["COUNTERSIGN_PICTURES"] !== undefined],
];

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  testIgnore: ASKED_FOR.filter(([, wanted]) => !wanted).map(([files]) => files),
  // These only end what hangs: a machine that is busy or cold is slow, not wrong.
  timeout: 180_000,
  expect: { timeout: 45_000 },
  fullyParallel: true,
  workers: 2,
  reporter: [["list"]],
  forbidOnly: true,
  use: {
    viewport: { width: 1280, height: 800 },
    // Colours and places on their way to others are nobody's.
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: {
      executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
      ],
    },
  },
});
