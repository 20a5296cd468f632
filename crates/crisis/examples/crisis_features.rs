//! Prints what the model reads in texts, for `training/crisis`: one JSON text a line in; one JSON array
//! a line out, with `[letter groups, word groups, pieces]` of each part that is scored.

use std::io::{BufRead as _, Write as _};

use countersign_crisis::{groups, parts, piece_ids};

fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        let parts = parts(&text).into_iter().filter_map(|part| text.get(part));
        let read = parts.map(|part| {
            let (letters, words) = groups(part);
            (letters, words, piece_ids(part))
        });
        let read: Vec<_> = read.collect();
        writeln!(out, "{}", serde_json::json!(read))?;
    }
    out.flush()
}
