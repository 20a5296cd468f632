//! The title, one-line form and complete arguments of a call, for its card.

use serde_json::{Map, Value};

use super::text::{Redacts, value_without_secrets, without_secrets};
use super::{Field, marks};
use crate::assess::told::{Argument, Told, told};
use crate::assessment::Finding;
use crate::call::ToolCall;
use crate::display::{inline, line, notes, unfenced};
use crate::knowledge::{ArgumentRole, Effect};

/// What a call is called, by what its tool does. A space at the end waits for a name.
const TITLES: &[(Effect, &str)] = &[
    (Effect::Message, "Send a message to "),
    (Effect::Write, "Write "),
    (Effect::Create, "Create "),
    (Effect::Delete, "Delete "),
    (Effect::Read, "Read "),
    (Effect::NetRead, "Load "),
    (Effect::NetSend, "Send data to "),
];
/// Arguments of a terminal that say nothing about what runs, or only where.
const BESIDE_COMMAND: &[&str] = &["timeout", "timeout_ms", "timeout_seconds", "description"];
/// What stands where a call says nothing at all.
const NOTHING: &str = "(nothing)";
/// The prefix of the firewall's remarks on an argument.
pub(super) const NOTE: &str = "Note";

/// Returns what is wanted, in words.
pub(super) fn title(call: &ToolCall, redacts: Redacts) -> String {
    let Some(told) = told(call) else {
        return format!("Use the tool {}", inline(&call.tool));
    };
    if told.is_terminal() {
        return "Run a shell command".to_owned();
    }
    if told.with(ArgumentRole::Code).next().is_some() {
        return "Run code".to_owned();
    }
    if told.with(ArgumentRole::Sql).next().is_some() {
        return "Run a statement on a database".to_owned();
    }
    let named = told.row.and_then(|row| {
        let words = TITLES.iter().find(|(effect, _)| *effect == row.does)?.1;
        let names = names(&told, redacts);
        (!names.is_empty()).then(|| format!("{words}{}", inline(&names)))
    });
    named.unwrap_or_else(|| format!("Use the tool {}", inline(&call.tool)))
}

