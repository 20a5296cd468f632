//! Options of `config`.

use clap::{Args, Subcommand};

/// Show, check and change the configuration.
#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Commands on the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the path of config.yaml
    Path,
    /// Check config.yaml and the project's .countersign.yaml
    Check,
    /// Print every key with its value and where that comes from
    List,
    /// Print the value of one key
    Get {
        /// The key, with dots: approvals.mode
        key: String,
    },
    /// Set one key in config.yaml, keeping comments, and say when that takes effect
    Set {
        /// The key, with dots: approvals.mode
        key: String,
        /// The value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
}
