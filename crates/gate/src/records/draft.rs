//! The ledger entry of an event.

use countersign_core::ledger::Draft;
use countersign_core::time::UnixMillis;
use serde_json::{Map, Value};

/// Returns the entry that tells of `event` about `subject`; `body` is what is shown of it.
pub(crate) fn told(now: UnixMillis, event: &str, subject: &str, body: Value) -> Draft {
    let mut shown = Map::new();
    shown.insert("event".to_owned(), Value::from(event));
    if let Value::Object(fields) = body {
        shown.extend(fields);
    }
    shown.insert("timestamp".to_owned(), Value::from(now.as_seconds()));
    Draft {
        at: now,
        event: event.to_owned(),
        subject: subject.to_owned(),
        body: Value::Object(shown).to_string(),
        ..Draft::default()
    }
}
