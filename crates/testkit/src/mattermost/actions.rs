//! Button clicks: from the person to the server, to the integration, and back.

use axum::body::Bytes;
use axum::extract::{Path, State};
use serde_json::{Map, Value, json};

use super::attachments;
use super::error::{Answer, AppError, object, ok, says, text};
use super::outgoing::{self, Letter};
use super::posts;
use super::routes::Session;
use super::server::Shared;
use super::teams::team_of;

const FAILED: &str = "api.post.do_action.action_integration.app_error";
/// Properties that an answer cannot take away.
const KEPT: [&str; 5] = [
    "from_bot",
    "from_webhook",
    "from_plugin",
    "override_username",
    "override_icon_url",
];

pub(super) async fn click(
    State(shared): State<Shared>,
    session: Session,
    Path((post_id, action_id)): Path<(String, String)>,
    body: Bytes,
) -> Answer {
    if !shared.settings().version.routes_action(&action_id) {
        return Err(AppError::missing("api.context.404.app_error"));
    }
    let asked = if body.is_empty() {
        Map::new()
    } else {
        object(&body)?
    };
    let trigger_id = shared.trigger_id(&session.user_id);
    let (action, letter, channel_id) = {
        let world = shared.world();
        let post = world.post(&post_id)?;
        world.may_read(&session.user_id, &post.channel_id)?;
        let action = attachments::find(post, &action_id)
            .ok_or_else(|| AppError::missing("api.post.do_action.action_id.app_error"))?;
        let channel = world.channel(&post.channel_id)?;
        let (team_id, team_domain) = team_of(&world, channel);
        let mut letter = json!({
            "user_id": session.user_id,
            "user_name": world.user(&session.user_id)?.username,
            "channel_id": channel.id, "channel_name": channel.name,
            "team_id": team_id, "team_domain": team_domain,
            "post_id": post.id, "trigger_id": trigger_id,
            "type": action.kind, "data_source": "",
        });
        if let Some(letter) = letter.as_object_mut() {
            let mut context = action.context.clone();
            let selected = text(&asked, "selected_option");
            let chosen = context.as_mut().and_then(Value::as_object_mut);
            if let (true, Some(context)) = (action.kind == "select", chosen) {
                context.insert("selected_option".to_owned(), json!(selected));
            }
            letter.extend(context.map(|context| ("context".to_owned(), context)));
        }
        (action, letter, channel.id.clone())
    };
    let replied = outgoing::call(&shared, &action.url, Letter::Json(letter), FAILED).await?;
    let reply: Map<String, Value> = serde_json::from_slice(&replied.body)
        .map_err(|_| AppError::bad(FAILED, "Action integration error: not JSON."))?;
    apply(&shared, &post_id, &reply)?;
    let whispered = text(&reply, "ephemeral_text");
    if !whispered.is_empty() {
        let said = if says(&reply, "skip_slack_parsing") {
            whispered.to_owned()
        } else {
            slack_links(whispered)
        };
        posts::whisper_text(&shared, &session.user_id, &channel_id, &said);
    }
    ok(json!({ "status": "OK", "trigger_id": trigger_id }))
}

/// Changes the post as the integration wants it: without `props` the buttons stay.
fn apply(shared: &Shared, post_id: &str, reply: &Map<String, Value>) -> Result<(), AppError> {
    let Some(update) = reply.get("update").and_then(Value::as_object) else {
        return Ok(());
    };
    let mut world = shared.world();
    let old = world.post(post_id)?.props.clone();
    let props = update.get("props").and_then(Value::as_object).cloned();
    let props = props.map(|mut props| {
        for key in KEPT {
            props.remove(key);
            if let Some(value) = old.get(key) {
                props.insert(key.to_owned(), value.clone());
            }
        }
        props
    });
    let message = text(update, "message").to_owned();
    posts::rewrite(shared, &mut world, post_id, Some(message), props)?;
    Ok(())
}

/// What the server makes of `<address|name>` unless it is told not to.
fn slack_links(text: &str) -> String {
    let mut written = String::new();
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once('<') {
        let Some((inside, behind)) = tail.split_once('>') else {
            break;
        };
        written.push_str(head);
        match inside.split_once('|') {
            Some((address, name)) => written.extend(["[", name, "](", address, ")"]),
            None => written.push_str(inside),
        }
        rest = behind;
    }
    written.push_str(rest);
    written
}
