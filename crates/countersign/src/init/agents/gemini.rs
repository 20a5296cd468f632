//! Gemini CLI: `~/.gemini/settings.json`, JSON with comments, and an extension with the same hooks.
//!
//! Each of the two places is switched off by something that leaves the other alone: a folder that is
//! not trusted, a project's settings, a flag. Equal hooks in both run once. Time limits are
//! milliseconds.

use std::time::Duration;

use countersign_core::digest::Digest;
use serde_json::{Value, json};

use super::{Agent, File, NOTE_TIME_MAX, Practice, Texts};
use super::{patience, settings_file, text, values, without_handlers};
use crate::complaint::Complaint;
use crate::config::read::at;
use crate::init::Place;
use crate::init::command::{Answers, printed};
use crate::init::find::Version;
use crate::init::json::{Entry, Form, Settings, Shape, command};

const NAME: &str = "gemini";
const MANIFEST: &str = "{\n  \"name\": \"countersign\",\n  \"version\": \"1.0.0\"\n}\n";

pub(super) const AGENT: Agent = Agent {
    name: NAME,
    title: "Gemini CLI",
    programs: &["gemini"],
    variables: &[],
    has_key: true,
    known_by_folder: None,
    files,
    with,
    without,
    command: |place, texts| command(&values(&settings(place), texts, 0), NAME, "BeforeTool"),
    practice: Some(practice),
    warnings,
    stays_open: &[
        "hooksConfig in a project's .gemini/settings.json switches the hook off; only /etc/gemini-cli/settings.json stands above that",
        "a hook that runs longer than its time limit, or whose shell is killed, does not stop the call; ours answers before the limit",
    ],
};

fn settings(place: &Place) -> File {
    settings_file(place.user.join(".gemini/settings.json"))
}

fn files(place: &Place) -> Vec<File> {
    let extension = place.user.join(".gemini/extensions/countersign");
    vec![
        settings(place),
        settings_file(extension.join("gemini-extension.json")),
        settings_file(extension.join("hooks/hooks.json")),
    ]
}

fn with(place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
    let file = settings(place);
    let entries = entries(place);
    let settings = Settings::parse(&file.path, text(texts, 0), Form::Comments)?;
    settings.put(NAME, Shape::Groups, &entries)?;
    let extension = Settings::parse(&file.path, None, Form::Strict)?;
    extension.put(NAME, Shape::Groups, &entries)?;
    Ok(vec![
        Some(settings.text()),
        Some(MANIFEST.to_owned()),
        Some(extension.text()),
    ])
}

fn entries(place: &Place) -> Vec<Entry> {
    // A project's settings can switch a hook off by its name. A project does not know this one.
    // Gemini shows the name, and nothing else, while a call waits.
    let salt = Digest::of(place.directory.as_bytes()).hex();
    let salt = salt.get(..8).unwrap_or_default();
    let name = format!(
        "countersign-{salt} (to answer a waiting call, run `countersign` in another terminal)"
    );
    let entry = |event, matcher, command: String, limit: Duration| Entry {
        event,
        matcher,
        handler: json!({
            "type": "command",
            "name": name,
            "command": command,
            "timeout": limit.as_secs() * 1000,
        }),
    };
    let gate = place.guarded_hook(NAME, Answers::ObjectAlone("decision", &["reason"]));
    // A note that fails must not end the person's turn.
    let note = format!("{} || true", place.hook(NAME));
    vec![
        entry("BeforeTool", Some("*"), gate, patience(NAME)),
        entry("AfterTool", Some("*"), note.clone(), NOTE_TIME_MAX),
        entry("BeforeAgent", None, in_terminal(&note), NOTE_TIME_MAX),
    ]
}

/// Returns a command that refuses every turn where an editor runs Gemini (ACP), because Gemini runs
/// no hooks for tools there, and is `command` everywhere else.
fn in_terminal(command: &str) -> String {
    let refusal = printed(&json!({
        "decision": "deny",
        "reason": "Gemini CLI runs no tool hooks in an editor (ACP), so Countersign cannot guard it there.",
    }));
    let arguments = "$(ps -o args= -p $PPID 2>/dev/null || tr \"\\0\" \" \" </proc/$PPID/cmdline)";
    format!(
        "case \" {arguments} \" in *\" --acp \"*|*\" --experimental-acp \"*) {refusal}exit 0;; esac; {command}"
    )
}

fn without(place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
    let file = settings(place);
    let left = without_handlers(NAME, &file, text(texts, 0), Form::Comments, Shape::Groups)?;
    Ok(vec![left, None, None])
}

fn practice(practice: &Practice<'_>) -> Value {
    json!({
        "session_id": practice.session,
        "cwd": practice.cwd,
        "hook_event_name": "BeforeTool",
        "tool_name": "run_shell_command",
        "tool_input": { "command": practice.command, "description": practice.explanation },
    })
}

fn warnings(place: &Place, texts: &Texts, _version: Option<Version>) -> Vec<String> {
    if *at(&values(&settings(place), texts, 0), "hooksConfig.enabled") == false {
        let warning =
            "its settings say hooksConfig.enabled: false, so Gemini CLI runs no hook; remove that";
        return vec![warning.to_owned()];
    }
    Vec::new()
}
