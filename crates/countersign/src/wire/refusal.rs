//! A refusal as it goes out: a sentence, a stable code, and how an approval stands that was decided.
//!
//! The server writes it, and clients read the same type.

use countersign_gate::records::view::DecisionView;
use serde::{Deserialize, Serialize};

/// The body of a refusal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) error: RefusalError,
    /// How the approval was decided, where that is why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<DecisionView>,
}

/// What is wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RefusalError {
    /// A sentence.
    pub(crate) message: String,
    /// A stable word for the kind of refusal.
    #[serde(default, rename = "type")]
    pub(crate) kind: String,
    /// The field that is wrong, or the kind of what was not found.
    pub(crate) param: Option<String>,
    /// A stable word for programs.
    #[serde(default)]
    pub(crate) code: String,
}
