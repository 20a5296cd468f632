//! The history tab: every call, the newest first, with its result and reason.

use countersign_core::display::{inline, shortened};
use countersign_core::status::{Cause, Status};
use countersign_core::time::UnixMillis;
use countersign_core::verdict::Verdict;
use countersign_gate::history::traces::TraceView;
use countersign_gate::records::event::{ApprovalResolved, CallAssessed};

use super::get;
use super::shelf::{Entry, Shelf};
use crate::client::segment;
use crate::tui::screen::{Tag, Wish};
use crate::wire::lists::TraceList;
use crate::words::named;

/// Calls of one page.
const PAGE: u32 = 100;
/// Calls that are kept; the oldest are asked for again.
const KEPT_MAX: usize = 5_000;
/// How near to the end the next page is asked for, in rows.
const AHEAD: usize = 20;

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Past {
    id: String,
    pub(super) at: UnixMillis,
    pub(super) tool: String,
    pub(super) what: String,
    pub(super) verdict: Verdict,
    pub(super) status: Status,
    pub(super) cause: Option<Cause>,
    pub(super) agent: String,
    /// Who decided, and where.
    pub(super) by: Option<String>,
    pub(super) via: Option<String>,
    pub(super) decided_at: Option<UnixMillis>,
    /// Everything, once it was asked for.
    pub(super) whole: Option<Box<TraceView>>,
}

impl Entry for Past {
    fn id(&self) -> &str {
        &self.id
    }

    fn words(&self) -> Vec<&str> {
        let by = self.by.as_deref().unwrap_or_default();
        let via = self.via.as_deref().unwrap_or_default();
        let (what, tool, agent) = (&self.what, &self.tool, &self.agent);
        vec![
            what,
            tool,
            agent,
            self.outcome(),
            self.verdict.word(),
            by,
            via,
            &self.id,
        ]
    }
}

impl Past {
    fn of_trace(trace: TraceView) -> Self {
        let decision = trace.call.decision.as_ref();
        let agent = named(trace.agent.as_deref()).unwrap_or_else(|| inline(&trace.key_name));
        Self {
            id: trace.call.call_id.clone(),
            at: UnixMillis::of_seconds(trace.call.created_at),
            tool: inline(&trace.call.tool),
            what: shortened(&trace.command),
            verdict: trace.call.verdict,
            status: trace.call.status,
            cause: decision.map(|it| it.cause),
            agent,
            by: decision.and_then(|it| named(it.by.as_deref())),
            via: decision.and_then(|it| named(it.via.as_deref())),
            decided_at: decision.map(|it| it.at),
            whole: Some(Box::new(trace)),
        }
    }

    fn of_event(event: &CallAssessed) -> Self {
        Self {
            id: event.call_id.clone(),
            at: UnixMillis::of_seconds(event.timestamp),
            tool: inline(&event.tool),
            what: shortened(&event.command),
            verdict: event.verdict,
            status: event.status,
            cause: event.cause,
            agent: named(event.agent.as_deref()).unwrap_or_default(),
            by: None,
            via: None,
            decided_at: None,
            whole: None,
        }
    }

    /// Returns how it ended, in two or three words.
    pub(super) fn outcome(&self) -> &'static str {
        match self.status {
            Status::Allowed if self.verdict == Verdict::AllowThenReview => "ran, to review",
            Status::Allowed if self.cause == Some(Cause::Grant) => "allowed by a grant",
            Status::Allowed => "allowed",
            status @ (Status::Approved
            | Status::Denied
            | Status::Refused
            | Status::Expired
            | Status::Withdrawn
            | Status::Waiting) => status.word(),
        }
    }

    /// Returns the question that was denied, where that was how it ended or why.
    pub(super) fn denial(&self) -> Option<String> {
        let call = &self.whole.as_ref()?.call;
        match (self.status, self.cause) {
            (Status::Denied, _) => call.approval_id.clone(),
            (Status::Refused, Some(Cause::DenyMemory)) => call.decision.as_ref()?.denial_id.clone(),
            (_, _) => None,
        }
    }

    /// Whether nobody was asked.
    pub(super) fn ran_unasked(&self) -> bool {
        self.status == Status::Allowed
    }
}

/// The calls there were.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) list: Shelf<Past>,
    /// The cursor of the next page.
    next: Option<String>,
    is_loading: bool,
    pub(super) is_loaded: bool,
}

impl History {
    /// Asks for the newest page.
    pub(super) fn load(&mut self) -> Vec<Wish> {
        self.is_loading = true;
        vec![get("history", "", format!("/v1/traces?limit={PAGE}"))]
    }

    /// Takes a page. The first one replaces what was known.
    pub(super) fn take_page(&mut self, tag: &Tag, list: TraceList) {
        self.is_loading = false;
        let mut page: Vec<Past> = list.traces.into_iter().map(Past::of_trace).collect();
        if tag.id.is_empty() {
            // What happened after the page was read is known by its event.
            let newest = page.first().map(|it| it.at);
            let later = |it: &Past| newest.is_none_or(|newest| it.at > newest);
            let mut all: Vec<Past> = self.list.change().drain(..).filter(later).collect();
            all.append(&mut page);
            *self.list.change() = all;
            self.is_loaded = true;
        } else {
            self.list.change().append(&mut page);
        }
        self.next = list.next;
    }

    /// A request was lost.
    pub(super) const fn lose(&mut self) {
        self.is_loading = false;
    }

    /// Takes a call that was judged.
    pub(super) fn judged(&mut self, event: &CallAssessed) {
        let past = Past::of_event(event);
        let all = self.list.change();
        if !all.iter().take(PAGE as usize).any(|it| it.id == past.id) {
            all.insert(0, past);
        }
        if all.len() > KEPT_MAX {
            all.truncate(KEPT_MAX - PAGE as usize);
            self.next = all.last().map(|it| format!("{}.{}", it.at.0, it.id));
        }
    }

    /// Takes how a question was settled.
    pub(super) fn settled(&mut self, event: &ApprovalResolved) {
        let mut all = self.list.change().iter_mut();
        if let Some(past) = all.find(|it| it.id == event.call_id) {
            past.status = event.outcome.into();
            past.cause = Some(event.cause);
            past.by = named(event.by.as_deref());
            past.via = named(event.via.as_deref());
            past.decided_at = Some(UnixMillis::of_seconds(event.timestamp));
            past.whole = None;
        }
    }

    /// Takes all there is to know of one call.
    pub(super) fn take_whole(&mut self, trace: TraceView) {
        let whole = Past::of_trace(trace);
        let known = self.list.change().iter_mut().find(|it| it.id == whole.id);
        if let Some(known) = known {
            *known = whole;
        }
    }

    /// Asks for the next page if the end is near.
    pub(super) fn more(&mut self) -> Vec<Wish> {
        let is_near = self.list.cursor.index() + AHEAD >= self.list.count();
        let Some(next) = self.next.clone().filter(|_| is_near && !self.is_loading) else {
            return Vec::new();
        };
        self.is_loading = true;
        let path = format!("/v1/traces?limit={PAGE}&behind={}", query(&next));
        vec![get("history", &next, path)]
    }

    /// Asks for all there is to know of the selected call.
    pub(super) fn whole(&mut self) -> Vec<Wish> {
        let selected = self.list.selected().filter(|it| it.whole.is_none());
        let Some(id) = selected.map(|it| it.id.clone()) else {
            return Vec::new();
        };
        vec![get("trace", &id, format!("/v1/traces/{}", segment(&id)))]
    }
}

/// Returns `text` as one value of a query.
fn query(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    text.bytes()
        .map(|byte| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}
