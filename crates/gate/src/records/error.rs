//! `GateError`: why a request failed. Nothing was changed.

use countersign_core::approval::Choice;
use countersign_store::StoreError;

use crate::records::view::ApprovalView;

/// Why a request to the gate failed.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// There is no such thing, or the asker may not know of it.
    #[error("there is no {kind} `{id}`")]
    NotFound {
        /// The kind of the missing object.
        kind: &'static str,
        /// By which id.
        id: String,
    },
    /// The credential is not for this.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The value is invalid.
    #[error("{message}")]
    Invalid {
        /// Which field.
        param: &'static str,
        /// A stable word for programs.
        code: &'static str,
        /// A sentence.
        message: String,
    },
    /// Somebody was faster; this is how it stands.
    #[error("already resolved")]
    AlreadyResolved(Box<ApprovalView>),
    /// It expired or was withdrawn; this is how it stands.
    #[error("no longer open")]
    Gone(Box<ApprovalView>),
    /// Somebody was faster, or time was; nothing more can be said about it.
    #[error("the {kind} is already settled: {how}")]
    AlreadySettled {
        /// What it is.
        kind: &'static str,
        /// How it was settled.
        how: String,
    },
    /// The choice was not offered.
    #[error("`{}` is not offered for this approval", .0.word())]
    NotOffered(Choice),
    /// Several answers are possible and none was named.
    #[error("several approvals are waiting; name one")]
    Ambiguous(Vec<String>),
    /// Too much is waiting already.
    #[error("{message}")]
    TooMany {
        /// A sentence.
        message: &'static str,
        /// When to try again, in seconds.
        retry_after: u32,
    },
    /// The token was used before.
    #[error("the token was already used")]
    TokenUsed,
    /// The token's time is over.
    #[error("the token has expired")]
    TokenExpired,
    /// The token proves nothing.
    #[error("the token is not valid")]
    TokenInvalid,
    /// A policy file cannot be read, so nothing is judged.
    #[error("the policy cannot be read: {0}")]
    Policy(String),
    /// The store failed; nothing was written.
    #[error("nothing was decided, because {0}")]
    Store(#[from] StoreError),
}

/// Returns the error for a parameter that is not acceptable.
pub(crate) fn invalid(param: &'static str, code: &'static str, message: &str) -> GateError {
    GateError::Invalid {
        param,
        code,
        message: message.to_owned(),
    }
}
