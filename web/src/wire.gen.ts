// What goes over the wire. Written from the description of the API by
// `COUNTERSIGN_UPDATE_TYPES=1 cargo test -p countersign the_pages_types`; do not change it by hand.

/** So many approvals with one `fold_key` are one row. */
export const FOLD_MIN = 3;

/** An asker. */
export interface AgentCount {
  /** Of these asked about. */
  asked: number;
  /** Calls. */
  calls: number;
  /** Its key. */
  key_id: string;
  /** The name of the key. */
  name: string;
  /** Of these refused. */
  refused: number;
}

/** The ledger was taken as it was. */
export interface AnchoredTold {
  /** Who accepted it. */
  by: string;
  /** The last entry that was found, as `NUMBER:HASH`. */
  head: string;
  /** The name of the key that signs its head. */
  kid: string;
  /** When. */
  timestamp: number;
  /** The head that was kept before, as `NUMBER:HASH`. */
  was: string | null;
  /** Why. */
  why: string;
}

/** How people answered, and how fast. */
export interface AnswerCounts {
  /** How many of them allowed, 0 to 1; null if nobody answered. */
  approval_rate: number | null;
  /** Answers of people. */
  count: number;
  /** Of these the ones that allowed: a yes nobody can have read. */
  hasty_approvals: number;
  /** Half were faster than this, in seconds. */
  p50_seconds: number | null;
  /** Nine of ten were faster than this, in seconds. */
  p90_seconds: number | null;
  /** How many took how long. */
  spans: AnswerSpan[];
  /** Answers within one second. */
  under_one_second: number;
}

/** Answers that took so long. */
export interface AnswerSpan {
  /** Less than this, in seconds; null for the rest. */
  below_seconds: number | null;
  /** How many. */
  count: number;
}

/** Something that settles nothing happened to a question. */
export interface ApprovalHappening {
  /** The question. */
  approval_id: string;
  /** Who did it. */
  by: string | null;
  /** The call. */
  call_id: string;
  /** What exactly. */
  detail: string | null;
  /** Its run. */
  run_id: string;
  /** Its session. */
  session_id: string;
  /** When. */
  timestamp: number;
  /** The model's id of the call, for calls of the built-in agent. */
  tool_call_id: string | null;
}

/** Approvals, the newest first. */
export interface ApprovalList {
  /** The items of this page. */
  approvals: ApprovalView[];
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
}

/** A question was put to people. */
export interface ApprovalRequired {
  /** The agent's own name, a claim. */
  agent: string | null;
  /** The question. */
  approval_id: string;
  /** The arguments, display-redacted; null where they are not shown. */
  args: unknown;
  /** The call. */
  call_id: string;
  /** The choices. */
  choices: Choice[];
  /** On one line, display-redacted; never empty. */
  command: string;
  /** The confidence, 0 to 1. */
  confidence: number;
  /** The first reason. */
  description: string;
  /** The digest that an answer is bound to. */
  digest: Digest;
  /** When it expires. */
  expires_at: number;
  /** Reasons, the worst first. */
  reasons: string[];
  /** `low`, `medium`, `high` or `critical`. */
  risk: string;
  /** The risk, 0 to 1. */
  risk_score: number;
  /** Its run. */
  run_id: string;
  /** Its session. */
  session_id: string;
  /** The tier: how well asker and approver are separated. */
  tier: Tier;
  /** When. */
  timestamp: number;
  /** The tool. */
  tool: string;
  /** The model's id of the call, for calls of the built-in agent. */
  tool_call_id: string | null;
}

/** A question is settled. */
export interface ApprovalResolved {
  /** The question. */
  approval_id: string;
  /** Who chose it. */
  by: string | null;
  /** The call. */
  call_id: string;
  /** `person`, `model`, `expiry`, `undeliverable` or `withdrawal`. */
  cause: string;
  choice: Choice | null;
  /** The digest that the answer is bound to. */
  digest: Digest;
  /** Whether the person edited the arguments. */
  edited: boolean;
  /** The grant it created. */
  grant_id: string | null;
  /** The note. */
  note: string | null;
  /** `approved`, `denied`, `expired` or `withdrawn`. */
  outcome: string;
  /** Its run. */
  run_id: string;
  /** Its session. */
  session_id: string;
  tier: Tier | null;
  /** When. */
  timestamp: number;
  /** The model's id of the call, for calls of the built-in agent. */
  tool_call_id: string | null;
  /** Where. */
  via: string | null;
}

/** One approval as a row of a list; `GET /v1/approvals/{id}` has all of it. */
export interface ApprovalRow {
  /** The question. */
  approval_id: string;
  /** Its card. */
  card: CardRow;
  /** The beginning of the shell text or of the call on one line, display-redacted. */
  command: string;
  /** When it was asked, in seconds. */
  created_at: number;
  /** The first reason, cut. */
  description: string;
  /** When it expires, in seconds. */
  expires_at: number;
  /** Equal for similar approvals that wait: three or more may be shown as one row. Null for one
   * that must have its own row; its text means nothing else. */
  fold_key: string | null;
  /** Whether an answer is held back and can be taken back, and until when, in seconds. */
  held_until: number | null;
  /** Its session. */
  session_id: string;
  /** `waiting`, `approved`, `denied`, `expired` or `withdrawn`. */
  status: string;
}

/** One question, as people see it. */
export interface ApprovalView {
  /** The question. */
  approval_id: string;
  /** Its arguments, display-redacted; null where they are not shown. */
  args: unknown;
  /** What the judge found. */
  assessment: AssessmentView;
  /** The call it is about (the first, if several wait for it). */
  call_id: string;
  /** The card. */
  card: Card;
  /** The choices. */
  choices: Choice[];
  /** The shell text or the call on one line, display-redacted. */
  command: string;
  /** Whether allowing takes a second step, such as Enter after the number: the call is critical. */
  confirm_allow: boolean;
  /** When it was asked, in seconds. */
  created_at: number;
  decision: DecisionView | null;
  /** The first reason. */
  description: string;
  /** The digest that an answer is bound to. */
  digest: string;
  /** Whether a person can change the arguments before allowing it. They are then exactly `args`. */
  editable: boolean;
  /** When it expires, in seconds. */
  expires_at: number;
  /** By how many seconds it can be extended now; null where that is not offered. */
  extend_seconds: number | null;
  /** Equal for similar approvals that wait: three or more may be shown as one row. Null for one
   * that must have its own row; its text means nothing else. */
  fold_key: string | null;
  /** Whether an answer is held back and can be taken back, and until when, in seconds. */
  held_until: number | null;
  /** Its run. */
  run_id: string;
  /** Grants that may be left, narrowest first. */
  scopes: ScopeView[];
  /** Its session. */
  session_id: string;
  /** `waiting`, `approved`, `denied`, `expired` or `withdrawn`. */
  status: string;
  /** The tool. */
  tool: string;
}

/** What a call would do, how sure that is, and what follows. */
export interface AssessmentView {
  /** The confidence, 0 to 1. */
  confidence: number;
  /** Whether it may affect a person in crisis. */
  crisis_sensitive: boolean;
  /** The five factors. */
  factors: FactorView[];
  /** Everything that was found, the worst first. */
  findings: FindingView[];
  /** Whether it is outbound. */
  outbound: boolean;
  /** Which confirmation pattern the verdict belongs to. */
  pattern: Pattern;
  /** Sentences for a person, the worst first. */
  reasons: string[];
  /** Whether a person is asked. */
  requires_human: boolean;
  /** Whether it can be undone. */
  reversible: boolean;
  /** The same in one word, as cards say it: `low`, `medium`, `high` or `critical`. Records of
   * earlier versions lack it. */
  risk: string;
  /** The risk, 0 to 1. */
  risk_score: number;
  /** The rule that decided. */
  rule: RuleView;
  /** The side-effect class. */
  side_effect: SideEffect;
  /** The tool, as the caller names it. */
  tool_name: string;
  /** The verdict, before any person is asked. */
  verdict: Verdict;
}

/** What led to a call. */
export interface BeforeView {
  /** The last calls of the run before this one, the oldest first. */
  calls: TraceView[];
  message: MessageBefore | null;
}

/** Calls of one stretch of time, by verdict. */
export interface Bucket {
  /** Ran at once. */
  allow: number;
  /** Ran, and a person looked afterwards. */
  allow_then_review: number;
  /** A person was asked. */
  ask: number;
  /** When it begins, in seconds. */
  at: number;
  /** Did not run. */
  refuse: number;
}

/** A call was judged. */
export interface CallAssessed {
  /** The agent's own name, a claim. */
  agent?: string | null;
  /** The approval, if a person is asked. */
  approval_id?: string | null;
  /** A salted hash of the arguments. */
  arguments_commitment: string;
  /** The call. */
  call_id: string;
  /** The cause, if nobody was asked: `rule`, `grant`, `deny_memory`, `flood` or `no_approver`. */
  cause?: string | null;
  /** On one line, display-redacted; never empty. */
  command: string;
  /** The confidence, 0 to 1. */
  confidence: number;
  /** Whether it may affect a person in crisis. */
  crisis_sensitive: boolean;
  /** The digest that a decision is bound to. */
  digest: Digest;
  /** The code of the first finding. */
  finding?: string | null;
  /** Whether it is outbound. */
  outbound: boolean;
  /** Reasons, the worst first. */
  reasons: string[];
  /** The risk, 0 to 1. */
  risk_score: number;
  /** The number of the rule that decided. */
  rule?: number | null;
  /** Its run. */
  run_id: string;
  /** Its session. */
  session_id: string;
  /** The side-effect class. */
  side_effect: SideEffect;
  /** `waiting`, `allowed` or `refused`. */
  status: string;
  /** When. */
  timestamp: number;
  /** The tool. */
  tool: string;
  /** The model's id of the call, for calls of the built-in agent. */
  tool_call_id?: string | null;
  /** The verdict. */
  verdict: Verdict;
}

