//! Lists, reads and changes single keys of config.yaml.
//!
//! The command line and the gateway's API share it.

use std::path::Path;

use countersign_core::policy::Changes;
use serde_json::{Map, Value};

use super::schema::{self, Key, Spec};
use super::{Home, edit};
use crate::complaint::Complaint;

/// Keys of the agent's model, which is looked up for each request.
const MODEL_KEYS: [&str; 4] = [
    "agent.base_url",
    "agent.model",
    "agent.models",
    "agent.api_key_env",
];

/// One key as it stands.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The key, with dots.
    pub(crate) key: String,
    /// Its value; nothing if it is not set and has no default.
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The owner's file.
    File,
    /// Nobody set it.
    Default,
    /// Nobody set it, and it has no default.
    Unset,
}

impl Origin {
    /// Returns the word for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::File => "config.yaml",
            Self::Default => "default",
            Self::Unset => "not set",
        }
    }
}

/// When a changed key counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// With the next call or request: the gateway reads it again.
    AtOnce,
    /// When the gateway starts the next time.
    AtRestart,
}

impl Effect {
    /// Returns the word for programs.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::AtOnce => "at_once",
            Self::AtRestart => "at_restart",
        }
    }

    /// Returns a sentence for people.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::AtOnce => "It takes effect at once.",
            Self::AtRestart => "It takes effect when the gateway is restarted.",
        }
    }
}

/// A key that was set.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) value: Value,
    pub(crate) effect: Effect,
}

/// Returns every key of the schema.
pub(crate) fn list(home: &Home) -> Result<Vec<Entry>, Complaint> {
    let values = current(home)?;
    let mut rows = Vec::new();
    collect(&values, schema::CONFIG, "", &mut rows);
    Ok(rows)
}

/// Returns the keys that a project's `file` sets.
pub(crate) fn project(file: &Path) -> Result<Vec<Entry>, Complaint> {
    let values = super::values(file)?.unwrap_or_default();
    let mut rows = Vec::new();
    collect(&values, schema::CONFIG, "", &mut rows);
    rows.retain(|entry| entry.origin == Origin::File);
    Ok(rows)
}

/// Returns the value of `key`; nothing if it is not set and has no default.
pub(crate) fn get(home: &Home, key: &str) -> Result<Value, Complaint> {
    let (_, default) = schema::find(key).map_err(schema::Problem::typed)?;
    let values = current(home)?;
    let value = key
        .split('.')
        .try_fold(&values, |value, name| value.get(name));
    let value = value.filter(|value| !value.is_null()).cloned();
    Ok(value.unwrap_or_else(|| written_default(default)))
}

/// Changes `key` in the owner's file and returns it as it is now.
pub(crate) fn set(home: &Home, key: &str, value: &str) -> Result<Set, Complaint> {
    let (spec, _) = schema::find(key).map_err(schema::Problem::typed)?;
    // Words and texts are taken as they are typed; anything else is read as YAML.
    let typed = match spec {
        Spec::Word(_) | Spec::Text => Value::String(value.to_owned()),
        Spec::Flag
        | Spec::Share
        | Spec::Time(_)
        | Spec::Count(_)
        | Spec::Scalar
        | Spec::List(_)
        | Spec::Map(_)
        | Spec::Keys(_)
        | Spec::Either(_, _)
        | Spec::Any => {
            serde_saphyr::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()))
        }
    };
    schema::check_value(&typed, spec, key).map_err(schema::Problem::typed)?;
    let before = current(home)?;
    let policy = write(home, &[(key.to_owned(), typed.clone())])?;
    // The policy and the model are what a running gateway reads again; the rest it read at its start.
    let was = super::read::changes(&before);
    let is_policy = was.map_or(true, |was| was != policy);
    let effect = if !is_policy && !MODEL_KEYS.contains(&key) {
        Effect::AtRestart
    } else {
        Effect::AtOnce
    };
    Ok(Set {
        value: typed,
        effect,
    })
}

/// Whether the owner's file has something at `path`.
pub(crate) fn has(home: &Home, path: &str) -> Result<bool, Complaint> {
    let values = current(home)?;
    let mut names = path.split('.');
    Ok(names
        .try_fold(&values, |value, name| value.get(name))
        .is_some())
}

/// Adds the section `path` to the owner's file.
pub(crate) fn add_section(
    home: &Home,
    path: &str,
    section: &Map<String, Value>,
) -> Result<(), Complaint> {
    let entries = section.iter();
    let entries = entries.map(|(key, value)| (format!("{path}.{key}"), value.clone()));
    write(home, &entries.collect::<Vec<_>>()).map(drop)
}

/// Changes keys in the owner's file, all or none, and returns what it changes of the policy.
fn write(home: &Home, entries: &[(String, Value)]) -> Result<Changes, Complaint> {
    let file = home.file();
    let mut text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(Complaint::failed(
                format!("cannot read {}: {error}", file.display()),
                "",
            ));
        }
    };
    let by_hand = |key: &str| {
        let hint = format!("open {} and set it there", file.display());
        Complaint::failed(
            format!("`{key}` is written in a form this command cannot edit"),
            hint,
        )
    };
    for (key, value) in entries {
        text = edit::set(&text, key, &value.to_string()).ok_or_else(|| by_hand(key))?;
    }
    // What was written must read back as what was meant, under the checks of any other reading.
    let values = super::parse(&text).map_err(|problem| problem.in_file(&file))?;
    let policy = super::read::changes(&values).map_err(|problem| problem.in_file(&file))?;
    for (key, value) in entries {
        let mut names = key.split('.');
        let read_back = names.try_fold(&values, |value, name| value.get(name));
        if read_back != Some(value) {
            return Err(by_hand(key));
        }
    }
    save(&file, &text).map_err(|error| {
        Complaint::failed(
            format!("cannot write {}: {error}", file.display()),
            "do you have write permission?",
        )
    })?;
    Ok(policy)
}

/// Writes beside the file and renames, so that a reader never sees half of it.
fn save(file: &std::path::Path, text: &str) -> std::io::Result<()> {
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let draft = file.with_extension("yaml.new");
    std::fs::write(&draft, text)?;
    std::fs::rename(&draft, file)
}

fn current(home: &Home) -> Result<Value, Complaint> {
    Ok(super::values(&home.file())?.unwrap_or_else(|| Value::Object(Map::new())))
}

fn collect(values: &Value, keys: &[Key], path: &str, rows: &mut Vec<Entry>) {
    for key in keys {
        let full = if path.is_empty() {
            key.name.to_owned()
        } else {
            format!("{path}.{}", key.name)
        };
        let value = values.get(key.name).filter(|value| !value.is_null());
        if let Spec::Keys(inner) = &key.spec {
            collect(value.unwrap_or(&Value::Null), inner, &full, rows);
            continue;
        }
        let (value, origin) = match value {
            Some(value) => (value.clone(), Origin::File),
            None if key.default.is_empty() => (Value::Null, Origin::Unset),
            None => (written_default(key.default), Origin::Default),
        };
        rows.push(Entry {
            key: full,
            value,
            origin,
        });
    }
}

fn written_default(text: &str) -> Value {
    if text.is_empty() {
        return Value::Null;
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Returns a value as it is typed.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
