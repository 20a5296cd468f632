//! Law 9: neither joining commands nor wrapping one lowers the risk.

use std::collections::BTreeMap;

use countersign_core::shell::parse::parse;
use countersign_core::verdict::Verdict;

use super::floor::is_code;
use super::rows::Row;
use super::wrappers::{Form, WRAPPERS};
use super::{Dice, cases, corpus, judge_command, no_failures, progress};

#[test]
fn law_9_composition_never_lowers_risk() {
    let rows: Vec<Row> = corpus()
        .into_iter()
        .filter(|row| is_plain(&row.command))
        .collect();
    let joints: &[(&str, &str)] = &[
        ("and", " && "),
        ("or", " || "),
        ("semicolon", "; "),
        ("newline", "\n"),
        ("background", " & "),
        ("pipe", " | "),
    ];
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut dice = Dice(0x5eed_0009);
    for case in 0..cases(3_000) {
        progress("law 9", case);
        let (left, right) = (&dice.pick(&rows).command, &dice.pick(&rows).command);
        let (joint, text) = dice.pick(joints);
        // The end of a pipe is a process of its own, so what follows there is kept together.
        if !keeps_its_meaning(left) || !keeps_its_meaning(right) {
            continue;
        }
        let whole = if *joint == "pipe" {
            format!("{left}{text}{{ {right}\n}}")
        } else {
            format!("{left}{text}{right}")
        };
        if parse(&whole).is_err() {
            continue;
        }
        let parts = [judge_command(left), judge_command(right)];
        let (assessment, verdict) = judge_command(&whole);
        let risk = parts
            .iter()
            .map(|(part, _)| part.risk)
            .max()
            .unwrap_or_default();
        let strictest = parts
            .iter()
            .map(|(_, verdict)| *verdict)
            .max()
            .unwrap_or(Verdict::Allow);
        if verdict < strictest || assessment.risk < risk {
            let failure = format!(
                "{whole:?}: {} {} < {} {}",
                verdict.word(),
                assessment.risk,
                strictest.word(),
                risk
            );
            let what = if verdict < strictest {
                "verdict"
            } else {
                "risk"
            };
            failures
                .entry(format!("{joint} lowers the {what}"))
                .or_default()
                .push(failure);
        }
    }
    no_failures("law 9", &failures);
}

#[test]
fn law_9_wrapping_never_lowers_risk() {
    let rows = corpus();
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut dice = Dice(0x5eed_0019);
    for case in 0..cases(4_000) {
        progress("law 9", case);
        let command = &dice.pick(&rows).command;
        let wrapper = dice.pick(WRAPPERS);
        let fits = wrapper.takes == Form::Script || is_bare(command);
        // Strings of other languages, and what joins lines, need a text that can stand there.
        let stands = !is_code(wrapper) && wrapper.name != "octal to sh" || is_bare(command);
        let plain = is_plain(command) || wrapper.gives == Form::Simple;
        if !fits || !stands || !plain || !keeps_its_meaning(command) {
            continue;
        }
        if wrapper.name == "braces" && !command.contains(' ') {
            continue;
        }
        let whole = (wrapper.wrap)(command);
        let (before, strictest) = judge_command(command);
        let (after, verdict) = judge_command(&whole);
        // A container or another root is another machine: less may be at stake, but it is never silent.
        let lowers = verdict
            < strictest.min(if wrapper.visible {
                Verdict::Refuse
            } else {
                Verdict::Ask
            });
        if lowers || wrapper.visible && after.risk < before.risk {
            let failure = format!(
                "{whole:?}: {} {} < {} {}",
                verdict.word(),
                after.risk,
                strictest.word(),
                before.risk
            );
            let what = if lowers { "verdict" } else { "risk" };
            failures
                .entry(format!("{} lowers the {what}", wrapper.name))
                .or_default()
                .push(failure);
        }
    }
    no_failures("law 9", &failures);
}

/// Whether a command means the same inside another one. A shell without words is a question because
/// a person would type into it, not when it reads a pipe; a secret that is printed is one because
/// somebody sees it; a path of Windows loses its backslashes in a shell; and what a text says to
/// people cannot be read once it is encoded. A change of directory changes what follows it, and
/// `{}` is filled by another command around it.
fn keeps_its_meaning(command: &str) -> bool {
    let ends_in_shell = ["sh", "bash", "zsh", "dash", "fish", "ksh"]
        .iter()
        .any(|shell| {
            command
                .split_whitespace()
                .last()
                .is_some_and(|word| word.trim_matches('"').ends_with(shell))
        });
    let prints_secret = ["TOKEN", "SECRET", "KEY", "PASSWORD"]
        .iter()
        .any(|word| command.contains(word));
    let sends_mail = ["swaks", "mutt", "mail", "@example"]
        .iter()
        .any(|word| command.contains(word));
    !ends_in_shell
        && !prints_secret
        && !sends_mail
        && ![":\\", "{}", "cd "]
            .iter()
            .any(|part| command.contains(part))
}

fn is_plain(command: &str) -> bool {
    !command.contains(['\n', '#'])
        && !command.contains("<<")
        && !command.trim_end().ends_with([';', '&', '|', '\\'])
}

/// A command of one program with plain words, as a disguise needs it.
fn is_bare(command: &str) -> bool {
    const NOT_PROGRAMS: &[&str] = &[
        "if", "for", "while", "until", "case", "select", "function", "time", "coproc", "then",
        "else", "do", "eval", "exec", "command", "builtin", "alias", "set", "export", "declare",
        "local", "readonly", "typeset", "trap", "source",
    ];
    let word = command.split(' ').next().unwrap_or("");
    let letters = "-_.=/:+@,%";
    !NOT_PROGRAMS.contains(&word)
        && word.len() > 1
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && command.chars().all(|letter| {
            letter.is_ascii_alphanumeric() || letter == ' ' || letters.contains(letter)
        })
}
