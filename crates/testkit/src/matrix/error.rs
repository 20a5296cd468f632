//! Refusals, in the real server's codes.

use serde_json::{Value, json};

/// Why something was not done.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) body: Value,
}

pub(super) type Done = Result<Value, Refusal>;

/// Returns a refusal.
pub(super) fn refused(status: u16, errcode: &str, error: &str) -> Refusal {
    Refusal {
        status,
        body: json!({ "errcode": errcode, "error": error }),
    }
}

pub(super) fn forbidden(error: &str) -> Refusal {
    refused(403, "M_FORBIDDEN", error)
}

pub(super) fn not_found(error: &str) -> Refusal {
    refused(404, "M_NOT_FOUND", error)
}

pub(super) fn bad(error: &str) -> Refusal {
    refused(400, "M_BAD_JSON", error)
}

/// Too much was sent; it can be sent again after so many milliseconds.
pub(super) fn too_much(millis: u64) -> Refusal {
    let mut refusal = refused(429, "M_LIMIT_EXCEEDED", "Too Many Requests");
    if let Some(body) = refusal.body.as_object_mut() {
        body.insert("retry_after_ms".to_owned(), json!(millis));
    }
    refusal
}
