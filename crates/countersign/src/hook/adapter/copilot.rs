//! GitHub Copilot CLI. Settings: a file in `~/.copilot/hooks`, event `preToolUse`.
//!
//! Its inputs do not name their event; the fields tell which it is.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::fields::{args_or_text, maybe_text, text};
use super::{Adapter, Event, Ran, Wish};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "copilot",
    title: "Copilot CLI",
    patience: Duration::from_hours(1),
    read,
    // Not `"permissionDecision": "allow"`: that would override the person's own rules for Copilot.
    allow: |_| super::json(&json!({})),
    change: |_, args| Some(super::json(&json!({ "modifiedArgs": args }))),
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
    let own = text(&mut input, "sessionId")?;
    // A subagent has a session of its own; what the person said belongs to its parent's.
    let parent = maybe_text(&mut input, "parentAgentId")?;
    let is_subagent = parent.is_some();
    let session = parent.unwrap_or(own);
    let has = |key: &str| input.contains_key(key);
    let (is_call, is_over) = (has("toolName"), has("toolResult") || has("error"));
    let is_known = has("source") || has("reason");
    if is_call && is_over {
        let failed = input
            .get("toolResult")
            .is_none_or(|result| result["resultType"] != "success");
        return Ok(Event::Ran(Ran {
            wish: wish(&mut input, session)?,
            failed,
            ..Ran::default()
        }));
    }
    if is_call {
        return Ok(Event::Call(wish(&mut input, session)?));
    }
    if let Some(text) = maybe_text(&mut input, "prompt")? {
        // Copilot itself says when a command in the background has ended, and the model tells a
        // subagent what to do.
        if is_subagent || text.starts_with("<system_notification>") {
            return Ok(Event::Other);
        }
        return Ok(Event::Said { session, text });
    }
    // At the beginning and the end of a session.
    if is_known {
        return Ok(Event::Other);
    }
    Err("it is none of the events this program knows".to_owned())
}

fn wish(input: &mut Map<String, Value>, session: String) -> Result<Wish, String> {
    Ok(Wish {
        tool: tool(&text(input, "toolName")?),
        args: args_or_text(input, "toolArgs")?,
        id: None,
        session,
        cwd: maybe_text(input, "cwd")?,
        workspace: None,
        part: maybe_text(input, "agentType")?,
    })
}

/// Returns the tool; one of an MCP server, `SERVER-TOOL`, under the name that says so. No tool of the
/// agent itself has a hyphen.
fn tool(name: &str) -> String {
    match name.split_once('-') {
        Some((server, tool)) => format!("mcp__{server}__{tool}"),
        None => name.to_owned(),
    }
}
