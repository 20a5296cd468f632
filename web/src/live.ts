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
/** How long changes are gathered. */
const BURST_MILLIS = 30;
/** How long a gateway that cannot answer now is left alone. */
const BUSY_MILLIS = 1000;
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
  const stop = new AbortController();
  try {
    me.value = await get<Identity>("/v1/whoami");
    if (lostAt.value !== null || lastEventId !== null) link.value = "catching_up";
    const caughtUp = (): void => {
      wasLive = true;
    };
    const listener = {
      opened: () => void catchUp(stop.signal).then(caughtUp, () => stop.abort()),
      told: (event: LiveEvent, id: string | null) => {
        if (id !== null) lastEventId = id;
        hear(event);
      },
    };
    await follow("/v1/events", lastEventId, listener, stop.signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return "signed_out";
  } finally {
    // What is still being read belongs to a stream that ended.
    stop.abort();
  }
  return wasLive ? "was_live" : "failed";
}

/** Reads everything that waits, and what became of what waited before. What is told meanwhile is
 * looked at afterwards, so that an older answer never replaces a newer one. */
async function catchUp(signal: AbortSignal): Promise<void> {
  reading = signal;
  try {
    await readAll(signal);
  } finally {
    if (reading === signal) reading = null;
  }
  if (signal.aborted) return;
  if (changed.size > 0 && !refreshing) void refreshChanged();
  if (questionsChanged) void refreshQuestions();
}

async function readAll(signal: AbortSignal): Promise<void> {
  const before = approvals.value;
  const was = lostAt.value;
  const read = await readWaiting(before);
  const asked = await get<{ clarifications: Clarification[] }>("/v1/clarifications");
  if (signal.aborted) return;
  const fresh = countFresh(before, read);
  batch(() => {
    approvals.value = merged(before, read);
    questions.value = new Map(asked.clarifications.map((it) => [it.clarification_id, it]));
    lostAt.value = null;
    link.value = "live";
  });
  if (was !== null) {
    say(`Reconnected: ${fresh} new, ${read.gone.length} answered or expired meanwhile.`);
  }
  void others();
}

/** What waits now, what of that which was known waits no more, and how the first of these ended. */
interface Read {
  found: ReadonlyMap<string, Approval>;
  gone: Approval[];
  settled: (Approval | null)[];
}

async function readWaiting(before: ReadonlyMap<string, Approval>): Promise<Read> {
  const found = await everyWaiting();
  const gone = [...before.values()].filter((it) => it.status === "waiting" && !found.has(it.approval_id));
  const settled = await Promise.all(gone.slice(0, 50).map((it) => one(it.approval_id)));
  return { found, gone, settled };
}

function merged(before: ReadonlyMap<string, Approval>, { found, gone, settled }: Read): Map<string, Approval> {
  const next = new Map(before);
  for (const it of gone) next.delete(it.approval_id);
  for (const it of settled) if (it !== null) next.set(it.approval_id, it);
  for (const it of found.values()) next.set(it.approval_id, it);
  return next;
}

const countFresh = (before: ReadonlyMap<string, Approval>, { found }: Read): number =>
  [...found.keys()].filter((id) => !before.has(id)).length;

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
let questionsChanged = false;
let refreshingQuestions = false;
/** The stream for which everything is being read. */
let reading: AbortSignal | null = null;

function hear(event: LiveEvent): void {
  for (const listener of listeners) listener(event);
  if (event.event === "call.assessed" && event.verdict === "allow") ranAlone.value += 1;
  if (event.event.startsWith("clarify.")) {
    questionsChanged = true;
    if (reading === null) void refreshQuestions();
  }
  if (event.event.startsWith("approval.") && "approval_id" in event && event.approval_id) {
    changed.add(event.approval_id);
    if (!refreshing && reading === null) void refreshChanged();
  }
}

async function refreshChanged(pause = BURST_MILLIS): Promise<void> {
  refreshing = true;
  // A burst is one change of the list.
  await new Promise((resolve) => {
    setTimeout(resolve, pause);
  });
  if (reading !== null) {
    refreshing = false;
    return;
  }
  const ids = [...changed];
  changed.clear();
  let next = BURST_MILLIS;
  try {
    if (ids.length > SINGLY_MAX && ids.some((id) => !approvals.value.has(id))) {
      await reload();
    } else {
      put(...(await Promise.all(ids.map(current))).filter((it) => it !== null));
    }
  } catch (error) {
    // Without a connection the stream will end as well, and everything is read again then. A gateway
    // that cannot answer now is asked again in a while.
    if (error instanceof ApiError) {
      for (const id of ids) changed.add(id);
      next = BUSY_MILLIS;
    }
  } finally {
    refreshing = false;
    if (changed.size > 0 && reading === null) void refreshChanged(next);
  }
}

async function reload(): Promise<void> {
  const read = await readWaiting(approvals.value);
  const fresh = countFresh(approvals.value, read);
  approvals.value = merged(approvals.value, read);
  announce(fresh);
}

/** One after the other: two at once could end in the wrong order. */
async function refreshQuestions(): Promise<void> {
  if (refreshingQuestions) return;
  refreshingQuestions = true;
  try {
    while (questionsChanged) {
      questionsChanged = false;
      await readQuestions();
    }
  } finally {
    refreshingQuestions = false;
  }
}

async function readQuestions(): Promise<void> {
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
    return await current(id);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/** Reads one approval; null if there is none that may be seen. */
async function current(id: string): Promise<Approval | null> {
  try {
    return await get<Approval>(`/v1/approvals/${segment(id)}`);
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return null;
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
