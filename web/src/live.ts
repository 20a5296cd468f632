// What waits, live: the list of questions and the stream that keeps it right.
//
// The stream is opened first and the list read afterwards, so nothing is missed in between. While
// the page catches up nobody can allow anything: what is shown may be old.

import { batch, computed, signal } from "@preact/signals";

import { ApiError, get, post, segment } from "./api";
import { now } from "./clock";
import { follow } from "./stream";
import type { Approval, Clarification, Identity, LiveEvent, Person } from "./wire";

/** `starting`: nothing is known yet. `away`: the gateway does not answer. */
export type Link = "starting" | "catching_up" | "live" | "away" | "signed_out";

export type Item = { kind: "approval"; id: string; approval: Approval } | { kind: "question"; id: string; question: Clarification };

/** More events at once than this and the whole list is read again instead. */
const SINGLY_MAX = 12;
const PAGE = 500;
const RETRY_MS_MAX = 10_000;

export const link = signal<Link>("starting");
export const me = signal<Identity | null>(null);
export const approvals = signal<ReadonlyMap<string, Approval>>(new Map());
export const questions = signal<ReadonlyMap<string, Clarification>>(new Map());
export const people = signal<Person[]>([]);
/** When the connection was lost, in seconds; `null` while it stands. */
export const lostAt = signal<number | null>(null);
/** What is said politely to people who cannot see the list. */
export const spoken = signal("");
/** What is shown for a moment. */
export const toast = signal<string | null>(null);
/** Calls that were judged while the page was open, for the empty state. */
export const ranAlone = signal(0);

/** Whether what is shown is known to be current. */
export const isCurrent = computed(() => link.value === "live");
export const mayAnswer = computed(() => me.value?.role === "approver" || me.value?.role === "admin");

/** Everything that waits, the oldest first, so that nothing moves when something new comes. */
export const waiting = computed<Item[]>(() => {
  const items: Item[] = [];
  for (const approval of approvals.value.values()) {
    if (approval.status === "waiting") items.push({ kind: "approval", id: approval.approval_id, approval });
  }
  for (const question of questions.value.values()) {
    if (question.status === "waiting") items.push({ kind: "question", id: question.clarification_id, question });
  }
  return items.sort((a, b) => asked(a) - asked(b) || (a.id < b.id ? -1 : 1));
});

const asked = (item: Item): number =>
  item.kind === "approval" ? item.approval.created_at : item.question.created_at;

/** Whoever wants to hear every event, such as a conversation. */
const listeners = new Set<(event: LiveEvent) => void>();

