//! Completes the section of a channel with another section that it uses, such as `smtp`.
//!
//! Separate, because the gateway does it when it starts and `channels add` before there is a gateway.

use countersign_channels::notifier::NotifierKind;
use serde_json::Value;

use super::read::at;
use super::schema::seconds;

/// The setting that is a time.
const TIME: &str = "digest_every";

/// Returns the section of a notifier, with what it uses besides, and times in seconds.
pub(crate) fn with_borrowed(kind: &NotifierKind, values: &Value, config: &Value) -> Value {
    let mut section = values.clone();
    if let Some(fields) = section.as_object_mut() {
        if let Some(borrowed) = kind.borrows {
            let other = at(config, borrowed.section).clone();
            fields.insert(borrowed.section.to_owned(), other);
        }
        if let Some(time) = fields.get_mut(TIME)
            && let Some(seconds) = seconds(time)
        {
            *time = seconds.into();
        }
    }
    section
}
