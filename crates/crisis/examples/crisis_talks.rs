//! Prints what the model weighs in conversations, for `training/crisis`: one JSON object a line in, with the
//! `roles` of the turns and the `scores` of the turns, of all the person said and of the message; one
//! JSON array of features a line out.

use std::io::{BufRead as _, Write as _};

use countersign_crisis::{Role, Scored, talk_features};
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    roles: Vec<String>,
    scores: Vec<i32>,
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let Row { roles, mut scores } = serde_json::from_str(&line?)?;
        let outgoing = scores.pop().unwrap_or_default();
        let together = scores.pop().unwrap_or_default();
        let roles = roles.iter().map(|role| match role.as_str() {
            "person" => Role::Person,
            "quoted" => Role::Quoted,
            _ => Role::Other,
        });
        let turns = roles.zip(scores).collect();
        let scored = Scored {
            turns,
            together,
            outgoing,
        };
        writeln!(out, "{}", serde_json::json!(talk_features(&scored)))?;
    }
    out.flush()
}
