// Texts for verdicts and results.

import type { AssessmentView, CallView, DecisionView, TraceView, Verdict } from "./wire.gen";
import type { Risk } from "./wire";
import { place } from "./words";

export const VERDICTS: Record<Verdict, string> = {
  allow: "Allowed",
  allow_then_review: "Allowed, then reviewed",
  ask: "Asked",
  refuse: "Refused",
};

/** How calls end, with the word a row begins with and the tone it has. */
export const ENDINGS: Record<string, { word: string; tone: string }> = {
  waiting: { word: "Waiting", tone: "ask" },
  allowed: { word: "Allowed", tone: "allow" },
  approved: { word: "Approved", tone: "yes" },
  denied: { word: "Denied", tone: "refuse" },
  refused: { word: "Refused", tone: "refuse" },
  expired: { word: "Expired", tone: "none" },
  withdrawn: { word: "Withdrawn", tone: "none" },
};

const CAUSES: Record<string, string> = {
  rule: "by a rule",
  grant: "under a standing grant",
  deny_memory: "because it was denied recently",
  flood: "because the agent asked too often",
  no_approver: "because there is no approver",
  undeliverable: "because nobody could be reached",
  expiry: "because nobody answered in time",
};

/** Returns how a call ended and through whom: `Approved by ana on the page`. */
export function ended(status: string, decision: DecisionView | null | undefined, me: string): string {
  const word = ENDINGS[status]?.word ?? status;
  if (decision === null || decision === undefined) return word;
  if (decision.by !== null && decision.by !== undefined && ["person", "model"].includes(decision.cause)) {
    const who = decision.by === me ? "you" : decision.by;
    const where = decision.via === null || decision.via === undefined ? "" : ` on ${place(decision.via)}`;
    return decision.cause === "model" ? `${word} by a model on a person's behalf` : `${word} by ${who}${where}`;
  }
  if (decision.cause === "grant" && decision.grant_id) return `${word} under the grant ${decision.grant_id}`;
  const cause = CAUSES[decision.cause];
  return cause === undefined ? word : `${word} ${cause}`;
}

/** Returns how long a person took, in seconds; `null` where no person was asked. */
export function took(call: CallView): number | null {
  const { decision, approval_id: approval } = call;
  if (decision === null || decision === undefined || approval === null || approval === undefined) return null;
  return decision.cause === "person" ? Math.max(0, decision.at - call.created_at) : null;
}

/** Returns a short span: `0.4 s`, `12 s`, `3 min 20 s`. */
export function brief(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const rest = whole % 60;
  const minutes = Math.floor(whole / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}

/** Returns how bad it is in one word: the gateway's, or for records of earlier versions what it would have said. */
export function riskOf(assessment: Omit<AssessmentView, "risk"> & { risk?: string }): Risk {
  if (assessment.risk !== undefined) return assessment.risk as Risk;
  if (assessment.side_effect === "critical" || assessment.crisis_sensitive) return "critical";
  if (assessment.risk_score > 0.6) return "high";
  return assessment.risk_score >= 0.25 ? "medium" : "low";
}

/** What a list shows of a call; the rest is read when somebody opens it. */
export interface Short {
  id: string;
  at: number;
  tool: string;
  command: string;
  status: string;
  who: string;
  ending: string;
  took: number | null;
  risk: Risk;
}

export function short(trace: TraceView, me: string): Short {
  return {
    id: trace.call_id,
    at: trace.created_at,
    tool: trace.tool,
    command: trace.command,
    status: trace.status,
    who: trace.agent ?? trace.key_name,
    ending: ended(trace.status, trace.decision, me),
    took: took(trace),
    risk: riskOf(trace.assessment),
  };
}
