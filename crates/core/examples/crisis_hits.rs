//! Prints the rules that hit texts.
use std::io::{BufRead as _, Write as _};
fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        let rules = countersign_core::content::crisis::scan(&text).rules;
        let reading = countersign_core::content::crisis::read_by_rules(&text, &[]);
        let score = countersign_crisis::score(&text).value();
        writeln!(out, "{}", serde_json::json!([rules, format!("{reading:?}"), score]))?;
    }
    out.flush()
}
