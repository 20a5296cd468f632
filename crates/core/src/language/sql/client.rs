//! Meta-commands of database clients: `\dt`, `\!`, `.tables`, `.shell`, `source`.

use super::{Dialect, statement, tokens};
use crate::language::{Deed, Reading, runs_its_input};

const UNKNOWN: &str = "an unknown command of the database client";
const FOREIGN_FILE: &str = "SQL or code from a file";
const EDITOR: &str = "a database client that opens an editor or a viewer";
const COMPUTED: &str = "a database client that runs what a query returns";

/// What a client command means.
#[derive(Clone, Copy)]
enum Means {
    Read,
    /// The rest of the line is for the shell.
    Shell,
    /// Runs the statements in a file, or what a program prints.
    Script,
    /// Writes output to a file, or into a program.
    Output,
    /// The words at these places are a file that is read into the database.
    Import,
    Write,
    Admin,
    Restore,
    Opaque(&'static str),
}

/// Commands of `psql`. A star stands for any ending.
const PSQL: [(&str, Means); 66] = [
    ("d*", Means::Read),
    ("l*", Means::Read),
    ("z", Means::Read),
    ("zS", Means::Read),
    ("sf", Means::Read),
    ("sf+", Means::Read),
    ("sv", Means::Read),
    ("sv+", Means::Read),
    ("c", Means::Read),
    ("connect", Means::Read),
    ("conninfo", Means::Read),
    ("encoding", Means::Read),
    ("errverbose", Means::Read),
    ("h", Means::Read),
    ("help", Means::Read),
    ("?", Means::Read),
    ("copyright", Means::Read),
    ("q", Means::Read),
    ("quit", Means::Read),
    ("echo", Means::Read),
    ("qecho", Means::Read),
    ("warn", Means::Read),
    ("a", Means::Read),
    ("t", Means::Read),
    ("x", Means::Read),
    ("f", Means::Read),
    ("H", Means::Read),
    ("html", Means::Read),
    ("C", Means::Read),
    ("T", Means::Read),
    ("pset", Means::Read),
    ("timing", Means::Read),
    ("set", Means::Read),
    ("unset", Means::Read),
    ("if", Means::Read),
    ("elif", Means::Read),
    ("else", Means::Read),
    ("endif", Means::Read),
    ("p", Means::Read),
    ("print", Means::Read),
    ("r", Means::Read),
    ("reset", Means::Read),
    ("watch", Means::Read),
    ("gdesc", Means::Read),
    ("gset", Means::Opaque(COMPUTED)),
    ("gexec", Means::Opaque(COMPUTED)),
    ("crosstabview", Means::Read),
    ("bind", Means::Read),
    ("parse", Means::Read),
    ("cd", Means::Read),
    (";", Means::Read),
    ("g", Means::Output),
    ("gx", Means::Output),
    ("o", Means::Output),
    ("out", Means::Output),
    ("w", Means::Output),
    ("write", Means::Output),
    ("s", Means::Output),
    ("i", Means::Script),
    ("ir", Means::Script),
    ("include", Means::Script),
    ("include_relative", Means::Script),
    ("!", Means::Shell),
    ("password", Means::Admin),
    ("e", Means::Opaque(EDITOR)),
    ("setenv", Means::Opaque(UNKNOWN)),
];

/// Commands of `mysql`, by letter and by word.
const MYSQL: [(&str, Means); 34] = [
    ("!", Means::Shell),
    ("system", Means::Shell),
    (".", Means::Script),
    ("source", Means::Script),
    ("T", Means::Output),
    ("tee", Means::Output),
    ("t", Means::Read),
    ("notee", Means::Read),
    ("P", Means::Shell),
    ("pager", Means::Shell),
    ("n", Means::Read),
    ("nopager", Means::Read),
    ("e", Means::Opaque(EDITOR)),
    ("edit", Means::Opaque(EDITOR)),
    ("d", Means::Opaque(UNKNOWN)),
    ("delimiter", Means::Opaque(UNKNOWN)),
    ("g", Means::Read),
    ("G", Means::Read),
    ("c", Means::Read),
    ("clear", Means::Read),
    ("r", Means::Read),
    ("connect", Means::Read),
    ("u", Means::Read),
    ("s", Means::Read),
    ("status", Means::Read),
    ("h", Means::Read),
    ("q", Means::Read),
    ("p", Means::Read),
    ("R", Means::Read),
    ("prompt", Means::Read),
    ("rehash", Means::Read),
    ("C", Means::Read),
    ("W", Means::Read),
    ("w", Means::Read),
];

/// Commands of `sqlite3`. Those with effects come first, because the client takes abbreviations.
const SQLITE: [(&str, Means); 73] = [
    ("shell", Means::Shell),
    ("system", Means::Shell),
    ("read", Means::Script),
    ("output", Means::Output),
    ("once", Means::Output),
    ("backup", Means::Output),
    ("save", Means::Output),
    ("clone", Means::Output),
    ("log", Means::Output),
    ("trace", Means::Output),
    ("import", Means::Import),
    ("open", Means::Output),
    ("restore", Means::Restore),
    ("load", Means::Opaque(FOREIGN_FILE)),
    ("excel", Means::Opaque(EDITOR)),
    ("www", Means::Opaque(EDITOR)),
    ("archive", Means::Opaque(UNKNOWN)),
    ("session", Means::Opaque(UNKNOWN)),
    ("filectrl", Means::Opaque(UNKNOWN)),
    ("testctrl", Means::Opaque(UNKNOWN)),
    ("dbconfig", Means::Admin),
    ("unmodule", Means::Admin),
    ("imposter", Means::Write),
    ("tables", Means::Read),
    ("schema", Means::Read),
    ("fullschema", Means::Read),
    ("indexes", Means::Read),
    ("indices", Means::Read),
    ("databases", Means::Read),
    ("dump", Means::Read),
    ("recover", Means::Read),
    ("mode", Means::Read),
    ("headers", Means::Read),
    ("header", Means::Read),
    ("separator", Means::Read),
    ("nullvalue", Means::Read),
    ("width", Means::Read),
    ("show", Means::Read),
    ("stats", Means::Read),
    ("timer", Means::Read),
    ("timeout", Means::Read),
    ("echo", Means::Read),
    ("explain", Means::Read),
    ("eqp", Means::Read),
    ("help", Means::Read),
    ("print", Means::Read),
    ("prompt", Means::Read),
    ("quit", Means::Read),
    ("exit", Means::Read),
    ("bail", Means::Read),
    ("binary", Means::Read),
    ("cd", Means::Read),
    ("changes", Means::Read),
    ("check", Means::Read),
    ("connection", Means::Read),
    ("crlf", Means::Read),
    ("crnl", Means::Read),
    ("dbinfo", Means::Read),
    ("dbtotxt", Means::Read),
    ("expert", Means::Read),
    ("limit", Means::Read),
    ("lint", Means::Read),
    ("nonce", Means::Read),
    ("parameter", Means::Read),
    ("param", Means::Read),
    ("progress", Means::Read),
    ("scanstats", Means::Read),
    ("selftest", Means::Read),
    ("sha3sum", Means::Read),
    ("vfsinfo", Means::Read),
    ("vfslist", Means::Read),
    ("vfsname", Means::Read),
    ("version", Means::Read),
];

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
    let means = MYSQL
        .iter()
        .find(|(known, _)| *known == name || (known.len() > 1 && known.eq_ignore_ascii_case(name)));
    match means {
        Some((_, means)) => apply(*means, name, rest.trim_end_matches(';'), reading),
        None => reading.hide(UNKNOWN),
    }
}

