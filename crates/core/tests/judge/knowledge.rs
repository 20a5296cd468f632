//! Every example of every row of the knowledge tables holds.
//!
//! What `match` and `not_match` mean is written in `knowledge/README.md`.
#![expect(
    clippy::disallowed_methods,
    reason = "a test may write its findings to a file; the core may not"
)]
#![expect(clippy::panic, reason = "a failing test panics")]

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::act::Act;
use countersign_core::host;
use countersign_core::knowledge::owners::Programs;
use countersign_core::knowledge::{
    ANSWERS, HOSTS, PATHS, PROGRAM_NAMES, PROGRAMS, ROUTES, RouteKind, Row, TREE_PROGRAMS,
    VARIABLES,
};
use countersign_core::place::Ground;
use countersign_core::policy::programs::{self, found, shows_more, shows_what_it_does};

/// Programs the tables have to know at least.
const PROGRAMS_MIN: usize = 400;

/// Returns what `command` was found to do.
fn acts(command: &str) -> Vec<Act> {
    programs::acts(command, Programs::default())
}

/// Failures by row; where `COUNTERSIGN_FAILURES_FILE` is set they are written there in full.
fn no_failures(what: &str, failures: &BTreeMap<String, Vec<String>>) {
    let count: usize = failures.values().map(Vec::len).sum();
    let text: String = failures
        .iter()
        .flat_map(|(row, of)| {
            [row.as_str(), "\n    "]
                .into_iter()
                .map(str::to_owned)
                .chain([of.join("\n    "), "\n".to_owned()])
        })
        .collect();
    if let Some(file) = std::env::var_os("COUNTERSIGN_FAILURES_FILE") {
        let named = format!("{}.{what}", std::path::Path::new(&file).display());
        std::fs::write(&named, &text)
            .unwrap_or_else(|error| panic!("cannot write {named}: {error}"));
    }
    eprint!("{text}");
    assert!(
        count == 0,
        "{what}: {count} examples of {} rows do not hold",
        failures.len()
    );
}

/// All rows, each once: a row with several names stands under each of them.
fn rows() -> Vec<&'static Row> {
    let mut seen = BTreeSet::new();
    let all = PROGRAMS.iter().flat_map(|program| {
        std::iter::once(&program.row).chain(program.subs.iter().map(|(_, row)| *row))
    });
    all.filter(|row| seen.insert(std::ptr::from_ref::<Row>(row)))
        .collect()
}

#[test]
fn every_command_of_a_row_shows_what_the_row_does() {
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut tried = 0;
    for row in rows() {
        for example in row.matches {
            tried += 1;
            let acts = acts(example);
            if !shows_what_it_does(row, &acts) {
                let failure = format!("{example:?} found {}", found(&acts));
                failures
                    .entry(format!("{} ({})", row.name, row.does.word()))
                    .or_default()
                    .push(failure);
            }
        }
    }
    eprintln!("{tried} examples");
    no_failures("match", &failures);
}

#[test]
fn every_look_alike_of_a_row_shows_more_or_something_else() {
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows() {
        for example in row.not_match {
            let acts = acts(example);
            if !shows_more(row, &acts) {
                let failure = format!("{example:?} found {}", found(&acts));
                failures
                    .entry(format!("{} ({})", row.name, row.does.word()))
                    .or_default()
                    .push(failure);
            }
        }
    }
    no_failures("not_match", &failures);
}

#[test]
fn every_path_of_a_row_is_found_by_that_row() {
    let ground = Ground::new(None, None);
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in PATHS {
        for (example, wanted) in row
            .matches
            .iter()
            .map(|path| (path, true))
            .chain(row.not_match.iter().map(|path| (path, false)))
        {
            let place = ground.place(example);
            if (place.what == row.what && place.kind == row.kind) != wanted {
                let failure = format!("{example:?} is {:?} ({})", place.kind, place.what);
                failures
                    .entry(row.what.to_owned())
                    .or_default()
                    .push(failure);
            }
        }
    }
    no_failures("paths", &failures);
}

