//! Codex: `~/.codex/hooks.json`, plain JSON, and `config.toml`, which says which hooks are trusted.
//!
//! Codex skips, without a word, a hook whose hash is not in `config.toml`. The hash covers one
//! handler with its event and matcher; its key names the handler by its place in the file, so the
//! keys of all handlers move when a place changes.

use std::time::Duration;

use countersign_core::digest::Digest;
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table, TableLike, value};

use super::{Agent, File, NOTE_TIME_MAX, Practice, Texts};
use super::{patience, settings_file, text, values, without_handlers};
use crate::complaint::Complaint;
use crate::init::Place;
use crate::init::command::Answers;
use crate::init::find::Version;
use crate::init::json::{Entry, Form, Position, Settings, Shape, command, positions};

const NAME: &str = "codex";
/// Lets the model type into a running program, which no hook sees.
const TYPING: &str = "unified_exec_tty";
/// How long Codex waits for a handler that does not say it, in seconds.
const TIMEOUT_DEFAULT: u64 = 600;

pub(super) const AGENT: Agent = Agent {
    name: NAME,
    title: "Codex",
    programs: &["codex"],
    variables: &["CODEX_HOME"],
    has_key: true,
    known_by_folder: None,
    files,
    with,
    without,
    command: |place, texts| command(&hooks(place, texts), NAME, "PreToolUse"),
    practice: Some(practice),
    warnings,
    stays_open: &[
        "a hook that runs longer than its time limit does not stop the call; ours answers before that",
        "a project's .codex/config.toml with features.hooks = false switches the hook off, and so does `--disable hooks`; only /etc/codex/requirements.toml stands above that",
        "Codex skips a hook whose entry was changed by hand, without a word",
        "web_search runs at the model's provider, where no hook sees it",
    ],
};

fn files(place: &Place) -> Vec<File> {
    let folder = place.folder("CODEX_HOME", ".codex");
    vec![
        settings_file(folder.join("hooks.json")),
        settings_file(folder.join("config.toml")),
    ]
}

fn hooks(place: &Place, texts: &Texts) -> Value {
    let files = files(place);
    files.first().map_or(Value::Null, |it| values(it, texts, 0))
}

fn with(place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
    let [list, config] = both(place)?;
    let settings = Settings::parse(&list.path, text(texts, 0), Form::Strict)?;
    let before = settings.value();
    settings.put(NAME, Shape::Groups, &entries(place))?;
    let mut document = parse(&config, text(texts, 1))?;
    retrust(&mut document, &list, &before, &settings.value())
        .ok_or_else(|| unfit(&config, "hooks.state"))?;
    let features = table(document.as_table_mut(), "features", Shown::Yes)
        .ok_or_else(|| unfit(&config, "features"))?;
    if features.get(TYPING).and_then(Item::as_bool) != Some(false) {
        set(features, TYPING, value(false));
    }
    Ok(vec![Some(settings.text()), Some(document.to_string())])
}

fn without(place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
    let [list, config] = both(place)?;
    let before = hooks(place, texts);
    let hooks_text = text(texts, 0);
    let left = without_handlers(NAME, &list, hooks_text, Form::Strict, Shape::Groups)?;
    let Some(given) = text(texts, 1) else {
        return Ok(vec![left, None]);
    };
    let mut document = parse(&config, Some(given))?;
    let after = hooks(place, &vec![left.clone()]);
    retrust(&mut document, &list, &before, &after).ok_or_else(|| unfit(&config, "hooks.state"))?;
    if let Some(features) = document
        .get_mut("features")
        .and_then(Item::as_table_like_mut)
        && features.get(TYPING).and_then(Item::as_bool) == Some(false)
    {
        features.remove(TYPING);
    }
    drop_if_empty(document.as_table_mut(), "features");
    Ok(vec![left, Some(document.to_string())])
}

fn both(place: &Place) -> Result<[File; 2], Complaint> {
    files(place)
        .try_into()
        .map_err(|_| Complaint::failed("Codex has two files", ""))
}

fn entries(place: &Place) -> Vec<Entry> {
    let entry = |event, matcher, command: String, limit: Duration| Entry {
        event,
        matcher,
        handler: json!({ "type": "command", "command": command, "timeout": limit.as_secs() }),
    };
    let gate = place.guarded_hook(NAME, Answers::ObjectOrNothing);
    let note = place.hook(NAME);
    vec![
        entry("PreToolUse", Some("*"), gate, patience(NAME)),
        entry("PostToolUse", Some("*"), note.clone(), NOTE_TIME_MAX),
        entry("UserPromptSubmit", None, note, NOTE_TIME_MAX),
    ]
}

