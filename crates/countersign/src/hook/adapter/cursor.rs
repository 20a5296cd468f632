//! Cursor, by its documentation alone: nobody here has run it. Settings: `~/.cursor/hooks.json`,
//! events `beforeShellExecution`, `beforeMCPExecution` and `preToolUse`.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::fields::{args_or_text, maybe_text, text};
use super::{Adapter, Event, Wish, json_and_exit_two};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "cursor",
    title: "Cursor",
    patience: Duration::from_secs(3600),
    read,
    allow: || super::json(&json!({ "permission": "allow" })),
    change: |args| {
        Some(super::json(
            &json!({ "permission": "allow", "updated_input": args }),
        ))
    },
    deny: |reason| {
        let body = json!({
            "permission": "deny",
            "user_message": reason,
            "agent_message": reason,
        });
        json_and_exit_two(&body, reason)
    },
    go_on: || super::json(&json!({ "continue": true })),
};

fn read(mut input: Map<String, Value>) -> Result<Event, String> {
    let event = text(&mut input, "hook_event_name")?;
    let session = text(&mut input, "conversation_id")?;
    let root = root(&mut input);
    let wish = |tool: String, args: Value, cwd: Option<String>| {
        Event::Call(Wish {
            tool,
            args,
            session: session.clone(),
            cwd: cwd.or_else(|| root.clone()),
            workspace: root.clone(),
            part: None,
        })
    };
    match event.as_str() {
        "beforeShellExecution" => {
            let command = text(&mut input, "command")?;
            let cwd = maybe_text(&mut input, "cwd")?;
            Ok(wish("shell".to_owned(), json!({ "command": command }), cwd))
        }
        "beforeMCPExecution" => {
            let tool = text(&mut input, "tool_name")?;
            Ok(wish(tool, args_or_text(&mut input, "tool_input")?, None))
        }
        "preToolUse" => {
            let tool = text(&mut input, "tool_name")?;
            let cwd = maybe_text(&mut input, "cwd")?;
            Ok(wish(tool, args_or_text(&mut input, "tool_input")?, cwd))
        }
        "beforeSubmitPrompt" => Ok(Event::Said {
            session,
            text: maybe_text(&mut input, "prompt")?.unwrap_or_default(),
        }),
        _ => Ok(Event::Other),
    }
}

fn root(input: &mut Map<String, Value>) -> Option<String> {
    match input.remove("workspace_roots") {
        Some(Value::Array(roots)) => roots.first().and_then(Value::as_str).map(str::to_owned),
        Some(_) | None => None,
    }
}
