//! `countersign crisis`: what carries the crisis mark, and clearing it.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cli::{Crisis, CrisisCommand};
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::config::read::at;
use crate::show::{ago, print, print_json, table, text};

/// Lists marks, or clears one.
pub(crate) fn run(args: &Crisis, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let (answer, shown) = match &args.command {
        None => {
            let answer = client.get("/v1/crisis")?;
            let shown = list(&answer);
            (answer, shown)
        }
        Some(CrisisCommand::Clear {
            session,
            key_id,
            recipient,
            note,
        }) => {
            let body = json!({
                "session_id": session, "key_id": key_id, "recipient": recipient, "note": note,
            });
            let answer = client.post("/v1/crisis/clear", &body)?;
            let shown = format!("Cleared.\n{}", list(&answer));
            (answer, shown)
        }
    };
    let result = if args.json {
        print_json(&answer)
    } else {
        print(&shown)
    };
    written(result, ExitCode::SUCCESS)
}

fn list(answer: &Value) -> String {
    let items = |key: &str| at(answer, key).as_array().cloned().unwrap_or_default();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for it in items("recipients") {
        let seen = format!(
            "in session {}, {}",
            text(&it, "session_id"),
            ago(&it, "marked_at")
        );
        rows.push(vec!["recipient".to_owned(), text(&it, "recipient"), seen]);
    }
    for it in items("sessions") {
        let whose = match at(&it, "person").as_str() {
            Some(_) => format!("a conversation of {}", text(&it, "person")),
            None => format!("key {}", text(&it, "key_id")),
        };
        rows.push(vec!["session".to_owned(), text(&it, "session_id"), whose]);
    }
    if rows.is_empty() {
        return "There are no crisis marks.\n".to_owned();
    }
    let table = table(&["marked", "who or which", "seen"], &rows);
    format!(
        "{table}Calls to them ask until another person clears the mark:\n\
         countersign crisis clear --recipient NAME, or --session ID\n"
    )
}
