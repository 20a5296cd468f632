//! Events under the names that clients of Hermes know. Fields are added and renamed, none is taken
//! away, so a client of either kind finds what it looks for.

use serde_json::{Value, json};

/// Returns the event `name` with this body as clients of Hermes expect it.
pub(crate) fn hermes(name: &str, body: &str) -> String {
    let Ok(Value::Object(mut event)) = serde_json::from_str::<Value>(body) else {
        return body.to_owned();
    };
    match name {
        "approval.required" => {
            let id = event.get("approval_id").cloned().unwrap_or_default();
            let description = event.get("description").cloned().unwrap_or_default();
            let is_permanent = event
                .get("choices")
                .and_then(Value::as_array)
                .is_some_and(|choices| choices.iter().any(|choice| choice == "always"));
            event.insert("event".to_owned(), json!("approval.request"));
            event.insert("request_id".to_owned(), id);
            event.insert("pattern_key".to_owned(), description.clone());
            event.insert("pattern_keys".to_owned(), json!([description]));
            event.insert("allow_permanent".to_owned(), json!(is_permanent));
        }
        "approval.resolved" => {
            let id = event.get("approval_id").cloned().unwrap_or_default();
            event.insert("event".to_owned(), json!("approval.responded"));
            event.insert("request_id".to_owned(), id);
            event.insert("resolved".to_owned(), json!(1));
            // Clients there know answers only; a question that ended without one was denied.
            if event.get("choice").is_none_or(Value::is_null) {
                event.insert("choice".to_owned(), json!("deny"));
            }
        }
        _ => return body.to_owned(),
    }
    Value::Object(event).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_and_its_end_have_the_names_clients_know() {
        let asked = r#"{"event":"approval.required","approval_id":"appr_1","description":"d","choices":["once","deny"]}"#;
        let asked: Value = serde_json::from_str(&hermes("approval.required", asked)).unwrap();
        assert_eq!(asked["event"], "approval.request");
        assert_eq!(asked["request_id"], "appr_1");
        assert_eq!(asked["pattern_keys"], json!(["d"]));
        assert_eq!(asked["allow_permanent"], false);

        let ended = r#"{"event":"approval.resolved","approval_id":"appr_1","outcome":"expired","choice":null}"#;
        let ended: Value = serde_json::from_str(&hermes("approval.resolved", ended)).unwrap();
        assert_eq!(ended["event"], "approval.responded");
        assert_eq!(ended["choice"], "deny");
        assert_eq!(ended["outcome"], "expired");
    }

    #[test]
    fn other_events_stay_as_they_are() {
        let body = r#"{"event":"tool.started"}"#;
        assert_eq!(hermes("tool.started", body), body);
    }
}
