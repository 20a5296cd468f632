// What the gateway says, as far as the page reads it.

/** Who is signed in. */
export interface Identity {
  key_id: string;
  name: string;
  role: "agent" | "approver" | "admin" | "viewer";
  via: string;
  tier: string;
}

export type Risk = "low" | "medium" | "high" | "critical";
export type Choice = "once" | "session" | "always" | "deny";

/** A named part of a card. Its text is safe to show as text. */
export interface Field {
  name: string;
  text: string;
  code: boolean;
}

/** What a person sees of an approval. */
export interface Card {
  approval_id: string;
  title: string;
  risk: Risk;
  reasons: string[];
  tool: string;
  command: string;
  body: Field[];
  lineage: Field[];
  explanation: string | null;
  on_timeout: string;
  tier: string;
  digest: string;
  outcome: string | null;
}

export interface Factor {
  factor: string;
  score: number;
  evidence: string;
}

export interface Finding {
  code: string;
  severity: string;
  message: string;
  span?: [number, number] | null;
}

/** What the judge found. */
export interface Assessment {
  risk_score: number;
  confidence: number;
  pattern: string;
  verdict: string;
  side_effect: string;
  reversible: boolean;
  outbound: boolean;
  crisis_sensitive: boolean;
  reasons: string[];
  factors: Factor[];
  findings: Finding[];
}

/** How a question ended. */
export interface Decision {
  outcome: string;
  cause: string;
  choice: string | null;
  by: string | null;
  via: string | null;
  note: string | null;
  at: number;
  grant_id: string | null;
}

/** A standing permission that may be left. */
export interface ScopeView {
  scope: unknown;
  words: string;
  matched: number | null;
  of: number | null;
  riskiest: string | null;
}

/** One question, as people see it. */
export interface Approval {
  approval_id: string;
  call_id: string;
  run_id: string;
  session_id: string;
  status: "waiting" | "approved" | "denied" | "expired" | "withdrawn";
  held_until: number | null;
  tool: string;
  args: unknown;
  command: string;
  description: string;
  choices: Choice[];
  assessment: Assessment;
  digest: string;
  created_at: number;
  expires_at: number;
  decision: Decision | null;
  card: Card;
  scopes: ScopeView[];
}

/** A question an agent asks a person. */
export interface Clarification {
  clarification_id: string;
  status: "waiting" | "answered" | "expired";
  question: string;
  choices: string[];
  session_id: string;
  run_id: string;
  answer: { answered: boolean; choice?: number | null; text?: string; by?: string; reason?: string } | null;
  created_at: number;
  expires_at: number;
}

export interface Person {
  name: string;
  roles: string[];
  accounts: Record<string, string>;
}

/** One event of the stream; every event has a name and most have some of these. */
export interface LiveEvent {
  event: string;
  approval_id?: string;
  clarification_id?: string;
  call_id?: string;
  run_id?: string;
  session_id?: string;
  timestamp?: number;
  [key: string]: unknown;
}
