//! The Web API: each method with the checks of the real one.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use reqwest::Url;
use serde_json::{Map, Value, json};

use super::server::{APP_TOKEN, BOT_TOKEN, Refused, Shared, too_many};
use super::world::{APP, BOT, BOT_USER, File, Message, Opened, Place, TEAM, Told, World, texts};
use super::{blocks, spec};

/// Longest text of a message, in characters.
const TEXT_CHARS_MAX: usize = 40_000;
/// Methods that take JSON; the others take forms and queries alone.
const WITH_JSON: &[&str] = &[
    "chat.",
    "views.",
    "conversations.open",
    "apps.",
    "auth.",
    "api.",
];

type Args = Map<String, Value>;
/// Slack's word for what is wrong, and the details.
type Wrong = (String, String);
type Answer = Result<Value, Wrong>;

/// Answers a call of a method.
pub(super) async fn call(
    State(shared): State<Shared>,
    Path(method): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let args = arguments(&method, query.as_deref(), &headers, &body);
    let lane = match args.as_ref().map(|args| text(args, "channel")) {
        Ok(place) if method.starts_with("chat.") => format!("{method} {place}"),
        Ok(_) | Err(_) => method.clone(),
    };
    if !shared.takes(&lane) {
        return too_many();
    }
    let answered = args.and_then(|mut args| {
        let token = token(&headers, &mut args);
        checked(&shared, &method, token.as_deref(), &args)?;
        answer(&shared, &method, &args)
    });
    let (body, refused) = match answered {
        Ok(Value::Object(mut body)) => {
            body.insert("ok".to_owned(), json!(true));
            (Value::Object(body), None)
        }
        Ok(_) => (json!({ "ok": true }), None),
        Err((error, why)) => {
            let body = if error == "missing_scope" {
                let provided = shared.settings().scopes.join(",");
                json!({ "ok": false, "error": error, "needed": why, "provided": provided })
            } else {
                let details = json!({ "messages": [why] });
                json!({ "ok": false, "error": error, "response_metadata": details })
            };
            (body, Some(Refused(format!("{error}: {why}"))))
        }
    };
    let mut response = Json(body).into_response();
    if let Some(refused) = refused {
        response.extensions_mut().insert(refused);
    }
    response
}

/// Reads arguments as Slack does: a query, a form, or JSON where it takes that.
fn arguments(
    method: &str,
    query: Option<&str>,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Args, Wrong> {
    let wrong = |why: &str| ("invalid_arguments".to_owned(), why.to_owned());
    let mut args = form(query.unwrap_or_default());
    if body.is_empty() {
        return Ok(args);
    }
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|it| it.to_str().ok());
    let kind = kind.unwrap_or("").split(';').next().unwrap_or("").trim();
    let body = std::str::from_utf8(body).map_err(|_| wrong("it is no text"))?;
    match kind {
        "application/x-www-form-urlencoded" => args.extend(form(body)),
        "application/json" => {
            if !WITH_JSON.iter().any(|it| method.starts_with(it)) {
                return Err(wrong("this method takes no JSON"));
            }
            let Ok(Value::Object(map)) = serde_json::from_str(body) else {
                return Err(("invalid_json".to_owned(), String::new()));
            };
            args.extend(map);
        }
        other => return Err(("invalid_post_type".to_owned(), other.to_owned())),
    }
    Ok(args)
}

fn form(text: &str) -> Args {
    let Ok(mut url) = Url::parse("http://form/") else {
        return Args::new();
    };
    url.set_query(Some(text));
    let pairs = url.query_pairs();
    pairs
        .map(|(name, value)| (name.into_owned(), Value::String(value.into_owned())))
        .collect()
}

/// Takes the token from the header, or from the arguments where an SDK puts it.
fn token(headers: &HeaderMap, args: &mut Args) -> Option<String> {
    let said = args.remove("token");
    let bearer = headers.get(header::AUTHORIZATION);
    let bearer = bearer.and_then(|it| it.to_str().ok()?.strip_prefix("Bearer "));
    bearer
        .map(str::to_owned)
        .or_else(|| said?.as_str().map(str::to_owned))
}

