//! Meta-commands of database clients: `\dt`, `\!`, `.tables`, `.shell`, `source`.

use super::{Dialect, statement, tokens};
use crate::knowledge::languages::{Call, SQL_MYSQL, SQL_PSQL, SQL_SQLITE};
use crate::knowledge::{Effect, Role};
use crate::language::{Deed, Reading, deed_of, runs_its_input};

const UNKNOWN: &str = "an unknown command of the database client";
const FOREIGN_FILE: &str = "SQL or code from a file";
const EDITOR: &str = "a database client that opens an editor or a viewer";
const COMPUTED: &str = "a database client that runs what a query returns";

/// Notes what a client command does.
pub(super) fn judge(line: &str, dialect: Dialect, reading: &mut Reading) {
    match line.chars().next() {
        Some('.') => sqlite(line.trim_start_matches('.'), reading),
        Some('\\') if dialect == Dialect::Mysql => {
            let mut letters = line.chars();
            letters.next();
            let name: String = letters.next().into_iter().collect();
            mysql(&name, letters.as_str(), reading);
        }
        Some('\\') => psql(line, reading),
        Some('!') => {
            let command = line.trim_start_matches('!').trim();
            reading.see(Deed::Shell(command.to_owned()));
        }
        _ => {
            let (name, rest) = split_word(line);
            mysql(name, rest, reading);
        }
    }
}

fn mysql(name: &str, rest: &str, reading: &mut Reading) {
    // Letters mean something else in the other case.
    let command = if name.len() > 1 {
        SQL_MYSQL.get_in_any_case(name)
    } else {
        SQL_MYSQL.get(name)
    };
    match command {
        Some(command) => apply(command, name, rest.trim_end_matches(';'), reading),
        None => reading.hide(UNKNOWN),
    }
}

fn sqlite(line: &str, reading: &mut Reading) {
    let (name, rest) = split_word(line);
    let name = name.to_ascii_lowercase();
    let exact = SQL_SQLITE
        .get(&name)
        .map(|command| (name.as_str(), command));
    match exact.or_else(|| SQL_SQLITE.starting_with(&name)) {
        Some((known, command)) if !name.is_empty() => apply(command, known, rest, reading),
        _ => reading.hide(UNKNOWN),
    }
}

/// One line may hold several commands of `psql`; each starts at a backslash outside quotes.
fn psql(line: &str, reading: &mut Reading) {
    let mut rest = line;
    while let Some(command) = rest.strip_prefix('\\') {
        if let Some(shell) = command.strip_prefix('!') {
            run(shell, reading);
            return;
        }
        let end = end_of_command(command);
        let (command, following) = command.split_at_checked(end).unwrap_or((command, ""));
        rest = following;
        let (name, arguments) = split_word(command);
        for ticked in arguments.split('`').skip(1).step_by(2) {
            reading.see(Deed::Shell(ticked.to_owned()));
        }
        if name == "copy" {
            copy(arguments, reading);
        } else if name.starts_with("lo_") {
            large_object(name, arguments, reading);
        } else {
            // Whole families are listed by their first letter: `d*`.
            let family = || SQL_PSQL.get(&format!("{}*", name.get(..1)?));
            match SQL_PSQL.get(name).or_else(family) {
                Some(command) => apply(command, name, arguments, reading),
                None => reading.hide(UNKNOWN),
            }
        }
    }
}

/// Where the next backslash outside quotes stands.
fn end_of_command(command: &str) -> usize {
    let mut quote = None;
    for (at, c) in command.char_indices().skip(1) {
        match (quote, c) {
            (None, '\'' | '"' | '`') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '\\') => return at,
            _ => {}
        }
    }
    command.len()
}

/// `\copy` is `COPY`, with files of the client.
fn copy(arguments: &str, reading: &mut Reading) {
    let text = format!("COPY {arguments}");
    let split = tokens::split(&text, Dialect::Psql);
    for piece in &split.pieces {
        match piece {
            tokens::Piece::Statement(tokens) => statement::judge(tokens, Dialect::Psql, reading),
            tokens::Piece::Client(_) => reading.hide(UNKNOWN),
        }
    }
    if let Some(why) = split.hidden {
        reading.hide(why);
    }
}

