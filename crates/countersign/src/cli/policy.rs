//! Options of the commands on policies: `policy` and `replay`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Check a policy file and try calls against it.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Commands on a policy file.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Check the file and the examples of its rules
    Check {
        /// The file [default: config.yaml of the home]
        file: Option<PathBuf>,
    },
    /// Judge a shell command under the file; exit codes as for `check`
    Test {
        /// The file
        file: PathBuf,
        /// The shell command
        #[arg(value_name = "COMMAND")]
        call: String,
    },
    /// Print rules that people's past answers suggest; changes nothing
    Suggest {
        /// How many of the newest calls to read
        #[arg(long, value_name = "COUNT", default_value_t = 5000)]
        calls: u32,
        /// Fewest answers that a rule needs
        #[arg(long, value_name = "COUNT", default_value_t = 5)]
        least: usize,
    },
}

/// Replay past calls under another policy.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Maximum age of the calls, such as 7d
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub(crate) since: String,
    /// The policy file [default: the gateway's current policy]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
