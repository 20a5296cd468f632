//! Administration routes: keys, people, signed-in browsers, configuration.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use countersign_gate::people::KeyBounds;
use countersign_gate::people::{KeyView, NewKey, PersonView};
use serde_json::{Value, json};

use super::{Answer, Reach};
use crate::config::entries::{self, Origin};
use crate::server::auth::Caller;
use crate::server::body::JsonBody;
use crate::server::problem::Problem;
use crate::server::whole_id::WholeId;
use crate::wire::lists::{KeyList, LoginList, PersonList};
use crate::wire::requests::{ConfigBody, NewKeyBody, PersonBody};

/// Keys of the configuration that open this machine to tests: only who writes its files sets them.
const FILE_ONLY: &[&str] = &["push", "push.loopback"];

/// Lists keys
#[utoipa::path(get, path = "/v1/keys",
    responses((status = 200, description = "keys, without their secrets", body = KeyList)))]
pub(crate) async fn keys(State(app): Reach, caller: Caller) -> Answer<KeyList> {
    Ok(Json(app.gate.keys(&caller.principal).await?.into()))
}

/// Creates a key; its secret is shown only once
#[utoipa::path(post, path = "/v1/keys", request_body = NewKeyBody,
    responses((status = 201, description = "the key", body = NewKey)))]
pub(crate) async fn create_key(
    State(app): Reach,
    caller: Caller,
    JsonBody(body): JsonBody<NewKeyBody>,
) -> Result<(StatusCode, Json<NewKey>), Problem> {
    let by = &caller.principal.name;
    let bounds = KeyBounds {
        executors: body.executors,
        workspaces: body.workspaces.unwrap_or_default(),
    };
    let key = app
        .gate
        .create_bound_key(by, &body.name, body.role, &bounds)
        .await?;
    Ok((StatusCode::CREATED, Json(key)))
}

/// Revokes a key
#[utoipa::path(delete, path = "/v1/keys/{id}",
    params(("id" = String, Path, description = "the key")),
    responses((status = 200, description = "the key", body = KeyView)))]
pub(crate) async fn revoke_key(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
) -> Answer<KeyView> {
    Ok(Json(app.gate.revoke_key(&caller.principal, &id).await?))
}

/// Lists people who may answer
#[utoipa::path(get, path = "/v1/people",
    responses((status = 200, description = "people", body = PersonList)))]
pub(crate) async fn people(State(app): Reach, caller: Caller) -> Answer<PersonList> {
    Ok(Json(app.gate.people(&caller.principal).await?.into()))
}

/// Adds or changes a person
#[utoipa::path(post, path = "/v1/people", request_body = PersonBody,
    responses((status = 200, description = "the person", body = PersonView)))]
pub(crate) async fn put_person(
    State(app): Reach,
    caller: Caller,
    JsonBody(person): JsonBody<PersonBody>,
) -> Answer<PersonView> {
    Ok(Json(
        app.gate
            .put_person(&caller.principal, person.into())
            .await?,
    ))
}

/// Removes a person
#[utoipa::path(delete, path = "/v1/people/{name}",
    params(("name" = String, Path, description = "the person")),
    responses((status = 204, description = "removed")))]
pub(crate) async fn remove_person(
    State(app): Reach,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    app.gate.remove_person(&caller.principal, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists signed-in browsers
#[utoipa::path(get, path = "/v1/logins",
    responses((status = 200, description = "logins", body = LoginList)))]
pub(crate) async fn logins(State(app): Reach, caller: Caller) -> Answer<LoginList> {
    Ok(Json(app.gate.logins(&caller.principal).await?.into()))
}

/// Signs a browser out
#[utoipa::path(delete, path = "/v1/logins/{id}",
    params(("id" = String, Path, description = "the login")),
    responses((status = 204, description = "signed out")))]
pub(crate) async fn revoke_login(
    State(app): Reach,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    app.gate.revoke_login(&caller.principal, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Shows the configuration with its defaults
#[utoipa::path(get, path = "/v1/config",
    responses((status = 200, description = "every key with its value", body = Object)))]
pub(crate) async fn config(State(app): Reach) -> Answer<Value> {
    let entries = entries::list(&app.home).map_err(|complaint| Problem::unreadable(&complaint))?;
    let entries = entries.into_iter();
    let mut values: Value = entries
        .filter(|it| it.origin != Origin::Unset)
        .map(|it| (it.key, it.value))
        .collect();
    // The address of a database carries its password.
    if let Some(url) = values.get_mut("store.url")
        && url.as_str().is_some_and(|url| url != "sqlite")
    {
        *url = json!("postgres://…");
    }
    Ok(Json(json!({ "config": values })))
}

/// Sets one key of the configuration
#[utoipa::path(post, path = "/v1/config", request_body = ConfigBody,
    responses((status = 200, description = "the key as it stands now", body = Object)))]
pub(crate) async fn set_config(
    State(app): Reach,
    caller: Caller,
    JsonBody(body): JsonBody<ConfigBody>,
) -> Answer<Value> {
    if FILE_ONLY.contains(&body.key.as_str()) {
        let message = format!("`{}` can be set in config.yaml only", body.key);
        return Err(Problem::invalid("key", "file_only", message));
    }
    // Recorded before it is done: a change without a record must not be possible.
    app.gate
        .note_config_change(&caller.principal, &body.key)
        .await?;
    entries::set(&app.home, &body.key, &body.value)
        .map_err(|complaint| Problem::invalid("key", "invalid_config", complaint.message()))?;
    app.policies.look_again();
    Ok(Json(json!({ "key": body.key, "value": body.value })))
}
