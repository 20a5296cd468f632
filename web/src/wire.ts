// Names for the gateway's types. They are generated from Rust (wire.gen.ts), so a change there is a
// compile error here.

import type { ApprovalView, Card as CardView, Event } from "./wire.gen";

export type {
  AssessmentView as Assessment,
  CardField as Field,
  CardMark as Mark,
  Choice,
  ClarificationView as Clarification,
  DecisionView as Decision,
  FactorView as Factor,
  FindingView as Finding,
  Identity,
  PersonView as Person,
  ScopeView,
} from "./wire.gen";

export type Risk = "low" | "medium" | "high" | "critical";

/** What a person sees of an approval. */
export type Card = Omit<CardView, "risk"> & { risk: Risk };

/** One question, as people see it. */
export type Approval = Omit<ApprovalView, "card" | "status"> & {
  card: Card;
  status: "waiting" | "approved" | "denied" | "expired" | "withdrawn";
};

/** One event of the stream. */
export type LiveEvent = Event;
