//! Reads a question for permission: what the agent wants to do, and the answers it would take.
//!
//! All of it is the agent's claim. The arguments (`rawInput`) say what will be done. Where there are
//! none, nobody knows what will: such a call has a tool nothing is known about, so it is a question
//! for a person, who sees the title as the agent's own words. The kind never lowers a risk.

use countersign_core::canonical;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The tool of a call that says too little of itself.
const UNKNOWN: &str = "unknown tool";
/// The tool of a command for a shell.
const TERMINAL: &str = "terminal";
/// Keys of arguments that hold a command for a shell.
const COMMAND_KEYS: &[&str] = &["command", "cmd", "command_line"];
/// Keys of arguments that name the directory of a command.
const DIRECTORY_KEYS: &[&str] = &[
    "cwd",
    "workdir",
    "working_directory",
    "directory",
    "dir_path",
];
/// Keys of arguments that name the file a change is made to.
const FILE_KEYS: &[&str] = &["path", "file_path", "filePath", "filepath", "abs_path"];
/// Keys of arguments that hold what is written.
const WRITTEN_KEYS: &[&str] = &[
    "content",
    "diff",
    "new_string",
    "newString",
    "new_str",
    "newText",
    "new_text",
    "edits",
];
/// Where the answer says why. Agents that do not know it skip it.
const MESSAGE_KEY: &str = "countersign/message";
/// Longest title that is shown, in bytes; the gateway takes no more.
const TITLE_BYTES_MAX: usize = 8 * 1024;

/// A question for permission.
#[derive(Debug, PartialEq)]
pub(super) struct Permission {
    /// The session.
    pub(super) session: String,
    /// The agent's name of the call.
    pub(super) call: Option<String>,
    /// The tool, as far as it is known.
    pub(super) tool: String,
    /// Its arguments.
    pub(super) args: Value,
    /// What the kind says against the call.
    pub(super) annotations: Value,
    /// What the agent says about it.
    pub(super) title: Option<String>,
    /// Where it is done, if the question says so.
    pub(super) cwd: Option<String>,
    /// The answers that the agent would take.
    pub(super) options: Answers,
    /// Who it is kept apart from others by, if it says too little of itself.
    claim: Value,
}

/// The options that are used, by their ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Answers {
    allow: Option<String>,
    reject: Option<String>,
}

/// What the agent is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The call may be made, this once.
    Allowed,
    /// It must not be made.
    Rejected,
    /// The turn is over.
    Cancelled,
}

