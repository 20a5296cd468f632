//! Authentication: bearer key, page cookie or agent socket; and authorisation by role.
//!
//! INVARIANT: a role comes from the gate's own records, never from what the request says about
//! itself. Whoever comes through the agents' socket is an agent, whatever key they hold.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use countersign_core::id::KeyId;
use countersign_core::tier::Tier;
use countersign_gate::base::principal::{Principal, Role};
use countersign_gate::{Gate, GateError};
use tokio::sync::Mutex;

use super::listen::Peer;
use super::problem::Problem;
use super::{App, outer};
use crate::wire::CLIENT_HEADER;

/// Name of the page's cookie.
pub(crate) const COOKIE: &str = "countersign_session";
/// What it may say; anything else is `api`, so that no name of a channel can be borrowed.
const CLIENTS: [&str; 2] = ["terminal", "cli"];
/// Longest credential that is looked at.
const CREDENTIAL_BYTES_MAX: usize = 512;
/// Cookies of that name that are tried. Any server on another port of the host can set one, so the
/// first need not be ours.
const COOKIES_MAX: usize = 8;
/// How long it is taken for granted that the key of a socket's user is still good.
const SOCKET_KEY_FRESH: Duration = Duration::from_secs(1);

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anybody, without a credential.
    Open,
    /// Anybody, but not through the agents' socket: what the page needs to begin.
    Page,
    /// Credentials of these roles.
    Roles(&'static [Role]),
}

/// Whoever sent the request, proven by a key, a cookie or the socket.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) principal: Principal,
    pub(crate) credential: Credential,
}

/// The credential of the caller.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// A bearer key.
    Key(String),
    /// The page's cookie.
    Cookie(String),
    /// The user at the other end of the socket.
    Socket(u32),
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        // Each handler asks once.
        parts.extensions.remove::<Self>().ok_or_else(nobody)
    }
}

/// Lets a request through to its handler if its sender may use the route.
pub(crate) async fn guard(
    State((app, access)): State<(Arc<App>, Access)>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let Access::Roles(roles) = access else {
        return Ok(next.run(request).await);
    };
    let peer = request.extensions().get::<Peer>().copied();
    let peer = peer.ok_or_else(nobody)?;
    let caller = recognise(&app, peer, request.headers()).await?;
    if matches!(caller.credential, Credential::Cookie(_)) {
        check_page(request.method(), request.headers())?;
    }
    if !roles.contains(&caller.principal.role) {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "forbidden",
            format!(
                "a key with the role `{}` may not do this",
                caller.principal.role.word()
            ),
        ));
    }
    app.limits
        .spend(caller.principal.key.as_str(), Instant::now())?;
    request.extensions_mut().insert(caller);
    Ok(next.run(request).await)
}

/// Whether the caller may still be served; for answers that last.
pub(crate) async fn is_still_good(app: &App, caller: &Caller) -> bool {
    let outcome = match &caller.credential {
        Credential::Key(secret) => app.gate.authenticate(secret).await,
        Credential::Cookie(secret) => app.gate.authenticate_login(secret).await,
        Credential::Socket(uid) => app.socket_keys.principal(&app.gate, *uid).await,
    };
    match outcome {
        Ok(now) => now.key == caller.principal.key && now.role == caller.principal.role,
        // A store that fails for a moment revokes nobody.
        Err(GateError::Store(_)) => true,
        Err(_) => false,
    }
}

async fn recognise(app: &App, peer: Peer, headers: &HeaderMap) -> Result<Caller, Problem> {
    let (credential, outcome) = match (bearer(headers)?, peer) {
        (Some(secret), _) => {
            let outcome = app.gate.authenticate(secret).await;
            (Credential::Key(secret.to_owned()), outcome)
        }
        (None, Peer::Socket { uid }) => (
            Credential::Socket(uid),
            app.socket_keys.principal(&app.gate, uid).await,
        ),
        (None, Peer::Network(_)) => signed_in(app, headers).await?,
    };
    let mut principal = match outcome {
        Ok(principal) => principal,
        Err(error @ GateError::Store(_)) => return Err(error.into()),
        Err(_) => return Err(wrong(app, peer)),
    };
    if let (Credential::Key(_), Some(client)) = (&credential, client(headers)) {
        client.clone_into(&mut principal.via);
    }
    if let Peer::Socket { uid } = peer {
        if principal.role != Role::Agent {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "forbidden",
                "the agents' socket is for keys with the role `agent`",
            ));
        }
        "socket".clone_into(&mut principal.via);
        principal.tier = socket_tier(uid);
    }
    Ok(Caller {
        principal,
        credential,
    })
}

