// When the page reads its lists again: a state machine with one read per list at a time, and none
// while everything is read after a reconnect. It is pure, so its transitions are tested without a
// gateway; live.ts carries out the reads.

/** The lists that are kept current. */
export type List = "approvals" | "questions";

/** What events have named since the last read. */
interface Changes {
  approvals: ReadonlySet<string>;
  questions: boolean;
}

interface Pending {
  changes: Changes;
  /** Lists that somebody is already reading. */
  busy: ReadonlySet<List>;
}

export type Sync =
  /** Changes are read as they are announced. */
  | ({ kind: "following" } & Pending)
  /** Everything is being read for `stream`; changes are kept for afterwards. */
  | ({ kind: "catching_up"; stream: AbortSignal } & Pending);

export const START: Sync = {
  kind: "following",
  changes: { approvals: new Set(), questions: false },
  busy: new Set(),
};

/** A new stream is open: everything is read once for it. */
export const catchUpStarted = ({ changes, busy }: Sync, stream: AbortSignal): Sync => ({
  kind: "catching_up",
  stream,
  changes,
  busy,
});

/** Everything was read for `stream`, or reading failed. A newer stream is not disturbed. */
export function catchUpEnded(sync: Sync, stream: AbortSignal): Sync {
  if (sync.kind === "following" || sync.stream !== stream) return sync;
  return { kind: "following", changes: sync.changes, busy: sync.busy };
}

/** Approvals have changed. */
export const approvalsChanged = (sync: Sync, ids: Iterable<string>): Sync => ({
  ...sync,
  changes: { ...sync.changes, approvals: new Set([...sync.changes.approvals, ...ids]) },
});

/** Questions have changed; which ones is not known. */
export const questionsChanged = (sync: Sync): Sync => ({ ...sync, changes: { ...sync.changes, questions: true } });

/** Returns whether `list` should be read now. */
export function isDue({ kind, changes, busy }: Sync, list: List): boolean {
  const hasChanged = list === "approvals" ? changes.approvals.size > 0 : changes.questions;
  return kind === "following" && hasChanged && !busy.has(list);
}

/** Somebody takes care of `list`. */
export const claimed = (sync: Sync, list: List): Sync => ({ ...sync, busy: new Set([...sync.busy, list]) });

/** Whoever took care of `list` has finished. */
export const released = (sync: Sync, list: List): Sync => ({
  ...sync,
  busy: new Set([...sync.busy].filter((it) => it !== list)),
});

/** The changes of `list` are about to be read. */
export const taken = (sync: Sync, list: List): Sync => ({
  ...sync,
  changes: list === "approvals" ? { ...sync.changes, approvals: new Set() } : { ...sync.changes, questions: false },
});
