// Names for the gateway's types. They are generated from Rust (wire.gen.ts), so a change there is a
// compile error here.

import type { ApprovalRow, ApprovalView, Card as CardView, CardRow, Event } from "./wire.gen";

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

type Status = "waiting" | "approved" | "denied" | "expired" | "withdrawn";

/** One question, as people see it. */
export type Approval = Omit<ApprovalView, "card" | "status"> & { card: Card; status: Status };

/** What a list shows of an approval. An approval is a row, too. */
export type Row = Omit<ApprovalRow, "card" | "status"> & { card: Omit<CardRow, "risk"> & { risk: Risk }; status: Status };

/** One event of the stream. */
export type LiveEvent = Event;
