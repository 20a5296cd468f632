//! `Approval`: its states and transitions, as one pure function.
//!
//! [`step`] is the only way an approval changes. The gate stores what it returns by
//! compare-and-set and does what the [`Followup`]s say; nothing else has side effects.
//!
//! INVARIANT: an approval leaves `Waiting` once (a taken-back answer never left it for the asker:
//! nothing had been released). What is final stays final.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::{ApprovalId, GrantId, TokenId};
use crate::status::{Cause, Outcome, Status};
use crate::tier::Tier;
use crate::time::UnixMillis;

/// An allowed call that nobody collects is not run later than this.
pub const COLLECT_MILLIS_MAX: i64 = 10 * 60 * 1000;

/// What a person may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// This call, once.
    Once,
    /// Such calls, in this session.
    Session,
    /// Such calls, from now on.
    Always,
    /// No.
    Deny,
}

impl Choice {
    /// Returns the word used on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Always => "always",
            Self::Deny => "deny",
        }
    }

    /// Returns its number on every surface. What is not offered is left out, never renumbered: a
    /// digit means one thing.
    pub const fn number(self) -> usize {
        match self {
            Self::Once => 1,
            Self::Session => 2,
            Self::Always => 3,
            Self::Deny => 4,
        }
    }
}

/// The number of *show full command*, behind those of the choices.
pub const VIEW_NUMBER: usize = 5;

/// A choice made by a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The choice.
    pub choice: Choice,
    /// Who chose it.
    pub by: String,
    /// Where: `api`, `page`, `terminal`, or the name of a channel.
    pub via: String,
    /// The tier: how well asker and approver are separated.
    pub tier: Tier,
    /// The note.
    pub note: Option<String>,
    /// When.
    pub at: UnixMillis,
    /// The grant it leaves.
    pub grant_id: Option<GrantId>,
    /// The digest of the call as the person changed it.
    pub rebound: Option<Digest>,
}

/// A token that was handed to the asker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collected {
    /// Its id.
    pub jti: TokenId,
    /// When it was issued by the machine's clock, in Unix seconds, and for how many seconds. The
    /// token itself is not kept: its claims are the same each time, and so is what is signed. Tokens
    /// that an earlier version kept whole are not given again.
    #[serde(default)]
    pub issued: Option<(i64, i64)>,
    /// When it ends.
    pub until: UnixMillis,
}

/// Why nobody answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpiryCause {
    /// The time was over.
    Expiry,
    /// Nobody could be reached.
    Undeliverable,
}

impl From<ExpiryCause> for Cause {
    fn from(cause: ExpiryCause) -> Self {
        match cause {
            ExpiryCause::Expiry => Self::Expiry,
            ExpiryCause::Undeliverable => Self::Undeliverable,
        }
    }
}

/// The state of an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    /// Nobody has answered.
    Waiting,
    /// Allowed, but held back for a moment in which it can be taken back.
    Held {
        /// The answer that will hold.
        answer: Answer,
        /// When it takes effect.
        until: UnixMillis,
    },
    /// Allowed.
    Approved {
        /// By this answer.
        answer: Answer,
        /// When it took effect.
        since: UnixMillis,
        /// The token, once the asker has come for it.
        collected: Option<Collected>,
    },
    /// Allowed, and its token was used.
    Consumed {
        /// By this answer.
        answer: Answer,
        /// The token.
        jti: TokenId,
        /// When it was used.
        at: UnixMillis,
    },
    /// Denied.
    Denied {
        /// By this answer.
        answer: Answer,
    },
    /// Nobody answered in time, or nobody came for the answer.
    Expired {
        /// Why.
        cause: ExpiryCause,
        /// When.
        at: UnixMillis,
    },
    /// The asker took it back.
    Withdrawn {
        /// When.
        at: UnixMillis,
        /// The reason the asker gives.
        note: Option<String>,
    },
}

