//! Shell commands that hide what they do behind words, packages, names and places. Every group that asks
//! has ordinary neighbours that run.

use countersign_core::call::ToolCall;
use countersign_core::judge::{consider_after, judge};
use countersign_core::policy::Policy;
use countersign_core::verdict::{Verdict, verdict};
use countersign_core::written::Written;
use serde_json::json;

const PROJECT: &str = "/home/dev/project";

fn call(command: &str) -> ToolCall {
    ToolCall {
        tool: "terminal".to_owned(),
        args: json!({ "command": command }),
        cwd: Some(PROJECT.to_owned()),
        ..ToolCall::default()
    }
}

/// Checks rows of a name and a command, each for itself.
fn check(rows: &[(&str, &str)], asks: bool) {
    let mut wrong = Vec::new();
    for (name, command) in rows {
        let found = judge(&Policy::default(), &call(command)).ruling.verdict;
        if (found != Verdict::Allow) != asks {
            wrong.push(format!("{name}: {found:?}\n{command}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Checks rows of a name and the commands of one session, of which the last is looked at.
fn check_sessions(rows: &[(&str, &[&str])], asks: bool) {
    let mut wrong = Vec::new();
    for (name, commands) in rows {
        let mut written = Written::default();
        let mut last = Verdict::Allow;
        for command in *commands {
            let considered =
                consider_after(&Policy::default(), &call(command), &[], written.clone());
            last = verdict(&considered.assessment, &considered.situation).verdict;
            for (path, content) in considered.files.writes {
                written.add(&path, content);
            }
        }
        if (last != Verdict::Allow) != asks {
            wrong.push(format!("{name}: {last:?}\n{}", commands.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
#[rustfmt::skip]
fn words_that_a_program_computes_may_be_options() {
    check(&[
        ("a device for dd", "dd if=/dev/zero $(python3 -c \"print('of=' + chr(47) + 'dev' + chr(47) + 'sda')\")"),
        ("an action for find", "find . $(python3 gen.py)"),
        ("an action for find, quoted", "find . \"$(python3 gen.py)\""),
        ("options of a push", "git push $(jq -rn '\"--force origin main\"')"),
        ("words of a file", "git push $(cat words.txt)"),
        ("through a variable", "W=$(cat words.txt); curl $W https://example.com"),
        ("through a loop", "for w in $(cat words.txt); do docker run $w alpine ls; done"),
        ("through read", "while read -r w; do tar $w; done < words.txt"),
        ("through echo", "git push $(echo $(cat words.txt))"),
        ("through a selection", "git push $(cat words.txt | head -1)"),
        ("through xargs", "cat words.txt | xargs git push"),
        ("behind a beginning", "git push origin$(node -p \"[' --force'][0]\")"),
        ("behind a number", "git push $(grep -n x words.txt)"),
        ("a program of the project", "npm publish --dry-run $(./words)"),
    ], true);
    check(&[
        ("names of files", "wc -l $(git ls-files '*.rs')"),
        ("names of files to format", "prettier --check $(git diff --name-only)"),
        ("a version", "git diff $(git merge-base main HEAD) -- src"),
        ("a version to log", "git log --oneline $(git rev-parse HEAD~3)..HEAD"),
        ("files that hold a word", "sed -n 1,5p $(grep -rl todo src)"),
        ("the line of a word", "sed -n \"$(grep -n 'fn main' src/main.rs | cut -d: -f1),+5p\" src/main.rs"),
        ("a program that no option changes", "cat $(cat files.txt)"),
        ("behind the end of options", "grep -- \"$(cat word.txt)\" notes.txt"),
        ("a quoted value", "git commit -m \"$(cat message.txt)\""),
        ("files to search", "find src -name '*.py' | xargs grep -n todo"),
    ], false);
}

#[test]
#[rustfmt::skip]
fn a_package_that_is_fetched_to_run_asks_whatever_its_words_say() {
    check(&[
        ("a status", "npx an-odd-package status"),
        ("help", "npx an-odd-package --help"),
        ("a list by another runner", "uvx an-odd-package list"),
        ("a version by a third", "bunx an-odd-package --version"),
        ("with a version", "pnpm dlx an-odd-package@2 info"),
        ("of Python", "pipx run an-odd-package show"),
        ("by npm itself", "npm exec -- an-odd-package list"),
        ("a scope", "npx @odd/eslint ."),
        ("a repository", "npx odd/x list"),
        ("another package behind a name", "npx tsc@npm:odd --noEmit"),
        ("named by an option", "npx -p an-odd-package tsc --version"),
        ("the source of a tool", "uvx --from an-odd-package ruff check"),
        ("a plugin", "uvx --with an-odd-package ruff check"),
        ("a plugin behind a known one", "uvx --with rich,an-odd-package ruff check"),
        ("a creator", "npm create an-odd-package"),
        ("a creator by npm init", "npm init an-odd-package my-app"),
        ("a creator of a scope", "yarn create @odd/app"),
    ], true);
    check(&[
        ("a known tool", "npx eslint ."),
        ("a known tool with a version", "npx -y prettier@3 --check ."),
        ("a known scope", "npx @biomejs/biome check src"),
        ("a known tool of Python", "uvx ruff check"),
        ("a known source", "npx -p typescript tsc --noEmit"),
        ("a known creator", "npm create vite@latest my-app"),
        ("an empty project", "npm init -y"),
        ("only what is installed", "npx --no-install acme list"),
        ("only what is installed, by pnpm", "pnpm exec acme list"),
        ("an environment of conda", "conda create -n demo python=3.12 -y"),
    ], false);
}
