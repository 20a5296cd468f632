//! `countersign teach`: proposes a row for a program, and writes it after one yes at the terminal.

use std::fs::File;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use super::init::show::{Length, coloured, diff};
use crate::cli::Teach;
use crate::complaint::{Complaint, written};
use crate::config::{self, Home};
use crate::init::files::{self, Change};
use crate::show::{print, print_json};
use crate::teach::{Proposal, check_name, from_file, from_help, from_manual, items, with_row};

/// Mode of a configuration that is new.
const CONFIG_MODE: u32 = 0o600;

/// Proposes a row.
pub(crate) fn run(args: &Teach, home: Option<PathBuf>) -> Result<ExitCode, Complaint> {
    check_name(&args.program)?;
    let proposal = match args.source.as_deref() {
        None => from_manual(&args.program)?,
        Some(source) if source == Path::new("-") => {
            from_help(&args.program, std::io::stdin().lock())?
        }
        Some(file) => from_file(&args.program, file)?,
    };
    if args.write {
        return write(&proposal, &Home::new(home)?);
    }
    let text = format!("programs:\n{}", items(&proposal, 2));
    if args.json {
        let values = config::parse(&text).map_err(config::schema::Problem::typed)?;
        let row = values.pointer("/programs/0").unwrap_or(&Value::Null);
        return written(print_json(row), ExitCode::SUCCESS);
    }
    written(print(&text), ExitCode::SUCCESS)
}

/// Shows the change to config.yaml, asks, and writes it.
fn write(proposal: &Proposal, home: &Home) -> Result<ExitCode, Complaint> {
    let path = home.file();
    let known = config::load(home)?.programs;
    if known.find(&proposal.program).is_some() {
        return Err(Complaint::usage(
            format!("`{}` has a row in {}", proposal.program, path.display()),
            "edit that row, or remove it first",
        ));
    }
    let before = files::read(&path)?;
    let by_hand = || {
        Complaint::failed(
            format!(
                "{} is written in a form this command cannot edit",
                path.display()
            ),
            "without --write the row is printed; put it below `programs:`",
        )
    };
    let text = String::from_utf8(before.clone().unwrap_or_default()).map_err(|_| by_hand())?;
    let after = with_row(&text, proposal).ok_or_else(by_hand)?;
    // What is written must read back, under the checks of any other reading.
    let values = config::parse(&after).map_err(|_| by_hand())?;
    let changes = config::read::changes(&values).map_err(|_| by_hand())?;
    let old = known.iter().count();
    if changes.programs.iter().count() != old + 1 {
        return Err(by_hand());
    }
    let change = Change {
        path,
        before,
        after: Some(after.into_bytes()),
        mode: CONFIG_MODE,
    };
    let mut answers = terminal()?;
    written(
        print(&coloured(&diff(&change, Length::Whole))),
        ExitCode::SUCCESS,
    )?;
    written(print("Write this? [y/N] "), ExitCode::SUCCESS)?;
    let _flushed = std::io::stdout().flush();
    let mut line = String::new();
    let read = answers.read_line(&mut line);
    if read.is_err() || !matches!(line.trim().to_lowercase().as_str(), "y" | "yes") {
        written(print("Nothing was written.\n"), ExitCode::SUCCESS)?;
        return Ok(ExitCode::FAILURE);
    }
    files::write(std::slice::from_ref(&change))?;
    let shown = "Written. Everything in the row asks until you mark it; `countersign config check` checks it.\n";
    written(print(shown), ExitCode::SUCCESS)
}

/// Returns the terminal to read the answer from: standard input may be the help text.
fn terminal() -> Result<BufReader<File>, Complaint> {
    let opened = File::open("/dev/tty").ok().filter(File::is_terminal);
    match opened {
        Some(tty) if std::io::stdout().is_terminal() => Ok(BufReader::new(tty)),
        Some(_) | None => Err(Complaint::usage(
            "nothing was written: there is nobody to ask",
            "run it in a terminal, or without --write",
        )),
    }
}
