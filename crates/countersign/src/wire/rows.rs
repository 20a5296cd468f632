//! Rows of the inbox: approvals with what a list shows of them.
//!
//! A full approval has 3 kB, most of it for its own card; a thousand of them would be megabytes that
//! nobody reads. A row has the names and the nesting of the approval, with fewer fields and shorter
//! texts, so that an approval can stand wherever a row can.

use countersign_core::card::Field;
use countersign_core::status::{Risk, Status};
use countersign_gate::approvals::answer::ApprovalFilter;
use countersign_gate::records::schema;
use countersign_gate::records::view::{ApprovalView, Page};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Longest command of a row; a filter finds words in this much of it.
const COMMAND_CHARS_MAX: usize = 1000;
/// Longest other text of a row.
const TEXT_CHARS_MAX: usize = 200;

/// Which part of the inbox.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct InboxQuery {
    /// At most so many.
    limit: Option<u32>,
    /// The cursor of the previous page.
    behind: Option<String>,
}

impl From<InboxQuery> for ApprovalFilter {
    fn from(query: InboxQuery) -> Self {
        Self {
            status: Some(Status::Waiting),
            limit: query.limit,
            behind: query.behind,
            ..Self::default()
        }
    }
}

/// Waiting approvals as rows, the newest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct InboxList {
    /// The items of this page.
    approvals: Vec<ApprovalRow>,
    /// The value of `behind` for the next page; null at the end.
    next: Option<String>,
}

impl From<Page<ApprovalView>> for InboxList {
    fn from(page: Page<ApprovalView>) -> Self {
        Self {
            approvals: page.items.into_iter().map(ApprovalRow::from).collect(),
            next: page.next,
        }
    }
}

/// One approval as a row of a list; `GET /v1/approvals/{id}` has all of it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ApprovalRow {
    /// The question.
    approval_id: String,
    /// Its session.
    session_id: String,
    /// `waiting`, `approved`, `denied`, `expired` or `withdrawn`.
    #[schema(value_type = String)]
    status: Status,
    /// Whether an answer is held back and can be taken back, and until when, in seconds.
    held_until: Option<f64>,
    /// The beginning of the shell text or of the call on one line, display-redacted.
    command: String,
    /// The first reason, cut.
    description: String,
    /// When it was asked, in seconds.
    created_at: f64,
    /// When it expires, in seconds.
    expires_at: f64,
    /// Its card.
    card: CardRow,
    /// Equal for similar approvals that wait: three or more may be shown as one row. Null for one
    /// that must have its own row; its text means nothing else.
    fold_key: Option<String>,
}

/// What a row shows of a card.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct CardRow {
    /// The title of the call, cut.
    title: String,
    /// `low`, `medium`, `high` or `critical`.
    #[schema(value_type = String)]
    risk: Risk,
    /// The tool.
    tool: String,
    /// What the call says, cut; empty where the command says it.
    #[schema(value_type = Vec<schema::Field>)]
    body: Vec<Field>,
    /// Who asks, from where, for what; cut, without quoted texts.
    #[schema(value_type = Vec<schema::Field>)]
    lineage: Vec<Field>,
}

impl From<ApprovalView> for ApprovalRow {
    fn from(view: ApprovalView) -> Self {
        let is_command = !view.command.starts_with(&format!("{} {{", view.card.tool));
        let body = if is_command {
            Vec::new()
        } else {
            view.card.body
        };
        let lineage = view.card.lineage.into_iter().filter(|field| !field.code);
        Self {
            approval_id: view.approval_id,
            session_id: view.session_id,
            status: view.status,
            held_until: view.held_until,
            command: cut(view.command, COMMAND_CHARS_MAX),
            description: cut(view.description, TEXT_CHARS_MAX),
            created_at: view.created_at,
            expires_at: view.expires_at,
            card: CardRow {
                title: cut(view.card.title, TEXT_CHARS_MAX),
                risk: view.card.risk,
                tool: view.card.tool,
                body: body.into_iter().map(shortened).collect(),
                lineage: lineage.map(shortened).collect(),
            },
            fold_key: view.fold_key,
        }
    }
}

fn shortened(field: Field) -> Field {
    Field {
        text: cut(field.text, TEXT_CHARS_MAX),
        marks: Vec::new(),
        ..field
    }
}

fn cut(mut text: String, chars: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(chars) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_says_so() {
        assert_eq!(cut("ä".repeat(5), 5), "äääää");
        assert_eq!(cut("ä".repeat(6), 5), "äääää…");
        assert_eq!(cut(String::new(), 5), "");
    }
}
