// Routes in the URL fragment, so every approval has a URL and the back button works.
// `#/approvals/ID?x=y` has the parts `approvals` and `ID` and the query `x=y`.

import { computed, signal } from "@preact/signals";

export interface Place {
  parts: string[];
  query: URLSearchParams;
}

const hash = signal(location.hash);
window.addEventListener("hashchange", () => {
  hash.value = location.hash;
});

export const place = computed<Place>(() => {
  const text = hash.value.replace(/^#\/?/, "");
  const [path = "", query = ""] = text.split("?", 2);
  const parts = path.split("/").filter((part) => part !== "").map(decoded);
  return { parts, query: new URLSearchParams(query) };
});

/** Returns the address of `parts`, for links. */
export function at(...parts: string[]): string {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

/** Goes to `address`, which begins with `#/`. */
export function go(address: string): void {
  if (location.hash !== address) location.hash = address;
}

/** Goes to `address` without a step in the history. */
export function settle(address: string): void {
  history.replaceState(null, "", address);
  hash.value = location.hash;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