/// Returns the first cookie that is good, and whose it is; the last outcome if none is.
async fn signed_in(
    app: &App,
    headers: &HeaderMap,
) -> Result<(Credential, Result<Principal, GateError>), Problem> {
    let mut tried = None;
    for secret in cookies(headers) {
        let outcome = app.gate.authenticate_login(secret).await;
        let is_final = matches!(outcome, Ok(_) | Err(GateError::Store(_)));
        tried = Some((Credential::Cookie(secret.to_owned()), outcome));
        if is_final {
            break;
        }
    }
    tried.ok_or_else(nobody)
}

/// Counts a wrong credential and says so.
pub(crate) fn wrong(app: &App, peer: Peer) -> Problem {
    let refused = match peer {
        Peer::Network(address) => app.limits.wrong(address.ip(), Instant::now()),
        Peer::Socket { .. } => Ok(()),
    };
    refused.err().unwrap_or_else(|| {
        Problem::new(
            StatusCode::UNAUTHORIZED,
            "invalid_credential",
            "this key or cookie is not valid",
        )
    })
}

/// A cookie travels with whatever a browser is made to send, so what it does must come from the
/// page itself.
fn check_page(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    if method.is_safe() || outer::is_own_page(headers) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "cross_origin",
        "with a cookie, this must be sent by the gateway's own page",
    ))
}

fn client(headers: &HeaderMap) -> Option<&'static str> {
    let named = headers.get(CLIENT_HEADER)?;
    CLIENTS.into_iter().find(|client| named == client)
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return Ok(None);
    };
    value
        .to_str()
        .ok()
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, secret)| secret.trim())
        .filter(|secret| !secret.is_empty() && secret.len() <= CREDENTIAL_BYTES_MAX)
        .map(Some)
        .ok_or_else(nobody)
}

/// Returns the values of cookies with the name of the page's.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == COOKIE)
        .map(|(_, secret)| secret)
        .filter(|secret| !secret.is_empty() && secret.len() <= CREDENTIAL_BYTES_MAX)
        .take(COOKIES_MAX)
}

fn nobody() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "missing_credential",
        "send `Authorization: Bearer KEY`",
    )
}

/// Under another user the asker cannot reach into this process or its files.
fn socket_tier(uid: u32) -> Tier {
    if uid == rustix::process::getuid().as_raw() {
        Tier::T0
    } else {
        Tier::T2
    }
}

/// The keys of users who come through the socket without one: one each, made on first use, and
/// revocable like any other.
#[derive(Debug, Default)]
pub(crate) struct SocketKeys(Mutex<HashMap<u32, (Instant, Principal)>>);

impl SocketKeys {
    async fn principal(&self, gate: &Gate, uid: u32) -> Result<Principal, GateError> {
        let mut known = self.0.lock().await;
        if let Some((at, principal)) = known.get(&uid)
            && at.elapsed() < SOCKET_KEY_FRESH
        {
            return Ok(principal.clone());
        }
        let name = format!("socket:uid{uid}");
        let mut principal = Principal {
            key: KeyId(String::new()),
            name: name.clone(),
            role: Role::Agent,
            via: "socket".to_owned(),
            tier: socket_tier(uid),
        };
        let gateway = Principal {
            role: Role::Admin,
            ..principal.clone()
        };
        let keys = gate.keys(&gateway).await?.items;
        let of_user =
            |key: &&countersign_gate::people::KeyView| key.name == name && key.role == Role::Agent;
        principal.key = match keys.iter().find(of_user) {
            Some(key) if key.revoked_at.is_some() => {
                known.remove(&uid);
                return Err(GateError::Forbidden("the key of this user was revoked"));
            }
            Some(key) => KeyId(key.id.clone()),
            None => KeyId(gate.create_key("socket", &name, Role::Agent).await?.id),
        };
        known.insert(uid, (Instant::now(), principal.clone()));
        Ok(principal)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_cookie_is_found_among_others_and_only_by_its_whole_name() {
        let rows: &[(&str, &str, &[&str])] = &[
            ("alone", "countersign_session=abc", &["abc"]),
            (
                "among others",
                "a=1; countersign_session=abc; b=2",
                &["abc"],
            ),
            (
                "behind another of its name",
                "countersign_session=; countersign_session=x; countersign_session=abc",
                &["x", "abc"],
            ),
            ("a longer name", "xcountersign_session=abc", &[]),
            ("empty", "countersign_session=", &[]),
        ];
        for (name, text, expected) in rows {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_static(text));
            let found: Vec<&str> = cookies(&headers).collect();
            assert_eq!(found, *expected, "{name}");
        }
    }

    #[test]
    fn only_a_bearer_key_is_taken_for_one() {
        let rows: &[(&str, Option<&str>)] = &[
            ("Bearer abc", Some("abc")),
            ("bearer abc", Some("abc")),
            ("Basic abc", None),
            ("Bearer ", None),
            ("abc", None),
        ];
        for (text, expected) in rows {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, HeaderValue::from_static(text));
            assert_eq!(bearer(&headers).ok().flatten(), *expected, "{text}");
        }
    }
}
