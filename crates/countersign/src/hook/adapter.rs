//! The agents, and what each of them tells its hook and expects from it.
//!
//! One row of [`ADAPTERS`] and one file for each agent. The rows are data and pure functions: text
//! in, text out. The guide `docs/agents.md` says what each agent does when its hook fails.

mod claude_code;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod fields;
mod gemini;
mod opencode;
#[cfg(test)]
mod recorded;

use std::time::Duration;

use serde_json::{Map, Value};

/// An agent with a hook.
#[derive(Debug)]
pub(crate) struct Adapter {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// How long it waits for its hook. `init` writes the same into its settings.
    pub(crate) patience: Duration,
    /// Reads the input of its hook. What is not understood is an error, and so a deny.
    pub(crate) read: fn(Map<String, Value>) -> Result<Event, String>,
    allow: fn(&Wish) -> Output,
    /// Allows with other arguments; `None` if the agent cannot take them.
    change: fn(&Wish, Value) -> Option<Output>,
    /// Denies the call, or an input that could not be read as one.
    deny: fn(Option<&Wish>, &str) -> Output,
    /// Answers an event that is no call.
    go_on: fn() -> Output,
    /// Leaves the call undecided until the agent asks again; `None` if it would run meanwhile.
    later: fn(&Wish) -> Option<Output>,
}

/// What an agent tells its hook.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    /// It wants to make a call.
    Call(Wish),
    /// A person wrote to it.
    Said {
        /// In which session.
        session: String,
        /// What.
        text: String,
    },
    /// A call has run.
    Ran(Ran),
    /// Nothing there is to decide about.
    Other,
}

/// A call that has run, as an agent tells its hook of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ran {
    /// The call.
    pub(crate) wish: Wish,
    /// Whether it failed, as far as the agent says so.
    pub(crate) failed: bool,
    /// How long it took.
    pub(crate) duration_millis: Option<u64>,
    /// The exit code of a command.
    pub(crate) exit_code: Option<i64>,
}

/// A call as an agent tells its hook of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Wish {
    /// The tool; a tool of an MCP server is `mcp__SERVER__TOOL`, where the agent says so.
    pub(crate) tool: String,
    /// Its arguments, an object.
    pub(crate) args: Value,
    /// The agent's name of this very call, if it has one.
    pub(crate) id: Option<String>,
    /// The session.
    pub(crate) session: String,
    /// The directory the agent works in at this moment.
    pub(crate) cwd: Option<String>,
    /// The project the agent was started in, where it differs.
    pub(crate) workspace: Option<String>,
    /// The part of the agent that asks, where it says so.
    pub(crate) part: Option<String>,
}

/// What the agent is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// The call may run as it is.
    Allow,
    /// The call may run with these arguments, which a person changed.
    Change(Value),
    /// The call must not run, for this reason.
    Deny(String),
    /// Nobody has answered yet. The agent may put the call aside, or else it must not run.
    Later(String),
    /// The event was noted.
    GoOn,
}

/// The bytes and the exit code of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Output {
    /// What goes to standard output.
    pub(crate) stdout: String,
    /// What goes to standard error.
    pub(crate) stderr: String,
    /// The exit code.
    pub(crate) code: u8,
}

/// Every agent, in the order in which people are shown them.
pub(crate) const ADAPTERS: &[Adapter] = &[
    claude_code::ADAPTER,
    codex::ADAPTER,
    gemini::ADAPTER,
    opencode::ADAPTER,
    copilot::ADAPTER,
    cline::ADAPTER,
    cursor::ADAPTER,
];

/// Returns the agent of this name.
pub(crate) fn named(name: &str) -> Option<&'static Adapter> {
    ADAPTERS.iter().find(|adapter| adapter.name == name)
}

impl Adapter {
    /// Whether the agent can run `wish` with arguments that a person changed.
    pub(crate) fn takes_changes(&self, wish: &Wish) -> bool {
        (self.change)(wish, wish.args.clone()).is_some()
    }

    /// Returns `answer` about `wish` as the agent understands it. An answer to a call needs the call;
    /// without it the answer is a deny.
    pub(crate) fn output(&self, answer: &Answer, wish: Option<&Wish>) -> Output {
        match (answer, wish) {
            (Answer::Allow, Some(wish)) => (self.allow)(wish),
            (Answer::Change(args), Some(wish)) => {
                (self.change)(wish, args.clone()).unwrap_or_else(|| {
                    let reason = "A person allowed this with other arguments, and this agent cannot \
                                  take them. Ask the person what to run instead.";
                    (self.deny)(Some(wish), reason)
                })
            }
            (Answer::Later(reason), Some(wish)) => {
                (self.later)(wish).unwrap_or_else(|| (self.deny)(Some(wish), &in_one_line(reason)))
            }
            (Answer::Deny(reason) | Answer::Later(reason), _) => (self.deny)(wish, &in_one_line(reason)),
            (Answer::GoOn, _) => (self.go_on)(),
            (Answer::Allow | Answer::Change(_), None) => (self.deny)(None, &in_one_line("")),
        }
    }
}

/// Returns `reason` as one line that is never empty: some agents run the tool when a deny comes
/// without a reason, and read no further than the first line.
fn in_one_line(reason: &str) -> String {
    let line = countersign_core::display::inline(reason.trim());
    if line.is_empty() {
        "Countersign did not let this run.".to_owned()
    } else {
        line
    }
}

/// Returns an answer on standard output alone.
fn json(value: &Value) -> Output {
    Output {
        stdout: format!("{value}\n"),
        ..Output::default()
    }
}

/// Returns a deny that says the same three ways: as JSON, on standard error and by the exit code.
fn json_and_exit_two(value: &Value, reason: &str) -> Output {
    Output {
        stdout: format!("{value}\n"),
        stderr: format!("{reason}\n"),
        code: 2,
    }
}
