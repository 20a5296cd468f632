//! Accounts: people, bots and their tokens.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use serde_json::{Value, json};

use super::error::{Answer, AppError, created, done, needed, object, ok, says, text};
use super::routes::Session;
use super::server::Shared;
use super::settings::BotAccounts;
use super::world::{User, World, new_id, no_timezone};

/// Shortest password, in bytes.
const PASSWORD_BYTES_MIN: usize = 8;

/// Anybody may open an account on an open server.
pub(super) async fn create(State(shared): State<Shared>, body: Bytes) -> Answer {
    let body = object(&body)?;
    let username = needed(&body, "username")?.to_owned();
    let password = needed(&body, "password")?.to_owned();
    let email = needed(&body, "email")?.to_owned();
    let mut world = shared.world();
    takes_name(&world, &username)?;
    if password.len() < PASSWORD_BYTES_MIN {
        return Err(AppError::bad(
            "model.user.is_valid.pwd_min_length.app_error",
            "Your password is too short.",
        ));
    }
    let user = User {
        id: new_id(),
        username,
        email,
        password,
        roles: "system_user".to_owned(),
        bot_of: None,
        create_at: world.moment(),
        delete_at: 0,
        timezone: no_timezone(),
    };
    let shown = user.public();
    world.users.insert(user.id.clone(), user);
    created(shown)
}

pub(super) async fn login(State(shared): State<Shared>, body: Bytes) -> Answer {
    let body = object(&body)?;
    let (name, password) = (text(&body, "login_id"), text(&body, "password"));
    let mut world = shared.world();
    let user = world
        .users
        .values()
        .find(|user| user.username == name || user.email == name)
        .filter(|user| user.password == password && user.bot_of.is_none() && user.delete_at == 0)
        .cloned();
    let Some(user) = user else {
        return Err(AppError::new(
            StatusCode::UNAUTHORIZED,
            "api.user.login.invalid_credentials_email_username",
            "Enter a valid email or username and/or password.",
        ));
    };
    let token = new_id();
    world.sessions.insert(token.clone(), user.id.clone());
    Ok(([("token", token)], Json(user.public())).into_response())
}

pub(super) async fn by_id(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
) -> Answer {
    ok(shared.world().user(session.meant(&id))?.public())
}

pub(super) async fn by_name(
    State(shared): State<Shared>,
    _session: Session,
    Path(name): Path<String>,
) -> Answer {
    let world = shared.world();
    let user = world.named(&name);
    let missing = || AppError::missing("app.user.missing_account.const");
    ok(user.ok_or_else(missing)?.public())
}

pub(super) async fn by_ids(State(shared): State<Shared>, _session: Session, body: Bytes) -> Answer {
    let ids: Vec<String> = serde_json::from_slice(&body).map_err(|_| AppError::body("ids"))?;
    let world = shared.world();
    let found = ids.iter().filter_map(|id| world.users.get(id));
    ok(Value::from(found.map(User::public).collect::<Vec<_>>()))
}

/// Closes or opens an account. A closed one has no sessions.
pub(super) async fn set_active(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let body = object(&body)?;
    let mut world = shared.world();
    if !world.is_admin(&session.user_id) {
        return Err(AppError::forbidden());
    }
    let active = says(&body, "active");
    let at = world.moment();
    let user = world.users.get_mut(&id);
    let user = user.ok_or_else(|| AppError::missing("app.user.missing_account.const"))?;
    user.delete_at = if active { 0 } else { at };
    if !active {
        world.sessions.retain(|_, user_id| *user_id != id);
    }
    done()
}

/// Changes one's own account, as far as the tests do.
pub(super) async fn patch(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let mut body = object(&body)?;
    let id = session.meant(&id).to_owned();
    let mut world = shared.world();
    if id != session.user_id && !world.is_admin(&session.user_id) {
        return Err(AppError::forbidden());
    }
    let user = world.users.get_mut(&id);
    let user = user.ok_or_else(|| AppError::missing("app.user.missing_account.const"))?;
    if let Some(timezone) = body.remove("timezone") {
        user.timezone = timezone;
    }
    ok(user.public())
}

/// A token of one's own bot, or of anybody's by an administrator.
pub(super) async fn create_token(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let body = object(&body)?;
    let description = needed(&body, "description")?.to_owned();
    let mut world = shared.world();
    let user_id = session.meant(&id).to_owned();
    let owner = world.user(&user_id)?.bot_of.clone();
    if !world.is_admin(&session.user_id) && owner.as_deref() != Some(session.user_id.as_str()) {
        return Err(AppError::forbidden());
    }
    let token = new_id();
    world.sessions.insert(token.clone(), user_id.clone());
    ok(json!({
        "id": new_id(), "token": token, "user_id": user_id, "description": description,
        "is_active": true,
    }))
}

/// Bots are made by administrators, where that is allowed at all, and never by bots.
pub(super) async fn create_bot(
    State(shared): State<Shared>,
    session: Session,
    body: Bytes,
) -> Answer {
    let body = object(&body)?;
    let username = needed(&body, "username")?.to_owned();
    let allowed = shared.settings().bot_account_creation == BotAccounts::Made;
    let mut world = shared.world();
    if !world.is_admin(&session.user_id) || world.is_bot(&session.user_id) {
        return Err(AppError::forbidden());
    }
    if !allowed {
        return Err(AppError::new(
            StatusCode::FORBIDDEN,
            "api.bot.create_disabled",
            "Bot creation has been disabled.",
        ));
    }
    takes_name(&world, &username)?;
    let user = User {
        id: new_id(),
        email: format!("{username}@localhost"),
        username,
        password: new_id(),
        roles: "system_user".to_owned(),
        bot_of: Some(session.user_id),
        create_at: world.moment(),
        delete_at: 0,
        timezone: no_timezone(),
    };
    let shown = bot_of(&user);
    world.users.insert(user.id.clone(), user);
    created(shown)
}

pub(super) async fn bot(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
) -> Answer {
    let world = shared.world();
    let user = world.users.get(&id).filter(|user| user.bot_of.is_some());
    let may = world.is_admin(&session.user_id) || session.user_id == id;
    ok(bot_of(user.filter(|_| may).ok_or_else(|| {
        AppError::missing("store.sql_bot.get.missing.app_error")
    })?))
}

fn bot_of(user: &User) -> Value {
    json!({
        "user_id": user.id, "username": user.username, "display_name": "", "description": "",
        "owner_id": user.bot_of, "create_at": user.create_at, "update_at": user.create_at,
        "delete_at": user.delete_at,
    })
}

/// Refuses a name that is taken or cannot be one.
fn takes_name(world: &World, name: &str) -> Result<(), AppError> {
    let fits = name.starts_with(|char: char| char.is_ascii_lowercase())
        && name.len() <= 64
        && name
            .chars()
            .all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || "._-".contains(char));
    if !fits {
        return Err(AppError::bad(
            "model.user.is_valid.username.app_error",
            "Username must begin with a letter, and contain lowercase letters, numbers, and the symbols \".\", \"-\", and \"_\".",
        ));
    }
    if world.named(name).is_some() {
        return Err(AppError::bad(
            "app.user.save.username_exists.app_error",
            "An account with that username already exists.",
        ));
    }
    Ok(())
}
