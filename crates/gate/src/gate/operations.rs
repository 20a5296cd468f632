//! The gate's operations: a table of the methods of `Gate` and the rooms that do them.
//!
//! A method belongs to a room. Callers hold a `Gate` and need not know which one.

use std::sync::Arc;
use std::time::Duration;

use countersign_channels::press::Click;
use countersign_channels::push::Subscription;
use countersign_channels::{Delivered, Order};
use countersign_core::content::crisis::Sensitivity;
use countersign_core::grant::Scope;
use countersign_core::id::KeyId;
use countersign_core::ledger::Entry;
use countersign_core::policy::Policy;
use countersign_core::status::RunStatus;
use countersign_core::tier::Tier;
use countersign_core::token::{Claims, PublicKey};
use serde_json::Value;

use crate::approvals::answer::ApprovalFilter;
use crate::approvals::comparing::{Comparable, Found};
use crate::approvals::smart::Deputy;
use crate::base::principal::{Principal, Role};
use crate::calls::permit::{Permit, Presented, Progress};
use crate::calls::submit::Submitted;
use crate::chats::click::{Clicked, Refusal};
use crate::clarifications::{ClarificationView, Clarified, Question};
use crate::delivery::DeliveryView;
use crate::delivery::health::ChannelView;
use crate::delivery::push::DeviceTest;
use crate::history::before::BeforeView;
use crate::history::statistics::{StatsFilter, StatsView};
use crate::history::traces::{Replayed, TraceFilter, TraceView};
use crate::history::what_if::ProposedThresholds;
use crate::ledger::anchor::Anchor;
use crate::ledger::verify::LedgerState;
use crate::people::{DeviceView, KeyBounds, KeyView, LoginView, NewKey, NewLogin, PersonView};
use crate::records::event::ReaderExamined;
use crate::records::request::{Reply, Report, Submission};
use crate::records::view::{
    ApprovalView, CallView, ConsumedView, EditedView, FileChanges, GrantView, Page, ScopeView,
};
use crate::reviews::{ReviewView, Settled, Snapshot, Undoing};
use crate::runs::threads::Thread;
use crate::runs::usage::UsageView;
use crate::runs::{NewRun, Run, RunStep, Said};
use crate::sessions::crisis::{CrisisView, Marked};
use crate::sessions::second_reader::SecondReader;
use crate::sessions::{OverrideRequest, OverrideView};
use crate::{Gate, GateError};

/// `fn name(arguments) -> T = room.method;` becomes a public asynchronous method of [`Gate`] that
/// returns `Result<T, GateError>`.
macro_rules! operations {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $out:ty = $room:ident.$method:ident;)*) => {
        impl Gate {
            $(
                #[doc = concat!("Does `", stringify!($method), "` in the room `", stringify!($room), "`.")]
                pub async fn $name(&self, $($arg: $type),*) -> Result<$out, GateError> {
                    self.rooms.$room.$method($($arg),*).await
                }
            )*
        }
    };
}

