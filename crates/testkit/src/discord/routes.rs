//! The HTTP API that a bot uses with its own token.

use std::collections::HashMap;
use std::time::Instant;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::gateway::tell;
use super::message::{self, Message};
use super::schema;
use super::server::{Shared, gateway_url, hex, malformed, refused};
use super::world::{APPLICATION, BOT, World};
use ring::signature::KeyPair as _;

/// Bits of permissions.
const VIEW: u32 = 10;
const SEND: u32 = 11;
const EMBED: u32 = 14;
const ATTACH: u32 = 15;
const HISTORY: u32 = 16;

pub(super) async fn me(State(shared): State<Shared>) -> Response {
    Json(shared.world().account(BOT)).into_response()
}

pub(super) async fn user(State(shared): State<Shared>, Path(user): Path<String>) -> Response {
    let world = shared.world();
    if !world.accounts.contains_key(&user) {
        return refused(StatusCode::NOT_FOUND, 10_013, "Unknown User");
    }
    Json(world.account(&user)).into_response()
}

pub(super) async fn application(State(shared): State<Shared>) -> Response {
    let endpoint = shared.world().endpoint.clone();
    Json(json!({
        "id": APPLICATION, "name": "Countersign", "icon": null, "description": "", "summary": "",
        "bot_public": false, "bot_require_code_grant": false, "flags": 0,
        "verify_key": hex(shared.key.public_key().as_ref()), "interactions_endpoint_url": endpoint,
        "owner": shared.world().account(BOT), "team": null, "bot": shared.world().account(BOT),
    }))
    .into_response()
}

pub(super) async fn guilds(State(shared): State<Shared>) -> Response {
    let world = shared.world();
    let guilds = world.guilds.keys().filter_map(|id| world.guild(id));
    Json(guilds.collect::<Vec<Value>>()).into_response()
}

pub(super) async fn guild(State(shared): State<Shared>, Path(guild): Path<String>) -> Response {
    match shared.world().guild(&guild) {
        Some(guild) => Json(guild).into_response(),
        None => refused(StatusCode::NOT_FOUND, 10_004, "Unknown Guild"),
    }
}

pub(super) async fn guild_channels(
    State(shared): State<Shared>,
    Path(guild): Path<String>,
) -> Response {
    let world = shared.world();
    let places = world.places.values();
    let places = places.filter(|it| it.guild.as_ref() == Some(&guild));
    let places = places.filter_map(|it| world.place(&it.id));
    Json(places.collect::<Vec<Value>>()).into_response()
}

pub(super) async fn member(
    State(shared): State<Shared>,
    Path((guild, user)): Path<(String, String)>,
) -> Response {
    match shared.world().member(&guild, &user) {
        Some(member) => Json(member).into_response(),
        None => refused(StatusCode::NOT_FOUND, 10_007, "Unknown Member"),
    }
}

pub(super) async fn place(State(shared): State<Shared>, Path(place): Path<String>) -> Response {
    let world = shared.world();
    if let Err(refused) = may(&world, &place, VIEW) {
        return refused;
    }
    Json(world.place(&place)).into_response()
}

pub(super) async fn direct(State(shared): State<Shared>, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    if let Err(why) = schema::check("POST /users/@me/channels", &body) {
        return malformed(&why);
    }
    let mut world = shared.world();
    let user = body.get("recipient_id").and_then(Value::as_str);
    let user = user.unwrap_or_default().to_owned();
    if !world.accounts.contains_key(&user) {
        return refused(StatusCode::BAD_REQUEST, 50_033, "Invalid Recipient(s)");
    }
    let place = world.direct(&user);
    Json(world.place(&place)).into_response()
}

pub(super) async fn commands(State(shared): State<Shared>) -> Response {
    Json(shared.world().commands.clone()).into_response()
}

pub(super) async fn set_commands(
    State(shared): State<Shared>,
    Path(application): Path<String>,
    body: Bytes,
) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    if application != APPLICATION {
        return refused(StatusCode::NOT_FOUND, 10_002, "Unknown Application");
    }
    let operation = "PUT /applications/{application_id}/commands";
    if let Err(why) = schema::check(operation, &body).and_then(|()| check_commands(&body)) {
        return malformed(&why);
    }
    let mut world = shared.world();
    let mut commands = Vec::new();
    for command in body.as_array().into_iter().flatten() {
        let mut command = command.clone();
        let id = world.id();
        if let Some(map) = command.as_object_mut() {
            map.insert("id".to_owned(), json!(id));
            map.insert("application_id".to_owned(), json!(APPLICATION));
            map.insert("version".to_owned(), json!(id));
            map.entry("default_member_permissions")
                .or_insert(Value::Null);
            map.entry("nsfw").or_insert(json!(false));
            // What says nothing is left out.
            if map.get("options").is_some_and(|it| *it == json!([])) {
                map.remove("options");
            }
            for option in map
                .get_mut("options")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                if option["required"] == false
                    && let Some(option) = option.as_object_mut()
                {
                    option.remove("required");
                }
            }
        }
        commands.push(command);
    }
    world.commands.clone_from(&commands);
    Json(commands).into_response()
}

