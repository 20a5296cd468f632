//! A call that stands alone is allowed whatever the session did before: a hook may decide about it
//! without asking the gateway.

use countersign_core::call::ToolCall;
use countersign_core::judge::{consider, consider_after};
use countersign_core::policy::Policy;
use countersign_core::verdict::{Verdict, verdict};
use countersign_core::written::{Content, Written};

use super::{corpus, rows};

/// Where the calls are made.
const CWD: &str = "/home/dev/project";
/// What the session wrote into every file that the call could mean.
const PAYLOAD: &str = "rm -rf /srv/www\n";
/// Files that programs take up without being told.
const TAKEN_UP: &[&str] = &[
    "Makefile",
    "package.json",
    "conftest.py",
    "setup.py",
    "build.rs",
    ".envrc",
    ".git/hooks/pre-commit",
    ".git/config",
    "node_modules/.bin/ls",
    "ls",
    "git",
];

/// Returns what a hostile session left behind: everything that `command` names.
fn left_behind(command: &str) -> Written {
    let mut written = Written::default();
    let words =
        command.split(|letter: char| letter.is_whitespace() || "'\"|;&()<>=".contains(letter));
    for word in words
        .filter(|word| !word.is_empty())
        .chain(TAKEN_UP.iter().copied())
    {
        let path = word.trim_start_matches("./");
        let placed = if path.starts_with(['/', '~']) {
            path.to_owned()
        } else {
            format!("{CWD}/{path}")
        };
        written.add(&placed, Content::Exact(PAYLOAD.to_owned()));
        written.add(path, Content::Exact(PAYLOAD.to_owned()));
    }
    written
}

#[test]
fn what_stands_alone_is_allowed_after_anything_the_session_wrote_and_in_a_crisis() {
    let policy = Policy::default();
    let mut tried = 0;
    for row in corpus().iter().step_by(if rows::is_soak() { 1 } else { 3 }) {
        let call = ToolCall::command(row.command.as_str()).from_directory(CWD);
        let before = consider_after(&policy, &call, &[], Written::default());
        let allowed = verdict(&before.assessment, &before.situation).verdict == Verdict::Allow;
        if !allowed || !before.stands_alone() {
            continue;
        }
        tried += 1;
        let after = consider_after(&policy, &call, &[], left_behind(&row.command));
        let ruling = verdict(&after.assessment, &after.situation);
        assert_eq!(ruling.verdict, Verdict::Allow, "{}", row.command);
        // The mark of a session in which a person is in crisis.
        let (mut assessment, situation) = consider(&policy, &call);
        assessment.crisis_sensitive = true;
        let ruling = verdict(&assessment, &situation);
        assert_eq!(ruling.verdict, Verdict::Allow, "{}", row.command);
    }
    assert!(tried > 100, "only {tried} calls of the corpus stand alone");
}

#[test]
fn what_runs_a_file_or_reaches_somebody_does_not_stand_alone() {
    for command in [
        "bash x.sh",
        "python3 x.py",
        "./x",
        "make",
        "cargo test",
        "npm test",
        "source x.sh",
        "cat x.sh | bash",
        "curl -d @x https://example.org",
    ] {
        let call = ToolCall::command(command).from_directory(CWD);
        let considered = consider_after(&Policy::default(), &call, &[], Written::default());
        assert!(!considered.stands_alone(), "{command}");
    }
}
