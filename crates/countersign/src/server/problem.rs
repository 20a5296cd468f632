//! Error responses: a status, a stable code and a message.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_agent::undo::UndoError;
use countersign_gate::GateError;
use serde_json::{Value, json};

use crate::complaint::Complaint;
use crate::wire::refusal::RefusalError;

/// A refusal.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// The field that is wrong.
    pub(crate) param: Option<String>,
    /// When to try again, in seconds.
    pub(crate) retry_after: Option<u32>,
    /// Additional fields beside `error`: the decision of an answered approval.
    pub(crate) more: Option<Box<(&'static str, Value)>>,
}

impl Problem {
    /// Returns a refusal.
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            param: None,
            retry_after: None,
            more: None,
        }
    }

    /// Returns a refusal of what stands in `param`.
    pub(crate) fn invalid(
        param: &'static str,
        code: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            param: Some(param.to_owned()),
            ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
        }
    }

    /// Returns that the configuration cannot be read.
    pub(crate) fn unreadable(complaint: &Complaint) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "policy_unreadable",
            complaint.message(),
        )
    }

    fn kind(&self) -> &'static str {
        match self.status {
            StatusCode::UNAUTHORIZED => "authentication_error",
            StatusCode::FORBIDDEN => "permission_error",
            StatusCode::NOT_FOUND => "not_found_error",
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let error = RefusalError {
            kind: self.kind().to_owned(),
            message: self.message,
            param: self.param,
            code: self.code.to_owned(),
        };
        let mut body = json!({ "error": error });
        if let (Some(more), Some(body)) = (self.more, body.as_object_mut()) {
            let (key, value) = *more;
            body.insert(key.to_owned(), value);
        }
        let mut response = (self.status, Json(body)).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

impl From<UndoError> for Problem {
    fn from(error: UndoError) -> Self {
        match error {
            UndoError::Gate(error) => error.into(),
            UndoError::Changed { path, done, since } => Self {
                more: Some(Box::new((
                    "changes",
                    json!({ "path": path, "done": done, "since": since }),
                ))),
                ..Self::new(
                    StatusCode::CONFLICT,
                    "changed_since",
                    format!("{path} has changed since, so it was not restored"),
                )
            },
            UndoError::File(why) => Self::new(StatusCode::CONFLICT, "not_undone", why),
        }
    }
}

impl From<GateError> for Problem {
    fn from(error: GateError) -> Self {
        let message = error.to_string();
        let of = |status, code| Self::new(status, code, message.clone());
        match error {
            GateError::NotFound { kind, .. } => Self {
                param: Some(kind.to_owned()),
                ..of(StatusCode::NOT_FOUND, "not_found")
            },
            GateError::Forbidden(_) => of(StatusCode::FORBIDDEN, "forbidden"),
            GateError::Invalid { param, code, .. } => Self {
                param: Some(param.to_owned()),
                ..of(StatusCode::UNPROCESSABLE_ENTITY, code)
            },
            GateError::AlreadyResolved(approval) => Self {
                more: Some(Box::new(("decision", json!(approval.decision)))),
                ..of(StatusCode::CONFLICT, "already_resolved")
            },
            GateError::AlreadySettled { .. } => of(StatusCode::CONFLICT, "already_settled"),
            GateError::Gone(approval) => Self {
                more: Some(Box::new(("decision", json!(approval.decision)))),
                ..of(StatusCode::GONE, "no_longer_open")
            },
            GateError::NotOffered(_) => of(StatusCode::UNPROCESSABLE_ENTITY, "choice_not_offered"),
            GateError::Ambiguous(ids) => Self {
                more: Some(Box::new(("approvals", json!(ids)))),
                ..of(StatusCode::CONFLICT, "several_waiting")
            },
            GateError::TooMany { retry_after, .. } => Self {
                retry_after: Some(retry_after),
                ..of(StatusCode::TOO_MANY_REQUESTS, "too_many_waiting")
            },
            GateError::TokenUsed => of(StatusCode::CONFLICT, "token_used"),
            GateError::TokenExpired => of(StatusCode::GONE, "token_expired"),
            GateError::TokenInvalid => of(StatusCode::UNPROCESSABLE_ENTITY, "token_invalid"),
            GateError::Policy(_) => of(StatusCode::SERVICE_UNAVAILABLE, "policy_unreadable"),
            // The cause names files and hosts; the log may have it, a client may not.
            GateError::Store(cause) => {
                tracing::error!(error = ?cause, "storage failed");
                super::metrics::storage_failed();
                Self {
                    retry_after: Some(1),
                    ..of(StatusCode::SERVICE_UNAVAILABLE, "storage_unavailable")
                }
            }
        }
    }
}
