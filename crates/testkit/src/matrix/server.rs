//! Starts, stops and restarts the server with its state.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::Response;
use serde_json::Value;
use tokio::sync::watch;

use super::error::{Done, Refusal, refused};
use super::routes::{self, Request};
use super::world::{Limit, News, World};
use crate::serving::{Cut, Serving};

/// How the server fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It does nothing and answers 502.
    Refuse,
    /// It does nothing and cuts the connection.
    DropBefore,
    /// It does what was asked and cuts the connection before it says so.
    DropAfter,
    /// It does not know the point in time it is asked about, as after its database was replaced.
    Forgotten,
}

/// A request the server has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The method and the path.
    pub what: String,
    /// Who asked; empty if nobody did.
    pub user: String,
    /// The response status; 0 if the connection was cut.
    pub status: u16,
}

pub(super) type Shared = Arc<Inside>;

/// The server's insides.
#[derive(Debug)]
pub(super) struct Inside {
    world: Mutex<World>,
    limit: Mutex<Option<(String, Limit)>>,
    faults: Mutex<Vec<(String, Fault, usize)>>,
    hits: Mutex<Vec<Hit>>,
    news: watch::Sender<u64>,
}

impl Inside {
    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        locked(&self.world)
    }

    /// Returns what changes whenever something happened.
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Returns how much whom may send.
    pub(super) fn limit(&self) -> Option<(String, Limit)> {
        locked(&self.limit).clone()
    }
}

/// A running homeserver.
#[derive(Debug)]
pub struct MatrixServer {
    address: SocketAddr,
    inside: Shared,
    running: Option<Serving>,
}

impl MatrixServer {
    /// Starts a server with nobody on it.
    pub fn start() -> io::Result<Self> {
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let inside = Arc::new(Inside {
            world: Mutex::default(),
            limit: Mutex::default(),
            faults: Mutex::default(),
            hits: Mutex::default(),
            news: watch::Sender::new(0),
        });
        let running = Some(serve(listener, &inside)?);
        Ok(Self {
            address,
            inside,
            running,
        })
    }

    /// Returns where it listens.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops it. Every connection is cut; what it knows stays.
    pub fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
    }

    /// Starts it again where it was, with what it knew.
    pub fn start_again(&mut self) -> io::Result<()> {
        let listener = std::net::TcpListener::bind(self.address)?;
        self.running = Some(serve(listener, &self.inside)?);
        Ok(())
    }

    /// Limits how many events an account may send.
    pub fn limit(&self, user: &str, limit: Option<Limit>) {
        *locked(&self.inside.limit) = limit.map(|limit| (user.to_owned(), limit));
    }

    /// The next `times` requests fail whose method, path and asker, with a blank between them, contain
    /// `what`.
    pub fn fail(&self, what: &str, fault: Fault, times: usize) {
        locked(&self.inside.faults).push((what.to_owned(), fault, times));
    }

    /// Returns every request so far.
    pub fn hits(&self) -> Vec<Hit> {
        locked(&self.inside.hits).clone()
    }

    /// Tells of an event once more, as servers do after a gap in what they know.
    pub fn repeat(&self, event: &str) {
        let mut world = self.inside.world();
        let number = world.events.iter().position(|it| it.id == event);
        if let Some(number) = number {
            world.news.push(News::Event(number));
        }
        drop(world);
        self.inside.news.send_modify(|count| *count += 1);
    }
}

impl Drop for MatrixServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn serve(listener: std::net::TcpListener, inside: &Shared) -> io::Result<Serving> {
    let routes = Router::new().fallback(asked).with_state(Arc::clone(inside));
    Serving::start("strict-matrix", listener, routes)
}

async fn asked(
    State(shared): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let what = format!("{method} {}", uri.path());
    let request = read(&method, &uri, &headers, &body);
    let user = {
        let world = shared.world();
        let user = request.token.as_ref().and_then(|it| world.tokens.get(it));
        user.cloned().unwrap_or_default()
    };
    let response = match planned(&shared, &format!("{what} {user}")) {
        Some(Fault::Refuse) => answered(&Err(refused(502, "M_UNKNOWN", "bad gateway"))),
        Some(Fault::Forgotten) => {
            let refusal = refused(400, "M_INVALID_PARAM", "Invalid stream token");
            answered(&Err(refusal))
        }
        Some(Fault::DropBefore) => Cut::response(),
        Some(Fault::DropAfter) => {
            let _done = routes::done(&shared, &request).await;
            Cut::response()
        }
        None => match file(&shared, &request) {
            Some(response) => response,
            None => answered(&routes::done(&shared, &request).await),
        },
    };
    let is_cut = response.extensions().get::<Cut>().is_some();
    let status = if is_cut {
        0
    } else {
        response.status().as_u16()
    };
    locked(&shared.hits).push(Hit { what, user, status });
    if method != Method::GET {
        shared.news.send_modify(|count| *count += 1);
    }
    response
}

/// Returns a file, to whom is signed in.
fn file(shared: &Shared, request: &Request) -> Option<Response> {
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    let ["_matrix", "client", "v1", "media", "download", _, id, ..] = path.as_slice() else {
        return None;
    };
    let world = shared.world();
    let is_known = request
        .token
        .as_ref()
        .is_some_and(|it| world.tokens.contains_key(it));
    if !is_known {
        let refusal = refused(401, "M_MISSING_TOKEN", "Missing access token");
        return Some(answered(&Err(refusal)));
    }
    let Some(file) = world.files.get(*id) else {
        return Some(answered(&Err(super::error::not_found("Not found"))));
    };
    let response = Response::builder()
        .header(header::CONTENT_TYPE, &file.kind)
        .body(Body::from(file.bytes.clone()));
    response.ok()
}

fn read(method: &Method, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Request {
    let header = |name: header::HeaderName| headers.get(name).and_then(|it| it.to_str().ok());
    let token = header(header::AUTHORIZATION).and_then(|it| it.strip_prefix("Bearer "));
    let address = format!("http://server{uri}");
    let url = reqwest::Url::parse(&address).ok();
    let query = url.iter().flat_map(reqwest::Url::query_pairs);
    Request {
        method: method.to_string(),
        path: uri.path().split('/').skip(1).map(decoded).collect(),
        query: query
            .map(|(key, value)| (key.into_owned(), value.into_owned()))
            .collect(),
        token: token.map(str::to_owned),
        content_type: header(header::CONTENT_TYPE).unwrap_or_default().to_owned(),
        body: body.to_vec(),
    }
}

/// Returns a part of a path without its escapes.
fn decoded(part: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = part.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let escape = (*first == b'%').then(|| behind.get(..2)).flatten();
        let byte = escape
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(byte) = byte {
            bytes.push(byte);
            rest = behind.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn planned(shared: &Shared, what: &str) -> Option<Fault> {
    let mut faults = locked(&shared.faults);
    let found = faults
        .iter_mut()
        .find(|(part, _, times)| what.contains(part.as_str()) && *times > 0)?;
    found.2 -= 1;
    Some(found.1)
}

fn answered(done: &Done) -> Response {
    let (status, body) = match done {
        Ok(body) => (200, body),
        Err(Refusal { status, body }) => (*status, body),
    };
    let mut response = Response::builder()
        .status(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY))
        .header(header::CONTENT_TYPE, "application/json");
    if let Some(millis) = body.get("retry_after_ms").and_then(Value::as_u64) {
        response = response.header(header::RETRY_AFTER, millis.div_ceil(1000));
    }
    response
        .body(Body::from(body.to_string()))
        .unwrap_or_default()
}

fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