/** A call an agent wants to make. No key may stand twice in it, however deep. */
export interface CallBody {
  /** The agent's own name, a claim. */
  agent?: string | null;
  /** Hints of an MCP server. */
  annotations?: Record<string, unknown> | null;
  /** Its arguments, an object. */
  args?: Record<string, unknown> | null;
  /** The arguments as bytes in base64, instead of `args`. */
  args_raw?: string | null;
  /** SHA-256 of what is attached, `sha256:…`. */
  attachments?: string[] | null;
  /** The directory the call is made from. */
  cwd?: string | null;
  /** The executor; `tool:NAME` by default. */
  executor?: string | null;
  /** The agent's explanation, shown as unverified. */
  explanation?: string | null;
  /** When a hook let the call run by the same rules, without asking. It is recorded, and nobody is
   * asked about it. */
  let_run_at?: number | null;
  /** The message being answered: a text, or a list of `{"from","text"}`, oldest first. */
  replying_to?: Record<string, unknown> | null;
  /** The run; one per key and session if it is not named. */
  run_id?: string | null;
  /** The session. Needed for `POST /v1/calls`. */
  session_id?: string | null;
  /** Whether the asker can run the call with arguments that a person changed (`decision.args`). If
   * not, nobody is offered to change them. */
  takes_changes?: boolean;
  /** The tool. */
  tool: string;
  /** The tool's definition, as the model sees it. */
  tool_definition?: Record<string, unknown> | null;
  /** How long to wait for a decision, 0 to 60. */
  wait_seconds?: number | null;
  /** The directory the agent works on. */
  workspace?: string | null;
}

/** A call is about to leave the machine. */
export interface CallHandedOver {
  /** The call. */
  call_id: string;
  /** Its run. */
  run_id: string;
  /** Its session. */
  session_id: string;
  /** When. */
  timestamp: number;
  /** The tool. */
  tool: string;
  /** The model's id of the call, for calls of the built-in agent. */
  tool_call_id: string | null;
}

/** Calls, the newest first. */
export interface CallList {
  /** The items of this page. */
  calls: CallView[];
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
}

/** One call, as its asker sees it. */
export interface CallView {
  /** The question, if there is one. */
  approval_id: string | null;
  /** Its effects. */
  assessment: AssessmentView;
  /** The call. */
  call_id: string;
  /** When it was submitted, in seconds. */
  created_at: number;
  decision: DecisionView | null;
  /** The digest that the decision is bound to. */
  digest: string;
  /** When the question expires, in seconds. */
  expires_at: number | null;
  /** The message for the model. */
  message: string;
  /** Its run. */
  run_id: string;
  /** Its session. */
  session_id: string;
  /** `waiting`, `allowed`, `approved`, `denied`, `refused`, `expired` or `withdrawn`. */
  status: string;
  /** The proof, for the asker alone. */
  token: string | null;
  /** When the proof ends, in seconds. */
  token_expires_at: number | null;
  /** The tool. */
  tool: string;
  /** `allow`, `allow_then_review`, `ask` or `refuse`. */
  verdict: Verdict;
}

/** What a person sees. */
export interface Card {
  /** The approval. */
  approval_id: string;
  /** What exactly will run, complete. */
  body: CardField[];
  /** The choices. */
  choices: Choice[];
  /** The shell text, or the call on one line; never empty. */
  command: string;
  /** The digest the answer is bound to. */
  digest: string;
  /** When it expires, in milliseconds. */
  expires_at: UnixMillis;
  /** The agent's explanation, quoted and unverified. */
  explanation: string | null;
  /** The owner's help lines, where a person in crisis may be concerned: for whoever answers. */
  help_lines: string[];
  /** Who asks, from where, for what: agent, run, session, directory. */
  lineage: CardField[];
  /** The follow-up. */
  on_timeout: string;
  /** How it ended, in words: "Approved once by Ana · 14:02". `None` while it waits. */
  outcome: string | null;
  /** Reasons, the worst first. */
  reasons: string[];
  /** `low`, `medium`, `high` or `critical`. */
  risk: string;
  /** The tier: how well asker and approver are separated. */
  tier: Tier;
  /** The title of the call. */
  title: string;
  /** The tool. */
  tool: string;
}

/** A named part of a card. */
export interface CardField {
  /** Whether it is code, to be shown in fixed width with its line breaks. */
  code: boolean;
  /** Where the danger stands in it, in the order of the text. */
  marks: CardMark[];
  /** Its name. */
  name: string;
  /** Its text, safe to show. */
  text: string;
}

/** A card was handed to a channel. */
export interface CardHappening {
  /** The question. */
  approval_id: string;
  /** The call, if it is about one. */
  call_id: string | null;
  /** The channel. */
  channel: string;
  /** Its run. */
  run_id: string;
  /** When. */
  timestamp: number;
  /** The model's id of the call, for calls of the built-in agent. */
  tool_call_id: string | null;
  /** Why it failed. */
  why: string | null;
}

/** A part of a text that a finding is about. */
export interface CardMark {
  /** Where it ends. */
  end: number;
  /** How bad it is. */
  severity: Severity;
  /** Where it begins, in UTF-8 bytes of the shown text. */
  start: number;
  /** What was found, for a person. */
  words: string;
}

/** What a row shows of a card. */
export interface CardRow {
  /** What the call says, cut; empty where the command says it. */
  body: CardField[];
  /** Who asks, from where, for what; cut, without quoted texts. */
  lineage: CardField[];
  /** `low`, `medium`, `high` or `critical`. */
  risk: string;
  /** The title of the call, cut. */
  title: string;
  /** The tool. */
  tool: string;
}

/** How people are reached, and how that goes. */
export interface ChannelList {
  /** The items of this page. */
  channels: ChannelView[];
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
}

/** The state of a channel. */
export interface ChannelView {
  /** When a card was delivered last, in seconds. */
  delivered_at: number | null;
  /** When a card could not be delivered last, in seconds. */
  failed_at: number | null;
  /** `ok`, `failing` or `unused`: nothing was delivered yet. */
  health: string;
  /** The type: `webhook` and so on. */
  kind: string;
  /** Its name in the configuration. */
  name: string;
  /** People who can be reached there. */
  people: string[];
  /** How long a question waits that is put there, in seconds. */
  timeout_seconds: number;
  /** Why not. */
  why: string | null;
}

/** A request for a completion in the shape of `OpenAI`. */
export interface ChatBody {
  /** The conversation, the last by the person. */
  messages: Record<string, unknown>[];
  /** Whether the answer is streamed. */
  stream?: boolean;
  stream_options?: StreamOptions | null;
}

/** The ledger was signed. */
export interface CheckpointTold {
  /** Its hash. */
  hash: Digest;
  /** The name of the key. */
  kid: string;
  /** The key. */
  public_key: string;
  /** The last signed entry. */
  seq: number;
  /** The signature. */
  signature: string;
}

/** What a person may choose. */
export type Choice = "once" | "session" | "always" | "deny";

/** Questions of agents that wait. */
export interface ClarificationList {
  /** The items of this page. */
  clarifications: ClarificationView[];
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
}

/** A question as programs and people see it. */
export interface ClarificationView {
  answer: ClarifiedView | null;
  /** The choices. */
  choices: string[];
  /** The question. */
  clarification_id: string;
  /** When it was asked, in seconds. */
  created_at: number;
  /** When it expires, in seconds. */
  expires_at: number;
  /** The question's text. */
  question: string;
  /** The run. */
  run_id: string;
  /** The session. */
  session_id: string;
  /** `waiting`, `answered` or `expired`. */
  status: string;
}

/** How a question ended: `{"answered":true,"choice","text","by"}` or
 * `{"answered":false,"reason":"timeout"}`. */
export interface ClarifiedView {
  /** Whether somebody answered. */
  answered: boolean;
  /** Who answered. */
  by?: string | null;
  /** The number of the choice, from 1. */
  choice?: number | null;
  /** Why nobody did. */
  reason?: string | null;
  /** In words. */
  text?: string | null;
}

/** What a person answers: one of the choices, from 1, or their own words. */
export interface ClarifyBody {
  /** One of the choices, from 1. */
  choice?: number | null;
  /** In their own words. */
  text?: string | null;
}

/** An agent asks a person. */
export interface ClarifyRequired {
  /** Answers to choose from. */
  choices: string[];
  /** The question. */
  clarification_id: string;
  /** When it expires. */
  expires_at: number;
  /** Its text. */
  question: string;
  /** Its run. */
  run_id: string;
  /** Its session. */
  session_id: string;
  /** When. */
  timestamp: number;
}

/** An agent's question is settled. */
export interface ClarifyResolved {
  /** Who answered. */
  by: string | null;
  /** The number of the choice, from 1. */
  choice: number | null;
  /** The question. */
  clarification_id: string;
  /** `answered` or `expired`. */
  outcome: string;
  /** Its run. */
  run_id: string;
  /** Its session. */
  session_id: string;
  /** When. */
  timestamp: number;
  /** Where. */
  via: string | null;
}

