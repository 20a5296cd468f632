//! The routes of the API, and whose token a request carries.

use axum::Router;
use axum::extract::{FromRequestParts, Query, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post, put};
use serde_json::{Value, json};

use std::collections::BTreeMap;

use super::error::{Answer, AppError, ok};
use super::server::Shared;
use super::settings::{BotAccounts, SiteUrl, Version};
use super::{
    actions, commands, dialogs, files, gatekeeper, people, posts, reactions, teams, websocket,
};

/// What stands behind the question mark.
pub(super) type Asked = Query<BTreeMap<String, String>>;

/// The account whose token a request carries.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) user_id: String,
}

impl FromRequestParts<Shared> for Session {
    type Rejection = AppError;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, AppError> {
        let value = parts.headers.get(header::AUTHORIZATION);
        let value = value.and_then(|value| value.to_str().ok()).unwrap_or("");
        let token = value
            .split_once(' ')
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map_or("", |(_, token)| token.trim());
        Self::of(shared, token).ok_or_else(AppError::unauthorized)
    }
}

impl Session {
    /// Returns whose token this is, unless the account is closed.
    pub(super) fn of(shared: &Shared, token: &str) -> Option<Self> {
        let world = shared.world();
        let user_id = world.sessions.get(token)?.clone();
        let open = world
            .users
            .get(&user_id)
            .is_some_and(|user| user.delete_at == 0);
        open.then_some(Self { user_id })
    }

    /// Returns the account a path names: `me` is one's own.
    pub(super) fn meant<'a>(&'a self, id: &'a str) -> &'a str {
        if id == "me" { &self.user_id } else { id }
    }
}

/// Returns everything the server answers.
pub(super) fn all(shared: Shared) -> Router {
    let api = Router::new()
        .route("/system/ping", get(ping))
        .route("/config/client", get(client_config))
        .route("/config", get(config))
        .route("/websocket", get(websocket::upgrade))
        .merge(people_and_teams())
        .merge(talk());
    Router::new()
        .nest("/api/v4", api)
        .route("/hooks/commands/{id}", post(commands::respond))
        .fallback(unknown)
        .layer(from_fn_with_state(shared.clone(), gatekeeper::stand))
        .with_state(shared)
}

fn people_and_teams() -> Router<Shared> {
    Router::new()
        .route("/users", post(people::create))
        .route("/users/login", post(people::login))
        .route("/users/ids", post(people::by_ids))
        .route("/users/username/{name}", get(people::by_name))
        .route("/users/{id}", get(people::by_id))
        .route("/users/{id}/active", put(people::set_active))
        .route("/users/{id}/patch", put(people::patch))
        .route("/users/{id}/tokens", post(people::create_token))
        .route("/users/{id}/teams", get(teams::of_user))
        .route("/users/{id}/teams/{team}/channels", get(teams::channels_of))
        .route("/users/{id}/channels", get(teams::all_channels_of))
        .route("/bots", post(people::create_bot))
        .route("/bots/{id}", get(people::bot))
        .route("/teams", post(teams::create))
        .route("/teams/{team}", get(teams::by_id))
        .route("/teams/name/{name}", get(teams::by_name))
        .route("/teams/{team}/members", post(teams::add_member))
        .route("/teams/{team}/members/{user}", get(teams::member))
        .route(
            "/teams/{team}/members/{user}/schemeRoles",
            put(teams::set_roles),
        )
        .route(
            "/teams/{team}/channels/name/{name}",
            get(teams::channel_by_name),
        )
        .route("/channels", post(teams::create_channel))
        .route("/channels/direct", post(teams::direct))
        .route("/channels/{channel}", get(teams::channel))
        .route(
            "/channels/{channel}/members",
            get(teams::channel_members).post(teams::add_channel_member),
        )
        .route(
            "/channels/{channel}/members/{user}",
            get(teams::channel_member).delete(teams::remove_channel_member),
        )
}

