//! Prints what the product decides about texts and conversations: one JSON object a line in, one line out.
use std::io::{BufRead as _, Write as _};

use countersign_core::call::Turn;
use countersign_core::content::crisis::{read, read_by_rules, scan};

fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let row: serde_json::Value = serde_json::from_str(&line?)?;
        let word = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let turns: Vec<Turn> = row["context"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|turn| Turn { from: word(turn, "role"), text: word(turn, "text") })
            .collect();
        let text = if row["text"].is_string() { word(&row, "text") } else { word(&row, "outgoing") };
        let both = format!("{:?}", read(&text, &turns));
        let rules = format!("{:?}", read_by_rules(&text, &turns));
        let hits = scan(&text).rules;
        let score = countersign_crisis::score(&text).value();
        writeln!(out, "{}", serde_json::json!([both, rules, hits, score]))?;
    }
    out.flush()
}
