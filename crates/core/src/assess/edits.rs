//! Computes the content of a file after a file tool wrote it, where the call and the earlier
//! content determine it.

use serde_json::{Map, Value};

use super::arguments;
use super::roles::{path_word, same_key};
use crate::follow::patch::{self, Change};
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::Walk;
use crate::knowledge::languages::Names;
use crate::knowledge::names::{BESIDE_EDIT_KEYS, EXACT_EDITORS, NEW_KEYS, OLD_KEYS};
use crate::knowledge::{ArgumentRole, Effect, ToolRow};

/// Values of `command` that write a file whole, and that replace a text in it.
const WHOLE_COMMANDS: &[&str] = &["create", "write"];
const REPLACE_COMMANDS: &[&str] = &["str_replace", "replace"];

/// Files of one call that are looked at.
const FILES_MAX: usize = 64;

/// Remembers what a call of a file tool leaves in files.
pub(super) fn remember(
    row: &ToolRow,
    effect: Effect,
    tool: &str,
    args: &Map<String, Value>,
    given: &[(&str, ArgumentRole, &Value)],
    walk: &mut Walk<'_>,
) {
    if effect != Effect::Write {
        return;
    }
    let with_role = |wanted: ArgumentRole| {
        let values = given.iter().filter(move |(_, role, _)| *role == wanted);
        values.filter_map(|(_, _, value)| arguments::words(value))
    };
    for text in with_role(ArgumentRole::Patch) {
        patched(&text.join("\n"), walk);
    }
    let targets = with_role(ArgumentRole::Write).chain(with_role(ArgumentRole::Edit));
    let targets: Vec<String> = targets.flatten().take(FILES_MAX).collect();
    heed_settings(&targets, args, walk);
    let takes_content = |(_, role): &(&str, ArgumentRole)| {
        matches!(role, ArgumentRole::Content | ArgumentRole::Patch)
    };
    if !row.args.iter().any(takes_content) {
        let sources = with_role(ArgumentRole::Read).chain(with_role(ArgumentRole::Edit));
        let sources: Vec<String> = sources.flatten().take(FILES_MAX).collect();
        copied(&sources, with_role(ArgumentRole::Write).flatten(), walk);
        return;
    }
    let contents = given
        .iter()
        .filter(|(_, role, _)| *role == ArgumentRole::Content);
    let listed = contents.filter_map(|(_, _, value)| value.as_array());
    for item in listed.flatten().take(FILES_MAX) {
        if let Some(path) = arguments::path_in(item) {
            let content = item.as_object().filter(|item| item.len() == 2);
            let content = content.and_then(|item| item.get("content"));
            let content = content.and_then(Value::as_str);
            walk.remember_file(&path_word(path), stream(content));
        }
    }
    match targets.as_slice() {
        [path] => one_file(&path_word(path), tool, args, given, walk),
        paths => {
            for path in paths {
                walk.remember_file(&path_word(path), stream(None));
            }
        }
    }
}

/// Judges the variables that a call puts into files which programs load, whatever else is known of them.
fn heed_settings(targets: &[String], args: &Map<String, Value>, walk: &mut Walk<'_>) {
    for path in targets {
        let path = path_word(path);
        for (key, value) in args {
            if !among(OLD_KEYS.iter(), key) {
                heed_texts(&path, value, walk);
            }
        }
    }
}

