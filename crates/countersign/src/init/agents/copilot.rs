//! Copilot CLI: a file of our own in `~/.copilot/hooks`.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Agent, File, NOTE_TIME_MAX, Practice, Texts};
use super::{patience, settings_file, text, values, without_handlers};
use crate::complaint::Complaint;
use crate::config::read::at;
use crate::init::Place;
use crate::init::command::Answers;
use crate::init::json::{Entry, Form, Settings, Shape, command, input};

const NAME: &str = "copilot";
const ANSWERS: Answers = Answers::ObjectAlone("permissionDecision", &["permissionDecisionReason"]);

pub(super) const AGENT: Agent = Agent {
    name: NAME,
    title: "Copilot CLI",
    programs: &["copilot"],
    variables: &["COPILOT_HOME"],
    has_key: true,
    known_by_folder: None,
    files: |place| vec![file(place)],
    with,
    without,
    command: |place, texts| command(&values(&file(place), texts, 0), NAME, "preToolUse"),
    practice: Some(practice),
    warnings: |_, _, _| Vec::new(),
    stays_open: &[
        "a project in a trusted folder switches the hook off with disableAllHooks in .github/copilot/settings.json or .claude/settings.json; only a hook in /etc/github-copilot/policy.d stands above that",
        "a hook that runs longer than its time limit does not stop the call; ours answers before that",
    ],
};

fn file(place: &Place) -> File {
    let folder = place.folder("COPILOT_HOME", ".copilot");
    settings_file(folder.join("hooks/countersign.json"))
}

fn with(place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
    let file = file(place);
    let settings = Settings::parse(&file.path, text(texts, 0), Form::Strict)?;
    let object = settings.object()?;
    if object.get("version").is_none() {
        object.insert(0, "version", input(&json!(1)));
    }
    settings.put(NAME, Shape::Handlers, &entries(place))?;
    Ok(vec![Some(settings.text())])
}

fn entries(place: &Place) -> Vec<Entry> {
    let entry = |event, command: String, limit: Duration| Entry {
        event,
        matcher: None,
        handler: json!({ "type": "command", "bash": command, "timeoutSec": limit.as_secs() }),
    };
    let gate = place.guarded_hook(NAME, ANSWERS);
    let note = place.hook(NAME);
    vec![
        entry("preToolUse", gate, patience(NAME)),
        entry("postToolUse", note.clone(), NOTE_TIME_MAX),
        entry("postToolUseFailure", note.clone(), NOTE_TIME_MAX),
        entry("userPromptSubmitted", note, NOTE_TIME_MAX),
    ]
}

fn without(place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
    let file = file(place);
    let left = without_handlers(NAME, &file, text(texts, 0), Form::Strict, Shape::Handlers)?;
    // Without handlers it is a file of ours that says nothing.
    let is_used = !at(&values(&file, &vec![left.clone()], 0), "hooks").is_null();
    let is_ours = left.as_deref() != text(texts, 0);
    Ok(vec![left.filter(|_| is_used || !is_ours)])
}

fn practice(practice: &Practice<'_>) -> Value {
    json!({
        "sessionId": practice.session,
        "timestamp": 0,
        "cwd": practice.cwd,
        "toolName": "bash",
        "toolArgs": { "command": practice.command, "description": practice.explanation },
    })
}