/** Whose crisis mark a person clears: a session's or a recipient's. */
export interface ClearBody {
  /** The key of the session, if several keys use that name. */
  key_id?: string | null;
  /** The reason, recorded in the ledger. */
  note?: string | null;
  /** The recipient, however it is written. */
  recipient?: string | null;
  /** The session. */
  session_id?: string | null;
}

/** A click in a channel did not count. */
export interface ClickRefused {
  /** The account that clicked; not verified. */
  account: string;
  /** The question that the click names; not verified. */
  approval_id: string;
  /** The channel. */
  channel: string;
  /** What was clicked. */
  choice: string;
  /** Why it did not count, as a code. */
  reason: string;
  /** When. */
  timestamp: number;
}

/** One simple command of a granted text. */
export interface CommandShape {
  /** What joins it to the command before it: `&&`, `||`, `|`, `|&`, `;`; empty for the first. */
  join: string;
  /** The directory in which its operands may name anything; `None`: there are no others. */
  open: string | null;
  /** Its redirections. */
  redirects: string[];
  /** Its words; without the operands if it is open. */
  words: string[];
}

/** One key of the configuration. */
export interface ConfigBody {
  /** With dots: `approvals.mode`. */
  key: string;
  /** As it is written in YAML. */
  value: string;
}

/** The configuration is about to be changed. */
export interface ConfigChanged {
  /** Who. */
  by: string;
  /** The signing key. */
  key: string;
  /** When. */
  timestamp: number;
  /** Where. */
  via: string;
}

/** A token to be used up. */
export interface ConsumeBody {
  /** The token. */
  token: string;
}

/** A token that was used. */
export interface ConsumedView {
  /** The call it was for. */
  call_id: string;
  /** When, in seconds. */
  consumed_at: number;
  /** The token. */
  jti: string;
}

/** A crisis mark was cleared. */
export interface CrisisCleared {
  /** Who cleared it. */
  by: string;
  /** Whose session. */
  key_id: string | null;
  /** The note. */
  note: string | null;
  /** The recipient whose mark was cleared, in normal form. */
  recipient: string | null;
  /** The session whose mark it was. */
  session_id: string | null;
  /** When. */
  timestamp: number;
  /** Where. */
  via: string;
}

/** A recipient carries the crisis mark. */
export interface CrisisMarked {
  /** The call that showed the signs, if any. */
  call_id: string | null;
  /** Whose session. */
  key_id: string;
  /** The recipient, in normal form. */
  recipient: string;
  /** The session in which the signs were seen. */
  session_id: string;
  /** When. */
  timestamp: number;
}

/** The crisis marks. */
export interface CrisisView {
  /** Models that read again what rules and model neither clear nor hold. */
  readers: ReaderView[];
  /** People who were written to. */
  recipients: MarkedRecipient[];
  /** Conversations. */
  sessions: MarkedSession[];
}

/** How a call ended. */
export interface DecisionView {
  /** The arguments as the person changed them. */
  args: unknown;
  /** When, in seconds on the wire. */
  at: number;
  /** Who chose it. */
  by: string | null;
  /** `rule`, `grant`, `person`, `model`, `expiry`, `undeliverable`, `withdrawal`, `deny_memory`,
   * `flood` or `no_approver`. */
  cause: string;
  choice: Choice | null;
  /** The question whose denial is remembered, where that is the cause. */
  denial_id: string | null;
  /** When the same was denied, where that refused it, in seconds on the wire. */
  denied_at: number | null;
  /** The grant it left, or that let it run. */
  grant_id: string | null;
  /** The note. */
  note: string | null;
  /** `approved`, `denied`, `expired`, `withdrawn`, `allowed` or `refused`. */
  outcome: string;
  /** After how many seconds the agent may ask again, where it asked too much. */
  retry_after: number | null;
  /** The deny rule that refused it, by its name. */
  rule: string | null;
  /** Where. */
  via: string | null;
}

/** The definition of a tool changed. */
export interface DefinitionChanged {
  /** The first call with the new definition. */
  call_id: string;
  /** The server. */
  executor: string;
  /** The key that told of it. */
  key_id: string;
  /** The hash of the definition now. */
  now: string;
  /** When. */
  timestamp: number;
  /** The tool. */
  tool: string;
  /** The hash of the definition before. */
  was: string;
}

/** Where a card is. */
export interface DeliveryList {
  /** The items of this page. */
  deliveries: DeliveryView[];
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
}

/** A card and one channel, as people see it. */
export interface DeliveryView {
  /** The channel. */
  channel: string;
  /** `trying`, `delivered`, `settled` or `failed`. */
  status: string;
  /** Why it could not be delivered. */
  why: string | null;
}

/** A browser that is to take notifications, as its push subscription says. */
export interface DeviceBody {
  /** The secret of the browser, in base64url. */
  auth: string;
  /** Where messages are sent: https, at a push service of the internet. */
  endpoint: string;
  /** A name for people, such as `Firefox on Android`. */
  name: string;
  /** The public key of the browser, in base64url. */
  p256dh: string;
}

/** A browser takes notifications, or no longer does. */
export interface DeviceHappening {
  /** Who did it; `push service` if the browser gave it up. */
  by: string;
  /** The device. */
  device_id: string;
  /** Its name. */
  name: string;
  /** Whose it is. */
  person: string;
  /** The host of its push service. */
  service: string;
  /** When. */
  timestamp: number;
}

/** Devices that take notifications. */
export interface DeviceList {
  /** The items of this page. */
  devices: DeviceView[];
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
}

/** How the test of a device went. */
export interface DeviceTest {
  /** Whether the push service took it. What the device does with it is seen there. */
  delivered: boolean;
  /** Why not. */
  why: string | null;
}

/** A device, as people see it. */
export interface DeviceView {
  /** Since when, in seconds. */
  created_at: number;
  /** The device: `dev_` and the beginning of the SHA-256 of its endpoint. */
  id: string;
  /** Its name, such as `Firefox on Android`. */
  name: string;
  /** Whose it is. */
  person: string;
  /** The host of its push service. */
  service: string;
}

/** SHA-256, in hexadecimal with its name in front where it is written. */
export type Digest = string;

/** An entry before it has its place in the chain. */
export interface Draft {
  /** When it happened. */
  at: UnixMillis;
  /** The event as it is shown, a JSON object. */
  body: string;
  /** What happened: `approval.required`, `grant.revoked` … */
  event: string;
  /** The key whose doing it is about; the agent behind it may see it. Empty: people only. */
  owner: string;
  /** The run it belongs to, or empty. */
  run: string;
  /** The session it belongs to, or empty. */
  session: string;
  /** The id of the thing it is about, or empty. */
  subject: string;
}

/** The arguments of a call as a person would change them. */
export interface EditBody {
  /** The arguments, an object. */
  args: Record<string, unknown>;
}

/** A call as a person would change it. */
export interface EditedView {
  /** Its arguments, display-redacted. */
  args: unknown;
  /** What the judge found. */
  assessment: AssessmentView;
  /** The card as it would be. */
  card: Card;
  /** Whether allowing it takes a second step, such as Enter after the number. */
  confirm_allow: boolean;
  /** The digest that an answer would be bound to. */
  digest: string;
  /** What the rules say about it. A person is asked in any case. */
  verdict: Verdict;
}

/** The outcome of a tool call, in the same words on every surface. */
export interface EndedView {
  /** The call it was. */
  call_id: string;
  /** `done`, `failed`, `denied`, `refused`, `expired`, `withdrawn`, `unknown` or `not_run`. */
  outcome: string;
  /** That, for people. */
  words: string;
}

/** One entry. */
export type Entry = Draft & {
  /** Its own hash. */
  hash: Digest;
  /** The hash of the entry before it. */
  previous: Digest;
  /** Its number, from 1, without gaps. */
  seq: number;
};

/** Entries of the ledger, in order. */
export interface EntryList {
  /** The items of this page. */
  entries: Entry[];
  /** The number of the last entry there is. */
  last: number;
  /** The value of `after` for the next page; null at the end. */
  next: string | null;
}

export interface Error {
  error: {
    /** a sentence for a person */
    message: string;
    type: string;
    /** the field that is wrong */
    param: string | null;
    /** a stable word for programs */
    code: string;
  };
}

