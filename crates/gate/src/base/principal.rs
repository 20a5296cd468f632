//! `Principal`: who makes a request. One role per credential.

use countersign_core::id::KeyId;
use countersign_core::tier::Tier;
use serde::{Deserialize, Serialize};

/// How the id of whoever asks for practice begins. No key has such an id, so nobody can collect what an
/// answer allows, and nothing of it counts in statistics.
pub const PRACTICE: &str = "practice-";

/// What a credential is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A program that asks; answers nothing.
    Agent,
    /// A person who answers.
    Approver,
    /// An approver who may also change policy, people and keys.
    Admin,
    /// Reads.
    Viewer,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Agent, Self::Approver, Self::Admin, Self::Viewer];

    /// Returns the word used on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Approver => "approver",
            Self::Admin => "admin",
            Self::Viewer => "viewer",
        }
    }

    /// Whether it may submit calls, wait, withdraw, report and consume.
    pub const fn asks(self) -> bool {
        matches!(self, Self::Agent)
    }

    /// Whether it may answer, grant and review.
    pub const fn answers(self) -> bool {
        matches!(self, Self::Approver | Self::Admin)
    }

    /// Whether it may change policy, people and keys.
    pub const fn administers(self) -> bool {
        matches!(self, Self::Admin)
    }

    /// Whether it sees everything, not only its own.
    pub const fn sees_all(self) -> bool {
        !matches!(self, Self::Agent)
    }
}

/// A credential in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The key. Browsers act with the key they were signed in by.
    pub key: KeyId,
    /// Its name; for approvers and admins the name of a person.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Where it came in: `api`, `page`, `socket`, the name of a channel, or `terminal` and `cli`, which are
    /// the client's own word. It is shown and decides nothing.
    pub via: String,
    /// The strongest separation between asker and answerer this way in can prove.
    pub tier: Tier,
}
