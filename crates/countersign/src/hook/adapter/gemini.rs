//! Gemini CLI. Settings: `~/.gemini/settings.json`, event `BeforeTool`.
//!
//! Gemini CLI reads the JSON whatever the exit code is; the line that `init` writes into its settings
//! denies when there is none.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::fields::{args, maybe_text, text, variable};
use super::{Adapter, Event, Ran, Wish};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "gemini",
    title: "Gemini CLI",
    patience: Duration::from_hours(1),
    read,
    allow: |_| super::json(&json!({ "decision": "allow" })),
    change: |_, args| {
        Some(super::json(&json!({
            "decision": "allow",
            "hookSpecificOutput": { "hookEventName": "BeforeTool", "tool_input": args },
        })))
    },
    deny: |_, reason| super::json(&json!({ "decision": "deny", "reason": reason })),
    go_on: || super::json(&json!({})),
    later: |_| None,
};

fn read(mut input: Map<String, Value>) -> Result<Event, String> {
    let event = text(&mut input, "hook_event_name")?;
    let session = text(&mut input, "session_id")?;
    match event.as_str() {
        "BeforeTool" => Ok(Event::Call(wish(&mut input, session)?)),
        "AfterTool" => Ok(Event::Ran(Ran {
            failed: input
                .get("tool_response")
                .is_some_and(|response| response["error"].is_object()),
            wish: wish(&mut input, session)?,
            ..Ran::default()
        })),
        "BeforeAgent" => Ok(Event::Said {
            session,
            text: maybe_text(&mut input, "prompt")?.unwrap_or_default(),
        }),
        _ => Ok(Event::Other),
    }
}

fn wish(input: &mut Map<String, Value>, session: String) -> Result<Wish, String> {
    Ok(Wish {
        tool: tool(input)?,
        args: args(input, "tool_input")?,
        id: None,
        session,
        cwd: maybe_text(input, "cwd")?,
        workspace: variable("GEMINI_PROJECT_DIR"),
        part: None,
    })
}

/// Returns the tool; of an MCP server under the name that says so.
fn tool(input: &mut Map<String, Value>) -> Result<String, String> {
    let tool = text(input, "tool_name")?;
    let Some(Value::Object(mut server)) = input.remove("mcp_context") else {
        return Ok(tool);
    };
    let name = text(&mut server, "server_name")?;
    let tool = text(&mut server, "tool_name")?;
    Ok(format!("mcp__{name}__{tool}"))
}
