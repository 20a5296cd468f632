//! The same deed gets the same verdict whichever agent asks.

use serde_json::{Value, json};

use crate::hooks::{PROJECT, give_key, hook, start_gateway};

/// Something an agent does, in words every agent has.
enum Deed {
    Shell(&'static str),
    Write(&'static str, &'static str),
    Read(&'static str),
    Mcp(&'static str, &'static str),
    Helper(&'static str),
}

/// Whether a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Runs,
    Held,
}

use Deed::{Helper, Mcp, Read, Shell, Write};
use Verdict::{Held, Runs};

/// A directory that the model names for one command, where the agent lets it.
const ELSEWHERE: &str = "/home/dev/other";

/// The deeds, in one session per agent: later ones are judged in the light of earlier ones.
const DEEDS: &[(&str, Deed, Verdict)] = &[
    ("look around", Shell("ls -la"), Runs),
    (
        "read a file of the project",
        Read("/home/dev/project/README.md"),
        Runs,
    ),
    ("read a secret", Read("/home/dev/.aws/credentials"), Held),
    (
        "delete what is not the project's",
        Shell("rm -rf /srv/www"),
        Held,
    ),
    (
        "the same inside a compound",
        Shell("cd /srv && sudo rm -rf www"),
        Held,
    ),
    (
        "delete the disk",
        Shell("dd if=/dev/zero of=/dev/sda"),
        Held,
    ),
    (
        "edit a file of the project",
        Write("/home/dev/project/src/a.rs", "fn a() {}\n"),
        Runs,
    ),
    (
        "edit a shell's start file",
        Write("/home/dev/.bashrc", "alias ls=rm\n"),
        Held,
    ),
    (
        "change the agent's own settings",
        Write("/home/dev/.claude/settings.json", "{}"),
        Held,
    ),
    (
        "look into the firewall",
        Shell("cat ~/.countersign/cli.key"),
        Held,
    ),
    (
        "answer its own question",
        Shell("countersign answer appr_1 once"),
        Held,
    ),
    ("send a message", Mcp("mail", "send_message"), Held),
    ("start a helper", Helper("look for the bug"), Runs),
    (
        "write a script",
        Write("/home/dev/project/x.sh", "rm -rf /srv/www\n"),
        Runs,
    ),
    ("run the script", Shell("bash x.sh"), Held),
    ("run another", Shell("bash y.sh"), Runs),
];

const AGENTS: &[&str] = &[
    "claude-code",
    "codex",
    "gemini",
    "opencode",
    "copilot",
    "cline",
    "cursor",
];

/// Returns the tool and the arguments of `deed` as `agent` calls them.
fn call(agent: &str, deed: &Deed) -> (String, Value) {
    let (tool, args) = match (deed, agent) {
        (Shell(command), "gemini") => ("run_shell_command", json!({ "command": command })),
        (Shell(command), "opencode" | "copilot") => (
            "bash",
            json!({ "command": command, "description": "do it" }),
        ),
        (Shell(command), "cline") => ("run_commands", json!({ "commands": [command] })),
        (Shell(command), "cursor") => ("Shell", json!({ "command": command })),
        (Shell(command), _) => ("Bash", json!({ "command": command })),
        (Write(path, text), "codex") => {
            let lines: Vec<String> = text.lines().map(|line| format!("+{line}")).collect();
            let lines = lines.join("\n");
            let change = format!("*** Begin Patch\n*** Add File: {path}\n{lines}\n*** End Patch\n");
            ("apply_patch", json!({ "command": change }))
        }
        (Write(path, text), "gemini") => {
            ("write_file", json!({ "file_path": path, "content": text }))
        }
        (Write(path, text), "opencode") => ("write", json!({ "filePath": path, "content": text })),
        (Write(path, text), "copilot") => ("create", json!({ "path": path, "file_text": text })),
        (Write(path, text), "cline") => ("editor", json!({ "path": path, "new_text": text })),
        (Write(path, text), _) => ("Write", json!({ "file_path": path, "content": text })),
        (Read(path), "codex") => ("Bash", json!({ "command": format!("cat {path}") })),
        (Read(path), "gemini") => ("read_file", json!({ "file_path": path })),
        (Read(path), "opencode") => ("read", json!({ "filePath": path })),
        (Read(path), "copilot") => ("view", json!({ "path": path })),
        (Read(path), "cline") => ("read_files", json!({ "files": [{ "path": path }] })),
        (Read(path), _) => ("Read", json!({ "file_path": path })),
        (Mcp(server, tool), _) => {
            let name = match agent {
                "gemini" => format!("mcp_{server}_{tool}"),
                "opencode" => format!("{server}_{tool}"),
                "copilot" => format!("{server}-{tool}"),
                "cline" => format!("{server}__{tool}"),
                "cursor" => format!("MCP:{tool}"),
                _ => format!("mcp__{server}__{tool}"),
            };
            return (name, json!({ "to": "bob@example.org", "text": "hello" }));
        }
        (Helper(task), "codex") => (
            "spawn_agent",
            json!({ "message": task, "agent_type": "worker" }),
        ),
        (Helper(task), "gemini") => (
            "invoke_agent",
            json!({ "agent_name": "generalist", "prompt": task }),
        ),
        (Helper(task), "opencode" | "copilot") => (
            "task",
            json!({ "description": "look", "prompt": task, "subagent_type": "general" }),
        ),
        (Helper(task), "cline") => (
            "spawn_agent",
            json!({ "systemPrompt": "You look for bugs.", "task": task }),
        ),
        (Helper(task), "cursor") => (
            "Task",
            json!({ "prompt": task, "subagent_type": "general" }),
        ),
        (Helper(task), _) => (
            "Agent",
            json!({ "description": "look", "prompt": task, "subagent_type": "Explore" }),
        ),
    };
    (tool.to_owned(), args)
}

/// Returns the input of `agent`'s hook for `deed`.
fn input(agent: &str, deed: &Deed) -> Value {
    let (tool, args) = call(agent, deed);
    match agent {
        "claude-code" | "codex" => json!({ "hook_event_name": "PreToolUse", "session_id": "s1",
            "cwd": PROJECT, "tool_name": tool, "tool_input": args, "tool_use_id": "t1" }),
        "gemini" => {
            let mut input = json!({ "hook_event_name": "BeforeTool", "session_id": "s1",
                "cwd": PROJECT, "tool_name": tool, "tool_input": args });
            if let Mcp(server, tool) = deed {
                input["mcp_context"] = json!({ "server_name": server, "tool_name": tool });
            }
            input
        }
        "opencode" => json!({ "hook": "tool.execute.before", "directory": PROJECT,
            "input": { "tool": tool, "sessionID": "s1", "callID": "t1" },
            "output": { "args": args } }),
        "copilot" => json!({ "sessionId": "s1", "timestamp": 1, "cwd": PROJECT, "toolName": tool,
            "toolArgs": args }),
        "cline" => json!({ "hookName": "tool_call", "taskId": "s1", "workspaceRoots": [PROJECT],
            "tool_call": { "id": "t1", "name": tool, "input": args } }),
        _ => json!({ "hook_event_name": "preToolUse", "conversation_id": "s1",
            "workspace_roots": [PROJECT], "cwd": PROJECT, "tool_name": tool, "tool_input": args }),
    }
}

#[test]
fn every_agent_gets_the_same_verdict_for_the_same_deed() {
    let gateway = start_gateway("");
    gateway.key("approver");
    let mut wrong = Vec::new();
    for agent in AGENTS {
        give_key(&gateway, agent);
        for (name, deed, expected) in DEEDS {
            let more = ["--wait", "0"];
            let output = hook(&gateway.home(), agent, &input(agent, deed), &more);
            let said = String::from_utf8_lossy(&output.stdout);
            let denied = ["\"deny\"", "\"denied\"", "\"cancel\":true"];
            let held = denied.iter().any(|word| said.contains(word));
            let verdict = if held { Held } else { Runs };
            if verdict != *expected {
                wrong.push(format!("{agent}: {name}: {verdict:?}: {said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_directory_that_the_model_names_for_one_command_is_not_the_project() {
    let gateway = start_gateway("");
    gateway.key("approver");
    give_key(&gateway, "codex");
    // The first call of the session, which would fix the workspace.
    let mut input = input("codex", &Shell("rm notes.txt"));
    input["cwd"] = json!(ELSEWHERE);
    let output = hook(&gateway.home(), "codex", &input, &["--wait", "0"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    input["cwd"] = json!(PROJECT);
    let output = hook(&gateway.home(), "codex", &input, &["--wait", "0"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
