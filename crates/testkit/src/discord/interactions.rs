//! Interactions: the first answer within three seconds, once, and what follows with the token.

use std::collections::HashMap;
use std::time::Instant;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::message::{self, EPHEMERAL, Message};
use super::routes::parts;
use super::schema;
use super::server::{Shared, malformed, refused};
use super::world::{APPLICATION, BOT, World};

/// The kinds of interactions.
pub(super) const COMMAND: u64 = 2;
pub(super) const COMPONENT: u64 = 3;
pub(super) const MODAL: u64 = 5;

/// An interaction that the application was told of.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) token: String,
    pub(super) kind: u64,
    pub(super) user: String,
    pub(super) place: String,
    /// The message it happened to.
    pub(super) message: Option<String>,
    pub(super) since: Instant,
    /// The type of the first answer.
    pub(super) answered: Option<u64>,
    /// How often an answer was refused.
    pub(super) refusals: usize,
}

/// Words that one person alone was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Who.
    pub user: String,
    /// In answer to which interaction.
    pub interaction: String,
    /// The words.
    pub text: String,
}

/// A dialog that was opened for somebody.
#[derive(Clone, Debug, PartialEq)]
pub struct Modal {
    /// For whom.
    pub user: String,
    /// In answer to which interaction.
    pub interaction: String,
    /// Where the message is whose button opened it.
    pub place: String,
    /// That message.
    pub message: Option<String>,
    /// As the application sent it.
    pub data: Value,
}

pub(super) async fn callback(
    State(shared): State<Shared>,
    Path((id, token)): Path<(String, String)>,
    Query(asked): Query<HashMap<String, String>>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    let Some((body, _)) = parts(&headers, &bytes) else {
        return malformed("the body cannot be read");
    };
    match answer(&shared, &id, &token, &body) {
        Ok(())
            if asked
                .get("with_response")
                .is_some_and(|it| it == "true" || it == "1") =>
        {
            Json(told_back(&shared, &id, &body)).into_response()
        }
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(refused) => refused,
    }
}

/// Returns what became of a first answer, for those who ask for it.
fn told_back(shared: &Shared, id: &str, body: &Value) -> Value {
    let mut world = shared.world();
    let (kind, place) = match world.asked.get(id) {
        Some(asked) => (asked.kind, asked.place.clone()),
        None => (0, String::new()),
    };
    let mut resource = json!({ "type": body["type"] });
    if body["type"] == 4 {
        let mut message = Message {
            id: world.id(),
            place,
            author: BOT.to_owned(),
            ..Message::default()
        };
        message.take(&body["data"]);
        let shown = world.shown(&message);
        if let Some(map) = resource.as_object_mut() {
            map.insert("message".to_owned(), shown);
        }
    }
    json!({
        "interaction": {
            "id": id, "type": kind, "response_message_loading": body["type"] == 5,
            "response_message_ephemeral": true,
        },
        "resource": resource,
    })
}

/// Takes the first answer to an interaction.
#[expect(clippy::result_large_err, reason = "a refusal is a response")]
pub(super) fn answer(shared: &Shared, id: &str, token: &str, body: &Value) -> Result<(), Response> {
    let within = shared.settings().first_within;
    let mut world = shared.world();
    let checked = check(&world, id, token, within, body);
    let Some(asked) = world.asked.get_mut(id) else {
        return checked.map(drop);
    };
    let asked = match checked {
        Ok(()) => {
            asked.answered = body["type"].as_u64();
            asked.clone()
        }
        Err(refused) => {
            asked.refusals += 1;
            drop(world);
            shared.stir();
            return Err(refused);
        }
    };
    let data = &body["data"];
    match body["type"].as_u64() {
        Some(4) => say(&mut world, id, &asked, data),
        Some(7) => {
            let message = asked.message.as_deref().unwrap_or_default();
            if let Some(message) = world.message(&asked.place, message) {
                message.take(data);
                message.edits += 1;
            }
        }
        Some(9) => {
            let modal = Modal {
                user: asked.user,
                interaction: id.to_owned(),
                place: asked.place,
                message: asked.message,
                data: data.clone(),
            };
            world.modals.push(modal);
        }
        Some(_) | None => {}
    }
    drop(world);
    shared.stir();
    Ok(())
}

