//! Events that the agent tells of its run, and the ledger entries of runs.
//!
//! Separate from [`crate::records::event`] because the agent knows neither the time nor the order in
//! which its steps are written: the gate adds the run and the time when it writes the entry.

use countersign_core::ledger::Draft;
use countersign_core::status::Ended;

use crate::records::event::{Event, MessageHeld, RunSteered, ToolNotRun, ToolStarted};
use crate::runs::{BUILTIN, Run};

/// Something that the agent tells of its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEvent {
    /// It begins with a tool.
    ToolStarted {
        /// The tool.
        tool: String,
        /// The model's id of the call.
        tool_call_id: String,
        /// The id that the call will have.
        call_id: String,
        /// On one line, shortened.
        preview: String,
    },
    /// A tool did not run. Of tools that ran the gate tells when they are reported.
    ToolNotRun {
        /// The tool.
        tool: String,
        /// The model's id of the call.
        tool_call_id: String,
        /// The id of the call.
        call_id: String,
        /// Why it did not run.
        outcome: Ended,
        /// The same as text.
        words: String,
    },
    /// Its reply waits for a person.
    MessageHeld {
        /// The notice shown meanwhile.
        notice: String,
        /// Whether another person was asked.
        reached: bool,
    },
    /// It read so many messages that were sent into the run.
    Steered(u32),
}

impl RunEvent {
    /// Returns the ledger entry that tells of it, about `run` as it is now.
    pub(super) fn entry(&self, run: &Run) -> Draft {
        let run_id = run.run_id.clone();
        let timestamp = run.updated_at.as_seconds();
        match self.clone() {
            Self::ToolStarted {
                tool,
                tool_call_id,
                call_id,
                preview,
            } => {
                let started = ToolStarted {
                    run_id,
                    tool,
                    tool_call_id,
                    call_id: Some(call_id),
                    preview,
                    timestamp,
                };
                entry(run, &Event::ToolStarted(started))
            }
            Self::ToolNotRun {
                tool,
                tool_call_id,
                call_id,
                outcome,
                words,
            } => {
                let not_run = ToolNotRun {
                    run_id,
                    tool,
                    tool_call_id,
                    call_id,
                    session_id: run.session.clone(),
                    duration: 0.0,
                    error: true,
                    outcome,
                    words,
                    timestamp,
                };
                of(run, not_run.draft(&run.run_id, run.updated_at))
            }
            Self::MessageHeld { notice, reached } => {
                let held = MessageHeld {
                    run_id,
                    notice,
                    draft: Some(run.messages),
                    reached: Some(reached),
                    timestamp,
                };
                entry(run, &Event::MessageHeld(held))
            }
            Self::Steered(messages) => {
                let steered = RunSteered {
                    run_id,
                    by: run.starter.clone(),
                    messages,
                    timestamp,
                };
                entry(run, &Event::RunSteered(steered))
            }
        }
    }
}

/// Returns the ledger entry of an event about `run`.
pub(super) fn entry(run: &Run, event: &Event) -> Draft {
    of(run, event.draft(&run.run_id, run.updated_at))
}

/// Says that an entry belongs to `run`.
fn of(run: &Run, draft: Draft) -> Draft {
    Draft {
        owner: BUILTIN.to_owned(),
        run: run.run_id.clone(),
        session: run.session.clone(),
        ..draft
    }
}
