//! `countersign crisis`: list and clear crisis marks.

use std::process::ExitCode;

use countersign_gate::sessions::crisis::CrisisView;
use serde_json::json;

use crate::cli::{Crisis, CrisisCommand};
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::show::{ago, print, print_json, table, text};

/// Lists marks, or clears one.
pub(crate) fn run(args: &Crisis, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let (answer, shown) = match &args.command {
        None => {
            let answer = client.get("/v1/crisis")?;
            let shown = list(&answer.read()?);
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
            let shown = format!("Cleared.\n{}", list(&answer.read()?));
            (answer, shown)
        }
    };
    let result = if args.json {
        print_json(answer.json())
    } else {
        print(&shown)
    };
    written(result, ExitCode::SUCCESS)
}

fn list(marked: &CrisisView) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for it in &marked.recipients {
        let (session, when) = (text(&it.session_id), ago(it.marked_at));
        let seen = format!("in session {session}, {when}");
        rows.push(vec!["recipient".to_owned(), text(&it.recipient), seen]);
    }
    for it in &marked.sessions {
        let whose = match &it.person {
            Some(person) => format!("a conversation of {}", text(person)),
            None => format!("key {}", text(&it.key_id)),
        };
        rows.push(vec!["session".to_owned(), text(&it.session_id), whose]);
    }
    let readers = marked.readers.iter().map(|it| {
        let whose = if it.for_all {
            "all agents"
        } else {
            "the built-in agent"
        };
        let (model, words) = (text(&it.model), text(&it.words));
        format!("Second reader for {whose}: {model}; {words}.\n")
    });
    let readers: String = readers.collect();
    if rows.is_empty() {
        return format!("There are no crisis marks.\n{readers}");
    }
    let table = table(&["marked", "name", "where"], &rows);
    format!(
        "{table}Calls to them ask until another person clears the mark:\n\
         countersign crisis clear --recipient NAME, or --session ID\n{readers}"
    )
}