/** Calls `listener` for every event until the returned function is called. */
export function listen(listener: (event: LiveEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let lastEventId: string | null = null;
let wake: (() => void) | null = null;
let toastTimer = 0;

/** Shows `text` for a moment and says it. */
export function say(text: string): void {
  toast.value = text;
  spoken.value = text;
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => {
    toast.value = null;
  }, 6000);
}

/** Tries again at once. */
export function retry(): void {
  wake?.();
}

/** Keeps the list right until the person is signed out. */
export async function run(): Promise<void> {
  for (let pause = 500; ; pause = Math.min(pause * 2, RETRY_MS_MAX)) {
    const attempt = await connect();
    if (attempt === "signed_out") {
      link.value = "signed_out";
      return;
    }
    if (attempt === "was_live") pause = 500;
    batch(() => {
      link.value = "away";
      lostAt.value ??= now.value;
    });
    await new Promise<void>((resolve) => {
      wake = resolve;
      window.setTimeout(resolve, pause);
    });
    wake = null;
  }
}

async function connect(): Promise<"signed_out" | "was_live" | "failed"> {
  let wasLive = false;
  try {
    me.value = await get<Identity>("/v1/whoami");
    if (lostAt.value !== null || lastEventId !== null) link.value = "catching_up";
    const caughtUp = (): void => {
      wasLive = true;
    };
    const stop = new AbortController();
    const listener = {
      opened: () => void catchUp().then(caughtUp, () => stop.abort()),
      told: (event: LiveEvent, id: string | null) => {
        if (id !== null) lastEventId = id;
        hear(event);
      },
    };
    await follow("/v1/events", lastEventId, listener, stop.signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return "signed_out";
  }
  return wasLive ? "was_live" : "failed";
}

/** Reads everything that waits, and what became of what waited before. */
async function catchUp(): Promise<void> {
  const before = approvals.value;
  const was = lostAt.value;
  const wasKnown = new Set(before.keys());
  const found = await everyWaiting();
  const gone = [...before.values()].filter((it) => it.status === "waiting" && !found.has(it.approval_id));
  const settled = await Promise.all(gone.slice(0, 50).map((it) => one(it.approval_id)));
  const asked = await get<{ clarifications: Clarification[] }>("/v1/clarifications");
  const next = new Map(before);
  for (const it of gone) next.delete(it.approval_id);
  for (const it of settled) if (it !== null) next.set(it.approval_id, it);
  for (const it of found.values()) next.set(it.approval_id, it);
  const fresh = [...found.keys()].filter((id) => !wasKnown.has(id)).length;
  batch(() => {
    approvals.value = next;
    questions.value = new Map(asked.clarifications.map((it) => [it.clarification_id, it]));
    lostAt.value = null;
    link.value = "live";
  });
  if (was !== null) {
    say(`Connected again. Nothing was missed: ${fresh} new, ${gone.length} settled meanwhile.`);
  }
  void others();
}

async function everyWaiting(): Promise<Map<string, Approval>> {
  const found = new Map<string, Approval>();
  let behind: string | null = null;
  do {
    const more: string = behind === null ? "" : `&behind=${segment(behind)}`;
    const page: { approvals: Approval[]; next: string | null } = await get(
      `/v1/approvals?status=waiting&limit=${PAGE}${more}`,
    );
    for (const it of page.approvals) found.set(it.approval_id, it);
    behind = page.next;
  } while (behind !== null);
  return found;
}

async function others(): Promise<void> {
  if (!mayAnswer.value || people.value.length > 0) return;
  const list = await get<{ people: Person[] }>("/v1/people").catch(() => ({ people: [] }));
  people.value = list.people;
}

const changed = new Set<string>();
let refreshing = false;

function hear(event: LiveEvent): void {
  for (const listener of listeners) listener(event);
  if (event.event === "call.assessed" && event.verdict === "allow") ranAlone.value += 1;
  if (event.event.startsWith("clarify.")) void refreshQuestions();
  if (event.event.startsWith("approval.") && "approval_id" in event && event.approval_id) {
    changed.add(event.approval_id);
    if (!refreshing) void refreshChanged();
  }
}

async function refreshChanged(): Promise<void> {
  refreshing = true;
  // A burst is one change of the list.
  await new Promise((resolve) => {
    setTimeout(resolve, 30);
  });
  const ids = [...changed];
  changed.clear();
  try {
    if (ids.length > SINGLY_MAX && ids.some((id) => !approvals.value.has(id))) {
      await reload();
    } else {
      put(...(await Promise.all(ids.map(one))).filter((it) => it !== null));
    }
  } catch {
    // The stream will end as well, and everything is read again then.
  } finally {
    refreshing = false;
    if (changed.size > 0) void refreshChanged();
  }
}

async function reload(): Promise<void> {
  const found = await everyWaiting();
  const known = [...approvals.value.values()].filter((it) => it.status === "waiting" && !found.has(it.approval_id));
  const settled = await Promise.all(known.slice(0, 50).map((it) => one(it.approval_id)));
  put(...found.values(), ...settled.filter((it) => it !== null));
}

async function refreshQuestions(): Promise<void> {
  const before = questions.value;
  const list = await get<{ clarifications: Clarification[] }>("/v1/clarifications").catch(() => null);
  if (list === null) return;
  const next = new Map(list.clarifications.map((it) => [it.clarification_id, it]));
  const gone = [...before.values()].filter((it) => it.status === "waiting" && !next.has(it.clarification_id));
  for (const it of gone) {
    const path = `/v1/clarifications/${segment(it.clarification_id)}`;
    next.set(it.clarification_id, await get<Clarification>(path).catch(() => it));
  }
  for (const it of before.values()) if (!next.has(it.clarification_id)) next.set(it.clarification_id, it);
  announce([...next.keys()].filter((id) => !before.has(id)).length);
  questions.value = next;
}

/** Reads one approval and shows it as it is now. */
export async function refresh(id: string): Promise<Approval | null> {
  const found = await one(id);
  if (found !== null) put(found);
  return found;
}

async function one(id: string): Promise<Approval | null> {
  try {
    return await get<Approval>(`/v1/approvals/${segment(id)}`);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/** Shows approvals as they are now. */
export function put(...found: Approval[]): void {
  if (found.length === 0) return;
  const next = new Map(approvals.value);
  let fresh = 0;
  for (const it of found) {
    if (it.status === "waiting" && !next.has(it.approval_id)) fresh += 1;
    next.set(it.approval_id, it);
  }
  approvals.value = next;
  announce(fresh);
}

/** Shows a question as it is now. */
export function putQuestion(question: Clarification): void {
  questions.value = new Map(questions.value).set(question.clarification_id, question);
}

/** Forgets answered cards that nobody looks at. */
export function tidy(keep: string | null): void {
  const old = [...approvals.value.values()].filter((it) => it.status !== "waiting" && it.approval_id !== keep);
  if (old.length === 0) return;
  const next = new Map(approvals.value);
  for (const it of old) next.delete(it.approval_id);
  approvals.value = next;
}

/** Called with how many cards came; the settings decide whether it is heard. */
export const arrivals = signal(0);

function announce(fresh: number): void {
  if (fresh === 0 || link.value !== "live") return;
  spoken.value = `${fresh} more waiting`;
  arrivals.value += fresh;
}

/** Signs this browser out. */
export async function signOut(): Promise<void> {
  await post("/v1/logout").catch(() => undefined);
  location.assign("/");
}
