//! The commands, one file each, and what to do first.

mod check;
pub(crate) mod config;
mod eval;
mod serve;

use std::io::Write;
use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::complaint::{Complaint, written};

const FIRST: &str = "\
Countersign judges what an AI agent wants to do before it is done.

  countersign check 'rm -rf /srv/www'     judge one shell command
  countersign check --tool NAME --args JSON
                                          judge one call of another tool
  countersign check --jsonl < calls.jsonl judge many, one JSON object per line
  countersign eval FILE                   measure the judge on labelled calls
  countersign config list                 what is configured

It only judges: nothing is run, and no agent is connected to it yet.
`countersign check --help` explains every option.
";

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> Result<ExitCode, Complaint> {
    let home = cli.home;
    match cli.command {
        None => written(
            std::io::stdout().write_all(FIRST.as_bytes()),
            ExitCode::SUCCESS,
        ),
        Some(Command::Check(check)) => check::run(check, home),
        Some(Command::Eval(eval)) => eval::run(&eval),
        Some(Command::Config(config)) => config::run(config.command, home),
        Some(Command::Serve(serve)) => serve::run(&serve, home),
    }
}
