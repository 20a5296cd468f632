//! The examples of `docs/mcp.md`, run as they stand there: only the servers behind them are played.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::ours;
use crate::scene::{HARMLESS, Proxy, RISKY, server};
use crate::support::Gateway;

fn guide() -> String {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp.md");
    std::fs::read_to_string(guide).unwrap()
}

/// Returns the configurations of clients in the guide that start a program, by the name of their server.
fn clients(guide: &str) -> Vec<(String, Vec<String>)> {
    let lines = guide.lines().filter_map(|line| line.strip_prefix("    {"));
    let mut found = Vec::new();
    for line in lines {
        let all: Value = serde_json::from_str(&format!("{{{line}")).unwrap();
        for (name, server) in all["mcpServers"].as_object().unwrap() {
            if server["command"].is_string() {
                let words = [&server["command"]]
                    .into_iter()
                    .chain(server["args"].as_array().unwrap());
                let words = words.map(|it| it.as_str().unwrap().to_owned());
                found.push((name.clone(), words.collect()));
            }
        }
    }
    found
}

/// Runs the lines of the guide that begin with a blank, up to the first configuration.
fn set_up(guide: &str, home: &Path, path: &str) {
    let lines = guide.lines().filter_map(|line| line.strip_prefix("    "));
    let script: Vec<&str> = lines.take_while(|line| !line.starts_with('{')).collect();
    assert!(script.len() >= 2, "{script:?}");
    let ran = ours::in_home(Command::new("sh"), home)
        .args(["-e", "-c", &script.join("\n")])
        .env_remove("COUNTERSIGN_HOME")
        .env_remove("COUNTERSIGN_URL")
        .env("PATH", path)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
}

/// Lets a call run and another one be denied.
fn works(gateway: &Gateway, name: &str, proxy: &mut Proxy) {
    proxy.greet();
    proxy.call(1, HARMLESS, &json!({}));
    let answer = proxy.answer(&json!(1));
    assert_eq!(
        answer["result"]["content"][0]["text"], "ran notes_list",
        "{answer}"
    );
    proxy.call(2, RISKY, &json!({ "path": "/srv/www" }));
    let approval = gateway.question();
    let card = gateway.get(&gateway.admin(), &format!("/v1/approvals/{approval}"));
    assert_eq!(card.body["tool"], format!("mcp__{name}__wipe"), "{card:?}");
    gateway.resolve(&gateway.admin(), &approval, "deny");
    proxy.answer(&json!(2));
    assert_eq!(proxy.calls().len(), 1, "the denied call was not sent");
}

#[test]
fn the_examples_of_the_guide_work() {
    let guide = guide();
    let gateway = Gateway::start();
    // `~/.countersign` and the programs of the guide, in a home of its own.
    let home = tempfile::tempdir().unwrap();
    symlink(gateway.home(), home.path().join(".countersign")).unwrap();
    let programs = home.path().join("bin");
    std::fs::create_dir(&programs).unwrap();
    symlink(ours::binary(), programs.join("countersign")).unwrap();
    let stand_in = format!("#!/bin/sh\nexec python3 '{}'\n", server().display());
    std::fs::write(programs.join("npx"), stand_in).unwrap();
    let runs = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(programs.join("npx"), runs).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", programs.display());
    set_up(&guide, home.path(), &path);
    let key = std::fs::metadata(gateway.home().join("hooks/mcp.key")).unwrap();
    assert_eq!(
        key.permissions().mode() & 0o077,
        0,
        "it is its owner's alone"
    );

    let configurations: Vec<&str> = guide
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(configurations.len() >= 2, "{configurations:?}");
    for text in configurations.iter().rev() {
        std::fs::write(gateway.home().join("config.yaml"), text).unwrap();
        let checked = ours::ours(&gateway.home())
            .args(["config", "check"])
            .output();
        let checked = checked.unwrap();
        assert!(checked.status.success(), "{text}: {checked:?}");
    }

    let clients = clients(&guide);
    let mut started = Vec::new();
    for (name, words) in &clients {
        // One at an address outside cannot be played here; `mcp_piped` covers that way.
        if words.iter().any(|word| word == "--url") {
            continue;
        }
        assert_eq!(words[0], "countersign");
        assert_eq!(words[1], "mcp");
        let words: Vec<&str> = words[2..].iter().map(String::as_str).collect();
        let variables = [("PATH", path.as_str()), ("NODE_OPTIONS", "")];
        let mut proxy = Proxy::as_said(&gateway.home(), &words, &variables);
        works(&gateway, name, &mut proxy);
        started.push(name.as_str());
    }
    assert_eq!(started, ["crm", "files"]);
}