operations! {
    // Calls of agents.
    fn submitted(who: &Principal, name: &str) -> Option<CallView> = calls.submitted;
    fn call(who: &Principal, id: &str, wait: Duration) -> CallView = calls.call;
    fn calls(who: &Principal, filter: TraceFilter) -> Page<CallView> = calls.list;
    fn withdraw(who: &Principal, id: &str, note: Option<String>) -> CallView = calls.withdraw;
    fn report(who: &Principal, id: &str, report: Report) -> CallView = calls.report;
    fn consume(who: &Principal, token: &str) -> ConsumedView = calls.consume;
    fn take_up(who: &Principal, id: &str, token: Option<&str>) -> Permit = calls.take_up;
    fn redeem(who: &Principal, session: &str, action: Presented, token: &str) -> Permit
        = calls.redeem;
    fn check_token(who: &Principal, session: &str, action: &Presented, token: &str) -> Claims
        = calls.check_token;
    fn kept_action(who: &Principal, id: &str) -> Presented = calls.kept_action;
    fn progress(who: &Principal, id: &str) -> Progress = calls.progress;
    fn hand_over(who: &Principal, permit: &Permit) -> () = calls.hand_over;
    fn is_handed_over(who: &Principal, id: &str) -> bool = calls.is_handed_over;
    fn submit(who: &Principal, submission: Submission) -> CallView = calls.submit;
    fn submit_and_begin(who: &Principal, submission: Submission) -> Submitted
        = calls.submit_and_begin;

    // Questions about calls.
    fn approvals(who: &Principal, filter: ApprovalFilter) -> Page<ApprovalView> = approvals.list;
    fn approval(who: &Principal, id: &str) -> ApprovalView = approvals.approval;
    fn is_open_to(who: &Principal, id: &str) -> bool = approvals.is_open_to;
    fn answer(who: &Principal, reply: Reply) -> ApprovalView = approvals.answer;
    fn assess_edited(who: &Principal, id: &str, args: &Value) -> EditedView
        = approvals.assess_edited;
    fn comparable(who: &Principal, id: &str) -> Comparable = approvals.comparable;
    fn compared(who: &Principal, id: &str, found: Vec<Found>) -> FileChanges = approvals.compared;
    fn take_back(who: &Principal, id: &str) -> ApprovalView = approvals.take_back;
    fn extend(who: &Principal, id: &str) -> ApprovalView = approvals.extend;
    fn viewed(who: &Principal, id: &str) -> ApprovalView = approvals.viewed;
    fn lift_denial(who: &Principal, id: &str) -> ApprovalView = approvals.lift_denial;

    // Questions of agents to people.
    fn ask_person(who: &Principal, question: Question, wait: Duration) -> ClarificationView
        = clarifications.ask_person;
    fn ask_person_for(who: &Principal, question: Question, call: &str, wait: Duration)
        -> ClarificationView = clarifications.ask_person_for;
    fn clarification(who: &Principal, id: &str, wait: Duration) -> ClarificationView
        = clarifications.clarification;
    fn question_of(who: &Principal, call: &str) -> Option<String> = clarifications.question_of;
    fn clarifications(who: &Principal) -> Page<ClarificationView> = clarifications.list;
    fn clarify(who: &Principal, id: &str, reply: Clarified) -> ClarificationView
        = clarifications.clarify;

    // Standing permissions.
    fn grants(who: &Principal, all: bool) -> Page<GrantView> = grants.list;
    fn revoke_grant(who: &Principal, id: &str) -> GrantView = grants.revoke_grant;
    fn preview(who: &Principal, approval: &str, scope: Option<Scope>) -> Vec<ScopeView>
        = grants.preview;

    // Overrides and crisis marks.
    fn start_override(
        who: &Principal, key: Option<&str>, session: &str, wanted: OverrideRequest<'_>,
    ) -> OverrideView = sessions.start_override;
    fn end_override(who: &Principal, key: Option<&str>, session: &str) -> OverrideView
        = sessions.end_override;
    fn heed(who: &Principal, session: &str, said: &[&str]) -> bool = sessions.heed;
    fn note_examination(examined: ReaderExamined) -> () = sessions.note_examination;
    fn overrides(who: &Principal) -> Vec<OverrideView> = sessions.overrides;
    fn crisis_marks(who: &Principal) -> CrisisView = sessions.crisis_marks;
    fn clear_crisis(who: &Principal, whose: Marked<'_>, note: Option<&str>) -> CrisisView
        = sessions.clear_crisis;

    // Keys, browser logins, people.
    fn authenticate(secret: &str) -> Principal = people.authenticate;
    fn create_key(by: &str, name: &str, role: Role) -> NewKey = people.create_key;
    fn create_bound_key(by: &str, name: &str, role: Role, bounds: &KeyBounds) -> NewKey
        = people.create_bound_key;
    fn keys(who: &Principal) -> Page<KeyView> = people.keys;
    fn revoke_key(who: &Principal, id: &str) -> KeyView = people.revoke_key;
    fn has_approver() -> bool = people.has_approver;
    fn has_approver_other_than(person: &str) -> bool = people.has_approver_other_than;
    fn login_code(key: &KeyId) -> String = people.login_code;
    fn redeem_login_code(code: &str) -> NewLogin = people.redeem_login_code;
    fn authenticate_login(secret: &str) -> Principal = people.authenticate_login;
    fn logins(who: &Principal) -> Page<LoginView> = people.logins;
    fn revoke_login(who: &Principal, id: &str) -> () = people.revoke_login;
    fn add_device(who: &Principal, name: &str, subscription: Subscription) -> DeviceView
        = people.add_device;
    fn devices(who: &Principal) -> Page<DeviceView> = people.devices;
    fn remove_device(who: &Principal, id: &str) -> () = people.remove_device;
    fn test_device(who: &Principal, id: &str) -> DeviceTest = delivery.test_device;
    fn end_login(who: &Principal, secret: &str) -> () = people.end_login;
    fn people(who: &Principal) -> Page<PersonView> = people.list;
    fn put_person(who: &Principal, person: PersonView) -> PersonView = people.put_person;
    fn remove_person(who: &Principal, name: &str) -> () = people.remove_person;
    fn principal_of_account(channel: &str, account: &str, tier: Tier) -> Principal
        = people.principal_of_account;

    // Runs of the built-in agent, chat threads, model usage.
    fn begin_run(who: &Principal, new: NewRun) -> Run = runs.begin_run;
    fn advance_run(driven: &Run, step: &RunStep) -> Run = runs.advance_run;
    fn stop_run(who: &Principal, id: &str) -> Run = runs.stop_run;
    fn steer_run(who: &Principal, id: &str, text: &str) -> Run = runs.steer_run;
    fn run_of(who: &Principal, id: &str) -> Run = runs.run_of;
    fn runs(who: &Principal, session: Option<String>, limit: Option<u32>, behind: Option<&str>)
        -> Page<Run> = runs.list;
    fn conversation(session: &str) -> Vec<Value> = runs.conversation;
    fn said_behind(session: &str, place: Option<(i64, String)>) -> Vec<Said> = runs.said_behind;
    fn take_over_runs(driver: &str, all: bool) -> Vec<Run> = runs.take_over_runs;
    fn keep_run(id: &str, driver: &str) -> Option<RunStatus> = runs.keep_run;
    fn hear(who: &Principal, place: &str, message: &str, at: i64) -> Option<Thread> = runs.hear;
    fn thread(who: &Principal, place: &str) -> Option<Thread> = runs.thread;
    fn note_thread_model(who: &Principal, place: &str, model: &str) -> ()
        = runs.note_thread_model;
    fn renew_thread(who: &Principal, place: &str) -> () = runs.renew_thread;
    fn note_thread_run(who: &Principal, place: &str, run: &str) -> () = runs.note_thread_run;
    fn note_thread_told(channel: &str, run: &str) -> () = runs.note_thread_told;
    fn is_told(channel: &str, run: &str) -> bool = runs.is_told;
    fn threads_untold(channel: &str) -> Vec<Thread> = runs.threads_untold;
    fn begin_listening(channel: &str) -> () = runs.begin_listening;
    fn heard_at(channel: &str) -> Option<i64> = runs.heard_at;
    fn note_cursor(channel: &str, cursor: &str) -> () = runs.note_cursor;
    fn cursor(channel: &str) -> Option<String> = runs.cursor;
    fn record_usage(task: &str, model: &str, prompt_tokens: u64, completion_tokens: u64) -> ()
        = runs.record_usage;
    fn usage(who: &Principal, since: Option<i64>) -> Vec<UsageView> = runs.usage;

    // Calls that ran and await a review.
    fn reviews(who: &Principal) -> Page<ReviewView> = reviews.list;
    fn keep_snapshot(who: &Principal, call_id: &str, snapshot: Snapshot) -> ()
        = reviews.keep_snapshot;
    fn begin_undo(who: &Principal, id: &str) -> Option<Snapshot> = reviews.begin_undo;
    fn finish_undo(who: &Principal, id: &str, went: Undoing) -> ReviewView = reviews.finish_undo;
    fn settle_review(who: &Principal, id: &str, settled: Settled) -> ReviewView
        = reviews.settle_review;

    // Ids that people shorten.
    fn whole_id(who: &Principal, typed: &str) -> String = base.whole_id;

    // Past calls.
    fn statistics(who: &Principal, filter: StatsFilter) -> StatsView = history.statistics;
    fn traces(who: &Principal, filter: TraceFilter) -> Page<TraceView> = history.traces;
    fn trace(who: &Principal, id: &str) -> TraceView = history.trace;
    fn before(who: &Principal, id: &str) -> BeforeView = history.before;
    fn entries(who: &Principal, after: u64, limit: u32) -> (Vec<Entry>, u64) = history.entries;
    fn replay(who: &Principal, since: i64, policy: Policy) -> Replayed = history.replay;
    fn what_if(who: &Principal, since: i64, thresholds: ProposedThresholds) -> Replayed = history.what_if;

    // The ledger.
    fn note_config_change(who: &Principal, key: &str) -> () = ledger.note_config_change;
    fn public_keys() -> Vec<PublicKey> = ledger.public_keys;
    fn verify_ledger(who: &Principal) -> LedgerState = ledger.verify_ledger;

    // Cards in channels.
    fn deliveries_of(who: &Principal, approval: &str) -> Page<DeliveryView>
        = delivery.deliveries_of;
    fn is_in_thread(subject: &str, channel: &str, thread: &str) -> bool = delivery.is_in_thread;
    fn wants_opening(subject: &str, channel: &str, person: &str) -> bool
        = delivery.wants_opening;
    fn people_in(channel: &str) -> Vec<(String, String)> = delivery.people_in;
    fn look_for_cards(channel: &str) -> () = delivery.look_for_cards;
    fn card_gone(subject: &str, channel: &str, reference: &str) -> () = delivery.card_gone;
    fn channels(who: &Principal) -> Page<ChannelView> = delivery.channels;

    // Presses on cards.
    fn person_of(channel: &str, account: &str) -> Option<PersonView> = chats.person_of;
    fn propose_edit(who: &Principal, id: &str, text: &str) -> EditedView = chats.propose_edit;
}

impl Gate {
    /// Lets what a person did with a card in a chat take effect, if it counts.
    pub async fn click(&self, click: &Click) -> Result<Clicked, Refusal> {
        self.rooms.chats.click(click).await
    }

    /// Allows a call as the person proposed it; `None` if they proposed nothing.
    pub async fn click_edited(
        &self,
        who: &Principal,
        click: &Click,
    ) -> Option<Result<Clicked, Refusal>> {
        self.rooms.chats.click_edited(who, click).await
    }

    /// Returns the card of a press that came too late, as it is now.
    pub async fn late_card(
        &self,
        click: &Click,
        refusal: &Refusal,
    ) -> Option<(Box<Order>, Box<Delivered>)> {
        self.rooms.chats.late_card(click, refusal).await
    }

    /// Uses up a ticket of a chat, which can be used once.
    pub async fn use_ticket(&self, channel: &str, ticket: &str) -> Result<(), Refusal> {
        self.rooms.chats.use_ticket(channel, ticket).await
    }

    /// Records that a press did not count.
    pub async fn note_refusal(&self, click: &Click, refusal: &Refusal) {
        self.rooms.chats.note_refusal(click, refusal).await;
    }

    /// Notes that somebody who can answer is looking at what waits.
    pub fn note_looking(&self, who: &Principal) {
        self.rooms.approvals.note_looking(who);
    }

    /// Appoints who answers in smart mode. Only the first appointment counts.
    pub fn appoint(&self, deputy: Arc<dyn Deputy>) {
        self.rooms.approvals.appoint(deputy);
    }

    /// Appoints who reads messages again where rules and model are not sure. Only the first appointment counts.
    pub fn appoint_reader(&self, reader: Arc<dyn SecondReader>) {
        self.rooms.sessions.appoint_reader(reader);
    }

    /// Whether what the built-in agent says is read again where rules and model are not sure.
    pub fn reads_again(&self) -> bool {
        self.rooms.sessions.reads_again()
    }

    /// Returns how much the owner wants held of what may concern a person in crisis.
    pub fn crisis_sensitivity(&self) -> Sensitivity {
        self.rooms.sessions.crisis_sensitivity()
    }

    /// Keeps the head of the ledger in `anchor` from now on.
    pub fn anchored(&self, anchor: Anchor) {
        self.rooms.ledger.anchored(anchor);
    }

    /// Returns where the head of the ledger is kept.
    pub fn anchor(&self) -> Option<&Anchor> {
        self.rooms.ledger.anchor()
    }

    /// Writes what is queued and keeps the head of it, before a gateway stops.
    pub async fn rest(&self) {
        self.rooms.ledger.rest().await;
    }
}
