// Messages that wait in a conversation until its run has ended, kept in this tab so that they survive a
// reload. They belong to the person who wrote them: nobody who signs in later finds them here.

import { effect, signal, type Signal } from "@preact/signals";

const PREFIX = "countersign.queue.";
/** Where the name of this tab is kept. A copy of a tab has the name of the other, until it notices. */
const TAB = "countersign.tab";
/** How long the page before a reload may take to let go of its tab's name. */
const LETS_GO_MS = 3000;

const queues = new Map<string, Signal<string[]>>();
const prefixOf = (person: string): string => `${PREFIX}${person}.`;

/** Returns what `person` wrote while a run of `session` was under way, and what was not sent yet. */
export function queueOf(person: string, session: string | null): Signal<string[]> {
  const key = prefixOf(person) + (session ?? "");
  const known = queues.get(key);
  if (known !== undefined) return known;
  const queue = signal<string[]>([]);
  queues.set(key, queue);
  // Without a secure origin no tab can be told from its copy, which would send everything once more.
  if ("locks" in navigator) {
    void isCopied().then((isCopy) => {
      if (isCopy) forgetQueues();
      queue.value = [...read(key), ...queue.value];
      effect(() => keep(key, queue.value));
    });
  }
  return queue;
}

/** Forgets what is kept, except what `person` wrote. */
export function forgetQueues(person?: string): void {
  attempt(() => {
    const isKept = (key: string): boolean => person !== undefined && key.startsWith(prefixOf(person));
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX) && !isKept(key)) sessionStorage.removeItem(key);
  });
}

let copied: Promise<boolean> | undefined;

/** Whether this tab is a copy of one that is open. */
function isCopied(): Promise<boolean> {
  copied ??= (async () => {
    const name = attempt(() => sessionStorage.getItem(TAB));
    if (name !== null && (await isHeld(name, LETS_GO_MS))) return false;
    const fresh = crypto.randomUUID();
    attempt(() => sessionStorage.setItem(TAB, fresh));
    await isHeld(fresh, LETS_GO_MS);
    return name !== null;
  })();
  return copied;
}

/** Holds `name` until the page is left. Returns whether no other page holds it. */
function isHeld(name: string, patience: number): Promise<boolean> {
  return new Promise((resolve) => {
    const hold = (): Promise<never> => {
      resolve(true);
      return new Promise(() => undefined);
    };
    navigator.locks.request(TAB + name, { signal: AbortSignal.timeout(patience) }, hold).catch(() => resolve(false));
  });
}

function read(key: string): string[] {
  const found: unknown = attempt(() => JSON.parse(sessionStorage.getItem(key) ?? "[]"));
  return Array.isArray(found) ? found.filter((it) => typeof it === "string") : [];
}

function keep(key: string, messages: string[]): void {
  attempt(() => (messages.length === 0 ? sessionStorage.removeItem(key) : sessionStorage.setItem(key, JSON.stringify(messages))));
}

/** A browser that keeps nothing forgets it on a reload, and that is all. */
function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}
