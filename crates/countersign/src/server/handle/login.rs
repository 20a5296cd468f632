//! Login routes: a one-time code becomes a cookie that no script can read.

use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use countersign_gate::GateError;

use super::{Answer, Reach};
use crate::server::auth::{self, COOKIE, Caller, Credential};
use crate::server::body::JsonBody;
use crate::server::listen::Peer;
use crate::server::outer;
use crate::server::problem::Problem;
use crate::wire::requests::LoginBody;
use crate::wire::shown::{Identity, LoginCode};

/// Signs a browser in with the code of a link
#[utoipa::path(post, path = "/v1/login", request_body = LoginBody,
    responses((status = 200, description = "signed in; the cookie is set", body = Identity)))]
pub(crate) async fn login(
    State(app): Reach,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<LoginBody>,
) -> Result<Response, Problem> {
    // A foreign page must not sign a browser in as somebody else.
    if headers.contains_key(header::ORIGIN) && !outer::is_own_page(&headers) {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "cross_origin",
            "only the gateway's own page signs in",
        ));
    }
    let login = match app.gate.redeem_login_code(&body.code).await {
        Ok(login) => login,
        Err(error @ GateError::Store(_)) => return Err(error.into()),
        Err(_) => {
            let refused = auth::wrong(&app, peer);
            if refused.status == StatusCode::TOO_MANY_REQUESTS {
                return Err(refused);
            }
            let message = "this link was already used or has expired";
            return Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "invalid_code",
                message,
            ));
        }
    };
    // A browser keeps a secure cookie from being sent, or overwritten, in the clear.
    let secure = if app.is_encrypted { "; Secure" } else { "" };
    let cookie = format!(
        "{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict{secure}",
        login.secret
    );
    let who = Identity::from(&login.principal);
    Ok(([(header::SET_COOKIE, cookie)], Json(who)).into_response())
}

/// Signs this browser out
#[utoipa::path(post, path = "/v1/logout",
    responses((status = 204, description = "signed out")))]
pub(crate) async fn logout(State(app): Reach, caller: Caller) -> Result<Response, Problem> {
    if let Credential::Cookie(secret) = &caller.credential {
        app.gate.end_login(&caller.principal, secret).await?;
    }
    let gone = format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, gone)]).into_response())
}

/// Creates a one-time login code for the caller's own browser
#[utoipa::path(post, path = "/v1/login/code",
    responses((status = 201, description = "a one-time code, valid for ten minutes", body = LoginCode)))]
pub(crate) async fn code(
    State(app): Reach,
    caller: Caller,
) -> Result<(StatusCode, Json<LoginCode>), Problem> {
    let code = app.gate.login_code(&caller.principal.key).await?;
    let body = LoginCode {
        fragment: format!("#code={code}"),
        code,
        expires_in: 600,
    };
    Ok((StatusCode::CREATED, Json(body)))
}

/// Shows the caller's identity
#[utoipa::path(get, path = "/v1/whoami",
    responses((status = 200, description = "the key in use", body = Identity)))]
pub(crate) async fn whoami(caller: Caller) -> Answer<Identity> {
    Ok(Json(Identity::from(&caller.principal)))
}
