//! The tools. A tool runs only with a [`Permit`], which only the gate creates.
//!
//! A tool reads exactly the arguments the judge reads: one it does not know, or one of another type,
//! is an error, so nothing runs that nobody judged. [`Tool::resolved`] writes them out in full before
//! they are judged (who `ana` is, what an address really says); a tool then runs what it was
//! permitted and fills in nothing.

mod ask;
pub(crate) mod compare;
mod file;
mod http;
mod mail;
mod message;
mod note;
pub(crate) mod on_disk;
mod place;
mod process;
mod search;
mod terminal;

use std::path::{Path, PathBuf};

use countersign_core::digest::Digest;
use countersign_gate::calls::permit::Permit;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::BoxFuture;
use crate::model::ToolSchema;
use crate::outbound::Approval;

pub use crate::around::Around;
pub use ask::Clarify;
pub(crate) use file::unmake;
pub use file::{Patch, ReadFile, WriteFile};
pub use http::HttpRequest;
pub use mail::SendEmail;
pub use message::SendMessage;
pub use note::Todo;
pub(crate) use place::{Spot, Staged, host};
pub use process::{Processes, Processing};
pub use search::SearchFiles;
pub use terminal::Terminal;

/// Most bytes of text a tool gives back.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Largest attachment, in bytes.
pub const ATTACHMENT_BYTES_MAX: usize = 10 * 1024 * 1024;

/// A tool.
pub trait Tool: Send + Sync + std::fmt::Debug {
    /// Returns how models are told of it.
    fn schema(&self) -> ToolSchema;

    /// Returns what it does, in a sentence for people. Models are told more.
    fn does(&self) -> String {
        let description = self.schema().description;
        let end = description
            .find(". ")
            .map_or(description.len(), |at| at + 1);
        description.get(..end).unwrap_or_default().to_owned()
    }

    /// Returns when a person is asked before it runs.
    fn asks(&self) -> Asks {
        Asks::IfRisky
    }

    /// Whether what it does leaves the machine and needs a person's yes by default.
    fn approval_required(&self) -> bool {
        false
    }

    /// Returns `args` as they are judged, shown and run: written out in full, without what is
    /// null; or what is wrong with them. Resolving twice changes nothing.
    fn resolved(&self, args: Value) -> Result<Value, String> {
        Ok(args)
    }

    /// Returns the files whose bytes leave with the call, so that the yes is bound to them.
    fn attachments(&self, _args: &Value) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Goes on with the call `call`, which was begun before a crash, where nothing is done twice by
    /// that; `None` if nobody can tell what came of it.
    fn taken_up<'a>(
        &'a self,
        _call: &'a str,
        _around: &'a Around,
    ) -> BoxFuture<'a, Option<Outcome>> {
        Box::pin(async { None })
    }

    /// Runs exactly the call of `permit`.
    fn run<'a>(&'a self, permit: Permit, around: &'a Around) -> BoxFuture<'a, Outcome>;
}

/// When a person is asked before a tool runs. The verdict decides; this only says what to expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Never: it changes nothing outside the conversation.
    Never,
    /// If the call is risky.
    IfRisky,
    /// If the call does more than read.
    UnlessReading,
    /// Always, unless the owner configured otherwise.
    First,
}

impl Asks {
    /// Returns what a tool that needs `approval` to send is expected to do.
    const fn before_sending(approval: Approval) -> Self {
        match approval {
            Approval::Required => Self::First,
            Approval::Waived => Self::IfRisky,
        }
    }

    /// Returns it in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Never => "does not ask",
            Self::IfRisky => "asks if the call is risky",
            Self::UnlessReading => "asks first, unless it only reads",
            Self::First => "asks first",
        }
    }
}

/// The result of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// For the model.
    pub text: String,
    /// Whether it failed.
    pub failed: bool,
    /// The exit code, if it ran a process.
    pub exit_code: Option<i32>,
}

impl Outcome {
    /// Returns that it went well.
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Returns that it did not.
    pub fn failed(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            failed: true,
            exit_code: None,
        }
    }
}

impl From<Result<String, String>> for Outcome {
    fn from(result: Result<String, String>) -> Self {
        match result {
            Ok(text) => Self::done(text),
            Err(why) => Self::failed(why),
        }
    }
}

/// Returns the hashes of what leaves with a call of `tool`, in order, for its submission.
pub async fn attached(tool: &dyn Tool, args: &Value, cwd: &Path) -> Result<Vec<Digest>, String> {
    let mut digests = Vec::new();
    for path in tool.attachments(args) {
        let cwd = cwd.to_owned();
        let bytes = blocking(move || place::bytes(&cwd, &path.to_string_lossy())).await?;
        digests.push(Digest::of(&bytes));
    }
    Ok(digests)
}

/// Returns `args` as a tool understands them; or what is wrong with them.
fn understood<T: DeserializeOwned>(args: &Value) -> Result<T, String> {
    if !args.is_object() {
        return Err("the arguments must be an object".to_owned());
    }
    T::deserialize(args).map_err(|error| format!("the arguments are wrong: {error}"))
}

/// Returns `args` without what is null, if a tool understands them as `T`.
fn checked<T: DeserializeOwned + Serialize>(args: &Value) -> Result<Value, String> {
    let understood: T = understood(args)?;
    serde_json::to_value(understood).map_err(|error| error.to_string())
}

/// Runs what may wait for a disk where nobody else waits for it.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(format!("it failed: {error}")))
}

/// Returns as much of `text` as a tool gives back, with a note on what was left out.
fn bounded(text: &str) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    let left = text.len() - end;
    let head = text.get(..end).unwrap_or_default();
    format!("{head}\n… {left} more bytes were left out")
}
