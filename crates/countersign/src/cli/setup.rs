//! Options of the commands that set the firewall up: `init` and `teach`.

use std::path::PathBuf;

use clap::Args;

use super::parsing;
use crate::init::agents::Agent;
use crate::init::mcp::Row;

/// Put the firewall in front of the agents on this machine.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Init {
    /// The agent [default: every installed one]
    #[arg(value_name = "AGENT", value_parser = parsing::known_agent())]
    pub(crate) agent: Option<&'static Agent>,
    /// With `mcp`: the client whose MCP servers are put behind Countersign [default: each that has some]
    #[arg(value_name = "CLIENT", value_parser = parsing::mcp_client())]
    pub(crate) client: Option<&'static Row>,
    /// Write without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Restore the settings as they were, and revoke the agent's key
    #[arg(long)]
    pub(crate) undo: bool,
    /// Also run the gateway as a service of this user; with --undo, also remove that
    #[arg(long)]
    pub(crate) service: bool,
    /// Without AGENT: seconds to wait for the answer to the practice card; 0 shows none
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) wait: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Propose a row for a program that nothing is known about.
#[derive(Debug, Args)]
pub(crate) struct Teach {
    /// The program, by its bare name
    pub(crate) program: String,
    /// A file with its help; `-` reads standard input [default: its manual page]
    #[arg(value_name = "FILE")]
    pub(crate) source: Option<PathBuf>,
    /// Show the change to config.yaml, and write it after one yes at the terminal
    #[arg(long)]
    pub(crate) write: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "write")]
    pub(crate) json: bool,
}
