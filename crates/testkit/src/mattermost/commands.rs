//! Slash commands of a team: created by its admins, run for anybody who types them.

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use serde_json::{Map, Value, json};

use super::attachments;
use super::error::{Answer, AppError, created, done, needed, object, ok, text};
use super::outgoing::{self, Letter, Replied};
use super::posts;
use super::routes::{Asked, Session};
use super::server::Shared;
use super::settings::{BUILT_IN, SiteUrl, Version};
use super::teams::text_or;
use super::world::{Command, Hook, Post, World, new_id};

const DUPLICATE: &str = "api.command.duplicate_trigger.app_error";
const FAILED: &str = "api.command.execute_command.failed.app_error";
const NO_COMMAND: &str = "store.sql_command.get.missing.app_error";
/// How often an answer may be sent later.
const LATER_ANSWERS: u32 = 5;
/// What a command may carry, and how long it may be, in characters.
const FIELDS: [(&str, usize); 8] = [
    ("method", 1),
    ("url", 1024),
    ("display_name", 64),
    ("description", 128),
    ("auto_complete_desc", 1024),
    ("auto_complete_hint", 1024),
    ("username", 64),
    ("icon_url", 1024),
];

pub(super) async fn create(State(shared): State<Shared>, session: Session, body: Bytes) -> Answer {
    let body = object(&body)?;
    let team_id = needed(&body, "team_id")?.to_owned();
    let (trigger, fields) = read(shared.settings().version, &body)?;
    let mut world = shared.world();
    world.team(&team_id)?;
    world.may_command(&session.user_id, &team_id)?;
    let taken = |known: &Command| known.team_id == team_id && known.trigger == trigger;
    if BUILT_IN.contains(&trigger.as_str()) || world.commands.values().any(taken) {
        return Err(AppError::bad(
            DUPLICATE,
            "This trigger word is already in use. Please choose another word.",
        ));
    }
    let at = world.moment();
    let command = Command {
        id: new_id(),
        token: new_id(),
        create_at: at,
        update_at: at,
        creator_id: session.user_id,
        team_id,
        trigger,
        fields,
    };
    let shown = command.public();
    world.commands.insert(command.id.clone(), command);
    created(shown)
}

/// One's own commands with their tokens; all of them for an administrator of the server.
pub(super) async fn list(
    State(shared): State<Shared>,
    session: Session,
    Query(asked): Asked,
) -> Answer {
    let team = asked.get("team_id").map_or("", String::as_str);
    let custom_only = asked.get("custom_only").map(String::as_str) == Some("true");
    let world = shared.world();
    if !world.in_team(&session.user_id, team) {
        return Err(AppError::forbidden());
    }
    if custom_only {
        world.may_command(&session.user_id, team)?;
    }
    let all = world.is_admin(&session.user_id);
    let here = world.commands.values().filter(|command| {
        command.team_id == team && (all || !custom_only || command.creator_id == session.user_id)
    });
    let mut shown: Vec<Value> = here.map(Command::public).collect();
    if !custom_only {
        for command in &mut shown {
            if let Some(command) = command.as_object_mut() {
                // Whoever lists them to type them does not learn their secrets.
                command.insert("token".to_owned(), json!(""));
            }
        }
        shown.extend(BUILT_IN.map(|trigger| json!({ "id": "", "trigger": trigger })));
    }
    ok(Value::from(shown))
}

pub(super) async fn by_id(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
) -> Answer {
    let world = shared.world();
    ok(own(&world, &session, &id)?.public())
}

/// The whole command anew; its token, its creator and its team stay.
pub(super) async fn update(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let body = object(&body)?;
    if needed(&body, "id")? != id {
        return Err(AppError::body("command"));
    }
    let (trigger, fields) = read(shared.settings().version, &body)?;
    let mut world = shared.world();
    let mut command = own(&world, &session, &id)?.clone();
    if needed(&body, "team_id")? != command.team_id {
        return Err(AppError::bad(
            "api.command.team_mismatch.app_error",
            "Cannot update commands across teams.",
        ));
    }
    command.trigger = trigger;
    command.fields = fields;
    command.update_at = world.moment();
    let shown = command.public();
    world.commands.insert(id, command);
    ok(shown)
}

