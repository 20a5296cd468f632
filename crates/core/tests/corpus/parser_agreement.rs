//! Holds our shell parser against `bash -n` and against another parser.
//!
//! What bash accepts we must read, or people are asked needlessly; what bash reads differently we
//! must not misread, or something runs that nobody judged. So both acceptance and structure are
//! compared: the programs that are named where a command begins, substitutions included.
#![expect(
    clippy::disallowed_methods,
    reason = "a test may read files, run bash and use threads; the core may not"
)]

use std::collections::BTreeMap;
use std::process::{Command as Process, Stdio};

use crate::rows::{self, Row};
use crate::shuck;
use countersign_core::shell::parse::parse;
use countersign_core::shell::syntax::{
    AssignedValue, Block, Command, Part, Redirect, Script, Simple, Word,
};

/// Differences that are explained. A row counts as explained when its command contains one of these.
const EXPLAINED: &[(&str, &str)] = &[
    (
        "`",
        "bash -n does not parse what stands between backticks, we do",
    ),
    (
        "=(",
        "zsh `=( … )` runs a command; bash calls it an error, we read it",
    ),
    (
        "*(e:",
        "a zsh glob qualifier runs code; bash needs extglob, we read it",
    ),
];

/// Of the benign rows every one in so many is looked at in the normal run.
const BENIGN_STEP: usize = 8;

/// The rows that are compared.
fn compared() -> Vec<Row> {
    let step = if rows::is_soak() { 1 } else { BENIGN_STEP };
    let mut all = rows::corpus(&["shell", "authored", "generated"]);
    if let Some(rows) = rows::data_sets(&["authored", "generated", "peer"]) {
        all.extend(rows);
        let benign = rows::data_sets(&["benign"]).unwrap_or_default();
        all.extend(benign.into_iter().step_by(step));
    }
    all.sort_by(|left, right| left.command.cmp(&right.command));
    all.dedup_by(|left, right| left.command == right.command);
    // A NUL byte cannot be handed to a process.
    all.retain(|row| !row.command.contains('\0') && !row.command.trim().is_empty());
    all
}

fn bash_is_missing() -> bool {
    let found = Process::new("bash")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let missing = !found.is_ok_and(|status| status.success());
    if missing {
        crate::skipped::skipped("bash is missing");
    }
    missing
}

fn bash_accepts(command: &str) -> bool {
    Process::new("bash")
        .args(["-O", "extglob", "-n", "-c", "--", command])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn explained(command: &str) -> Option<&'static str> {
    EXPLAINED
        .iter()
        .find(|(sign, _)| command.contains(sign))
        .map(|(_, why)| *why)
}

#[test]
fn we_accept_what_bash_accepts_and_refuse_what_it_refuses() {
    if bash_is_missing() {
        return;
    }
    let rows = compared();
    let half = rows.len().div_ceil(2);
    let differing: Vec<&Row> = std::thread::scope(|scope| {
        let workers: Vec<_> = rows
            .chunks(half)
            .map(|part| {
                scope.spawn(move || {
                    part.iter()
                        .filter(|row| parse(&row.command).is_ok() != bash_accepts(&row.command))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|_| panic!("a comparison panicked"))
            })
            .collect()
    });
    let mut unexplained = Vec::new();
    for row in &differing {
        let ours =
            parse(&row.command).map_or_else(|error| error.to_string(), |_| "accepted".to_owned());
        let why = explained(&row.command);
        let why_shown = why.map_or(String::new(), |why| format!(" ({why})"));
        let gate = if row.must_gate { " must gate" } else { "" };
        eprintln!(
            "{} {} {}{gate} {:?}: we say {ours}{why_shown}",
            row.set, row.category, row.label, row.command
        );
        if why.is_none() {
            unexplained.push(*row);
        }
    }
    let share = 1.0 - ratio(differing.len(), rows.len());
    eprintln!(
        "acceptance: {} rows, {} differ from bash, agreement {:.3} %",
        rows.len(),
        differing.len(),
        share * 100.0
    );
    let labelled: Vec<&&Row> = unexplained
        .iter()
        .filter(|row| row.label != "unlabelled")
        .collect();
    assert!(
        labelled.is_empty(),
        "labelled rows on which we differ from bash: {labelled:#?}"
    );
    assert!(share >= 0.999, "agreement with bash is {share}");
}

#[test]
fn we_see_the_same_commands_as_another_parser() {
    let rows = compared();
    let (mut both, mut same) = (0_usize, 0_usize);
    let mut by_set: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        let (Ok(script), Some(theirs)) = (parse(&row.command), shuck::first_words(&row.command))
        else {
            continue;
        };
        both += 1;
        let mut ours = Vec::new();
        first_words(&script, &mut ours);
        ours.sort();
        if ours == theirs {
            same += 1;
        } else {
            *by_set.entry(row.set.as_str()).or_default() += 1;
            eprintln!(
                "{} {:?}\n    ours   {ours:?}\n    theirs {theirs:?}",
                row.set, row.command
            );
        }
    }
    let share = ratio(same, both);
    eprintln!(
        "structure: {both} rows read by both, {:.3} % the same; differing by set: {by_set:?}",
        share * 100.0
    );
    assert!(share >= 0.99, "the same commands are seen on only {share}");
}

