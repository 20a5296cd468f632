// Folds similar cards into one row. Cards that may affect a person in crisis never fold.

import type { Item } from "./live";
import type { Approval } from "./wire";

/** So many of one kind are one row. */
export const FOLD_MIN = 3;

export type Row =
  | { kind: "item"; key: string; item: Item; isMember: boolean }
  | { kind: "group"; key: string; members: Approval[]; isOpen: boolean };

/** Returns what makes two approvals repeats of each other: run, tool, risk and rule. */
function sameness(item: Item): string | null {
  if (item.kind !== "approval" || item.approval.assessment.crisis_sensitive) return null;
  const { run_id, tool, card, assessment } = item.approval;
  return [run_id, tool, card.risk, assessment.findings[0]?.code ?? ""].join("\u0000");
}

/** Returns the rows of the list: repeats folded, except in groups that are open. */
export function rows(items: Item[], open: ReadonlySet<string>): Row[] {
  const groups = new Map<string, Approval[]>();
  for (const item of items) {
    const key = sameness(item);
    if (key === null || item.kind !== "approval") continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item.approval]);
    else group.push(item.approval);
  }
  const made: Row[] = [];
  const done = new Set<string>();
  for (const item of items) {
    const key = sameness(item);
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
export function common(members: Approval[]): string {
  const texts = members.map((it) => it.command);
  let shared = texts[0] ?? "";
  for (const text of texts) {
    let length = 0;
    while (length < shared.length && shared[length] === text[length]) length += 1;
    shared = shared.slice(0, length);
  }
  return shared.trim();
}