fn sqlite(line: &str, reading: &mut Reading) {
    let (name, rest) = split_word(line);
    let name = name.to_ascii_lowercase();
    let exact = SQLITE.iter().find(|(known, _)| *known == name);
    let means = exact.or_else(|| SQLITE.iter().find(|(known, _)| known.starts_with(&name)));
    match means {
        Some((known, means)) if !name.is_empty() => apply(*means, known, rest, reading),
        _ => reading.hide(UNKNOWN),
    }
}

/// One line may hold several commands of `psql`; each starts at a backslash outside quotes.
fn psql(line: &str, reading: &mut Reading) {
    let mut rest = line;
    while let Some(command) = rest.strip_prefix('\\') {
        if let Some(shell) = command.strip_prefix('!') {
            apply(Means::Shell, "!", shell, reading);
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
            let means = PSQL
                .iter()
                .find(|(known, _)| match known.strip_suffix('*') {
                    Some(stem) => name.starts_with(stem),
                    None => *known == name,
                });
            match means {
                Some((_, means)) => apply(*means, name, arguments, reading),
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

fn apply(means: Means, name: &str, rest: &str, reading: &mut Reading) {
    let argument = unquoted(rest);
    match means {
        Means::Read => reading.see(Deed::DbRead),
        Means::Shell if argument.is_empty() => reading.hide(UNKNOWN),
        Means::Shell => reading.see(Deed::Shell(rest.trim().to_owned())),
        Means::Script => {
            match argument.strip_prefix('|') {
                Some(command) => reading.see(Deed::Shell(command.trim().to_owned())),
                None => reading.see(Deed::ReadFile(argument)),
            }
            reading.hide(FOREIGN_FILE);
        }
        Means::Output => {
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
        Means::Import => {
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
            reading.see(Deed::DbWrite(name.to_owned()));
        }
        Means::Write => reading.see(Deed::DbWrite(name.to_owned())),
        Means::Admin => reading.see(Deed::DbAdmin(name.to_owned())),
        Means::Restore => {
            reading.see(Deed::ReadFile(unquoted(
                argument.split_whitespace().last().unwrap_or_default(),
            )));
            reading.see(Deed::DbDestroy(name.to_owned()));
        }
        Means::Opaque(why) => reading.hide(why),
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
