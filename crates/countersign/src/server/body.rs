//! Strict request bodies: JSON only, size-limited, no duplicate or unknown keys.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use countersign_core::canonical;
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::problem::Problem;

/// Longest body.
pub(crate) const BODY_BYTES_MAX: usize = 1024 * 1024;
/// How long a body may take to arrive.
const BODY_TIME_MAX: Duration = Duration::from_secs(30);

/// The body of a request.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts.headers, body).await?;
        parsed(&parts.headers, &bytes).map(Self)
    }
}

fn parsed<T: DeserializeOwned>(headers: &HeaderMap, bytes: &[u8]) -> Result<T, Problem> {
    // What needs no field may be sent without a body.
    if bytes.is_empty() {
        return typed(serde_json::json!({}));
    }
    if !is_json(headers) {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            "the body must be JSON, sent as `content-type: application/json`",
        ));
    }
    let value = canonical::parse(bytes).map_err(|error| match error.classify() {
        // What is JSON but not ours to read: a key that stands twice.
        Category::Data => Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "duplicate_key",
            plain(&error),
        ),
        Category::Io | Category::Syntax | Category::Eof => Problem::new(
            StatusCode::BAD_REQUEST,
            "invalid_json",
            format!("the body is not JSON: {}", plain(&error)),
        ),
    })?;
    typed(value)
}

/// The body of a request whose type refuses by itself what may not be in it: unknown keys, and keys
/// that stand twice, however deep. It is read at once; only what is refused is read a second time,
/// to say what is wrong with it.
#[derive(Debug)]
pub(crate) struct StrictBody<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for StrictBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts.headers, body).await?;
        if is_json(&parts.headers)
            && let Ok(typed) = serde_json::from_slice(&bytes)
        {
            return Ok(Self(typed));
        }
        parsed(&parts.headers, &bytes).map(Self)
    }
}

/// The query of a request.
#[derive(Debug)]
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        Query::<T>::try_from_uri(&parts.uri)
            .map(|Query(params)| Self(params))
            .map_err(|error| {
                let why = std::error::Error::source(&error)
                    .map_or_else(|| error.to_string(), ToString::to_string);
                Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_query", why)
            })
    }
}

/// Returns how long a request may wait for a decision.
pub(crate) fn wait(seconds: Option<f64>) -> Result<Duration, Problem> {
    let seconds = seconds.unwrap_or(0.0);
    if (0.0..=60.0).contains(&seconds) {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err(Problem {
        param: Some("wait_seconds".to_owned()),
        ..Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "invalid_wait",
            "`wait_seconds` must be from 0 to 60",
        )
    })
}

async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > BODY_BYTES_MAX) {
        return Err(too_large());
    }
    let reading = async {
        let mut stream = body.into_data_stream();
        let first = stream.next().await.transpose().map_err(|_| broken())?;
        // Most bodies arrive with their headers, whole.
        let first = match first {
            Some(first) if Some(first.len()) == announced => return Ok(first),
            Some(first) if first.len() > BODY_BYTES_MAX => return Err(too_large()),
            Some(first) => first,
            None => return Ok(Bytes::new()),
        };
        let mut all = Vec::with_capacity(announced.unwrap_or(0).clamp(first.len(), BODY_BYTES_MAX));
        all.extend_from_slice(&first);
        while let Some(piece) = stream.next().await {
            let piece = piece.map_err(|_| broken())?;
            if all.len() + piece.len() > BODY_BYTES_MAX {
                return Err(too_large());
            }
            all.extend_from_slice(&piece);
        }
        Ok(Bytes::from(all))
    };
    tokio::time::timeout(BODY_TIME_MAX, reading)
        .await
        .map_err(|_| {
            Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                "body_too_slow",
                "the body took longer than 30 seconds",
            )
        })?
}

fn typed<T: DeserializeOwned>(value: serde_json::Value) -> Result<T, Problem> {
    serde_json::from_value(value).map_err(|error| {
        let message = plain(&error);
        let param = message.split('`').nth(1).map(str::to_owned);
        Problem {
            param,
            ..Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_body", message)
        }
    })
}

/// Returns the parser's complaint without its account of the place, which counts from nowhere.
fn plain(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message
        .split(" at line ")
        .next()
        .unwrap_or(&message)
        .to_owned()
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn too_large() -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "body_too_large",
        "the body is longer than 1 MiB",
    )
}

fn broken() -> Problem {
    Problem::new(
        StatusCode::BAD_REQUEST,
        "body_broken",
        "the body ended before it was complete",
    )
}
