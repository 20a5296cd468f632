//! `countersign config`: show, check and change the configuration.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::cli::ConfigCommand;
use crate::complaint::{Complaint, written};
use crate::config::entries::{get, list, set};
use crate::config::{self, Home};

/// Does what the command line says with the configuration.
pub(crate) fn run(command: ConfigCommand, home: Option<PathBuf>) -> Result<ExitCode, Complaint> {
    let home = Home::new(home)?;
    let out = match command {
        ConfigCommand::Path => format!("{}\n", home.file().display()),
        ConfigCommand::Check => check(&home)?,
        ConfigCommand::List { json } => list(&home, json)?,
        ConfigCommand::Get { key } => get(&home, &key)?,
        ConfigCommand::Set { key, value } => set(&home, &key, &value)?,
    };
    written(
        std::io::stdout().write_all(out.as_bytes()),
        ExitCode::SUCCESS,
    )
}

fn check(home: &Home) -> Result<String, Complaint> {
    let file = home.file();
    let policy = config::load(home)?;
    let mut out = if file.exists() {
        format!("{}: ok\n", file.display())
    } else {
        format!("{}: does not exist; the defaults apply\n", file.display())
    };
    let here = std::env::current_dir().ok();
    if let Some(project) = here.and_then(|here| config::project_file(&here, home)) {
        config::tighten(&policy, &project)?;
        let _infallible = writeln!(out, "{}: ok, and it only tightens", project.display());
    }
    Ok(out)
}
