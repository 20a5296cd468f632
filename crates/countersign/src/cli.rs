//! Command-line grammar: every command, option and help text.

mod agents;
mod config;
mod eval;
mod generated;
mod parsing;
mod policy;
mod setup;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::hook::adapter::Adapter;

pub(crate) use agents::{Acp, Hook, McpCommand};
pub(crate) use config::{Config, ConfigCommand};
pub(crate) use eval::Eval;
pub(crate) use generated::{Completions, Man};
pub(crate) use parsing::parse;
pub(crate) use policy::{PolicyArgs, PolicyCommand, Replay};
pub(crate) use setup::{Init, Teach};

/// A human confirmation firewall for AI agents.
///
/// Every tool call of an agent passes one gate. Safe calls run immediately; the few that matter
/// wait for a person, who sees exactly what will run and answers.
///
/// Without a command, opens the inbox of the running gateway, or shows how to start.
#[derive(Debug, Parser)]
#[command(name = "countersign", version)]
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
    /// The gateway's address
    #[arg(
        long,
        global = true,
        value_name = "URL",
        help = "The gateway's address [default: $COUNTERSIGN_URL, else the home's gateway]"
    )]
    pub(crate) url: Option<String>,
    /// File with the key to use
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help = "File with the key to use [default: $COUNTERSIGN_KEY, else cli.key of the home]"
    )]
    pub(crate) key_file: Option<PathBuf>,
    /// Show the inbox line by line instead of full-screen
    #[arg(long)]
    pub(crate) plain: bool,
    /// Do not ring the bell for new cards
    #[arg(long)]
    pub(crate) no_bell: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Judge one tool call, or a stream of them
    #[command(
        after_help = "Exit code: 0 allow, 10 ask, 11 allow then review, 20 refuse, 2 usage error.\n\
        With --jsonl: 0, or 1 if a line could not be read. A line is {\"id\"?, \"tool\", \"args\", \"cwd\"?,\n\
        \"replying_to\"?, \"annotations\"?, \"tool_definition\"?}, or {\"command\": …} for a shell command."
    )]
    Check(Check),
    /// Measure the judge against labelled calls
    #[command(
        after_help = "A line is {\"command\" or \"tool\" and \"args\", \"label\": dangerous|safe|ask|unlabelled,\n\
        \"source\", \"must_gate\"?}. Reads no configuration, so figures are comparable."
    )]
    Eval(Eval),
    /// Show, check and change the configuration
    Config(Config),
    /// Run the gateway
    Serve(Serve),
    /// Show waiting approvals and questions
    Approvals(Approvals),
    /// Answer an approval or a question from an agent
    #[command(after_help = "Exit code: 0 answered, 1 not answered, 2 usage error, 22 no gateway.")]
    Answer(Answer),
    /// Give a waiting approval more time
    #[command(
        after_help = "Adds the time it had at first, up to `approvals.extend_max` in all. It answers nothing.\n\
        Exit code: 0 extended, 1 not extended, 2 usage error, 22 no gateway."
    )]
    Extend(Extend),
    /// Show past calls, the newest first
    History(History),
    /// Explain a verdict and a decision, factor by factor
    Explain(Explain),
    /// Show and revoke grants and overrides
    Grants(Grants),
    /// Show calls that ran and await a review; undo or keep them
    Reviews(Reviews),
    /// Show and clear crisis marks
    Crisis(Crisis),
    /// Check a policy file and try calls against it
    Policy(PolicyArgs),
    /// Replay past calls under another policy
    #[command(
        after_help = "Exit code: 0 no verdict changes, 1 some verdict changes, 2 usage error."
    )]
    Replay(Replay),
    /// Verify, export and anchor the ledger
    Ledger(Ledger),
    /// Create, list and revoke keys
    Keys(Keys),
    /// Show and change who may answer
    People(People),
    /// List, add, test and diagnose channels
    #[command(
        after_help = "Exit code: 0 ok, 1 problems found, 2 usage error, 21 nobody answered, 22 no gateway."
    )]
    Channels(Channels),
    /// Show a harmless practice card
    Try(Try),
    /// Give the built-in agent a task
    #[command(
        after_help = "The agent's text goes to standard output, its actions to standard error. If both are a\n\
        terminal, approvals are asked for here.\n\
        Exit code: 0 done, 1 failed or stopped, 2 usage error, 22 no gateway."
    )]
    Run(Run),
    /// Talk to the built-in agent
    Chat(Chat),
    /// Show token usage of the models
    Usage(Usage),
    /// Check that everything works, from the home to the hook of each agent
    #[command(
        after_help = "Each installed agent that is set up is run once, with your settings, against a scripted model on this\n\
        machine that asks for one harmless call. Nothing is changed, and nobody is asked.\n\
        Exit code: 0 nothing failed, 1 something failed, 2 usage error."
    )]
    Doctor(Doctor),
    /// Answer an agent about its next tool call; agents run this
    #[command(
        after_help = "Reads one event on standard input and answers in the agent's own form. Whatever goes wrong is\n\
        that agent's deny. `countersign init AGENT` makes the agent run it."
    )]
    Hook(Hook),
    /// Stand between an MCP client and a server, and ask before its tools are called
    #[command(
        after_help = "The client starts this in place of the server: `countersign mcp --name crm -- npx crm-server`.\n\
        Everything but tool calls passes unchanged. Needs an agent's key: `hooks/mcp.key` of the home, or --key-file;\n\
        COUNTERSIGN_KEY does not count. Exit code: the server's."
    )]
    Mcp(Mcp),
    /// Stand between an editor and an agent, and answer its questions for permission; editors run this
    #[command(
        after_help = "Runs AGENT, which speaks the Agent Client Protocol on standard input and output, and passes every\n\
        line on. Its questions for permission (session/request_permission) are answered by the rules or on a\n\
        card; calls that it makes without asking do not pass here. Needs a key: `countersign init acp`.\n\
        Exit code: the agent's own; 128 and the signal's number if a signal ended it; 2 usage error."
    )]
    Acp(Acp),
    /// Put the firewall in front of the agents on this machine
    #[command(
        after_help = "Shows what it would write into an agent's settings, and writes after one yes. Without AGENT: every\n\
        installed agent, and a practice card through the hook of the first.\n\
        Exit code: 0 done or already set up, 1 failed or declined, 2 usage error or nothing written."
    )]
    Init(Init),
    /// Propose a row for a program that nothing is known about
    #[command(
        after_help = "Runs nothing: reads the program's manual page, or its help (`prog --help | countersign teach prog -`).\n\
        Everything in the row asks until you mark it. Prints what to put into config.yaml.\n\
        Exit code: 0 done, 1 failed or declined, 2 usage error or nothing written."
    )]
    Teach(Teach),
    /// Print the completions of a shell
    #[command(
        after_help = "bash: countersign completions bash > ~/.local/share/bash-completion/completions/countersign\n\
        zsh:  countersign completions zsh > DIR/_countersign, where DIR is in $fpath\n\
        fish: countersign completions fish > ~/.config/fish/completions/countersign.fish"
    )]
    Completions(Completions),
    /// Write the manual pages
    #[command(
        after_help = "countersign man | man -l -                     reads the first page\n\
        countersign man ~/.local/share/man/man1        installs all of them for this user"
    )]
    Man(Man),
}

