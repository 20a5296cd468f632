//! Cursor, by its documentation alone: nobody here has run it. Settings: `~/.cursor/hooks.json`,
//! event `preToolUse`.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::fields::{args_or_text, maybe_text, text};
use super::{Adapter, Event, Ran, Wish, json_and_exit_two};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "cursor",
    title: "Cursor",
    patience: Duration::from_hours(1),
    read,
    allow: |_| super::json(&json!({ "permission": "allow" })),
    // Reported to be dropped for some tools, which would then run as they were.
    change: |_, _| None,
    deny: |_, reason| {
        let body = json!({
            "permission": "deny",
            "user_message": reason,
            "agent_message": reason,
        });
        json_and_exit_two(&body, reason)
    },
    go_on: || super::json(&json!({ "continue": true })),
    later: |_| None,
};

fn read(mut input: Map<String, Value>) -> Result<Event, String> {
    let event = text(&mut input, "hook_event_name")?;
    let session = text(&mut input, "conversation_id")?;
    let root = root(&mut input);
    match event.as_str() {
        "preToolUse" => Ok(Event::Call(wish(&mut input, session, root)?)),
        "postToolUse" | "postToolUseFailure" => Ok(Event::Ran(Ran {
            wish: wish(&mut input, session, root)?,
            failed: event != "postToolUse",
            ..Ran::default()
        })),
        "beforeSubmitPrompt" => Ok(Event::Said {
            session,
            text: maybe_text(&mut input, "prompt")?.unwrap_or_default(),
        }),
        _ => Ok(Event::Other),
    }
}

fn wish(
    input: &mut Map<String, Value>,
    session: String,
    root: Option<String>,
) -> Result<Wish, String> {
    Ok(Wish {
        tool: tool(input)?,
        args: args_or_text(input, "tool_input")?,
        id: maybe_text(input, "tool_use_id")?,
        session,
        cwd: maybe_text(input, "cwd")?.or_else(|| root.clone()),
        workspace: root,
        part: None,
    })
}

/// Returns the tool; one of an MCP server under the name that says so.
fn tool(input: &mut Map<String, Value>) -> Result<String, String> {
    let tool = text(input, "tool_name")?;
    let server = maybe_text(input, "mcp_server_name")?;
    Ok(match tool.strip_prefix("MCP:") {
        Some(name) => format!("mcp__{}__{name}", server.as_deref().unwrap_or("cursor")),
        None => tool,
    })
}

fn root(input: &mut Map<String, Value>) -> Option<String> {
    match input.remove("workspace_roots") {
        Some(Value::Array(roots)) => roots.first().and_then(Value::as_str).map(str::to_owned),
        Some(_) | None => None,
    }
}
