// Folds cards with one fold key into one row. The gateway says which cards share a key; a card
// without one, such as one that may affect a person in crisis, never folds.

import type { Item } from "./live";
import type * as wire from "./wire";
import { FOLD_MIN } from "./wire.gen";

export type Row =
  | { kind: "item"; key: string; item: Item; isMember: boolean }
  | { kind: "group"; key: string; members: wire.Row[]; isOpen: boolean };

/** Returns the item's fold key; null for questions, and where the gateway gives none. */
function foldKey(item: Item): string | null {
  return item.kind === "approval" ? (item.approval.fold_key ?? null) : null;
}

/** Returns the rows of the list: repeats folded, except in groups that are open. */
export function folded(items: Item[], open: ReadonlySet<string>): Row[] {
  const groups = new Map<string, wire.Row[]>();
  for (const item of items) {
    const key = foldKey(item);
    if (key === null || item.kind !== "approval") continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item.approval]);
    else group.push(item.approval);
  }
  const made: Row[] = [];
  const done = new Set<string>();
  for (const item of items) {
    const key = foldKey(item);
    const members = key === null ? undefined : groups.get(key);
    if (key === null || members === undefined || members.length < FOLD_MIN) {
      made.push({ kind: "item", key: item.id, item, isMember: false });
      continue;
    }
    if (done.has(key)) continue;
    done.add(key);
    const isOpen = open.has(key);
    made.push({ kind: "group", key, members, isOpen });
    if (!isOpen) continue;
    for (const approval of members) {
      made.push({ kind: "item", key: approval.approval_id, item: { kind: "approval", id: approval.approval_id, approval }, isMember: true });
    }
  }
  return made;
}

/** Returns where the commands of a group agree: `write_file docs/`. */
export function common(members: wire.Row[]): string {
  const texts = members.map((it) => it.command);
  let shared = texts[0] ?? "";
  for (const text of texts) {
    let length = 0;
    while (length < shared.length && shared[length] === text[length]) length += 1;
    shared = shared.slice(0, length);
  }
  return shared.trim();
}
