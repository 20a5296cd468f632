//! Options of the commands that agents and editors run: `hook` and `acp`.

use std::ffi::OsString;

use clap::Args;

use super::parsing;
use crate::hook::adapter::Adapter;

/// Answer an agent about its next tool call.
#[derive(Debug, Args)]
pub(crate) struct Hook {
    /// The agent
    #[arg(value_name = "AGENT", value_parser = parsing::agent())]
    pub(crate) agent: &'static Adapter,
    /// Seconds to wait for a person's answer [default: as long as the agent waits]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) wait: Option<u64>,
    /// Put a call aside when nobody has answered in time, for headless Claude Code only
    ///
    /// The run ends; `claude --resume` asks again. Claude Code runs a deferred call without asking when
    /// the session is resumed without this hook.
    #[arg(long)]
    pub(crate) defer: bool,
}

/// Stand between an editor and an agent.
#[derive(Debug, Args)]
pub(crate) struct Acp {
    /// The agent and its arguments, as an editor starts it
    #[arg(value_name = "AGENT", required = true, last = true)]
    pub(crate) agent: Vec<OsString>,
}
