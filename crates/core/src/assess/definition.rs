//! Applies the definition of a tool that no table knows: description and JSON schema, written by its server.
//!
//! Separate because a server may write anything about itself. A definition can raise what a call is taken for, and
//! say which part an argument plays: a text that is described as a shell command is read as one, whatever it is
//! called. Everything here only adds acts, so it never makes a call look more harmless than it would be without.
//! An owner's word about a server is no definition; it belongs where annotations are weighed.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::gather::Gathered;
use super::infer::{is_reading, verb_of};
use super::loose;
use super::named::look_up;
use crate::act::profile;
use crate::call::{DEFINITION_BYTES_MAX, DEFINITION_DEPTH_MAX, ToolCall};
use crate::follow::walk::Knows;
use crate::knowledge::Effect;
use crate::knowledge::languages::Names;
use crate::knowledge::names::{
    DESCRIBED_ADDRESSES, DESCRIBED_CODE, DESCRIBED_FILES, DESCRIBED_FILLERS, DESCRIBED_NEXT,
    DESCRIBED_RECIPIENTS, DESCRIBED_SHELL, DESCRIBED_SQL, DESCRIBED_TARGETS,
};
use crate::place::Ground;

/// Properties of a definition that are looked at; a longer one is put to a person.
const PROPERTIES_MAX: usize = 512;
/// Words of a description that say what the tool does.
const SAID_WORDS_MAX: usize = 48;
/// Arguments that are read by what is said of them.
const ARGUMENTS_MAX: usize = 256;

/// What a description may make of an argument, and the name under which it is read then.
static ROLES: &[(&Names, &str)] = &[
    (&DESCRIBED_SHELL, "command"),
    (&DESCRIBED_SQL, "sql"),
    (&DESCRIBED_CODE, "code"),
    (&DESCRIBED_TARGETS, "output_path"),
    (&DESCRIBED_FILES, "path"),
    (&DESCRIBED_ADDRESSES, "url"),
    (&DESCRIBED_RECIPIENTS, "recipient"),
];

/// Whether the definition of a tool is read: no table knows the tool.
pub fn heeds_definition(tool: &str) -> bool {
    look_up(tool).row.is_none()
}

/// Adds what the definition of `call` says.
pub(super) fn apply(call: &ToolCall, ground: &Ground, knows: &Knows, gathered: &mut Gathered) {
    let Some(definition) = &call.definition else {
        return;
    };
    let named = look_up(&call.tool);
    if named.row.is_some() {
        return;
    }
    let mut read = Definition::default();
    let mut bytes = 0;
    if !definition.is_object() || read.gather(definition, 0, &mut bytes).is_none() {
        gathered.unreadable(&call.tool, "its definition is too large to be read");
        return;
    }
    let by_acts = gathered.acts.iter().map(|act| act.effect).max();
    let said = read.effect();
    if let Some(effect) = said.filter(|effect| Some(*effect) > by_acts) {
        let act = named.act(effect).because(profile(effect).verb);
        gathered
            .acts
            .push(act.on("judging by its description".to_owned()));
        if effect == Effect::Message {
            gathered.outbound = true;
            gathered.sender = true;
        }
    }
    let Some(args) = call.args.as_object() else {
        return;
    };
    // Every reading by a role is beside the one by name, whose acts stay.
    let effect = said.into_iter().chain(by_acts).max();
    read.arguments(args, effect.unwrap_or(Effect::Unknown), |args, effect| {
        loose::arguments(args, effect, &named, ground, knows, gathered);
        let sends = args.contains_key("recipient") && !is_reading(effect);
        if sends && effect != Effect::Message {
            let act = named
                .act(Effect::Message)
                .because(profile(Effect::Message).verb);
            gathered
                .acts
                .push(act.on("judging by its definition".to_owned()));
            gathered.outbound = true;
            gathered.sender = true;
        }
    });
}

/// What a definition says, in lower case, every run of other signs as one blank.
#[derive(Default)]
struct Definition {
    /// The description of the tool itself.
    tool: String,
    /// By the name of each property, all that is said of properties of that name.
    properties: BTreeMap<String, String>,
}

