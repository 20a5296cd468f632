//! GitHub Copilot CLI. Settings: a file in `~/.copilot/hooks`, event `preToolUse`.
//!
//! Its inputs do not name their event; the fields tell which it is.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::fields::{args_or_text, maybe_text, text};
use super::{Adapter, Event, Wish};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "copilot",
    title: "Copilot CLI",
    patience: Duration::from_secs(3600),
    read,
    allow: |_| super::json(&json!({ "permissionDecision": "allow" })),
    change: |_, args| {
        Some(super::json(
            &json!({ "permissionDecision": "allow", "modifiedArgs": args }),
        ))
    },
    deny: |_, reason| {
        let body = json!({
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        });
        super::json(&body)
    },
    go_on: || super::json(&json!({})),
    later: |_| None,
};

fn read(mut input: Map<String, Value>) -> Result<Event, String> {
    let session = text(&mut input, "sessionId")?;
    let has = |key: &str| input.contains_key(key);
    if has("toolName") && !has("toolResult") && !has("error") {
        return Ok(Event::Call(Wish {
            tool: tool(&text(&mut input, "toolName")?),
            args: args_or_text(&mut input, "toolArgs")?,
            id: None,
            session,
            cwd: maybe_text(&mut input, "cwd")?,
            workspace: None,
            part: None,
        }));
    }
    if has("prompt") {
        return Ok(Event::Said {
            session,
            text: maybe_text(&mut input, "prompt")?.unwrap_or_default(),
        });
    }
    // After a call, and at the beginning and the end of a session.
    if ["toolResult", "error", "source", "reason"]
        .into_iter()
        .any(has)
    {
        return Ok(Event::Other);
    }
    Err("it is none of the events this program knows".to_owned())
}

/// Returns the tool; one of an MCP server, `SERVER-TOOL`, under the name that says so. No tool of the
/// agent itself has a hyphen.
fn tool(name: &str) -> String {
    match name.split_once('-') {
        Some((server, tool)) => format!("mcp__{server}__{tool}"),
        None => name.to_owned(),
    }
}
