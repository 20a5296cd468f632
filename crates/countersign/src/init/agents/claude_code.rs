//! Claude Code: `~/.claude/settings.json`, plain JSON.

use serde_json::{Value, json};

use super::{Agent, File, NOTE_TIME_MAX, Practice, Texts};
use super::{patience, settings_file, text, values, without_handlers};
use crate::complaint::Complaint;
use crate::config::read::at;
use crate::init::Place;
use crate::init::command::Answers;
use crate::init::find::Version;
use crate::init::json::{Entry, Form, Settings, Shape, command};

const NAME: &str = "claude-code";
/// The first version that knows `onFailure`.
pub(crate) const KNOWS_ON_FAILURE: Version = Version(2, 1, 295);

pub(super) const AGENT: Agent = Agent {
    name: NAME,
    title: "Claude Code",
    programs: &["claude"],
    variables: &["CLAUDE_CONFIG_DIR"],
    has_key: true,
    known_by_folder: None,
    files,
    with,
    without,
    command: |place, texts| command(&values(&file(place), texts, 0), NAME, "PreToolUse"),
    practice: Some(practice),
    warnings,
    stays_open: &[
        "a project's own .claude/settings.json with disableAllHooks switches the hook off, and so do --bare, --safe-mode, --settings and --setting-sources; only /etc/claude-code/managed-settings.json stands above that",
    ],
};

fn file(place: &Place) -> File {
    let folder = place.folder("CLAUDE_CONFIG_DIR", ".claude");
    settings_file(folder.join("settings.json"))
}

fn files(place: &Place) -> Vec<File> {
    vec![file(place)]
}

fn with(place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
    let file = file(place);
    let settings = Settings::parse(&file.path, text(texts, 0), Form::Strict)?;
    settings.put(NAME, Shape::Groups, &entries(place))?;
    Ok(vec![Some(settings.text())])
}

fn entries(place: &Place) -> Vec<Entry> {
    let note = |event, matcher| Entry {
        event,
        matcher,
        handler: json!({
            "type": "command",
            "command": place.hook(NAME),
            "timeout": NOTE_TIME_MAX.as_secs(),
        }),
    };
    vec![
        Entry {
            event: "PreToolUse",
            matcher: Some("*"),
            handler: json!({
                "type": "command",
                "command": place.guarded_hook(NAME, Answers::Object),
                "timeout": patience(NAME).as_secs(),
                "onFailure": "block",
            }),
        },
        note("PostToolUse", Some("*")),
        note("PostToolUseFailure", Some("*")),
        note("UserPromptSubmit", None),
    ]
}

fn without(place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
    let text = text(texts, 0);
    let text = without_handlers(NAME, &file(place), text, Form::Strict, Shape::Groups)?;
    Ok(vec![text])
}

fn practice(practice: &Practice<'_>) -> Value {
    json!({
        "session_id": practice.session,
        "cwd": practice.cwd,
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": { "command": practice.command, "description": practice.explanation },
        "tool_use_id": practice.session,
    })
}

fn warnings(_place: &Place, texts: &Texts, version: Option<Version>) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(version) = version.filter(|it| *it < KNOWS_ON_FAILURE) {
        warnings.push(format!(
            "Claude Code {version} does not know onFailure, so a hook that is late does not stop the call; update to {KNOWS_ON_FAILURE} or newer"
        ));
    }
    let settings: Value = text(texts, 0)
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    if *at(&settings, "disableAllHooks") == true {
        warnings.push(
            "its settings say disableAllHooks, so Claude Code runs no hook; remove that line"
                .to_owned(),
        );
    }
    warnings
}
