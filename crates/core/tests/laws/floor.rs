//! Law 2: catastrophes are refused, however they are wrapped.

use std::collections::BTreeMap;

use countersign_core::verdict::Verdict;

use super::wrappers::{Form, WRAPPERS, Wrapper};
use super::{Dice, cases, judge_command, no_failures, progress};

/// Catastrophes that are one simple command.
pub(crate) const FLOOR_SIMPLE: &[&str] = &[
    "rm -rf /",
    "rm -fr --no-preserve-root /",
    "rm -r -f /*",
    "rm -rf ~",
    "rm -rf $HOME",
    "rm -rf /home",
    "rm --recursive --force /home/*",
    "dd if=/dev/zero of=/dev/sda",
    "dd of=/dev/nvme0n1 if=/dev/urandom bs=1M",
    "mkfs.ext4 /dev/sda1",
    "mkfs -t xfs /dev/vdb",
    "wipefs -a /dev/sda",
    "shred -n 1 /dev/sda",
    "blkdiscard /dev/nvme0n1",
    "find / -delete",
    "shutdown -h now",
    "reboot",
    "systemctl poweroff",
];

/// Catastrophes that need a shell.
pub(crate) const FLOOR_SCRIPT: &[&str] = &[
    "cat /dev/zero > /dev/sda",
    ":(){ :|:& };:",
    "(cd / && rm -rf *)",
    "yes > /dev/nvme0n1",
];

#[test]
fn law_2_floor_under_every_wrapper() {
    assert!(WRAPPERS.len() >= 45);
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for wrapper in WRAPPERS {
        let scripts = if wrapper.takes == Form::Script {
            FLOOR_SCRIPT
        } else {
            &[]
        };
        for payload in FLOOR_SIMPLE.iter().chain(scripts) {
            holds_the_floor(&[wrapper], payload, &mut failures);
        }
    }
    no_failures("law 2", &failures);
}

#[test]
fn law_2_floor_holds_without_any_wrapper() {
    let missing: Vec<&&str> = FLOOR_SIMPLE
        .iter()
        .chain(FLOOR_SCRIPT)
        .filter(|payload| !is_floor(payload))
        .collect();
    assert!(missing.is_empty(), "not refused: {missing:#?}");
}

pub(crate) fn is_floor(command: &str) -> bool {
    judge_command(command).1 == Verdict::Refuse
}

#[test]
fn law_2_floor_under_wrappers_of_wrappers() {
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut dice = Dice(0x5eed_0002);
    for case in 0..cases(1_000) {
        progress("law 2", case);
        let payload = dice.pick(FLOOR_SIMPLE);
        let inner = dice.pick(WRAPPERS);
        let outer = dice.pick(WRAPPERS);
        // A disguise changes words of a plain command, which a wrapped command no longer is.
        let fits = inner.gives == Form::Simple && outer.gives == Form::Simple;
        if outer.takes == Form::Simple && !fits {
            continue;
        }
        // These join the words they are given with blanks, so quotes inside are lost.
        if matches!(outer.name, "ssh words" | "parallel") && inner.takes == Form::Script {
            continue;
        }
        // A document ends at the first line that is its delimiter, whoever's document that was meant
        // to be; and a substitution takes the line end that a continuation needs.
        let documents = |name: &str| name.contains("here-document") || name == "at";
        let ends_early = documents(outer.name) && documents(inner.name)
            || [outer.name, inner.name].contains(&"line continuation");
        if ends_early {
            continue;
        }
        // Code in double quotes and text in brackets or octal would have to be escaped once more.
        if is_code(outer) || inner.name == "octal to sh" || outer.name == "octal to sh" {
            continue;
        }
        holds_the_floor(&[inner, outer], payload, &mut failures);
    }
    no_failures("law 2", &failures);
}

/// Whether a wrapper puts the command into a string of another language without escaping it.
pub(crate) fn is_code(wrapper: &Wrapper) -> bool {
    matches!(
        wrapper.name,
        "awk system"
            | "python os.system"
            | "perl system"
            | "ruby system"
            | "node execSync"
            | "php system"
            | "lua os.execute"
            | "make --eval"
            | "gdb"
            | "rev to sh"
    )
}

fn holds_the_floor(path: &[&Wrapper], payload: &str, failures: &mut BTreeMap<String, Vec<String>>) {
    // One word in braces is no list. What is not refused by itself is the other test's finding.
    if path.iter().any(|wrapper| wrapper.name == "braces") && !payload.contains(' ')
        || !is_floor(payload)
    {
        return;
    }
    let command = path.iter().fold(payload.to_owned(), |command, wrapper| {
        (wrapper.wrap)(&command)
    });
    let wanted = if path.iter().all(|wrapper| wrapper.visible) {
        Verdict::Refuse
    } else {
        Verdict::Ask
    };
    let (assessment, verdict) = judge_command(&command);
    if verdict < wanted {
        let names: Vec<&str> = path.iter().map(|wrapper| wrapper.name).collect();
        let failure = format!(
            "{command:?} is {} ({})",
            verdict.word(),
            assessment.reasons.join("; ")
        );
        failures
            .entry(format!("{} → {}", names.join(" in "), verdict.word()))
            .or_default()
            .push(failure);
    }
}