#[test]
fn every_host_of_a_row_matches_that_row_first() {
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in HOSTS {
        let is_row =
            |address: &&&str| host::row(address).is_some_and(|found| found.what == row.what);
        let wrong = row.matches.iter().filter(|address| !is_row(address));
        let wrong = wrong.chain(row.not_match.iter().filter(is_row));
        let wrong: Vec<String> = wrong.map(|host| (*host).to_owned()).collect();
        if !wrong.is_empty() {
            failures.insert(row.what.to_owned(), wrong);
        }
    }
    no_failures("hosts", &failures);
}

#[test]
fn every_address_of_a_route_is_found_by_that_route() {
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in ROUTES {
        let sends = row.kind == RouteKind::Answers;
        let is_row = |address: &&&str| {
            if row.kind == RouteKind::Message {
                return host::is_message(address);
            }
            host::route(address, sends).is_some_and(|found| {
                found.what == row.what || sends && found.kind == RouteKind::Ours
            })
        };
        let wrong = row.matches.iter().filter(|address| !is_row(address));
        let wrong = wrong.chain(row.not_match.iter().filter(is_row));
        let wrong: Vec<String> = wrong.map(|address| (*address).to_owned()).collect();
        if !wrong.is_empty() {
            failures.insert(row.what.to_owned(), wrong);
        }
    }
    no_failures("routes", &failures);
}

#[test]
fn every_program_of_trees_and_answers_is_known() {
    let programs = TREE_PROGRAMS.iter().map(|(name, _)| *name);
    let programs = programs.chain(ANSWERS.iter());
    let unknown = programs.filter(|name| {
        let program = name.split(' ').next().unwrap_or(name);
        PROGRAM_NAMES
            .binary_search_by(|(known, _)| (*known).cmp(program))
            .is_err()
    });
    let unknown: Vec<&str> = unknown.collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn every_variable_of_a_row_is_found_by_that_row() {
    let found = |assignment: &str| {
        let name = assignment.split('=').next().unwrap_or("");
        let exact = VARIABLES.iter().position(|row| row.names.contains(&name));
        let starred = |row: &&str| {
            row.strip_suffix('*')
                .is_some_and(|start| name.starts_with(start))
        };
        exact.or_else(|| {
            VARIABLES
                .iter()
                .position(|row| row.names.iter().any(starred))
        })
    };
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (number, row) in VARIABLES.iter().enumerate() {
        let wrong = row
            .matches
            .iter()
            .filter(|example| found(example) != Some(number));
        let wrong = wrong.chain(
            row.not_match
                .iter()
                .filter(|example| found(example) == Some(number)),
        );
        let wrong: Vec<String> = wrong.map(|example| (*example).to_owned()).collect();
        if !wrong.is_empty() {
            failures.insert(row.what.to_owned(), wrong);
        }
    }
    no_failures("variables", &failures);
}

#[test]
fn rows_that_accept_any_option_name_the_manual_they_were_reviewed_against() {
    let open: Vec<&Row> = rows().into_iter().filter(|row| !row.closed).collect();
    let mut by_manual: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in &open {
        by_manual.entry(row.manual).or_default().push(row.name);
    }
    for (manual, names) in &by_manual {
        eprintln!("{manual}: {}", names.join(", "));
    }
    eprintln!("{} rows accept any option", open.len());
    let without = by_manual.get("").cloned().unwrap_or_default();
    assert!(
        without.is_empty(),
        "these rows accept any option and name no manual: {without:?}"
    );
}

#[test]
fn no_name_stands_twice_and_enough_programs_are_known() {
    let mut names = BTreeSet::new();
    let doubled: Vec<&str> = PROGRAM_NAMES
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !names.insert(*name))
        .collect();
    assert!(doubled.is_empty(), "programs with two rows: {doubled:?}");
    for program in PROGRAMS {
        let mut names = BTreeSet::new();
        let doubled: Vec<&str> = program
            .subs
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| !names.insert(*name))
            .collect();
        assert!(
            doubled.is_empty(),
            "subcommands of {} with two rows: {doubled:?}",
            program.row.name
        );
    }
    assert!(
        PROGRAMS.len() >= PROGRAMS_MIN,
        "only {} programs are known",
        PROGRAMS.len()
    );
    eprintln!(
        "{} programs under {} names, {} rows",
        PROGRAMS.len(),
        PROGRAM_NAMES.len(),
        rows().len()
    );
}
