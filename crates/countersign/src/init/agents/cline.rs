//! Cline: two hook files and a plugin, in `~/Documents/Cline`.
//!
//! Cline runs the tool whatever becomes of a hook file. The plugin lets through only calls that the
//! hook file has answered. See the files in `integrations/cline`. They are not in `~/.cline`, because
//! a project's `.env` can move that folder.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Agent, File, PROGRAM, Practice};
use super::{filled, settings_file, text};
use crate::init::Place;
use crate::init::command::quoted;

const NAME: &str = "cline";
const BEFORE: &str = include_str!("../../../../../integrations/cline/PreToolUse");
const AFTER: &str = include_str!("../../../../../integrations/cline/PostToolUse");
const PLUGIN: &str = include_str!("../../../../../integrations/cline/countersign.js");
/// Stands in all of them.
const SIGN: &str = "Countersign for Cline";
/// Ends of the names under which Cline runs a hook file. It runs all that exist, so that those of
/// others stay.
const ENDS: &[&str] = &["", ".sh", ".bash", ".zsh"];

pub(super) const AGENT: Agent = Agent {
    name: NAME,
    title: "Cline",
    programs: &["cline"],
    variables: &[],
    has_key: true,
    known_by_folder: None,
    files,
    with: |place, _| {
        let ours = [BEFORE, AFTER, PLUGIN].map(|text| Some(filled(place, text)));
        Ok(ours.to_vec())
    },
    without: |_, texts| {
        let others = |text: &String| !text.contains(SIGN);
        Ok(texts.iter().cloned().map(|it| it.filter(others)).collect())
    },
    command: |place, texts| {
        text(texts, 0).filter(|text| text.contains(SIGN))?;
        let file = files(place).into_iter().next()?;
        Some(quoted(file.path.to_str()?))
    },
    practice: Some(practice),
    warnings: |_, _, _| Vec::new(),
    stays_open: &[
        "a project's .env sets Cline's own variables, by which a hostile project runs code in Cline without any tool call",
        "a plugin that does not load leaves a hook that is killed, or later than Cline's fixed 120 s, open",
        "Cline's VS Code extension reads the same hook files, untried",
    ],
};

fn files(place: &Place) -> Vec<File> {
    let folder = place.user.join("Documents/Cline");
    let hook = |event: &str| File {
        path: free(&folder.join("Hooks"), event),
        mode: PROGRAM,
    };
    vec![
        hook("PreToolUse"),
        hook("PostToolUse"),
        settings_file(folder.join("Plugins/countersign.js")),
    ]
}

/// Returns our hook file for `event`, or a name that nobody uses.
fn free(hooks: &Path, event: &str) -> PathBuf {
    let mut paths = ENDS.iter().map(|end| hooks.join(format!("{event}{end}")));
    let is_free = |path: &PathBuf| match std::fs::read_to_string(path) {
        Ok(text) => text.contains(SIGN),
        Err(_) => !path.exists(),
    };
    let free = paths.find(is_free);
    free.unwrap_or_else(|| hooks.join(format!("{event}.py")))
}

fn practice(practice: &Practice<'_>) -> Value {
    json!({
        "hookName": "tool_call",
        "taskId": practice.session,
        "sessionContext": { "rootSessionId": practice.session },
        "workspaceRoots": [practice.cwd],
        "agent_id": practice.session,
        "parent_agent_id": null,
        "tool_call": {
            "id": practice.session,
            "name": "run_commands",
            "input": { "commands": [practice.command] },
        },
    })
}
