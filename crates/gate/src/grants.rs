//! Lists, previews and revokes grants.

use std::sync::Arc;

use countersign_core::assessment::Assessment;
use countersign_core::call::ToolCall;
use countersign_core::card::{Redacts, one_line};
use countersign_core::display::shortened;
use countersign_core::grant::{Caller, Grant, Scope};
use countersign_core::judge::consider_bound;
use countersign_core::ledger::Draft;
use countersign_core::status::RecordStatus;
use countersign_core::time::UnixMillis;
use countersign_core::verdict::Situation;
use countersign_store::{Change, Expect, Kind, Order, Put, Query, Record};

use crate::GateError;
use crate::base::Base;
use crate::base::cache::Cache;
use crate::base::cache::ended_at;
use crate::base::principal::{Principal, Role};
use crate::base::settings::Policies;
use crate::records::entries::about;
use crate::records::event::{Event, GrantHappening, GrantRevoked};
use crate::records::retry::{busy, retry_on_conflict};
use crate::records::stored::{StoredCall, read, written};
use crate::records::view::{GrantView, Page, ScopeView};

/// How many calls of a key a preview looks at, the newest.
const PREVIEW_CALLS_MAX: u32 = 500;

/// A grant with the version of its record.
pub(crate) type VersionedGrant = (Grant, u64);

/// Standing permissions.
#[derive(Debug)]
pub struct Grants {
    base: Arc<Base>,
    cache: Cache<String, Arc<Vec<VersionedGrant>>>,
}

impl Grants {
    pub(crate) fn new(base: Arc<Base>) -> Self {
        Self {
            base,
            cache: Cache::until(&["grant.created", "grant.used", "grant.revoked"]),
        }
    }
}

impl Grants {
    /// Returns a grant that covers `call`.
    pub(crate) async fn covering_grant(
        &self,
        call: &StoredCall,
        tool_call: &ToolCall,
        assessment: &Assessment,
        situation: &Situation,
    ) -> Result<Option<VersionedGrant>, GateError> {
        let now = call.at;
        if call.is_more_than_its_words() {
            return Ok(None);
        }
        let grants = self.live_grants(call.key.as_str()).await?;
        let caller = Caller {
            key: &call.key,
            session: &call.session,
            tool_definition: call.tool_definition,
            executor: &call.executor,
            is_asked_by_rule: situation.asked_by_rule,
            is_denied: situation.denied_before,
        };
        let covers =
            |(grant, _): &&VersionedGrant| grant.covers(caller, tool_call, assessment, now);
        Ok(grants.iter().find(covers).cloned())
    }

    /// Forgets what was read, because it turned out to be outdated.
    pub(crate) fn reload(&self) {
        self.cache.forget(ended_at(self.base.store.tail()));
    }

    /// Returns the live grants of a key.
    async fn live_grants(&self, key: &str) -> Result<Arc<Vec<VersionedGrant>>, GateError> {
        let tail = self.base.store.tail();
        if let Some(grants) = self.cache.get(tail, key) {
            return Ok(grants);
        }
        let as_of = ended_at(tail);
        let records = self
            .base
            .store
            .find(Query {
                owner: Some(key.to_owned()),
                status: Some(RecordStatus::Live.word().to_owned()),
                ..Query::of(Kind::Grant)
            })
            .await?;
        let grants = records
            .iter()
            .map(|record| Ok((read(record)?, record.version)))
            .collect::<Result<Vec<VersionedGrant>, GateError>>()?;
        let grants = Arc::new(grants);
        self.cache
            .put(tail, as_of, key.to_owned(), Arc::clone(&grants));
        Ok(grants)
    }

    /// Returns grants, the newest first; only live ones unless asked for all.
    pub async fn list(&self, who: &Principal, all: bool) -> Result<Page<GrantView>, GateError> {
        let owner = match who.role {
            Role::Agent => Some(who.key.0.clone()),
            Role::Approver | Role::Admin | Role::Viewer => None,
        };
        let now = self.base.clock.now();
        let records = self
            .base
            .find_all(Query {
                owner,
                status: (!all).then(|| RecordStatus::Live.word().to_owned()),
                order: Order::NewestFirst,
                ..Query::of(Kind::Grant)
            })
            .await?;
        let mut items = Vec::new();
        for record in &records {
            let view = GrantView::of(&read(record)?, now);
            // Time ends a grant without anybody writing it down.
            if all || view.live {
                items.push(view);
            }
        }
        Ok(Page { items, next: None })
    }