/// Makes the trusted hashes fit the handlers, which were `before` and are `after`: ours are
/// trusted, and those of others keep what they had, wherever they are now.
fn retrust(document: &mut DocumentMut, list: &File, before: &Value, after: &Value) -> Option<()> {
    let (old, new) = (positions(before, NAME), positions(after, NAME));
    let key = |it: &Position| {
        let (event, group, handler) = (snake(&it.event), it.group, it.handler);
        format!("{}:{event}:{group}:{handler}", list.path.display())
    };
    let trusts = new.iter().any(|it| it.is_ours);
    if !trusts
        && document
            .get("hooks")
            .and_then(|it| it.get("state"))
            .is_none()
    {
        return Some(());
    }
    let hooks = table(document.as_table_mut(), "hooks", Shown::No)?;
    let state = table(hooks, "state", Shown::No)?;
    let kept: Vec<String> = new.iter().filter(|it| it.is_ours).map(key).collect();
    for gone in old.iter().filter(|it| it.is_ours).map(key) {
        if !kept.contains(&gone) {
            state.remove(&gone);
        }
    }
    let others = |all: &[Position]| -> Vec<String> {
        all.iter().filter(|it| !it.is_ours).map(key).collect()
    };
    let moved: Vec<(String, Option<Item>)> = others(&old)
        .into_iter()
        .zip(others(&new))
        .filter(|(from, to)| from != to)
        .map(|(from, to)| (to, state.remove(&from)))
        .collect();
    for (to, item) in moved {
        if let Some(item) = item {
            state.insert(&to, item);
        }
    }
    for position in new.iter().filter(|it| it.is_ours) {
        let hash = trusted_hash(after, position)?;
        let entry = table(state, &key(position), Shown::Yes)?;
        if entry.get("trusted_hash").and_then(Item::as_str) != Some(&hash) {
            set(entry, "trusted_hash", value(hash));
        }
    }
    drop_if_empty(hooks, "state");
    drop_if_empty(document.as_table_mut(), "hooks");
    Some(())
}

/// Returns the hash by which Codex trusts the handler at `position`.
fn trusted_hash(settings: &Value, position: &Position) -> Option<String> {
    let groups = settings.get("hooks")?.get(&position.event)?;
    let group = groups.get(position.group)?;
    let handler = group.get("hooks")?.get(position.handler)?;
    Some(hash_of(&snake(&position.event), group, handler))
}

/// Returns the hash by which Codex knows the `handler` of a `group`.
pub(crate) fn hash_of(event: &str, group: &Value, handler: &Value) -> String {
    let timeout = handler.get("timeout").and_then(Value::as_u64);
    let timeout = timeout.unwrap_or(TIMEOUT_DEFAULT).max(1);
    let has_matcher = !matches!(event, "user_prompt_submit" | "stop");
    // The order of the keys is part of what is hashed.
    let hashed = object([
        ("async", Some(false.into())),
        ("command", handler.get("command").cloned()),
        ("statusMessage", handler.get("statusMessage").cloned()),
        ("timeout", Some(timeout.into())),
        ("type", handler.get("type").cloned()),
    ]);
    let matcher = group.get("matcher").filter(|_| has_matcher);
    let whole = object([
        ("event_name", Some(event.into())),
        ("hooks", Some(vec![hashed].into())),
        ("matcher", matcher.cloned()),
    ]);
    Digest::of(whole.to_string().as_bytes()).to_string()
}

/// Returns an object with those of `fields` that are there, in this order.
fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let there = fields.into_iter();
    let there = there.filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(there.collect())
}

/// Returns the name of an event as Codex writes it in keys: `PreToolUse` is `pre_tool_use`.
fn snake(event: &str) -> String {
    let mut snake = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// Whether a table that has to be made has a line of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Yes,
    No,
}

/// Returns the table `name`, made if it is missing.
fn table<'a>(
    parent: &'a mut dyn TableLike,
    name: &str,
    shown: Shown,
) -> Option<&'a mut dyn TableLike> {
    if !parent.contains_key(name) {
        let mut table = Table::new();
        table.set_implicit(shown == Shown::No);
        parent.insert(name, Item::Table(table));
    }
    parent.get_mut(name)?.as_table_like_mut()
}

/// Sets a value and keeps what stands around the old one.
fn set(table: &mut dyn TableLike, name: &str, mut new: Item) {
    if let (Some(old), Some(new)) = (table.get(name).and_then(Item::as_value), new.as_value_mut()) {
        *new.decor_mut() = old.decor().clone();
    }
    if let Some(item) = table.get_mut(name) {
        *item = new;
    } else {
        table.insert(name, new);
    }
}

