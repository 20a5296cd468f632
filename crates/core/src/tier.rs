//! `Tier`: how well asker and approver are separated. Printed on cards, tokens and records.
//!
//! An agent with a shell on the same account can attack the firewall; saying so is more use than
//! pretending otherwise.

use serde::{Deserialize, Serialize};

/// From advisory to proven.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Tier {
    /// Same account: advisory.
    #[default]
    T0,
    /// Same account, hardened: a credential of its own, a process that cannot be read.
    T1,
    /// The firewall runs under its own user; the asker comes through the agent socket.
    T2,
    /// Answered on another device through a verified channel.
    T3,
    /// A passkey over the digest of the call.
    T4,
}

impl Tier {
    /// Returns the word used on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::T0 => "T0",
            Self::T1 => "T1",
            Self::T2 => "T2",
            Self::T3 => "T3",
            Self::T4 => "T4",
        }
    }

    /// Returns what it means, in words.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::T0 => "advisory: the agent runs under the same account and could answer itself",
            Self::T1 => "hardened: the same account, but not without a deliberate attack",
            Self::T2 => "separated: the firewall runs under its own account",
            Self::T3 => "out of band: answered on another device through a verified channel",
            Self::T4 => "proven: a passkey signed exactly this call",
        }
    }
}