impl Definition {
    /// Gathers what is said of properties; `None` if there is too much of it.
    fn gather(&mut self, value: &Value, depth: usize, bytes: &mut usize) -> Option<()> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => *bytes += 4,
            Value::String(text) => *bytes += text.len() + 2,
            Value::Array(items) => {
                *bytes += items.len() + 2;
                for item in items {
                    self.deeper(item, depth, bytes)?;
                }
            }
            Value::Object(map) => {
                *bytes += map.len() + 2;
                if depth == 0 {
                    let description = map.get("description").and_then(Value::as_str);
                    self.tool = plain(description.unwrap_or_default());
                }
                if let Some(Value::Object(properties)) = map.get("properties") {
                    for (name, property) in properties {
                        self.property(name, property)?;
                    }
                }
                for (key, item) in map {
                    *bytes += key.len();
                    self.deeper(item, depth, bytes)?;
                }
            }
        }
        (*bytes <= DEFINITION_BYTES_MAX).then_some(())
    }

    fn deeper(&mut self, value: &Value, depth: usize, bytes: &mut usize) -> Option<()> {
        if depth >= DEFINITION_DEPTH_MAX {
            return None;
        }
        self.gather(value, depth + 1, bytes)
    }

    fn property(&mut self, name: &str, property: &Value) -> Option<()> {
        let items = property.get("items").unwrap_or(&Value::Null);
        let said = [property, items].into_iter().flat_map(|schema| {
            let keys = ["title", "description", "format", "contentMediaType"];
            keys.map(|key| schema.get(key).and_then(Value::as_str))
        });
        let said: String = said.flatten().map(plain).collect();
        let known = self.properties.entry(name.to_owned()).or_default();
        known.push_str(&said);
        (self.properties.len() <= PROPERTIES_MAX).then_some(())
    }

    /// Returns the worst that the first sentence of the description says the tool does: its first verb, and those
    /// behind "and" or a comma.
    fn effect(&self) -> Option<Effect> {
        let mut worst = None;
        let mut expects = true;
        for word in self
            .tool
            .split(' ')
            .filter(|word| !word.is_empty())
            .take(SAID_WORDS_MAX)
        {
            if DESCRIBED_NEXT.contains(word) {
                expects = true;
                continue;
            }
            if !expects || DESCRIBED_FILLERS.contains(word) || word.ends_with("ly") {
                continue;
            }
            expects = false;
            let stems = [Some(word), word.strip_suffix('s'), word.strip_suffix("es")];
            worst = stems.into_iter().flatten().find_map(verb_of).max(worst);
        }
        worst
    }

    /// Hands on each argument under the name of the part that is said of it, with the effect to read it by.
    fn arguments(
        &self,
        args: &Map<String, Value>,
        effect: Effect,
        mut read: impl FnMut(&Map<String, Value>, Effect),
    ) {
        let mut left = ARGUMENTS_MAX;
        self.under(args, &mut left, &mut |said, value| {
            for (phrases, role) in ROLES {
                if !phrases.iter().any(|phrase| says(said, phrase)) {
                    continue;
                }
                let mut renamed = Map::new();
                renamed.insert((*role).to_owned(), addressed(role, value));
                let effect = match *role {
                    "code" => {
                        let language = ["python", "javascript", "typescript", "bash", "shell"];
                        let language = language.into_iter().find(|name| says(said, name));
                        renamed.insert("language".to_owned(), language.unwrap_or("").into());
                        Effect::Exec
                    }
                    // A tool of which nothing is known asks anyway.
                    "path" if effect == Effect::Unknown => Effect::Read,
                    _ => effect,
                };
                read(&renamed, effect);
                // A list is one command in words, or several commands.
                let items = value.as_array().into_iter().flatten();
                for item in items.filter(|item| item.is_string()).take(ARGUMENTS_MAX) {
                    renamed.insert((*role).to_owned(), addressed(role, item));
                    read(&renamed, effect);
                }
            }
        });
    }

    fn under<'v>(
        &self,
        args: &'v Map<String, Value>,
        left: &mut usize,
        visit: &mut impl FnMut(&str, &'v Value),
    ) {
        for (key, value) in args {
            if *left == 0 {
                return;
            }
            *left -= 1;
            if let Some(said) = self.properties.get(key) {
                visit(said, value);
            }
            match value {
                Value::Object(map) => self.under(map, left, visit),
                Value::Array(items) => {
                    for map in items.iter().filter_map(Value::as_object) {
                        self.under(map, left, visit);
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }
}

/// Whether a described text holds a phrase of whole words.
fn says(said: &str, phrase: &str) -> bool {
    said.contains(&format!(" {phrase} "))
}

/// Returns the value to read in a role: an address may be given without its scheme.
fn addressed(role: &str, value: &Value) -> Value {
    match value.as_str() {
        Some(text) if role == "url" && !text.contains("://") && text.contains('.') => {
            format!("https://{text}").into()
        }
        Some(_) | None => value.clone(),
    }
}

/// Returns a text in lower case, every run of other signs as one blank, sentences and lists told apart, with a blank
/// at both ends.
fn plain(text: &str) -> String {
    let mut plain = " ".to_owned();
    for letter in text.chars() {
        if letter.is_alphanumeric() {
            plain.extend(letter.to_lowercase());
        } else {
            if matches!(letter, ',' | ';' | '/') && !plain.ends_with(" and ") {
                plain.push_str(" and");
            }
            if !plain.ends_with(' ') {
                plain.push(' ');
            }
        }
    }
    if !plain.ends_with(' ') {
        plain.push(' ');
    }
    plain
}
