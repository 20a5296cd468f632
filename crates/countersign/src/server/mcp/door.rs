//! Lets the gateway's own MCP endpoint ask like any client: over the API, without a connection.
//!
//! Separate so that calls that come in over MCP pass the same authentication, limits and routes as all
//! others, with the credential they came with. There is no second way to the gate.

use std::fmt;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderValue, Method, Request, header};
use countersign_gate::records::request::Submission;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tower::ServiceExt as _;

use crate::client::Answer;
use crate::complaint::Complaint;
use crate::mcp::way::Door;
use crate::server::auth::Credential;
use crate::server::listen::Peer;

/// Longest answer of the gateway to itself, in bytes.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The routes that agents may use, as one caller reaches them.
pub(super) struct Inside {
    pub(super) router: Router,
    pub(super) peer: Peer,
    pub(super) credential: Credential,
    /// The host that the caller meant.
    pub(super) host: Option<HeaderValue>,
    /// The server, if the owner pinned it.
    pub(super) pinned: Option<OfPinned>,
}

/// A server that the owner pinned, and that submits its own calls. It travels beside a request inside of this
/// process, so nothing that comes over a connection can be one.
#[derive(Clone, Debug)]
pub(crate) struct OfPinned {
    pub(super) executor: String,
    /// What the names of its tools begin with.
    pub(super) tools: String,
}

impl OfPinned {
    /// Whether `submission` is a call of this server.
    pub(crate) fn covers(&self, submission: &Submission) -> bool {
        submission.executor.as_deref() == Some(&self.executor)
            && submission.call.tool.starts_with(&self.tools)
    }
}

/// The routes that agents may use.
#[derive(Clone, Debug)]
pub(crate) struct Routes(pub(crate) Router);

impl fmt::Debug for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inside")
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}

impl Inside {
    fn request(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        name: Option<&str>,
    ) -> Result<Request<Body>, axum::http::Error> {
        let mut request = Request::builder().method(method).uri(path);
        if let Credential::Key(secret) = &self.credential {
            request = request.header(header::AUTHORIZATION, format!("Bearer {secret}"));
        }
        if let Some(host) = &self.host {
            request = request.header(header::HOST, host);
        }
        if let Some(name) = name {
            request = request.header("idempotency-key", name);
        }
        let body = match body {
            Some(body) => {
                let body = body.to_string();
                request = request
                    .header(header::CONTENT_TYPE, "application/json")
                    .header(header::CONTENT_LENGTH, body.len());
                Body::from(body)
            }
            None => Body::empty(),
        };
        let mut request = request.body(body)?;
        request.extensions_mut().insert(self.peer);
        if let Some(pinned) = &self.pinned {
            request.extensions_mut().insert(pinned.clone());
        }
        Ok(request)
    }
}

impl Door for Inside {
    fn ask<'a>(
        &'a self,
        method: Method,
        path: &'a str,
        body: Option<&'a Value>,
        name: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Answer, Complaint>> {
        Box::pin(async move {
            let failed = |why: String| Complaint::failed(format!("the gateway failed: {why}"), "");
            let request = self.request(&method, path, body, name);
            let request = request.map_err(|error| failed(error.to_string()))?;
            let response = match self.router.clone().oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            };
            let status = response.status();
            let bytes = to_bytes(response.into_body(), ANSWER_BYTES_MAX).await;
            let bytes = bytes.map_err(|error| failed(error.to_string()))?;
            let body = if bytes.is_empty() {
                Value::Null
            } else {
                serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))?
            };
            Ok(Answer::new(status, body))
        })
    }
}
