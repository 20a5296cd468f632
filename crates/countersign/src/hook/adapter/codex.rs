//! OpenAI Codex. Settings: `~/.codex/hooks.json`, event `PreToolUse`.
//!
//! Codex ignores an answer with a field it does not know and a deny without a reason, and then runs
//! the tool.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::fields::{args, maybe_text, text, working_directory};
use super::{Adapter, Event, Output, Ran, Wish, json_and_exit_two};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "codex",
    title: "Codex",
    patience: Duration::from_hours(1),
    read,
    // Codex takes a bare allow for an error; silence lets the call go on.
    allow: |_| Output::default(),
    change: |_, args| {
        Some(super::json(&json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": args,
        }})))
    },
    deny,
    go_on: Output::default,
    later: |_| None,
};

fn read(mut input: Map<String, Value>) -> Result<Event, String> {
    let event = text(&mut input, "hook_event_name")?;
    let session = text(&mut input, "session_id")?;
    match event.as_str() {
        "PreToolUse" => Ok(Event::Call(wish(&mut input, session)?)),
        "PostToolUse" => Ok(Event::Ran(Ran {
            wish: wish(&mut input, session)?,
            ..Ran::default()
        })),
        // What a subagent is told was written by the model.
        "UserPromptSubmit" if !input.contains_key("agent_id") => Ok(Event::Said {
            session,
            text: maybe_text(&mut input, "prompt")?.unwrap_or_default(),
        }),
        _ => Ok(Event::Other),
    }
}

fn wish(input: &mut Map<String, Value>, session: String) -> Result<Wish, String> {
    Ok(Wish {
        tool: text(input, "tool_name")?,
        args: args(input, "tool_input")?,
        id: maybe_text(input, "tool_use_id")?,
        session,
        cwd: maybe_text(input, "cwd")?,
        // The model chooses the directory of a command; the hook runs in that of the session.
        workspace: working_directory(),
        part: maybe_text(input, "agent_type")?,
    })
}

fn deny(_: Option<&Wish>, reason: &str) -> Output {
    let body = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
    }});
    json_and_exit_two(&body, reason)
}
