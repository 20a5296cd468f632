//! Edits settings in JSON and keeps the rest of the text: comments, order, indentation.
//!
//! Agents list their hooks under `hooks`, by event, either as groups of handlers or as handlers
//! alone. Ours are found by their command, replaced in place, or appended behind everybody else's.

use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::{Map, Value};

use super::command::is_ours;
use crate::complaint::Complaint;
use crate::config::read::at;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// What an agent accepts as settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON alone; with a comment or a trailing comma the agent ignores the whole file.
    Strict,
    /// JSON with comments and trailing commas.
    Comments,
}

/// How an agent lists handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `{"EVENT": [{"matcher": …, "hooks": [HANDLER]}]}`
    Groups,
    /// `{"EVENT": [HANDLER]}`
    Handlers,
}

/// A hook of ours.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The event.
    pub(super) event: &'static str,
    /// The tools it is for, where the agent asks.
    pub(super) matcher: Option<&'static str>,
    /// The handler.
    pub(super) handler: Value,
}

/// Where a handler is in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// Its event.
    pub(super) event: String,
    /// Its group.
    pub(super) group: usize,
    /// Its place in the group.
    pub(super) handler: usize,
    /// Whether it is ours.
    pub(super) is_ours: bool,
}

/// The text of a settings file, taken apart.
#[derive(Debug)]
pub(super) struct Settings<'a> {
    path: &'a Path,
    root: CstRootNode,
    has_mark: bool,
    is_new: bool,
}

impl<'a> Settings<'a> {
    /// Takes `text` apart; a file that does not exist, or is empty, is an empty object.
    pub(super) fn parse(path: &'a Path, text: Option<&str>, form: Form) -> Result<Self, Complaint> {
        let given = text.unwrap_or_default();
        let bare = given.strip_prefix(BYTE_ORDER_MARK);
        let has_mark = bare.is_some();
        let bare = bare.unwrap_or(given);
        let is_new = bare.trim().is_empty();
        let parsed = CstRootNode::parse(bare, &options(form));
        if form == Form::Strict && !is_new {
            strict(path, bare)?;
        }
        let root = parsed.map_err(|error| {
            let at = (error.line_display(), error.column_display());
            broken(path, at, &format!("it is not JSON: {}", error.kind()))
        })?;
        let settings = Self {
            path,
            root,
            has_mark,
            is_new,
        };
        settings.object()?;
        Ok(settings)
    }

    /// Returns the text as it is now.
    pub(super) fn text(&self) -> String {
        let mut text = if self.has_mark {
            BYTE_ORDER_MARK.to_string()
        } else {
            String::new()
        };
        text.push_str(&self.root.to_string());
        if self.is_new && !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }

    /// Returns the values.
    pub(super) fn value(&self) -> Value {
        let value = self.root.to_serde_value();
        value.unwrap_or_else(|| Value::Object(Map::new()))
    }

    /// Returns the outermost object.
    pub(super) fn object(&self) -> Result<CstObject, Complaint> {
        let object = self.root.object_value_or_create();
        object.ok_or_else(|| self.unfit("it is not an object"))
    }

    /// Returns the object `name` in `parent`, made if it is missing.
    pub(super) fn inner(&self, parent: &CstObject, name: &str) -> Result<CstObject, Complaint> {
        self.once(parent, name)?;
        let inner = parent.object_value_or_create(name);
        inner.ok_or_else(|| self.unfit(&format!("`{name}` is not an object")))
    }

    /// Makes our handlers exactly `entries`.
    pub(super) fn put(
        &self,
        agent: &str,
        shape: Shape,
        entries: &[Entry],
    ) -> Result<(), Complaint> {
        let hooks = self.inner(&self.object()?, "hooks")?;
        for entry in entries {
            self.once(&hooks, entry.event)?;
            let list = hooks
                .array_value_or_create(entry.event)
                .ok_or_else(|| self.unfit(&format!("`hooks.{}` is not a list", entry.event)))?;
            let is_there = match shape {
                Shape::Handlers => keep_one(&list, agent, Some(&entry.handler)),
                Shape::Groups => keep_one_group(&list, agent, Some(entry)),
            };
            if !is_there {
                let new = match shape {
                    Shape::Handlers => entry.handler.clone(),
                    Shape::Groups => group(entry),
                };
                list.append(input(&new));
            }
        }
        Ok(())
    }

    /// Removes our handlers, and what is empty without them.
    pub(super) fn take(&self, agent: &str, shape: Shape) -> Result<(), Complaint> {
        let property = self.object()?.get("hooks");
        let Some((property, hooks)) =
            property.and_then(|it| Some((it.clone(), it.object_value()?)))
        else {
            return Ok(());
        };
        let mut has_emptied = false;
        for event in hooks.properties() {
            let Some(list) = event.array_value() else {
                continue;
            };
            let was_empty = list.elements().is_empty();
            match shape {
                Shape::Handlers => keep_one(&list, agent, None),
                Shape::Groups => keep_one_group(&list, agent, None),
            };
            if list.elements().is_empty() && !was_empty {
                has_emptied = true;
                event.remove();
            }
        }
        if has_emptied && hooks.properties().is_empty() {
            property.remove();
        }
        Ok(())
    }

    /// A file that is JSON, but not what the agent's settings look like.
    pub(super) fn unfit(&self, why: &str) -> Complaint {
        let hint = "fix it there, then run this again; nothing was written";
        Complaint::failed(format!("{}: {why}", self.path.display()), hint)
    }

