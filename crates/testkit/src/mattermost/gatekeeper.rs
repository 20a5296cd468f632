//! Rate limits and injected faults.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::server::{Shared, locked};
use super::settings::RateLimit;
use crate::serving::Cut;

/// How the server fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It answers 503 and does nothing.
    Refuse,
    /// It does nothing and cuts the connection.
    DropBefore,
    /// It does what was asked and cuts the connection before it says so.
    DropAfter,
    /// It takes this long before it begins.
    Slow(Duration),
    /// It does nothing and answers with this status.
    Status(u16),
}

/// A request the server has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its method.
    pub method: String,
    /// Its path, behind `/api/v4`.
    pub path: String,
    /// The response status; 0 if the connection was cut.
    pub status: u16,
}

/// Faults that were asked for.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) fault: Fault,
    /// How many requests it still meets.
    pub(super) times: usize,
}

/// How many requests each caller has left.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    left: HashMap<String, (f64, Instant)>,
}

impl Buckets {
    /// Takes one; or says how many seconds to wait.
    fn take(&mut self, caller: &str, limit: RateLimit) -> Result<u32, u64> {
        let burst = f64::from(limit.burst);
        let now = Instant::now();
        let (left, since) = self
            .left
            .entry(caller.to_owned())
            .or_insert_with(|| (burst, now));
        let more = now.duration_since(*since).as_secs_f64() * f64::from(limit.per_second);
        *left = (*left + more).min(burst);
        *since = now;
        if *left < 1.0 {
            // The server counts in whole seconds.
            return Err(1);
        }
        *left -= 1.0;
        let whole = (0..limit.burst).rfind(|whole| f64::from(*whole) <= *left);
        Ok(whole.unwrap_or(0))
    }
}

/// Stands before every route.
pub(super) async fn stand(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let path = path.strip_prefix("/api/v4").unwrap_or(&path).to_owned();
    let mut response = answer(&shared, &path, request, next).await;
    let status = response
        .extensions()
        .get::<Cut>()
        .map_or(response.status().as_u16(), |_| 0);
    let method = method.as_str().to_owned();
    shared.hits.send_modify(|hits| {
        hits.push(Hit {
            method,
            path,
            status,
        });
    });
    let version = shared.settings().version.number();
    if let Ok(version) = HeaderValue::from_str(&format!("{version}.{version}.fake.false")) {
        response.headers_mut().insert("x-version-id", version);
    }
    response
}

async fn answer(shared: &Shared, path: &str, request: Request, next: Next) -> Response {
    let limited = limit(shared, request.headers());
    let headers = match limited {
        Ok(headers) => headers,
        Err(refused) => return *refused,
    };
    let fault = planned(shared, request.method(), path);
    let mut response = match fault {
        None => next.run(request).await,
        Some(Fault::Refuse) => status(503),
        Some(Fault::Status(code)) => status(code),
        Some(Fault::DropBefore) => Cut::response(),
        Some(Fault::DropAfter) => {
            next.run(request).await;
            Cut::response()
        }
        Some(Fault::Slow(pause)) => {
            tokio::time::sleep(pause).await;
            next.run(request).await
        }
    };
    response.headers_mut().extend(headers);
    response
}

/// Counts a request; `Err` is the refusal.
fn limit(shared: &Shared, headers: &HeaderMap) -> Result<HeaderMap, Box<Response>> {
    let mut said = HeaderMap::new();
    let Some(limit) = shared.settings().rate_limit else {
        return Ok(said);
    };
    let caller = headers.get(header::AUTHORIZATION);
    let caller = caller.and_then(|value| value.to_str().ok()).unwrap_or("");
    let taken = locked(&shared.buckets).take(caller, limit);
    let (remaining, wait) = match taken {
        Ok(left) => (left, 0),
        Err(wait) => (0, wait),
    };
    said.insert("x-ratelimit-limit", HeaderValue::from(limit.burst));
    said.insert("x-ratelimit-remaining", HeaderValue::from(remaining));
    said.insert("x-ratelimit-reset", HeaderValue::from(wait.max(1)));
    if taken.is_ok() {
        return Ok(said);
    }
    said.insert(header::RETRY_AFTER, HeaderValue::from(wait));
    let refused = (StatusCode::TOO_MANY_REQUESTS, said, "limit exceeded\n");
    Err(Box::new(refused.into_response()))
}

/// Takes the fault that meets this request, if there is one.
fn planned(shared: &Shared, method: &Method, path: &str) -> Option<Fault> {
    let mut faults = locked(&shared.faults);
    let found = faults.iter_mut().find(|planned| {
        planned.times > 0 && planned.method == *method && fits(&planned.path, path)
    })?;
    found.times -= 1;
    Some(found.fault)
}

/// Returns whether `path` is `pattern`, in which `*` stands for one part.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.split('/'), path.split('/'));
    pattern.clone().count() == path.clone().count()
        && pattern
            .zip(path)
            .all(|(wanted, part)| wanted == "*" || wanted == part)
}

fn status(code: u16) -> Response {
    let mut response = Response::new(Body::from("the server is not well"));
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_GATEWAY);
    response
}
