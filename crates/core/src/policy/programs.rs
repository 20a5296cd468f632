//! Checks what the owner says about their own programs, as the tables are checked by their tests:
//! names, limits, and examples that hold.

use std::collections::BTreeSet;

use crate::act::Act;
use crate::follow::program::{self, is_taken};
use crate::follow::walk::{Knows, Walk};
use crate::knowledge::owners::{ProgramText, Programs, RowError, RowText, compile};
use crate::knowledge::{Effect, Role, Row};
use crate::place::Ground;
use crate::shell::syntax::Span;

/// Programs an owner may describe.
pub const PROGRAMS_MAX: usize = 256;
/// Subcommands of one program, by rows.
pub const SUBS_MAX: usize = 256;
/// Names, option lines or examples of one row.
pub const LINES_MAX: usize = 128;
/// Longest text of a name, an option line or an example.
pub const LINE_BYTES_MAX: usize = 512;
/// Most words of a subcommand's name.
const SUB_WORDS_MAX: usize = 4;

/// Reads the owner's rows and checks them.
pub fn read(texts: &[ProgramText]) -> Result<Programs, RowError> {
    if texts.len() > PROGRAMS_MAX {
        let what = format!("there are more than {PROGRAMS_MAX} programs");
        return Err(error(
            PROGRAMS_MAX,
            None,
            "names",
            &RowText::default(),
            what,
        ));
    }
    let mut names = BTreeSet::new();
    for (at, text) in texts.iter().enumerate() {
        check_names(at, text, &mut names)?;
        check_subs(at, text)?;
    }
    let programs = compile(texts, &is_taken)?;
    for (at, text) in texts.iter().enumerate() {
        check_examples(at, text, programs)?;
    }
    Ok(programs)
}

/// Whether a program that is described may have this name.
pub fn is_name(name: &str) -> bool {
    program::is_name(name)
}

/// Whether a row of the owner would speak for this name alone: it can be a name, and our tables do
/// not know it.
pub fn is_describable(name: &str) -> bool {
    program::is_describable(name)
}

/// Whether the name of an option speaks of more than looking or building: `--force`, `--exec`.
pub fn speaks_of_more(option: &str) -> bool {
    program::speaks_of_more(option)
}

fn error(
    program: usize,
    sub: Option<usize>,
    column: &'static str,
    row: &RowText,
    what: impl Into<String>,
) -> RowError {
    RowError {
        program,
        sub,
        column,
        line: None,
        name: row.names.first().cloned().unwrap_or_default(),
        what: what.into(),
    }
}

fn check_names<'t>(
    at: usize,
    text: &'t ProgramText,
    known: &mut BTreeSet<&'t str>,
) -> Result<(), RowError> {
    let own = &text.own;
    let wrong = |what: String| Err(error(at, None, "names", own, what));
    if own.names.is_empty() {
        return wrong("a program needs a name".to_owned());
    }
    for name in &own.names {
        if !is_name(name) {
            let what =
                "a name has letters, digits, `.`, `_`, `+` and `-` only, at most 64, and no path";
            return wrong(what.to_owned());
        }
        if !known.insert(name) {
            return wrong(format!("`{name}` has two rows"));
        }
    }
    check_lines(at, None, own)?;
    if text.everywhere.len() > LINES_MAX {
        return wrong(format!(
            "there are more than {LINES_MAX} lines in `everywhere`"
        ));
    }
    Ok(())
}

fn check_subs(at: usize, text: &ProgramText) -> Result<(), RowError> {
    if text.subs.len() > SUBS_MAX {
        let what = format!("there are more than {SUBS_MAX} rows of subcommands");
        return Err(error(at, None, "subs", &text.own, what));
    }
    let mut names = BTreeSet::new();
    for (place, sub) in text.subs.iter().enumerate() {
        let wrong = |what: String| Err(error(at, Some(place), "names", sub, what));
        if sub.names.is_empty() {
            return wrong("a subcommand needs a name".to_owned());
        }
        for name in &sub.names {
            if !is_sub_name(name) {
                let what = "a subcommand is up to four words of letters, digits and `.:/_@+-`, with one blank between them";
                return wrong(what.to_owned());
            }
            if !names.insert(name) {
                return wrong(format!("`{name}` has two rows"));
            }
        }
        check_lines(at, Some(place), sub)?;
    }
    Ok(())
}

fn is_sub_name(name: &str) -> bool {
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'.' | b':' | b'/' | b'_' | b'@' | b'+' | b'-')
    };
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(is_plain);
    name.split(' ').count() <= SUB_WORDS_MAX
        && !name.starts_with('-')
        && name.split(' ').all(is_word)
}