/// One question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// The call it is about, exactly.
    pub digest: Digest,
    /// When it was asked.
    pub asked_at: UnixMillis,
    /// When it expires.
    pub expires_at: UnixMillis,
    /// How much of its time people added, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub extended_millis: i64,
    /// The choices.
    pub choices: Vec<Choice>,
    /// The undo hold after an approval.
    pub undo_millis: i64,
    /// The state.
    pub state: State,
}

/// An event of an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// Time went by.
    TimePassed {
        /// Whether anybody could have seen the question: a card was delivered, or somebody looked
        /// by themselves.
        reached: bool,
    },
    /// No card could be delivered anywhere, and nobody looks by themselves.
    Unreachable,
    /// A person gave it more time.
    Extended {
        /// How long it may wait beyond its first deadline, in all.
        max_millis: i64,
    },
    /// A person answered.
    Answered(Answer),
    /// A person took an allowing answer back.
    TakenBack,
    /// The asker took the question back.
    Withdrawn {
        /// Why.
        note: Option<String>,
    },
    /// The asker came for the token.
    Collected(Collected),
    /// The token was used.
    Used {
        /// The token id.
        jti: TokenId,
    },
}

/// The follow-ups of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followup {
    /// Tell everyone that the question is settled, and let the waiting calls go.
    Resolve,
    /// Leave the grant the answer speaks of.
    LeaveGrant,
    /// Paint the cards again: what can be done with them has changed.
    Repaint,
}

/// Why something could not happen. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// Somebody was faster.
    #[error("already answered")]
    AlreadyAnswered,
    /// The time is over.
    #[error("expired")]
    Expired,
    /// The asker took it back.
    #[error("withdrawn")]
    Withdrawn,
    /// The choice was not offered.
    #[error("`{}` is not offered for this approval", .0.word())]
    NotOffered(Choice),
    /// It has had all the time that people may add, or none may be added.
    #[error("no more time can be added")]
    NoMoreTime,
    /// There is no held answer to take back.
    #[error("there is nothing to take back")]
    NothingHeld,
    /// It is not allowed, so there is no token.
    #[error("not approved")]
    NotApproved,
    /// The token has been handed out already.
    #[error("already collected")]
    AlreadyCollected,
    /// The token has been used already.
    #[error("already used")]
    AlreadyUsed,
    /// Another token than the one that was handed out.
    #[error("not the token of this approval")]
    OtherToken,
}