/// Checks token, arguments and scope, in this order.
fn checked(shared: &Shared, method: &str, token: Option<&str>, args: &Args) -> Result<(), Wrong> {
    let wrong = |error: &str| (error.to_owned(), String::new());
    let settings = shared.settings();
    let wants_app = method == "apps.connections.open";
    match (token, wants_app) {
        (None, _) => return Err(wrong("not_authed")),
        (Some(BOT_TOKEN), false) if settings.is_revoked => return Err(wrong("token_revoked")),
        (Some(APP_TOKEN), true) | (Some(BOT_TOKEN), false) => {}
        (Some(APP_TOKEN | BOT_TOKEN), _) => return Err(wrong("not_allowed_token_type")),
        (Some(_), _) => return Err(wrong("invalid_auth")),
    }
    let known = spec::check(method, args)?;
    if wants_app || known.scope.is_empty() {
        return Ok(());
    }
    // `*:history` is met by the scope for this kind of conversation.
    let kind = match text(args, "channel").chars().next() {
        Some('D') => "im",
        Some('G') => "groups",
        Some(_) | None => "channels",
    };
    let needed = known.scope.replace('*', kind);
    if settings.scopes.contains(&needed) {
        return Ok(());
    }
    Err(("missing_scope".to_owned(), needed))
}

fn answer(shared: &Shared, method: &str, args: &Args) -> Answer {
    let mut world = shared.world();
    let world = &mut *world;
    match method {
        "api.test" => Ok(json!({ "args": args })),
        "auth.test" => Ok(json!({
            "url": "https://strict.slack.example/", "team": "Strict", "user": "countersign",
            "team_id": TEAM, "user_id": BOT_USER, "bot_id": BOT, "is_enterprise_install": false,
        })),
        "users.info" => {
            let account = world.accounts.get(text(args, "user"));
            let account = account.ok_or_else(|| wrong("user_not_found"))?;
            Ok(json!({ "user": account.public() }))
        }
        "bots.info" => {
            if text(args, "bot") != BOT {
                return Err(wrong("bot_not_found"));
            }
            Ok(
                json!({ "bot": { "id": BOT, "app_id": APP, "user_id": BOT_USER, "name": "countersign" } }),
            )
        }
        "users.conversations" => Ok(users_conversations(world, args)),
        "conversations.open" => {
            let users = text(args, "users");
            if !world.accounts.contains_key(users) {
                return Err(wrong("user_not_found"));
            }
            let id = world.direct(users);
            Ok(json!({ "channel": { "id": id, "is_im": true } }))
        }
        "conversations.info" => {
            let place = world.places.get(text(args, "channel"));
            let place = place.ok_or_else(|| wrong("channel_not_found"))?;
            Ok(json!({ "channel": place.public(BOT_USER) }))
        }
        "conversations.history" => history(world, args),
        "conversations.replies" => replies(world, args),
        "chat.postMessage" => post_message(world, args),
        "chat.update" => update(world, args),
        "chat.postEphemeral" => post_ephemeral(world, args),
        "views.open" => open_view(shared, world, args),
        "files.getUploadURLExternal" => {
            let length = text(args, "length").parse();
            let length = length.map_err(|_| wrong("invalid_arguments"))?;
            let id = world.id('F');
            let url = format!("{}/upload/{id}", shared.url);
            let file = File {
                id: id.clone(),
                ..File::default()
            };
            world.files.insert(id.clone(), (file, length));
            Ok(json!({ "upload_url": url, "file_id": id }))
        }
        "files.completeUploadExternal" => complete_upload(world, args),
        "apps.connections.open" => {
            if !shared.settings().has_sockets {
                return Err(wrong("socket_mode_disabled"));
            }
            let ticket = world.id('K');
            let ticket = super::server::locked(&shared.sockets).ticket(ticket);
            let url = shared.url.replace("http://", "ws://");
            let app = shared.settings().other_app;
            let app = app.as_deref().unwrap_or(APP);
            Ok(json!({ "url": format!("{url}/link?ticket={ticket}&app_id={app}") }))
        }
        other => Err(("unknown_method".to_owned(), other.to_owned())),
    }
}