#[expect(clippy::result_large_err, reason = "a refusal is a response")]
fn check(
    world: &World,
    id: &str,
    token: &str,
    within: std::time::Duration,
    body: &Value,
) -> Result<(), Response> {
    let unknown = || refused(StatusCode::NOT_FOUND, 10_062, "Unknown interaction");
    let asked = world.asked.get(id).ok_or_else(unknown)?;
    if asked.token != token || asked.since.elapsed() > within {
        return Err(unknown());
    }
    if asked.answered.is_some() {
        let words = "Interaction has already been acknowledged.";
        return Err(refused(StatusCode::BAD_REQUEST, 40_060, words));
    }
    let operation = "POST /interactions/{interaction_id}/{interaction_token}/callback";
    schema::check(operation, body).map_err(|why| malformed(&why))?;
    let data = &body["data"];
    message::check_parts(data).map_err(|why| malformed(&why))?;
    let fits = match body["type"].as_u64() {
        Some(4) => !message::is_empty(data, 0),
        Some(5) => asked.kind != COMPONENT || !data.is_null(),
        // A message is changed by who pressed a button on it.
        Some(6 | 7) => asked.message.is_some(),
        Some(9) => asked.kind != MODAL,
        Some(_) | None => false,
    };
    if fits {
        Ok(())
    } else {
        Err(malformed("type: it is no answer to this interaction"))
    }
}

/// Says something: to one person alone, or to all.
fn say(world: &mut World, id: &str, asked: &Asked, data: &Value) {
    let flags = data["flags"].as_u64().unwrap_or(0);
    let mut message = Message {
        author: BOT.to_owned(),
        pings: message::pings(data),
        ..Message::default()
    };
    message.take(data);
    if flags & EPHEMERAL == 0 {
        world.post(&asked.place, message);
        return;
    }
    world.told.push(Told {
        user: asked.user.clone(),
        interaction: id.to_owned(),
        text: message.readable().trim().to_owned(),
    });
}

pub(super) async fn follow_up(
    State(shared): State<Shared>,
    Path((application, token)): Path<(String, String)>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    let Some((body, _)) = parts(&headers, &bytes) else {
        return malformed("the body cannot be read");
    };
    let operation = "POST /webhooks/{webhook_id}/{webhook_token}";
    if let Err(why) = message::check(operation, &body) {
        return malformed(&why);
    }
    if message::is_empty(&body, 0) {
        let words = "Cannot send an empty message";
        return refused(StatusCode::BAD_REQUEST, 50_006, words);
    }
    let (id, asked) = match by_token(&shared, &application, &token) {
        Ok(found) => found,
        Err(refused) => return refused,
    };
    let mut world = shared.world();
    let mut body = body;
    // The first that follows takes the place of what was announced, and is seen by whom that was for.
    if asked.answered == Some(5)
        && !world.told.iter().any(|it| it.interaction == id)
        && let Some(map) = body.as_object_mut()
    {
        map.insert("flags".to_owned(), json!(EPHEMERAL));
    }
    say(&mut world, &id, &asked, &body);
    let message = Message {
        id: world.id(),
        place: asked.place,
        author: BOT.to_owned(),
        content: text_of(&body).unwrap_or_default().to_owned(),
        ..Message::default()
    };
    let shown = world.shown(&message);
    drop(world);
    shared.stir();
    Json(shown).into_response()
}

pub(super) async fn edit_original(
    State(shared): State<Shared>,
    Path((application, token)): Path<(String, String)>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    let Some((body, _)) = parts(&headers, &bytes) else {
        return malformed("the body cannot be read");
    };
    let operation = "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original";
    if let Err(why) = message::check(operation, &body) {
        return malformed(&why);
    }
    let (id, asked) = match by_token(&shared, &application, &token) {
        Ok(found) => found,
        Err(refused) => return refused,
    };
    let mut world = shared.world();
    let is_message = matches!(asked.answered, Some(6 | 7));
    let original = asked.message.as_deref().unwrap_or_default();
    let shown = match world.message(&asked.place, original) {
        Some(message) if is_message => {
            message.take(&body);
            message.edits += 1;
            let message = message.clone();
            world.shown(&message)
        }
        Some(_) | None => {
            let told = world.told.iter_mut().find(|it| it.interaction == id);
            if let (Some(told), Some(text)) = (told, text_of(&body)) {
                text.clone_into(&mut told.text);
            }
            Value::Null
        }
    };
    drop(world);
    shared.stir();
    Json(shown).into_response()
}

fn text_of(body: &Value) -> Option<&str> {
    body.get("content").and_then(Value::as_str)
}

/// Returns the interaction of a token that still counts.
#[expect(clippy::result_large_err, reason = "a refusal is a response")]
fn by_token(shared: &Shared, application: &str, token: &str) -> Result<(String, Asked), Response> {
    let within = shared.settings().token_within;
    let world = shared.world();
    let found = world.asked.iter().find(|(_, it)| it.token == token);
    let found = found.filter(|(_, it)| it.answered.is_some() && application == APPLICATION);
    let Some((id, asked)) = found else {
        return Err(refused(StatusCode::NOT_FOUND, 10_015, "Unknown Webhook"));
    };
    if asked.since.elapsed() > within {
        let words = "Invalid Webhook Token";
        return Err(refused(StatusCode::UNAUTHORIZED, 50_027, words));
    }
    Ok((id.clone(), asked.clone()))
}
