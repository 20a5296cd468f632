//! An MCP server at an address: requests are passed on, and so are its answers, as they come.
//!
//! Separate because it decides which headers pass. The client's credential never does: a server that
//! had it could ask this gateway in the client's name. What the server is shown comes from the owner's
//! configuration.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use futures_util::StreamExt as _;
use reqwest::Url;

use super::reply::{Broken, Reply};
use crate::server::problem::Problem;
use crate::wire::CLIENT_HEADER;

/// How long a connection to a server may take to open.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);

/// Headers of one connection, or of one side's own business, that are not passed on to the server.
const KEPT_FROM_SERVER: &[&str] = &[
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "idempotency-key",
    "keep-alive",
    "origin",
    "proxy-authorization",
    "proxy-connection",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-api-key",
    CLIENT_HEADER,
];
/// The same in the other direction, and what a server could tell a browser about this gateway.
const KEPT_FROM_CLIENT: &[&str] = &[
    "alt-svc",
    "clear-site-data",
    "connection",
    "content-security-policy",
    "keep-alive",
    "proxy-authenticate",
    "proxy-connection",
    "refresh",
    "set-cookie",
    "strict-transport-security",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "www-authenticate",
];

/// A server at an address.
#[derive(Clone, Debug)]
pub(super) struct Remote {
    url: Url,
    http: reqwest::Client,
    /// What it is shown, from the configuration.
    credential: Option<HeaderValue>,
}

impl Remote {
    /// Returns the server at `url`, which is shown the token in `credential`.
    pub(super) fn new(url: Url, token: Option<&str>) -> Result<Self, String> {
        let http = countersign_channels::http()
            .connect_timeout(CONNECT_TIME_MAX)
            .build()
            .map_err(|error| error.to_string())?;
        let credential = token
            .map(|token| {
                let mut value = HeaderValue::try_from(format!("Bearer {token}"))
                    .map_err(|_| "its token cannot stand in a header".to_owned())?;
                value.set_sensitive(true);
                Ok::<_, String>(value)
            })
            .transpose()?;
        Ok(Self {
            url,
            http,
            credential,
        })
    }

    /// Passes a request on.
    pub(super) async fn forward(
        &self,
        method: Method,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Reply, Problem> {
        let mut passed = passed(headers, KEPT_FROM_SERVER);
        if let Some(credential) = &self.credential {
            passed.insert(header::AUTHORIZATION, credential.clone());
        }
        let mut request = self.http.request(method.clone(), self.url.clone());
        request = request.headers(passed);
        if method == Method::POST {
            request = request.body(body);
        }
        let response = request.send().await.map_err(|error| away(&error))?;
        let status = response.status();
        // A client that followed would speak to a server without this gateway, and one that was asked
        // to sign in would hand that server what belongs here.
        if status.is_redirection()
            || matches!(
                status,
                StatusCode::UNAUTHORIZED | StatusCode::PROXY_AUTHENTICATION_REQUIRED
            )
        {
            let message = format!(
                "the MCP server responded with {status}; its address and credentials are set in `mcp.servers`"
            );
            return Err(Problem::new(
                StatusCode::BAD_GATEWAY,
                "mcp_server_refused",
                message,
            ));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in kept(response.headers(), KEPT_FROM_CLIENT) {
            if !name.as_str().starts_with("access-control-") {
                headers.append(name.clone(), value.clone());
            }
        }
        let body = response
            .bytes_stream()
            .map(|piece| piece.map_err(|_| Broken));
        Ok(Reply {
            status,
            headers,
            body: Box::pin(body),
        })
    }
}

fn passed(headers: &HeaderMap, dropped: &[&str]) -> HeaderMap {
    let mut passed = HeaderMap::with_capacity(headers.len());
    for (name, value) in kept(headers, dropped) {
        passed.append(name.clone(), value.clone());
    }
    passed
}

/// Returns the headers that are neither in `dropped` nor named as those of the connection.
fn kept<'a>(
    headers: &'a HeaderMap,
    dropped: &'a [&'a str],
) -> impl Iterator<Item = (&'a HeaderName, &'a HeaderValue)> {
    let of_connection: Vec<String> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    headers.iter().filter(move |(name, _)| {
        !dropped.contains(&name.as_str()) && !of_connection.iter().any(|it| it == name.as_str())
    })
}

fn away(error: &reqwest::Error) -> Problem {
    let why = if error.is_timeout() {
        "it does not respond in time"
    } else if error.is_connect() {
        "nothing is listening there"
    } else {
        "the connection broke"
    };
    Problem::new(
        StatusCode::BAD_GATEWAY,
        "mcp_server_away",
        format!("the MCP server cannot be reached: {why}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_headers_of_the_connection_stay_here() {
        let given = [
            ("authorization", "Bearer secret"),
            ("cookie", "countersign_session=x"),
            ("connection", "keep-alive, X-Hop"),
            ("x-hop", "1"),
            ("mcp-session-id", "7"),
            ("last-event-id", "3"),
            ("traceparent", "00-1-2-01"),
            ("accept", "text/event-stream"),
        ];
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(name, HeaderValue::from_static(value));
        }
        let passed = passed(&headers, KEPT_FROM_SERVER);
        let mut names: Vec<&str> = passed.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["accept", "last-event-id", "mcp-session-id", "traceparent"]
        );
    }
}
