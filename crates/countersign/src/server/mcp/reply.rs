//! The answer of an MCP server as it is passed on: status, headers and a body that comes in pieces.
//!
//! Separate because servers at an address and programs answer the same way from here on.

use std::pin::Pin;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::{Stream, StreamExt as _, stream};

use crate::mcp::message::MESSAGE_BYTES_MAX;

/// The pieces of a body, until it ends or breaks.
pub(super) type Pieces = Pin<Box<dyn Stream<Item = Result<Bytes, Broken>> + Send>>;

/// The body ended before it was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the server's answer ended before it was complete")
    }
}

impl std::error::Error for Broken {}

/// An answer.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Pieces,
}

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(crate) const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

impl Reply {
    /// Returns an answer without a body.
    pub(super) fn empty(status: StatusCode) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            body: Box::pin(stream::empty()),
        }
    }

    /// Returns an answer that is one message.
    pub(super) fn message(status: StatusCode, message: Vec<u8>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, JSON);
        Self {
            status,
            headers,
            body: Box::pin(stream::once(async { Ok(Bytes::from(message)) })),
        }
    }

    /// Whether the messages in it are events.
    pub(super) fn is_events(&self) -> bool {
        self.is_kind("text/event-stream")
    }

    /// Whether it is one message.
    pub(super) fn is_json(&self) -> bool {
        self.is_kind("application/json")
    }

    fn is_kind(&self, wanted: &str) -> bool {
        self.headers
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .and_then(|kind| kind.split(';').next())
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case(wanted))
    }

    /// Returns the whole body.
    pub(super) async fn whole(&mut self) -> Result<Bytes, Broken> {
        let mut all = Vec::new();
        while let Some(piece) = self.body.next().await {
            let piece = piece?;
            if all.len() + piece.len() > MESSAGE_BYTES_MAX {
                return Err(Broken);
            }
            all.extend_from_slice(&piece);
        }
        Ok(Bytes::from(all))
    }

    /// Returns it as the answer of this server.
    pub(super) fn into_response(self) -> Response {
        let mut response = Response::new(Body::from_stream(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        if response.headers().get(header::CONTENT_TYPE) == Some(&EVENTS) {
            let name = HeaderName::from_static("x-accel-buffering");
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static("no"));
        }
        response
    }
}