/// Check that everything works.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Check this agent only
    #[arg(long, value_name = "NAME", value_parser = parsing::agent())]
    pub(crate) agent: Option<&'static Adapter>,
    /// Read the agents' settings, but run no agent
    #[arg(long)]
    pub(crate) no_canary: bool,
    /// Try the attacks of an agent that wants to answer for itself, and print the measured tier
    #[arg(long, conflicts_with_all = ["agent", "no_canary"])]
    pub(crate) as_agent: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Stand between an MCP client and a server.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    /// Name of the server, in names of tools and on cards [default: from its command]
    #[arg(long, value_name = "SERVER")]
    pub(crate) name: Option<String>,
    /// Session of its calls [default: a new one]
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Seconds between two signs of life while a call waits
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=15))]
    pub(crate) progress: u64,
    /// Environment variable with the token that a server at an address is shown
    #[arg(long, value_name = "NAME", conflicts_with = "server")]
    pub(crate) token_env: Option<String>,
    /// The server's command; without one, --url is the server's address, or mcp.servers describes --name
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) server: Vec<OsString>,
}

/// Show waiting approvals and questions.
#[derive(Debug, Default, Args)]
pub(crate) struct Approvals {
    /// Show all, not only waiting ones
    #[arg(long)]
    pub(crate) all: bool,
    /// Show one card in full
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Answer an approval or a question from an agent.
#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// The approval or question
    pub(crate) id: String,
    /// An approval: once, session, always or deny; a question: the number of a choice, or a text
    #[arg(value_name = "ANSWER", allow_hyphen_values = true)]
    pub(crate) choice: String,
    /// A note for the agent
    #[arg(long)]
    pub(crate) note: Option<String>,
    /// With once: allow the call with these arguments instead, a JSON object; - reads them from standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,
    /// With session and always: number of the offered scope [default: 1, the narrowest]
    #[arg(long, value_name = "N")]
    pub(crate) scope: Option<usize>,
    /// With session and always: duration, such as 30m
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) lasts: Option<String>,
    /// With session and always: maximum number of uses
    #[arg(long, value_name = "N")]
    pub(crate) uses: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Give a waiting approval more time.