/// Returns the approval after `happened`, and what the gate must do about it.
pub fn step(
    approval: Approval,
    happened: Happened,
    now: UnixMillis,
) -> Result<(Approval, Vec<Followup>), StepError> {
    // Whatever time has settled is settled before anything else can happen.
    let cause = match happened {
        Happened::TimePassed { reached: false } => ExpiryCause::Undeliverable,
        Happened::TimePassed { reached: true }
        | Happened::Unreachable
        | Happened::Extended { .. }
        | Happened::Answered(_)
        | Happened::TakenBack
        | Happened::Withdrawn { .. }
        | Happened::Collected(_)
        | Happened::Used { .. } => ExpiryCause::Expiry,
    };
    let (approval, mut followups) = lapse(approval, cause, now);
    if let Happened::Extended { max_millis } = happened {
        return extended(approval, max_millis).map(|it| (it, vec![Followup::Repaint]));
    }
    let (state, more) = match (&approval.state, happened) {
        (State::Waiting, Happened::Unreachable) => (
            Some(State::Expired {
                cause: ExpiryCause::Undeliverable,
                at: now,
            }),
            vec![Followup::Resolve, Followup::Repaint],
        ),
        (_, Happened::TimePassed { .. } | Happened::Unreachable) => (None, vec![]),
        (State::Waiting, Happened::Answered(answer)) => answered(&approval, answer, now)?,
        (State::Waiting, Happened::Withdrawn { note }) => (
            Some(State::Withdrawn { at: now, note }),
            vec![Followup::Resolve, Followup::Repaint],
        ),
        (State::Held { .. }, Happened::TakenBack) => {
            (Some(State::Waiting), vec![Followup::Repaint])
        }
        (_, Happened::TakenBack) => return Err(StepError::NothingHeld),
        (
            State::Approved {
                answer,
                since,
                collected: None,
            },
            Happened::Collected(token),
        ) => (
            Some(State::Approved {
                answer: answer.clone(),
                since: *since,
                collected: Some(token),
            }),
            vec![],
        ),
        (
            State::Approved {
                collected: Some(_), ..
            },
            Happened::Collected(_),
        ) => return Err(StepError::AlreadyCollected),
        (
            State::Approved {
                answer,
                collected: Some(collected),
                ..
            },
            Happened::Used { jti },
        ) => (Some(used(answer, collected, jti, now)?), vec![]),
        (
            State::Approved {
                collected: None, ..
            },
            Happened::Used { .. },
        ) => return Err(StepError::OtherToken),
        (State::Consumed { .. }, Happened::Used { .. } | Happened::Collected(_)) => {
            return Err(StepError::AlreadyUsed);
        }
        (state, Happened::Used { .. } | Happened::Collected(_)) => {
            let settled = settled(state);
            return Err(if settled == StepError::AlreadyAnswered {
                StepError::NotApproved
            } else {
                settled
            });
        }
        (state, Happened::Extended { .. } | Happened::Answered(_) | Happened::Withdrawn { .. }) => {
            return Err(settled(state));
        }
    };
    followups.extend(more);
    let state = state.unwrap_or(approval.state);
    Ok((rebound(Approval { state, ..approval }), followups))
}

/// Lets time settle what it settles.
fn lapse(approval: Approval, cause: ExpiryCause, now: UnixMillis) -> (Approval, Vec<Followup>) {
    let expired = |cause| State::Expired { cause, at: now };
    let (state, followups) = match &approval.state {
        State::Waiting if approval.expires_at <= now => {
            (expired(cause), vec![Followup::Resolve, Followup::Repaint])
        }
        State::Held { answer, until } if *until <= now => (
            State::Approved {
                answer: answer.clone(),
                since: *until,
                collected: None,
            },
            allowed(answer.choice),
        ),
        State::Approved {
            since,
            collected: None,
            ..
        } if since.plus(COLLECT_MILLIS_MAX) <= now => {
            (expired(ExpiryCause::Expiry), vec![Followup::Resolve])
        }
        State::Waiting
        | State::Held { .. }
        | State::Approved { .. }
        | State::Consumed { .. }
        | State::Denied { .. }
        | State::Expired { .. }
        | State::Withdrawn { .. } => return (approval, vec![]),
    };
    (Approval { state, ..approval }, followups)
}

