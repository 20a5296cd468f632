//! `Order`: what a channel delivers, and where.

use countersign_core::card::Card;
use countersign_core::digest::Digest;
use countersign_core::status::Outcome;
use countersign_core::time::UnixMillis;

use crate::seal::Seal;

/// The fact on a card that says what more than one use would cover.
pub const COVERS: &str = "Session and always cover";

/// A question to put in front of people.
#[derive(Clone, Debug)]
pub struct Order {
    /// The subject.
    pub what: Subject,
    /// Names the delivery; the same when it is tried again, so that no card appears twice.
    pub key: String,
    /// Where.
    pub to: Destination,
    /// When the question was asked; what was delivered was delivered after it.
    pub since: UnixMillis,
    /// Whether it may have been delivered before.
    pub attempt: Attempt,
    /// Whether the one person who sees this card has opened the full text.
    pub is_opened: bool,
    /// How it ended; `None` while it waits.
    pub closing: Option<Closing>,
    /// Whether a person in crisis may be concerned.
    pub is_crisis: bool,
    /// What the answer left besides.
    pub aftermath: Aftermath,
    /// The accounts of those who may answer, to be mentioned where others see the card, too.
    pub callees: Vec<String>,
    /// What buttons are sealed with.
    pub seal: Seal,
}

/// What an answer left besides yes or no.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aftermath {
    /// The note for the agent, safe to show.
    pub note: Option<String>,
    /// What the grant covers, in words that are safe to show.
    pub covers: Option<String>,
    /// Whether that grant still holds and can be revoked.
    pub is_revocable: bool,
    /// Who revoked it.
    pub revoked_by: Option<String>,
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// It was allowed.
    Approved,
    /// A question of the agent was answered. That allows nothing.
    Answered,
    /// It was denied.
    Denied,
    /// Nobody answered.
    Expired,
    /// The agent took it back.
    Withdrawn,
}

impl From<Outcome> for Closing {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Allowed | Outcome::Approved => Self::Approved,
            Outcome::Denied | Outcome::Refused => Self::Denied,
            Outcome::Expired => Self::Expired,
            Outcome::Withdrawn => Self::Withdrawn,
        }
    }
}

/// What is delivered to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Whether something may run.
    Card(Box<Card>),
    /// Something the agent wants to know. An answer allows nothing.
    Question(Box<Inquiry>),
}

/// Something the agent wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inquiry {
    /// Its id.
    pub id: String,
    /// The question, safe to show.
    pub question: String,
    /// Up to nine answers to choose from, safe to show.
    pub choices: Vec<String>,
    /// When it expires.
    pub expires_at: UnixMillis,
    /// How it ended, in words. `None` while it waits.
    pub outcome: Option<String>,
}

/// Where a card goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Where the configuration says.
    Usual,
    /// Into a conversation, in the channel's own words.
    Thread(String),
    /// To one account alone.
    Person(String),
}

/// Whether a delivery may have happened before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// It certainly has not.
    First,
    /// It may have, and must be looked for.
    Again,
}

/// Where a card was put, in the channel's own words; given back to paint it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The channel's name.
    pub channel: String,
    /// What the channel needs to find the card again.
    pub reference: String,
    /// How much of it is shown there.
    pub shown: Shown,
}

/// How much of a card is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// All of it.
    Whole,
    /// Beginning and end; the rest has to be opened.
    Cut,
}

impl Destination {
    /// Returns a word that tells this destination from others.
    pub fn word(&self) -> String {
        match self {
            Self::Usual => String::new(),
            Self::Thread(thread) => format!("thread:{thread}"),
            Self::Person(account) => format!("person:{account}"),
        }
    }

    /// Reads such a word.
    pub fn of(word: &str) -> Self {
        match word.split_once(':') {
            Some(("thread", thread)) => Self::Thread(thread.to_owned()),
            Some(("person", account)) => Self::Person(account.to_owned()),
            Some(_) | None => Self::Usual,
        }
    }
}

impl Subject {
    /// Returns the question's id.
    pub fn id(&self) -> &str {
        match self {
            Self::Card(card) => &card.approval_id,
            Self::Question(inquiry) => &inquiry.id,
        }
    }

    /// Returns what its buttons are bound to.
    pub fn digest(&self) -> Digest {
        match self {
            Self::Card(card) => Digest::parse(&card.digest).unwrap_or(Digest([0; 32])),
            Self::Question(inquiry) => inquiry.digest(),
        }
    }

    /// Returns how it ended.
    pub fn outcome(&self) -> Option<&str> {
        match self {
            Self::Card(card) => card.outcome.as_deref(),
            Self::Question(inquiry) => inquiry.outcome.as_deref(),
        }
    }
}

impl Inquiry {
    /// Returns what its buttons are bound to: the question and what can be answered.
    pub fn digest(&self) -> Digest {
        let mut text = self.question.clone();
        for choice in &self.choices {
            text.push('\n');
            text.push_str(choice);
        }
        Digest::of(text.as_bytes())
    }
}
