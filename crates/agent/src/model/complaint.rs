//! Maps error responses of model servers to our errors.

use serde_json::Value;

use super::ModelError;

/// Longest text of a server that is passed on, in characters.
const TEXT_CHARS_MAX: usize = 300;

/// What servers say when somebody has to pay. Compared in lower case.
const OUT_OF_CREDIT: &[&str] = &[
    "insufficient_quota",
    "insufficient_credits",
    "insufficient_balance",
    "insufficient credit",
    "insufficient balance",
    "insufficient funds",
    "out of credit",
    "not enough credits",
    "requires more credits",
    "credit balance is too low",
    "exceeded your current quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "payment required",
];

/// What a server says went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Complaint {
    /// A status, where it names one.
    pub(super) status: Option<u16>,
    /// Its words.
    pub(super) text: String,
    /// Whether its words say that somebody has to pay.
    out_of_credit: bool,
}

impl Complaint {
    /// Reads the value of an `error` key: an object, or only words.
    pub(super) fn read(error: &Value) -> Self {
        let field = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        let text = match error {
            Value::String(words) => words.as_str(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => Some(field("message"))
                .filter(|words| !words.is_empty())
                .unwrap_or(field("code")),
        };
        let words = format!("{} {} {text}", field("code"), field("type")).to_lowercase();
        let status = ["code", "status"].iter().find_map(|name| {
            let value = error.get(name)?;
            let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
            u16::try_from(number)
                .ok()
                .filter(|code| (400..600).contains(code))
        });
        Self {
            status,
            text: shortened(text),
            out_of_credit: OUT_OF_CREDIT.iter().any(|sign| words.contains(sign)),
        }
    }

    /// Reads the body of an answer whose status says that it is none.
    pub(super) fn read_body(body: &[u8]) -> Self {
        let Ok(parsed) = serde_json::from_slice::<Value>(body) else {
            return Self {
                text: shortened(&String::from_utf8_lossy(body)),
                ..Self::default()
            };
        };
        // Some servers put the object into a list.
        let body = parsed.get(0).unwrap_or(&parsed);
        let error = ["error", "detail"].iter().find_map(|key| body.get(key));
        Self::read(error.unwrap_or(body))
    }

    /// Returns the error for it, given the status the answer came with.
    pub(super) fn into_error(self, status: u16, retry_after: Option<u64>) -> ModelError {
        if status == 402 || (status < 500 && self.out_of_credit) {
            return ModelError::OutOfCredit;
        }
        match status {
            408 => ModelError::TimedOut,
            429 => ModelError::RateLimited { retry_after },
            500.. => ModelError::Unreachable(format!("it answered {status}: {}", self.text)),
            _ => ModelError::Refused {
                status,
                message: self.text,
            },
        }
    }

    /// Returns the error for it, when it came in the middle of an answer.
    pub(super) fn into_error_midway(self) -> ModelError {
        match self.status {
            _ if self.out_of_credit => ModelError::OutOfCredit,
            Some(status @ (402 | 408 | 429)) => self.into_error(status, None),
            Some(_) | None => ModelError::BrokeOff(self.text),
        }
    }
}

/// Returns the beginning of `text` on one line.
fn shortened(text: &str) -> String {
    let mut line: String = text
        .trim()
        .chars()
        .map(|it| if it.is_control() { ' ' } else { it })
        .take(TEXT_CHARS_MAX + 1)
        .collect();
    if let Some((end, _)) = line.char_indices().nth(TEXT_CHARS_MAX) {
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_told_apart() {
        let refused = |status, message: &str| ModelError::Refused {
            status,
            message: message.to_owned(),
        };
        for (name, status, body, expected) in [
            ("payment", 402, "", ModelError::OutOfCredit),
            (
                "quota",
                429,
                r#"{"error":{"message":"You exceeded it","code":"insufficient_quota"}}"#,
                ModelError::OutOfCredit,
            ),
            (
                "balance",
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to go on"}}"#,
                ModelError::OutOfCredit,
            ),
            (
                "busy",
                429,
                r#"{"error":{"message":"Slow down","code":429}}"#,
                ModelError::RateLimited {
                    retry_after: Some(7),
                },
            ),
            (
                "words",
                404,
                r#"{"error":"model not found"}"#,
                refused(404, "model not found"),
            ),
            (
                "detail",
                422,
                r#"{"detail":"no such field"}"#,
                refused(422, "no such field"),
            ),
            (
                "a list",
                400,
                r#"[{"error":{"code":400,"message":"no","status":"INVALID"}}]"#,
                refused(400, "no"),
            ),
            ("plain text", 403, "go\naway", refused(403, "go away")),
            (
                "a broken server",
                503,
                "<html>",
                ModelError::Unreachable("it answered 503: <html>".to_owned()),
            ),
            ("a redirect", 302, "", refused(302, "")),
        ] {
            let error = Complaint::read_body(body.as_bytes()).into_error(status, Some(7));
            assert_eq!(error, expected, "{name}");
        }
    }

    #[test]
    fn a_long_complaint_is_shortened() {
        assert_eq!(shortened(&"é".repeat(300)).chars().count(), 300);
        assert_eq!(shortened(&"é".repeat(301)).chars().last(), Some('…'));
        assert_eq!(shortened(&"é".repeat(9_000)).chars().count(), 301);
    }
}