/// Gives a question that waits its own time once more, as far as `max_millis` allows. Nothing else
/// about it changes.
fn extended(approval: Approval, max_millis: i64) -> Result<Approval, StepError> {
    if approval.state != State::Waiting {
        return Err(settled(&approval.state));
    }
    let more = approval.extension(max_millis);
    let more = more.ok_or(StepError::NoMoreTime)?;
    Ok(Approval {
        expires_at: approval.expires_at.plus(more),
        extended_millis: approval.extended_millis + more,
        ..approval
    })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(millis: &i64) -> bool {
    *millis == 0
}

fn answered(
    approval: &Approval,
    answer: Answer,
    now: UnixMillis,
) -> Result<(Option<State>, Vec<Followup>), StepError> {
    if !approval.choices.contains(&answer.choice) {
        return Err(StepError::NotOffered(answer.choice));
    }
    Ok(match answer.choice {
        Choice::Deny => (
            Some(State::Denied { answer }),
            vec![Followup::Resolve, Followup::Repaint],
        ),
        Choice::Once | Choice::Session | Choice::Always if approval.undo_millis > 0 => (
            Some(State::Held {
                answer,
                until: now.plus(approval.undo_millis),
            }),
            vec![Followup::Repaint],
        ),
        choice @ (Choice::Once | Choice::Session | Choice::Always) => (
            Some(State::Approved {
                answer,
                since: now,
                collected: None,
            }),
            allowed(choice),
        ),
    })
}

fn allowed(choice: Choice) -> Vec<Followup> {
    match choice {
        Choice::Once | Choice::Deny => vec![Followup::Resolve, Followup::Repaint],
        Choice::Session | Choice::Always => {
            vec![Followup::LeaveGrant, Followup::Resolve, Followup::Repaint]
        }
    }
}

fn used(
    answer: &Answer,
    collected: &Collected,
    jti: TokenId,
    now: UnixMillis,
) -> Result<State, StepError> {
    if collected.jti != jti {
        return Err(StepError::OtherToken);
    }
    if collected.until <= now {
        return Err(StepError::Expired);
    }
    Ok(State::Consumed {
        answer: answer.clone(),
        jti,
        at: now,
    })
}

fn settled(state: &State) -> StepError {
    match state {
        State::Waiting
        | State::Held { .. }
        | State::Approved { .. }
        | State::Consumed { .. }
        | State::Denied { .. } => StepError::AlreadyAnswered,
        State::Expired { .. } => StepError::Expired,
        State::Withdrawn { .. } => StepError::Withdrawn,
    }
}

/// A call that was changed by the person who allowed it is bound as it was changed.
fn rebound(approval: Approval) -> Approval {
    let digest = match &approval.state {
        State::Approved { answer, .. } => answer.rebound,
        State::Waiting
        | State::Held { .. }
        | State::Consumed { .. }
        | State::Denied { .. }
        | State::Expired { .. }
        | State::Withdrawn { .. } => None,
    };
    Approval {
        digest: digest.unwrap_or(approval.digest),
        ..approval
    }
}

impl Approval {
    /// Returns the answer, once there is one.
    pub const fn answer(&self) -> Option<&Answer> {
        match &self.state {
            State::Held { answer, .. }
            | State::Approved { answer, .. }
            | State::Consumed { answer, .. }
            | State::Denied { answer } => Some(answer),
            State::Waiting | State::Expired { .. } | State::Withdrawn { .. } => None,
        }
    }

    /// Returns how it ended, or `None` while it waits. A held answer still waits: nothing has been
    /// released.
    pub const fn outcome(&self) -> Option<Outcome> {
        match self.state {
            State::Waiting | State::Held { .. } => None,
            State::Approved { .. } | State::Consumed { .. } => Some(Outcome::Approved),
            State::Denied { .. } => Some(Outcome::Denied),
            State::Expired { .. } => Some(Outcome::Expired),
            State::Withdrawn { .. } => Some(Outcome::Withdrawn),
        }
    }

    /// Returns where it stands.
    pub fn status(&self) -> Status {
        self.outcome().map_or(Status::Waiting, Status::from)
    }

    /// Returns how much time a person can add while it waits: as much as it had at first, up to
    /// `max_millis` beyond its first deadline in all. `None` if there is nothing to add.
    pub fn extension(&self, max_millis: i64) -> Option<i64> {
        let own = self.expires_at.since(self.asked_at) - self.extended_millis;
        let more = own.min(max_millis.saturating_sub(self.extended_millis));
        (self.state == State::Waiting && more > 0).then_some(more)
    }

    /// Returns when time will change it by itself.
    pub const fn due_at(&self) -> Option<UnixMillis> {
        match &self.state {
            State::Waiting => Some(self.expires_at),
            State::Held { until, .. } => Some(*until),
            State::Approved {
                since,
                collected: None,
                ..
            } => Some(since.plus(COLLECT_MILLIS_MAX)),
            State::Approved { .. }
            | State::Consumed { .. }
            | State::Denied { .. }
            | State::Expired { .. }
            | State::Withdrawn { .. } => None,
        }
    }
}
