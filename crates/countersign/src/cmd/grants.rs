//! `countersign grants`: standing permissions, and sessions that run without questions.

use std::process::ExitCode;

use countersign_core::display::inline;
use serde_json::{Value, json};

use crate::cli::{Grants, GrantsCommand};
use crate::client::segment;
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::config::read::at;
use crate::show::{ago, print, print_json, table, text};
use crate::slash::lifted;

/// Does what was asked with grants.
pub(crate) fn run(args: &Grants, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let (answer, shown) = match &args.command {
        None => {
            let all = if args.all { "?all=true" } else { "" };
            let mut answer = client.get(&format!("/v1/grants{all}"))?;
            let overrides = client.get("/v1/overrides")?;
            let overrides = at(&overrides, "overrides").clone();
            let shown = format!("{}{}", lifted_list(&overrides), list(&answer));
            if let Some(answer) = answer.as_object_mut() {
                answer.insert("overrides".to_owned(), overrides);
            }
            (answer, shown)
        }
        Some(GrantsCommand::End { session, key_id }) => {
            let key = key_id.as_deref().map(segment);
            let key = key.map_or_else(String::new, |key| format!("?key_id={key}"));
            let answer = client.delete(&format!("/v1/sessions/{}/yolo{key}", segment(session)))?;
            (
                answer,
                format!("Session {} asks questions again.\n", inline(session)),
            )
        }
        Some(GrantsCommand::Revoke { id }) => {
            let answer = client.delete(&format!("/v1/grants/{}", segment(id)))?;
            (answer, format!("{} is revoked.\n", segment(id)))
        }
        Some(GrantsCommand::Preview { id }) => {
            let answer = client.post("/v1/grants/preview", &json!({"approval_id": id}))?;
            let shown = preview(&answer);
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

/// Returns the sessions that run without questions, a line each; nothing if there is none.
fn lifted_list(overrides: &Value) -> String {
    let mut lines = String::new();
    for it in overrides.as_array().into_iter().flatten() {
        lines.push_str(&lifted(it));
        lines.push_str("\n\n");
    }
    lines
}

fn list(answer: &Value) -> String {
    let rows: Vec<Vec<String>> = at(answer, "grants")
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| {
            vec![
                text(it, "grant_id"),
                text(it, "words"),
                match at(it, "session_id").as_str() {
                    Some(_) => format!("session {}", text(it, "session_id")),
                    None => "any session".to_owned(),
                },
                text(it, "by"),
                match at(it, "uses_left").as_u64() {
                    Some(left) => format!("{}, {left} left", text(it, "uses")),
                    None => text(it, "uses"),
                },
                match at(it, "expires_at").as_f64() {
                    Some(_) => ago(it, "expires_at"),
                    None => "never".to_owned(),
                },
                if at(it, "live") == true {
                    "live"
                } else {
                    "ended"
                }
                .to_owned(),
            ]
        })
        .collect();
    if rows.is_empty() {
        return "There are no grants.\n\
                Answering a card with *session* or *always* leaves one.\n"
            .to_owned();
    }
    let headings = [
        "grant", "lets run", "where", "given by", "uses", "ends", "state",
    ];
    table(&headings, &rows)
}

fn preview(answer: &Value) -> String {
    let scopes = at(answer, "scopes")
        .as_array()
        .or_else(|| answer.as_array());
    let rows: Vec<Vec<String>> = scopes
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(number, it)| {
            vec![
                (number + 1).to_string(),
                text(it, "words"),
                format!("{} of {}", text(it, "matched"), text(it, "of")),
                text(it, "riskiest"),
            ]
        })
        .collect();
    if rows.is_empty() {
        return "No grant is possible for this call; every call asks.\n".to_owned();
    }
    table(
        &["scope", "lets run", "would have matched", "the riskiest"],
        &rows,
    )
}
