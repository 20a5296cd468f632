//! Prints what the model reads in texts, for `training/crisis`: one JSON text a line in; one JSON array
//! a line out, with `[letter groups, word groups, pieces, scripts]` of each part that is scored.
//!
//! With the argument `numbers`, parts are written one after the other as whole numbers of four bytes, least first: which
//! text, where it begins and ends in bytes, how many letter groups, word groups and pieces, and these. With
//! `whole`, the same of each text as one part.

use std::io::{BufRead as _, Write as _};

use countersign_crisis::{groups, parts, piece_ids, script_ids};

fn main() -> std::io::Result<()> {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (index, line) in std::io::stdin().lock().lines().enumerate() {
        let text: String = serde_json::from_str(&line?)?;
        let ranges = match mode.as_str() {
            "whole" => std::iter::once(0..text.len()).collect(),
            _ => parts(&text),
        };
        let read = ranges.into_iter().filter_map(|range| {
            let part = text.get(range.clone())?;
            let (letters, words) = groups(part);
            Some((range, letters, words, piece_ids(part)))
        });
        if mode.is_empty() {
            let read: Vec<_> = read
                .map(|(range, letters, words, pieces)| {
                    let scripts = script_ids(text.get(range).unwrap_or_default());
                    (letters, words, pieces, scripts)
                })
                .collect();
            writeln!(out, "{}", serde_json::json!(read))?;
            continue;
        }
        for (range, letters, words, pieces) in read {
            let sizes = [
                index,
                range.start,
                range.end,
                letters.len(),
                words.len(),
                pieces.len(),
            ];
            let sizes = sizes.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
            let numbers = sizes.iter().chain(&letters).chain(&words).chain(&pieces);
            for number in numbers {
                out.write_all(&number.to_le_bytes())?;
            }
        }
    }
    out.flush()
}