/** Something that happened. Times are Unix seconds. */
export type Event = CallAssessed & {
  event: "call.assessed";
} | CallHandedOver & {
  event: "call.handed_over";
} | ApprovalRequired & {
  event: "approval.required";
} | ApprovalResolved & {
  event: "approval.resolved";
} | ApprovalHappening & {
  event: "approval.viewed";
} | ApprovalHappening & {
  event: "approval.held";
} | ApprovalHappening & {
  event: "approval.taken_back";
} | ApprovalHappening & {
  event: "approval.extended";
} | ApprovalHappening & {
  event: "approval.lifted";
} | ApprovalHappening & {
  event: "approval.changed";
} | ApprovalHappening & {
  event: "token.minted";
} | ApprovalHappening & {
  event: "token.consumed";
} | ApprovalHappening & {
  event: "token.refused";
} | CardHappening & {
  event: "card.delivered";
} | CardHappening & {
  event: "card.failed";
} | ClickRefused & {
  event: "click.refused";
} | ClarifyRequired & {
  event: "clarify.required";
} | ClarifyResolved & {
  event: "clarify.resolved";
} | ReviewRequired & {
  event: "review.required";
} | ReviewResolved & {
  event: "review.resolved";
} | GrantHappening & {
  event: "grant.created";
} | GrantHappening & {
  event: "grant.used";
} | GrantRevoked & {
  event: "grant.revoked";
} | SessionHappening & {
  event: "session.started";
} | SessionHappening & {
  event: "session.changed";
} | OverrideStarted & {
  event: "session.override_started";
} | OverrideEnded & {
  event: "session.override_ended";
} | DefinitionChanged & {
  event: "definition.changed";
} | CrisisMarked & {
  event: "crisis.marked";
} | CrisisCleared & {
  event: "crisis.cleared";
} | ReaderExamined & {
  event: "crisis.reader_examined";
} | RunStarted & {
  event: "run.started";
} | RunStopping & {
  event: "run.stopping";
} | RunSteered & {
  event: "run.steered";
} | RunCompleted & {
  event: "run.completed";
} | RunFailed & {
  event: "run.failed";
} | RunHappening & {
  event: "run.cancelled";
} | MessageDelta & {
  event: "message.delta";
} | MessageSnapshot & {
  event: "message.snapshot";
} | MessageHeld & {
  event: "message.held";
} | ToolStarted & {
  event: "tool.started";
} | ToolCompleted & {
  event: "tool.completed";
} | KeyHappening & {
  event: "key.created";
} | KeyHappening & {
  event: "key.revoked";
} | KeyPublished & {
  event: "key.published";
} | PersonChanged & {
  event: "person.changed";
} | PersonRemoved & {
  event: "person.removed";
} | LoginOffered & {
  event: "login.offered";
} | LoginStarted & {
  event: "login.started";
} | LoginEnded & {
  event: "login.ended";
} | DeviceHappening & {
  event: "device.added";
} | DeviceHappening & {
  event: "device.removed";
} | ConfigChanged & {
  event: "config.changed";
} | CheckpointTold & {
  event: "ledger.checkpoint";
} | AnchoredTold & {
  event: "ledger.anchored";
};

/** How the examination of a second reader stands. */
export type Examination = "under_way" | "passed" | "failed" | "no_answer";

/** One of the five factors of a score. */
export interface FactorView {
  /** The evidence. */
  evidence: string;
  /** `tool_class`, `target_sensitivity`, `reversibility`, `human_impact` or `context_certainty`. */
  factor: string;
  /** How much, 0 to 1. High is risky, except for `context_certainty`, where high is good. */
  score: number;
}

/** How a call would change one file. */
export interface FileChange {
  /** Its text after the call, display-redacted; null if it was not compared. */
  after: string | null;
  /** Its text now, display-redacted; null if there is no such file. */
  before: string | null;
  /** The file. */
  path: string;
  /** Why it was not compared. */
  why: string | null;
}

/** How a call would change files, compared with what they hold now. */
export interface FileChanges {
  /** The files of the workspace that it would change; none if it is no call of a file tool, or if
   * their places are sensitive. */
  files: FileChange[];
  /** When the files were read, in seconds. */
  read_at: number;
}

/** One thing that was found. */
export interface FindingView {
  /** A stable code. */
  code: string;
  /** A sentence for a person. */
  message: string;
  /** The severity. */
  severity: Severity;
  /** Where in the command or text: first byte and the one behind the last, in UTF-8. */
  span: [number, number] | null;
}

/** The tool and its arguments. */
export interface FunctionView {
  /** The arguments as JSON text; null where they are not shown. */
  arguments: string | null;
  /** The tool. */
  name: string;
}

/** A standing permission was left, or let a call run. */
export interface GrantHappening {
  /** Who gave it. */
  by: string;
  /** The call. */
  call_id: string;
  /** Until when. */
  expires_at: number | null;
  /** The grant. */
  grant_id: string;
  /** Its run. */
  run_id: string;
  /** What it covers, as text. */
  scope: string;
  /** Its session. */
  session_id: string;
  /** When. */
  timestamp: number;
  /** The model's id of the call, for calls of the built-in agent. */
  tool_call_id: string | null;
  /** How often it was used. */
  uses: number;
  /** How many uses are left. */
  uses_left: number | null;
}

/** Standing permissions. */
export interface GrantList {
  /** The items of this page. */
  grants: GrantView[];
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
}

/** A standing permission was taken back. */
export interface GrantRevoked {
  /** Who. */
  by: string;
  /** The grant. */
  grant_id: string;
  /** What it covered, as text. */
  scope: string;
  /** The session it was valid in; null for any. */
  session_id: string | null;
  /** When. */
  timestamp: number;
  /** How often it was used. */
  uses: number;
  /** Where. */
  via: string;
}

/** One grant, as people see it. */
export interface GrantView {
  /** In answer to which question. */
  approval_id: string;
  /** Who gave it. */
  by: string;
  /** When, in seconds. */
  created_at: number;
  /** Until when, in seconds. */
  expires_at: number | null;
  /** The grant. */
  grant_id: string;
  /** Calls by agent. */
  key_id: string;
  /** When last, in seconds. */
  last_used_at: number | null;
  /** Whether it still holds. */
  live: boolean;
  /** The scope. */
  scope: Scope;
  /** In which session; null: in any. */
  session_id: string | null;
  /** How often it was used. */
  uses: number;
  /** How many uses are left. */
  uses_left: number | null;
  /** In words. */
  words: string;
}

/** The principal of the request. */
export interface Identity {
  /** The key in use. */
  key_id: string;
  /** Its name; of a person's key the person's. */
  name: string;
  /** Its role. */
  role: Role;
  /** How far an agent could pretend to be this one. */
  tier: Tier;
  /** Where: `page`, `terminal`, `cli`, `socket`, `api`, or the name of a channel. */
  via: string;
}

/** Waiting approvals as rows, the newest first. */
export interface InboxList {
  /** The items of this page. */
  approvals: ApprovalRow[];
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
}

/** A key was made or revoked. */
export interface KeyHappening {
  /** Who. */
  by: string;
  /** Executors whose tokens it may consume besides its own. */
  executors: string[] | null;
  /** The key. */
  key_id: string;
  /** Its name. */
  name: string;
  /** Its role. */
  role: Role;
  /** When. */
  timestamp: number;
  /** The directories it is bound to, if any. */
  workspaces: string[] | null;
}

/** A key of the configuration. */
export interface KeyInForce {
  /** Whether nobody has set it. */
  is_default: boolean;
  /** Its name, with dots. */
  key: string;
  /** Its value, without secrets. */
  value: unknown;
}

/** Credentials, without their secrets. */
export interface KeyList {
  /** The items of this page. */
  keys: KeyView[];
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
}

/** A gateway signs with a key. */
export interface KeyPublished {
  /** Its name. */
  kid: string;
  /** The key. */
  public_key: string;
  /** When. */
  timestamp: number;
}

/** A key as people see it. */
export interface KeyView {
  /** When it was made, in seconds. */
  created_at: number;
  /** Who made it. */
  created_by: string;
  /** Executors whose tokens it may consume besides its own. */
  executors: string[];
  /** The key. */
  id: string;
  /** Its name. */
  name: string;
  /** When it was revoked, in seconds. */
  revoked_at: number | null;
  /** Its role. */
  role: Role;
  /** The directories its calls may count as their workspace; none: any they claim. */
  workspaces: string[];
}

/** Whether the ledger is what it was. */
export interface LedgerState {
  /** The entry up to which the home has kept a head. */
  anchored: number | null;
  /** Signatures that were checked. */
  checkpoints: number;
  /** Good entries. */
  entries: number;
  /** The first bad entry; none if all entries are good and something else is not. */
  first_bad: number | null;
  /** Hash of the last good one. */
  head: string;
  /** Whether it is. */
  ok: boolean;
  /** Records that were held against the ledger. */
  records: number;
  /** What is wrong with it. */
  why: string | null;
}

/** A one-time code. */
export interface LoginBody {
  /** From the fragment of the link. */
  code: string;
}

/** A code that signs a browser in, once. */
export interface LoginCode {
  /** The code. */
  code: string;
  /** For how many seconds it works. */
  expires_in: number;
  /** As the end of a link. */
  fragment: string;
}

/** A browser was signed out. */
export interface LoginEnded {
  /** Who. */
  by: string;
  /** Whose. */
  key_id: string;
  /** The login. */
  login_id: string;
  /** When. */
  timestamp: number;
}

/** Signed-in browsers. */
export interface LoginList {
  /** The items of this page. */
  logins: LoginView[];
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
}

/** A link to sign in was made. */
export interface LoginOffered {
  /** When it expires. */
  expires_at: number;
  /** Whose. */
  key_id: string;
  /** The name of the key. */
  name: string;
  /** When. */
  timestamp: number;
}

/** A browser signed in. */
export interface LoginStarted {
  /** Until when. */
  expires_at: number;
  /** Whose. */
  key_id: string;
  /** The login. */
  login_id: string;
  /** The name of the key. */
  name: string;
  /** When. */
  timestamp: number;
}

/** A browser that is signed in, as people see it. */
export interface LoginView {
  /** Since when, in seconds. */
  created_at: number;
  /** Until when, in seconds. */
  expires_at: number;
  /** The login. */
  id: string;
  /** Who. */
  name: string;
}

/** Somebody who carries the mark. */
export interface MarkedRecipient {
  /** The call that showed it, if it was one. */
  call_id: string | null;
  /** Whose session. */
  key_id: string;
  /** When, in seconds. */
  marked_at: number;
  /** Who, in normal form. */
  recipient: string;
  /** In which session that was seen. */
  session_id: string;
}

