//! Options of the commands that agents and editors run: `hook`, `acp` and `mcp`.

use std::ffi::OsString;

use clap::{Args, Subcommand};

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

/// Commands that speak the Model Context Protocol.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Let your own assistant read what waits, and why; it can answer nothing
    #[command(
        after_help = "An MCP server on standard input and output with the tools list_waiting_approvals, explain_approval and\n\
        history. Needs a viewer's key: `countersign keys create --role viewer --name assistant`.\n\
        Exit code: 0 the client left, 1 a message was too long, 2 usage error or another key, 22 no gateway."
    )]
    Serve,
}
