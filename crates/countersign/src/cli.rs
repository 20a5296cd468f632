//! The command line: what can be asked of the binary, and how a wrong question is answered.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand};

use crate::complaint::Complaint;

/// A human confirmation firewall for AI agents: this is its judge.
///
/// It reads a tool call an agent wants to make and says whether it may run at once, must be
/// confirmed by a person, or is refused, and why. It runs nothing itself.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Directory with config.yaml
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help = "Directory with config.yaml [default: $COUNTERSIGN_HOME, else ~/.countersign]"
    )]
    pub(crate) home: Option<PathBuf>,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Judge one tool call, or a stream of them
    #[command(
        after_help = "Exit code: 0 allow, 10 ask, 11 allow then review, 20 refuse, 2 wrong usage.\n\
        With --jsonl: 0, or 1 if a line could not be read. A line is {\"id\"?, \"tool\", \"args\", \"cwd\"?,\n\
        \"replying_to\"?, \"annotations\"?}, or {\"command\": …} for a shell command."
    )]
    Check(Check),
    /// Measure the judge against labelled calls
    #[command(
        after_help = "A line is {\"command\" or \"tool\" and \"args\", \"label\": dangerous|safe|ask|unlabelled,\n\
        \"source\", \"must_gate\"?}. No configuration is read, so that figures can be compared."
    )]
    Eval(Eval),
    /// Look at the configuration, check it, change it
    Config(Config),
    /// Run the gateway: agents ask it, people answer
    Serve(Serve),
}

/// Run the gateway: agents ask it, people answer.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address and port; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8750")]
    pub(crate) listen: String,
    /// Print {"url", "login_url"} as one line
    #[arg(long)]
    pub(crate) json: bool,
    /// Listen where other machines can reach it, without TLS
    #[arg(long)]
    pub(crate) allow_public: bool,
    /// Another page that may read answers, such as https://inbox.example.org
    #[arg(long, value_name = "URL")]
    pub(crate) origin: Vec<String>,
}

/// Judge one tool call, or a stream of them.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The shell command to judge; `-` reads it from standard input
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// Judge a call of this tool instead of a shell command
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Arguments of the tool, a JSON object; `-` reads it from standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,
    /// Print the assessment as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Judge one call per line of standard input, answer one JSON object per line
    #[arg(long)]
    pub(crate) jsonl: bool,
    /// Directory the call is made from [default: this one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// The message being answered: a text, or a JSON list of {"from", "text"}, oldest first
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) replying_to: Option<String>,
    /// Read neither config.yaml nor .countersign.yaml
    #[arg(long)]
    pub(crate) no_config: bool,
}

/// Measure the judge against labelled calls.
#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Files of labelled calls, one JSON object per line
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print the figures as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// List the calls that were judged wrongly
    #[arg(long)]
    pub(crate) misses: bool,
    /// Directory the calls are made from [default: none is claimed]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

/// Look at the configuration, check it, change it.
#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// What can be done with the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print where config.yaml is
    Path,
    /// Read config.yaml and the project's .countersign.yaml and say what is wrong with them
    Check,
    /// Print every key with its value
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print the value of one key
    Get {
        /// The key, with dots: approvals.mode
        key: String,
    },
    /// Set one key in config.yaml; comments stay
    Set {
        /// The key, with dots: approvals.mode
        key: String,
        /// The value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
}

/// Parses the process's command line. Help and version are printed and end the process.
pub(crate) fn parse() -> Result<Cli, Complaint> {
    Cli::try_parse().map_err(|error| {
        let asked = matches!(
            error.kind(),
            ErrorKind::DisplayHelp
                | ErrorKind::DisplayVersion
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        );
        if asked {
            error.exit();
        }
        complain(&error)
    })
}

fn complain(error: &clap::Error) -> Complaint {
    let text = error.to_string();
    let message = text
        .lines()
        .next()
        .unwrap_or("the command line cannot be read");
    let message = message.strip_prefix("error: ").unwrap_or(message);
    // Clap lists what is missing on lines of its own.
    let missing: Vec<&str> = text
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .map(str::trim)
        .collect();
    let message = if missing.is_empty() {
        message.to_owned()
    } else {
        format!("{message} {}", missing.join(" "))
    };
    let suggested = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
    ]
    .into_iter()
    .find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        Some(_) | None => None,
    });
    let hint = match suggested {
        Some(name) => format!("did you mean `{name}`?"),
        None => "see `countersign --help` and `countersign check --help`".to_owned(),
    };
    Complaint::usage(message, hint)
}
