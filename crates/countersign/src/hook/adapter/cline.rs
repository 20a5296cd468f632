//! Cline. Settings: the program `~/Documents/Cline/Hooks/PreToolUse` and the plugin
//! `~/Documents/Cline/Plugins/countersign.js`.
//!
//! Cline runs the tool when its hook fails or says nothing, and ends the whole run when it cancels.
//! So every answer is a mark in the input of the tool: our plugin, which sees the input next, stops a
//! call without a mark and one that is marked as denied. Without the plugin a denied call still fails,
//! because its input has none of the fields the tool needs.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::fields::{args, maybe_text, object, text};
use super::{Adapter, Event, Output, Ran, Wish};

/// The field of the input that carries the mark.
const MARK: &str = "countersign";

pub(super) const ADAPTER: Adapter = Adapter {
    name: "cline",
    title: "Cline",
    patience: Duration::from_mins(2),
    read,
    allow: |wish| match wish.id {
        Some(_) => marked(wish, wish.args.clone()),
        None => super::json(&json!({ "cancel": false })),
    },
    change: |wish, args| wish.id.is_some().then(|| marked(wish, args)),
    deny,
    go_on: || super::json(&json!({})),
    later: |_| None,
};

fn read(mut input: Map<String, Value>) -> Result<Event, String> {
    let event = text(&mut input, "hookName")?;
    let session = session(&mut input)?;
    let root = root(&mut input);
    let part = maybe_text(&mut input, "parent_agent_id")?.map(|_| "subagent".to_owned());
    match event.as_str() {
        "tool_call" => {
            let mut call = object(&mut input, "tool_call")?;
            let args = args(&mut call, "input")?;
            if args.get(MARK).is_some() {
                return Err(format!("the model wrote `{MARK}` into the arguments"));
            }
            Ok(Event::Call(Wish {
                tool: tool(&text(&mut call, "name")?),
                args,
                id: Some(text(&mut call, "id")?),
                session,
                cwd: root.clone(),
                workspace: root,
                part,
            }))
        }
        // The VS Code extension, by its documentation alone. It has no ids of calls and no marks.
        "PreToolUse" => {
            let mut call = object(&mut input, "preToolUse")?;
            Ok(Event::Call(Wish {
                tool: text(&mut call, "toolName")?,
                args: args(&mut call, "parameters")?,
                id: None,
                session,
                cwd: root.clone(),
                workspace: root,
                part,
            }))
        }
        "tool_result" => {
            let mut call = object(&mut input, "tool_result")?;
            Ok(Event::Ran(Ran {
                wish: Wish {
                    id: Some(text(&mut call, "id")?),
                    session,
                    ..Wish::default()
                },
                failed: call.contains_key("error"),
                duration_millis: call.get("durationMs").and_then(Value::as_u64),
                exit_code: None,
            }))
        }
        "prompt_submit" => {
            let mut said = object(&mut input, "userPromptSubmit")?;
            Ok(Event::Said {
                session,
                text: maybe_text(&mut said, "prompt")?.unwrap_or_default(),
            })
        }
        _ => Ok(Event::Other),
    }
}

/// Returns the session, which the subagents of a task share.
fn session(input: &mut Map<String, Value>) -> Result<String, String> {
    let task = text(input, "taskId")?;
    let Some(Value::Object(mut context)) = input.remove("sessionContext") else {
        return Ok(task);
    };
    Ok(maybe_text(&mut context, "rootSessionId")?.unwrap_or(task))
}

/// Returns the tool; one of an MCP server, `SERVER__TOOL`, under the name that says so.
fn tool(name: &str) -> String {
    if name.contains("__") {
        format!("mcp__{name}")
    } else {
        name.to_owned()
    }
}

/// Returns the first of the folders it works on.
fn root(input: &mut Map<String, Value>) -> Option<String> {
    match input.remove("workspaceRoots") {
        Some(Value::Array(roots)) => roots.first().and_then(Value::as_str).map(str::to_owned),
        Some(_) | None => None,
    }
}

fn marked(wish: &Wish, args: Value) -> Output {
    let Value::Object(mut args) = args else {
        return deny(
            Some(wish),
            "The changed arguments are no object, so this was not run.",
        );
    };
    args.insert(MARK.to_owned(), json!({ "call": wish.id }));
    super::json(&json!({ "overrideInput": args }))
}

fn deny(wish: Option<&Wish>, reason: &str) -> Output {
    let Some(id) = wish.and_then(|wish| wish.id.as_ref()) else {
        return super::json(&json!({ "cancel": true, "errorMessage": reason }));
    };
    super::json(&json!({
        "overrideInput": { MARK: { "call": id, "denied": reason } },
        "contextModification": reason,
    }))
}