/** A conversation that carries the mark. */
export interface MarkedSession {
  /** Whose. */
  key_id: string;
  /** Who talks to the built-in agent there, if it is one of its conversations. */
  person: string | null;
  /** The session. */
  session_id: string;
}

/** What a person said before a call. */
export interface MessageBefore {
  /** Who said it. Of agents other than the built-in one, their own word. */
  from: string;
  /** The text, display-redacted; of a long one the beginning. */
  text: string;
}

/** The next part of a message. */
export interface MessageDelta {
  /** The part. */
  delta: string;
  /** Whether it is the notice of `message.held`. */
  notice: boolean | null;
  /** Its run. */
  run_id: string;
  /** When. */
  timestamp: number;
}

/** A message waits for a person. */
export interface MessageHeld {
  /** The draft of the run; the notice is shown once per draft. */
  draft: number | null;
  /** The notice shown meanwhile. */
  notice: string;
  /** Whether another person was asked; if not, nobody could be reached. */
  reached: boolean | null;
  /** Its run. */
  run_id: string;
  /** When. */
  timestamp: number;
}

/** The messages of a conversation. */
export interface MessageList {
  /** The oldest first. */
  messages: MessageView[];
  /** Always null. */
  next: string | null;
  /** The conversation. */
  session_id: string;
}

/** A message so far. */
export interface MessageSnapshot {
  /** Whether it is the notice of `message.held`. */
  notice: boolean | null;
  /** Its run. */
  run_id: string;
  /** The message so far. */
  text: string;
  /** When. */
  timestamp: number;
}

/** One message, in the shape of `OpenAI`'s chat completions. */
export interface MessageView {
  /** The text; null if it is not shown. */
  content?: string | null;
  ended?: EndedView | null;
  /** `user`, `assistant`, `system` or `tool`. */
  role: string;
  /** The run it belongs to. */
  run_id?: string | null;
  /** Which request a tool answers. */
  tool_call_id?: string | null;
  /** Tools the model wants to use. */
  tool_calls?: ToolCallView[] | null;
}

/** A key as it is made: the only time its secret is seen. */
export interface NewKey {
  /** The key. */
  id: string;
  /** Its secret. */
  key: string;
  /** Its name. */
  name: string;
  /** Its role. */
  role: Role;
}

/** A new key. */
export interface NewKeyBody {
  /** For an agent's key: audiences whose tokens it may use besides its own. */
  executors?: string[];
  /** Its name; for approvers and admins the name of a person. */
  name: string;
  /** Its role. */
  role: Role;
  /** For an agent: the directories its calls may count as their workspace; none: any they claim. */
  workspaces?: string[] | null;
}

/** One of the rules that every call is judged by. */
export interface OrderedRule {
  /** When it applies. */
  applies: string;
  /** Its number in the order. */
  number: number;
  /** What follows. */
  result: string;
}

/** The outcome of a call. */
export interface OutcomeBody {
  /** How long it took, in milliseconds. */
  duration_millis?: number | null;
  /** The exit code, if it ran a process. */
  exit_code?: number | null;
  /** Whether it failed. */
  failed?: boolean;
  /** A summary of the output, by the asker. */
  summary?: string | null;
}

/** The outcome of a call, as its asker reports it. */
export interface OutcomeView {
  /** When it was reported, in seconds. */
  at: number;
  /** How long it took, in milliseconds. */
  duration: number | null;
  /** Whether it failed. */
  failed: boolean;
  /** A summary of the output, by the asker. */
  summary: string | null;
}

/** Lets a session run without questions about ordinary calls for a while. */
export interface OverrideBody {
  /** Whether critical calls run without a question, too; rules 1 to 4 stand either way. */
  all?: boolean;
  /** The key of the session, if several keys use that name. */
  key_id?: string | null;
  /** For how long. */
  minutes: number;
  /** Why. */
  reason: string;
}

/** A session asks again. */
export interface OverrideEnded {
  /** Who. */
  by: string;
  /** Whose session. */
  key_id: string;
  /** Its session. */
  session_id: string;
  /** When. */
  timestamp: number;
}

/** Sessions that run without questions for a while. */
export interface OverrideList {
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
  /** The items of this page. */
  overrides: OverrideView[];
}

/** A session runs without questions for a while. */
export interface OverrideStarted {
  /** Whether it includes critical calls. */
  all: boolean | null;
  /** Who. */
  by: string;
  /** Whose session. */
  key_id: string;
  /** Why. */
  reason: string;
  /** Its session. */
  session_id: string;
  /** When. */
  timestamp: number;
  /** Until when. */
  until: number;
}

/** An override of one session. */
export interface OverrideView {
  /** Whether critical calls run without a question, too. Rules 1 to 4 stand either way. */
  all: boolean;
  /** Who gave it. */
  by: string;
  /** Whose. */
  key_id: string;
  /** Why. */
  reason: string;
  /** The session. */
  session_id: string;
  /** Until when, in seconds; null: none. */
  until: number | null;
  /** What it covers, as text. */
  words: string;
}

/** Which of the three confirmation patterns a verdict belongs to. */
export type Pattern = "pre_execution_gate" | "post_execution_review" | "confidence_threshold";

/** A person, or what is to be changed of one. */
export interface PersonBody {
  /** Accounts, by channel. */
  accounts?: Record<string, string>;
  /** The name answers are recorded under. */
  name: string;
  /** `viewer`, `approver` or `admin`. */
  roles: string[];
}

/** A person was added or changed. */
export interface PersonChanged {
  /** Who. */
  by: string;
  /** Their accounts in channels. */
  channels: string[];
  /** The person. */
  name: string;
  /** Their roles. */
  roles: string[];
  /** When. */
  timestamp: number;
}

/** A person who answered. */
export interface PersonCount {
  /** Answers. */
  answers: number;
  /** Of these that allowed. */
  approved: number;
  /** The name. */
  name: string;
  /** Half were faster than this, in seconds. */
  p50_seconds: number;
  /** Answers within one second. */
  under_one_second: number;
}

/** People who may answer. */
export interface PersonList {
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
  /** The items of this page. */
  people: PersonView[];
}

/** A person was removed. */
export interface PersonRemoved {
  /** Who. */
  by: string;
  /** The person. */
  name: string;
  /** When. */
  timestamp: number;
}

/** A person. */
export interface PersonView {
  /** Accounts, by channel. */
  accounts: Record<string, string>;
  /** The name answers are recorded under. */
  name: string;
  /** The roles of the person. */
  roles: string[];
}

/** Which grants could be left. */
export interface PreviewBody {
  /** For which question. */
  approval_id: string;
  scope?: Scope | null;
}

/** What a project's file tightens. */
export interface ProjectRules {
  /** The file. */
  file: string;
  /** The keys it sets. */
  keys: KeyInForce[];
  /** Why it cannot be read; calls of this project are refused until it can. */
  problem: string | null;
}

/** How devices are told. */
export interface PushView {
  /** The public key that a browser subscribes for, in base64url. */
  public_key: string;
  /** Whether a notification says what waits, and not only that something does. */
  shows_what: boolean;
}

/** A question an agent asks a person. */
export interface QuestionBody {
  /** Up to nine answers to choose from. */
  choices?: string[];
  /** The question. */
  question: string;
  /** The run. */
  run_id?: string | null;
  /** The session. */
  session_id: string;
  /** How long to wait, 0 to 60. */
  wait_seconds?: number | null;
}

/** Questions by how they ended. */
export interface QuestionCounts {
  /** Allowed, whether or not the asker came for it. */
  approved: number;
  /** All. */
  asked: number;
  /** Answered by a model on a person's behalf; counted among the above, too. */
  by_model: number;
  /** Denied. */
  denied: number;
  /** Nobody answered in time. */
  expired: number;
  /** Nobody has answered yet. */
  waiting: number;
  /** The asker took it back. */
  withdrawn: number;
}

/** A model that is to read messages again was examined. */
export interface ReaderExamined {
  /** How many other texts it took for one. */
  alarms: number;
  /** How many texts with a person in crisis it did not notice. */
  missed: number;
  /** The model. */
  model: string;
  /** Whether it is used. */
  passed: boolean;
  /** How many texts it was asked about. */
  questions: number;
  /** When. */
  timestamp: number;
  /** How many it did not answer with the one word that was asked for. */
  unanswered: number;
}

/** A model that reads again, and whether it may. */
export interface ReaderView {
  /** How its examination stands. */
  examination: Examination;
  /** Whether it reads for all agents, or for the built-in agent alone. */
  for_all: boolean;
  /** The model. */
  model: string;
  /** The same for people. */
  words: string;
}

/** A reason for questions. */
export interface ReasonCount {
  /** Of these allowed. */
  approved: number;
  /** Questions. */
  asked: number;
  /** A stable code of what was found; empty where nothing in particular was. */
  code: string;
  /** Of these denied. */
  denied: number;
  /** An example, in words: the newest. */
  example: string;
}

/** Judges past calls again. */
export interface ReplayBody {
  /** The configuration to judge by, as in config.yaml; the present one if it is not named. */
  config?: Record<string, unknown> | null;
  /** Calls at or after this moment, in seconds; all if it is not named. */
  since?: number | null;
  thresholds?: ThresholdsBody | null;
}

/** What another policy would have said, had there been no grants, no overrides and no earlier
 * denials. */
