//! Completions and manual pages: what shells and `man` read.

use std::path::Path;
use std::process::Command;

use crate::support::Sandbox;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// Runs `script` in `shell` and returns what it printed; a complaint of the shell is a failure.
fn in_shell(shell: &str, options: &[&str], script: &str) -> String {
    let ran = Command::new(shell)
        .args(options)
        .args(["-c", script])
        .output();
    let ran = ran.unwrap();
    let wrong = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.success() && wrong.is_empty(), "{shell}: {wrong}");
    String::from_utf8(ran.stdout).unwrap()
}

fn completions(sandbox: &Sandbox, shell: &str) -> std::path::PathBuf {
    let ran = sandbox.run(&["completions", shell]);
    assert_eq!(ran.code, 0, "{shell}: {}", ran.stderr);
    for word in ["approvals", "completions", "key-file"] {
        assert!(ran.stdout.contains(word), "{shell}: {word}");
    }
    let file = sandbox.project().join(format!("countersign.{shell}"));
    std::fs::write(&file, ran.stdout).unwrap();
    file
}

#[test]
fn every_shell_gets_completions_and_those_installed_here_load_them() {
    let sandbox = Sandbox::new();
    for shell in SHELLS {
        let file = completions(&sandbox, shell);
        let file = file.display();
        match shell {
            "zsh" | "fish" if is_installed(shell) => {
                in_shell(
                    shell,
                    &["--no-rcs"][..usize::from(shell == "zsh")],
                    &format!("source {file}"),
                );
            }
            "elvish" if is_installed(shell) => {
                in_shell(shell, &["-norc", "-compileonly"], &format!("source {file}"));
            }
            _ => {}
        }
    }
    assert_eq!(sandbox.run(&["completions", "csh"]).code, 2);
}

#[test]
fn bash_completes_commands_options_and_values() {
    let sandbox = Sandbox::new();
    let file = completions(&sandbox, "bash");
    let rows = [
        (vec!["countersign", "appr"], "approvals"),
        (vec!["countersign", "keys", "cre"], "create"),
        (vec!["countersign", "history", "--verd"], "--verdict"),
        (vec!["countersign", "history", "--verdict", "ref"], "refuse"),
        (vec!["countersign", "completions", "z"], "zsh"),
        (vec!["countersign", "hook", "claude"], "claude-code"),
    ];
    for (words, wanted) in rows {
        let (last, before) = words.split_last().unwrap();
        let previous = before.last().unwrap();
        let script = format!(
            "source {}; COMP_WORDS=({}); COMP_CWORD={}; _countersign countersign {last} {previous}; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            file.display(),
            words.join(" "),
            before.len(),
        );
        let offered = in_shell("bash", &["--norc"], &script);
        assert!(
            offered.lines().any(|it| it == wanted),
            "{words:?}: {offered}"
        );
    }
}

#[test]
fn every_command_has_a_manual_page_and_help() {
    let sandbox = Sandbox::new();
    let pages = sandbox.project().join("share/man1");
    let ran = sandbox.run(&["man", &pages.to_string_lossy()]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let top = sandbox.run(&["help"]);
    assert_eq!((top.code, top.stderr.as_str()), (0, ""));
    let commands = top.stdout.split("Commands:\n").nth(1).unwrap();
    let commands = commands.split("\n\n").next().unwrap().lines();
    let names: Vec<&str> = commands
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        let help = sandbox.run(&["help", name]);
        assert_eq!(help.code, 0, "{name}: {}", help.stderr);
        assert!(help.stdout.contains("Usage:"), "{name}: {}", help.stdout);
        rendered(&pages.join(format!("countersign-{name}.1")), name);
    }
    rendered(&pages.join("countersign.1"), "countersign");
    rendered(&pages.join("countersign-keys-create.1"), "create");
    let first = sandbox.run(&["man"]);
    assert_eq!(first.code, 0);
    assert!(
        first.stdout.contains(".TH countersign 1"),
        "{}",
        first.stdout
    );
}

/// Fails unless `page` is there, names its command, and `man` reads it without a warning.
fn rendered(page: &Path, name: &str) {
    let text = std::fs::read_to_string(page).unwrap_or_default();
    assert!(text.contains(".SH SYNOPSIS"), "{}", page.display());
    if !is_installed("man") {
        return;
    }
    let ran = Command::new("man")
        .args(["--warnings", "-l"])
        .arg(page)
        .env("MANPAGER", "cat")
        .env("MANROFFSEQ", "")
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{}", page.display());
    assert!(shown.contains(name), "{}: {shown}", page.display());
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let sandbox = Sandbox::new();
    let file = sandbox.project().join("file");
    std::fs::write(&file, "").unwrap();
    let ran = sandbox.run(&["man", &file.join("man1").to_string_lossy()]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("cannot write to"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint:"), "{}", ran.stderr);
}