#[expect(clippy::cast_precision_loss, reason = "counts of rows are small")]
fn ratio(part: usize, whole: usize) -> f64 {
    assert!(whole > 0, "nothing was measured");
    part as f64 / whole as f64
}

/// Collects the literal first words of all simple commands, outside `${…}` and arithmetic.
fn first_words(script: &Script, found: &mut Vec<String>) {
    block(&script.block, found);
    script
        .documents
        .iter()
        .for_each(|document| word(document, found));
}

fn block(commands: &Block, found: &mut Vec<String>) {
    for inner in commands {
        command(inner, found);
    }
}

fn command(of: &Command, found: &mut Vec<String>) {
    match of {
        Command::Simple(of) => simple(of, found),
        Command::Pipeline(commands) | Command::AndOr(commands, _) => block(commands, found),
        Command::Group {
            body,
            redirects: at,
            ..
        } => {
            block(body, found);
            redirects(at, found);
        }
        Command::Branches {
            blocks,
            redirects: at,
            ..
        } => {
            for inner in blocks {
                block(inner, found);
            }
            redirects(at, found);
        }
        Command::Loop {
            words,
            body,
            redirects: at,
            ..
        } => {
            words.iter().flatten().for_each(|of| word(of, found));
            block(body, found);
            redirects(at, found);
        }
        Command::Function { body, .. } | Command::Background(body) | Command::Not(body) => {
            command(body, found);
        }
        Command::Test { redirects: at, .. } => redirects(at, found),
    }
}

fn simple(of: &Simple, found: &mut Vec<String>) {
    for assignment in &of.assignments {
        match &assignment.value {
            AssignedValue::One(value) => word(value, found),
            AssignedValue::Array(values) => values.iter().for_each(|value| word(value, found)),
        }
    }
    if let Some(name) = of.words.first().and_then(literal) {
        found.push(name);
    }
    of.words.iter().for_each(|of| word(of, found));
    redirects(&of.redirects, found);
}

fn redirects(of: &[Redirect], found: &mut Vec<String>) {
    for redirect in of {
        word(&redirect.target, found);
    }
}

fn word(of: &Word, found: &mut Vec<String>) {
    for part in &of.parts {
        match part {
            Part::Substitution { body, .. } | Part::Process { body, .. } => block(body, found),
            Part::Plain(_)
            | Part::Quoted(_)
            | Part::Parameter { .. }
            | Part::Arithmetic(_)
            | Part::Hidden(_) => {}
        }
    }
}

/// Returns a word's text if all of it is literal, without backslashes, which the other parser keeps.
fn literal(of: &Word) -> Option<String> {
    let mut text = String::new();
    for part in &of.parts {
        match part {
            Part::Plain(more) | Part::Quoted(more) => text.push_str(more),
            Part::Substitution { .. }
            | Part::Process { .. }
            | Part::Parameter { .. }
            | Part::Arithmetic(_)
            | Part::Hidden(_) => {
                return None;
            }
        }
    }
    Some(text.replace('\\', ""))
}
