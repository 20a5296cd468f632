//! Servers in TOML. Only the words of a command line change.

use std::path::Path;

use toml_edit::{Array, DocumentMut, Item, TableLike, Value, value};

use super::wrapping::{Names, Wrapping, take_apart};
use super::{Server, Spot, State};
use crate::complaint::Complaint;

/// Returns the servers in `text`.
pub(super) fn servers(spot: &Spot, path: &Path, text: &str) -> Result<Vec<Server>, Complaint> {
    let mut document = parse(path, text)?;
    let mut found = Vec::new();
    each(spot, &mut document, |name, entry| {
        let state = match words(entry) {
            Some(words) => take_apart(&words).state,
            None if entry.contains_key("url") => State::Remote,
            None => State::Unknown,
        };
        found.push(Server {
            name: name.to_owned(),
            state,
        });
    });
    Ok(found)
}

/// Returns `text` with every server that is started started through Countersign.
pub(super) fn wrap(
    spot: &Spot,
    path: &Path,
    text: &str,
    wrapping: &Wrapping,
) -> Result<String, Complaint> {
    let mut document = parse(path, text)?;
    let mut names = Names::default();
    each(spot, &mut document, |name, entry| {
        let name = names.of(name);
        let Some(words) = words(entry) else { return };
        let apart = take_apart(&words);
        if matches!(apart.state, State::Wrapped | State::Direct) {
            let front = [vec![wrapping.program.clone()], wrapping.words(&name)].concat();
            if words.get(..apart.before) != Some(front.as_slice()) {
                set(entry, &[front.as_slice(), apart.own].concat());
            }
        }
    });
    Ok(document.to_string())
}

/// Returns `text` with every server started directly.
pub(super) fn unwrap(spot: &Spot, path: &Path, text: &str) -> Result<String, Complaint> {
    let mut document = parse(path, text)?;
    each(spot, &mut document, |_, entry| {
        let Some(words) = words(entry) else { return };
        let apart = take_apart(&words);
        if apart.state == State::Wrapped {
            set(entry, apart.own);
        }
    });
    Ok(document.to_string())
}

fn parse(path: &Path, text: &str) -> Result<DocumentMut, Complaint> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let hint = "fix it there, then run this again; nothing was written";
        let path = path.display();
        Complaint::failed(format!("{path}: it is not TOML: {}", error.message()), hint)
    })
}

/// Does `work` for each server.
fn each(spot: &Spot, document: &mut DocumentMut, mut work: impl FnMut(&str, &mut dyn TableLike)) {
    for keys in spot.servers {
        let mut item = Some(document.as_item_mut());
        for key in *keys {
            item = item.and_then(|it| it.as_table_like_mut()?.get_mut(key));
        }
        let servers = item.and_then(Item::as_table_like_mut);
        for (name, entry) in servers.into_iter().flat_map(TableLike::iter_mut) {
            if let Some(entry) = entry.as_table_like_mut() {
                work(name.get(), entry);
            }
        }
    }
}

/// Returns the command line of a server.
fn words(entry: &dyn TableLike) -> Option<Vec<String>> {
    let program = entry.get("command")?.as_str()?.to_owned();
    let args = match entry.get("args") {
        None => Vec::new(),
        Some(args) => texts(args.as_array()?)?,
    };
    Some([vec![program], args].concat())
}

fn texts(list: &Array) -> Option<Vec<String>> {
    list.iter()
        .map(|it| it.as_str().map(str::to_owned))
        .collect()
}

/// Writes the command line of a server, with the layout of its list where it has one.
fn set(entry: &mut dyn TableLike, words: &[String]) {
    let Some((program, args)) = words.split_first() else {
        return;
    };
    if let Some(command) = entry.get_mut("command").and_then(Item::as_value_mut) {
        let decor = command.decor().clone();
        *command = Value::from(program.as_str());
        *command.decor_mut() = decor;
    }
    let Some(list) = entry.get_mut("args").and_then(Item::as_array_mut) else {
        let list: Array = args.iter().map(String::as_str).collect();
        entry.insert("args", value(list));
        return;
    };
    // The words of the server stand at the end before and after, and keep their comments.
    let is: Vec<Option<&str>> = list.iter().map(Value::as_str).collect();
    let pairs = is.iter().rev().zip(args.iter().rev());
    let same = pairs
        .take_while(|(is, wanted)| **is == Some(wanted.as_str()))
        .count();
    for _ in 0..list.len() - same {
        list.remove(0);
    }
    for word in args.iter().take(args.len() - same).rev() {
        list.insert(0, word.as_str());
    }
}
