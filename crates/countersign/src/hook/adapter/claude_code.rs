//! Claude Code. Settings: `~/.claude/settings.json`, event `PreToolUse`.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::fields::{args, maybe_text, text, variable};
use super::{Adapter, Event, Output, Ran, Wish, json_and_exit_two};

/// Tools that are questions to the person at the agent. An explicit allow would answer them; without
/// a decision Claude Code asks.
const ASKS_ITS_USER: &[&str] = &["AskUserQuestion", "ExitPlanMode"];

pub(super) const ADAPTER: Adapter = Adapter {
    name: "claude-code",
    title: "Claude Code",
    patience: Duration::from_hours(1),
    read,
    allow,
    change: |_, args| {
        Some(decision(
            "allow",
            "a person changed the arguments and allowed it",
            Some(args),
        ))
    },
    deny,
    go_on: Output::default,
    later,
};

fn read(mut input: Map<String, Value>) -> Result<Event, String> {
    let event = text(&mut input, "hook_event_name")?;
    let session = text(&mut input, "session_id")?;
    match event.as_str() {
        "PreToolUse" => Ok(Event::Call(wish(&mut input, session)?)),
        "PostToolUse" | "PostToolUseFailure" => Ok(Event::Ran(Ran {
            duration_millis: input.get("duration_ms").and_then(Value::as_u64),
            wish: wish(&mut input, session)?,
            failed: event != "PostToolUse",
            exit_code: None,
        })),
        "UserPromptSubmit" => {
            let text = maybe_text(&mut input, "prompt")?.unwrap_or_default();
            // Claude Code itself says when a subagent has ended.
            if text.starts_with("<task-notification>") {
                return Ok(Event::Other);
            }
            Ok(Event::Said { session, text })
        }
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
        workspace: variable("CLAUDE_PROJECT_DIR"),
        part: maybe_text(input, "agent_type")?,
    })
}

fn allow(wish: &Wish) -> Output {
    if ASKS_ITS_USER.contains(&wish.tool.as_str()) {
        return super::json(&json!({}));
    }
    decision("allow", "Countersign: nothing to ask about", None)
}

/// Puts the call aside until the session is resumed. Claude Code runs a deferred call at once where a
/// person is present, and loses one of a subagent.
fn later(wish: &Wish) -> Option<Output> {
    let is_alone = variable("CLAUDE_CODE_SESSION_ATTENDED").as_deref() == Some("0");
    let can = is_alone && wish.part.is_none();
    can.then(|| {
        decision(
            "defer",
            "Countersign asks a person; resume the session after the answer",
            None,
        )
    })
}

fn decision(word: &str, reason: &str, args: Option<Value>) -> Output {
    super::json(&body(word, reason, args))
}

fn deny(_: Option<&Wish>, reason: &str) -> Output {
    json_and_exit_two(&body("deny", reason, None), reason)
}

fn body(word: &str, reason: &str, args: Option<Value>) -> Value {
    let mut specific = Map::new();
    specific.insert("hookEventName".to_owned(), "PreToolUse".into());
    specific.insert("permissionDecision".to_owned(), word.into());
    specific.insert("permissionDecisionReason".to_owned(), reason.into());
    if let Some(args) = args {
        specific.insert("updatedInput".to_owned(), args);
    }
    json!({ "hookSpecificOutput": specific })
}