/// The parameters, of version 1 (`toolCall`) and of version 2 (`title`, `subject`) of the protocol.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: String,
    tool_call: Option<ToolCall>,
    title: Option<String>,
    description: Option<String>,
    subject: Option<Subject>,
    options: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(rename = "optionId")]
    id: String,
    kind: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Subject {
    #[serde(rename = "type")]
    kind: String,
    tool_call: Option<ToolCall>,
    tool_call_id: Option<String>,
    command: Option<String>,
    cwd: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolCall {
    #[serde(rename = "toolCallId")]
    id: Option<String>,
    name: Option<String>,
    title: Option<String>,
    kind: Option<String>,
    raw_input: Option<Value>,
    content: Option<Value>,
    locations: Option<Value>,
}

/// Reads the question of `line`.
pub(super) fn read(line: &[u8]) -> Result<Permission, String> {
    let message = canonical::parse(line).map_err(|error| error.to_string())?;
    let params = message.get("params").cloned().unwrap_or_default();
    let params: Params = serde_json::from_value(params).map_err(|error| error.to_string())?;
    let options = Answers::of(&params.options);
    let subject = params.subject.unwrap_or_default();
    let mut call = params.tool_call.or(subject.tool_call).unwrap_or_default();
    if subject.kind == "command" {
        // Only the arguments count for it; whatever else the question says is shown with them.
        call.raw_input = subject.command.map(|command| json!({ "command": command }));
        call.id = call.id.or(subject.tool_call_id);
    }
    let title: Vec<String> = [params.title, call.title.take(), params.description]
        .into_iter()
        .flatten()
        .collect();
    let title = Some(title.join("\n")).filter(|it| !it.trim().is_empty());
    let title = title.map(|it| {
        it.split_at(it.floor_char_boundary(TITLE_BYTES_MAX))
            .0
            .to_owned()
    });
    let annotations = annotations(call.kind.as_deref());
    let claim = json!({
        "call": call.id,
        "title": title,
        "kind": call.kind,
        "input": call.raw_input,
        "locations": call.locations,
        "content": call.content,
    });
    let (tool, args) = tool_and_args(&call).unwrap_or_else(|| (UNKNOWN.to_owned(), claim.clone()));
    Ok(Permission {
        session: params.session_id,
        call: call.id,
        tool,
        args,
        annotations,
        title,
        cwd: subject.cwd,
        options,
        claim,
    })
}

/// Returns the tool and its arguments, if the call says enough of itself.
fn tool_and_args(call: &ToolCall) -> Option<(String, Value)> {
    let input = call.raw_input.as_ref().and_then(Value::as_object);
    let input = input.filter(|it| !it.is_empty());
    let name = call.name.as_deref().filter(|it| !it.trim().is_empty());
    match (input, name) {
        (Some(args), Some(name)) => Some((name.to_owned(), args.clone().into())),
        (Some(args), None) if COMMAND_KEYS.iter().any(|key| args.contains_key(*key)) => {
            Some((TERMINAL.to_owned(), args.clone().into()))
        }
        (Some(args), None) if is_edit(args, call) => Some(("edit".to_owned(), args.clone().into())),
        (None, _) if call.kind.as_deref() == Some("edit") => edits(call.content.as_ref()),
        (Some(_) | None, _) => None,
    }
}

impl Permission {
    /// Whether it is about a command and does not say where that runs. Agents tell that beside the
    /// question, before it or a moment after it.
    pub(super) fn lacks_directory(&self) -> bool {
        let has = |keys: &[&str]| keys.iter().any(|key| self.args.get(*key).is_some());
        has(COMMAND_KEYS) && self.cwd.is_none() && !has(DIRECTORY_KEYS)
    }

    /// Whether `told` are arguments of the same command.
    pub(super) fn is_of(&self, told: &Value) -> bool {
        let mut keys = COMMAND_KEYS
            .iter()
            .filter(|key| self.args.get(**key).is_some());
        keys.all(|key| self.args.get(*key) == told.get(*key))
    }

    /// Adds what the agent has `told` of the same call.
    pub(super) fn complete(&mut self, told: &Value) {
        if let (Some(args), Some(told)) = (self.args.as_object_mut(), told.as_object()) {
            for (key, value) in told {
                args.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
    }

    /// Makes it a question for a person, with all that is known of it: what it would do depends on
    /// something that the agent has not told.
    pub(super) fn leave_open(&mut self, told: Option<Value>) {
        UNKNOWN.clone_into(&mut self.tool);
        self.args = self.claim.take();
        // The call's own id is among them, so that permission for one that shows little of itself
        // never covers another.
        if let Some(args) = self.args.as_object_mut() {
            args.extend(told.map(|told| ("told_earlier".to_owned(), told)));
            args.retain(|_, value| !value.is_null());
        }
    }

    /// Whether nobody knows what it would do.
    pub(super) fn is_open(&self) -> bool {
        self.tool == UNKNOWN
    }
}

/// Whether `args` are those of a change to the one file that the question is about.
fn is_edit(args: &Map<String, Value>, call: &ToolCall) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| args.contains_key(*key));
    let is_said = matches!(call.kind.as_deref(), None | Some("edit" | "other"));
    is_said && has(FILE_KEYS) && has(WRITTEN_KEYS) && shows_only(args, call.content.as_ref())
}

/// Whether the diffs in `content` are about a file that `args` name.
fn shows_only(args: &Map<String, Value>, content: Option<&Value>) -> bool {
    let named: Vec<&str> = FILE_KEYS
        .iter()
        .filter_map(|key| args.get(*key)?.as_str())
        .collect();
    let items = content.and_then(Value::as_array).into_iter().flatten();
    let mut paths = items.filter_map(|item| item.get("path")?.as_str());
    paths.all(|path| {
        let is_end = |name: &&str| path.strip_suffix(*name).is_some_and(|it| it.ends_with('/'));
        named.iter().any(|name| *name == path || is_end(name))
    })
}

/// Returns the changes of `content`, if it holds nothing else.
fn edits(content: Option<&Value>) -> Option<(String, Value)> {
    let items = content?.as_array()?;
    let edits = items.iter().map(|item| {
        let text = |key: &str| item.get(key)?.as_str();
        let is_diff = text("type") == Some("diff");
        let (path, new) = (text("path")?, text("newText")?);
        is_diff.then(|| json!({ "path": path, "old_text": text("oldText"), "new_text": new }))
    });
    let edits: Vec<Value> = edits.collect::<Option<_>>()?;
    match edits.as_slice() {
        [] => None,
        [edit] => Some(("edit".to_owned(), edit.clone())),
        several => {
            let calls: Vec<Value> = several
                .iter()
                .map(|edit| json!({ "tool": "edit", "args": edit }))
                .collect();
            Some(("batch".to_owned(), json!({ "tool_calls": calls })))
        }
    }
}

/// Returns what the kind says against a call, in the words of an MCP server's hints.
fn annotations(kind: Option<&str>) -> Value {
    match kind {
        Some("delete") => json!({ "destructiveHint": true, "readOnlyHint": false }),
        Some("edit" | "move" | "execute") => json!({ "readOnlyHint": false }),
        Some("fetch") => json!({ "openWorldHint": true }),
        Some(_) | None => json!({}),
    }
}

impl Answers {
    /// Chooses from `options`. Permission that lasts is never chosen: that is the gateway's to give.
    /// Of two that allow once, nobody knows which one the person means.
    fn of(options: &[Choice]) -> Self {
        let only = |kind: &str| {
            let mut found = options.iter().filter(|it| it.kind == kind);
            let one = found.next().filter(|_| found.next().is_none())?;
            let is_unique = options.iter().filter(|it| it.id == one.id).count() == 1;
            is_unique.then(|| one.id.clone())
        };
        Self {
            allow: only("allow_once"),
            reject: only("reject_once"),
        }
    }

    /// Whether the call can be allowed once and for nothing else.
    pub(super) const fn can_allow(&self) -> bool {
        self.allow.is_some()
    }

    /// Returns the result that tells the agent of `outcome`, with `message` for whoever reads it.
    pub(super) fn result(&self, outcome: Outcome, message: Option<&str>) -> Value {
        let chosen = match outcome {
            Outcome::Allowed => self.allow.as_ref(),
            Outcome::Rejected => self.reject.as_ref(),
            Outcome::Cancelled => None,
        };
        let mut result = match chosen {
            Some(id) => json!({ "outcome": { "outcome": "selected", "optionId": id } }),
            None => json!({ "outcome": { "outcome": "cancelled" } }),
        };
        if let (Some(message), Some(fields)) = (message, result.as_object_mut()) {
            fields.insert("_meta".to_owned(), json!({ MESSAGE_KEY: message }));
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_call(call: &Value) -> Permission {
        let options = json!([{ "optionId": "y", "kind": "allow_once", "name": "Yes" }]);
        let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
        let line = json!({ "id": 1, "method": "m", "params": params }).to_string();
        read(line.as_bytes()).unwrap()
    }

    #[test]
    fn the_arguments_say_what_a_call_does_and_the_kind_lowers_nothing() {
        let diff = |path: &str| json!({ "type": "diff", "path": path, "newText": "x" });
        let text = json!({ "type": "content", "content": { "type": "text", "text": "x" } });
        #[rustfmt::skip]
        let rows = [
            ("a command", json!({ "kind": "read", "rawInput": { "command": "ls" } }), "terminal"),
            ("a command in words", json!({ "rawInput": { "command": ["bash", "-lc", "ls"] } }), "terminal"),
            ("a command beside a file", json!({ "kind": "edit", "rawInput": { "command": "create", "path": "/a", "content": "" } }), "terminal"),
            ("a change", json!({ "kind": "edit", "rawInput": { "filePath": "/a", "newString": "x" } }), "edit"),
            ("a change and its diff", json!({ "kind": "edit", "rawInput": { "path": "/a/b", "diff": "x" }, "content": [diff("/a/b")] }), "edit"),
            ("a change by a path in the project", json!({ "kind": "edit", "rawInput": { "path": "b", "diff": "x" }, "content": [diff("/a/b")] }), "edit"),
            ("a diff of another file", json!({ "kind": "edit", "rawInput": { "path": "/a/b", "diff": "x" }, "content": [diff("/etc/b")] }), UNKNOWN),
            ("a diff of a file that ends alike", json!({ "kind": "edit", "rawInput": { "path": "b", "diff": "x" }, "content": [diff("/a/ab")] }), UNKNOWN),
            ("a change that is said to run", json!({ "kind": "execute", "rawInput": { "path": "/a", "content": "x" } }), UNKNOWN),
            ("a file alone", json!({ "kind": "read", "rawInput": { "path": "/a" } }), UNKNOWN),
            ("a diff alone", json!({ "kind": "edit", "content": [diff("/a")] }), "edit"),
            ("two diffs alone", json!({ "kind": "edit", "content": [diff("/a"), diff("/b")] }), "batch"),
            ("a diff and a text", json!({ "kind": "edit", "content": [diff("/a"), text] }), UNKNOWN),
            ("a diff of something else", json!({ "kind": "execute", "content": [diff("/a")] }), UNKNOWN),
            ("a title", json!({ "kind": "execute", "title": "ls" }), UNKNOWN),
            ("no arguments", json!({ "kind": "read", "rawInput": {} }), UNKNOWN),
            ("a text as arguments", json!({ "rawInput": "ls" }), UNKNOWN),
            ("a name", json!({ "name": "read_file", "rawInput": { "path": "/a" } }), "read_file"),
            ("a name alone", json!({ "name": "read_file", "kind": "read" }), UNKNOWN),
        ];
        for (what, mut call, tool) in rows {
            call["toolCallId"] = "c".into();
            let permission = read_call(&call);
            assert_eq!(permission.tool, tool, "{what}");
            // Nothing that says little of itself is ever equal to another call.
            let is_apart = permission.args["call"] == "c";
            assert_eq!(is_apart, tool == UNKNOWN, "{what}");
        }
    }

    #[test]
    fn a_kind_speaks_against_a_call_or_says_nothing() {
        for kind in [
            "read",
            "edit",
            "delete",
            "move",
            "search",
            "execute",
            "think",
            "fetch",
            "switch_mode",
            "other",
        ] {
            let hints = annotations(Some(kind));
            assert_ne!(hints["readOnlyHint"], true, "{kind}");
            assert_ne!(hints["destructiveHint"], false, "{kind}");
            assert_ne!(hints["openWorldHint"], false, "{kind}");
        }
        assert_eq!(annotations(Some("delete"))["destructiveHint"], true);
    }
}
