//! Reads traces and the ledger, and replays calls under another policy.

use std::sync::Arc;

use countersign_core::card::{Redacts, one_line, shown_args};
use countersign_core::judge::judge_heard;
use countersign_core::ledger::Entry;
use countersign_core::policy::Policy;
use countersign_core::status::Cause;
use countersign_core::verdict::Verdict;
use countersign_store::{Kind, Order, Query, Record, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::GateError;
use crate::base::principal::Principal;
use crate::base::settings::redacts;
use crate::history::History;
use crate::history::search::Search;
use crate::records::stored::{StoredCall, read};
use crate::records::view::{DRAFT, Page, cursor, next};

/// Most traces or entries on one page.
const PAGE_MAX: u32 = 500;
/// Most records or entries that are looked at for one page.
const LOOKED_MAX: usize = 10_000;
/// Entries or calls that are read in one go.
const READ_MAX: u32 = 1000;
/// Most calls that are judged again.
const REPLAYED_MAX: u64 = 100_000;
/// Most calls that are listed because their verdict differs.
pub(crate) const CHANGED_MAX: usize = 100;

/// Which traces.
#[derive(Clone, Debug, Default)]
pub struct TraceFilter {
    /// Of this run.
    pub run: Option<String>,
    /// Of this session.
    pub session: Option<String>,
    /// With this verdict.
    pub verdict: Option<String>,
    /// At or after this moment, in milliseconds.
    pub since: Option<i64>,
    /// What else must hold.
    pub search: Option<Search>,
    /// At most so many.
    pub limit: Option<u32>,
    /// The cursor of the previous page.
    pub behind: Option<String>,
}

/// How a call was judged and what became of it.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TraceView {
    /// The call as its asker sees it, without its token.
    #[serde(flatten)]
    pub call: crate::records::view::CallView,
    /// The arguments, display-redacted.
    pub args: serde_json::Value,
    /// The call on one line, display-redacted.
    pub command: String,
    /// The directory.
    pub cwd: Option<String>,
    /// The agent's own name, a claim.
    pub agent: Option<String>,
    /// Name of the key.
    pub key_name: String,
    /// Hash of the policy it was judged under.
    pub policy: String,
    /// The outcome that the asker reported.
    #[schema(value_type = Option<OutcomeView>)]
    pub outcome: Option<serde_json::Value>,
}

/// The outcome of a call, as its asker reports it.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct OutcomeView {
    /// Whether it failed.
    pub failed: bool,
    /// A summary of the output, by the asker.
    pub summary: Option<String>,
    /// How long it took, in milliseconds.
    pub duration: Option<u64>,
    /// When it was reported, in seconds.
    pub at: f64,
}

/// What another policy would have said, had there been no grants, no overrides and no earlier
/// denials.
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Replayed {
    /// Calls that were judged again.
    pub calls: u64,
    /// Verdicts then and now: `{"ask":{"allow":3}}`.
    pub verdicts: std::collections::BTreeMap<String, std::collections::BTreeMap<String, u64>>,
    /// Calls whose verdict differs, at most a hundred.
    pub changed: Vec<ReplayedCall>,
}

/// A call whose verdict differs.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ReplayedCall {
    /// The call.
    pub call_id: String,
    /// On one line, display-redacted.
    pub command: String,
    /// The verdict then.
    pub was: String,
    /// The verdict now.
    pub now: String,
    /// Why.
    pub reason: String,
}

impl History {
    /// Returns traces, the newest first.
    pub async fn traces(
        &self,
        who: &Principal,
        filter: TraceFilter,
    ) -> Result<Page<TraceView>, GateError> {
        let limit = filter.limit.unwrap_or(100).clamp(1, PAGE_MAX);
        if filter.search.is_some() {
            return self.search(who, filter, limit).await;
        }
        let mut query = Query {
            owner: (!who.role.sees_all()).then(|| who.key.0.clone()),
            limit: if filter.verdict.is_some() {
                READ_MAX
            } else {
                limit + 1
            },
            session: filter.session,
            run: filter.run,
            since: filter.since,
            behind: filter.behind.as_deref().and_then(cursor),
            order: Order::NewestFirst,
            ..Query::of(Kind::Call)
        };
        let mut items = Vec::new();
        let mut looked = 0;
        loop {
            let records = self.base.store.find(query.clone()).await?;
            let rest = next(&records, query.limit - 1);
            for record in records.iter().take(query.limit as usize - 1) {
                looked += 1;
                let call: StoredCall = read(record)?;
                let matches = |verdict: &String| *verdict == call.verdict.word();
                if filter.verdict.as_ref().is_none_or(matches) {
                    items.push(self.trace_view(who, call).await?);
                }
                if items.len() >= limit as usize || looked >= LOOKED_MAX {
                    let more = rest.is_some() || records.last() != Some(record);
                    let here = more.then(|| format!("{}.{}", record.at, record.id));
                    return Ok(Page { items, next: here });
                }
            }
            query.behind = rest.as_deref().and_then(cursor);
            if rest.is_none() {
                return Ok(Page { items, next: None });
            }
        }
    }

    /// Returns one trace, by the id of its call or of its approval.
    pub async fn trace(&self, who: &Principal, id: &str) -> Result<TraceView, GateError> {
        let found = match self.base.store.get(Kind::Call, id).await? {
            Some(record) => Some(record),
            None if id.is_empty() => None,
            None => self.first_call_of(id).await?,
        };
        let record = found
            .filter(|record| who.role.sees_all() || record.owner == who.key.0)
            .ok_or_else(|| GateError::NotFound {
                kind: "call or approval",
                id: id.to_owned(),
            })?;
        self.trace_view(who, read(&record)?).await
    }