fn check_commands(body: &Value) -> Result<(), String> {
    let mut names = Vec::new();
    for command in body.as_array().into_iter().flatten() {
        let name = command["name"].as_str().unwrap_or_default();
        let fits = |it: char| it.is_lowercase() || it.is_numeric() || "_-".contains(it);
        if !name.chars().all(fits) || names.contains(&name) {
            return Err(format!("{name}: Command name is invalid"));
        }
        if command["description"]
            .as_str()
            .unwrap_or_default()
            .is_empty()
        {
            return Err(format!("{name}: description is required"));
        }
        names.push(name);
    }
    if names.len() > 100 {
        return Err("Maximum number of application commands reached (100)".to_owned());
    }
    Ok(())
}

pub(super) async fn gateway_bot(State(shared): State<Shared>) -> Response {
    let left = shared.settings().starts_left;
    Json(json!({
        "url": gateway_url(&shared.url), "shards": 1,
        "session_start_limit": {
            "total": 1000, "remaining": left, "reset_after": 86_400_000, "max_concurrency": 1,
        },
    }))
    .into_response()
}

pub(super) async fn typing(State(shared): State<Shared>, Path(place): Path<String>) -> Response {
    match may(&shared.world(), &place, SEND) {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(refused) => refused,
    }
}

pub(super) async fn messages(
    State(shared): State<Shared>,
    Path(place): Path<String>,
    Query(asked): Query<HashMap<String, String>>,
) -> Response {
    let world = shared.world();
    if let Err(refused) = may(&world, &place, VIEW) {
        return refused;
    }
    let limit = asked.get("limit").map_or(Ok(50), |it| it.parse::<usize>());
    let Some(limit) = limit.ok().filter(|it| (1..=100).contains(it)) else {
        return malformed("limit: must be between 1 and 100");
    };
    if world.bot_may(&place, HISTORY) != Some(true) {
        return Json(json!([])).into_response();
    }
    let number = |id: &str| id.parse::<u64>().unwrap_or(0);
    let after = asked.get("after").map(|it| number(it));
    let all = world.places.get(&place).map(|it| it.messages.as_slice());
    let all = all.unwrap_or_default().iter();
    let behind: Vec<&Message> = all
        .filter(|it| after.is_none_or(|after| number(&it.id) > after))
        .collect();
    let some: Vec<&Message> = match after {
        // The oldest of them, and the newest of those first.
        Some(_) => behind.into_iter().take(limit).collect(),
        None => behind.into_iter().rev().take(limit).rev().collect(),
    };
    let shown: Vec<Value> = some.into_iter().rev().map(|it| world.shown(it)).collect();
    Json(shown).into_response()
}

pub(super) async fn message(
    State(shared): State<Shared>,
    Path((place, id)): Path<(String, String)>,
) -> Response {
    let mut world = shared.world();
    if let Err(refused) = may(&world, &place, VIEW) {
        return refused;
    }
    let Some(message) = world.message(&place, &id).cloned() else {
        return unknown_message();
    };
    Json(world.shown(&message)).into_response()
}

pub(super) async fn create(
    State(shared): State<Shared>,
    Path(place): Path<String>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    let Some((body, files)) = parts(&headers, &bytes) else {
        return malformed("the body cannot be read");
    };
    let shown = match created(&shared, &place, &body, files) {
        Ok(shown) => shown,
        Err(refused) => return refused,
    };
    tell(&shared, "MESSAGE_CREATE", &shown);
    Json(shown).into_response()
}

