//! The command line: what can be asked of the binary.

mod parsing;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use parsing::parse;

/// A human confirmation firewall for AI agents.
///
/// Every tool call an agent wants to make passes one gate. Safe calls run at once; the few that
/// matter wait for a person, who sees exactly what will run and answers.
///
/// Without a command it opens the inbox of the gateway that runs, or says what to do first.
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
    /// The inbox line by line, without a full screen
    #[arg(long)]
    pub(crate) plain: bool,
    /// The inbox without a bell for new cards
    #[arg(long)]
    pub(crate) no_bell: bool,
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
    /// Show what waits for an answer
    Approvals(Approvals),
    /// Answer an approval, or a question of an agent
    #[command(after_help = "Exit code: 0 answered, 1 not answered, 2 wrong usage, 22 no gateway.")]
    Answer(Answer),
    /// Show what happened, the newest first
    History(History),
    /// Say why a call was judged and decided as it was, factor by factor
    Explain(Explain),
    /// Show standing permissions and overrides, take one back
    Grants(Grants),
    /// Show what carries the crisis mark, clear it
    Crisis(Crisis),
    /// Check a policy file, try calls against it
    Policy(PolicyArgs),
    /// Judge past calls again under another policy
    #[command(after_help = "Exit code: 0 nothing would differ, 1 something would, 2 wrong usage.")]
    Replay(Replay),
    /// Verify the ledger, export it, keep its head
    Ledger(Ledger),
    /// Make, list and revoke keys
    Keys(Keys),
    /// Show and change who may answer
    People(People),
    /// List channels, try one, find out what is wrong with one
    #[command(
        after_help = "Exit code: 0 all is well, 1 it is not, 2 wrong usage, 21 nobody answered, 22 no gateway."
    )]
    Channels(Channels),
    /// Put a harmless practice card in front of you
    Try(Try),
    /// Have the built-in agent do something
    #[command(
        after_help = "What it says goes to standard output, what it does to standard error. What needs a yes is\n\
        asked here if both are a terminal.\n\
        Exit code: 0 done, 1 failed or stopped, 2 wrong usage, 22 no gateway."
    )]
    Run(Run),
    /// Talk to the built-in agent
    Chat(Chat),
    /// Show what models cost
    Usage(Usage),
}

/// Show what waits for an answer.
#[derive(Debug, Default, Args)]
pub(crate) struct Approvals {
    /// Show all, not only what waits
    #[arg(long)]
    pub(crate) all: bool,
    /// Show one card in full
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Answer an approval, or a question of an agent.
#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// The approval or the question
    pub(crate) id: String,
    /// An approval: once, session, always or deny; a question: the number of a choice, or words
    #[arg(value_name = "ANSWER", allow_hyphen_values = true)]
    pub(crate) choice: String,
    /// What to say about it; the agent sees it
    #[arg(long)]
    pub(crate) note: Option<String>,
    /// With session and always: which of the offered scopes, from 1 [default: the narrowest]
    #[arg(long, value_name = "N")]
    pub(crate) scope: Option<usize>,
    /// With session and always: for how long, such as 30m
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) lasts: Option<String>,
    /// With session and always: how often
    #[arg(long, value_name = "N")]
    pub(crate) uses: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show what happened, the newest first.
#[derive(Debug, Args)]
pub(crate) struct History {
    #[command(subcommand)]
    pub(crate) command: Option<HistoryCommand>,
    /// Of this run: every assessment
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// Of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// With this verdict
    #[arg(long, value_parser = ["allow", "allow_then_review", "ask", "refuse"])]
    pub(crate) verdict: Option<String>,
    /// Not older than this, such as 7d
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: u32,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What can be done with the past.
#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Lift a denial, so that the agent may ask again; who denied it may, and an admin
    Lift {
        /// The approval that was denied
        id: String,
    },
}

/// Say why.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A call or an approval
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show what carries the crisis mark, clear it.
#[derive(Debug, Args)]
pub(crate) struct Crisis {
    #[command(subcommand)]
    pub(crate) command: Option<CrisisCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What can be done with crisis marks.
#[derive(Debug, Subcommand)]
pub(crate) enum CrisisCommand {
    /// Clear the mark of a session or of somebody who was written to
    Clear {
        /// The session
        #[arg(
            long,
            conflicts_with = "recipient",
            required_unless_present = "recipient"
        )]
        session: Option<String>,
        /// Whose session, if several keys have one of that name
        #[arg(long, requires = "session")]
        key_id: Option<String>,
        /// Who was written to
        #[arg(long)]
        recipient: Option<String>,
        /// Why; it is in the ledger
        #[arg(long)]
        note: Option<String>,
    },
}

