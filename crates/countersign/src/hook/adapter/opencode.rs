//! `OpenCode`. It has no hook programs; our plugin `integrations/opencode/countersign.js` runs this
//! one, and stops the call on anything but an explicit allow.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::fields::{args, maybe_text, object, text};
use super::{Adapter, Event, Ran, Wish};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "opencode",
    title: "OpenCode",
    patience: Duration::from_hours(1),
    read,
    allow: |_| super::json(&json!({ "decision": "allow" })),
    change: |_, args| Some(super::json(&json!({ "decision": "allow", "args": args }))),
    deny: |_, reason| super::json(&json!({ "decision": "deny", "reason": reason })),
    go_on: || super::json(&json!({ "decision": "allow" })),
    later: |_| None,
};

fn read(mut input: Map<String, Value>) -> Result<Event, String> {
    let event = text(&mut input, "hook")?;
    let directory = maybe_text(&mut input, "directory")?;
    let parent = maybe_text(&mut input, "parent")?;
    match event.as_str() {
        "tool.execute.before" => {
            let mut call = object(&mut input, "input")?;
            let mut output = object(&mut input, "output")?;
            let session = text(&mut call, "sessionID")?;
            Ok(Event::Call(Wish {
                tool: text(&mut call, "tool")?,
                args: args(&mut output, "args")?,
                id: maybe_text(&mut call, "callID")?,
                part: parent.is_some().then(|| "subagent".to_owned()),
                session: parent.unwrap_or(session),
                cwd: directory.clone(),
                workspace: directory,
            }))
        }
        "tool.execute.after" => {
            let mut call = object(&mut input, "input")?;
            let output = object(&mut input, "output")?;
            let session = text(&mut call, "sessionID")?;
            Ok(Event::Ran(Ran {
                wish: Wish {
                    tool: text(&mut call, "tool")?,
                    id: maybe_text(&mut call, "callID")?,
                    session: parent.unwrap_or(session),
                    ..Wish::default()
                },
                exit_code: output
                    .get("metadata")
                    .and_then(|metadata| metadata["exit"].as_i64()),
                ..Ran::default()
            }))
        }
        // What a subagent is told was written by the model.
        "chat.message" if parent.is_none() => {
            let mut about = object(&mut input, "input")?;
            let output = object(&mut input, "output")?;
            Ok(Event::Said {
                session: text(&mut about, "sessionID")?,
                text: words(output.get("parts")),
            })
        }
        _ => Ok(Event::Other),
    }
}

/// Returns what the person wrote, without the parts that `OpenCode` added.
fn words(parts: Option<&Value>) -> String {
    let parts = parts.and_then(Value::as_array).into_iter().flatten();
    let typed = parts.filter(|part| part["synthetic"] != true && part["type"] == "text");
    let texts: Vec<&str> = typed.filter_map(|part| part["text"].as_str()).collect();
    texts.join("\n")
}