#[derive(Debug, Args)]
pub(crate) struct Extend {
    /// The approval
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show past calls, the newest first.
#[derive(Debug, Args)]
pub(crate) struct History {
    #[command(subcommand)]
    pub(crate) command: Option<HistoryCommand>,
    /// Only calls of this run
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// Only calls of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only calls with this verdict
    #[arg(long, value_parser = ["allow", "allow_then_review", "ask", "refuse"])]
    pub(crate) verdict: Option<String>,
    /// Maximum age, such as 7d
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Maximum number of calls
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: u32,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Commands on past calls.
#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Lift a denial, so the agent may ask again (the denier or an admin)
    Lift {
        /// The approval that was denied
        id: String,
    },
}

/// Explain a verdict and a decision.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A call or an approval
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show calls that ran and await a review.
#[derive(Debug, Args)]
pub(crate) struct Reviews {
    #[command(subcommand)]
    pub(crate) command: Option<ReviewsCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Commands on reviews.
#[derive(Debug, Subcommand)]
pub(crate) enum ReviewsCommand {
    /// Restore the file, or tell the agent to undo the call
    Undo {
        /// The review
        id: String,
    },
    /// Keep what the call did
    Keep {
        /// The review
        id: String,
    },
}

/// Show and clear crisis marks.
#[derive(Debug, Args)]
pub(crate) struct Crisis {
    #[command(subcommand)]
    pub(crate) command: Option<CrisisCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Commands on crisis marks.
#[derive(Debug, Subcommand)]
pub(crate) enum CrisisCommand {
    /// Clear the mark of a session or a recipient
    Clear {
        /// The session
        #[arg(
            long,
            conflicts_with = "recipient",
            required_unless_present = "recipient"
        )]
        session: Option<String>,
        /// The key of the session, if several keys use that name
        #[arg(long, requires = "session")]
        key_id: Option<String>,
        /// The recipient
        #[arg(long)]
        recipient: Option<String>,
        /// The reason, recorded in the ledger
        #[arg(long)]
        note: Option<String>,
    },
}

/// Show and revoke grants and overrides.
#[derive(Debug, Args)]
pub(crate) struct Grants {
    #[command(subcommand)]
    pub(crate) command: Option<GrantsCommand>,
    /// Include ended grants
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Commands on grants.
#[derive(Debug, Subcommand)]
pub(crate) enum GrantsCommand {
    /// Revoke a grant
    Revoke {
        /// The grant
        id: String,
    },
    /// End an override, so its session asks questions again
    End {
        /// The session
        session: String,
        /// The key of the session, if several keys use that name
        #[arg(long)]
        key_id: Option<String>,
    },
    /// Show which grants an answer could create and what they would have matched
    Preview {
        /// The approval
        id: String,
    },
}

/// Verify, export and anchor the ledger.
#[derive(Debug, Args)]
pub(crate) struct Ledger {
    #[command(subcommand)]
    pub(crate) command: LedgerCommand,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Commands on the ledger.
#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// Check every hash and signature, the stored head and the records
    #[command(after_help = "Exit code: 0 intact, 1 damaged or missing.")]
    Verify {
        /// An exported file [default: the home's own ledger]
        file: Option<PathBuf>,
        /// A head kept elsewhere, or a file with one
        #[arg(long, value_name = "FILE|HEAD")]
        anchor: Option<String>,
    },
    /// Print the ledger's head, to keep it elsewhere
    Anchor {
        /// Accept the current ledger after a restore from backup; this is recorded in the ledger
        #[arg(long)]
        accept: bool,
    },
    /// Write every entry to standard output, one JSON object per line
    Export,
}

/// Create, list and revoke keys.
#[derive(Debug, Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Commands on keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Create a key and print it, once; works whether or not a gateway runs
    Create {
        /// agent, approver, admin or viewer
        #[arg(long, value_parser = ["agent", "approver", "admin", "viewer"])]
        role: String,
        /// Its name; for approvers and admins the name of a person
        #[arg(long)]
        name: String,
        /// For agent keys: an executor name, such as `tool:send_email`, whose tokens this key may
        /// consume; repeatable
        #[arg(long, value_name = "NAME")]
        executor: Vec<String>,
        /// For agent keys: the only directory that counts as the workspace of its calls; repeatable
        #[arg(long, value_name = "DIR")]
        workspace: Vec<String>,
    },
    /// Show all keys
    List,
    /// Revoke a key
    Revoke {
        /// The key's id
        id: String,
    },
    /// Print a one-time link that signs a browser in
    Login,
}

/// Show and change who may answer.
#[derive(Debug, Args)]
pub(crate) struct People {
    #[command(subcommand)]
    pub(crate) command: Option<PeopleCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Commands on people.
#[derive(Debug, Subcommand)]
pub(crate) enum PeopleCommand {
    /// Add or change a person
    Set {
        /// The name that answers are recorded under
        name: String,
        /// The person's role; repeatable
        #[arg(long, value_parser = ["viewer", "approver", "admin"])]
        role: Vec<String>,
        /// An account in a chat, such as mattermost=USERID
        #[arg(long, value_name = "CHANNEL=ACCOUNT")]
        account: Vec<String>,
    },
    /// Remove a person
    Remove {
        /// The name
        name: String,
    },
}

/// List, add, test and diagnose channels.
#[derive(Debug, Args)]
pub(crate) struct Channels {
    #[command(subcommand)]
    pub(crate) command: Option<ChannelsCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Commands on channels.
#[derive(Debug, Subcommand)]
pub(crate) enum ChannelsCommand {
    /// List them
    List,
    /// Send a practice card and wait for the click
    Test {
        /// The channel
        name: String,
        /// Seconds to wait for the click
        #[arg(long, default_value_t = 120)]
        wait: u32,
    },
    /// Set a chat up: asks what is needed, checks it, writes it down, sends a practice card
    Add {
        /// The platform
        platform: String,
        /// Its name in the configuration [default: the platform's]
        #[arg(long)]
        name: Option<String>,
        /// More keys of its section, which are not asked for
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// Seconds to wait for the gateway that uses it; 0 only writes it down
        #[arg(long, default_value_t = 300)]
        wait: u32,
    },
    /// Print the description of our app that a platform takes, as JSON
    Manifest {
        /// The platform
        platform: String,
        /// The channel's address at the gateway, which ends in /channels and its name, where the platform is to
        /// send presses [default: a connection that the gateway opens]
        #[arg(long, value_name = "URL")]
        callback_url: Option<String>,
    },
    /// Check the setup of a channel and suggest fixes
    Doctor {
        /// The channel [default: all]
        name: Option<String>,
    },
}

/// Show a harmless practice card.
#[derive(Debug, Args)]
pub(crate) struct Try {
    /// Seconds to wait for the answer
    #[arg(long, default_value_t = 60)]
    pub(crate) wait: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Give the built-in agent a task.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The task; `-` reads it from standard input
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) text: String,
    /// Continue this conversation
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Directory to work in [default: this one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// One of the configured models [default: agent.model]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Print every event as one line of JSON; do not ask here
    #[arg(long)]
    pub(crate) json: bool,
}

/// Talk to the built-in agent.
#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// Read and write lines instead of full-screen
    #[arg(long)]
    pub(crate) plain: bool,
    /// Continue this conversation
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Directory to work in [default: this one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

/// Show token usage of the models.
#[derive(Debug, Args)]
pub(crate) struct Usage {
    /// Maximum age, such as 7d
    #[arg(long, value_name = "TIME", default_value = "30d")]
    pub(crate) since: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Run the gateway.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address and port; port 0 selects a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8750")]
    pub(crate) listen: String,
    /// Print one line of JSON with the URL and the sign-in link
    #[arg(long)]
    pub(crate) json: bool,
    /// Serve HTTPS with this certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate (PEM, no password)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Allow listening on a public address without TLS
    #[arg(long)]
    pub(crate) allow_public: bool,
    /// Allow this origin to use the API, such as `https://inbox.example.org`
    #[arg(long, value_name = "URL")]
    pub(crate) origin: Vec<String>,
    /// Serve the page from this directory instead of the binary (for development)
    #[arg(long, value_name = "DIR")]
    pub(crate) web_dir: Option<PathBuf>,
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
    /// Judge one call per line of standard input; print one JSON object per line
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
