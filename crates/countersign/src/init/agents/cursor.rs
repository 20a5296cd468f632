//! Cursor, by its documentation alone: `~/.cursor/hooks.json`, plain JSON.

use serde_json::{Value, json};

use super::{Agent, File, NOTE_TIME_MAX, Practice, Texts};
use super::{patience, settings_file, text, values, without_handlers};
use crate::complaint::Complaint;
use crate::init::Place;
use crate::init::command::Answers;
use crate::init::json::{Entry, Form, Settings, Shape, command, input};

const NAME: &str = "cursor";
const ANSWERS: Answers = Answers::ObjectAlone("permission", &["user_message", "agent_message"]);

pub(super) const AGENT: Agent = Agent {
    name: NAME,
    title: "Cursor",
    programs: &["cursor-agent", "cursor"],
    variables: &[],
    has_key: true,
    known_by_folder: Some(".cursor"),
    files: |place| vec![file(place)],
    with,
    without,
    command: |place, texts| command(&values(&file(place), texts, 0), NAME, "preToolUse"),
    practice: Some(practice),
    warnings: |_, _, _| Vec::new(),
    stays_open: &[
        "written by Cursor's documentation and never tried: look whether a harmless call appears in `countersign history`",
    ],
};

fn file(place: &Place) -> File {
    settings_file(place.user.join(".cursor/hooks.json"))
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
    let entry = |event, handler| Entry {
        event,
        matcher: None,
        handler,
    };
    let gate = json!({
        "command": place.guarded_hook(NAME, ANSWERS),
        "timeout": patience(NAME).as_secs(),
        "failClosed": true,
    });
    let note = json!({ "command": place.hook(NAME), "timeout": NOTE_TIME_MAX.as_secs() });
    vec![
        entry("preToolUse", gate),
        entry("postToolUse", note.clone()),
        entry("postToolUseFailure", note.clone()),
        entry("beforeSubmitPrompt", note),
    ]
}

fn without(place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
    let text = text(texts, 0);
    let text = without_handlers(NAME, &file(place), text, Form::Strict, Shape::Handlers)?;
    Ok(vec![text])
}

fn practice(practice: &Practice<'_>) -> Value {
    json!({
        "hook_event_name": "preToolUse",
        "conversation_id": practice.session,
        "generation_id": practice.session,
        "workspace_roots": [practice.cwd],
        "tool_name": "Shell",
        "tool_input": { "command": practice.command },
        "cwd": practice.cwd,
    })
}
