//! `OpenCode`: our plugin in its plugin folder, and a lock in `opencode.json`, JSON with comments.
//!
//! `OpenCode` goes on without a plugin that does not load. The lock denies every tool, and the plugin
//! takes it off when it loads, so that without the plugin there are no tools.

use jsonc_parser::cst::CstObject;
use serde_json::{Value, json};

use super::{Agent, File, Practice, Texts};
use super::{filled, settings_file, text, values};
use crate::complaint::Complaint;
use crate::config::read::at;
use crate::init::Place;
use crate::init::command::quoted;
use crate::init::find::Version;
use crate::init::json::{Form, Settings, input};

const NAME: &str = "opencode";
const PLUGIN: &str = include_str!("../../../../../integrations/opencode/countersign.js");
/// Matches every tool, and as the last key wins over all others.
const LOCK: &str = "**";

pub(super) const AGENT: Agent = Agent {
    name: NAME,
    title: "OpenCode",
    programs: &["opencode"],
    variables: &["XDG_CONFIG_HOME", "OPENCODE_CONFIG_DIR"],
    has_key: true,
    known_by_folder: None,
    files,
    with,
    without,
    // The plugin starts it without a shell, with these words.
    command: |place, texts| {
        text(texts, 0).filter(|text| text.contains(&place.program))?;
        let (program, home) = (quoted(&place.program), quoted(&place.directory));
        Some(format!("{program} hook {NAME} --home {home}"))
    },
    practice: Some(practice),
    warnings,
    stays_open: &[
        "if the plugin is gone, a tool that the project's own opencode.json or an agent's own permission allows still runs; all others are denied",
    ],
};

fn files(place: &Place) -> Vec<File> {
    let folder = place.folder("XDG_CONFIG_HOME", ".config").join("opencode");
    // OpenCode reads both; the one with comments is read last and so has the last word.
    let commented = folder.join("opencode.jsonc");
    let settings = if commented.exists() {
        commented
    } else {
        folder.join("opencode.json")
    };
    vec![
        settings_file(folder.join("plugin/countersign.js")),
        settings_file(settings),
    ]
}

fn settings<'a>(files: &'a [File], texts: &Texts) -> Result<Settings<'a>, Complaint> {
    let file = files.get(1);
    let file = file.ok_or_else(|| Complaint::failed("OpenCode has two files", ""))?;
    Settings::parse(&file.path, text(texts, 1), Form::Comments)
}

fn with(place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
    let files = files(place);
    let settings = settings(&files, texts)?;
    let object = settings.object()?;
    if object.properties().is_empty() {
        object.append("$schema", "https://opencode.ai/config.json".into());
    }
    let permission = object.get("permission").and_then(|it| it.value());
    let word = permission.and_then(|it| it.as_string_lit()?.decoded_value().ok());
    if let Some((word, property)) = word.zip(object.get("permission")) {
        property.set_value(input(&json!({ "*": word, LOCK: "deny" })));
    } else {
        lock(&settings.inner(&object, "permission")?);
    }
    let plugin = filled(place, PLUGIN);
    Ok(vec![Some(plugin), Some(settings.text())])
}

/// Makes the lock the last key.
fn lock(permission: &CstObject) {
    let is_locked = permission.properties().last().is_some_and(|it| {
        let value = it.value().and_then(|it| it.to_serde_value());
        it.decoded_name().as_deref() == Some(LOCK) && value == Some("deny".into())
    });
    if is_locked {
        return;
    }
    unlock(permission);
    permission.append(LOCK, "deny".into());
}

fn unlock(permission: &CstObject) {
    while let Some(lock) = permission.get(LOCK) {
        lock.remove();
    }
}

fn without(place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
    let files = files(place);
    if text(texts, 1).is_none_or(|text| text.trim().is_empty()) {
        return Ok(vec![None, text(texts, 1).map(str::to_owned)]);
    }
    let settings = settings(&files, texts)?;
    if let Some(property) = settings.object()?.get("permission")
        && let Some(permission) = property.object_value()
        && permission.get(LOCK).is_some()
    {
        unlock(&permission);
        if permission.properties().is_empty() {
            property.remove();
        }
    }
    Ok(vec![None, Some(settings.text())])
}

fn practice(practice: &Practice<'_>) -> Value {
    json!({
        "hook": "tool.execute.before",
        "input": { "tool": "bash", "sessionID": practice.session, "callID": practice.session },
        "output": { "args": { "command": practice.command, "description": practice.explanation } },
        "directory": practice.cwd,
    })
}

fn warnings(place: &Place, texts: &Texts, _version: Option<Version>) -> Vec<String> {
    let files = files(place);
    let values = files.get(1).map_or(Value::Null, |it| values(it, texts, 1));
    let agents =
        ["agent", "mode"].map(|key| at(&values, key).as_object().cloned().unwrap_or_default());
    let own = agents
        .iter()
        .flatten()
        .filter(|(_, it)| !at(it, "permission").is_null());
    own.map(|(name, _)| {
        let name = countersign_core::display::inline(name);
        format!(
            "the agent `{name}` has a permission of its own, which stays open if the plugin is gone"
        )
    })
    .collect()
}
