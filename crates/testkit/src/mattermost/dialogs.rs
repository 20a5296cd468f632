//! Dialogs: opened with a fresh trigger id, submitted by the person it was issued to.

use axum::body::Bytes;
use axum::extract::State;
use serde_json::{Map, Value, json};

use super::error::{Answer, AppError, done, needed, object, ok, text};
use super::outgoing::{self, Letter};
use super::routes::Session;
use super::server::{Shared, locked};
use super::settings::Version;
use super::teams::team_of;
use super::world;

const FAILED: &str = "app.submit_interactive_dialog.json_error";
const TITLE_CHARS_MAX: usize = 24;
const DISPLAY_NAME_CHARS_MAX: usize = 24;
const NAME_CHARS_MAX: usize = 300;
const HELP_CHARS_MAX: usize = 150;
const TEXT_CHARS_MAX: u64 = 150;
const TEXTAREA_CHARS_MAX: u64 = 3000;
const KINDS: [&str; 5] = ["text", "textarea", "select", "bool", "radio"];
const SUBTYPES: [&str; 7] = ["", "text", "email", "number", "tel", "url", "password"];

/// No session is needed: the trigger id says whose screen it is.
pub(super) async fn open(State(shared): State<Shared>, body: Bytes) -> Answer {
    let body = object(&body)?;
    let trigger_id = needed(&body, "trigger_id")?;
    needed(&body, "url")?;
    let dialog = body.get("dialog").and_then(Value::as_object);
    let dialog = dialog.ok_or_else(|| AppError::body("dialog"))?;
    let trigger = shared.signer.read(trigger_id).ok_or_else(|| {
        AppError::bad(
            "interactive_message.decode_trigger_id.verify_signature_failed",
            "Signature verification failed of trigger ID for interactive dialog.",
        )
    })?;
    let patience = shared.settings().outgoing_timeout.as_millis();
    let age = world::now() - trigger.at;
    if u128::try_from(age).unwrap_or(0) > patience {
        return Err(AppError::bad(
            "interactive_message.decode_trigger_id.expired",
            "Trigger ID for interactive dialog is expired.",
        ));
    }
    valid(dialog)?;
    shared.world().user(&trigger.user_id)?;
    let data = json!({ "dialog": Value::Object(body.clone()).to_string() });
    let broadcast = json!({ "user_id": trigger.user_id });
    locked(&shared.sockets).tell(&[trigger.user_id], "open_dialog", &data, &broadcast);
    done()
}

/// The server passes on what the client says, but for the user, who is the one it knows.
pub(super) async fn submit(State(shared): State<Shared>, session: Session, body: Bytes) -> Answer {
    let body = object(&body)?;
    let url = needed(&body, "url")?.to_owned();
    let channel_id = needed(&body, "channel_id")?.to_owned();
    let team_id = text(&body, "team_id").to_owned();
    {
        let world = shared.world();
        world.may_read(&session.user_id, &channel_id)?;
        // Without a team nobody is in it, also in a conversation of two.
        if !world.in_team(&session.user_id, &team_id) {
            return Err(AppError::forbidden());
        }
    }
    let letter = json!({
        "type": "dialog_submission",
        "callback_id": text(&body, "callback_id"),
        "state": text(&body, "state"),
        "user_id": session.user_id,
        "channel_id": channel_id,
        "team_id": team_id,
        "submission": body.get("submission").cloned().unwrap_or(Value::Null),
        "cancelled": body.get("cancelled").cloned().unwrap_or(Value::Bool(false)),
    });
    let replied = outgoing::call(&shared, &url, Letter::Json(letter), FAILED).await?;
    if replied.body.is_empty() {
        return ok(json!({}));
    }
    let reply: Map<String, Value> = serde_json::from_slice(&replied.body)
        .map_err(|_| AppError::bad(FAILED, "Encountered an error decoding JSON response body."))?;
    let known = ["error", "errors"].map(|key| (key, reply.get(key)));
    let known = known
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?.clone())));
    ok(Value::Object(known.collect()))
}

/// A button inside a dialog, on the newest servers. Where it leads and what it carries comes from the
/// client; only who it is and when are the server's word.
pub(super) async fn execute(State(shared): State<Shared>, session: Session, body: Bytes) -> Answer {
    if shared.settings().version < Version::V11_10 {
        return Err(AppError::missing("api.context.404.app_error"));
    }
    let body = object(&body)?;
    let url = needed(&body, "url")?.to_owned();
    let channel_id = needed(&body, "channel_id")?.to_owned();
    let letter = {
        let world = shared.world();
        world.may_read(&session.user_id, &channel_id)?;
        let channel = world.channel(&channel_id)?;
        let (team_id, team_domain) = team_of(&world, channel);
        json!({
            "user_id": session.user_id,
            "user_name": world.user(&session.user_id)?.username,
            "channel_id": channel.id, "channel_name": channel.name,
            "team_id": team_id, "team_domain": team_domain,
            "post_id": "", "trigger_id": shared.trigger_id(&session.user_id),
            "type": "dialog_action", "data_source": "",
            "context": body.get("context").cloned().unwrap_or(Value::Null),
        })
    };
    outgoing::call(&shared, &url, Letter::Json(letter), FAILED).await?;
    done()
}

/// Refuses a dialog the server would not show.
fn valid(dialog: &Map<String, Value>) -> Result<(), AppError> {
    let refused = |what: &str| {
        AppError::bad(
            "app.open_interactive_dialog.invalid",
            format!("The dialog's {what}."),
        )
    };
    let chars = |object: &Map<String, Value>, key: &str| text(object, key).chars().count();
    let title = chars(dialog, "title");
    if title == 0 || title > TITLE_CHARS_MAX {
        return Err(refused("title has 1 to 24 characters"));
    }
    let elements = dialog.get("elements").and_then(Value::as_array);
    let mut names = Vec::new();
    for element in elements.into_iter().flatten() {
        let element = element.as_object().ok_or_else(|| refused("elements"))?;
        let length = chars(element, "display_name");
        if length == 0 || length > DISPLAY_NAME_CHARS_MAX {
            return Err(refused("elements have names of 1 to 24 characters"));
        }
        let name = text(element, "name");
        if name.is_empty() || chars(element, "name") > NAME_CHARS_MAX || names.contains(&name) {
            return Err(refused(
                "elements have different names of 1 to 300 characters",
            ));
        }
        names.push(name);
        if chars(element, "help_text") > HELP_CHARS_MAX {
            return Err(refused("help has at most 150 characters"));
        }
        let kind = text(element, "type");
        if !KINDS.contains(&kind) || !SUBTYPES.contains(&text(element, "subtype")) {
            return Err(refused("elements have types the server knows"));
        }
        let most = match kind {
            "textarea" => TEXTAREA_CHARS_MAX,
            _ => TEXT_CHARS_MAX,
        };
        let number = |key: &str| element.get(key).and_then(Value::as_u64).unwrap_or(0);
        let (low, high) = (number("min_length"), number("max_length"));
        if low > most || high > most || (high > 0 && low > high) {
            return Err(refused("texts have at most 150 characters, areas 3000"));
        }
    }
    Ok(())
}