    /// Readers disagree about which of two equal keys counts.
    fn once(&self, parent: &CstObject, name: &str) -> Result<(), Complaint> {
        let named =
            |it: &jsonc_parser::cst::CstObjectProp| it.decoded_name().as_deref() == Some(name);
        if parent.properties().iter().filter(|it| named(it)).count() > 1 {
            return Err(self.unfit(&format!("`{name}` is there twice")));
        }
        Ok(())
    }
}

/// Keeps the first handler of ours in `list` as `wanted` and removes the others. Returns whether
/// one was kept.
fn keep_one(list: &CstArray, agent: &str, wanted: Option<&Value>) -> bool {
    let mut is_kept = false;
    for element in list.elements() {
        let Some(value) = element.to_serde_value().filter(|it| runs_ours(it, agent)) else {
            continue;
        };
        match wanted.filter(|_| !is_kept) {
            Some(wanted) => {
                is_kept = true;
                if value != *wanted {
                    replace(&element, wanted);
                }
            }
            None => element.remove(),
        }
    }
    is_kept
}

/// Does the same in a list of groups; a group for other tools is not the place for ours.
fn keep_one_group(list: &CstArray, agent: &str, wanted: Option<&Entry>) -> bool {
    let mut is_kept = false;
    for element in list.elements() {
        let Some(group) = element.as_object() else {
            continue;
        };
        let Some(handlers) = group.array_value("hooks") else {
            continue;
        };
        let matcher = matcher(&group);
        let wanted = wanted.filter(|it| !is_kept && matcher == it.matcher.map(Value::from));
        let count = handlers.elements().len();
        is_kept |= keep_one(&handlers, agent, wanted.map(|it| &it.handler));
        if count > 0 && handlers.elements().is_empty() {
            element.remove();
        }
    }
    is_kept
}

fn matcher(group: &CstObject) -> Option<Value> {
    group.get("matcher")?.value()?.to_serde_value()
}

/// Makes the object `element` equal to `wanted`, key by key, so that its place and layout stay.
fn replace(element: &CstNode, wanted: &Value) {
    let (Some(object), Some(wanted)) = (element.as_object(), wanted.as_object()) else {
        return;
    };
    for property in object.properties() {
        let name = property.decoded_name();
        let value = name.and_then(|name| wanted.get(&name));
        let is = property.value().and_then(|it| it.to_serde_value());
        match value {
            None => property.remove(),
            Some(value) if is.as_ref() == Some(value) => {}
            Some(value) => property.set_value(input(value)),
        }
    }
    for (name, value) in wanted {
        if object.get(name).is_none() {
            object.append(name, input(value));
        }
    }
}

/// Checks that `text` is plain JSON. The tree's own parser takes comments whatever it is told.
fn strict(path: &Path, text: &str) -> Result<(), Complaint> {
    let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) else {
        return Ok(());
    };
    let at = (error.line(), error.column());
    if CstRootNode::parse(text, &options(Form::Comments)).is_ok() {
        let why =
            "there is a comment or a trailing comma, with which the agent ignores the whole file";
        return Err(broken(path, at, why));
    }
    Ok(())
}

fn broken(path: &Path, (line, column): (usize, usize), why: &str) -> Complaint {
    let hint = "fix it there, then run this again; nothing was written";
    let path = path.display();
    Complaint::failed(format!("{path}: line {line}, column {column}: {why}"), hint)
}

fn group(entry: &Entry) -> Value {
    let mut group = Map::new();
    if let Some(matcher) = entry.matcher {
        group.insert("matcher".to_owned(), matcher.into());
    }
    group.insert("hooks".to_owned(), vec![entry.handler.clone()].into());
    Value::Object(group)
}

/// Returns where all handlers in `settings` are, in order.
pub(super) fn positions(settings: &Value, agent: &str) -> Vec<Position> {
    let events = at(settings, "hooks").as_object().into_iter().flatten();
    let mut found = Vec::new();
    for (event, groups) in events {
        let groups = groups.as_array().into_iter().flatten();
        for (group, value) in groups.enumerate() {
            let handlers = at(value, "hooks").as_array().into_iter().flatten();
            found.extend(handlers.enumerate().map(|(handler, value)| Position {
                event: event.clone(),
                group,
                handler,
                is_ours: runs_ours(value, agent),
            }));
        }
    }
    found
}

/// Returns the command of our first handler for `event`.
pub(super) fn command(settings: &Value, agent: &str, event: &str) -> Option<String> {
    let list = settings.get("hooks")?.get(event)?.as_array()?;
    let grouped = list
        .iter()
        .filter_map(|group| at(group, "hooks").as_array());
    let handlers = grouped.flatten().chain(list);
    let ours = handlers.filter_map(|it| commands(it).find(|command| is_ours(command, agent)));
    ours.map(str::to_owned).next()
}

fn runs_ours(handler: &Value, agent: &str) -> bool {
    commands(handler).any(|command| is_ours(command, agent))
}

fn commands(handler: &Value) -> impl Iterator<Item = &str> {
    ["command", "bash"]
        .into_iter()
        .filter_map(|key| handler.get(key)?.as_str())
}

/// Returns `value` as the editor takes it.
pub(super) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(it) => CstInputValue::Bool(*it),
        Value::Number(it) => CstInputValue::Number(it.to_string()),
        Value::String(it) => CstInputValue::String(it.clone()),
        Value::Array(list) => CstInputValue::Array(list.iter().map(input).collect()),
        Value::Object(map) => CstInputValue::Object(
            map.iter()
                .map(|(key, it)| (key.clone(), input(it)))
                .collect(),
        ),
    }
}

fn options(form: Form) -> ParseOptions {
    let is_loose = form == Form::Comments;
    ParseOptions {
        allow_comments: is_loose,
        allow_trailing_commas: is_loose,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}
