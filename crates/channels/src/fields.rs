//! Sets fields of JSON objects that only some of them have.

use serde_json::Value;

/// Sets the field `key` of an object.
pub(crate) fn set(object: &mut Value, key: &str, value: impl Into<Value>) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(key.to_owned(), value.into());
    }
}
