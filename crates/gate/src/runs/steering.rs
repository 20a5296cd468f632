//! Messages that a person sends into a run that is under way.
//!
//! They are stored with the run and not at once in the conversation: between a request of the model
//! and its result nobody may speak. The agent reads them before it asks the model again.

use countersign_core::status::RunStatus;
use countersign_store::{Change, Expect};

use super::{Run, RunEnd, RunStep, Runs, ended, put};
use crate::GateError;
use crate::base::principal::Principal;
use crate::records::error::invalid;
use crate::records::retry::{busy, retry_on_conflict};
use crate::records::stored::read;

/// Messages of one run that may be unread.
const UNREAD_MAX: usize = 16;
/// Longest message, in bytes.
const MESSAGE_BYTES_MAX: usize = 16 * 1024;

impl Runs {
    /// Stores `text` for the agent, which reads it before it asks the model again. Only for the
    /// person who started the run: a conversation belongs to one person.
    pub async fn steer_run(&self, who: &Principal, id: &str, text: &str) -> Result<Run, GateError> {
        if !who.role.answers() {
            return Err(GateError::Forbidden("only approvers can talk to the agent"));
        }
        if text.trim().is_empty() {
            return Err(invalid("input", "empty_input", "`input` is empty"));
        }
        if text.len() > MESSAGE_BYTES_MAX {
            let message = "`input` is longer than 16 KiB";
            return Err(invalid("input", "too_long", message));
        }
        retry_on_conflict(|| async {
            let record = self.run_record(id).await?;
            let mut run: Run = read(&record)?;
            if run.starter != who.name {
                return Err(GateError::Forbidden(
                    "this conversation belongs to another person",
                ));
            }
            if run.status != RunStatus::Running {
                return Err(ended(&run));
            }
            if run.unread.len() >= UNREAD_MAX {
                return Err(GateError::TooMany {
                    message: "the agent has not read the last messages yet",
                    retry_after: 5,
                });
            }
            run.unread.push(text.to_owned());
            run.updated_at = self.base.clock.now();
            let change = Change {
                puts: vec![put(&run, Expect::Version(record.version), run.updated_at)],
                entries: Vec::new(),
            };
            self.base.store.commit(change).await?;
            Ok(run)
        })
        .await
        .map_err(busy("too many concurrent changes of this run"))
    }
}

/// Whether `run` goes on although `step` would complete it: somebody spoke meanwhile.
pub(super) fn goes_on(run: &Run, step: &RunStep) -> bool {
    run.status == RunStatus::Running
        && run.unread.len() > step.read
        && matches!(step.end, Some(RunEnd::Completed(_)))
}
