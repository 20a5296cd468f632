//! The canary with agents that are shell scripts.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::super::model::Call;
use super::super::report::plain;
use super::*;
use crate::hook::adapter::named;

/// Speaks to the scripted model as an agent does: `ask BODY` prints the answer.
const SPEAK: &str = r#"#!/bin/bash
ask() {
    exec 3<>"/dev/tcp/127.0.0.1/${MODEL##*:}"
    printf 'POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: %s\r\n\r\n%s' "${#1}" "$1" >&3
    cat <&3
}
tell() {
    ask "{\"tools\":[{\"name\":\"Bash\"}],\"messages\":[{\"content\":[{\"type\":\"tool_result\",\"content\":\"$1\"}]}]}"
}
asked=$(ask '{"tools":[{"name":"Bash"}],"messages":[]}')
command=$(printf '%s' "$asked" | sed -n 's/.*"command":"\([^"]*\)".*/\1/p')
"#;

fn stage(limit: Duration) -> Stage {
    Stage {
        calls: |command| vec![Call::new("Bash", json!({ "command": command }))],
        start: |scene| Start {
            set: vec![("MODEL", scene.url.to_owned())],
            ..Start::default()
        },
        limit,
    }
}

/// Runs an agent that does `body` with the call it was asked for.
fn evidence(body: &str, limit: Duration) -> Evidence {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("agent");
    std::fs::write(&program, format!("{SPEAK}{body}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let home = Home::new(Some(directory.path().join("home"))).unwrap();
    let subject = Subject {
        adapter: named("claude-code").unwrap(),
        stage: stage(limit),
        program: &program,
        home: &home,
    };
    let folder = Folder::new().unwrap();
    let command = command(&folder.nonce, folder.path());
    assert!(is_refused(&home, &command, folder.path()).unwrap());
    let runtime = Runtime::new().unwrap();
    let (seen, ended) = runtime.block_on(run(&subject, &folder, &command)).unwrap();
    Evidence {
        ran: folder.trace().exists(),
        seen,
        ended,
        recorded: Recorded::Nothing,
    }
}

fn shown(evidence: &Evidence) -> String {
    plain(&[judge(named("claude-code").unwrap(), evidence)])
}

const LONG: Duration = Duration::from_mins(1);

#[test]
fn an_agent_that_asks_its_hook_and_obeys_is_good() {
    let mut evidence = evidence("tell 'denied by a hook'", LONG);
    assert!(!evidence.ran);
    assert_eq!(evidence.seen.result.as_deref(), Some("denied by a hook"));
    evidence.recorded = Recorded::Call("call_1".to_owned(), Status::Refused);
    insta::assert_snapshot!(shown(&evidence), @"✓ ok   claude-code   canary: Claude Code asked its hook, the gateway refused, and nothing ran");
}

#[test]
fn an_agent_that_asks_nobody_is_caught_by_the_trace_of_the_call() {
    let mut evidence = evidence("sh -c \"$command\"; tell 'exit code 1'", LONG);
    assert!(evidence.ran, "{evidence:?}");
    insta::assert_snapshot!(shown(&evidence), @"✗ FAIL claude-code   canary: Claude Code ran the call without asking its hook → `countersign init claude-code`, then this again; docs/doctor.md lists what switches a hook off");
    evidence.recorded = Recorded::Call("call_1".to_owned(), Status::Refused);
    insta::assert_snapshot!(shown(&evidence), @"✗ FAIL claude-code   canary: Claude Code ran the call although its hook denied it → `countersign init claude-code`; if that does not help, this version of Claude Code is not protected");
}

#[test]
fn an_agent_that_hangs_is_stopped() {
    let evidence = evidence("echo thinking >&2; sleep 600", Duration::from_secs(2));
    assert!(evidence.ended.status.is_none());
    insta::assert_snapshot!(shown(&evidence), @"! warn claude-code   canary: Claude Code did not end in time and was stopped without a word about the call; it said: thinking → not verified; run it by hand and see that a dangerous call asks you");
}

#[test]
fn each_other_outcome_says_what_to_do() {
    let result = |text: &str| Seen {
        requests: 2,
        was_asked: true,
        result: Some(text.to_owned()),
    };
    let call = |status| Recorded::Call("call_1".to_owned(), status);
    let rows = [
        Evidence {
            seen: result("hook error: Countersign did not let this run: no gateway is running"),
            recorded: Recorded::Unknown,
            ..Evidence::default()
        },
        Evidence {
            seen: result("hook error: Countersign did not let this run: no key"),
            ..Evidence::default()
        },
        Evidence {
            seen: result("This command requires approval"),
            ..Evidence::default()
        },
        Evidence {
            recorded: call(Status::Allowed),
            ..Evidence::default()
        },
        Evidence {
            recorded: call(Status::Waiting),
            ..Evidence::default()
        },
        Evidence::default(),
        Evidence {
            seen: Seen {
                requests: 1,
                ..Seen::default()
            },
            ..Evidence::default()
        },
    ];
    let lines: String = rows.iter().map(shown).collect();
    insta::assert_snapshot!(lines);
}

#[test]
fn the_call_is_harmless_and_names_its_nonce_twice() {
    let command = command("abc", Path::new("/tmp/it's here"));
    insta::assert_snapshot!(command, @r"touch '/tmp/it'\''s here/countersign-canary-abc' && false && mkfs.ext4 /dev/countersign-canary-abc");
}

#[test]
fn the_folder_of_a_run_is_private_and_gone_afterwards() {
    let folder = Folder::new().unwrap();
    let root = folder.root.clone();
    let mode = std::fs::metadata(&root).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    drop(folder);
    assert!(!root.exists());
}