/// Returns whom the call would write to, each once.
pub(super) fn recipients(call: &ToolCall) -> Vec<String> {
    let Some(told) = told(call) else {
        return Vec::new();
    };
    let mut names: Vec<String> = told
        .with(ArgumentRole::Recipient)
        .flat_map(|argument| {
            let several = argument.value.as_array().cloned();
            several.unwrap_or_else(|| vec![argument.value.clone()])
        })
        .map(|value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        })
        .filter(|name| !name.trim().is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns who or what the call is about: recipients, paths, addresses.
fn names(told: &Told, redacts: Redacts) -> String {
    let about = |argument: &&Argument| {
        matches!(
            argument.role,
            Some(
                ArgumentRole::Recipient
                    | ArgumentRole::Read
                    | ArgumentRole::Write
                    | ArgumentRole::Edit
                    | ArgumentRole::Delete
                    | ArgumentRole::Url
            )
        )
    };
    told.args
        .iter()
        .filter(about)
        .map(|argument| {
            let value = shown_value(argument, redacts);
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        })
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns every argument of `call`, in full: who and where first, what is said or written last.
pub(super) fn body(call: &ToolCall, findings: &[Finding], redacts: Redacts) -> Vec<Field> {
    let Some(mut told) = told(call) else {
        let value = shown_strings("", &call.args, redacts);
        return vec![code_field("Arguments", &pretty(&value))];
    };
    told.args.sort_by_key(|argument| rank(argument.role));
    let terminal = told.is_terminal();
    let commands = told.args.iter().filter_map(Argument::shell_text).count();
    let mut fields = Vec::new();
    for argument in &told.args {
        let command = argument.shell_text().filter(|_| terminal);
        let (name, text) = if let Some(command) = &command {
            let text = without_secrets(command, redacts).into_owned();
            ("Command".to_owned(), text)
        } else {
            let value = shown_value(argument, redacts);
            let text = value.as_str().map_or_else(|| pretty(&value), str::to_owned);
            (line(&argument.name), text)
        };
        let one_line = !text.contains('\n');
        let is_code = command.is_some() || !one_line;
        let mut field = code_field(&name, &text);
        field.code = is_code
            || matches!(
                argument.role,
                Some(ArgumentRole::Shell | ArgumentRole::Code | ArgumentRole::Sql)
            );
        // Findings point into the only command; of several, nobody knows into which.
        if let Some(command) = command.filter(|_| commands == 1) {
            let mut all = marks::told_by(&field, &command, findings);
            all.extend_from_slice(findings);
            marks::put(&mut field, &command, &all, redacts);
        } else if let Some(text) = argument.value.as_str().filter(|_| is_said(argument.role)) {
            let told = marks::told_by(&field, text, findings);
            marks::put(&mut field, text, &told, redacts);
        }
        fields.push(field);
        fields.extend(
            notes(&text)
                .into_iter()
                .map(|note| Field::words(NOTE, format!("⟨{note}⟩"))),
        );
    }
    if fields.is_empty() {
        fields.push(Field::words("Arguments", "none".to_owned()));
    }
    fields
}

fn code_field(name: &str, text: &str) -> Field {
    Field {
        name: name.to_owned(),
        text: unfenced(text),
        code: true,
        marks: Vec::new(),
    }
}

/// Whether an argument is what is said or written, and not to whom or where.
const fn is_said(role: Option<ArgumentRole>) -> bool {
    rank(role) >= 4
}

/// In which order arguments are read by a person.
const fn rank(role: Option<ArgumentRole>) -> u8 {
    match role {
        Some(ArgumentRole::Shell | ArgumentRole::Tool) => 0,
        Some(ArgumentRole::Recipient | ArgumentRole::Url) => 1,
        Some(
            ArgumentRole::Read | ArgumentRole::Write | ArgumentRole::Edit | ArgumentRole::Delete,
        ) => 2,
        Some(ArgumentRole::Attachment) => 3,
        Some(
            ArgumentRole::Text | ArgumentRole::Method | ArgumentRole::Cwd | ArgumentRole::Language,
        )
        | None => 4,
        Some(
            ArgumentRole::Content
            | ArgumentRole::Code
            | ArgumentRole::Sql
            | ArgumentRole::Body
            | ArgumentRole::Arguments
            | ArgumentRole::Patch
            | ArgumentRole::Goal
            | ArgumentRole::Line
            | ArgumentRole::PathLine,
        ) => 5,
    }
}

/// Returns the arguments of `call` as they are shown: untrusted text made visible, secrets named
/// instead of shown.
pub fn shown_args(call: &ToolCall, redacts: Redacts) -> Value {
    let shown = match told(call).filter(|_| call.args.is_object()) {
        Some(told) => Value::Object(
            told.args
                .iter()
                .map(|argument| (argument.name.clone(), shown_value(argument, redacts)))
                .collect(),
        ),
        None => shown_strings("", &call.args, redacts),
    };
    visible(&shown)
}

/// Returns `call` on one line: the shell text, or the tool with its arguments. Never empty.
pub fn one_line(call: &ToolCall, redacts: Redacts) -> String {
    let told = told(call);
    let command = told
        .as_ref()
        .filter(|told| told.is_terminal())
        .and_then(only_command);
    if let Some(command) = command.filter(|command| !command.trim().is_empty()) {
        return line(&without_secrets(&command, redacts));
    }
    let tool = if call.tool.trim().is_empty() {
        NOTHING
    } else {
        call.tool.as_str()
    };
    let args = match told {
        Some(told) => Value::Object(
            told.args
                .iter()
                .map(|argument| (argument.name.clone(), shown_value(argument, redacts)))
                .collect(),
        ),
        None => shown_strings("", &call.args, redacts),
    };
    match &args {
        Value::Object(map) if map.is_empty() => line(tool),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => line(&format!("{tool} {args}")),
    }
}

/// Returns the command of a terminal whose other arguments add nothing to what runs.
fn only_command(told: &Told) -> Option<String> {
    let mut commands = told.args.iter().filter_map(Argument::shell_text);
    let command = commands.next()?;
    let adds = |argument: &Argument| {
        argument.shell_text().is_none()
            && argument.role != Some(ArgumentRole::Cwd)
            && !argument.value.is_null()
            && !BESIDE_COMMAND.contains(&argument.name.as_str())
    };
    (commands.next().is_none() && !told.args.iter().any(adds)).then_some(command)
}

/// Returns how many bytes of text `value` holds.
pub(super) fn written_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(written_bytes).sum(),
        Value::Object(map) => map
            .iter()
            .map(|(name, item)| name.len() + written_bytes(item))
            .sum(),
    }
}

/// Returns the value of an argument with its secrets named. Who receives something is never
/// hidden.
fn shown_value(argument: &Argument, redacts: Redacts) -> Value {
    let redacts = match argument.role {
        Some(ArgumentRole::Recipient) => Redacts::Nothing,
        Some(_) | None => redacts,
    };
    shown_strings(&argument.name, &argument.value, redacts)
}

fn shown_strings(name: &str, value: &Value, redacts: Redacts) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => {
            Value::String(value_without_secrets(name, text, redacts).into_owned())
        }
        Value::Array(items) => items
            .iter()
            .map(|item| shown_strings(name, item, redacts))
            .collect(),
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(name, item)| {
                    let shown = without_secrets(name, redacts).into_owned();
                    (shown, shown_strings(name, item, redacts))
                })
                .collect::<Map<String, Value>>(),
        ),
    }
}

/// Makes every text in `value` visible, names included.
fn visible(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => Value::String(unfenced(text)),
        Value::Array(items) => items.iter().map(visible).collect(),
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(name, item)| (line(name), visible(item)))
                .collect(),
        ),
    }
}

/// Returns `value` over several lines.
fn pretty(value: &Value) -> String {
    // Writing JSON to memory cannot fail.
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}
