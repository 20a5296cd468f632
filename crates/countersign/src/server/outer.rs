//! Middleware: host check, CORS, and security headers.
//!
//! A page of another site can make a browser send requests here, and can make its own name resolve
//! to this machine. The first cannot read answers without [`Entrance`] saying so and cannot answer
//! for a person without the page's origin (see `auth`); the second is told it is at the wrong door.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tracing::Instrument as _;

use super::App;
use super::listen::Peer;
use super::problem::Problem;
use crate::telemetry;

/// Everything but the page is data and may load nothing.
const DATA_POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");

/// Headers that other origins may send, and see.
const CORS_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, idempotency-key, last-event-id, x-session-id, \
     x-hermes-session-id",
);
const CORS_METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PUT, DELETE");
const CORS_EXPOSED: HeaderValue = HeaderValue::from_static("retry-after, x-request-id");

/// Under which names the gateway may be addressed, and who may read its answers.
#[derive(Clone, Debug)]
pub(crate) struct Entrance {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Entrance {
    /// Returns the entrance of a gateway that listens at `address`. `names` are hosts it is also
    /// known by, with or without a port; `origins` are pages that may read its answers.
    pub(crate) fn new(address: SocketAddr, names: &[String], origins: &[String]) -> Self {
        let port = address.port();
        let mut hosts = vec![
            address.to_string(),
            format!("localhost:{port}"),
            format!("127.0.0.1:{port}"),
            format!("[::1]:{port}"),
        ];
        hosts.extend(names.iter().map(|name| name.to_ascii_lowercase()));
        let origins = origins
            .iter()
            .map(|origin| origin.trim_end_matches('/').to_ascii_lowercase())
            .collect();
        Self { hosts, origins }
    }

    /// Whether `host` means this gateway.
    pub(crate) fn is_meant(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let bare = host
            .rsplit_once(':')
            .filter(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()))
            .map_or(host.as_str(), |(bare, _)| bare);
        self.hosts
            .iter()
            .any(|known| *known == host || (!known.contains(':') && known == bare))
    }

    /// Whether pages of `origin` may read here.
    pub(crate) fn may_read(&self, origin: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        self.origins.contains(&origin)
    }
}

/// Whether the request comes from the page itself: its origin is the host that was asked for.
pub(crate) fn is_own_page(headers: &HeaderMap) -> bool {
    let text = |name: &HeaderName| headers.get(name).and_then(|it| it.to_str().ok());
    match text(&header::ORIGIN) {
        Some(origin) => {
            let site = origin
                .strip_prefix("http://")
                .or_else(|| origin.strip_prefix("https://"));
            site.is_some() && site == text(&header::HOST)
        }
        None => text(&HeaderName::from_static("sec-fetch-site")) == Some("same-origin"),
    }
}

/// Passes a request on if this gateway is meant, and dresses its answer.
pub(crate) async fn pass(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let is_network = matches!(request.extensions().get(), Some(Peer::Network(_)));
    let origin = request.headers().get(header::ORIGIN).cloned();
    let reader = origin.filter(|it| it.to_str().is_ok_and(|it| app.entrance.may_read(it)));
    let mut response = if is_network && !is_meant(&app, &request) {
        Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            "misdirected_request",
            "this gateway is not known under that host; add it to `api.hosts` if it should be",
        )
        .into_response()
    } else if is_preflight(&request) {
        preflight(reader.is_some())
    } else {
        let route = route.as_ref().map_or("-", MatchedPath::as_str);
        let span = telemetry::request(&method, route, request.headers());
        let response = next.run(request).instrument(span.clone()).await;
        span.record("http.response.status_code", response.status().as_u16());
        response
    };
    dress(response.headers_mut(), reader, id.clone());
    // The route and the ids, never what was sent: arguments stay out of logs.
    let status = response.status().as_u16();
    let millis = started.elapsed().as_millis();
    let route = route.as_ref().map_or("-", MatchedPath::as_str);
    if response.status().is_server_error() {
        tracing::warn!(request = ?id, %method, route, status, millis, "answered");
    } else {
        tracing::debug!(request = ?id, %method, route, status, millis, "answered");
    }
    response
}