fn talk() -> Router<Shared> {
    Router::new()
        .route("/channels/{channel}/posts", get(posts::of_channel))
        .route("/posts", post(posts::create))
        .route("/posts/ephemeral", post(posts::create_ephemeral))
        .route(
            "/posts/{post}",
            get(posts::by_id).put(posts::update).delete(posts::remove),
        )
        .route("/posts/{post}/patch", put(posts::patch))
        .route("/posts/{post}/thread", get(posts::thread))
        .route("/posts/{post}/reactions", get(reactions::of_post))
        .route("/posts/{post}/actions/{action}", post(actions::click))
        .route("/files", post(files::upload))
        .route("/files/{id}", get(files::content))
        .route("/users/{id}/typing", post(websocket::typing))
        .route("/reactions", post(reactions::add))
        .route(
            "/users/{user}/posts/{post}/reactions/{emoji}",
            delete(reactions::remove),
        )
        .route("/actions/dialogs/open", post(dialogs::open))
        .route("/actions/dialogs/submit", post(dialogs::submit))
        .route("/actions/dialogs/execute", post(dialogs::execute))
        .route("/commands", get(commands::list).post(commands::create))
        .route("/commands/execute", post(commands::execute))
        .route(
            "/commands/{id}",
            get(commands::by_id)
                .put(commands::update)
                .delete(commands::remove),
        )
        .route("/commands/{id}/regen_token", put(commands::regenerate))
}

async fn unknown() -> AppError {
    AppError::new(
        StatusCode::NOT_FOUND,
        "api.context.404.app_error",
        "Sorry, we could not find the page.",
    )
}

async fn ping(State(shared): State<Shared>) -> Answer {
    // The version travels in a header, as with every answer.
    let _settings = shared.settings();
    ok(json!({ "status": "OK", "ActiveSearchBackend": "database" }))
}

/// Anybody may read it, even without a token: the key trigger ids are checked with is in it.
async fn client_config(State(shared): State<Shared>, Query(asked): Asked) -> Answer {
    let settings = shared.settings();
    if asked.get("format").map(String::as_str) != Some("old") && settings.version < Version::V11_9 {
        return Err(AppError::new(
            StatusCode::NOT_IMPLEMENTED,
            "api.config.client.old_format.app_error",
            "New format for the client configuration is not supported yet.",
        ));
    }
    let site_url = match settings.site_url {
        SiteUrl::Set => shared.url.as_str(),
        SiteUrl::Unset => "",
    };
    let limit = settings.post_edit_limit.map(|limit| limit.as_secs());
    let limit = limit.map_or_else(|| "-1".to_owned(), |limit| limit.to_string());
    ok(json!({
        "Version": settings.version.number(),
        "BuildNumber": settings.version.number(),
        "SiteURL": site_url,
        "AsymmetricSigningPublicKey": shared.signer.public_key(),
        "EnableBotAccountCreation": bots(settings.bot_account_creation).to_string(),
        "EnableCommands": "true",
        "EnablePostUsernameOverride": "false",
        "PostEditTimeLimit": limit,
        "TelemetryId": "",
    }))
}

/// For administrators.
async fn config(State(shared): State<Shared>, session: Session) -> Answer {
    if !shared.world().is_admin(&session.user_id) {
        return Err(AppError::forbidden());
    }
    let settings = shared.settings();
    let site_url = match settings.site_url {
        SiteUrl::Set => shared.url.as_str(),
        SiteUrl::Unset => "",
    };
    ok(json!({ "ServiceSettings": {
        "SiteURL": site_url,
        "AllowedUntrustedInternalConnections": settings.allowed_untrusted_internal_connections,
        "OutgoingIntegrationRequestsTimeout": settings.outgoing_timeout.as_secs(),
        "EnableBotAccountCreation": bots(settings.bot_account_creation),
        "EnableCommands": true,
    } }))
}

fn bots(setting: BotAccounts) -> Value {
    json!(setting == BotAccounts::Made)
}
