//! `countersign reviews`: calls that ran and await a review.

use std::process::ExitCode;

use countersign_gate::reviews::ReviewView;
use serde_json::json;

use crate::cli::{Reviews, ReviewsCommand};
use crate::client::{Client, Reach, segment};
use crate::complaint::{Complaint, written};
use crate::show::{ago, maybe, print, print_json, table, text};
use crate::wire::lists::ReviewList;

/// Does what was asked with reviews.
pub(crate) fn run(args: &Reviews, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let (answer, shown) = match &args.command {
        None => {
            let answer = client.get("/v1/reviews")?;
            let shown = list(&answer.read()?);
            (answer, shown)
        }
        Some(ReviewsCommand::Undo { id }) => settle(&client, id, "undo")?,
        Some(ReviewsCommand::Keep { id }) => settle(&client, id, "keep")?,
    };
    let result = if args.json {
        print_json(answer.json())
    } else {
        print(&shown)
    };
    written(result, ExitCode::SUCCESS)
}

fn settle(
    client: &Client,
    id: &str,
    how: &str,
) -> Result<(crate::client::Answer, String), Complaint> {
    let path = format!("/v1/reviews/{}/{how}", segment(id));
    let answer = client.post(&path, &json!({}))?;
    let review: ReviewView = answer.read()?;
    let shown = format!("{} is {}.\n", text(&review.review_id), review.status.word());
    Ok((answer, shown))
}

fn list(list: &ReviewList) -> String {
    let rows: Vec<Vec<String>> = list
        .reviews
        .iter()
        .map(|it| {
            vec![
                text(&it.review_id),
                text(&it.command),
                maybe(it.path.as_deref()),
                text(&it.key_name),
                ago(it.call.created_at),
            ]
        })
        .collect();
    if rows.is_empty() {
        return "No call awaits a review.\n\
                With `review.enabled`, calls that can be undone run first and appear here.\n"
            .to_owned();
    }
    table(&["review", "command", "file", "asked by", "when"], &rows)
}
