//! A call after submission: waiting, withdrawal, token, outcome.

use std::time::Duration;

use countersign_core::approval::{Collected, Happened, State, StepError};
use countersign_core::id::TokenId;
use countersign_core::status::Status;
use countersign_core::time::UnixMillis;
use countersign_core::token::{Approver, Claims, TokenError, read as read_token};
use countersign_store::{Change, Kind, Order, Query};

use crate::GateError;
use crate::approvals::change::Unchanged;
use crate::base::principal::Principal;
use crate::base::random::random;
use crate::base::waiting::Look;
use crate::calls::Calls;
use crate::history::traces::TraceFilter;
use crate::records::entries::approval_happening;
use crate::records::event::Event;
use crate::records::request::Report;
use crate::records::stored::{StoredApproval, StoredCall, read};
use crate::records::view::{CallView, ConsumedView, Page};

/// Most calls on one page.
const PAGE_MAX: u32 = 500;

impl Calls {
    /// Returns how a call stands, waiting for at most `wait` until it is decided. Hands out its
    /// token.
    pub async fn call(
        &self,
        who: &Principal,
        id: &str,
        wait: Duration,
    ) -> Result<CallView, GateError> {
        let mut call = self.base.stored_call(who, id).await?;
        if let Some(approval) = call.approval.clone().filter(|_| call.decision.is_none()) {
            // Thousands may wait; none of them keeps what it does not need meanwhile.
            drop(call);
            self.wait_for(approval.as_str(), wait).await?;
            call = self.base.stored_call(who, id).await?;
        }
        if who.key == call.key {
            Box::pin(self.view_of(call)).await
        } else {
            self.base.view_without_collecting(&call).await
        }
    }

    /// Returns calls, the newest first, without their tokens.
    pub async fn list(
        &self,
        who: &Principal,
        filter: TraceFilter,
    ) -> Result<Page<CallView>, GateError> {
        let limit = filter.limit.unwrap_or(100).clamp(1, PAGE_MAX);
        let records = self
            .base
            .store
            .find(Query {
                owner: (!who.role.sees_all()).then(|| who.key.0.clone()),
                session: filter.session,
                run: filter.run,
                since: filter.since,
                behind: filter
                    .behind
                    .as_deref()
                    .and_then(crate::records::view::cursor),
                order: Order::NewestFirst,
                limit: limit + 1,
                ..Query::of(Kind::Call)
            })
            .await?;
        let next = crate::records::view::next(&records, limit);
        let mut items = Vec::new();
        for record in records.iter().take(limit as usize) {
            let call: StoredCall = read(record)?;
            if filter
                .verdict
                .as_ref()
                .is_some_and(|it| *it != call.verdict.word())
            {
                continue;
            }
            items.push(self.base.view_without_collecting(&call).await?);
        }
        Ok(Page { items, next })
    }

    /// The asker takes a call back.
    pub async fn withdraw(
        &self,
        who: &Principal,
        id: &str,
        note: Option<String>,
    ) -> Result<CallView, GateError> {
        let call = self.base.own_call(who, id).await?;
        if let Some(approval) = call.approval.clone().filter(|_| call.decision.is_none()) {
            let changed = self
                .approvals
                .change_approval(approval.as_str(), |_, _| {
                    Ok(Happened::Withdrawn { note: note.clone() })
                })
                .await;
            match changed {
                // Whatever was decided before stands, and the answer says so.
                Ok(_) | Err(Unchanged::Step(..)) => {}
                Err(Unchanged::Gate(error)) => return Err(error),
            }
        }
        self.view_of(call).await
    }

    /// The asker reports what came of a call.
    pub async fn report(
        &self,
        who: &Principal,
        id: &str,
        report: Report,
    ) -> Result<CallView, GateError> {
        self.base.own_call(who, id).await?;
        let (call, put, entry) = self.base.reported(id, &report).await?;
        let change = Change {
            puts: vec![put],
            entries: vec![entry],
        };
        self.base.store.commit(change).await?;
        self.view_of(call).await
    }

    /// Uses a token up. Whoever gets an answer here may run the call; nobody gets one twice.
    pub async fn consume(&self, who: &Principal, token: &str) -> Result<ConsumedView, GateError> {
        if !who.role.asks() {
            return Err(GateError::Forbidden("only agent keys can consume tokens"));
        }
        let keys = self.ledger.public_keys().await?;
        let now = self.base.clock.machine().seconds();
        let claims = read_token(token, &keys, now).map_err(|error| match error {
            TokenError::Expired => GateError::TokenExpired,
            TokenError::Malformed
            | TokenError::UnknownKey
            | TokenError::BadSignature
            | TokenError::NotYetValid
            | TokenError::Other(_) => GateError::TokenInvalid,
        })?;
        let jti = TokenId(claims.jti.clone());
        self.check_user_of(who, &claims).await?;
        let changed = self
            .approvals
            .change_approval(&claims.sub, |_, _| Ok(Happened::Used { jti: jti.clone() }))
            .await;
        match changed {
            Ok(stored) => {
                self.approvals.remember_recipients(&stored);
                Ok(ConsumedView {
                    jti: jti.0,
                    call_id: stored.call.call_id.0.clone(),
                    consumed_at: used_at(&stored, self.base.clock.now()).as_seconds(),
                })
            }
            Err(Unchanged::Step(StepError::AlreadyUsed, _)) => Err(GateError::TokenUsed),
            Err(Unchanged::Step(StepError::Expired, _)) => Err(GateError::TokenExpired),
            Err(Unchanged::Step(..) | Unchanged::Gate(GateError::NotFound { .. })) => {
                Err(GateError::TokenInvalid)
            }
            Err(Unchanged::Gate(error)) => Err(error),
        }
    }

