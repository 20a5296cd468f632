//! The queries of requests. An unknown key is an error.

use countersign_core::status::Status;
use countersign_core::verdict::Verdict;
use countersign_gate::approvals::answer::ApprovalFilter;
use countersign_gate::history::search::Search;
use countersign_gate::history::statistics::StatsFilter;
use countersign_gate::history::traces::TraceFilter;
use countersign_gate::records::schema;
use serde::Deserialize;
use utoipa::IntoParams;

/// How long to wait.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitQuery {
    /// How long to wait for a decision, 0 to 60.
    pub(crate) wait_seconds: Option<f64>,
}

/// Which calls or traces.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TraceQuery {
    /// Of this run.
    run_id: Option<String>,
    /// Of this session.
    session_id: Option<String>,
    /// With this verdict.
    #[param(value_type = Option<String>)]
    verdict: Option<Verdict>,
    /// At or after this moment, in seconds.
    since: Option<f64>,
    /// At most so many.
    limit: Option<u32>,
    /// The cursor of the previous page.
    behind: Option<String>,
}

/// Which traces. With `outcome`, `by`, `tool`, `q` or `until` the newest 100 000 calls are searched.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct HistoryQuery {
    /// Of this run.
    run_id: Option<String>,
    /// Of this session.
    session_id: Option<String>,
    /// With this verdict.
    #[param(value_type = Option<schema::Verdict>)]
    verdict: Option<Verdict>,
    /// How it ended: `waiting`, `allowed`, `approved`, `denied`, `refused`, `expired` or
    /// `withdrawn`.
    #[param(value_type = Option<String>)]
    outcome: Option<Status>,
    /// Decided by this person.
    by: Option<String>,
    /// Of this tool; `mcp__*` are all whose names begin so.
    tool: Option<String>,
    /// Words that the command, the first reason or the names of agent and tool contain.
    q: Option<String>,
    /// At or after this moment, in seconds.
    since: Option<f64>,
    /// Before this moment, in seconds.
    until: Option<f64>,
    /// At most so many, up to 500.
    limit: Option<u32>,
    /// The cursor of the previous page.
    behind: Option<String>,
}

impl From<HistoryQuery> for TraceFilter {
    fn from(query: HistoryQuery) -> Self {
        let search = Search {
            outcome: query.outcome,
            by: query.by,
            tool: query.tool,
            text: query.q.filter(|text| !text.trim().is_empty()),
            until: query.until.map(millis),
        };
        Self {
            run: query.run_id,
            session: query.session_id,
            verdict: query.verdict.map(|it| it.word().to_owned()),
            since: query.since.map(millis),
            search: Some(search).filter(|search| *search != Search::default()),
            limit: query.limit,
            behind: query.behind,
        }
    }
}

/// What to count.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatsQuery {
    /// At or after this moment, in seconds; a week ago if it is not named.
    since: Option<f64>,
    /// Before this moment, in seconds; now if it is not named.
    until: Option<f64>,
    /// How long a stretch of time is, in seconds: at least 60, and at most 500 of them.
    bucket: Option<f64>,
}

impl From<StatsQuery> for StatsFilter {
    fn from(query: StatsQuery) -> Self {
        Self {
            since: query.since.map(millis),
            until: query.until.map(millis),
            bucket: query.bucket.map(millis),
        }
    }
}

impl From<TraceQuery> for TraceFilter {
    fn from(query: TraceQuery) -> Self {
        Self {
            run: query.run_id,
            session: query.session_id,
            verdict: query.verdict.map(|it| it.word().to_owned()),
            since: query.since.map(millis),
            search: None,
            limit: query.limit,
            behind: query.behind,
        }
    }
}

/// Returns a moment of the wire in milliseconds.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a moment beyond the range is the end of the range"
)]
pub(crate) fn millis(seconds: f64) -> i64 {
    (seconds * 1000.0).round() as i64
}

/// Which approvals.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ApprovalQuery {
    /// `waiting`, `approved`, `denied`, `expired` or `withdrawn`.
    #[param(value_type = Option<String>)]
    status: Option<Status>,
    /// Of this run.
    run_id: Option<String>,
    /// At most so many.
    limit: Option<u32>,
    /// The cursor of the previous page.
    behind: Option<String>,
}

impl From<ApprovalQuery> for ApprovalFilter {
    fn from(query: ApprovalQuery) -> Self {
        Self {
            status: query.status,
            run: query.run_id,
            limit: query.limit,
            behind: query.behind,
        }
    }
}

/// Which grants.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct GrantQuery {
    /// Those that no longer hold, too.
    #[serde(default)]
    pub(crate) all: bool,
}

/// Whose session.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SessionQuery {
    /// The key, if several have a session of that name.
    pub(crate) key_id: Option<String>,
}

/// Where in the ledger.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LedgerQuery {
    /// Entries behind this number.
    #[serde(default)]
    pub(crate) after: u64,
    /// At most so many, up to 1000.
    pub(crate) limit: Option<u32>,
}

/// The cursor of the next page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsQuery {
    /// Like the header `Last-Event-ID`, for clients that cannot send it.
    pub(crate) last_event_id: Option<u64>,
}
