//! GitHub Copilot CLI. Settings: a file in `~/.copilot/hooks`, event `preToolUse`.
//!
//! Its inputs do not name their event; the fields tell which it is.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::fields::{args_or_text, maybe_text, text};
use super::{Adapter, Event, Wish, json_and_exit_two};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "copilot",
    title: "Copilot CLI",
    patience: Duration::from_secs(3600),
    read,
    allow: || super::json(&json!({ "permissionDecision": "allow" })),
    change: |args| {
        Some(super::json(
            &json!({ "permissionDecision": "allow", "modifiedArgs": args }),
        ))
    },
    deny: |reason| {
        let body = json!({
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        });
        json_and_exit_two(&body, reason)
    },
    go_on: || super::json(&json!({})),
};

fn read(mut input: Map<String, Value>) -> Result<Event, String> {
    let session = text(&mut input, "sessionId")?;
    if input.contains_key("toolResult") {
        return Ok(Event::Other);
    }
    if input.contains_key("toolName") {
        return Ok(Event::Call(Wish {
            tool: text(&mut input, "toolName")?,
            args: args_or_text(&mut input, "toolArgs")?,
            session,
            cwd: maybe_text(&mut input, "cwd")?,
            workspace: None,
            part: None,
        }));
    }
    match maybe_text(&mut input, "prompt")? {
        Some(text) => Ok(Event::Said { session, text }),
        None => Ok(Event::Other),
    }
}
