//! `Permit`: proof that the gate allowed exactly this call and that nobody else runs it.
//!
//! A [`Permit`] is made here alone and cannot be copied. Whoever runs a tool takes one, so there is
//! no way to run a tool past the gate. Taking it is the moment after which the call is never run
//! again: a token is used up, a call that needed none is marked as begun, durably, before the side
//! effect.

use countersign_core::approval::State;
use countersign_core::digest::Digest;
use countersign_core::status::Status;
use countersign_core::token::{Arguments, Claims, Expected, TokenError, verify};
use countersign_core::verdict::Verdict;
use countersign_store::{Change, Expect, Kind, StoreError};
use serde_json::Value;

use crate::GateError;
use crate::base::principal::Principal;
use crate::calls::Calls;
use crate::records::stored::{StoredCall, read};

/// Proof that a call may run now, once.
///
/// Nobody but the gate makes one:
///
/// ```compile_fail
/// let permit = countersign_gate::calls::permit::Permit { call_id: String::new() };
/// ```
///
/// and it cannot be kept for a second time:
///
/// ```compile_fail
/// fn twice(permit: &countersign_gate::calls::permit::Permit) -> countersign_gate::calls::permit::Permit {
///     permit.clone()
/// }
/// ```
#[derive(Debug)]
pub struct Permit {
    call_id: String,
    action: Presented,
    session: String,
    token: Option<String>,
    reviewed: bool,
}

/// A call as whoever is about to run it has it in hand.
#[derive(Clone, Debug, PartialEq)]
pub struct Presented {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// The directory it was asked for from.
    pub cwd: Option<String>,
    /// Who runs it.
    pub executor: String,
    /// Hashes of what is attached.
    pub attachments: Vec<Digest>,
}

/// The state of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nobody has begun it.
    NotBegun,
    /// Somebody has begun it and nobody has said what came of it.
    Begun,
    /// This came of it.
    Reported(Value),
}

impl Permit {
    /// The permit for a call that needed no token and is marked as begun, durably.
    pub(super) fn begun(call: StoredCall) -> Self {
        Self {
            call_id: call.call_id.0.clone(),
            action: presented(&call, None),
            session: call.session,
            token: None,
            reviewed: call.verdict == Verdict::AllowThenReview,
        }
    }

    /// Returns the call.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Returns what may run: the call as it is kept, with a person's changes.
    pub const fn action(&self) -> &Presented {
        &self.action
    }

    /// Returns the arguments it runs with.
    pub const fn args(&self) -> &Value {
        &self.action.args
    }

    /// Returns the session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns the token that was used up for it, where a person's yes was needed.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Whether people will look at it after it ran, so that it must be possible to undo it.
    pub const fn is_reviewed(&self) -> bool {
        self.reviewed
    }
}

impl Calls {
    /// Begins a call that was let through. Whoever gets a permit runs the call; nobody gets one
    /// twice.
    pub async fn take_up(
        &self,
        who: &Principal,
        id: &str,
        token: Option<&str>,
    ) -> Result<Permit, GateError> {
        let call = self.base.own_call(who, id).await?;
        let Some(approval) = &call.approval else {
            return self.begin_without_token(id).await;
        };
        let stored = self.base.stored_approval(approval.as_str()).await?;
        let token = token.ok_or(GateError::TokenInvalid)?;
        let action = presented(&call, stored.edited.clone());
        self.redeem(who, &call.session, action, token).await
    }

    /// Uses `token` up for exactly `action`, whichever way the token came.
    pub async fn redeem(
        &self,
        who: &Principal,
        session: &str,
        action: Presented,
        token: &str,
    ) -> Result<Permit, GateError> {
        let claims = self.check_token(who, session, &action, token).await?;
        let consumed = self.consume(who, token).await?;
        debug_assert_eq!(claims.jti, consumed.jti);
        Ok(Permit {
            call_id: consumed.call_id,
            action,
            session: session.to_owned(),
            token: Some(token.to_owned()),
            reviewed: false,
        })
    }

    /// Returns what `token` says if it is a person's yes to exactly `action`. It is not used up.
    pub async fn check_token(
        &self,
        who: &Principal,
        session: &str,
        action: &Presented,
        token: &str,
    ) -> Result<Claims, GateError> {
        let keys = self.ledger.public_keys().await?;
        let now = self.base.clock.machine().seconds();
        let expected = Expected {
            audience: &action.executor,
            tool: &action.tool,
            session,
            agent: Some(who.key.as_str()),
            arguments: Arguments::Json(&action.args),
            cwd: action.cwd.as_deref(),
            attachments: &action.attachments,
        };
        verify(token, &keys, now, expected).map_err(|error| match error {
            TokenError::Expired => GateError::TokenExpired,
            TokenError::Malformed
            | TokenError::UnknownKey
            | TokenError::BadSignature
            | TokenError::NotYetValid
            | TokenError::Other(_) => GateError::TokenInvalid,
        })
    }

    /// Returns what a call would run, as it is kept, with a person's changes.
    pub async fn kept_action(&self, who: &Principal, id: &str) -> Result<Presented, GateError> {
        let call = self.base.own_call(who, id).await?;
        let edited = match &call.approval {
            None => None,
            Some(approval) => self.base.stored_approval(approval.as_str()).await?.edited,
        };
        Ok(presented(&call, edited))
    }

    /// Returns how far a call has come, for whoever takes up work after a crash.
    pub async fn progress(&self, who: &Principal, id: &str) -> Result<Progress, GateError> {
        let call = self.base.own_call(who, id).await?;
        if let Some(outcome) = call.outcome {
            return Ok(Progress::Reported(outcome));
        }
        let begun = match &call.approval {
            None => call.begun_at.is_some(),
            Some(id) => {
                let stored = self.base.stored_approval(id.as_str()).await?;
                matches!(stored.approval.state, State::Consumed { .. })
            }
        };
        Ok(if begun {
            Progress::Begun
        } else {
            Progress::NotBegun
        })
    }

    async fn begin_without_token(&self, id: &str) -> Result<Permit, GateError> {
        let record = self.base.store.get(Kind::Call, id).await?;
        let record = record.ok_or_else(|| GateError::NotFound {
            kind: "call",
            id: id.to_owned(),
        })?;
        let mut call: StoredCall = read(&record)?;
        if call.status() != Status::Allowed {
            return Err(GateError::Forbidden("this call was not allowed"));
        }
        if call.begun_at.is_some() {
            return Err(begun_already());
        }
        call.begun_at = Some(self.base.clock.now());
        let change = Change {
            puts: vec![call.put(Expect::Version(record.version))],
            entries: Vec::new(),
        };
        match self.base.store.commit(change).await {
            Ok(_) => Ok(Permit::begun(call)),
            Err(StoreError::Conflict { .. }) => Err(begun_already()),
            Err(failed @ (StoreError::Unavailable { .. } | StoreError::Closed)) => {
                Err(failed.into())
            }
        }
    }
}

fn presented(call: &StoredCall, edited: Option<Value>) -> Presented {
    Presented {
        tool: call.tool.clone(),
        args: edited.unwrap_or_else(|| call.args.clone()),
        cwd: call.cwd.clone(),
        executor: call.executor.clone(),
        attachments: call.attachments.clone(),
    }
}

fn begun_already() -> GateError {
    GateError::AlreadySettled {
        kind: "call",
        how: "it has begun".to_owned(),
    }
}