    /// Takes a grant back. What was taken back or has ended stays as it is.
    pub async fn revoke_grant(&self, who: &Principal, id: &str) -> Result<GrantView, GateError> {
        may_grant(who)?;
        retry_on_conflict(|| async {
            let now = self.base.clock.now();
            let record = self.base.store.get(Kind::Grant, id).await?;
            let record = record.ok_or_else(|| GateError::NotFound {
                kind: "grant",
                id: id.to_owned(),
            })?;
            let mut grant: Grant = read(&record)?;
            if !grant.is_live(now) {
                return Ok(GrantView::of(&grant, now));
            }
            grant.revoked = Some((who.name.clone(), now));
            let change = Change {
                puts: vec![grant_put(&grant, Expect::Version(record.version))],
                entries: vec![grant_revoked(&grant, &who.name, &who.via, now)],
            };
            self.base.store.commit(change).await?;
            Ok(GrantView::of(&grant, now))
        })
        .await
        .map_err(busy("too many concurrent uses of this grant; try again"))
    }

    /// Returns the grants that could be left for an approval, or `scope` alone, each with how many
    /// of the last 500 calls of that key it would have matched, and the riskiest of them.
    pub async fn preview(
        &self,
        who: &Principal,
        approval: &str,
        scope: Option<Scope>,
    ) -> Result<Vec<ScopeView>, GateError> {
        may_grant(who)?;
        let stored = self.base.stored_approval(approval).await?;
        let records = self
            .base
            .store
            .find(Query {
                owner: Some(stored.call.key.0.clone()),
                order: Order::NewestFirst,
                limit: PREVIEW_CALLS_MAX,
                ..Query::of(Kind::Call)
            })
            .await?;
        let policies = Arc::clone(&self.base.policies);
        let scopes = scope.map_or(stored.scopes, |scope| vec![scope]);
        // Judging hundreds of calls may take a second, which no other request should wait for.
        tokio::task::spawn_blocking(move || {
            let calls = judged(&records, &stored.call, policies.as_ref())?;
            Ok(scopes
                .into_iter()
                .map(|scope| preview_of(scope, &calls, records.len()))
                .collect())
        })
        .await
        .unwrap_or_else(|_| {
            Err(GateError::Policy(
                "the preview stopped before it was done".to_owned(),
            ))
        })
    }
}

fn may_grant(who: &Principal) -> Result<(), GateError> {
    if who.role.answers() {
        return Ok(());
    }
    Err(GateError::Forbidden(
        "only approvers can see and revoke grants",
    ))
}

/// A call of the past, as it would be judged now.
struct Past {
    call: ToolCall,
    assessment: Assessment,
    redacts: Redacts,
}

/// Judges the calls of `records` that a grant left for `asked` could be about.
fn judged(
    records: &[Record],
    asked: &StoredCall,
    policies: &dyn Policies,
) -> Result<Vec<Past>, GateError> {
    let mut calls = Vec::new();
    for record in records {
        let stored: StoredCall = read(record)?;
        if stored.tool != asked.tool
            || stored.tool_definition != asked.tool_definition
            || stored.executor != asked.executor
            || stored.is_more_than_its_words()
        {
            continue;
        }
        let call = stored.tool_call(None);
        let ruleset = policies
            .at(call.cwd.as_deref())
            .map_err(GateError::Policy)?;
        let (assessment, _) = consider_bound(&ruleset.policy, &call, &stored.bound);
        calls.push(Past {
            call,
            assessment,
            redacts: crate::base::settings::redacts(&ruleset.policy),
        });
    }
    Ok(calls)
}