fn is_meant(app: &App, request: &Request) -> bool {
    let hosts: Vec<_> = request.headers().get_all(header::HOST).iter().collect();
    match hosts.as_slice() {
        [host] => host.to_str().is_ok_and(|host| app.entrance.is_meant(host)),
        _ => false,
    }
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight(may_read: bool) -> Response {
    if !may_read {
        return Problem::new(
            StatusCode::FORBIDDEN,
            "origin_not_listed",
            "pages of this origin may not read here; add it to `api.origins` if they should",
        )
        .into_response();
    }
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, CORS_METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, CORS_HEADERS),
        (
            header::ACCESS_CONTROL_MAX_AGE,
            HeaderValue::from_static("600"),
        ),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

fn dress(headers: &mut HeaderMap, reader: Option<HeaderValue>, id: HeaderValue) {
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (header::VARY, "origin, accept-encoding"),
    ];
    // Some of them are there already, and more follow; growing step by step costs more than room.
    headers.reserve(16);
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(HeaderName::from_static("x-request-id"), id);
    if !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        headers.insert(header::CONTENT_SECURITY_POLICY, DATA_POLICY);
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if let Some(origin) = reader {
        // No credentials: another page brings a key of its own, never the person's cookie.
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, CORS_EXPOSED);
        headers.insert(
            HeaderName::from_static("cross-origin-resource-policy"),
            HeaderValue::from_static("cross-origin"),
        );
    }
}

/// Returns an id that no other request has. It is no secret: the process draws where it begins, and
/// counts by a step that no two of a run have in common before all are used.
fn request_id() -> HeaderValue {
    static LAST: LazyLock<AtomicU64> = LazyLock::new(|| {
        let mut random = [0u8; 8];
        // An id that repeats confuses a log reader and nobody else.
        let _filled = getrandom::fill(&mut random);
        AtomicU64::new(u64::from_be_bytes(random))
    });
    let number = LAST.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
    let text = format!("req_{number:016x}");
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_mean_this_gateway() {
        let names = ["gate.example.org".to_owned(), "other.test:99".to_owned()];
        let entrance = Entrance::new("127.0.0.1:8750".parse().unwrap(), &names, &[]);
        let rows = [
            ("127.0.0.1:8750", true),
            ("LOCALHOST:8750", true),
            ("[::1]:8750", true),
            ("gate.example.org", true),
            ("gate.example.org:443", true),
            ("other.test:99", true),
            ("other.test", false),
            ("127.0.0.1", false),
            ("127.0.0.1:8751", false),
            ("evil.test:8750", false),
            ("127.0.0.1.evil.test:8750", false),
            ("gate.example.org.evil.test", false),
            ("", false),
        ];
        for (host, expected) in rows {
            assert_eq!(entrance.is_meant(host), expected, "{host}");
        }
    }

    #[test]
    fn only_the_page_itself_is_the_page() {
        let rows: &[(&str, Option<&str>, Option<&str>, bool)] = &[
            ("its own origin", Some("http://localhost:1"), None, true),
            ("behind TLS", Some("https://localhost:1"), None, true),
            ("another port", Some("http://localhost:2"), None, false),
            ("another site", Some("http://evil.test"), None, false),
            ("a sandboxed frame", Some("null"), None, false),
            ("the browser says so", None, Some("same-origin"), true),
            (
                "another port, by the browser",
                None,
                Some("same-site"),
                false,
            ),
            ("no browser at all", None, None, false),
            (
                "the origin counts more",
                Some("http://evil.test"),
                Some("same-origin"),
                false,
            ),
        ];
        for (name, origin, site, expected) in rows {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static("localhost:1"));
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
            }
            if let Some(site) = site {
                headers.insert("sec-fetch-site", HeaderValue::from_static(site));
            }
            assert_eq!(is_own_page(&headers), *expected, "{name}");
        }
    }
}