pub(super) async fn remove(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
) -> Answer {
    let mut world = shared.world();
    own(&world, &session, &id)?;
    world.commands.remove(&id);
    done()
}

pub(super) async fn regenerate(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
) -> Answer {
    let mut world = shared.world();
    let mut command = own(&world, &session, &id)?.clone();
    command.token = new_id();
    let shown = json!({ "token": command.token });
    world.commands.insert(id, command);
    ok(shown)
}

/// Returns a command somebody may see and change.
fn own<'a>(world: &'a World, session: &Session, id: &str) -> Result<&'a Command, AppError> {
    let command = world.commands.get(id);
    let command = command.ok_or_else(|| AppError::missing(NO_COMMAND))?;
    world
        .may_command(&session.user_id, &command.team_id)
        .map_err(|_| AppError::missing(NO_COMMAND))?;
    if command.creator_id != session.user_id && !world.is_admin(&session.user_id) {
        return Err(AppError::forbidden());
    }
    Ok(command)
}

/// Reads what a command is to be.
fn read(
    version: Version,
    body: &Map<String, Value>,
) -> Result<(String, Map<String, Value>), AppError> {
    let refused = |what: &str| {
        AppError::bad(
            "model.command.is_valid.app_error",
            format!("Invalid {what}."),
        )
    };
    let trigger = needed(body, "trigger")?.to_lowercase();
    if !version.takes_trigger(&trigger) {
        return Err(refused("trigger"));
    }
    if !matches!(text(body, "method"), "P" | "G") {
        return Err(refused("method"));
    }
    let url = text(body, "url");
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(refused("url"));
    }
    let mut fields = Map::new();
    for (key, most) in FIELDS {
        let value = text(body, key);
        if value.chars().count() > most {
            return Err(refused(key));
        }
        fields.insert(key.to_owned(), json!(value));
    }
    let auto_complete = body.get("auto_complete").and_then(Value::as_bool);
    let auto_complete = json!(auto_complete.unwrap_or(false));
    fields.insert("auto_complete".to_owned(), auto_complete);
    Ok((trigger, fields))
}

/// Somebody typed a line that begins with a slash.
pub(super) async fn execute(State(shared): State<Shared>, session: Session, body: Bytes) -> Answer {
    let body = object(&body)?;
    let channel_id = needed(&body, "channel_id")?.to_owned();
    let line = needed(&body, "command")?.trim().to_owned();
    let typed = line.strip_prefix('/').filter(|typed| !typed.is_empty());
    let typed = typed.ok_or_else(|| AppError::body("command"))?;
    let (trigger, words) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let trigger = trigger.to_lowercase();
    let command = {
        let world = shared.world();
        world.may_write(&session.user_id, &channel_id)?;
        // In a conversation of people it is the team the client shows.
        let team_id = text_or(&body, "team_id", &world.channel(&channel_id)?.team_id).to_owned();
        if !team_id.is_empty() && !world.in_team(&session.user_id, &team_id) {
            return Err(AppError::forbidden());
        }
        if BUILT_IN.contains(&trigger.as_str()) {
            return ok(json!({ "response_type": "ephemeral", "text": "", "trigger_id": "" }));
        }
        let mut known = world.commands.values();
        let found = known.find(|known| known.team_id == team_id && known.trigger == trigger);
        found.cloned().ok_or_else(|| {
            AppError::new(
                StatusCode::NOT_FOUND,
                "api.command.execute_command.not_found.app_error",
                format!("Command with a trigger of '/{trigger}' not found."),
            )
        })?
    };
    let settings = shared.settings();
    if settings.site_url == SiteUrl::Unset && settings.version >= Version::V11_10 {
        return Err(AppError::bad(
            "api.command.execute_command.site_url_required.app_error",
            "SiteURL is required to use slash commands.",
        ));
    }
    let root_id = text(&body, "root_id");
    let fields = form(&shared, &session, &command, &channel_id, words, root_id)?;
    let url = text(&command.fields, "url").to_owned();
    let letter = Letter::Form(fields, command.token.clone());
    let replied = outgoing::call(&shared, &url, letter, FAILED)
        .await
        .map_err(|error| {
            // However an integration fails, the one who typed sees the server fail.
            let status = match error.status() {
                StatusCode::TOO_MANY_REQUESTS => StatusCode::TOO_MANY_REQUESTS,
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            };
            AppError::new(status, FAILED, error.message())
        })?;
    let reply = response(&replied)?;
    show(&shared, &session.user_id, &channel_id, root_id, &reply)?;
    ok(Value::Object(reply))
}

