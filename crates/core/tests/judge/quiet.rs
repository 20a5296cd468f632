//! Questions that people would not want to be asked, each beside a twin that must ask.

use countersign_core::call::ToolCall;
use countersign_core::judge::consider_after;
use countersign_core::policy::Policy;
use countersign_core::verdict::{Verdict, verdict};
use countersign_core::written::Written;

/// Judges commands that one agent runs one after the other in a project.
fn session(commands: &[&str]) -> (Verdict, Vec<String>) {
    let mut written = Written::default();
    let mut last = (Verdict::Refuse, Vec::new());
    for command in commands {
        let call = ToolCall::command(*command).from_directory("/home/dev/project");
        let considered = consider_after(&Policy::default(), &call, &[], written.clone());
        for (path, content) in considered.files.writes {
            written.add(&path, content);
        }
        let decided = verdict(&considered.assessment, &considered.situation).verdict;
        last = (decided, considered.assessment.reasons);
    }
    last
}

/// What it is about, commands that run, and their twins that ask.
type Twins = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

fn check(rows: &[Twins]) {
    let mut wrong = Vec::new();
    for (about, quiet, loud) in rows {
        for command in *quiet {
            let (decided, reasons) = session(&[command]);
            if decided != Verdict::Allow {
                wrong.push(format!("{about}: {command:?} asks: {reasons:?}"));
            }
        }
        for command in *loud {
            if session(&[command]).0 < Verdict::Ask {
                wrong.push(format!("{about}: {command:?} runs"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_name_of_an_unknown_program_counts_like_its_words() {
    check(&[
        (
            "a name that ends in what it shows",
            &["acme-theme-list", "acme-status", "acme_session_info --json"],
            &[
                "acme-theme-install",
                "acme-list-delete",
                "acme-status --publish",
                "acme-list -o ~/.bashrc",
                "acme-theme-list; acme-wipe-list",
            ],
        ),
        (
            "a verb inside of the name",
            &["acme-get-info", "acme-show-layout left"],
            &[
                "get-docker",
                "acme-get",
                "acme-get-token",
                "acme-show-passwd",
                "acme-send-list-mail",
                "acme-get-info ~/.ssh/id_rsa",
            ],
        ),
        (
            "parts of the desktop that come back by themselves",
            &[
                "acme-restart-panel",
                "acme-theme-set gruvbox",
                "acme-toggle-waybar",
            ],
            &[
                "acme-restart-database",
                "acme-restart",
                "acme-reset-theme",
                "acme-theme-install x",
                "acme-set-dns",
                "acme-restart-panel-host",
                "acme-restart-panel --exec ./x",
            ],
        ),
    ]);
}

#[test]
fn words_of_unknown_programs_that_only_read() {
    check(&[
        (
            "a noun alone is listed",
            &["acme tools", "acme config --json", "acme themes"],
            &[
                "acme config token",
                "acme config x y",
                "acme tools wipe",
                "acme plugins --install",
                "acme frobnicate tools",
            ],
        ),
        (
            "a query that only reads",
            &[
                "acme exec 'SELECT name FROM users'",
                "acme db exec \"PRAGMA table_info(users)\"",
                "acme --sql 'select count(*) from a;'",
            ],
            &[
                "acme exec 'DELETE FROM users'",
                "acme exec 'SELECT 1; DROP TABLE users'",
                "acme exec 'SELECT 1 > src/main.rs'",
                "acme exec 'SELECT $(id)'",
                "acme exec \"SELECT * INTO OUTFILE '/etc/x' FROM a\"",
                "acme exec 'WITH a AS (DELETE FROM b RETURNING 1) SELECT 1'",
                "acme exec select",
                "acme deploy exec 'SELECT 1 FROM a'",
                "acme ssh 'SELECT 1 FROM a'",
                "acme exec 'SELECT 1 FROM a' -- rm -rf src",
            ],
        ),
        (
            "words that select what is shown",
            &["acme auth status", "acme explain --commit 1f0c2ab --json"],
            &[
                "acme auth token",
                "acme auth login",
                "acme delete auth status",
                "acme explain --commit",
                "acme explain --commit everything",
            ],
        ),
    ]);
}
