//! Which definition of each tool the model was shown.
//!
//! Separate because it is learnt from what passes by: the answers to `tools/list`, page by page.

use std::collections::HashMap;

use countersign_core::canonical::{canonical, parse};
use countersign_core::digest::Digest;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::message::Fields;

/// Tools of one server that are remembered.
const TOOLS_MAX: usize = 4096;
/// Longest definition that is handed to the gateway, in bytes; of a longer one its hash.
const DEFINITION_BYTES_MAX: usize = 64 * 1024;
/// Keys of a page that clients act on.
const PAGE: &[&str] = &["tools", "nextCursor"];
/// Hints of a server about its own tool.
const HINTS: &[&str] = &[
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
];

/// The definitions of one server.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// The last listing.
    whole: HashMap<String, Value>,
    /// A listing whose last page has not come yet.
    begun: HashMap<String, Value>,
    /// What stands for every definition while the last listing could not be read beyond doubt.
    unclear: Option<Value>,
}

impl Definitions {
    /// Takes note of one page of a listing.
    pub(super) fn learn(&mut self, result: &RawValue, is_first: bool) {
        if is_first {
            self.begun.clear();
            self.unclear = None;
        }
        if self.read(result).is_none() {
            self.doubt(result.get().as_bytes());
        }
    }

    /// Takes note that `message` may list tools, and that two readers could see different ones in it.
    /// Until the next listing, every tool has this for its definition, which nobody has seen before.
    pub(super) fn doubt(&mut self, message: &[u8]) {
        let seen = Digest::of(message).to_string();
        self.unclear = Some(json!({ "listing_that_cannot_be_read": seen }));
    }

    /// Reads one page of a listing; `None` if readers could differ about it.
    fn read(&mut self, result: &RawValue) -> Option<()> {
        let page = Fields::read(result.get())?;
        if page.ambiguous(PAGE).is_some() {
            return None;
        }
        let tools: Vec<&RawValue> = serde_json::from_str(page.get("tools")?.get()).ok()?;
        for tool in tools {
            let Some(fields) = Fields::read(tool.get()) else {
                continue;
            };
            if fields.ambiguous(&["name"]).is_some() {
                return None;
            }
            let name = fields.get("name").map(RawValue::get);
            let Some(name) = name.and_then(|name| serde_json::from_str::<String>(name).ok()) else {
                continue;
            };
            let value = as_shown(tool.get());
            if self.begun.len() >= TOOLS_MAX && !self.begun.contains_key(&name) {
                return None;
            }
            self.begun
                .entry(name)
                // A name that stands twice: nobody can say which one the model was shown.
                .and_modify(|known| *known = json!({ "listed_again": [known.take(), &value] }))
                .or_insert(value);
        }
        if page.get("nextCursor").is_none_or(|it| it.get() == "null") {
            self.whole = std::mem::take(&mut self.begun);
        }
        Some(())
    }

    /// Returns the definition of `tool`, if the server listed it.
    pub(super) fn get(&self, tool: &str) -> Option<&Value> {
        let known = || self.begun.get(tool).or_else(|| self.whole.get(tool));
        self.unclear.as_ref().or_else(known)
    }
}

/// Returns a definition as the gateway gets it: one that has no exact form is its text, and a long one
/// is its hash.
fn as_shown(text: &str) -> Value {
    if text.len() > DEFINITION_BYTES_MAX {
        return json!({ "too_long_to_keep": Digest::of(text.as_bytes()).to_string() });
    }
    match parse(text.as_bytes()) {
        Ok(value) if canonical(&value).is_ok() => value,
        Ok(_) | Err(_) => json!({ "text": text }),
    }
}

/// Returns the schema of the arguments in a definition.
pub(super) fn schema(definition: &Value) -> Option<Value> {
    definition.get("inputSchema").cloned()
}

/// Returns the hints in a definition that say yes or no.
pub(super) fn hints(definition: &Value) -> Value {
    let given = definition.get("annotations").and_then(Value::as_object);
    let hints: Map<String, Value> = given
        .into_iter()
        .flatten()
        .filter(|(name, hint)| HINTS.contains(&name.as_str()) && hint.is_boolean())
        .map(|(name, hint)| (name.clone(), hint.clone()))
        .collect();
    Value::Object(hints)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(value: &Value) -> Box<RawValue> {
        serde_json::value::to_raw_value(value).unwrap()
    }

    #[test]
    fn a_listing_counts_when_its_last_page_has_come_and_replaces_the_one_before() {
        let mut definitions = Definitions::default();
        let page = |name: &str, next: Value| {
            raw(&json!({ "tools": [{ "name": name }], "nextCursor": next }))
        };
        definitions.learn(&page("a", json!("2")), true);
        assert!(
            definitions.get("a").is_some(),
            "known as soon as it is seen"
        );
        definitions.learn(&page("b", Value::Null), false);
        assert!(definitions.get("a").is_some() && definitions.get("b").is_some());
        definitions.learn(&page("c", Value::Null), true);
        assert!(definitions.get("a").is_none() && definitions.get("c").is_some());
    }

    #[test]
    fn one_byte_changes_the_definition_and_a_doubled_name_is_a_change() {
        let of = |tools: Value| {
            let mut definitions = Definitions::default();
            definitions.learn(&raw(&json!({ "tools": tools })), true);
            definitions.get("a").cloned()
        };
        let one = of(json!([{ "name": "a", "description": "x" }]));
        assert_ne!(one, of(json!([{ "name": "a", "description": "x " }])));
        assert_ne!(
            one,
            of(json!([{ "name": "a", "description": "x" }, { "name": "a" }]))
        );
    }

    #[test]
    fn a_definition_without_an_exact_form_is_kept_as_text() {
        let mut definitions = Definitions::default();
        let listed = r#"{"tools":[{"name":"a","max":18446744073709551615}]}"#;
        let listed: Box<RawValue> = serde_json::from_str(listed).unwrap();
        definitions.learn(&listed, true);
        let kept = definitions.get("a").unwrap();
        assert_eq!(
            kept,
            &json!({ "text": r#"{"name":"a","max":18446744073709551615}"# })
        );
    }

    #[test]
    fn hints_that_are_no_truth_values_are_left_out() {
        let definition = json!({ "annotations": { "readOnlyHint": "yes", "destructiveHint": true, "title": "x" } });
        assert_eq!(hints(&definition), json!({ "destructiveHint": true }));
    }
}