export interface Replayed {
  /** Calls that were judged again. */
  calls: number;
  /** Calls whose verdict differs, at most a hundred. */
  changed: ReplayedCall[];
  /** Verdicts then and now: `{"ask":{"allow":3}}`. */
  verdicts: Record<string, Record<string, number>>;
}

/** A call whose verdict differs. */
export interface ReplayedCall {
  /** The call. */
  call_id: string;
  /** On one line, display-redacted. */
  command: string;
  /** The verdict now. */
  now: string;
  /** Why. */
  reason: string;
  /** The verdict then. */
  was: string;
}

/** An answer a person gives. */
export interface ResolveBody {
  /** The arguments as the person changed them; they are judged again. */
  args?: Record<string, unknown> | null;
  /** The choice. */
  choice: Choice;
  /** For *session* and *always*: for how long. */
  lasts_seconds?: number | null;
  /** The note for the agent. */
  note?: string | null;
  scope?: Scope | null;
  /** For *session* and *always*: how often. */
  uses?: number | null;
}

/** A call that ran and needs a review. */
export interface ReviewList {
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
  /** The items of this page. */
  reviews: ReviewView[];
}

/** Something ran and awaits a look. */
export interface ReviewRequired {
  /** The call. */
  call_id: string;
  /** On one line, display-redacted; never empty. */
  command: string;
  /** The review. */
  review_id: string;
  /** Its run. */
  run_id: string;
  /** Its session. */
  session_id: string;
  /** When. */
  timestamp: number;
  /** The tool. */
  tool: string;
  /** The model's id of the call, for calls of the built-in agent. */
  tool_call_id: string | null;
}

/** Somebody looked. */
export interface ReviewResolved {
  /** Who. */
  by: string;
  /** The call. */
  call_id: string;
  /** `kept` or `undone`. */
  outcome: string;
  /** The review. */
  review_id: string;
  /** Its run. */
  run_id: string;
  /** Its session. */
  session_id: string;
  /** When. */
  timestamp: number;
  /** The model's id of the call, for calls of the built-in agent. */
  tool_call_id: string | null;
  /** Where. */
  via: string;
}

/** Something that ran and awaits a look. */
export interface ReviewView {
  /** The agent's own name, a claim. */
  agent: string | null;
  /** Who settled it. */
  by: string | null;
  /** The call. */
  call: CallView;
  /** It on one line, display-redacted. */
  command: string;
  /** What was changed in it. */
  diff: string | null;
  /** Name of the key. */
  key_name: string;
  /** The file that was changed, where it can be put back. */
  path: string | null;
  /** The review. */
  review_id: string;
  /** `waiting`, `undoing`, `kept` or `undone`. */
  status: string;
}

/** What a credential is for. */
export type Role = "agent" | "approver" | "admin" | "viewer";

/** The rule that decided. */
export interface RuleView {
  /** Its number in the order of rules. */
  number: number;
  /** What it says. */
  sentence: string;
}

/** Rules and configuration in force. */
export interface RulesView {
  /** The owner's file. */
  file: string;
  /** Every key of the configuration. */
  keys: KeyInForce[];
  /** The rules in the order in which they are tried; the first that applies decides. */
  order: OrderedRule[];
  /** Files of projects that calls came from since the gateway started. */
  projects: ProjectRules[];
}

/** An answer as clients of Hermes give it. They may send more than we know; it is ignored, because
 * they cannot be changed and nothing of it could allow anything. */
export interface RunApprovalBody {
  /** All that wait; only to deny. */
  all?: boolean;
  /** Which question. */
  approval_id?: string | null;
  /** `once`, `session`, `always` or `deny`; `approve`, `approved` and `allow` mean `once`. */
  choice: string;
  /** The same under its other name. */
  request_id?: string | null;
  /** The same under its other name. */
  resolve_all?: boolean;
}

/** A run that is to begin. */
export interface RunBody {
  /** Earlier messages, for a conversation that is new here. */
  conversation_history?: Record<string, unknown>[];
  /** The directory it works in. */
  cwd?: string | null;
  /** The task: a text, or messages whose last is the person's. */
  input: Record<string, unknown>;
  /** Additional instructions for the model. */
  instructions?: string | null;
  /** One of the models that `GET /v1/models` lists; the first if it is not named. */
  model?: string | null;
  /** The conversation it belongs to; a new one if it is not named. */
  session_id?: string | null;
}

/** A run ended with an answer. */
export interface RunCompleted {
  /** The answer. */
  output: string;
  /** Its run. */
  run_id: string;
  /** When. */
  timestamp: number;
  /** Its token usage. */
  usage: Usage;
}

/** A run could not go on. */
export interface RunFailed {
  /** Why. */
  error: string;
  /** Its run. */
  run_id: string;
  /** When. */
  timestamp: number;
}

/** Something happened to a run. */
export interface RunHappening {
  /** Its run. */
  run_id: string;
  /** When. */
  timestamp: number;
}

/** Runs, the newest first. */
export interface RunList {
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
  /** The items of this page. */
  runs: RunView[];
}

/** The status of a run. */
export interface RunStanding {
  /** The run. */
  run_id: string;
  /** `started`, `stopping`, or how it ended. */
  status: string;
}

/** A run began. */
export interface RunStarted {
  /** Who. */
  by: string;
  /** The model. */
  model: string;
  /** Its run. */
  run_id: string;
  /** Its session. */
  session_id: string;
  /** When. */
  timestamp: number;
}

/** The agent read messages that were sent into the run. */
export interface RunSteered {
  /** Who sent them. */
  by: string;
  /** How many messages it read. */
  messages: number;
  /** Its run. */
  run_id: string;
  /** When. */
  timestamp: number;
}

/** A run is to stop. */
export interface RunStopping {
  /** Who. */
  by: string;
  /** Its run. */
  run_id: string;
  /** When. */
  timestamp: number;
}

/** One run. */
export interface RunView {
  /** When it began, in seconds. */
  created_at: number;
  /** The directory it works in. */
  cwd?: string | null;
  /** Why it failed. */
  error?: string | null;
  /** The last event. */
  last_event?: string | null;
  /** The model; null for the run of another agent. */
  model?: string | null;
  /** `hermes.run`. */
  object: string;
  /** Its result. */
  output?: string | null;
  /** Questions that wait, of one run. */
  pending_approvals?: ApprovalView[] | null;
  /** What its agent asks people, of one run. */
  pending_clarifications?: ClarificationView[] | null;
  /** The run. */
  run_id: string;
  /** The conversation it belongs to. */
  session_id: string;
  /** The person who started it. */
  started_by?: string | null;
  /** `started`, `running`, `waiting_for_approval`, `stopping`, `completed`, `failed` or
   * `cancelled`. */
  status: string;
  /** What the person said meanwhile and the agent has not read yet. */
  unread?: string[];
  /** When it last changed, in seconds. */
  updated_at: number;
  usage?: Usage | null;
}

/** Which calls a grant is about. In every kind `within` is what the call it was given for would
 * do: no covered call does anything else or worse. */
export type Scope = {
  /** SHA-256 of the canonical arguments. */
  arguments: Digest;
  /** The directory. */
  cwd: string | null;
  kind: "exact";
  /** The call on one line, for people. */
  shown: string;
  /** The tool. */
  tool: string;
  /** Its rights. */
  within: Within;
} | {
  /** The directory it is bound to. */
  cwd: string | null;
  kind: "command";
  /** SHA-256 of the arguments beside the command. */
  others: Digest;
  /** The simple commands, each with all its words. */
  shapes: CommandShape[];
  /** The tool. */
  tool: string;
  /** Its rights. */
  within: Within;
} | {
  /** The other commands of the call, with all their words. */
  beside: CommandShape[];
  /** Code and cause of the findings that made it a question. */
  causes: string[];
  /** The directory it is bound to. */
  cwd: string | null;
  kind: "reason";
  /** SHA-256 of the arguments beside the command. */
  others: Digest;
  /** The commands that were the reason, without their operands. */
  shapes: CommandShape[];
  /** The tool. */
  tool: string;
  /** Its rights. */
  within: Within;
  /** The workspace. */
  workspace: string;
} | {
  kind: "path";
  /** SHA-256 of the arguments beside paths and content. */
  others: Digest;
  /** The directory, normalised. */
  prefix: string;
  /** The tool. */
  tool: string;
  /** Its rights. */
  within: Within;
} | {
  kind: "recipient";
  /** SHA-256 of the arguments beside recipient and text. */
  others: Digest;
  /** The recipient, exactly. */
  recipient: string;
  /** The tool. */
  tool: string;
  /** Its rights. */
  within: Within;
};

/** Permissions that could be left. */
export interface ScopeList {
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
  /** The items of this page. */
  scopes: ScopeView[];
}

/** A grant that may be left. */
export interface ScopeView {
  /** Which calls like this one would still be asked about, in words. */
  excludes: string;
  /** How many of the last calls it would have matched, where that was asked for. */
  matched: number | null;
  /** How many calls were looked at. */
  of: number | null;
  /** The riskiest of those it would have matched, on one line. */
  riskiest: string | null;
  /** The scope, to be sent back. */
  scope: Scope;
  /** Whether only *session* may leave it. */
  session_only: boolean;
  /** In words. */
  words: string;
}

/** The state of a session. */
export interface SessionHappening {
  /** Whether it has the crisis mark. */
  crisis_sensitive: boolean;
  /** Whose session. */
  key_id: string;
  /** Its session. */
  session_id: string;
  /** When. */
  timestamp: number;
  /** Its workspace. */
  workspace?: string | null;
}