fn check_lines(at: usize, sub: Option<usize>, row: &RowText) -> Result<(), RowError> {
    let columns = [
        ("names", &row.names),
        ("flags", &row.flags),
        ("match", &row.matches),
        ("not_match", &row.not_match),
    ];
    for (column, lines) in columns {
        if lines.len() > LINES_MAX {
            let what = format!("there are more than {LINES_MAX} lines in `{column}`");
            return Err(error(at, sub, column, row, what));
        }
        if let Some(line) = lines.iter().position(|line| line.len() > LINE_BYTES_MAX) {
            let what = format!("a line of `{column}` is longer than {LINE_BYTES_MAX} bytes");
            return Err(RowError {
                line: Some(line),
                ..error(at, sub, column, row, what)
            });
        }
    }
    Ok(())
}

fn check_examples(at: usize, text: &ProgramText, programs: Programs) -> Result<(), RowError> {
    let name = text.own.names.first().map_or("", String::as_str);
    let Some(program) = programs.find(name).map(|described| described.program) else {
        return Ok(());
    };
    let own = std::iter::once((None, &text.own, Some(&program.row)));
    let subs = text.subs.iter().enumerate().map(|(place, sub)| {
        let first = sub.names.first().map_or("", String::as_str);
        let found = program.subs.iter().find(|(known, _)| *known == first);
        (Some(place), sub, found.map(|(_, row)| *row))
    });
    for (place, text, row) in own.chain(subs) {
        let Some(row) = row else { continue };
        let missed = text
            .matches
            .iter()
            .position(|example| !shows_what_it_does(row, &acts(example, programs)));
        let overdone = text
            .not_match
            .iter()
            .position(|example| !shows_more(row, &acts(example, programs)));
        let (column, lines, line) = match (missed, overdone) {
            (Some(line), _) => ("match", &text.matches, line),
            (None, Some(line)) => ("not_match", &text.not_match, line),
            (None, None) => continue,
        };
        let example = lines.get(line).map_or("", String::as_str);
        let what = if column == "match" {
            format!(
                "`{example}` is listed under match, but it is not found to do `{}`: {}",
                row.does.word(),
                found(&acts(example, programs))
            )
        } else {
            format!("`{example}` is listed under not_match, but the row holds for it")
        };
        return Err(RowError {
            name: row.name.to_owned(),
            line: Some(line),
            ..error(at, place, column, text, what)
        });
    }
    Ok(())
}

/// Returns what `command` is found to do, where the owner's `programs` are known.
pub fn acts(command: &str, programs: Programs) -> Vec<Act> {
    let knows = Knows {
        trusts_workspace: true,
        programs,
        ..Knows::default()
    };
    let mut walk = Walk::new(Ground::new(None, None), &knows);
    walk.text(command, Span::default());
    walk.acts
}

/// Returns what was found, each once.
pub fn found(acts: &[Act]) -> String {
    let acts: BTreeSet<String> = acts
        .iter()
        .map(|act| format!("{}:{}", act.program, act.effect.word()))
        .collect();
    acts.into_iter().collect::<Vec<_>>().join(" ")
}

/// Whether a row shows in what was found: an example of `match` holds.
pub fn shows_what_it_does(row: &Row, acts: &[Act]) -> bool {
    // With an option for help, a check or a dry run a row only shows or reads something.
    let by_itself = |act: &Act| {
        act.program == row.name && (act.effect == row.does || act.effect <= Effect::Read)
    };
    // A row with subcommands shows through the row of one.
    let by_a_sub = |act: &Act| {
        act.program
            .strip_prefix(row.name)
            .is_some_and(|rest| rest.starts_with(' '))
    };
    // A wrapper around a command is what the command is, but it is something: a reader that finds
    // nothing has not read its example.
    let is_wrapper = row.reader.is_some()
        || row
            .operands
            .iter()
            .any(|operand| matches!(operand.role, Role::Command | Role::Shell));
    acts.iter().any(|act| by_itself(act) || by_a_sub(act))
        || is_wrapper && !acts.is_empty() && acts.iter().all(|act| act.program != row.name)
}

/// Whether more, or something else, was found than what the row does: an example of `not_match` holds.
pub fn shows_more(row: &Row, acts: &[Act]) -> bool {
    let this_row = acts
        .iter()
        .any(|act| act.program == row.name && act.effect == row.does);
    let usual = Act::new(row.does, row.name, Span::default()).risk();
    let more = acts.iter().any(|act| {
        act.effect > row.does || act.marks.unreadable || act.marks.floor || act.risk() > usual
    });
    !this_row || more
}
