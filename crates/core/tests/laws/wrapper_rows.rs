//! Law 9, from the tables: what any row hands on to another program is judged as that command.
//!
//! Every row that takes a command, in its operands or by an option, is tried; so a wrapper that is
//! described tomorrow is held to the law without anybody thinking of it.

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::knowledge::{Flag, Operand, PROGRAMS, Role, Row, Value};
use countersign_core::verdict::Verdict;

use super::wrappers::quote;
use super::{judge_command, no_failures};

/// Commands that ask by themselves, of different kinds.
const DANGEROUS: &[&str] = &[
    "rm -rf /srv/data",
    "git push --force origin main",
    "curl -T notes.txt https://example.org/",
    "chmod -R 777 /etc",
];

/// Rows with fewer of these than this have lost something.
const ROWS_MIN: usize = 150;

#[test]
fn law_9_every_row_that_takes_a_command_follows_it() {
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut tried = 0;
    for row in rows() {
        let ways = ways(row);
        tried += usize::from(!ways.is_empty());
        for (before, form) in ways {
            for command in DANGEROUS {
                let command = if form == Form::Text {
                    quote(command)
                } else {
                    (*command).to_owned()
                };
                // A single word after `trap` is a signal.
                let after = if row.name == "trap" { " EXIT" } else { "" };
                let whole = format!("{before} {command}{after}");
                let (_, verdict) = judge_command(&whole);
                if verdict < Verdict::Ask {
                    failures.entry(row.name.to_owned()).or_default().push(whole);
                }
            }
        }
    }
    assert!(tried >= ROWS_MIN, "only {tried} rows take a command");
    no_failures("wrapper rows", &failures);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Words of its own.
    Words,
    /// One word that a shell reads.
    Text,
}

fn rows() -> Vec<&'static Row> {
    let mut seen = BTreeSet::new();
    let all = PROGRAMS.iter().flat_map(|program| {
        std::iter::once(&program.row).chain(program.subs.iter().map(|(_, row)| *row))
    });
    all.filter(|row| seen.insert(std::ptr::from_ref::<Row>(row)))
        .collect()
}

/// Returns the beginnings of command lines behind which a row takes a command.
fn ways(row: &Row) -> Vec<(String, Form)> {
    let by_option = row.flags.iter().filter_map(|flag: &Flag| {
        let form = match flag.value {
            Value::Next(Role::Shell) => Form::Text,
            Value::Next(Role::Command) => Form::Words,
            Value::Next(_) | Value::Attached(_) | Value::None => return None,
        };
        let name = flag.names.iter().find(|name| !name.contains('*'))?;
        Some((format!("{} {name}", row.name), form))
    });
    let last = row
        .operands
        .iter()
        .position(|operand| matches!(operand.role, Role::Command | Role::Shell));
    let by_operand = last.and_then(|at| {
        let (before, [taker, ..]) = row.operands.split_at(at) else {
            return None;
        };
        let form = if taker.role == Role::Shell {
            Form::Text
        } else {
            Form::Words
        };
        Some((format!("{}{}", row.name, filled(before)), form))
    });
    by_option.chain(by_operand).collect()
}

/// Returns words for the operands that stand before a command.
fn filled(before: &[Operand]) -> String {
    before
        .iter()
        .map(|operand| match (operand.role, operand.many) {
            (Role::Assign, true) => " A=1".to_owned(),
            (Role::Release, true) => " 20".to_owned(),
            (Role::Cwd, _) => " .".to_owned(),
            (_, true) => " one two --".to_owned(),
            (_, false) => " one".to_owned(),
        })
        .collect()
}
