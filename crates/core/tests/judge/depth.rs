//! What is nested too deeply is a question, never an overflow of the stack.

use countersign_core::assess::assess_command;
use countersign_core::verdict::{Situation, Verdict, verdict};

/// The smallest stack a caller is likely to run on: the default of a spawned thread.
const STACK_BYTES: usize = 2 * 1024 * 1024;

#[test]
fn deep_nesting_asks_on_a_small_stack() {
    let nest = |open: &str, close: &str, times: usize| {
        format!("{}ls{}", open.repeat(times), close.repeat(times))
    };
    let rows = [
        ("wrappers", "sudo ".repeat(13_000) + "ls"),
        (
            "mixed wrappers",
            "sudo env nice timeout 5 ".repeat(2_000) + "ls",
        ),
        ("substitutions", nest("echo $(", ")", 60)),
        (
            "more substitutions than are parsed",
            nest("echo $(", ")", 5_000),
        ),
        ("groups", nest("{ ", "; }", 60)),
        ("subshells", nest("( ", " )", 60)),
        ("quotes in substitutions", nest("echo \"$(", ")\"", 60)),
        ("process substitutions", nest("cat <(", ")", 60)),
        ("defaults", nest("echo ${a:-$(", ")}", 30)),
        ("branches", nest("if true; then ", "; fi", 60)),
        ("functions", nest("f() { ", "; }", 60)),
        ("shells in shells", {
            (0..9).fold("ls".to_owned(), |inner, _| {
                format!("bash -c '{}'", inner.replace('\'', "'\\''"))
            })
        }),
        ("evaluations", "eval ".repeat(9_000) + "ls"),
        ("conditional expressions", nest("[[ ( ", " ) ]]", 60)),
    ];
    for (name, command) in rows {
        let check = move || {
            let assessment = assess_command(&command);
            verdict(&assessment, &Situation::default()).verdict
        };
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let found = thread
            .spawn(check)
            .expect("a thread")
            .join()
            .expect("no panic");
        let shallow = matches!(
            name,
            "groups"
                | "subshells"
                | "branches"
                | "functions"
                | "substitutions"
                | "defaults"
                | "quotes in substitutions"
                | "process substitutions"
                | "conditional expressions"
        );
        assert!(shallow || found >= Verdict::Ask, "{name}: {found:?}");
    }
}
