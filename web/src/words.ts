// Texts shared by all views. Labels are those of the plain-text card, so screen readers, chats and
// the terminal use the same words.

import type { Choice, Decision, Risk } from "./wire";

export const LABELS: Record<Choice, string> = {
  once: "Allow once",
  session: "Allow for this session",
  always: "Add to permanent allowlist",
  deny: "Deny",
};

/** The number of each choice on every surface. What is not offered is left out, never renumbered. */
export const NUMBERS: Record<Choice | "view", number> = { once: 1, session: 2, always: 3, deny: 4, view: 5 };

/** The effect of each choice. */
export const LEAVES: Record<Choice, string> = {
  once: "Runs now, exactly as shown. Creates no grant.",
  session: "Shows the grant it would create, for this session only.",
  always: "Shows the grant it would create, valid until revoked.",
  deny: "Does not run.",
};

export const RISKS: Record<Risk, string> = {
  low: "Low",
  medium: "Medium",
  high: "High",
  critical: "Critical",
};

const ORDER: Risk[] = ["low", "medium", "high", "critical"];

/** Whether the highlight starts on *Deny*. */
export const isGrave = (risk: Risk): boolean => ORDER.indexOf(risk) >= ORDER.indexOf("high");

/** The tiers: how well asker and approver are separated. */
export const TIERS: Record<string, string> = {
  T0: "advisory: the agent runs under the same account and could answer itself",
  T1: "hardened: the same account, but not without a deliberate attack",
  T2: "separated: the firewall runs under its own account",
  T3: "out of band: answered on another device through a verified channel",
  T4: "proven: a passkey signed exactly this call",
};

/** Names of side effects; a test compares them with those of the core. */
export const SIDE_EFFECTS: Record<string, string> = {
  read_only: "changes nothing",
  local_reversible: "local change",
  external: "reaches other machines or people",
  critical: "critical",
};

/** Names of factors; a test compares them with those of the core. */
export const FACTORS: Record<string, string> = {
  tool_class: "What it does",
  target_sensitivity: "What it touches",
  reversibility: "How hard to undo",
  human_impact: "Effect on people",
  context_certainty: "How clear it is",
};

/** Formats a score as on every surface: two digits, rounded half up. */
export const score = (fraction: number): string => (Math.floor((Math.round(fraction * 1000) + 5) / 10) / 100).toFixed(2);

const VIAS: Record<string, string> = {
  page: "the page",
  api: "the API",
  cli: "the command line",
  terminal: "the terminal",
  mattermost: "Mattermost",
  slack: "Slack",
  discord: "Discord",
  telegram: "Telegram",
  matrix: "Matrix",
  email: "e-mail",
};

/** Returns where an answer was given, as text. */
export const place = (via: string): string => VIAS[via] ?? via;

/** Returns how a question ended: `Denied by Ana on Mattermost`. `me` is whoever reads it. */
export function ending(decision: Decision, me: string): string {
  const who = decision.by === null ? "the firewall" : decision.by === me ? "you" : decision.by;
  const where = decision.via === null ? "" : ` on ${place(decision.via)}`;
  switch (decision.outcome) {
    case "approved":
      return `${decision.choice === null ? "Allowed" : ALLOWED[decision.choice] ?? "Allowed"} by ${who}${where}${edited(decision) === null ? "" : ", edited"}`;
    case "denied":
      return `Denied by ${who}${where}`;
    case "withdrawn":
      return "Withdrawn by the agent";
    case "expired":
      return decision.cause === "undeliverable" ? "Nobody could be reached; it did not run" : "Nobody answered in time; it did not run";
    default:
      return decision.outcome;
  }
}

/** Returns the arguments as a person changed them, if one did. */
export const edited = (decision: Decision): unknown => decision.args ?? null;

const ALLOWED: Record<string, string> = {
  once: "Allowed once",
  session: "Allowed for this session",
  always: "Added to the permanent allowlist",
};

/** Returns `1 card` or `3 cards`. */
export const many = (count: number, one: string, several = `${one}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? one : several}`;