    /// Returns at most `limit` entries behind number `after` that `who` may see, and the number to
    /// go on from.
    pub async fn entries(
        &self,
        who: &Principal,
        after: u64,
        limit: u32,
    ) -> Result<(Vec<Entry>, u64), GateError> {
        let limit = limit.clamp(1, PAGE_MAX) as usize;
        let mut seen = Vec::new();
        let (mut behind, mut looked) = (after, 0);
        loop {
            let entries = self.base.store.entries(behind, READ_MAX).await?;
            if entries.is_empty() {
                return Ok((seen, behind));
            }
            for entry in entries {
                behind = entry.seq;
                looked += 1;
                if who.role.sees_all() || entry.draft.owner == who.key.0 {
                    seen.push(entry);
                }
                if seen.len() >= limit || looked >= LOOKED_MAX {
                    return Ok((seen, behind));
                }
            }
        }
    }

    /// Judges the calls since `since` (milliseconds) again under `policy`. What only the moment
    /// knew, grants, overrides and earlier denials, is left out on both sides.
    pub async fn replay(
        &self,
        who: &Principal,
        since: i64,
        policy: Policy,
    ) -> Result<Replayed, GateError> {
        if !who.role.sees_all() {
            return Err(GateError::Forbidden("agents cannot replay calls"));
        }
        let policy = Arc::new(policy);
        let reader: Arc<str> = Arc::from(who.name.as_str());
        let mut replayed = Replayed::default();
        let mut query = Query {
            since: Some(since),
            limit: READ_MAX,
            ..Query::of(Kind::Call)
        };
        while replayed.calls < REPLAYED_MAX {
            let records = self.base.store.find(query.clone()).await?;
            let Some(last) = records.last() else { break };
            query.behind = Some((last.at, last.id.clone()));
            let (policy, reader) = (Arc::clone(&policy), Arc::clone(&reader));
            // A page takes long enough to keep others waiting if it were judged in place.
            let again = tokio::task::spawn_blocking(move || {
                judge_again(&mut replayed, &records, &policy, &reader).map(|()| replayed)
            });
            replayed = again.await.map_err(|lost| StoreError::Unavailable {
                why: "judging was interrupted",
                cause: Box::new(lost),
            })??;
        }
        Ok(replayed)
    }

    /// Returns the call for which a question was asked first.
    async fn first_call_of(&self, approval: &str) -> Result<Option<Record>, GateError> {
        let query = Query {
            link: Some(approval.to_owned()),
            limit: 1,
            ..Query::of(Kind::Call)
        };
        Ok(self.base.store.find(query).await?.into_iter().next())
    }

    pub(crate) async fn trace_view(
        &self,
        who: &Principal,
        call: StoredCall,
    ) -> Result<TraceView, GateError> {
        let view = self.base.view_without_collecting(&call).await?;
        // A policy that cannot be read today hides more, not less.
        let redacts = self
            .base
            .policies
            .at(call.cwd.as_deref())
            .map_or(Redacts::Secrets, |ruleset| redacts(&ruleset.policy));
        let tool_call = call.tool_call(None);
        let (args, command) = if call.is_hidden_from(&who.name) {
            (Value::Null, DRAFT.to_owned())
        } else {
            let command = one_line(&tool_call, redacts);
            (shown_args(&tool_call, redacts), command)
        };
        Ok(TraceView {
            call: view,
            args,
            command,
            cwd: call.cwd,
            agent: call.agent,
            key_name: call.key_name,
            policy: call.policy,
            outcome: call.outcome,
        })
    }
}

fn judge_again(
    replayed: &mut Replayed,
    records: &[Record],
    policy: &Policy,
    reader: &str,
) -> Result<(), StoreError> {
    for record in records {
        let call: StoredCall = read(record)?;
        let tool_call = call.tool_call(None);
        let judged = judge_heard(policy, &tool_call, &call.bound, call.second_reading);
        let (was, now) = (verdict_then(&call).word(), judged.ruling.verdict.word());
        replayed.calls += 1;
        let row = replayed.verdicts.entry(was.to_owned()).or_default();
        *row.entry(now.to_owned()).or_default() += 1;
        if was != now && replayed.changed.len() < CHANGED_MAX {
            let command = if call.is_hidden_from(reader) {
                DRAFT.to_owned()
            } else {
                one_line(&tool_call, redacts(policy))
            };
            replayed.changed.push(ReplayedCall {
                call_id: call.call_id.0.clone(),
                command,
                was: was.to_owned(),
                now: now.to_owned(),
                reason: judged.ruling.rule.sentence().to_owned(),
            });
        }
    }
    Ok(())
}

/// Returns what was concluded, as far as it did not rest on the moment: a grant or an earlier denial
/// is looked at only where a person would have been asked.
fn verdict_then(call: &StoredCall) -> Verdict {
    match call.decision.as_ref().map(|decision| decision.cause) {
        Some(Cause::Grant | Cause::DenyMemory | Cause::Flood) => Verdict::Ask,
        Some(
            Cause::Rule
            | Cause::Person
            | Cause::Model
            | Cause::Expiry
            | Cause::Undeliverable
            | Cause::Withdrawal
            | Cause::NoApprover,
        )
        | None => call.verdict,
    }
}
