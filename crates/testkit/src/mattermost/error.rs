//! Error responses of the server.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::world;

/// What a handler gives back.
pub(super) type Answer = Result<Response, AppError>;

/// A refusal.
#[derive(Clone, Debug)]
pub(super) struct AppError {
    id: &'static str,
    message: String,
    status: StatusCode,
}

impl AppError {
    pub(super) fn new(status: StatusCode, id: &'static str, message: impl Into<String>) -> Self {
        Self {
            id,
            message: message.into(),
            status,
        }
    }

    pub(super) fn bad(id: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, id, message)
    }

    /// The body, or its field `name`, is invalid.
    pub(super) fn body(name: &str) -> Self {
        Self::bad(
            "api.context.invalid_body_param.app_error",
            format!("Invalid or missing {name} in request body."),
        )
    }

    /// The account has not the permission.
    pub(super) fn forbidden() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "api.context.permissions.app_error",
            "You do not have the appropriate permissions.",
        )
    }

    pub(super) fn missing(id: &'static str) -> Self {
        Self::new(StatusCode::NOT_FOUND, id, "It could not be found.")
    }

    /// There is no valid token.
    pub(super) fn unauthorized() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "api.context.session_expired.app_error",
            "Invalid or expired session, please login again.",
        )
    }

    pub(super) const fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) fn message(&self) -> &str {
        &self.message
    }
}

impl IntoResponse for AppError {
    fn into_response(self) -> Response {
        let body = json!({
            "id": self.id,
            "message": self.message,
            "detailed_error": "",
            "request_id": world::new_id(),
            "status_code": self.status.as_u16(),
        });
        (self.status, Json(body)).into_response()
    }
}

#[expect(clippy::unnecessary_wraps, reason = "handlers end with it")]
pub(super) fn ok(body: impl Into<Value>) -> Answer {
    Ok(Json(body.into()).into_response())
}

#[expect(clippy::unnecessary_wraps, reason = "handlers end with it")]
pub(super) fn created(body: impl Into<Value>) -> Answer {
    Ok((StatusCode::CREATED, Json(body.into())).into_response())
}

/// Returns the answer that says only that it was done.
pub(super) fn done() -> Answer {
    ok(json!({ "status": "OK" }))
}

/// Reads a body that is an object. What the server does not know in it, it ignores.
pub(super) fn object(body: &[u8]) -> Result<Map<String, Value>, AppError> {
    serde_json::from_slice(body).map_err(|_| AppError::body("body"))
}

/// Returns a text of an object; empty if there is none.
pub(super) fn text<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or("")
}

/// Returns a text of an object that must be there.
pub(super) fn needed<'a>(object: &'a Map<String, Value>, key: &str) -> Result<&'a str, AppError> {
    let value = text(object, key);
    if value.is_empty() {
        return Err(AppError::body(key));
    }
    Ok(value)
}

/// Returns whether an object says `key: true`.
pub(super) fn says(object: &Map<String, Value>, key: &str) -> bool {
    object.get(key).and_then(Value::as_bool).unwrap_or(false)
}
