//! MCP routes: many servers behind one address.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use futures_util::StreamExt as _;

use super::Reach;
use crate::server::App;
use crate::server::auth::Caller;
use crate::server::listen::Peer;
use crate::server::mcp::{self, Guest, Routes};
use crate::server::problem::Problem;

/// Takes one MCP message for a server; a call of a tool is decided about first
#[utoipa::path(post, path = "/mcp/{server}", request_body = Object,
    params(("server" = String, Path, description = "the name in `mcp.servers`")),
    responses((status = 200, description = "the server's answer, as JSON or as a stream of events", body = Object),
        (status = 202, description = "accepted; there is no answer"),
        (status = 400, description = "the message cannot be judged, or the server refuses it"),
        (status = 403, description = "the role or the origin may not ask"),
        (status = 404, description = "no such server, or no such session"),
        (status = 502, description = "the server cannot be reached")))]
pub(crate) async fn post(
    State(app): Reach,
    caller: Caller,
    Path(server): Path<String>,
    Extension(routes): Extension<Routes>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    check_origin(&app, &headers)?;
    let server = app.mcp.named(&server)?;
    let guest = guest(&app, caller, peer, routes, &headers);
    let answered = mcp::post(&app.mcp, server, guest, headers, body).await?;
    Ok(until_stopped(&app, answered))
}

/// Opens the stream on which an MCP server speaks by itself
#[utoipa::path(get, path = "/mcp/{server}",
    params(("server" = String, Path, description = "the name in `mcp.servers`"),
        ("Mcp-Session-Id" = Option<String>, Header, description = "the session"),
        ("Last-Event-ID" = Option<String>, Header, description = "go on behind this event")),
    responses((status = 200, description = "a stream of events", content_type = "text/event-stream"),
        (status = 404, description = "no such server, or no such session"),
        (status = 405, description = "this server has no such stream")))]
pub(crate) async fn get(
    State(app): Reach,
    caller: Caller,
    Path(server): Path<String>,
    Extension(routes): Extension<Routes>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    check_origin(&app, &headers)?;
    let server = app.mcp.named(&server)?;
    let guest = guest(&app, caller, peer, routes, &headers);
    let answered = mcp::get(server, guest, headers).await?;
    Ok(until_stopped(&app, answered))
}

/// Ends a session with an MCP server
#[utoipa::path(delete, path = "/mcp/{server}",
    params(("server" = String, Path, description = "the name in `mcp.servers`"),
        ("Mcp-Session-Id" = Option<String>, Header, description = "the session")),
    responses((status = 200, description = "ended"),
        (status = 404, description = "no such server, or no such session"),
        (status = 405, description = "this server does not end sessions")))]
pub(crate) async fn delete(
    State(app): Reach,
    caller: Caller,
    Path(server): Path<String>,
    Extension(routes): Extension<Routes>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    check_origin(&app, &headers)?;
    let server = app.mcp.named(&server)?;
    let guest = guest(&app, caller, peer, routes, &headers);
    mcp::delete(server, guest, headers).await
}

/// Ends a stream when the gateway stops, which would wait for it otherwise.
fn until_stopped(app: &Arc<App>, response: Response) -> Response {
    if response.headers().get(header::CONTENT_TYPE) != Some(&mcp::EVENTS) {
        return response;
    }
    let app = Arc::clone(app);
    let stopped = Box::pin(async move { app.stopped().await });
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(stopped)))
}

fn guest(app: &App, caller: Caller, peer: Peer, routes: Routes, headers: &HeaderMap) -> Guest {
    let scheme = if app.is_encrypted { "https" } else { "http" };
    let host = match peer {
        // Whoever comes through the socket meant no host.
        Peer::Socket { .. } => None,
        Peer::Network(_) => headers.get(header::HOST).and_then(|it| it.to_str().ok()),
    };
    Guest {
        page: host.map(|host| format!("{scheme}://{host}")),
        caller,
        peer,
        routes,
    }
}

/// A page of another site can make a browser send requests here. No agent is one.
fn check_origin(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    let is_good = headers.get_all(header::ORIGIN).iter().all(|origin| {
        origin.to_str().is_ok_and(|origin| {
            let site = origin
                .strip_prefix("http://")
                .or_else(|| origin.strip_prefix("https://"));
            site.is_some_and(|site| app.entrance.is_meant(site)) || app.entrance.may_read(origin)
        })
    });
    if is_good {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "origin_not_listed",
        "pages of this origin may not ask here; add it to `api.origins` if they should",
    ))
}
