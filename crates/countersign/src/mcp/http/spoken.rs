//! What a message of a server belongs to, where several requests share one program.
//!
//! Separate because over standard output nothing but the message itself says whose it is: an answer
//! names its request, progress names a token, and what comes for a subscription names that.

use serde_json::value::RawValue;

use crate::mcp::message::{Fields, id_key};

/// Where a message of a subscription names it.
const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// What a message of a server says about whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spoken {
    /// The answer to the request with this key; the code if it is an error.
    Answer {
        /// The key of the request.
        key: String,
        /// The code of the error.
        error: Option<i64>,
    },
    /// Progress of the request that gave this token.
    Progress(String),
    /// For the subscription that the request with this key opened.
    Subscribed(String),
    /// A request or notification that names nobody.
    Other,
}

impl Spoken {
    /// Reads a message of a server.
    pub(crate) fn read(message: &[u8]) -> Self {
        Self::of(message).unwrap_or(Self::Other)
    }

    fn of(message: &[u8]) -> Option<Self> {
        let fields = Fields::read(std::str::from_utf8(message).ok()?)?;
        let Some(method) = fields.get("method") else {
            let error = fields.get("error").and_then(|it| Fields::read(it.get()));
            return Some(Self::Answer {
                key: id_key(fields.get("id")?),
                error: error.and_then(|error| error.get("code")?.get().parse().ok()),
            });
        };
        let params = Fields::read(fields.get("params")?.get())?;
        if method.get() == "\"notifications/progress\"" {
            return params
                .get("progressToken")
                .map(|token| Self::Progress(id_key(token)));
        }
        let meta = Fields::read(params.get("_meta")?.get())?;
        meta.get(SUBSCRIPTION_KEY)
            .map(|id| Self::Subscribed(id_key(id)))
    }
}

/// Returns the key of the progress token that a request gives.
pub(crate) fn token_of(message: &[u8]) -> Option<String> {
    let fields = Fields::read(std::str::from_utf8(message).ok()?)?;
    let params = Fields::read(fields.get("params")?.get())?;
    let meta = Fields::read(params.get("_meta")?.get())?;
    meta.get("progressToken").map(id_key)
}

/// Whether a request gives what every request without a session has to.
pub(crate) fn is_complete(message: &[u8]) -> bool {
    const NEEDED: [&str; 2] = [
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
    ];
    let read = || {
        let fields = Fields::read(std::str::from_utf8(message).ok()?)?;
        let params = Fields::read(fields.get("params")?.get())?;
        let meta = Fields::read(params.get("_meta")?.get())?;
        let given = |key: &str| meta.get(key).map(RawValue::get);
        Some(
            NEEDED
                .iter()
                .all(|key| given(key).is_some_and(|it| it != "null")),
        )
    };
    read().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_its_request_its_token_or_its_subscription() {
        let rows: &[(&str, Spoken)] = &[
            (
                r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
                Spoken::Answer {
                    key: "number 7".to_owned(),
                    error: None,
                },
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"x"}}"#,
                Spoken::Answer {
                    key: "text a".to_owned(),
                    error: Some(-32601),
                },
            ),
            (
                r#"{"method":"notifications/progress","params":{"progressToken":"t","progress":1}}"#,
                Spoken::Progress("text t".to_owned()),
            ),
            (
                r#"{"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}"#,
                Spoken::Subscribed("number 3".to_owned()),
            ),
            (r#"{"method":"roots/list","id":1}"#, Spoken::Other),
            ("no JSON", Spoken::Other),
        ];
        for (message, expected) in rows {
            assert_eq!(Spoken::read(message.as_bytes()), *expected, "{message}");
        }
    }
}