fn preview_of(scope: Scope, calls: &[Past], of: usize) -> ScopeView {
    let matched: Vec<&Past> = calls
        .iter()
        .filter(|past| scope.covers(&past.call, &past.assessment))
        .collect();
    let riskiest = matched.iter().max_by_key(|past| past.assessment.risk);
    ScopeView {
        words: scope.words(),
        excludes: scope.excludes(),
        session_only: scope.is_for_session(),
        matched: Some(u32::try_from(matched.len()).unwrap_or(u32::MAX)),
        of: Some(u32::try_from(of).unwrap_or(u32::MAX)),
        riskiest: riskiest.map(|past| shortened(&one_line(&past.call, past.redacts))),
        scope,
    }
}

impl GrantView {
    /// Returns `grant` as people see it at `now`.
    pub(crate) fn of(grant: &Grant, now: UnixMillis) -> Self {
        Self {
            grant_id: grant.id.0.clone(),
            words: grant.scope.words(),
            scope: grant.scope.clone(),
            key_id: grant.key.0.clone(),
            session_id: grant.session.clone(),
            expires_at: grant.expires_at.map(UnixMillis::as_seconds),
            uses_left: grant.uses_left,
            uses: grant.uses,
            last_used_at: grant.used_at.map(UnixMillis::as_seconds),
            by: grant.by.clone(),
            created_at: grant.given_at.as_seconds(),
            approval_id: grant.approval_id.0.clone(),
            live: grant.is_live(now),
        }
    }
}

/// A grant was taken back.
fn grant_revoked(grant: &Grant, by: &str, via: &str, now: UnixMillis) -> Draft {
    let event = Event::GrantRevoked(GrantRevoked {
        grant_id: grant.id.0.clone(),
        session_id: grant.session.clone(),
        scope: grant.scope.words(),
        by: by.to_owned(),
        via: via.to_owned(),
        uses: grant.uses,
        timestamp: now.as_seconds(),
    });
    Draft {
        owner: grant.key.0.clone(),
        session: grant.session.clone().unwrap_or_default(),
        ..event.draft(grant.id.as_str(), now)
    }
}

/// Returns the record of `grant`.
pub(crate) fn grant_put(grant: &Grant, expect: Expect) -> Put {
    let status = if grant.revoked.is_some() {
        RecordStatus::Revoked
    } else if grant.uses_left == Some(0) {
        RecordStatus::Ended
    } else {
        RecordStatus::Live
    };
    Put {
        record: Record {
            status: status.word().to_owned(),
            owner: grant.key.0.clone(),
            session: grant.session.clone().unwrap_or_default(),
            link: grant.approval_id.0.clone(),
            due_at: grant.expires_at.map(|end| end.0),
            ..Record::new(
                Kind::Grant,
                grant.id.0.clone(),
                grant.given_at.0,
                written(grant),
            )
        },
        expect,
    }
}

/// A grant was left by the answer about `call`.
pub(crate) fn grant_created(grant: &Grant, call: &StoredCall) -> Draft {
    happening(Event::GrantCreated, grant, call)
}

/// Returns what must be written when `grant`, read at `version`, lets `call` run.
pub(crate) fn grant_used(mut grant: Grant, version: u64, call: &StoredCall) -> (Put, Draft) {
    grant.uses += 1;
    grant.used_at = Some(call.at);
    grant.uses_left = grant.uses_left.map(|left| left.saturating_sub(1));
    let entry = happening(Event::GrantUsed, &grant, call);
    (grant_put(&grant, Expect::Version(version)), entry)
}

fn happening(event: fn(GrantHappening) -> Event, grant: &Grant, call: &StoredCall) -> Draft {
    let event = event(GrantHappening {
        grant_id: grant.id.0.clone(),
        call_id: call.call_id.0.clone(),
        tool_call_id: call.tool_call_id.clone(),
        run_id: call.run.clone(),
        session_id: call.session.clone(),
        scope: grant.scope.words(),
        by: grant.by.clone(),
        uses: grant.uses,
        uses_left: grant.uses_left,
        expires_at: grant.expires_at.map(UnixMillis::as_seconds),
        timestamp: call.at.as_seconds(),
    });
    about(call, grant.id.as_str(), call.at, &event)
}
