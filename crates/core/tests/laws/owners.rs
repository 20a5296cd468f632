//! What the owner says about a program changes nothing about commands that do not run it, and takes
//! no refusal away.

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::call::ToolCall;
use countersign_core::judge::judge;
use countersign_core::knowledge::owners::{ProgramText, Programs, RowText};
use countersign_core::policy::{Changes, Policy, programs};
use countersign_core::verdict::Verdict;

use crate::{Dice, cases, corpus, no_failures, progress};

/// The loosest rows there are: nothing is done, and every word and option is plain.
fn loosest(name: &str) -> Programs {
    let text = ProgramText {
        own: RowText {
            names: vec![name.to_owned()],
            does: "compute".to_owned(),
            options: "any".to_owned(),
            manual: "none".to_owned(),
            operands: "text*".to_owned(),
            ..RowText::default()
        },
        ..ProgramText::default()
    };
    programs::read(&[text]).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn policy(programs: Programs) -> Policy {
    Policy::default().with(Changes {
        programs,
        ..Changes::default()
    })
}

/// Words of the corpus that a program could be called, and that our tables do not know.
fn names(commands: &[String]) -> Vec<String> {
    let words = commands.iter().flat_map(|command| {
        command.split(|letter: char| letter.is_whitespace() || "'\"();|&$`<>=".contains(letter))
    });
    let names: BTreeSet<&str> = words
        .filter(|word| programs::is_describable(word))
        .collect();
    names.into_iter().map(str::to_owned).collect()
}

#[test]
fn a_row_of_the_owner_speaks_for_its_own_program_only_and_lifts_no_refusal() {
    let commands: Vec<String> = corpus().into_iter().map(|row| row.command).collect();
    let names = names(&commands);
    assert!(names.len() > 200, "only {} names", names.len());
    let mut by_name: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for name in &names {
        let holding = commands
            .iter()
            .filter(|command| command.contains(name.as_str()));
        by_name.insert(name, holding.take(40).collect());
    }
    let plain = Policy::default();
    let mut dice = Dice(0x0123_4567);
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut changed = 0_usize;
    for case in 0..cases(600) {
        progress("owners", case);
        let name = dice.pick(&names);
        let described = policy(loosest(name));
        let holding = by_name
            .get(name.as_str())
            .map(Vec::as_slice)
            .unwrap_or_default();
        let any = dice.pick(&commands);
        for command in holding.iter().copied().chain([any]) {
            let call = ToolCall::command(command.as_str());
            let (before, after) = (judge(&plain, &call), judge(&described, &call));
            if before == after {
                continue;
            }
            changed += 1;
            let runs = programs::acts(command, Programs::default());
            if !runs.iter().any(|act| act.program == *name) {
                let group = "it does not run the program, and the judgement changed".to_owned();
                failures
                    .entry(group)
                    .or_default()
                    .push(format!("{name}: {command}"));
            }
            if before.ruling.verdict == Verdict::Refuse && after.ruling.verdict != Verdict::Refuse {
                let group = "it was refused, and is no longer".to_owned();
                failures
                    .entry(group)
                    .or_default()
                    .push(format!("{name}: {command}"));
            }
        }
    }
    assert!(
        changed > 10,
        "only {changed} judgements changed: nothing was tried"
    );
    no_failures("owners", &failures);
}

#[test]
fn a_row_of_the_owner_for_a_known_program_never_loosens() {
    let commands: Vec<String> = corpus().into_iter().map(|row| row.command).collect();
    let plain = Policy::default();
    let mut dice = Dice(0x0765_4321);
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut tried = 0_usize;
    for case in 0..cases(1500) {
        progress("owners, known", case);
        let command = dice.pick(&commands);
        let known = command
            .split_whitespace()
            .filter(|word| !programs::is_describable(word))
            .find(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
        let Some(name) = known else { continue };
        tried += 1;
        let call = ToolCall::command(command.as_str());
        let before = judge(&plain, &call).ruling.verdict;
        let after = judge(&policy(loosest(name)), &call).ruling.verdict;
        if after < before {
            failures
                .entry(name.to_owned())
                .or_default()
                .push(format!("{before:?} became {after:?}: {command}"));
        }
    }
    assert!(tried > 200, "only {tried} commands were tried");
    no_failures("owners, known", &failures);
}
