// The live list of waiting approvals and questions, and the event stream that keeps it current.
//
// The list has rows; a full card is read when it is opened, about to be opened, or selected.
//
// The stream is opened first and the list is read afterwards, so nothing is missed in between. While
// the page catches up nothing can be allowed, because what it shows may be outdated.

import { batch, computed, signal } from "@preact/signals";

import { ApiError, get, isUnknown, post, segment } from "./api";
import { now } from "./clock";
import { turnOff } from "./device";
import { forgetQueues } from "./queue";
import { follow } from "./stream";
import * as sync from "./sync";
import type { Approval, Clarification, Identity, LiveEvent, Person, Row } from "./wire";

/** `starting`: nothing was read yet. `away`: the gateway is unreachable. */
export type Link = "starting" | "catching_up" | "live" | "away" | "signed_out";

export type Item = { kind: "approval"; id: string; approval: Row } | { kind: "question"; id: string; question: Clarification };

/** With more changes at once than this, the whole list is read again. */
const SINGLY_MAX = 12;
/** How long changes are gathered before they are read. */
const BURST_MILLIS = 30;
/** Pause before a gateway that is too busy is asked again. */
const BUSY_MILLIS = 1000;
const PAGE = 500;
/** Full cards that are kept; the oldest make room. */
const CARDS_MAX = 1000;
/** Full cards that are read again after a reconnect; others are read when they are needed. */
const REREAD_MAX = 20;
const RETRY_MS_MAX = 10_000;

const connection = signal<Link>("starting");
/** A session that ended is signed out everywhere at once, whichever request was told so first. */
export const link = computed<Link>(() => (isUnknown.value ? "signed_out" : connection.value));
export const me = signal<Identity | null>(null);
/** Rows of the list: everything that waits, and what was answered just now. */
export const rows = signal<ReadonlyMap<string, Row>>(new Map());
/** Full cards, as far as they were read. */
export const approvals = signal<ReadonlyMap<string, Approval>>(new Map());
export const questions = signal<ReadonlyMap<string, Clarification>>(new Map());
export const people = signal<Person[]>([]);
/** When the connection was lost, in Unix seconds; `null` while connected. */
export const lostAt = signal<number | null>(null);
/** The text of the polite live region for screen readers. */
export const spoken = signal("");
/** A message that is shown for a few seconds. */
export const toast = signal<string | null>(null);
/** Calls that ran without a question since the page was opened, for the empty state. */
export const ranAlone = signal(0);

/** Whether the lists are known to be current. */
export const isCurrent = computed(() => link.value === "live");
export const mayAnswer = computed(() => me.value?.role === "approver" || me.value?.role === "admin");

/** Everything that is waiting, the oldest first, so rows do not move when a new one arrives. */
export const waiting = computed<Item[]>(() => {
  const items: Item[] = [];
  for (const approval of rows.value.values()) {
    if (approval.status === "waiting") items.push({ kind: "approval", id: approval.approval_id, approval });
  }
  for (const question of questions.value.values()) {
    if (question.status === "waiting") items.push({ kind: "question", id: question.clarification_id, question });
  }
  return items.sort((a, b) => asked(a) - asked(b) || (a.id < b.id ? -1 : 1));
});

const asked = (item: Item): number =>
  item.kind === "approval" ? item.approval.created_at : item.question.created_at;

/** Listeners to every event, such as a conversation. */
const listeners = new Set<(event: LiveEvent) => void>();