fn drop_if_empty(parent: &mut dyn TableLike, name: &str) {
    let inner = parent.get(name).and_then(Item::as_table_like);
    if inner.is_some_and(TableLike::is_empty) {
        parent.remove(name);
    }
}

fn parse(file: &File, text: Option<&str>) -> Result<DocumentMut, Complaint> {
    text.unwrap_or_default()
        .parse()
        .map_err(|error: toml_edit::TomlError| {
            let hint = "fix it there, then run this again; nothing was written";
            let text = text.unwrap_or_default();
            let at = error.span().map_or(0, |span| span.start);
            let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
            let why = error.message();
            let path = file.path.display();
            Complaint::failed(format!("{path}: line {line}: it is not TOML: {why}"), hint)
        })
}

fn unfit(file: &File, name: &str) -> Complaint {
    let hint = "fix it there, then run this again; nothing was written";
    Complaint::failed(
        format!("{}: `{name}` is not a table", file.path.display()),
        hint,
    )
}

fn practice(practice: &Practice<'_>) -> Value {
    json!({
        "session_id": practice.session,
        "turn_id": practice.session,
        "cwd": practice.cwd,
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": { "command": practice.command },
        "tool_use_id": practice.session,
    })
}

fn warnings(_place: &Place, texts: &Texts, _version: Option<Version>) -> Vec<String> {
    let document: Option<DocumentMut> = text(texts, 1).and_then(|text| text.parse().ok());
    let hooks = document
        .as_ref()
        .and_then(|it| it.get("features")?.get("hooks")?.as_bool());
    if hooks == Some(false) {
        let warning =
            "config.toml says features.hooks = false, so Codex runs no hook; remove that line";
        return vec![warning.to_owned()];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Handlers, with the hashes that Codex 0.166.0 itself computes for them.
    const LIST: &str = r#"{"hooks":{
        "PreToolUse":[
            {"matcher":"*","hooks":[{"type":"command","command":"/usr/bin/countersign hook codex","timeout":3600}]},
            {"hooks":[{"type":"command","command":"/usr/bin/countersign hook codex"},
                      {"type":"command","command":"'/opt/ä \"q\"/countersign' hook codex","timeout":0,"statusMessage":"wartet …"}]}],
        "UserPromptSubmit":[{"matcher":"x","hooks":[{"type":"command","command":"/usr/bin/countersign hook codex","timeout":60}]}],
        "SessionStart":[{"matcher":"","hooks":[{"type":"command","command":"/usr/bin/countersign hook codex","timeout":86400,"extra":1}]}]
    }}"#;

    #[test]
    fn hashes_are_those_that_codex_computes() {
        let list: Value = serde_json::from_str(LIST).unwrap();
        let rows = [
            "88ba9f0aeb9f79869f2946fcad1c7a5716d80693126c27d5b60fce1b528235e2",
            "667ea864a573ec31f27d5712fa7d1d9f32cec5f41d54757cbdaececd9065a1e1",
            "a97619440027522e1115b333555c0ae2a8c1bb502a9fe01216b2aedd0fb7cdb8",
            "567ff8406ebb00ffb261daa9c51f3c7d7db127c0c614a3fa8689dc329d93dcc1",
            "8168fdd3f44ea61ba1937bbb2c344dbf67463c13cd467e542ae9677819129af7",
        ];
        let positions = positions(&list, NAME);
        let hashes: Vec<String> = positions
            .iter()
            .filter_map(|it| trusted_hash(&list, it))
            .collect();
        assert_eq!(hashes, rows.map(|hash| format!("sha256:{hash}")));
    }

    #[test]
    fn the_trust_of_others_follows_them_when_ours_goes() {
        let place = Place::made_up(Path::new("/home/dev"), "/usr/bin/countersign");
        let ours = with(&place, &vec![None, None]).unwrap();
        let mut list: Value = serde_json::from_str(ours[0].as_deref().unwrap()).unwrap();
        let groups = list["hooks"]["PreToolUse"].as_array_mut().unwrap();
        groups.push(json!({ "hooks": [{ "type": "command", "command": "guard" }] }));
        let key = |group: usize| {
            format!("[hooks.state.\"/home/dev/.codex/hooks.json:pre_tool_use:{group}:0\"]")
        };
        let config = ours[1].clone().unwrap();
        let config = format!("{config}\n{}\ntrusted_hash = \"sha256:11\"\n", key(1));
        let left = without(&place, &vec![Some(list.to_string()), Some(config)]).unwrap();
        let config = left[1].as_deref().unwrap();
        assert!(
            config.contains(&key(0)) && config.contains("sha256:11"),
            "{config}"
        );
        assert!(
            !config.contains(&key(1)) && !config.contains(TYPING),
            "{config}"
        );
    }
}
