//! `countersign grants`: standing permissions, and sessions that run without questions.

use std::process::ExitCode;

use countersign_core::display::inline;
use countersign_core::status::RecordStatus;
use countersign_gate::records::view::{GrantView, ScopeView};
use countersign_gate::sessions::OverrideView;
use serde_json::json;

use crate::cli::{Grants, GrantsCommand};
use crate::client::segment;
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::show::{ago, maybe, print, print_json, table, text};
use crate::slash::lifted;
use crate::wire::lists::{GrantList, OverrideList, ScopeList};

/// Does what was asked with grants.
pub(crate) fn run(args: &Grants, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let (answer, shown) = match &args.command {
        None => {
            let all = if args.all { "?all=true" } else { "" };
            let answer = client.get(&format!("/v1/grants{all}"))?;
            let list: GrantList = answer.read()?;
            let lifted: OverrideList = client.get("/v1/overrides")?.read()?;
            let lifted = lifted.overrides;
            let shown = format!("{}{}", lifted_list(&lifted), grant_list(&list.grants));
            let mut answer = answer.into_json();
            if let Some(answer) = answer.as_object_mut() {
                answer.insert("overrides".to_owned(), json!(lifted));
            }
            (answer, shown)
        }
        Some(GrantsCommand::End { session, key_id }) => {
            let key = key_id.as_deref().map(segment);
            let key = key.map_or_else(String::new, |key| format!("?key_id={key}"));
            let answer = client.delete(&format!("/v1/sessions/{}/yolo{key}", segment(session)))?;
            (
                answer.into_json(),
                format!("Session {} asks questions again.\n", inline(session)),
            )
        }
        Some(GrantsCommand::Revoke { id }) => {
            let answer = client.delete(&format!("/v1/grants/{}", segment(id)))?;
            let grant: GrantView = answer.read()?;
            let shown = format!("{} is revoked.\n", text(&grant.grant_id));
            (answer.into_json(), shown)
        }
        Some(GrantsCommand::Preview { id }) => {
            let answer = client.post("/v1/grants/preview", &json!({"approval_id": id}))?;
            let list: ScopeList = answer.read()?;
            (answer.into_json(), preview(&list.scopes))
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
fn lifted_list(overrides: &[OverrideView]) -> String {
    let lines = overrides.iter().map(|it| format!("{}\n\n", lifted(it)));
    lines.collect()
}

fn grant_list(grants: &[GrantView]) -> String {
    let rows: Vec<Vec<String>> = grants
        .iter()
        .map(|it| {
            vec![
                text(&it.grant_id),
                text(&it.words),
                match &it.session_id {
                    Some(session) => format!("session {}", text(session)),
                    None => "any session".to_owned(),
                },
                text(&it.by),
                match it.uses_left {
                    Some(left) => format!("{}, {left} left", it.uses),
                    None => it.uses.to_string(),
                },
                it.expires_at.map_or_else(|| "never".to_owned(), ago),
                if it.live {
                    RecordStatus::Live.word().to_owned()
                } else {
                    RecordStatus::Ended.word().to_owned()
                },
            ]
        })
        .collect();
    if rows.is_empty() {
        return "No active grants.\n\
                Answering a card with session or always creates one.\n"
            .to_owned();
    }
    let headings = [
        "grant", "lets run", "where", "given by", "uses", "ends", "state",
    ];
    table(&headings, &rows)
}

fn preview(scopes: &[ScopeView]) -> String {
    let count = |count: Option<u32>| count.map_or_else(|| "-".to_owned(), |it| it.to_string());
    let rows: Vec<Vec<String>> = scopes
        .iter()
        .enumerate()
        .map(|(number, it)| {
            vec![
                (number + 1).to_string(),
                text(&it.words),
                format!("{} of {}", count(it.matched), count(it.of)),
                maybe(it.riskiest.as_deref()),
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
