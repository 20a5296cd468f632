//! Servers in JSON, with or without comments. Only the words of a command line change.

use std::path::Path;

use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstObjectProp};

use super::wrapping::{Names, Wrapping, take_apart};
use super::{Form, Server, Spot, State};
use crate::complaint::Complaint;
use crate::init::json::{Form as Strictness, Settings};

/// Keys by which a server has an address.
const ADDRESS_KEYS: &[&str] = &["url", "serverUrl", "httpUrl", "uri"];

/// Returns the servers in `text`.
pub(super) fn servers(spot: &Spot, path: &Path, text: &str) -> Result<Vec<Server>, Complaint> {
    let settings = Settings::parse(path, Some(text), Strictness::Comments)?;
    let found = entries(spot, &settings.object()?)
        .into_iter()
        .map(|(name, entry)| {
            let state = Words::of(&entry, spot.form)
                .map_or_else(|| unread(&entry), |words| take_apart(&words.words).state);
            Server { name, state }
        });
    Ok(found.collect())
}

/// Returns `text` with every server that is started started through Countersign.
pub(super) fn wrap(
    spot: &Spot,
    path: &Path,
    text: &str,
    wrapping: &Wrapping,
) -> Result<String, Complaint> {
    let settings = Settings::parse(path, Some(text), Strictness::Comments)?;
    let mut names = Names::default();
    for (name, entry) in entries(spot, &settings.object()?) {
        let name = names.of(&name);
        let Some(words) = Words::of(&entry, spot.form) else {
            continue;
        };
        let apart = take_apart(&words.words);
        if matches!(apart.state, State::Wrapped | State::Direct) {
            let front = [vec![wrapping.program.clone()], wrapping.words(&name)].concat();
            if words.words.get(..apart.before) != Some(front.as_slice()) {
                words.replace(apart.before, &front);
            }
        }
    }
    Ok(settings.text())
}

/// Returns `text` with every server started directly.
pub(super) fn unwrap(spot: &Spot, path: &Path, text: &str) -> Result<String, Complaint> {
    let settings = Settings::parse(path, Some(text), Strictness::Comments)?;
    for (_, entry) in entries(spot, &settings.object()?) {
        let Some(words) = Words::of(&entry, spot.form) else {
            continue;
        };
        let apart = take_apart(&words.words);
        if apart.state == State::Wrapped {
            words.replace(apart.before, &[]);
        }
    }
    Ok(settings.text())
}

/// Returns all servers with their names.
fn entries(spot: &Spot, root: &CstObject) -> Vec<(String, CstObject)> {
    let mut found = Vec::new();
    for keys in spot.servers {
        let mut objects = vec![root.clone()];
        for key in *keys {
            let inner = objects.iter().flat_map(|object| {
                let properties = object.properties().into_iter();
                properties.filter(|it| *key == "*" || it.decoded_name().as_deref() == Some(*key))
            });
            objects = inner
                .filter_map(|property| property.object_value())
                .collect();
        }
        for property in objects.iter().flat_map(CstObject::properties) {
            if let (Some(name), Some(entry)) = (property.decoded_name(), property.object_value()) {
                found.push((name, entry));
            }
        }
    }
    found
}

/// Returns how a server is started whose command line cannot be read.
fn unread(entry: &CstObject) -> State {
    let has_address = ADDRESS_KEYS.iter().any(|key| entry.get(key).is_some());
    if has_address {
        State::Remote
    } else {
        State::Unknown
    }
}

/// The command line of a server and where it stands.
struct Words {
    words: Vec<String>,
    at: At,
}

enum At {
    /// `command` is a text, and `args`, if there are any, a list.
    Apart(CstObject, CstObjectProp, Option<List>),
    /// `command` is a list.
    Together(List),
}

/// A list of words and the property that holds it.
struct List {
    property: CstObjectProp,
    list: CstArray,
}

impl List {
    fn of(property: CstObjectProp) -> Option<Self> {
        let list = property.array_value()?;
        Some(Self { property, list })
    }

    fn words(&self) -> Option<Vec<String>> {
        let elements = self.list.elements().into_iter();
        elements
            .map(|it| it.as_string_lit()?.decoded_value().ok())
            .collect()
    }

    /// Puts `front` in place of the first `count` words.
    fn replace(&self, count: usize, front: &[String]) {
        let text = self.list.to_string();
        if text.contains('\n') || text.contains("/*") {
            for element in self.list.elements().into_iter().take(count) {
                element.remove();
            }
            for (at, word) in front.iter().enumerate() {
                self.list.insert(at, CstInputValue::String(word.clone()));
            }
            return;
        }
        // The editor breaks a list in one line badly when something comes in front.
        let rest = self.words().unwrap_or_default();
        let words = front.iter().chain(rest.iter().skip(count)).cloned();
        let values = words.map(CstInputValue::String).collect();
        self.property.set_value(CstInputValue::Array(values));
    }
}

impl Words {
    fn of(entry: &CstObject, form: Form) -> Option<Self> {
        let command = entry.get("command")?;
        match form {
            Form::List => {
                let list = List::of(command)?;
                let words = list.words()?;
                let at = At::Together(list);
                Some(Self { words, at })
            }
            Form::Words | Form::Toml => {
                let program = command.value()?.as_string_lit()?.decoded_value().ok()?;
                let list = match entry.get("args") {
                    None => None,
                    Some(args) => Some(List::of(args)?),
                };
                let args = list
                    .as_ref()
                    .map_or_else(|| Some(Vec::new()), List::words)?;
                let words = [vec![program], args].concat();
                let at = At::Apart(entry.clone(), command, list);
                Some(Self { words, at })
            }
        }
    }

    /// Puts `front` in place of the first `count` words.
    fn replace(&self, count: usize, front: &[String]) {
        let rest = self.words.get(count..).unwrap_or_default();
        match &self.at {
            At::Together(list) => list.replace(count, front),
            At::Apart(entry, command, list) => {
                let mut words = front.iter().chain(rest);
                let program = words.next().cloned().unwrap_or_default();
                command.set_value(CstInputValue::String(program));
                // The word that was the program, or becomes it, moves between the two.
                let moved: Vec<String> = match (count, front.split_first()) {
                    (0, Some((_, more))) => more.iter().chain(rest.first()).cloned().collect(),
                    (_, Some((_, more))) => more.to_vec(),
                    (_, None) => Vec::new(),
                };
                let removed = match (count, front.is_empty()) {
                    (0, _) => 0,
                    (count, true) => count,
                    (count, false) => count - 1,
                };
                if let Some(list) = list {
                    list.replace(removed, &moved);
                } else {
                    let values = moved.into_iter().map(CstInputValue::String).collect();
                    let at = command.property_index() + 1;
                    entry.insert(at, "args", CstInputValue::Array(values));
                }
            }
        }
    }
}
