//! Why an interaction in a chat was rejected, and what the person is told.

use countersign_channels::order::Closing;
use countersign_channels::press::Untrusted;

use crate::GateError;

/// Why an interaction in a chat was rejected. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It does not come from the chat.
    Untrusted(Untrusted),
    /// It is not our button, or not as we made it.
    Forged,
    /// The dialog was open too long.
    DialogOver,
    /// There is no such question.
    Unknown,
    /// Somebody was faster; this is how it ended.
    Answered(String),
    /// The time is over.
    Expired,
    /// The agent took it back.
    Withdrawn,
    /// It is not the card that was delivered.
    OtherCard,
    /// A program's account.
    Bot,
    /// An account that was closed.
    AccountClosed,
    /// An account of another organisation.
    Foreign,
    /// The chat could not say whose account it is.
    Unverified,
    /// An account of nobody who may answer.
    Stranger,
    /// Another person must answer this question.
    NotYours(&'static str),
    /// It was not offered.
    NotOffered,
    /// The full text was not opened.
    NotSeen,
    /// It could not be done now.
    Failed(String),
}

impl Refusal {
    /// Returns a stable word for the ledger.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Untrusted(why) => why.word(),
            Self::Forged => "forged",
            Self::DialogOver => "dialog_over",
            Self::Unknown => "unknown",
            Self::Answered(_) => "already_answered",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
            Self::OtherCard => "other_card",
            Self::Bot => "bot",
            Self::AccountClosed => "account_closed",
            Self::Foreign => "foreign",
            Self::Unverified => "unverified",
            Self::Stranger => "stranger",
            Self::NotYours(_) => "not_yours",
            Self::NotOffered => "not_offered",
            Self::NotSeen => "not_seen",
            Self::Failed(_) => "failed",
        }
    }

    /// Returns the reply to the person.
    pub fn words(&self) -> String {
        let words = match self {
            Self::Untrusted(Untrusted::Stale) => {
                "This click arrived too late. Press again; if it happens again, compare the clocks of both servers."
            }
            Self::Untrusted(
                Untrusted::Malformed
                | Untrusted::Unsigned
                | Untrusted::WrongSignature
                | Untrusted::OtherPerson
                | Untrusted::Replayed
                | Untrusted::WrongToken,
            ) => "Nothing was changed: the chat server did not sign this click.",
            Self::Forged => "Nothing was changed: this button was not made by this firewall.",
            Self::DialogOver => "Nothing was changed: the dialog expired. Press the button again.",
            Self::Unknown => "Nothing was changed: this question does not exist.",
            Self::Answered(how) => return format!("Already answered: {how}."),
            Self::Expired => "Too late: nobody answered in time, so it did not run.",
            Self::Withdrawn => "The agent withdrew this call. There is nothing to answer.",
            Self::OtherCard => {
                "Nothing was changed: this is not the card that was delivered. If it is new, press again in a moment."
            }
            Self::Bot => "Nothing was changed: bot accounts cannot answer.",
            Self::AccountClosed => "Nothing was changed: this account is deactivated.",
            Self::Foreign => "Nothing was changed: accounts of another organisation cannot answer.",
            Self::Untrusted(Untrusted::NoKey) | Self::Unverified => {
                "Nothing was changed: the chat server could not confirm who you are. Press again in a moment."
            }
            Self::Stranger => {
                "Nothing was changed: your account may not answer. An admin can add it to `people`."
            }
            Self::NotYours(why) => return format!("Nothing was changed: {why}."),
            Self::NotOffered => "Nothing was changed: this choice is not offered here.",
            Self::NotSeen => {
                "Nothing was changed: the card shows only parts of the call. Open the full text first."
            }
            Self::Failed(why) => {
                return format!("Nothing was changed: {why}. Try again in a moment.");
            }
        };
        words.to_owned()
    }
}

/// Returns why a question that ended cannot be answered; `how` it ended is for people.
pub(super) fn closed(closing: Closing, how: Option<&str>) -> Refusal {
    match closing {
        Closing::Withdrawn => Refusal::Withdrawn,
        Closing::Expired => Refusal::Expired,
        Closing::Approved | Closing::Answered | Closing::Denied => {
            Refusal::Answered(how.unwrap_or_default().to_owned())
        }
    }
}

pub(super) fn refused(error: GateError) -> Refusal {
    match error {
        GateError::AlreadyResolved(view) | GateError::Gone(view) => {
            match &view.decision {
                Some(decision) => closed(decision.outcome.into(), view.card.outcome.as_deref()),
                // It is held back for a moment.
                None => Refusal::Answered("it takes effect in a moment".to_owned()),
            }
        }
        GateError::AlreadySettled { how, .. } => Refusal::Answered(how),
        GateError::NotOffered(_) => Refusal::NotOffered,
        GateError::Forbidden(why) => Refusal::NotYours(why),
        GateError::NotFound { .. } => Refusal::Unknown,
        other @ (GateError::Invalid { .. }
        | GateError::Ambiguous(_)
        | GateError::TooMany { .. }
        | GateError::TokenUsed
        | GateError::TokenExpired
        | GateError::TokenInvalid
        | GateError::Policy(_)
        | GateError::Store(_)) => failed(&other),
    }
}

pub(super) fn failed(error: &GateError) -> Refusal {
    tracing::warn!(%error, "a click could not be taken");
    Refusal::Failed("storage is away".to_owned())
}
