//! What the agent can do. A tool runs only with a [`Permit`], and only the gate makes those.

use std::path::PathBuf;

use countersign_gate::Gate;
use countersign_gate::permit::Permit;
use countersign_gate::principal::Principal;
use serde_json::Value;
use tokio::sync::watch;

use crate::BoxFuture;
use crate::model::ToolSchema;

/// A tool.
pub trait Tool: Send + Sync + std::fmt::Debug {
    /// Returns how models are told of it.
    fn schema(&self) -> ToolSchema;

    /// Whether what it does leaves the machine and needs a person's yes by default.
    fn approval_required(&self) -> bool {
        false
    }

    /// Returns the files whose bytes leave with the call, so that the yes is bound to them.
    fn attachments(&self, _args: &Value) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Runs exactly the call of `permit`.
    fn run<'a>(&'a self, permit: Permit, around: &'a Around) -> BoxFuture<'a, Outcome>;
}

/// What a tool finds around it.
#[derive(Clone, Debug)]
pub struct Around {
    /// The gate.
    pub gate: Gate,
    /// As whom the agent asks.
    pub who: Principal,
    /// The directory the run works in.
    pub cwd: PathBuf,
    /// The session.
    pub session: String,
    /// The run.
    pub run: String,
    /// Becomes true when the run is stopped.
    pub stop: watch::Receiver<bool>,
}

/// What came of running a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// For the model.
    pub text: String,
    /// Whether it failed.
    pub failed: bool,
}

impl Outcome {
    /// Returns that it went well.
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            failed: false,
        }
    }

    /// Returns that it did not.
    pub fn failed(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            failed: true,
        }
    }
}