fn users_conversations(world: &World, args: &Args) -> Value {
    let user = match text(args, "user") {
        "" => BOT_USER,
        user => user,
    };
    let types = match text(args, "types") {
        "" => "public_channel",
        types => types,
    };
    let is_wanted = |place: &&Place| {
        let is_kind = types.contains(if place.is_im { "im" } else { "public_channel" });
        is_kind && place.members.iter().any(|it| it == user)
    };
    let places = world.places.values().filter(is_wanted);
    let places: Vec<Value> = places.map(|place| place.public(user)).collect();
    json!({ "channels": places, "response_metadata": { "next_cursor": "" } })
}

/// Returns a conversation that our bot is in.
fn joined<'a>(world: &'a World, args: &Args) -> Result<&'a Place, Wrong> {
    let place = world.places.get(text(args, "channel"));
    let place = place.ok_or_else(|| wrong("channel_not_found"))?;
    if !place.members.iter().any(|it| it == BOT_USER) {
        return Err(wrong("not_in_channel"));
    }
    Ok(place)
}

fn history(world: &World, args: &Args) -> Answer {
    let place = joined(world, args)?;
    // Replies stand in their threads alone.
    let open = place
        .messages
        .iter()
        .filter(|it| it.thread_ts.as_ref().is_none_or(|root| *root == it.ts));
    let mut all: Vec<&Message> = open.collect();
    all.reverse();
    page(&all, args)
}

fn replies(world: &World, args: &Args) -> Answer {
    let place = joined(world, args)?;
    let ts = text(args, "ts");
    let found = place.message(ts).ok_or_else(|| wrong("thread_not_found"))?;
    let is_reply = found.thread_ts.as_ref().is_some_and(|root| *root != ts);
    let thread = place
        .messages
        .iter()
        .filter(|it| it.ts == ts || (!is_reply && it.thread_ts.as_deref() == Some(ts)));
    let all: Vec<&Message> = thread.collect();
    page(&all, args)
}

/// Returns a page of messages, the first first.
fn page(all: &[&Message], args: &Args) -> Answer {
    let limit = match text(args, "limit") {
        "" => 100,
        limit => limit.parse().map_err(|_| wrong("invalid_limit"))?,
    };
    if !(1..=999).contains(&limit) {
        return Err(wrong("invalid_limit"));
    }
    let start: usize = match text(args, "cursor") {
        "" => 0,
        cursor => cursor.parse().map_err(|_| wrong("invalid_cursor"))?,
    };
    let oldest = text(args, "oldest");
    let is_new = |message: &&&Message| oldest.is_empty() || micros(&message.ts) > micros(oldest);
    let rest: Vec<&&Message> = all.iter().filter(is_new).skip(start).collect();
    let has_more = rest.len() > limit;
    let with_metadata = matches!(text(args, "include_all_metadata"), "true" | "1");
    let shown = rest.iter().take(limit).map(|message| {
        let mut shown = message.public();
        if let (false, Some(map)) = (with_metadata, shown.as_object_mut()) {
            map.remove("metadata");
        }
        shown
    });
    let next = if has_more {
        (start + limit).to_string()
    } else {
        String::new()
    };
    Ok(json!({
        "messages": shown.collect::<Vec<_>>(), "has_more": has_more,
        "response_metadata": { "next_cursor": next },
    }))
}

fn micros(ts: &str) -> u128 {
    let (seconds, rest) = ts.split_once('.').unwrap_or((ts, "0"));
    let seconds: u128 = seconds.parse().unwrap_or(0);
    seconds * 1_000_000 + rest.parse::<u128>().unwrap_or(0)
}

/// Reads an argument that is JSON, as itself or as the text of a form.
fn json_at(args: &Args, name: &str) -> Result<Option<Value>, Wrong> {
    match args.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            let read = serde_json::from_str(text);
            read.map(Some)
                .map_err(|_| (format!("invalid_{name}_format"), String::new()))
        }
        Some(other) => Ok(Some(other.clone())),
    }
}