fn large_object(name: &str, arguments: &str, reading: &mut Reading) {
    let (first, rest) = split_word(arguments.trim_start());
    match name {
        "lo_list" | "lo_list+" => reading.see(Deed::DbRead),
        "lo_import" => {
            reading.see(Deed::ReadFile(unquoted(first)));
            reading.see(Deed::DbWrite(name.to_owned()));
        }
        "lo_export" => reading.see(Deed::WriteFile(unquoted(rest))),
        "lo_unlink" => reading.see(Deed::DbDestroy(format!("large object {first}"))),
        _ => reading.hide(UNKNOWN),
    }
}

fn apply(command: &Call, name: &str, rest: &str, reading: &mut Reading) {
    match command.takes.first().map(|operand| operand.role) {
        Some(Role::Shell) => run(rest, reading),
        Some(Role::Script) => script(unquoted(rest), reading),
        Some(Role::Write) => output(&unquoted(rest), reading),
        Some(Role::Read) if command.does == Effect::DbWrite => {
            import(rest, reading);
            reading.see(Deed::DbWrite(name.to_owned()));
        }
        Some(Role::Read) => {
            let argument = unquoted(rest);
            let file = argument.split_whitespace().last().unwrap_or_default();
            reading.see(Deed::ReadFile(unquoted(file)));
            reading.see(Deed::DbDestroy(name.to_owned()));
        }
        Some(Role::Load) => reading.hide(FOREIGN_FILE),
        Some(_) => reading.hide(UNKNOWN),
        None => match deed_of(command.does, name.to_owned()) {
            Some(deed) => reading.see(deed),
            None if command.does == Effect::Interactive => reading.hide(EDITOR),
            None if command.does == Effect::Exec => reading.hide(COMPUTED),
            None => reading.hide(UNKNOWN),
        },
    }
}

/// The rest of the line is for the shell.
fn run(rest: &str, reading: &mut Reading) {
    if unquoted(rest).is_empty() {
        reading.hide(UNKNOWN);
    } else {
        reading.see(Deed::Shell(rest.trim().to_owned()));
    }
}

/// Runs the statements in a file, or what a program prints.
fn script(argument: String, reading: &mut Reading) {
    match argument.strip_prefix('|') {
        Some(command) => reading.see(Deed::Shell(command.trim().to_owned())),
        None => reading.see(Deed::ReadFile(argument)),
    }
    reading.hide(FOREIGN_FILE);
}

/// Writes output to a file, or into a program.
fn output(argument: &str, reading: &mut Reading) {
    // Options such as `-x` of `.once` and `--new` of `.open` come before the file.
    let file = argument
        .split_whitespace()
        .find(|word| !word.starts_with('-'))
        .unwrap_or_default();
    if let Some(command) = argument.strip_prefix('|') {
        if runs_its_input(command) {
            reading.hide(COMPUTED);
        }
        reading.see(Deed::Shell(command.trim().to_owned()));
    } else if argument.contains("-x") || argument.contains("-e") && file.is_empty() {
        reading.hide(EDITOR);
    } else if matches!(file, "" | "stdout" | "stderr" | "on" | "off" | ":memory:")
        || file.starts_with('(')
    {
        reading.see(Deed::DbRead);
    } else {
        // The name of a database may stand before the file.
        let file = argument.split_whitespace().last().unwrap_or(file);
        reading.see(Deed::WriteFile(unquoted(file)));
    }
}

/// Reads a file, or what a program prints, into the database.
fn import(rest: &str, reading: &mut Reading) {
    let file = rest.split_whitespace().find(|word| !word.starts_with('-'));
    match file.map(unquoted) {
        Some(_) if rest.contains('|') => {
            let command = rest.split('|').nth(1).unwrap_or_default();
            let command = command.trim_end_matches(|c: char| c != '"' && c != '\'');
            reading.see(Deed::Shell(
                command.trim_end_matches(['"', '\'']).to_owned(),
            ));
        }
        Some(file) => reading.see(Deed::ReadFile(file)),
        None => reading.hide(UNKNOWN),
    }
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

fn unquoted(text: &str) -> String {
    let text = text.trim().trim_end_matches(';').trim_end();
    let inner = ['\'', '"'].iter().find_map(|quote| {
        text.strip_prefix(*quote)
            .and_then(|text| text.strip_suffix(*quote))
    });
    inner.unwrap_or(text).to_owned()
}
