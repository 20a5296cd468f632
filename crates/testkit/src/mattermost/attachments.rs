//! Attachments of posts: buttons, and fields that the server never shows.

use serde_json::{Map, Value};

use super::settings::PROPS_CHARS_MAX;
use super::world::{self, Post};
use super::{error::AppError, prose};

/// What an action of a post is, as the server keeps it.
#[derive(Clone, Debug)]
pub(super) struct Action {
    pub(super) kind: String,
    pub(super) url: String,
    pub(super) context: Option<Value>,
}

/// Refuses properties that are too long, and gives each action without an id one.
pub(super) fn accept(props: &mut Map<String, Value>) -> Result<(), AppError> {
    let length = Value::Object(props.clone()).to_string().chars().count();
    if length > PROPS_CHARS_MAX {
        return Err(AppError::bad(
            "model.post.is_valid.props.app_error",
            "Invalid props.",
        ));
    }
    let Some(attachments) = props.get_mut("attachments") else {
        return Ok(());
    };
    // Whatever is not a list of attachments is dropped, as it cannot be read.
    let Some(attachments) = attachments.as_array_mut() else {
        props.remove("attachments");
        return Ok(());
    };
    for action in attachments.iter_mut().flat_map(actions_mut) {
        let id = action.get("id").and_then(Value::as_str);
        if id.unwrap_or("").is_empty() {
            action.insert("id".to_owned(), Value::String(world::new_id()));
        }
    }
    Ok(())
}

/// Returns the action `id` of a post.
pub(super) fn find(post: &Post, id: &str) -> Option<Action> {
    let attachments = post.props.get("attachments")?.as_array()?;
    let action = attachments
        .iter()
        .filter_map(|attachment| attachment.get("actions")?.as_array())
        .flatten()
        .find(|action| action.get("id").and_then(Value::as_str) == Some(id))?;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("").to_owned();
    let integration = action.get("integration");
    Some(Action {
        kind: text(action.get("type")),
        url: text(integration.and_then(|it| it.get("url"))),
        context: integration.and_then(|it| it.get("context")).cloned(),
    })
}

/// Returns properties as anybody is sent them: without what an integration alone may know.
pub(super) fn stripped(props: &Map<String, Value>) -> Map<String, Value> {
    let mut props = props.clone();
    let attachments = props.get_mut("attachments").and_then(Value::as_array_mut);
    for action in attachments.into_iter().flatten().flat_map(actions_mut) {
        action.remove("integration");
        // A server sends the type back even where none was given.
        action
            .entry("type")
            .or_insert_with(|| Value::String(String::new()));
    }
    props
}

/// Returns whom a post mentions by its message and the texts of its attachments.
pub(super) fn mentions(message: &str, props: &Map<String, Value>) -> Vec<String> {
    let mut names = prose::mentions(message);
    let attachments = props.get("attachments").and_then(Value::as_array);
    for attachment in attachments.into_iter().flatten() {
        let fields = attachment.get("fields").and_then(Value::as_array);
        let values = fields
            .into_iter()
            .flatten()
            .filter_map(|field| field.get("value"));
        let texts = ["pretext", "text"].map(|key| attachment.get(key));
        for text in texts.into_iter().flatten().chain(values) {
            names.extend(prose::mentions(text.as_str().unwrap_or("")));
        }
    }
    names
}

fn actions_mut(attachment: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    attachment
        .get_mut("actions")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
}
