// Entry point of the page: signs in with the link's code, follows events, renders.

import { signal } from "@preact/signals";
import { render } from "preact";

import { App } from "./app";
import { badge } from "./badge";
import { install } from "./install";
import { run } from "./live";
import { hasCode, signIn } from "./session";

const problem = signal<string | null>(null);

async function begin(): Promise<void> {
  problem.value = await signIn();
  await run();
}

// A link opened in a tab that has the page already changes the fragment alone.
window.addEventListener("hashchange", () => {
  if (hasCode()) location.reload();
});

const page = document.getElementById("page");
if (page !== null) {
  badge();
  install();
  void begin();
  render(<App problem={problem} />, page);
}