#[expect(clippy::result_large_err, reason = "a refusal is a response")]
fn created(
    shared: &Shared,
    place: &str,
    body: &Value,
    files: Vec<(String, String)>,
) -> Result<Value, Response> {
    let operation = "POST /channels/{channel_id}/messages";
    message::check(operation, body).map_err(|why| malformed(&why))?;
    let within = shared.settings().nonce_within;
    let mut world = shared.world();
    may(&world, place, VIEW)?;
    may(&world, place, SEND)?;
    if body["embeds"].as_array().is_some_and(|it| !it.is_empty()) {
        may(&world, place, EMBED)?;
    }
    if !files.is_empty() {
        may(&world, place, ATTACH)?;
    }
    if message::is_empty(body, files.len()) {
        return Err(refused(
            StatusCode::BAD_REQUEST,
            50_006,
            "Cannot send an empty message",
        ));
    }
    let above = &body["message_reference"];
    let reply_to = above["message_id"].as_str();
    if let Some(id) = reply_to {
        let is_there = world.message(place, id).is_some();
        if !is_there && above["fail_if_not_exists"] != false {
            return Err(malformed("message_reference: Unknown message"));
        }
    }
    let nonce = body["nonce"].as_str().map(str::to_owned);
    if let (Some(nonce), true) = (&nonce, body["enforce_nonce"] == true) {
        world.nonces.retain(|(at, ..)| at.elapsed() < within);
        let known = world.nonces.iter().find(|(_, it, _)| it == nonce);
        if let Some(id) = known.map(|(.., id)| id.clone())
            && let Some(message) = world.message(place, &id).cloned()
        {
            return Ok(world.shown(&message));
        }
    }
    let mut message = Message {
        author: BOT.to_owned(),
        files,
        reply_to: reply_to.map(str::to_owned),
        pings: message::pings(body),
        nonce: nonce.clone(),
        ..Message::default()
    };
    message.take(body);
    let shown = world.post(place, message);
    let shown = shown.ok_or_else(unknown_channel)?;
    if let (Some(nonce), Some(id)) = (nonce, shown.get("id").and_then(Value::as_str)) {
        world.nonces.push((Instant::now(), nonce, id.to_owned()));
    }
    Ok(shown)
}

pub(super) async fn edit(
    State(shared): State<Shared>,
    Path((place, id)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let operation = "PATCH /channels/{channel_id}/messages/{message_id}";
    if let Err(why) = message::check(operation, &body) {
        return malformed(&why);
    }
    let mut world = shared.world();
    if let Err(refused) = may(&world, &place, VIEW) {
        return refused;
    }
    let Some(message) = world.message(&place, &id) else {
        return unknown_message();
    };
    if message.author != BOT {
        let words = "Cannot edit a message authored by another user";
        return refused(StatusCode::FORBIDDEN, 50_005, words);
    }
    message.take(&body);
    message.edits += 1;
    let message = message.clone();
    Json(world.shown(&message)).into_response()
}

/// Fails unless the bot may do something in a place.
#[expect(clippy::result_large_err, reason = "a refusal is a response")]
fn may(world: &World, place: &str, bit: u32) -> Result<(), Response> {
    let missing = |words| refused(StatusCode::FORBIDDEN, 50_013, words);
    match (world.bot_may(place, VIEW), world.bot_may(place, bit)) {
        (None, _) => Err(unknown_channel()),
        (Some(false), _) => Err(refused(StatusCode::FORBIDDEN, 50_001, "Missing Access")),
        (Some(true), Some(true)) => Ok(()),
        (Some(true), Some(false) | None) => Err(missing("Missing Permissions")),
    }
}

fn unknown_channel() -> Response {
    refused(StatusCode::NOT_FOUND, 10_003, "Unknown Channel")
}

fn unknown_message() -> Response {
    refused(StatusCode::NOT_FOUND, 10_008, "Unknown Message")
}

/// Reads a body of JSON, or of a form with JSON and files.
pub(super) fn parts(headers: &HeaderMap, bytes: &[u8]) -> Option<(Value, Vec<(String, String)>)> {
    let kind = headers.get("content-type")?.to_str().ok()?;
    let Some((_, boundary)) = kind.split_once("boundary=") else {
        return Some((serde_json::from_slice(bytes).ok()?, Vec::new()));
    };
    let text = std::str::from_utf8(bytes).ok()?;
    let boundary = format!("--{}", boundary.trim_matches('"'));
    let mut body = None;
    let mut files = Vec::new();
    for part in text.split(&boundary) {
        let Some((head, content)) = part.split_once("\r\n\r\n") else {
            continue;
        };
        let content = content.strip_suffix("\r\n").unwrap_or(content);
        let field = |name: &str| {
            let (_, rest) = head.split_once(&format!("{name}=\""))?;
            rest.split('"').next()
        };
        match (field(" name"), field("filename")) {
            (Some("payload_json"), _) => body = serde_json::from_str(content).ok(),
            (Some(_), Some(name)) => files.push((name.to_owned(), content.to_owned())),
            (Some(_) | None, _) => return None,
        }
    }
    Some((body?, files))
}

/// Somebody deletes a message.
pub(super) fn delete(shared: &Shared, place: &str, id: &str) {
    let guild = {
        let mut world = shared.world();
        let Some(place) = world.places.get_mut(place) else {
            return;
        };
        place.messages.retain(|it| it.id != id);
        place.guild.clone()
    };
    let deleted = json!({ "id": id, "channel_id": place, "guild_id": guild });
    tell(shared, "MESSAGE_DELETE", &deleted);
    shared.stir();
}
