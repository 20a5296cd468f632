//! Statuses, outcomes and causes, with the words that the wire and the store use for them.
//!
//! Separate because every crate needs these words: here is the only place that spells them, so a
//! typo cannot become a state, and a new state breaks every `match` that has to handle it.

use serde::{Deserialize, Serialize};

/// A word that stands for no state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a known state")]
pub struct UnknownWord(pub String);

/// Declares enums whose variants are words on the wire and in the store.
macro_rules! words {
    ($($(#[doc = $doc:literal])* $name:ident {
        $($(#[doc = $said:literal])* $variant:ident = $word:literal,)*
    })*) => {$(
        $(#[doc = $doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub enum $name {
            $($(#[doc = $said])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// All of them, in the order they are declared.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the word used on the wire and in the store.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl std::str::FromStr for $name {
            type Err = UnknownWord;

            fn from_str(word: &str) -> Result<Self, UnknownWord> {
                let known = Self::ALL.iter().find(|it| it.word() == word);
                known.copied().ok_or_else(|| UnknownWord(word.to_owned()))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    )*};
}

words! {
    /// Where a call or an approval stands.
    Status {
        /// Nobody has answered.
        Waiting = "waiting",
        /// A rule or a grant let it run.
        Allowed = "allowed",
        /// A person, or a model in a person's place, said yes.
        Approved = "approved",
        /// A person said no.
        Denied = "denied",
        /// It does not run, and nobody was asked.
        Refused = "refused",
        /// Nobody answered in time, or nobody could be asked.
        Expired = "expired",
        /// The asker took it back.
        Withdrawn = "withdrawn",
    }
    /// How a call or an approval ended. Every outcome is also a [`Status`].
    Outcome {
        /// A rule or a grant let it run.
        Allowed = "allowed",
        /// A person, or a model in a person's place, said yes.
        Approved = "approved",
        /// A person said no.
        Denied = "denied",
        /// It does not run, and nobody was asked.
        Refused = "refused",
        /// Nobody answered in time, or nobody could be asked.
        Expired = "expired",
        /// The asker took it back.
        Withdrawn = "withdrawn",
    }
    /// What brought an [`Outcome`] about.
    Cause {
        /// A rule of the firewall or of the policy.
        Rule = "rule",
        /// A standing permission.
        Grant = "grant",
        /// A person's answer.
        Person = "person",
        /// A model answered in a person's place.
        Model = "model",
        /// The time was over.
        Expiry = "expiry",
        /// No card could be delivered.
        Undeliverable = "undeliverable",
        /// The asker took the call back.
        Withdrawal = "withdrawal",
        /// A person denied the same a moment ago.
        DenyMemory = "deny_memory",
        /// The asker asked more than people can answer.
        Flood = "flood",
        /// Nobody is there who could answer.
        NoApprover = "no_approver",
    }
    /// How bad a call is, in one word.
    Risk {
        /// Below the first threshold.
        Low = "low",
        /// Between the thresholds.
        Medium = "medium",
        /// Above the second threshold.
        High = "high",
        /// Critical by what it does, or about a person in crisis.
        Critical = "critical",
    }
    /// How a tool call of the built-in agent ended: [`crate::ending::Ending`] without its details.
    Ended {
        /// It ran and went well.
        Done = "done",
        /// It ran and failed.
        Failed = "failed",
        /// A person said no.
        Denied = "denied",
        /// Nobody was asked, and it did not run.
        Refused = "refused",
        /// Nobody answered.
        Expired = "expired",
        /// The asker took it back.
        Withdrawn = "withdrawn",
        /// It was begun, and its outcome is not known.
        Unknown = "unknown",
        /// It never became a call.
        NotRun = "not_run",
    }
    /// Where a question of an agent to a person stands.
    ClarificationStatus {
        /// Nobody has answered.
        Waiting = "waiting",
        /// A person answered.
        Answered = "answered",
        /// Nobody answered in time.
        Expired = "expired",
    }
    /// Where the review of a call that ran stands.
    ReviewStatus {
        /// Nobody has looked.
        Waiting = "waiting",
        /// The files are being put back.
        Undoing = "undoing",
        /// It stays as it is.
        Kept = "kept",
        /// It was undone.
        Undone = "undone",
    }
    /// Where a run of the built-in agent stands.
    RunStatus {
        /// It is under way; it may be waiting for a person.
        Running = "running",
        /// Somebody wants it to end.
        Stopping = "stopping",
        /// It came to its end.
        Completed = "completed",
        /// It could not go on.
        Failed = "failed",
        /// Somebody stopped it.
        Cancelled = "cancelled",
    }
    /// Where a run stands as clients see it: its [`RunStatus`], or what it does while it is running.
    RunPhase {
        /// It was just started.
        Started = "started",
        /// It is under way.
        Running = "running",
        /// A person is asked about a call of it.
        WaitingForApproval = "waiting_for_approval",
        /// Somebody wants it to end.
        Stopping = "stopping",
        /// It came to its end.
        Completed = "completed",
        /// It could not go on.
        Failed = "failed",
        /// Somebody stopped it.
        Cancelled = "cancelled",
    }
    /// Where the delivery of a card to a channel stands.
    DeliveryStatus {
        /// A gateway is delivering it.
        Trying = "trying",
        /// The card is in the channel.
        Delivered = "delivered",
        /// The card shows how it ended.
        Settled = "settled",
        /// The channel did not take it.
        Failed = "failed",
    }
    /// Where the record of a grant, a key, a person, a login or a session stands.
    RecordStatus {
        /// It is in force.
        Live = "live",
        /// A person took it back.
        Revoked = "revoked",
        /// The person is no longer known.
        Removed = "removed",
        /// The code to sign in was used.
        Used = "used",
        /// The uses of the grant are used up, or the browser was signed out.
        Ended = "ended",
        /// The session has an override, live or over.
        Overridden = "overridden",
    }
    /// Where the record of a recipient with a crisis mark stands.
    CrisisStatus {
        /// The recipient has the mark.
        Marked = "crisis",
        /// A person cleared the mark.
        Cleared = "cleared",
    }
}

impl Status {
    /// Whether the call may run.
    pub const fn runs(self) -> bool {
        matches!(self, Self::Allowed | Self::Approved)
    }
}

impl From<Outcome> for Status {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Allowed => Self::Allowed,
            Outcome::Approved => Self::Approved,
            Outcome::Denied => Self::Denied,
            Outcome::Refused => Self::Refused,
            Outcome::Expired => Self::Expired,
            Outcome::Withdrawn => Self::Withdrawn,
        }
    }
}

impl From<RunStatus> for RunPhase {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Running => Self::Running,
            RunStatus::Stopping => Self::Stopping,
            RunStatus::Completed => Self::Completed,
            RunStatus::Failed => Self::Failed,
            RunStatus::Cancelled => Self::Cancelled,
        }
    }
}

impl RunStatus {
    /// Whether nothing more happens.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Running | Self::Stopping => false,
            Self::Completed | Self::Failed | Self::Cancelled => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_back_as_the_state_it_was_written_for() {
        for status in Status::ALL {
            let json = serde_json::to_string(status).unwrap();
            assert_eq!(json, format!("\"{status}\""));
            assert_eq!(serde_json::from_str::<Status>(&json).unwrap(), *status);
            assert_eq!(status.word().parse(), Ok(*status));
        }
        assert!("Waiting".parse::<Status>().is_err());
        for outcome in Outcome::ALL {
            assert_eq!(Status::from(*outcome).word(), outcome.word());
        }
    }
}
