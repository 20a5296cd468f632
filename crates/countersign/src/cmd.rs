//! The commands, one file each, and the getting-started text.

pub(crate) mod approvals;
mod channels;
mod chat;
mod check;
pub(crate) mod config;
mod crisis;
mod doctor;
mod eval;
pub(crate) mod follow;
mod grants;
pub(crate) mod history;
mod inbox;
mod init;
mod keys;
mod ledger;
mod mcp;
mod plain;
mod policy;
mod practice;
mod reviews;
mod run;
mod serve;
mod teach;
mod usage;

use std::process::ExitCode;
use std::time::Duration;

use crate::acp;
use crate::cli::{self, Cli, Command};
use crate::client::Reach;
use crate::complaint::Complaint;
use crate::hook;
use crate::tui::inbox::Bell;
use inbox::WantsLines;

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> Result<ExitCode, Complaint> {
    let home = cli.home;
    let reach = Reach {
        home: home.clone(),
        url: cli.url,
        key_file: cli.key_file,
        asks_for_agent: false,
    };
    let bell = if cli.no_bell {
        Bell::Silent
    } else {
        Bell::Rings
    };
    if cli.command.is_some() && (cli.plain || cli.no_bell) {
        let hint = "use them without a command; `chat` has its own --plain";
        return Err(Complaint::usage(
            "--plain and --no-bell only apply to the inbox",
            hint,
        ));
    }
    match cli.command {
        None => inbox::run(WantsLines(cli.plain), bell, &reach),
        Some(Command::Check(check)) => check::run(check, home),
        Some(Command::Eval(eval)) => eval::run(&eval),
        Some(Command::Config(args)) => config::run(args, home),
        Some(Command::Serve(serve)) => serve::run(&serve, home),
        Some(Command::Approvals(args)) => approvals::list(&args, &reach),
        Some(Command::Answer(args)) => approvals::answer(&args, &reach),
        Some(Command::Extend(args)) => approvals::extend(&args, &reach),
        Some(Command::History(args)) => history::list(&args, &reach),
        Some(Command::Explain(args)) => history::explain(&args, &reach),
        Some(Command::Replay(args)) => history::replay(&args, &reach),
        Some(Command::Grants(args)) => grants::run(&args, &reach),
        Some(Command::Reviews(args)) => reviews::run(&args, &reach),
        Some(Command::Crisis(args)) => crisis::run(&args, &reach),
        Some(Command::Policy(args)) => policy::run(args, home, &reach),
        Some(Command::Ledger(args)) => ledger::run(&args, &reach),
        Some(Command::Keys(args)) => keys::run(&args, &reach),
        Some(Command::People(args)) => keys::people(&args, &reach),
        Some(Command::Channels(args)) => channels::run(&args, &reach),
        Some(Command::Try(args)) => practice::run(&args, &reach),
        Some(Command::Run(args)) => run::run(&args, &reach),
        Some(Command::Chat(args)) => chat::run(&args, &reach),
        Some(Command::Usage(args)) => usage::run(&args, &reach),
        Some(Command::Doctor(args)) => doctor::run(&args, &reach),
        Some(Command::Hook(args)) => hook(&args, &reach),
        Some(Command::Mcp(args)) => mcp::run(&args, &reach),
        Some(Command::Acp(args)) => acp(args, &reach),
        Some(Command::Init(args)) => init::run(&args, &reach),
        Some(Command::Teach(teach)) => teach::run(&teach, home),
        Some(Command::Completions(args)) => args.run(),
        Some(Command::Man(args)) => args.run(),
    }
}

fn hook(args: &cli::Hook, reach: &Reach) -> Result<ExitCode, Complaint> {
    let start = hook::Start {
        adapter: args.agent,
        wait: args.wait.map(Duration::from_secs),
        defers: args.defer,
    };
    hook::run(start, reach)
}

fn acp(args: cli::Acp, reach: &Reach) -> Result<ExitCode, Complaint> {
    let mut words = args.agent.into_iter();
    let program = words.next().unwrap_or_default();
    let start = acp::Start {
        program,
        arguments: words.collect(),
    };
    acp::run(&start, reach)
}