/** Conversations, the newest first. */
export interface SessionList {
  /** Always null. */
  next: string | null;
  /** The items of this page. */
  sessions: SessionView[];
}

/** One conversation. */
export interface SessionView {
  /** When it began, in seconds. */
  created_at: number;
  /** The last of them. */
  last_run: string;
  /** The model. */
  model: string;
  /** How many runs it has. */
  runs: number;
  /** The conversation. */
  session_id: string;
  /** Who began it. */
  started_by: string;
  /** How that one stands. */
  status: string;
  /** When it last changed, in seconds. */
  updated_at: number;
}

/** How bad a finding is. */
export type Severity = "info" | "low" | "medium" | "high" | "catastrophic";

/** What a call changes, from nothing to what always asks. */
export type SideEffect = "read_only" | "local_reversible" | "external" | "critical";

/** The statistics. */
export interface StatsView {
  /** Calls by agent they were. */
  agents: AgentCount[];
  /** How people answered. */
  answers: AnswerCounts;
  /** How long a stretch of time is, in seconds. */
  bucket_seconds: number;
  /** Calls by verdict, for each stretch of time, without gaps. */
  buckets: Bucket[];
  /** Calls. */
  calls: number;
  /** Calls before this moment are not counted, because only the newest 100 000 are; null if all
   * of them are. */
  counted_since: number | null;
  /** Who answered. */
  people: PersonCount[];
  /** Questions that were put to people. */
  questions: QuestionCounts;
  /** The most frequent findings of questions. */
  reasons: ReasonCount[];
  /** Since when, in seconds. */
  since: number;
  thresholds: ThresholdsView | null;
  /** Tools that were called, the most used first. */
  tools: string[];
  /** Until when, in seconds. */
  until: number;
}

/** A message for a run that is under way. */
export interface SteerBody {
  /** What the person says. */
  input: string;
}

/** How an answer is streamed. */
export interface StreamOptions {
  /** Whether it ends with what it cost. */
  include_usage?: boolean;
}

/** Lines of rule 11, each 0 to 1. */
export interface ThresholdsBody {
  /** Risk above this asks. */
  ask_above: number;
  /** Risk below this runs. */
  auto_below: number;
  /** Between the two, confidence below this asks. */
  confidence_min: number;
}

/** Lines of rule 11, each 0 to 1. */
export interface ThresholdsView {
  /** Risk above this asks. */
  ask_above: number;
  /** Risk below this runs. */
  auto_below: number;
  /** Between the two, confidence below this asks. */
  confidence_min: number;
}

/** From advisory to proven. */
export type Tier = "T0" | "T1" | "T2" | "T3" | "T4";

/** A tool the model wants to use. */
export interface ToolCallView {
  /** The tool and its arguments. */
  function: FunctionView;
  /** Names the request. */
  id: string;
}

/** A tool has run. */
export interface ToolCompleted {
  /** The call; null if it was never submitted. */
  call_id?: string | null;
  /** How long it took, in seconds. */
  duration?: number | null;
  /** Whether it failed, or did not run. */
  error?: boolean | null;
  /** The exit code, if it ran a process. */
  exit_code?: number | null;
  /** How it ended: `done`, `failed`, `denied`, `refused`, `expired`, `withdrawn`, `unknown` or `not_run`. */
  outcome?: string | null;
  /** Its run. */
  run_id: string;
  /** Its session. */
  session_id?: string | null;
  /** When. */
  timestamp: number;
  /** The tool. */
  tool: string;
  /** The model's id of the call. */
  tool_call_id?: string | null;
  /** The outcome as text: `denied by ana: keep it`. */
  words?: string | null;
}

/** The agent begins with a tool. */
export interface ToolStarted {
  /** The id of the call, unless it was rejected before. */
  call_id: string | null;
  /** On one line, shortened. */
  preview: string;
  /** Its run. */
  run_id: string;
  /** When. */
  timestamp: number;
  /** The tool. */
  tool: string;
  /** The model's id of the call. */
  tool_call_id: string;
}

/** How calls were judged, the newest first. */
export interface TraceList {
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
  /** The items of this page. */
  traces: TraceView[];
}

/** How a call was judged and what became of it. */
export type TraceView = CallView & {
  /** The agent's own name, a claim. */
  agent: string | null;
  /** The arguments, display-redacted. */
  args: unknown;
  /** The call on one line, display-redacted. */
  command: string;
  /** The directory. */
  cwd: string | null;
  /** Name of the key. */
  key_name: string;
  outcome: OutcomeView | null;
  /** Hash of the policy it was judged under. */
  policy: string;
};

/** Milliseconds since 1970. */
export type UnixMillis = number;

/** What a run cost, in tokens. */
export interface Usage {
  /** Read. */
  input_tokens: number;
  /** Written. */
  output_tokens: number;
  /** Both. */
  total_tokens: number;
}

/** Token usage, the oldest day first. */
export interface UsageList {
  /** The value of `behind` for the next page; null at the end. */
  next: string | null;
  /** The items of this page. */
  usage: UsageView[];
}

/** Token usage of one model for one task on one day. */
export interface UsageView {
  /** How often it was asked. */
  calls: number;
  /** Tokens that were written. */
  completion_tokens: number;
  /** The day's beginning, in Unix seconds. */
  day: number;
  /** The model. */
  model: string;
  /** Tokens that were read. */
  prompt_tokens: number;
  /** The task: `agent`, `approval`, `title` … */
  task: string;
}

/** The verdicts, from loosest to strictest. */
export type Verdict = "allow" | "allow_then_review" | "ask" | "refuse";

/** The asker takes a call back. */
export interface WithdrawBody {
  /** Why. */
  note?: string | null;
}

/** What may happen at most. */
export interface Within {
  /** Codes of everything that was found, sorted. */
  effects: string[];
  /** Whether it may be something that cannot be undone. */
  irreversible: boolean;
  /** Whether something may leave the machine. */
  outbound: boolean;
  /** The risk, per mille. */
  risk: number;
  /** The side-effect class. */
  side_effect: SideEffect;
  /** Whether it may be something nothing is known about. */
  unknown: boolean;
}