/** Calls `listener` for every event until the returned function is called. */
export function listen(listener: (event: LiveEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let lastEventId: string | null = null;
let wake: (() => void) | null = null;
let toastTimer = 0;

/** Shows `text` as a toast and announces it. */
export function say(text: string): void {
  toast.value = text;
  spoken.value = text;
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => {
    toast.value = null;
  }, 6000);
}

/** Reconnects immediately. */
export function retry(): void {
  wake?.();
}

/** Keeps the lists current until the person is signed out. */
export async function run(): Promise<void> {
  for (let pause = 500; ; pause = Math.min(pause * 2, RETRY_MS_MAX)) {
    const attempt = await connect();
    if (attempt === "signed_out") {
      isUnknown.value = true;
      return;
    }
    if (attempt === "was_live") pause = 500;
    batch(() => {
      connection.value = "away";
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
    // Asked beside the stream: the first card does not wait for one after the other.
    const known = get<Identity>("/v1/whoami").then((it) => {
      me.value = it;
      forgetQueues(it.key_id);
    });
    // Whatever goes wrong with it goes wrong with the stream, or ends it.
    known.catch(() => undefined);
    const caughtUp = (): void => {
      wasLive = true;
    };
    const listener = {
      opened: () => {
        if (lostAt.value !== null || lastEventId !== null) connection.value = "catching_up";
        void catchUp(stop.signal, known).then(caughtUp, () => stop.abort());
      },
      told: (event: LiveEvent, id: string | null) => {
        if (id !== null) lastEventId = id;
        hear(event);
      },
    };
    await follow("/v1/events", lastEventId, listener, stop.signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return "signed_out";
  } finally {
    // Reads that are still running belong to a stream that ended.
    stop.abort();
  }
  return wasLive ? "was_live" : "failed";
}

/** Reads everything that is waiting, and how earlier cards ended. Events that arrive meanwhile are
 * handled afterwards, so an older response never replaces a newer one. */
async function catchUp(signal: AbortSignal, known: Promise<void>): Promise<void> {
  state = sync.catchUpStarted(state, signal);
  try {
    await readAll(signal, known);
  } finally {
    state = sync.catchUpEnded(state, signal);
  }
  if (!signal.aborted) readDue();
}

async function readAll(signal: AbortSignal, known: Promise<void>): Promise<void> {
  const before = rows.value;
  const was = lostAt.value;
  const [read, asked] = await Promise.all([
    readWaiting(before),
    get<{ clarifications: Clarification[] }>("/v1/clarifications"),
    known,
  ]);
  if (signal.aborted) return;
  const fresh = countFresh(before, read);
  batch(() => {
    settle(read);
    questions.value = new Map(asked.clarifications.map((it) => [it.clarification_id, it]));
    lostAt.value = null;
    connection.value = "live";
  });
  if (was !== null) {
    say(`Reconnected: ${fresh} new, ${read.gone.length} answered or expired meanwhile.`);
  }
  void others();
}

/** What is waiting now, which known rows no longer are, and full cards that were read again. */
interface Read {
  found: ReadonlyMap<string, Row>;
  gone: Row[];
  cards: Approval[];
}

async function readWaiting(before: ReadonlyMap<string, Row>): Promise<Read> {
  const found = await everyWaiting();
  const gone = [...before.values()].filter((it) => it.status === "waiting" && !found.has(it.approval_id));
  const known = [...approvals.value.values()].filter((it) => it.status === "waiting" && found.has(it.approval_id));
  const again = [...gone.slice(0, 50), ...known.slice(-REREAD_MAX)].map((it) => one(it.approval_id));
  return { found, gone, cards: (await Promise.all(again)).filter((it) => it !== null) };
}

/** Replaces the list by what was read. A full card that may be outdated is read again when it is needed. */
function settle({ found, gone, cards }: Read): void {
  const list = new Map(rows.value);
  for (const it of gone) list.delete(it.approval_id);
  for (const it of [...found.values(), ...cards]) if (!isBehind(list.get(it.approval_id), it)) list.set(it.approval_id, it);
  const kept = new Map([...approvals.value].filter(([, it]) => it.status !== "waiting"));
  for (const it of cards) kept.set(it.approval_id, it);
  batch(() => {
    rows.value = list;
    approvals.value = kept;
  });
}

const countFresh = (before: ReadonlyMap<string, Row>, { found }: Read): number =>
  [...found.keys()].filter((id) => !before.has(id)).length;

async function everyWaiting(): Promise<Map<string, Row>> {
  const found = new Map<string, Row>();
  let behind: string | null = null;
  do {
    const more: string = behind === null ? "" : `&behind=${segment(behind)}`;
    const page: { approvals: Row[]; next: string | null } = await get(`/v1/inbox?limit=${PAGE}${more}`);
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

let state = sync.START;

function hear(event: LiveEvent): void {
  for (const listener of listeners) listener(event);
  if (event.event === "call.assessed" && event.verdict === "allow") ranAlone.value += 1;
  if (event.event.startsWith("clarify.")) state = sync.questionsChanged(state);
  if (event.event.startsWith("approval.") && "approval_id" in event && event.approval_id) {
    state = sync.approvalsChanged(state, [event.approval_id]);
  }
  readDue();
}

/** Starts to read the lists that have changed. `pause` gathers a burst of changes into one read. */
function readDue(pause = BURST_MILLIS): void {
  if (sync.isDue(state, "approvals")) void refreshApprovals(pause);
  if (sync.isDue(state, "questions")) void refreshQuestions();
}

async function refreshApprovals(pause: number): Promise<void> {
  state = sync.claimed(state, "approvals");
  await new Promise((resolve) => {
    setTimeout(resolve, pause);
  });
  if (state.kind === "catching_up") {
    state = sync.released(state, "approvals");
    return;
  }
  const ids = [...state.changes.approvals];
  state = sync.taken(state, "approvals");
  let next = BURST_MILLIS;
  try {
    if (ids.length > SINGLY_MAX && ids.some((id) => !rows.value.has(id))) {
      await reload();
    } else {
      put(...(await Promise.all(ids.map(current))).filter((it) => it !== null));
    }
  } catch (error) {
    // Without a connection the stream ends as well, and everything is read again then. A gateway
    // that is too busy to respond is asked again later.
    if (error instanceof ApiError) {
      state = sync.approvalsChanged(state, ids);
      next = BUSY_MILLIS;
    }
  } finally {
    state = sync.released(state, "approvals");
    readDue(next);
  }
}

async function reload(): Promise<void> {
  const read = await readWaiting(rows.value);
  const fresh = countFresh(rows.value, read);
  settle(read);
  announce(fresh);
}

/** One read after the other: two at once could finish in the wrong order. */
async function refreshQuestions(): Promise<void> {
  state = sync.taken(sync.claimed(state, "questions"), "questions");
  try {
    await readQuestions();
  } finally {
    state = sync.released(state, "questions");
    readDue();
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

/** Reads one approval again. */
export async function refresh(id: string): Promise<Approval | null> {
  const found = await one(id);
  if (found !== null) put(found);
  return found;
}

const underWay = new Set<string>();

/** Reads the full cards of `ids` that were not read yet. */
export function need(...ids: string[]): void {
  for (const id of ids) {
    if (approvals.value.has(id) || underWay.has(id)) continue;
    underWay.add(id);
    void refresh(id)
      .catch(() => null)
      .finally(() => underWay.delete(id));
  }
}

async function one(id: string): Promise<Approval | null> {
  try {
    return await current(id);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/** Reads one approval; null if it does not exist or may not be seen. */
async function current(id: string): Promise<Approval | null> {
  try {
    return await get<Approval>(`/v1/approvals/${segment(id)}`);
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return null;
    throw error;
  }
}

/** Puts full cards, and their rows, into the list. */
export function put(...read: Approval[]): void {
  const found = read.filter((it) => !isBehind(rows.value.get(it.approval_id), it));
  if (found.length === 0) return;
  const cards = new Map(approvals.value);
  for (const it of found) {
    // What was read last is kept longest.
    cards.delete(it.approval_id);
    cards.set(it.approval_id, it);
  }
  for (const id of cards.keys()) {
    if (cards.size <= CARDS_MAX) break;
    cards.delete(id);
  }
  const changed = found.filter((it) => !isSame(rows.value.get(it.approval_id), it));
  const fresh = changed.filter((it) => it.status === "waiting" && !rows.value.has(it.approval_id)).length;
  batch(() => {
    approvals.value = cards;
    if (changed.length > 0) rows.value = new Map([...rows.value, ...changed.map((it): [string, Row] => [it.approval_id, it])]);
  });
  announce(fresh);
}

/** Whether `it` was read before it was answered: what was answered never waits again. */
const isBehind = (known: Row | undefined, it: Row): boolean =>
  known !== undefined && known.status !== "waiting" && it.status === "waiting";

/** Whether a row that is known says what the full card says: the rest of a card does not change. */
const isSame = (row: Row | undefined, { status, held_until: held, expires_at: expires }: Approval): boolean =>
  row?.status === status && row.held_until === held && row.expires_at === expires;

/** Puts a question into the list. */
export function putQuestion(question: Clarification): void {
  questions.value = new Map(questions.value).set(question.clarification_id, question);
}

/** Removes answered cards, except the one that is open. */
export function tidy(keep: string | null): void {
  const old = [...rows.value.values()].filter((it) => it.status !== "waiting" && it.approval_id !== keep);
  if (old.length === 0) return;
  const [list, cards] = [new Map(rows.value), new Map(approvals.value)];
  for (const it of old) {
    list.delete(it.approval_id);
    cards.delete(it.approval_id);
  }
  batch(() => {
    rows.value = list;
    approvals.value = cards;
  });
}

/** How many cards have arrived; badge.ts turns it into sounds and notifications. */
export const arrivals = signal(0);

function announce(fresh: number): void {
  if (fresh === 0 || link.value !== "live") return;
  spoken.value = `${fresh} more waiting`;
  arrivals.value += fresh;
}

/** Signs this browser out. */
export async function signOut(): Promise<void> {
  // Whoever comes next to this browser is not told what waits for somebody else.
  forgetQueues();
  await turnOff().catch(() => undefined);
  await post("/v1/logout").catch(() => undefined);
  location.assign("/");
}
