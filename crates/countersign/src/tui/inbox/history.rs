//! Every call that was judged, the newest first: what ran by itself, what was asked about, what was
//! refused, and why.

use countersign_core::display::shortened;
use countersign_core::time::UnixMillis;
use serde_json::Value;

use super::get;
use super::shelf::{Entry, Shelf};
use crate::client::segment;
use crate::config::read::at;
use crate::tui::screen::{Tag, Wish};
use crate::words::{moment, named};

/// Calls of one page.
const PAGE: u32 = 100;
/// Calls that are kept; the oldest are asked for again.
const KEPT_MAX: usize = 5_000;
/// How near to the end the next page is asked for, in rows.
const AHEAD: usize = 20;

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Past {
    id: String,
    pub(super) at: UnixMillis,
    pub(super) tool: String,
    pub(super) what: String,
    pub(super) verdict: String,
    pub(super) status: String,
    pub(super) cause: String,
    pub(super) risk: Option<f64>,
    pub(super) agent: String,
    /// Who decided, and where.
    pub(super) by: Option<String>,
    pub(super) via: Option<String>,
    pub(super) decided_at: Option<UnixMillis>,
    /// Everything, once it was asked for.
    pub(super) whole: Option<Value>,
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
            &self.verdict,
            by,
            via,
            &self.id,
        ]
    }
}

impl Past {
    fn of_trace(trace: &Value) -> Option<Self> {
        let decision = at(trace, "decision");
        let agent = named(trace, "agent").or_else(|| named(trace, "key_name"));
        Some(Self {
            id: at(trace, "call_id").as_str()?.to_owned(),
            at: moment(trace, "created_at")?,
            tool: named(trace, "tool").unwrap_or_default(),
            what: shortened(at(trace, "command").as_str().unwrap_or_default()),
            verdict: named(trace, "verdict").unwrap_or_default(),
            status: named(trace, "status").unwrap_or_default(),
            cause: named(decision, "cause").unwrap_or_default(),
            risk: at(trace, "assessment.risk_score").as_f64(),
            agent: agent.unwrap_or_default(),
            by: named(decision, "by"),
            via: named(decision, "via"),
            decided_at: moment(decision, "at"),
            whole: Some(trace.clone()),
        })
    }

    fn of_event(event: &Value) -> Option<Self> {
        Some(Self {
            id: at(event, "call_id").as_str()?.to_owned(),
            at: moment(event, "timestamp")?,
            tool: named(event, "tool").unwrap_or_default(),
            what: shortened(at(event, "command").as_str().unwrap_or_default()),
            verdict: named(event, "verdict").unwrap_or_default(),
            status: named(event, "status").unwrap_or_default(),
            cause: named(event, "cause").unwrap_or_default(),
            risk: at(event, "risk_score").as_f64(),
            agent: named(event, "agent").unwrap_or_default(),
            by: None,
            via: None,
            decided_at: None,
            whole: None,
        })
    }

    /// Returns how it ended, in two or three words.
    pub(super) fn outcome(&self) -> &'static str {
        match (self.status.as_str(), self.verdict.as_str()) {
            ("allowed", "allow_then_review") => "ran, to review",
            ("allowed", _) if self.cause == "grant" => "allowed by a grant",
            ("allowed", _) => "allowed",
            ("approved", _) => "approved",
            ("denied", _) => "denied",
            ("refused", _) => "refused",
            ("expired", _) => "expired",
            ("withdrawn", _) => "withdrawn",
            _ => "waiting",
        }
    }

    /// Returns the question that was denied, where that was how it ended or why.
    pub(super) fn denial(&self) -> Option<String> {
        let whole = self.whole.as_ref()?;
        let id = match (self.status.as_str(), self.cause.as_str()) {
            ("denied", _) => at(whole, "approval_id"),
            ("refused", "deny_memory") => at(whole, "decision.denial_id"),
            _ => return None,
        };
        id.as_str().map(str::to_owned)
    }

    /// Whether nobody was asked.
    pub(super) fn ran_unasked(&self) -> bool {
        self.status == "allowed"
    }
}

/// The calls there were.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) list: Shelf<Past>,
    /// Where the next page begins.
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
    pub(super) fn take_page(&mut self, tag: &Tag, body: &Value) {
        self.is_loading = false;
        let traces = at(body, "traces").as_array().into_iter().flatten();
        let mut page: Vec<Past> = traces.filter_map(Past::of_trace).collect();
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
        self.next = at(body, "next").as_str().map(str::to_owned);
    }

    /// A request was lost.
    pub(super) const fn lose(&mut self) {
        self.is_loading = false;
    }

    /// Takes an event.
    pub(super) fn event(&mut self, name: &str, event: &Value) {
        if name == "call.assessed"
            && let Some(past) = Past::of_event(event)
        {
            let all = self.list.change();
            if !all.iter().take(PAGE as usize).any(|it| it.id == past.id) {
                all.insert(0, past);
            }
            if all.len() > KEPT_MAX {
                all.truncate(KEPT_MAX - PAGE as usize);
                self.next = all.last().map(|it| format!("{}.{}", it.at.0, it.id));
            }
        } else if name == "approval.resolved" {
            let call = at(event, "call_id").as_str().unwrap_or_default();
            if let Some(past) = self.list.change().iter_mut().find(|it| it.id == call) {
                past.status = named(event, "outcome").unwrap_or_default();
                past.cause = named(event, "cause").unwrap_or_default();
                past.by = named(event, "by");
                past.via = named(event, "via");
                past.decided_at = moment(event, "timestamp");
                past.whole = None;
            }
        }
    }

    /// Takes all there is to know of one call.
    pub(super) fn take_whole(&mut self, body: &Value) {
        let Some(whole) = Past::of_trace(body) else {
            return;
        };
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