/// Writes what an integration is told of a command that was typed.
fn form(
    shared: &Shared,
    session: &Session,
    command: &Command,
    channel_id: &str,
    words: &str,
    root_id: &str,
) -> Result<Vec<(String, String)>, AppError> {
    let mut world = shared.world();
    let hook = new_id();
    world.hooks.insert(
        hook.clone(),
        Hook {
            user_id: session.user_id.clone(),
            channel_id: channel_id.to_owned(),
            uses_left: LATER_ANSWERS,
        },
    );
    let response_url = format!("{}/hooks/commands/{hook}", shared.url);
    let slashed = format!("/{}", command.trigger);
    let trigger_id = shared.trigger_id(&session.user_id);
    let fields = [
        ("token", command.token.as_str()),
        ("team_id", &command.team_id),
        ("team_domain", &world.team(&command.team_id)?.name),
        ("channel_id", channel_id),
        ("channel_name", &world.channel(channel_id)?.name),
        ("user_id", &session.user_id),
        ("user_name", &world.user(&session.user_id)?.username),
        ("command", &slashed),
        ("text", words.trim()),
        ("trigger_id", &trigger_id),
        ("response_url", &response_url),
        ("root_id", root_id),
    ];
    Ok(fields
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect())
}

/// A later answer to a command.
pub(super) async fn respond(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let reply = object(&body)?;
    let hook = {
        let mut world = shared.world();
        let hook = world.hooks.get_mut(&id).filter(|hook| hook.uses_left > 0);
        let hook =
            hook.ok_or_else(|| AppError::missing("web.command_webhook.command.app_error"))?;
        hook.uses_left -= 1;
        hook.clone()
    };
    show(&shared, &hook.user_id, &hook.channel_id, "", &reply)?;
    Ok("ok".into_response())
}

/// Reads what an integration answered to a command.
fn response(replied: &Replied) -> Result<Map<String, Value>, AppError> {
    if replied.content_type.starts_with("text/plain") {
        let said = String::from_utf8_lossy(&replied.body).into_owned();
        return Ok(Map::from_iter([("text".to_owned(), json!(said))]));
    }
    serde_json::from_slice(&replied.body).map_err(|_| {
        AppError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            FAILED,
            "The integration did not answer with JSON.",
        )
    })
}

/// Shows an answer to the channel, or to the one who typed alone.
fn show(
    shared: &Shared,
    user_id: &str,
    channel_id: &str,
    root_id: &str,
    reply: &Map<String, Value>,
) -> Result<(), AppError> {
    let message = text(reply, "text").to_owned();
    let mut props = Map::from_iter([("from_webhook".to_owned(), json!("true"))]);
    if let Some(given) = reply.get("attachments").filter(|given| given.is_array()) {
        props.insert("attachments".to_owned(), given.clone());
    }
    if message.is_empty() && !props.contains_key("attachments") {
        return Ok(());
    }
    attachments::accept(&mut props)?;
    let post = Post {
        id: new_id(),
        create_at: 0,
        update_at: 0,
        edit_at: 0,
        delete_at: 0,
        user_id: user_id.to_owned(),
        channel_id: channel_id.to_owned(),
        root_id: root_id.to_owned(),
        message,
        props,
        pending_post_id: String::new(),
        file_ids: Vec::new(),
        kind: "",
        is_pinned: false,
    };
    if text(reply, "response_type") == "in_channel" {
        let mut world = shared.world();
        posts::publish(shared, &mut world, post);
    } else {
        posts::whisper(shared, user_id, post);
    }
    Ok(())
}
