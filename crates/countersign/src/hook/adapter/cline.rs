//! Cline. Settings: the program `~/.cline/hooks/PreToolUse`.
//!
//! Cline reads JSON on standard output and nothing else: an exit code does not stop it. `init`
//! writes a script that prints a cancel when this program does not.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::fields::{args, maybe_text, object, text};
use super::{Adapter, Event, Wish};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "cline",
    title: "Cline",
    patience: Duration::from_secs(3600),
    read,
    allow: || super::json(&json!({ "cancel": false })),
    change: |args| {
        Some(super::json(
            &json!({ "cancel": false, "overrideInput": args }),
        ))
    },
    deny: |reason| super::json(&json!({ "cancel": true, "errorMessage": reason })),
    go_on: || super::json(&json!({ "cancel": false })),
};

fn read(mut input: Map<String, Value>) -> Result<Event, String> {
    let event = text(&mut input, "hookName")?;
    let session = text(&mut input, "taskId")?;
    let root = root(&mut input);
    match event.as_str() {
        "tool_call" => {
            let mut call = object(&mut input, "tool_call")?;
            Ok(Event::Call(Wish {
                tool: text(&mut call, "name")?,
                args: args(&mut call, "input")?,
                session,
                cwd: root.clone(),
                workspace: root,
                part: None,
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

/// Returns the first of the folders it works on.
fn root(input: &mut Map<String, Value>) -> Option<String> {
    match input.remove("workspaceRoots") {
        Some(Value::Array(roots)) => roots.first().and_then(Value::as_str).map(str::to_owned),
        Some(_) | None => None,
    }
}