/// Checks what a message says.
fn said(args: &Args) -> Result<(String, Option<Value>, Option<Value>), Wrong> {
    let words = text(args, "text");
    if words.chars().count() > TEXT_CHARS_MAX {
        return Err(wrong("msg_too_long"));
    }
    let blocks = json_at(args, "blocks")?;
    match &blocks {
        Some(blocks) => blocks::message(blocks)?,
        None if words.is_empty() => return Err(wrong("no_text")),
        None => {}
    }
    let metadata = json_at(args, "metadata")?;
    let is_metadata = |it: &Value| it["event_type"].is_string() && it["event_payload"].is_object();
    if metadata.as_ref().is_some_and(|it| !is_metadata(it)) {
        return Err(wrong("invalid_metadata_format"));
    }
    Ok((words.to_owned(), blocks, metadata))
}

fn post_message(world: &mut World, args: &Args) -> Answer {
    let place = joined(world, args)?;
    if place.is_archived {
        return Err(wrong("is_archived"));
    }
    let root = args.get("thread_ts").and_then(Value::as_str);
    if root.is_some_and(|root| place.message(root).is_none()) {
        return Err(wrong("thread_not_found"));
    }
    let (words, blocks, metadata) = said(args)?;
    let id = place.id.clone();
    let message = Message {
        user: BOT_USER.to_owned(),
        text: words,
        blocks,
        metadata,
        thread_ts: root.map(str::to_owned),
        ..Message::default()
    };
    let posted = world.post(&id, message);
    let posted = posted.ok_or_else(|| wrong("channel_not_found"))?;
    Ok(json!({ "channel": id, "ts": posted.ts, "message": posted.public() }))
}

fn update(world: &mut World, args: &Args) -> Answer {
    joined(world, args)?;
    let (words, blocks, metadata) = said(args)?;
    let (id, ts) = (text(args, "channel"), text(args, "ts"));
    let place = world.places.get_mut(id);
    let place = place.ok_or_else(|| wrong("channel_not_found"))?;
    let message = place.messages.iter_mut().find(|it| it.ts == ts);
    let message = message.ok_or_else(|| wrong("message_not_found"))?;
    if message.user != BOT_USER {
        return Err(wrong("cant_update_message"));
    }
    message.text = words;
    message.blocks = blocks;
    message.edits += 1;
    if metadata.is_some() {
        message.metadata = metadata;
    }
    Ok(json!({ "channel": id, "ts": ts, "text": message.text }))
}

fn post_ephemeral(world: &mut World, args: &Args) -> Answer {
    let place = joined(world, args)?;
    let user = text(args, "user");
    if !place.members.iter().any(|it| it == user) {
        return Err(wrong("user_not_in_channel"));
    }
    let place = place.id.clone();
    let (words, blocks, _) = said(args)?;
    world.told.push(Told {
        user: user.to_owned(),
        place,
        text: blocks.as_ref().map_or(words, texts),
        response: None,
    });
    Ok(json!({ "message_ts": world.ts() }))
}

fn open_view(shared: &Shared, world: &mut World, args: &Args) -> Answer {
    let view = json_at(args, "view")?.unwrap_or_default();
    blocks::view(&view).map_err(|why| ("invalid_arguments".to_owned(), why))?;
    let id = text(args, "trigger_id").to_owned();
    let within = shared.settings().trigger_within;
    let trigger = world.triggers.get_mut(&id);
    let trigger = trigger.ok_or_else(|| wrong("invalid_trigger_id"))?;
    if trigger.at.elapsed() > within {
        return Err(wrong("expired_trigger_id"));
    }
    if std::mem::replace(&mut trigger.is_used, true) {
        return Err(wrong("exchanged_trigger_id"));
    }
    let user = trigger.user.clone();
    let opened = Opened {
        id: world.id('V'),
        user,
        trigger: id,
        view: view.clone(),
    };
    let shown = opened.public();
    world.opened.push(opened);
    Ok(json!({ "view": shown }))
}