/** Every route: what is asked, sent and answered. */
export interface Routes {
  /** Liveness check */
  "GET /health": { query: undefined; body: undefined; answer: Record<string, unknown> };
  /** Readiness check: whether calls can be judged and decisions stored */
  "GET /ready": { query: undefined; body: undefined; answer: Record<string, unknown> };
  /** Prometheus metrics */
  "GET /metrics": { query: undefined; body: undefined; answer: string };
  /** The public keys of tokens */
  "GET /.well-known/jwks.json": { query: undefined; body: undefined; answer: Record<string, unknown> };
  /** This description */
  "GET /openapi.json": { query: undefined; body: undefined; answer: Record<string, unknown> };
  /** Signs a browser in with the code of a link */
  "POST /v1/login": { query: undefined; body: LoginBody; answer: Identity };
  /** Callback for a pressed button in a chat, or for the answer of a webhook */
  "POST /channels/{name}/action": { query: undefined; body: Record<string, unknown>; answer: ApprovalView };
  /** Callback for a slash command */
  "POST /channels/{name}/command": { query: undefined; body: undefined; answer: Record<string, unknown> };
  /** Callback for a dialog */
  "POST /channels/{name}/dialog": { query: undefined; body: Record<string, unknown>; answer: Record<string, unknown> };
  /** Diagnoses a channel */
  "GET /v1/channels/{name}/doctor": { query: undefined; body: undefined; answer: Record<string, unknown> };
  /** Signs this browser out */
  "POST /v1/logout": { query: undefined; body: undefined; answer: undefined };
  /** Shows the caller's identity */
  "GET /v1/whoami": { query: undefined; body: undefined; answer: Identity };
  /** Creates a one-time login code for the caller's own browser */
  "POST /v1/login/code": { query: undefined; body: undefined; answer: LoginCode };
  /** Capabilities, as Hermes clients expect them */
  "GET /v1/capabilities": { query: undefined; body: undefined; answer: Record<string, unknown> };
  /** Assesses a call without submitting it */
  "POST /v1/assess": { query: undefined; body: CallBody; answer: AssessmentView };
  /** Lists calls */
  "GET /v1/calls": { query: { run_id?: string; session_id?: string; verdict?: string; since?: number; limit?: number; behind?: string; }; body: undefined; answer: CallList };
  /** Submits a call */
  "POST /v1/calls": { query: undefined; body: CallBody; answer: CallView };
  /** Shows a call; can wait for its decision */
  "GET /v1/calls/{id}": { query: { wait_seconds?: number; }; body: undefined; answer: CallView };
  /** Withdraws a call */
  "POST /v1/calls/{id}/withdraw": { query: undefined; body: WithdrawBody; answer: CallView };
  /** Reports the outcome of a call */
  "POST /v1/calls/{id}/outcome": { query: undefined; body: OutcomeBody; answer: CallView };
  /** Consumes a token */
  "POST /v1/tokens/consume": { query: undefined; body: ConsumeBody; answer: ConsumedView };
  /** Opens the stream on which an MCP server speaks by itself */
  "GET /mcp/{server}": { query: undefined; body: undefined; answer: string };
  /** Takes one MCP message for a server; a call of a tool is decided about first */
  "POST /mcp/{server}": { query: undefined; body: Record<string, unknown>; answer: Record<string, unknown> | undefined };
  /** Ends a session with an MCP server */
  "DELETE /mcp/{server}": { query: undefined; body: undefined; answer: undefined };
  /** Lists approvals */
  "GET /v1/approvals": { query: { status?: string; run_id?: string; limit?: number; behind?: string; }; body: undefined; answer: ApprovalList };
  /** Lists waiting approvals as rows: what a list shows, without the full cards */
  "GET /v1/inbox": { query: { limit?: number; behind?: string; }; body: undefined; answer: InboxList };
  /** Shows one approval with its card */
  "GET /v1/approvals/{id}": { query: undefined; body: undefined; answer: ApprovalView };
  /** Answers an approval */
  "POST /v1/approvals/{id}/resolve": { query: undefined; body: ResolveBody; answer: ApprovalView };
  /** Judges a call as a person would change it; answers nothing */
  "POST /v1/approvals/{id}/assess": { query: undefined; body: EditBody; answer: EditedView };
  /** Shows how a call would change files of its workspace, compared with what they hold now */
  "GET /v1/approvals/{id}/changes": { query: undefined; body: undefined; answer: FileChanges };
  /** Shows what led to a call: the message its run answers, and the last calls of that run */
  "GET /v1/approvals/{id}/before": { query: undefined; body: undefined; answer: BeforeView };
  /** Undoes an approval before it takes effect */
  "POST /v1/approvals/{id}/take_back": { query: undefined; body: undefined; answer: ApprovalView };
  /** Gives a waiting approval more time; answers nothing */
  "POST /v1/approvals/{id}/extend": { query: undefined; body: undefined; answer: ApprovalView };
  /** Lifts a denial, so the agent may ask again; only for the person who denied it or an admin */
  "POST /v1/approvals/{id}/lift": { query: undefined; body: undefined; answer: ApprovalView };
  /** Records that the full text was opened */
  "POST /v1/approvals/{id}/viewed": { query: undefined; body: undefined; answer: ApprovalView };
  /** Creates a harmless practice card */
  "POST /v1/practice": { query: undefined; body: undefined; answer: CallView };
  /** Shows where the card of an approval was delivered, and where delivery failed */
  "GET /v1/approvals/{id}/deliveries": { query: undefined; body: undefined; answer: DeliveryList };
  /** Events of everything the caller may see */
  "GET /v1/events": { query: { last_event_id?: number; }; body: undefined; answer: string };
  /** Events of one run, from its beginning */
  "GET /v1/runs/{id}/events": { query: { last_event_id?: number; }; body: undefined; answer: string };
  /** Lists runs, the newest first */
  "GET /v1/runs": { query: { session_id?: string; limit?: number; behind?: string; }; body: undefined; answer: RunList };
  /** Starts a run of the built-in agent */
  "POST /v1/runs": { query: undefined; body: RunBody; answer: RunStanding };
  /** Shows one run, with its pending approvals */
  "GET /v1/runs/{id}": { query: undefined; body: undefined; answer: RunView };
  /** Stops a run */
  "POST /v1/runs/{id}/stop": { query: undefined; body: undefined; answer: RunStanding };
  /** Sends a message into a run that is under way; the agent reads it before it asks the model again */
  "POST /v1/runs/{id}/steer": { query: undefined; body: SteerBody; answer: RunStanding };
  /** Answers the waiting approval of a run */
  "POST /v1/runs/{id}/approval": { query: undefined; body: RunApprovalBody; answer: Record<string, unknown> };
  /** Chat completions by the built-in agent, in `OpenAI`'s format */
  "POST /v1/chat/completions": { query: undefined; body: ChatBody; answer: Record<string, unknown> };
  /** Lists the models of the built-in agent, the usual one first */
  "GET /v1/models": { query: undefined; body: undefined; answer: Record<string, unknown> };
  /** Lists conversations, the newest first */
  "GET /v1/sessions": { query: undefined; body: undefined; answer: SessionList };
  /** Shows the messages of a conversation */
  "GET /v1/sessions/{id}/messages": { query: undefined; body: undefined; answer: MessageList };
  /** Lists crisis marks of conversations and recipients */
  "GET /v1/crisis": { query: undefined; body: undefined; answer: CrisisView };
  /** Clears the crisis mark of a session or a recipient */
  "POST /v1/crisis/clear": { query: undefined; body: ClearBody; answer: CrisisView };
  /** Shows token usage by day, task and model */
  "GET /v1/usage": { query: { since?: number; }; body: undefined; answer: UsageList };
  /** Lists waiting questions */
  "GET /v1/clarifications": { query: undefined; body: undefined; answer: ClarificationList };
  /** Asks a person a question */
  "POST /v1/clarifications": { query: undefined; body: QuestionBody; answer: ClarificationView };
  /** Shows one question; can wait for its answer */
  "GET /v1/clarifications/{id}": { query: { wait_seconds?: number; }; body: undefined; answer: ClarificationView };
  /** Answers a question */
  "POST /v1/clarifications/{id}/answer": { query: undefined; body: ClarifyBody; answer: ClarificationView };
  /** Lists grants */
  "GET /v1/grants": { query: { all?: boolean; }; body: undefined; answer: GrantList };
  /** Revokes a grant */
  "DELETE /v1/grants/{id}": { query: undefined; body: undefined; answer: GrantView };
  /** Shows what a grant would have matched */
  "POST /v1/grants/preview": { query: undefined; body: PreviewBody; answer: ScopeList };
  /** Lists sessions that run without questions */
  "GET /v1/overrides": { query: undefined; body: undefined; answer: OverrideList };
  /** Starts an override: the session runs without questions for a while; with `all` critical calls
   * included */
  "POST /v1/sessions/{id}/yolo": { query: undefined; body: OverrideBody; answer: OverrideView };
  /** Ends an override, so the session asks questions again */
  "DELETE /v1/sessions/{id}/yolo": { query: { key_id?: string; }; body: undefined; answer: OverrideView };
  /** Lists reviews */
  "GET /v1/reviews": { query: undefined; body: undefined; answer: ReviewList };
  /** Undoes a reviewed call: restores the file, or tells the asker to undo it */
  "POST /v1/reviews/{id}/undo": { query: undefined; body: undefined; answer: ReviewView };
  /** Keeps a reviewed call */
  "POST /v1/reviews/{id}/keep": { query: undefined; body: undefined; answer: ReviewView };
  /** Lists traces of calls */
  "GET /v1/traces": { query: { run_id?: string; session_id?: string; verdict?: Verdict; outcome?: string; by?: string; tool?: string; q?: string; since?: number; until?: number; limit?: number; behind?: string; }; body: undefined; answer: TraceList };
  /** Explains one call */
  "GET /v1/traces/{id}": { query: undefined; body: undefined; answer: TraceView };
  /** Statistics: verdicts over time, answers, most frequent findings */
  "GET /v1/stats": { query: { since?: number; until?: number; bucket?: number; }; body: undefined; answer: StatsView };
  /** Shows entries of the ledger */
  "GET /v1/ledger": { query: { after?: number; limit?: number; }; body: undefined; answer: EntryList };
  /** Verifies the ledger */
  "GET /v1/ledger/verify": { query: undefined; body: undefined; answer: LedgerState };
  /** Replays past calls under another configuration */
  "POST /v1/replay": { query: undefined; body: ReplayBody; answer: Replayed };
  /** Lists keys */
  "GET /v1/keys": { query: undefined; body: undefined; answer: KeyList };
  /** Creates a key; its secret is shown only once */
  "POST /v1/keys": { query: undefined; body: NewKeyBody; answer: NewKey };
  /** Revokes a key */
  "DELETE /v1/keys/{id}": { query: undefined; body: undefined; answer: KeyView };
  /** Lists people who may answer */
  "GET /v1/people": { query: undefined; body: undefined; answer: PersonList };
  /** Adds or changes a person */
  "POST /v1/people": { query: undefined; body: PersonBody; answer: PersonView };
  /** Removes a person */
  "DELETE /v1/people/{name}": { query: undefined; body: undefined; answer: undefined };
  /** Lists channels and their state */
  "GET /v1/channels": { query: undefined; body: undefined; answer: ChannelList };
  /** Lists signed-in browsers */
  "GET /v1/logins": { query: undefined; body: undefined; answer: LoginList };
  /** Signs a browser out */
  "DELETE /v1/logins/{id}": { query: undefined; body: undefined; answer: undefined };
  /** Shows rules and configuration in force, and where each comes from */
  "GET /v1/rules": { query: undefined; body: undefined; answer: RulesView };
  /** Shows how devices are notified */
  "GET /v1/push": { query: undefined; body: undefined; answer: PushView };
  /** Lists devices that take notifications; an admin sees everybody's */
  "GET /v1/devices": { query: undefined; body: undefined; answer: DeviceList };
  /** Adds a device; the same endpoint again is the same device */
  "POST /v1/devices": { query: undefined; body: DeviceBody; answer: DeviceView };
  /** Removes a device */
  "DELETE /v1/devices/{id}": { query: undefined; body: undefined; answer: undefined };
  /** Sends a test notification to a device */
  "POST /v1/devices/{id}/test": { query: undefined; body: undefined; answer: DeviceTest };
  /** Shows the configuration with its defaults */
  "GET /v1/config": { query: undefined; body: undefined; answer: Record<string, unknown> };
  /** Sets one key of the configuration */
  "POST /v1/config": { query: undefined; body: ConfigBody; answer: Record<string, unknown> };
}
