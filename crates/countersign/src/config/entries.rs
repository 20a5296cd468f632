//! Lists, reads and changes single keys of config.yaml.
//!
//! The command line and the gateway's API share it.

use serde_json::{Map, Value};

use super::schema::{self, Key, Spec};
use super::{Home, edit};
use crate::complaint::Complaint;

/// Returns every key with its value, as lines or as one JSON object.
pub(crate) fn list(home: &Home, json: bool) -> Result<String, Complaint> {
    let values = current(home)?;
    let mut rows = Vec::new();
    collect(&values, schema::CONFIG, "", &mut rows);
    if json {
        let map: Map<String, Value> = rows
            .into_iter()
            .map(|(key, value, _)| (key, value))
            .collect();
        return Ok(format!("{}\n", Value::Object(map)));
    }
    let lines = rows.into_iter().map(|(key, value, is_default)| {
        let note = if is_default { "  (default)" } else { "" };
        format!("{key} = {}{note}\n", plain(&value))
    });
    Ok(lines.collect())
}

/// Returns the value of `key`.
pub(crate) fn get(home: &Home, key: &str) -> Result<String, Complaint> {
    let (_, default) = schema::find(key).map_err(schema::Problem::typed)?;
    let values = current(home)?;
    let value = key
        .split('.')
        .try_fold(&values, |value, name| value.get(name));
    let value = value.filter(|value| !value.is_null()).cloned();
    Ok(format!(
        "{}\n",
        plain(&value.unwrap_or_else(|| written_default(default)))
    ))
}

/// Changes `key` in the owner's file and returns it as it is now.
pub(crate) fn set(home: &Home, key: &str, value: &str) -> Result<String, Complaint> {
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
    let file = home.file();
    super::values(&file)?;
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(Complaint::failed(
                format!("cannot read {}: {error}", file.display()),
                "",
            ));
        }
    };
    let by_hand = || {
        let hint = format!("open {} and set it there", file.display());
        Complaint::failed(
            format!("`{key}` is written in a form this command cannot edit"),
            hint,
        )
    };
    let new = edit::set(&text, key, &typed.to_string()).ok_or_else(by_hand)?;
    // What was written must read back as what was meant, under the checks of any other reading.
    let values = super::parse(&new).map_err(|problem| problem.in_file(&file))?;
    super::read::changes(&values).map_err(|problem| problem.in_file(&file))?;
    let read_back = key
        .split('.')
        .try_fold(&values, |value, name| value.get(name));
    if read_back != Some(&typed) {
        return Err(by_hand());
    }
    save(&file, &new).map_err(|error| {
        Complaint::failed(
            format!("cannot write {}: {error}", file.display()),
            "do you have write permission?",
        )
    })?;
    Ok(format!("{key} = {}\n", plain(&typed)))
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

fn collect(values: &Value, keys: &[Key], path: &str, rows: &mut Vec<(String, Value, bool)>) {
    for key in keys {
        let full = if path.is_empty() {
            key.name.to_owned()
        } else {
            format!("{path}.{}", key.name)
        };
        let value = values.get(key.name).filter(|value| !value.is_null());
        if let Spec::Keys(inner) = &key.spec {
            collect(value.unwrap_or(&Value::Null), inner, &full, rows);
        } else if let Some(value) = value {
            rows.push((full, value.clone(), false));
        } else if !key.default.is_empty() {
            rows.push((full, written_default(key.default), true));
        }
    }
}

fn written_default(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
