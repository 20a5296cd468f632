//! `countersign init`: what people and scripts see, and what is on disk afterwards.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::ours::binary;
use crate::support::{Ran, Sandbox};

fn home(sandbox: &Sandbox) -> PathBuf {
    sandbox.project().parent().unwrap().to_owned()
}

/// Puts a program that says its version where it is found.
fn install(sandbox: &Sandbox, name: &str, says: &str) {
    let folder = home(sandbox).join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join(name);
    std::fs::write(&program, format!("#!/bin/sh\necho '{says}'\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let path = home(sandbox).join("bin");
    sandbox.run_in(arguments, &[("PATH", path.to_str().unwrap())])
}

/// Returns what a person saw, without what differs from run to run.
fn shown(sandbox: &Sandbox, ran: &Ran) -> String {
    let text = sandbox.steady(&ran.shown());
    let text = text.replace(&*binary().to_string_lossy(), "[PROGRAM]");
    let words = text.split("key_").enumerate().map(|(at, part)| {
        if at == 0 {
            return part.to_owned();
        }
        let rest = part.trim_start_matches(|it: char| it.is_ascii_alphanumeric());
        format!("key_[ID]{rest}")
    });
    words.collect()
}

#[test]
fn without_a_yes_it_shows_the_change_and_writes_nothing() {
    let sandbox = Sandbox::new();
    install(&sandbox, "claude", "2.1.197 (Claude Code)");
    let ran = run(&sandbox, &["init", "claude-code"]);
    insta::assert_snapshot!(shown(&sandbox, &ran));
    assert!(!home(&sandbox).join(".claude").exists());
    assert!(!home(&sandbox).join(".countersign/hooks").exists());
}

#[test]
fn with_a_yes_it_writes_and_a_second_time_there_is_nothing_to_do() {
    let sandbox = Sandbox::new();
    let ran = run(&sandbox, &["init", "copilot", "--yes"]);
    insta::assert_snapshot!("written", shown(&sandbox, &ran));
    let key = home(&sandbox).join(".countersign/hooks/copilot.key");
    let secret = std::fs::read_to_string(&key).unwrap();
    assert!(secret.starts_with("cs_agent_"), "{secret}");
    let record = home(&sandbox).join(".countersign/hooks/init/copilot.json");
    for private in [key, record] {
        let mode = private.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{private:?}");
    }
    let again = run(&sandbox, &["init", "copilot"]);
    insta::assert_snapshot!("again", shown(&sandbox, &again));
}

#[test]
fn undo_restores_the_settings_and_revokes_the_key() {
    let sandbox = Sandbox::new();
    run(&sandbox, &["init", "copilot", "--yes"]);
    let key = home(&sandbox).join(".countersign/hooks/copilot.key");
    assert!(key.exists());
    let ran = run(&sandbox, &["init", "copilot", "--undo", "--yes"]);
    insta::assert_snapshot!("undone", shown(&sandbox, &ran));
    assert!(!key.exists());
    assert!(!home(&sandbox).join(".copilot").exists());
    assert!(!home(&sandbox).join(".countersign/hooks/init").exists());
    let again = run(&sandbox, &["init", "copilot", "--undo", "--yes"]);
    insta::assert_snapshot!("undone_again", shown(&sandbox, &again));
}

#[test]
fn without_a_name_it_lists_the_agents_and_sets_up_the_installed_ones() {
    let sandbox = Sandbox::new();
    let none = run(&sandbox, &["init", "--yes"]);
    insta::assert_snapshot!("none_installed", shown(&sandbox, &none));
    install(&sandbox, "codex", "codex-cli 0.166.0");
    install(&sandbox, "gemini", "0.61.0");
    let ran = run(&sandbox, &["init", "--yes", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    let agents = said["agents"].as_array().unwrap();
    let states: Vec<String> = agents
        .iter()
        .map(|it| format!("{} {} {}", it["agent"], it["installed"], it["state"]))
        .collect();
    insta::assert_snapshot!("states", states.join("\n"));
    assert_eq!(said["written"], true);
    let listed = run(&sandbox, &["init"]);
    // The width of a column depends on where the sandbox is.
    let listed = shown(&sandbox, &listed);
    let words = listed
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    insta::assert_snapshot!("listed", words.collect::<Vec<_>>().join("\n"));
    let undone = run(&sandbox, &["init", "--undo", "--yes"]);
    assert_eq!(undone.code, 0, "{}", undone.stderr);
    for folder in [".codex", ".gemini"] {
        assert!(!home(&sandbox).join(folder).exists(), "{folder}");
    }
}

#[test]
fn wrong_uses_are_told_what_to_do() {
    let sandbox = Sandbox::new();
    let rows: &[&[&str]] = &[
        &["init", "clod"],
        &["init", "codex", "--url", "http://127.0.0.1:1"],
        &["init", "codex", "--service", "--yes"],
    ];
    let mut all = String::new();
    for row in rows {
        let ran = run(&sandbox, row);
        let _infallible = write!(all, "$ {}\n{}", row.join(" "), shown(&sandbox, &ran));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_home_elsewhere_is_named_in_the_command() {
    let sandbox = Sandbox::new();
    let elsewhere = home(&sandbox).join("it's elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    let ran = run(&sandbox, &["init", "cursor", "--yes", "--home", elsewhere]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let file = home(&sandbox).join(".cursor/hooks.json");
    let settings: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let command = settings["hooks"]["beforeSubmitPrompt"][0]["command"].as_str();
    let quoted = elsewhere.replace('\'', "'\\''");
    let end = format!(" hook cursor --home '{quoted}'");
    assert!(command.unwrap().ends_with(&end), "{command:?}");
}

#[test]
fn the_service_is_written_started_and_removed() {
    let sandbox = Sandbox::new();
    install(&sandbox, "systemctl", "");
    let program = home(&sandbox).join("bin/systemctl");
    let log = home(&sandbox).join("asked");
    let script = format!("#!/bin/sh\necho \"$@\" >> '{}'\n", log.display());
    std::fs::write(program, script).unwrap();
    let ran = run(&sandbox, &["init", "cursor", "--service", "--yes"]);
    insta::assert_snapshot!("service", shown(&sandbox, &ran));
    let unit = home(&sandbox).join(".config/systemd/user/countersign.service");
    assert!(unit.exists());
    let kept = run(&sandbox, &["init", "cursor", "--undo", "--yes"]);
    assert_eq!(kept.code, 0, "{}", kept.stderr);
    assert!(unit.exists(), "the service stays without --service");
    let ran = run(&sandbox, &["init", "--undo", "--service", "--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!home(&sandbox).join(".config").exists());
    let asked = std::fs::read_to_string(log).unwrap();
    assert_eq!(
        asked,
        "--user show-environment\n--user daemon-reload\n--user enable --now countersign.service\n\
         --user disable --now countersign.service\n--user daemon-reload\n"
    );
}

/// What stands in the file of a client: a server that is started, with a secret, and one that is not.
const CLIENT: &str = r#"{
  // of the team
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@mcp/github"],
      "env": { "GITHUB_TOKEN": "ghp_16C7e42F292c6912E7710c838347Ae178B4a" }
    },
    "far": { "url": "https://mcp.example.org/mcp" }
  }
}
"#;

#[test]
fn servers_of_a_client_are_put_behind_it_and_taken_out_again() {
    let sandbox = Sandbox::new();
    let file = home(&sandbox).join(".cursor/mcp.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, CLIENT).unwrap();
    let mut all = String::new();
    for arguments in [
        &["init", "mcp"][..],
        &["init", "mcp", "--yes"],
        &["init", "mcp", "cursor", "--yes"],
        &["init", "mcp", "zed"],
        &["init", "codex", "cursor"],
        &["init", "mcp", "--undo", "--yes"],
        &["init", "mcp", "--undo"],
    ] {
        let ran = run(&sandbox, arguments);
        let _infallible = writeln!(all, "$ countersign {}", arguments.join(" "));
        all.push_str(&shown(&sandbox, &ran));
        all.push('\n');
        let has_key = home(&sandbox)
            .join(".countersign/hooks/mcp-cursor.key")
            .exists();
        let is_wrapped = std::fs::read_to_string(&file).unwrap() != CLIENT;
        assert_eq!(has_key, is_wrapped, "{arguments:?}");
    }
    assert!(!all.contains("ghp_"), "{all}");
    insta::assert_snapshot!(all);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), CLIENT);
}

#[test]
fn the_program_s_own_server_is_not_called_one_that_is_not_started() {
    let sandbox = Sandbox::new();
    let file = home(&sandbox).join(".cursor/mcp.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let own = r#"{"mcpServers":{"approvals":{"command":"countersign","args":["mcp","serve"]}}}"#;
    std::fs::write(&file, own).unwrap();
    let said = shown(&sandbox, &run(&sandbox, &["init", "mcp", "cursor"]));
    assert!(said.contains("`approvals` is Countersign itself"), "{said}");
    assert!(!said.contains("these are not"), "{said}");
}
