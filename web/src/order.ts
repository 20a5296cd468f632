// Which waiting cards the list shows, and in which order.

import { signal } from "@preact/signals";

import type { Item } from "./live";
import type { Risk, Row } from "./wire";
import { RISKS } from "./words";

export const ORDERS = { expiry: "Expires first", risk: "Riskiest first", newest: "Newest first" } as const;
export type Order = keyof typeof ORDERS;

export const order = signal<Order>("expiry");
/** What the list is narrowed to; an empty text narrows nothing. */
export const filters = { words: signal(""), risk: signal(""), agent: signal(""), session: signal("") };

export const isFiltered = (): boolean => Object.values(filters).some((filter) => filter.value.trim() !== "");

export function unfilter(): void {
  for (const filter of Object.values(filters)) filter.value = "";
}

const GRAVITY = Object.keys(RISKS) as Risk[];

const asked = (item: Item): number => (item.kind === "approval" ? item.approval.created_at : item.question.created_at);
const expires = (item: Item): number => (item.kind === "approval" ? item.approval.expires_at : item.question.expires_at);
const gravity = (item: Item): number => (item.kind === "approval" ? GRAVITY.indexOf(item.approval.card.risk) : -1);

const COMPARE: Record<Order, (a: Item, b: Item) => number> = {
  expiry: (a, b) => expires(a) - expires(b),
  risk: (a, b) => gravity(b) - gravity(a) || expires(a) - expires(b),
  newest: (a, b) => asked(b) - asked(a),
};

/** Compares two items by the chosen order. Equal ones stay in the order they were asked in. */
export const inOrder = (a: Item, b: Item): number => COMPARE[order.value](a, b) || asked(a) - asked(b) || (a.id < b.id ? -1 : 1);

/** Returns who asks: the agent's own name, or that of its key. */
export function asker(approval: Row): string {
  const named = (name: string): string | undefined => approval.card.lineage.find((field) => field.name === name)?.text;
  return named("Agent") ?? named("Asked by") ?? "";
}

const sessionOf = (item: Item): string => (item.kind === "approval" ? item.approval.session_id : item.question.session_id);
const agentOf = (item: Item): string => (item.kind === "approval" ? asker(item.approval) : "");
const riskOf = (item: Item): string => (item.kind === "approval" ? item.approval.card.risk : "");

/** Whether the item is one of those the list is narrowed to. */
export function matches(item: Item): boolean {
  const { words, risk, agent, session } = filters;
  const isWanted = (filter: string, value: string): boolean => filter === "" || filter === value;
  if (!isWanted(risk.value, riskOf(item)) || !isWanted(agent.value, agentOf(item)) || !isWanted(session.value, sessionOf(item))) return false;
  const wanted = words.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (wanted.length === 0) return true;
  const text = textOf(item);
  return wanted.every((word) => text.includes(word));
}

function textOf(item: Item): string {
  if (item.kind === "question") return `question ${item.question.question} ${item.question.session_id}`.toLowerCase();
  const { card, command, session_id: session } = item.approval;
  return [card.risk, card.title, command, session, ...card.lineage.map((field) => field.text)].join(" ").toLowerCase();
}

/** Returns the values by which `items` differ, for a choice; none if they are all alike. */
export function differing(items: Item[], by: "agent" | "session"): string[] {
  const of = by === "agent" ? agentOf : sessionOf;
  const values = [...new Set(items.map(of))].filter((value) => value !== "").sort();
  return values.length > 1 ? values : [];
}
