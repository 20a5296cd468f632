//! The binary: parses the command line, runs the command and returns its exit code.

mod acp;
mod cli;
mod client;
mod cmd;
mod complaint;
mod config;
mod doctor;
mod gateway;
mod hook;
mod init;
mod mcp;
#[cfg(test)]
mod samples;
mod server;
mod show;
mod slash;
mod teach;
mod telemetry;
mod tls;
mod tui;
mod wire;
mod words;

use std::process::ExitCode;

fn main() -> ExitCode {
    let outcome = cli::parse().and_then(cmd::run);
    outcome.unwrap_or_else(|complaint| complaint.report())
}
