//! The last messages of a person in a session, so that a call is judged with what it answers.
//!
//! Most agents tell a hook of a call without the conversation around it, but they tell another hook
//! when a person writes. One file per session keeps the last few messages.

use std::path::{Path, PathBuf};

use countersign_core::call::Turn;
use countersign_core::digest::Digest;
use serde::{Deserialize, Serialize};

use super::{Hook, create_private, sweep};
use crate::complaint::Complaint;

/// Messages that are kept.
pub(crate) const MESSAGES_MAX: usize = 3;
/// Longest part of a message that is kept, in bytes: its beginning and its end.
const MESSAGE_BYTES_MAX: usize = 16 * 1024;
/// Who wrote them.
const PERSON: &str = "user";

#[derive(Debug, Default, Serialize, Deserialize)]
struct Said {
    messages: Vec<String>,
}

/// Keeps `text` as the latest message of `session`.
pub(super) fn remember(hook: &Hook, session: &str, text: &str) -> Result<(), Complaint> {
    if text.trim().is_empty() {
        return Ok(());
    }
    let file = file(hook, session);
    let mut said = read(&file).unwrap_or_default();
    said.messages.push(shortened(text));
    let surplus = said.messages.len().saturating_sub(MESSAGES_MAX);
    said.messages.drain(..surplus);
    write(&file, &said).map_err(|error| {
        let hint = "is the disk full, or the home not yours?";
        Complaint::failed(format!("cannot write {}: {error}", file.display()), hint)
    })
}

/// Returns what was said in `session`, oldest first.
pub(super) fn recall(hook: &Hook, session: &str) -> Vec<Turn> {
    let said = read(&file(hook, session)).unwrap_or_default();
    let turns = said.messages.into_iter().map(|text| Turn {
        from: PERSON.to_owned(),
        text,
    });
    turns.collect()
}

fn file(hook: &Hook, session: &str) -> PathBuf {
    let name = Digest::of(format!("{}\0{session}", hook.adapter.name).as_bytes()).hex();
    hook.directory()
        .join("sessions")
        .join(format!("{name}.json"))
}

fn read(file: &Path) -> Option<Said> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

fn write(file: &Path, said: &Said) -> std::io::Result<()> {
    let directory = file.parent().unwrap_or(file);
    create_private(directory)?;
    if !file.exists() {
        sweep(directory);
    }
    // Written beside and renamed: a call that reads meanwhile sees the old file or the new one.
    let beside = file.with_extension(std::process::id().to_string());
    std::fs::write(&beside, serde_json::to_vec(said)?)?;
    std::fs::rename(&beside, file)
}

/// Returns the beginning and the end of a long message.
pub(crate) fn shortened(text: &str) -> String {
    if text.len() <= MESSAGE_BYTES_MAX {
        return text.to_owned();
    }
    let half = MESSAGE_BYTES_MAX / 2;
    let (head, rest) = text.split_at(text.floor_char_boundary(half));
    let (_, tail) = rest.split_at(rest.ceil_char_boundary(rest.len() - half));
    format!("{head}\n…\n{tail}")
}
