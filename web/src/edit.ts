// Which text of a call a person edits, and the arguments it becomes.

import type { Approval } from "./wire";

/** Arguments that tell what a call does, the first that is there. */
const TELLING_NAMES = ["command", "cmd", "script", "text", "body", "message", "content"];

/** What stands in the editor: one argument as text, or all of them as JSON. */
export type Subject = { name: string } | "all";

/** Returns the argument that tells what the call does; all of them if none stands out. */
export function subjectOf(approval: Approval): Subject {
  const args = approval.args as Record<string, unknown>;
  const name = TELLING_NAMES.find((it) => typeof args[it] === "string");
  return name === undefined ? "all" : { name };
}

/** Returns the text of `subject` in `args`. */
export function textOf(args: unknown, subject: Subject): string {
  if (subject === "all") return JSON.stringify(args, null, 2);
  const value = (args as Record<string, unknown>)[subject.name];
  return typeof value === "string" ? value : "";
}

/** Returns `args` with `text` as its `subject`; `null` if the text is no JSON object. */
export function argsWith(args: unknown, subject: Subject, text: string): Record<string, unknown> | null {
  if (subject !== "all") return { ...(args as Record<string, unknown>), [subject.name]: text };
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? (parsed as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
