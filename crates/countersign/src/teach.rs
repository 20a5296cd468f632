//! Proposes a row for a program, from its help or its manual page.
//!
//! Nothing is run, and the text is not believed: whoever wrote the program wrote it. Names of
//! subcommands and options are taken from it, nothing else, and only those made of letters, digits and
//! a few signs. Whatever the text says, every subcommand of the proposal asks until the owner marks it.

mod help;
mod manual;
mod roff;
mod row;

use std::io::Read;
use std::path::Path;

use countersign_core::call::ToolCall;
use countersign_core::judge::judge;
use countersign_core::policy::programs::{is_describable, is_name};
use countersign_core::policy::{Changes, Policy};
use countersign_core::verdict::Verdict;

use crate::complaint::Complaint;
use crate::config;
pub(crate) use row::{items, with_row};

/// Longest help that is read.
const HELP_BYTES_MAX: u64 = 512 * 1024;

/// A row in the making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// The program.
    pub(crate) program: String,
    /// Its subcommands, each with its other names.
    pub(crate) subs: Vec<Vec<String>>,
    /// Its options.
    pub(crate) options: Vec<Opt>,
}

/// An option as a help text shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opt {
    /// Its spellings.
    pub(crate) names: Vec<String>,
    /// Whether it takes a value.
    pub(crate) value: Takes,
}

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// It does not.
    Nothing,
    /// The rest of its word, or the next word.
    Value,
    /// The rest of its word, if there is any.
    Attached,
}

/// Checks that a row for `program` would say something new.
pub(crate) fn check_name(program: &str) -> Result<(), Complaint> {
    if is_describable(program) {
        return Ok(());
    }
    let shown = countersign_core::display::inline(program);
    Err(if is_name(program) {
        Complaint::usage(
            format!("`{shown}` is known already"),
            format!(
                "`countersign check '{shown} …'` shows what is known; to be stricter, add rules under approvals.ask"
            ),
        )
    } else {
        Complaint::usage(
            format!("`{shown}` is no name that can be described"),
            "give the bare name of a program: letters, digits, `.`, `_`, `+` and `-`",
        )
    })
}

/// Proposes a row for `program` from the help text in `input`.
pub(crate) fn from_help(program: &str, input: impl Read) -> Result<Proposal, Complaint> {
    let mut bytes = Vec::new();
    input
        .take(HELP_BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(|error| Complaint::failed(format!("cannot read the help: {error}"), ""))?;
    found(program, &String::from_utf8_lossy(&bytes))
}

/// Proposes a row for `program` from its manual page.
pub(crate) fn from_manual(program: &str) -> Result<Proposal, Complaint> {
    let page = manual::page(program)?;
    found(program, &roff::plain(&page))
}

/// Proposes a row for `program` from the text in `file`.
pub(crate) fn from_file(program: &str, file: &Path) -> Result<Proposal, Complaint> {
    let opened = std::fs::File::open(file).map_err(|error| {
        let message = format!("cannot read {}: {error}", file.display());
        Complaint::usage(message, "`-` reads standard input")
    })?;
    from_help(program, opened)
}

fn found(program: &str, text: &str) -> Result<Proposal, Complaint> {
    let proposal = help::read(program, text);
    if proposal.subs.is_empty() && proposal.options.is_empty() {
        return Err(Complaint::failed(
            "no subcommands and no options were found in the text",
            format!(
                "`{program} --help | countersign teach {program} -` reads its help; or write the row by hand, see docs/configuration.md"
            ),
        ));
    }
    is_asked_about(&proposal)?;
    Ok(proposal)
}

/// Makes sure of what the proposal promises, whatever stood in the text: it can be read, and every
/// subcommand asks.
fn is_asked_about(proposal: &Proposal) -> Result<(), Complaint> {
    let broken = || {
        Complaint::failed(
            "no row can be made from this text",
            "write the row by hand, see docs/configuration.md",
        )
    };
    let text = format!("programs:\n{}", items(proposal, 2));
    let values = config::parse(&text).map_err(|_| broken())?;
    let changes: Changes = config::read::changes(&values).map_err(|_| broken())?;
    let policy = Policy::default().with(changes);
    let subs = proposal.subs.iter().flatten();
    let mut commands = subs.map(|sub| format!("{} {sub} x", proposal.program));
    let asked = |command: String| {
        judge(&policy, &ToolCall::command(command)).ruling.verdict >= Verdict::Ask
    };
    if commands.all(asked) {
        Ok(())
    } else {
        Err(broken())
    }
}

#[cfg(test)]
mod tests;