fn complete_upload(world: &mut World, args: &Args) -> Answer {
    let files = json_at(args, "files")?.unwrap_or_default();
    let named = files.as_array().ok_or_else(|| wrong("invalid_arguments"))?;
    let mut sent = Vec::new();
    for file in named {
        let id = file["id"].as_str().unwrap_or("");
        let (mut known, length) = world
            .files
            .remove(id)
            .ok_or_else(|| wrong("file_not_found"))?;
        if known.content.len() != length {
            return Err(wrong("invalid_arguments"));
        }
        file["title"]
            .as_str()
            .unwrap_or(id)
            .clone_into(&mut known.title);
        sent.push(known);
    }
    let shown: Vec<Value> = sent
        .iter()
        .map(|it| json!({ "id": it.id, "title": it.title }))
        .collect();
    let place = text(args, "channel_id").to_owned();
    if !place.is_empty() {
        let message = Message {
            user: BOT_USER.to_owned(),
            text: text(args, "initial_comment").to_owned(),
            thread_ts: Some(text(args, "thread_ts").to_owned()).filter(|it| !it.is_empty()),
            files: sent,
            ..Message::default()
        };
        let posted = world.post(&place, message);
        posted.ok_or_else(|| wrong("channel_not_found"))?;
    }
    Ok(json!({ "files": shown }))
}

/// Takes a response to a press or a command.
pub(super) async fn respond(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response {
    let read: Option<Value> = serde_json::from_slice(&body).ok();
    let Some(Value::Object(args)) = read else {
        return (StatusCode::BAD_REQUEST, "invalid_payload").into_response();
    };
    let known = [
        "response_type",
        "replace_original",
        "delete_original",
        "text",
        "blocks",
        "thread_ts",
    ];
    let is_known = args.keys().all(|key| known.contains(&key.as_str()));
    let checked = said(&args).map_err(|(error, _)| error);
    let (words, blocks, _) = match checked {
        Ok(said) if is_known => said,
        Ok(_) => return (StatusCode::BAD_REQUEST, "invalid_payload").into_response(),
        Err(error) => return (StatusCode::BAD_REQUEST, error).into_response(),
    };
    let mut world = shared.world();
    let Some(response) = world.respond(&id) else {
        return (StatusCode::NOT_FOUND, "used_url").into_response();
    };
    if text(&args, "response_type") != "ephemeral" {
        return (StatusCode::BAD_REQUEST, "this server takes whispers alone").into_response();
    }
    world.told.push(Told {
        user: response.user,
        place: response.place,
        text: blocks.as_ref().map_or(words, texts),
        response: Some(id),
    });
    (StatusCode::OK, "ok").into_response()
}

/// Takes the content of a file.
pub(super) async fn upload(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response {
    let mut world = shared.world();
    let Some((file, length)) = world.files.get_mut(&id) else {
        return (StatusCode::NOT_FOUND, "file_not_found").into_response();
    };
    if body.len() != *length {
        return (StatusCode::BAD_REQUEST, "another length was announced").into_response();
    }
    file.content = String::from_utf8_lossy(&body).into_owned();
    (StatusCode::OK, "OK").into_response()
}

impl Opened {
    /// Returns it as an app sees it.
    pub(super) fn public(&self) -> Value {
        let mut view = self.view.clone();
        if let Some(map) = view.as_object_mut() {
            map.insert("id".to_owned(), json!(self.id));
            map.insert("team_id".to_owned(), json!(TEAM));
            map.insert("app_id".to_owned(), json!(APP));
            map.insert("bot_id".to_owned(), json!(BOT));
            map.entry("callback_id").or_insert_with(|| json!(""));
            map.entry("private_metadata").or_insert_with(|| json!(""));
            map.insert("state".to_owned(), json!({ "values": {} }));
            map.insert("hash".to_owned(), json!("1"));
        }
        view
    }
}

fn wrong(error: &str) -> Wrong {
    (error.to_owned(), String::new())
}

fn text<'a>(args: &'a Args, name: &str) -> &'a str {
    args.get(name).and_then(Value::as_str).unwrap_or("")
}