/// Show standing permissions, take one back.
#[derive(Debug, Args)]
pub(crate) struct Grants {
    #[command(subcommand)]
    pub(crate) command: Option<GrantsCommand>,
    /// Show those that no longer hold, too
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What can be done with grants.
#[derive(Debug, Subcommand)]
pub(crate) enum GrantsCommand {
    /// Take one back
    Revoke {
        /// The grant
        id: String,
    },
    /// End an override, so that its session asks again
    End {
        /// The session
        session: String,
        /// Whose session, if several keys have one of that name
        #[arg(long)]
        key_id: Option<String>,
    },
    /// Show which grants an answer could leave, and what they would have matched
    Preview {
        /// The approval
        id: String,
    },
}

/// Check a policy file, try calls against it.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

/// What can be done with a policy file.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Read the file, with the examples of its rules, and say what is wrong with it
    Check {
        /// The file [default: config.yaml of the home]
        file: Option<PathBuf>,
    },
    /// Judge a shell command under the file; exit code as `check`
    Test {
        /// The file
        file: PathBuf,
        /// The shell command
        #[arg(value_name = "COMMAND")]
        call: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Judge past calls again under another policy.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Calls not older than this, such as 7d
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub(crate) since: String,
    /// The policy to judge by [default: the gateway's own, as it is now]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Verify the ledger, export it, keep its head.
#[derive(Debug, Args)]
pub(crate) struct Ledger {
    #[command(subcommand)]
    pub(crate) command: LedgerCommand,
}

/// What can be done with the ledger.
#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// Check every hash and signature, the head that was kept, and whether the records agree
    #[command(after_help = "Exit code: 0 it is what it was, 1 it is not, or there is none.")]
    Verify {
        /// An exported file [default: the home's own ledger]
        file: Option<PathBuf>,
        /// A head that was kept elsewhere, or a file that holds one
        #[arg(long, value_name = "FILE|HEAD")]
        anchor: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the ledger's head, to be kept elsewhere
    Anchor {
        /// Take the ledger as it is, after a restore from a backup; the ledger tells of it
        #[arg(long)]
        accept: bool,
        /// Print the signed head as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write every entry to standard output, one JSON object per line
    Export,
}

/// Make, list and revoke keys.
#[derive(Debug, Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What can be done with keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a key and print it, once; works whether or not a gateway runs
    Create {
        /// agent, approver, admin or viewer
        #[arg(long, value_parser = ["agent", "approver", "admin", "viewer"])]
        role: String,
        /// Its name; for approvers and admins the name of a person
        #[arg(long)]
        name: String,
        /// For an agent's key: who runs calls with it, such as `tool:send_email`; it may then use the
        /// tokens made out to that name. May be given several times
        #[arg(long, value_name = "NAME")]
        executor: Vec<String>,
        /// A directory an agent's calls may count as their workspace, and no other; may be given
        /// several times
        #[arg(long, value_name = "DIR")]
        workspace: Vec<String>,
    },
    /// Show all keys
    List,
    /// Make a key useless
    Revoke {
        /// The key's id
        id: String,
    },
    /// Print a one-time link with which a browser signs in
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

/// What can be done with people.
#[derive(Debug, Subcommand)]
pub(crate) enum PeopleCommand {
    /// Add a person, or change what is known of one
    Set {
        /// The name answers are recorded under
        name: String,
        /// What the person may do
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

/// List channels, try one, find out what is wrong with one.
#[derive(Debug, Args)]
pub(crate) struct Channels {
    #[command(subcommand)]
    pub(crate) command: Option<ChannelsCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What can be done with channels.
#[derive(Debug, Subcommand)]
pub(crate) enum ChannelsCommand {
    /// List them
    List,
    /// Send a practice card and wait for the click
    Test {
        /// The channel
        name: String,
        /// Wait at most so many seconds for the click
        #[arg(long, default_value_t = 120)]
        wait: u32,
    },
    /// Look at everything that usually goes wrong, and say what to do
    Doctor {
        /// The channel [default: all]
        name: Option<String>,
    },
}

/// Put a harmless practice card in front of you.
#[derive(Debug, Args)]
pub(crate) struct Try {
    /// Wait at most so many seconds for the answer
    #[arg(long, default_value_t = 60)]
    pub(crate) wait: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Have the built-in agent do something.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// What to do; `-` reads it from standard input
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) text: String,
    /// Go on with this conversation
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Directory to work in [default: this one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Print every event as one line of JSON, and ask nothing here
    #[arg(long)]
    pub(crate) json: bool,
}

/// Talk to the built-in agent.
#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// Line by line
    #[arg(long)]
    pub(crate) plain: bool,
    /// Go on with this conversation
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Directory to work in [default: this one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

/// Show what models cost.
#[derive(Debug, Args)]
pub(crate) struct Usage {
    /// Not older than this, such as 7d
    #[arg(long, value_name = "TIME", default_value = "30d")]
    pub(crate) since: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Run the gateway: agents ask it, people answer.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address and port; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8750")]
    pub(crate) listen: String,
    /// Print one line of JSON: where it listens and where to sign in
    #[arg(long)]
    pub(crate) json: bool,
    /// Serve HTTPS with this certificate: a PEM file, the gateway's own first
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's private key, a PEM file without a password
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Listen where other machines can reach it, without TLS
    #[arg(long)]
    pub(crate) allow_public: bool,
    /// Another page that may read answers, such as `https://inbox.example.org`
    #[arg(long, value_name = "URL")]
    pub(crate) origin: Vec<String>,
    /// Read the page from here while it is being worked on, instead of from the binary
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
