//! The commands, one file each, and what to do first.

mod approvals;
mod channels;
mod chat;
mod check;
pub(crate) mod config;
mod eval;
mod follow;
mod grants;
mod history;
mod keys;
mod ledger;
mod policy;
mod practice;
mod run;
mod serve;
mod show;
mod usage;

use std::io::Write;
use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::client::Reach;
use crate::complaint::{Complaint, written};

const FIRST: &str = "\
Countersign holds what an AI agent wants to do until a person has seen it.

  countersign serve                       start the gateway; prints a link to the page
  countersign try                         put a harmless practice card in front of you
  countersign approvals                   what waits for an answer
  countersign answer ID once              answer it: once, session, always or deny
  countersign history                     what ran, what did not, and why
  countersign run TEXT                    have the built-in agent do something, asking you where it must
  countersign keys create --role agent --name NAME
                                          a key with which an agent asks

Without a gateway:

  countersign check 'rm -rf /srv/www'     judge one shell command
  countersign config list                 what is configured

`countersign --help` lists every command.
";

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> Result<ExitCode, Complaint> {
    let home = cli.home;
    let reach = Reach {
        home: home.clone(),
        url: cli.url,
        key_file: cli.key_file,
    };
    match cli.command {
        None => written(
            std::io::stdout().write_all(FIRST.as_bytes()),
            ExitCode::SUCCESS,
        ),
        Some(Command::Check(check)) => check::run(check, home),
        Some(Command::Eval(eval)) => eval::run(&eval),
        Some(Command::Config(config)) => config::run(config.command, home),
        Some(Command::Serve(serve)) => serve::run(&serve, home),
        Some(Command::Approvals(args)) => approvals::list(&args, &reach),
        Some(Command::Answer(args)) => approvals::answer(&args, &reach),
        Some(Command::History(args)) => history::list(&args, &reach),
        Some(Command::Explain(args)) => history::explain(&args, &reach),
        Some(Command::Replay(args)) => history::replay(&args, &reach),
        Some(Command::Grants(args)) => grants::run(&args, &reach),
        Some(Command::Policy(args)) => policy::run(args.command, home),
        Some(Command::Ledger(args)) => ledger::run(&args, &reach),
        Some(Command::Keys(args)) => keys::run(&args, &reach),
        Some(Command::People(args)) => keys::people(&args, &reach),
        Some(Command::Channels(args)) => channels::run(&args, &reach),
        Some(Command::Try(args)) => practice::run(&args, &reach),
        Some(Command::Run(args)) => run::run(&args, &reach),
        Some(Command::Chat(args)) => chat::run(&args, &reach),
        Some(Command::Usage(args)) => usage::run(&args, &reach),
    }
}