fn heed_texts(path: &Arg, value: &Value, walk: &mut Walk<'_>) {
    match value {
        Value::String(text) => walk.heed_settings(path, text),
        Value::Array(items) => {
            for item in items.iter().take(FILES_MAX) {
                heed_texts(path, item, walk);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                if !among(OLD_KEYS.iter(), key) {
                    heed_texts(path, value, walk);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn one_file(
    path: &Arg,
    tool: &str,
    args: &Map<String, Value>,
    given: &[(&str, ArgumentRole, &Value)],
    walk: &mut Walk<'_>,
) {
    let is_path = |key: &str| {
        let role = given.iter().find(|(known, _, _)| *known == key);
        role.is_some_and(|(_, role, _)| matches!(role, ArgumentRole::Write | ArgumentRole::Edit))
    };
    let rest: Vec<(&str, &Value)> = args
        .iter()
        .map(|(key, value)| (key.as_str(), value))
        .filter(|(key, value)| {
            !value.is_null() && !is_path(key) && !among(BESIDE_EDIT_KEYS.iter(), key)
        })
        .collect();
    let says = |commands: &[&str], value: &Value| {
        value
            .as_str()
            .is_some_and(|command| commands.contains(&command))
    };
    let lower = tool.to_lowercase();
    let adds = lower.contains("append") || lower.contains("insert");
    let is_content = |key: &str| {
        let role = given.iter().find(|(known, _, _)| *known == key);
        role.is_some_and(|(_, role, _)| *role == ArgumentRole::Content)
    };
    let whole = match rest.as_slice() {
        _ if adds => None,
        [(key, Value::String(text))] if is_content(key) && !among(NEW_KEYS.iter(), key) => {
            Some(text)
        }
        [("command", how), (_, Value::String(text))]
        | [(_, Value::String(text)), ("command", how)]
            if says(WHOLE_COMMANDS, how) =>
        {
            Some(text)
        }
        _ => None,
    };
    if let Some(text) = whole {
        walk.remember_file(path, stream(Some(text)));
        return;
    }
    let replaces: Vec<_> = rest
        .iter()
        .filter(|(key, value)| *key != "command" || !says(REPLACE_COMMANDS, value))
        .collect();
    let edits: Option<Vec<Edit<'_>>> = match replaces.as_slice() {
        [("edits", Value::Array(items))] => items
            .iter()
            .map(|item| Edit::of(item.as_object()?))
            .collect(),
        [_, _] => Edit::of(args).map(|edit| vec![edit]),
        _ => None,
    };
    let place = walk.ground.place(&path.text).path;
    let bases = walk.may_hold(&place);
    let Some(edits) = edits.filter(|_| !adds) else {
        walk.remember_file(path, stream(None));
        return;
    };
    if bases.is_empty() {
        // An edit of nothing makes the file.
        let made = match edits.as_slice() {
            [Edit { old: "", new, .. }] => Some(*new),
            _ => None,
        };
        walk.remember_file(path, stream(made));
    }
    let applied = |base: &Stream| {
        let text = base.text.clone()?;
        let mut edits = edits.iter();
        edits.try_fold(text, |text, edit| edit.apply(&text))
    };
    let after: Vec<Option<String>> = bases.iter().map(applied).collect();
    // An editor that takes the old text literally leaves a file alone that does not hold it: an earlier text that an
    // earlier edit has replaced. Only where another text that may lie there does hold it.
    let exact = EXACT_EDITORS.contains(tool) && after.iter().any(Option::is_some);
    for (base, after) in bases.iter().zip(after) {
        let text = base.text.as_deref();
        let fails = text.is_some_and(|text| edits.iter().any(|edit| edit.misses(text)));
        if !(exact && edits.len() == 1 && fails) {
            walk.remember_file(path, stream(after.as_deref()));
        }
    }
}

/// A text that takes the place of another.
struct Edit<'a> {
    old: &'a str,
    new: &'a str,
    all: bool,
}

impl<'a> Edit<'a> {
    fn of(args: &'a Map<String, Value>) -> Option<Self> {
        let named = |keys: &Names| {
            let found = args.iter().find(|(key, _)| among(keys.iter(), key));
            found.and_then(|(_, value)| value.as_str())
        };
        let says = |(key, value): (&String, &Value)| {
            among(["replace_all", "allow_multiple"].into_iter(), key) && value == &Value::Bool(true)
        };
        Some(Self {
            old: named(&OLD_KEYS)?,
            new: named(&NEW_KEYS)?,
            all: args.iter().any(says),
        })
    }

    /// Whether `text` holds nothing that the edit could replace.
    fn misses(&self, text: &str) -> bool {
        !self.old.is_empty() && !text.contains(self.old)
    }

    /// Returns `text` after the edit; `None` if tools differ in what they would do.
    fn apply(&self, text: &str) -> Option<String> {
        if self.old.is_empty() {
            return None;
        }
        match text.matches(self.old).take(2).count() {
            1 => Some(text.replacen(self.old, self.new, 1)),
            2 if self.all => Some(text.replace(self.old, self.new)),
            _ => None,
        }
    }
}

/// Remembers what a patch leaves in the files it names.
fn patched(text: &str, walk: &mut Walk<'_>) {
    let files = patch::read(text).files;
    for (path, change) in files.iter().take(FILES_MAX) {
        if *change == Change::Delete {
            continue;
        }
        let arg = path_word(path);
        let added_lines = text.lines().filter_map(|line| line.strip_prefix('+'));
        walk.heed_settings(&arg, &added_lines.collect::<Vec<_>>().join("\n"));
        if let Some(added) = patch::added_file(text, path) {
            walk.remember_file(&arg, stream(Some(&added)));
            continue;
        }
        let place = walk.ground.place(&arg.text).path;
        let bases = walk.may_hold(&place);
        if bases.is_empty() {
            walk.remember_file(&arg, stream(None));
        }
        for base in bases {
            let after = base.text.and_then(|base| patch::applied(text, path, &base));
            walk.remember_file(&arg, stream(after.as_deref()));
        }
    }
}

/// Remembers that the targets hold what one of the sources may have held.
fn copied(sources: &[String], targets: impl Iterator<Item = String>, walk: &mut Walk<'_>) {
    let mut held = Vec::new();
    for source in sources {
        let place = walk.ground.place(&path_word(source).text).path;
        held.extend(walk.may_hold(&place));
    }
    for target in targets.take(FILES_MAX) {
        for stream in &held {
            walk.remember_file(&path_word(&target), stream.clone());
        }
    }
}

fn stream(text: Option<&str>) -> Stream {
    text.map_or_else(|| Stream::unknown(Taint::default()), Stream::known)
}

fn among<'k>(mut keys: impl Iterator<Item = &'k str>, key: &str) -> bool {
    keys.any(|known| same_key(known, key))
}
