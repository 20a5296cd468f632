//! Stub.

use serde_json::Value;

/// What is said when the yes is missing or wrong.
pub const APPROVAL_REQUIRED: &str = "This action requires user approval. Ask the user to confirm.";

/// Takes the token out of arguments.
pub fn split_token(args: Value) -> (Value, Option<String>) {
    (args, None)
}
