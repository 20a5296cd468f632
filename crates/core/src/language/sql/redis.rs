//! Effects of a `redis-cli` command.

use crate::knowledge::CallReader;
use crate::knowledge::languages::REDIS_COMMANDS;
use crate::language::{Deed, Reading, deed_of};
use crate::place::HOLE;

const UNKNOWN: &str = "an unknown Redis command";
const SCRIPT: &str = "a script or function that runs inside Redis";

/// Reads the words given to `redis-cli` after its options.
pub fn redis(argv: &[&str]) -> Reading {
    let Some(name) = argv.first().map(|name| name.to_ascii_lowercase()) else {
        return Reading::hidden(UNKNOWN);
    };
    let form = argv
        .get(1)
        .map(|form| form.to_ascii_lowercase())
        .unwrap_or_default();
    let shown = || {
        let words: Vec<&str> = argv.iter().copied().take(3).collect();
        words.join(" ")
    };
    let call = REDIS_COMMANDS
        .get(&format!("{name}:{form}"))
        .or_else(|| REDIS_COMMANDS.get(&name));
    let Some(call) = call else {
        return Reading::hidden(UNKNOWN);
    };
    let unknown = HOLE.to_string();
    let mut reading = Reading::default();
    if call.reader == Some(CallReader::Keys) && argv.iter().skip(1).any(|key| *key == unknown) {
        // Which keys, and how many of them, cannot be known.
        reading.see(Deed::DbDestroy(shown()));
        return reading;
    }
    match deed_of(call.does, shown()) {
        Some(deed) => reading.see(deed),
        None => reading.hide(SCRIPT),
    }
    if call.reader == Some(CallReader::LoadsCode) {
        reading.hide(SCRIPT);
    }
    reading
}