    /// Returns how a call stands, and hands out its token if it has one.
    pub(crate) async fn view_of(&self, call: StoredCall) -> Result<CallView, GateError> {
        let Some(id) = call.approval.clone() else {
            return Ok(CallView::of(&call, None));
        };
        let mut stored = self.base.stored_approval(id.as_str()).await?;
        // Twice: a held answer takes effect first, then its token is collected.
        for _ in 0..2 {
            let collects = matches!(
                stored.approval.state,
                State::Approved {
                    collected: None,
                    ..
                } | State::Held { .. }
            );
            if !collects {
                break;
            }
            stored = match self.collect(id.as_str()).await {
                Ok(changed) => changed,
                // Somebody else has collected it, or time has settled it.
                Err(Unchanged::Step(..)) => self.base.stored_approval(id.as_str()).await?,
                Err(Unchanged::Gate(error)) => return Err(error),
            };
        }
        let mut view = CallView::of(&call, Some(&stored));
        if let State::Approved {
            collected: Some(collected),
            ..
        } = &stored.approval.state
            && self.base.clock.now() < collected.until
            && let Some(claims) = self.claims(&stored, collected)
        {
            view.token = Some(self.base.signer.sign_token(&claims));
            view.token_expires_at = Some(collected.until.as_seconds());
        }
        Ok(view)
    }

    async fn collect(&self, id: &str) -> Result<StoredApproval, Unchanged> {
        self.approvals
            .change_approval(id, |stored, now| {
                if !matches!(stored.approval.state, State::Approved { .. }) {
                    return Ok(Happened::TimePassed { reached: true });
                }
                let issued = self.base.clock.machine().seconds();
                let lasts = self.base.settings.token_seconds;
                Ok(Happened::Collected(Collected {
                    jti: TokenId::fresh(now, random()),
                    issued: Some((issued, lasts)),
                    until: now.plus(lasts * 1000),
                }))
            })
            .await
    }

    /// Returns what the token of an approval says. It follows from what is kept, so every read gives
    /// the same token; a replica, or a new key, signs the same claims under its own name.
    fn claims(&self, stored: &StoredApproval, collected: &Collected) -> Option<Claims> {
        let answer = stored.approval.answer()?;
        let (issued, lasts) = collected.issued?;
        let call = &stored.call;
        let enc = if stored.edited.is_some() {
            "jcs"
        } else {
            call.encoding().word()
        };
        Some(Claims {
            v: 1,
            iss: self.base.settings.issuer.clone(),
            aud: call.executor.clone(),
            sub: stored.approval.id.0.clone(),
            jti: collected.jti.0.clone(),
            iat: issued,
            nbf: issued,
            exp: issued + lasts,
            tool: call.tool.clone(),
            tdh: call
                .tool_definition
                .map_or_else(|| "0".repeat(64), |digest| digest.hex()),
            enc: enc.to_owned(),
            adg: stored.approval.digest.hex(),
            ses: call.session.clone(),
            agt: call.key.0.clone(),
            apr: Approver {
                who: answer.by.clone(),
                channel: answer.via.clone(),
                tier: answer.tier.word().to_owned(),
            },
            tier: answer.tier.word().to_owned(),
            pol: call.policy.clone(),
        })
    }

    /// A token is used by the key that submitted the call, or by one that was made for whoever runs
    /// it. Anybody else is refused, and the ledger tells of it.
    async fn check_user_of(&self, who: &Principal, claims: &Claims) -> Result<(), GateError> {
        if claims.agt == who.key.0 || self.people.executes(who, &claims.aud).await? {
            return Ok(());
        }
        if let Ok(stored) = self.base.stored_approval(&claims.sub).await {
            let now = self.base.clock.now();
            let (by, jti) = (Some(who.name.as_str()), Some(claims.jti.as_str()));
            let entry = approval_happening(&stored, Event::TokenRefused, by, jti, now);
            let change = Change {
                puts: Vec::new(),
                entries: vec![entry],
            };
            self.base.store.commit(change).await?;
        }
        Err(GateError::Forbidden(
            "this token belongs to a call of another key; only that key, or one made with \
             `keys create --executor NAME` for who runs the call, may use it",
        ))
    }

    /// Waits until the approval is settled, for at most `wait`.
    async fn wait_for(&self, id: &str, wait: Duration) -> Result<(), GateError> {
        let waiting = &self.base.waiting;
        waiting
            .until_settled(id, wait, || self.look_at_approval(id))
            .await
    }

    /// Returns whether the approval is settled, after time has settled what it settles.
    async fn look_at_approval(&self, id: &str) -> Result<Look<()>, GateError> {
        loop {
            let Some(due) = self.due_while_waiting(id).await? else {
                return Ok(Look::Settled(()));
            };
            let left = due.since(self.base.clock.now());
            if let Ok(left) = u64::try_from(left)
                && left > 0
            {
                return Ok(Look::Waits((), Duration::from_millis(left)));
            }
            if let Err(Unchanged::Gate(error)) = Box::pin(self.approvals.settle_by_time(id)).await {
                return Err(error);
            }
        }
    }

    /// Returns when time will settle an approval, while it waits.
    async fn due_while_waiting(&self, id: &str) -> Result<Option<UnixMillis>, GateError> {
        let approval = self.base.stored_approval(id).await?.approval;
        let waits = approval.status() == Status::Waiting;
        Ok(approval.due_at().filter(|_| waits))
    }
}

fn used_at(stored: &StoredApproval, now: UnixMillis) -> UnixMillis {
    match &stored.approval.state {
        State::Consumed { at, .. } => *at,
        State::Waiting
        | State::Held { .. }
        | State::Approved { .. }
        | State::Denied { .. }
        | State::Expired { .. }
        | State::Withdrawn { .. } => now,
    }
}
