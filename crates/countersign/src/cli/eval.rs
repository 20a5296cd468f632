//! The grammar of `countersign eval`.

use std::path::PathBuf;

use clap::Args;

/// Measure the judge on labelled calls, or on recorded sessions of agents.
///
/// A line of labelled calls is {"command", "label", "source"}. A line of recorded sessions is
/// {"repo", "session", "n", "cwd", "command"}, or "tool" and "args" instead of "command"; several
/// files are merged into sessions, and what a session wrote is known when it runs.
#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Files of labelled calls or of recorded sessions, one JSON object per line
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print the figures as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// List the wrongly judged labelled calls
    #[arg(long)]
    pub(crate) misses: bool,
    /// Directory the calls are made from [default: none]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// File of {"id", "label"} lines: count per label how many recorded calls are asked about
    #[arg(long, value_name = "FILE", conflicts_with = "misses")]
    pub(crate) labels: Option<PathBuf>,
    /// Print this many recorded calls that are asked about, drawn at random, instead of figures
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["misses", "labels", "json"])]
    pub(crate) sample: Option<usize>,
    /// With --sample: the same seed draws the same calls
    #[arg(long, value_name = "NUMBER", default_value_t = 0, requires = "sample")]
    pub(crate) seed: u64,
    /// With --sample: draw from the calls that run without a question
    #[arg(long, requires = "sample")]
    pub(crate) allowed: bool,
}
