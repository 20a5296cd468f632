//! The HTTP tool: requests exactly the address that was judged.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use countersign_gate::calls::permit::Permit;
use futures_util::StreamExt as _;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, Url};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Around, Asks, Outcome, TEXT_BYTES_MAX, Tool, bounded, understood};
use crate::BoxFuture;
use crate::model::ToolSchema;
use crate::outbound::{Approval, Cleared, Outgoing, SendFailed, clear};

const NAME: &str = "http_request";
/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Headers that may go with a request nobody is asked about: none of them makes it do anything, nor
/// carries anything away.
const HARMLESS_HEADERS: &[&str] = &[
    "accept",
    "accept-language",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "range",
    "user-agent",
];
/// Longest value of such a header.
const HARMLESS_BYTES_MAX: usize = 256;
/// What may be asked for; the first three only read.
const METHODS: &[&str] = &["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"];
const READING: usize = 3;
/// Headers that say how a request travels, which is not for its sender to say.
const TRAVELLING: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Makes requests over HTTP.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    client: Client,
    approval: Approval,
}

/// A request, as its sender was asked to make it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    url: String,
    method: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

impl Request {
    fn only_reads(&self) -> bool {
        METHODS.iter().take(READING).any(|it| *it == self.method)
    }

    /// Returns it with its address as it is used; or what is wrong with it.
    fn written_out(mut self) -> Result<Self, String> {
        if !METHODS.contains(&self.method.as_str()) {
            return Err(format!("`method` is one of {}", METHODS.join(", ")));
        }
        if self.only_reads() && self.body.is_some() {
            return Err(format!("a {} has no body", self.method));
        }
        let url = Url::parse(&self.url).map_err(|error| format!("`url`: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("`url` begins with http:// or https://".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("`url` must not contain a password".to_owned());
        }
        self.headers()?;
        self.url = url.into();
        Ok(self)
    }

    fn headers(&self) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            if TRAVELLING.contains(&name.to_ascii_lowercase().as_str()) {
                return Err(format!("the header `{name}` cannot be set"));
            }
            let lower = name.to_ascii_lowercase();
            if lower.contains("method") {
                return Err(format!("the header `{name}` would change the request"));
            }
            let is_harmless =
                HARMLESS_HEADERS.contains(&lower.as_str()) && value.len() <= HARMLESS_BYTES_MAX;
            if self.only_reads() && !is_harmless {
                let known = HARMLESS_HEADERS.join(", ");
                return Err(format!(
                    "the header `{name}` cannot be sent with a {}; short ones of these can: {known}",
                    self.method
                ));
            }
            let wrong = || format!("the header `{name}` cannot be sent");
            let key: HeaderName = name.parse().map_err(|_| wrong())?;
            let value: HeaderValue = value.parse().map_err(|_| wrong())?;
            if headers.insert(key, value).is_some() {
                return Err(format!("the header `{name}` is there twice"));
            }
        }
        Ok(headers)
    }
}

impl HttpRequest {
    /// Returns the tool, or why there can be none.
    pub fn new(approval: Approval) -> Result<Self, String> {
        // Another part of the process may have chosen already; the first choice holds.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            // Where a redirect leads nobody has judged.
            .redirect(reqwest::redirect::Policy::none())
            .dns_resolver(Elsewhere)
            // A proxy would be asked instead of the address on the card.
            .no_proxy()
            .timeout(TIMEOUT)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { client, approval })
    }

    async fn request(&self, permit: Permit, around: &Around) -> Result<String, String> {
        let request: Request = understood(permit.args())?;
        if request.clone().written_out()? != request {
            return Err("`url` is not in canonical form".to_owned());
        }
        let approval = if request.only_reads() {
            Approval::Waived
        } else {
            self.approval
        };
        let outgoing = Outgoing {
            tool: NAME,
            content: request,
            attachments: Vec::new(),
        };
        let cleared = clear(permit, outgoing, approval, around)
            .await
            .map_err(|error| error.to_string())?;
        tokio::select! {
            answer = self.send(cleared) => answer.map_err(|error| error.to_string()),
            () = around.stopped() => {
                let why = "the run was stopped".to_owned();
                Err(SendFailed::Unknown(why).to_string())
            }
        }
    }

    async fn send(&self, request: Cleared<Request>) -> Result<String, SendFailed> {
        let content = request.content();
        let method = Method::from_bytes(content.method.as_bytes());
        let method = method.map_err(|error| SendFailed::NotSent(error.to_string()))?;
        let mut sending = self
            .client
            .request(method, &content.url)
            .headers(content.headers().map_err(SendFailed::NotSent)?);
        if let Some(body) = &content.body {
            sending = sending.body(body.clone());
        }
        match sending.send().await {
            Ok(response) => Ok(shown(response).await),
            Err(error) if error.is_connect() || error.is_builder() => {
                Err(SendFailed::NotSent(causes(&error)))
            }
            Err(error) => Err(SendFailed::Unknown(causes(&error))),
        }
    }
}

impl Tool for HttpRequest {
    fn schema(&self) -> ToolSchema {
        ToolSchema {
            name: NAME.to_owned(),
            description: "Makes an HTTP request. Redirects are not followed. For anything but \
                          GET, HEAD and OPTIONS a person is asked first."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "url": {"type": "string"},
                    "method": {"type": "string", "enum": METHODS},
                    "headers": {"type": "object", "additionalProperties": {"type": "string"}},
                    "body": {"type": "string"},
                },
                "required": ["url", "method"],
                "additionalProperties": false,
            }),
        }
    }

    fn asks(&self) -> Asks {
        match self.approval {
            Approval::Required => Asks::UnlessReading,
            Approval::Waived => Asks::IfRisky,
        }
    }

    fn approval_required(&self) -> bool {
        true
    }

    fn resolved(&self, args: Value) -> Result<Value, String> {
        let request = understood::<Request>(&args)?.written_out()?;
        serde_json::to_value(request).map_err(|error| error.to_string())
    }

    fn run<'a>(&'a self, permit: Permit, around: &'a Around) -> BoxFuture<'a, Outcome> {
        Box::pin(async move { self.request(permit, around).await.into() })
    }
}

/// Returns an answer for the model: its status, what matters of its headers, its text.
async fn shown(response: Response) -> String {
    let mut text = format!("{}\n", response.status());
    for name in ["content-type", "location", "retry-after"] {
        let value = response.headers().get(name);
        if let Some(value) = value.and_then(|value| value.to_str().ok()) {
            text.extend([name, ": ", value, "\n"]);
        }
    }
    if response.status().is_redirection() {
        text.push_str("(not followed; ask for the new address if you want it)\n");
    }
    let mut body = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(part) = stream.next().await {
        match part {
            Ok(bytes) => body.extend_from_slice(&bytes),
            Err(error) => {
                let note = format!("(the answer broke off: {})\n", causes(&error));
                text.push_str(&note);
                break;
            }
        }
        if body.len() > TEXT_BYTES_MAX {
            break;
        }
    }
    text.push('\n');
    let more = body.len() > TEXT_BYTES_MAX;
    body.truncate(TEXT_BYTES_MAX);
    match String::from_utf8(body) {
        Ok(body) => text.push_str(&bounded(&body)),
        Err(error) if more && error.utf8_error().error_len().is_none() => {
            let body = String::from_utf8_lossy(error.as_bytes()).into_owned();
            text.push_str(&body);
        }
        Err(_) => text.push_str("(not a text)"),
    }
    if more {
        text.push_str("\n… the rest was left out");
    }
    text
}

/// Says what went wrong down to its cause, without the address, which may hold a secret.
fn causes(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut next: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(cause) = next {
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    if text.is_empty() {
        "the request failed".to_owned()
    } else {
        text
    }
}

/// Finds names, but no name that leads to this machine without saying so: the judge knows
/// `localhost` and the addresses, and lets what looks like another machine pass more easily.
#[derive(Clone, Copy, Debug)]
struct Elsewhere;

impl Resolve for Elsewhere {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let says_so = host.eq_ignore_ascii_case("localhost");
            if !says_so && let Some(address) = found.iter().find(|it| is_here(it.ip())) {
                let why = format!("{host} is {}; name that instead", address.ip());
                return Err(why.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Whether an address is this machine, or what a machine asks about itself.
fn is_here(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_unspecified() || v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unspecified() || v6.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_nobody_is_asked_about_carries_no_header_that_does_something() {
        let request = |method: &str, name: &str, value: &str| Request {
            url: "https://example.org/".to_owned(),
            method: method.to_owned(),
            headers: [(name.to_owned(), value.to_owned())].into_iter().collect(),
            body: None,
        };
        let long = "x".repeat(300);
        for (method, name, value, fits) in [
            ("GET", "Accept", "text/html", true),
            ("GET", "X-HTTP-Method-Override", "DELETE", false),
            ("POST", "X-HTTP-Method-Override", "DELETE", false),
            ("GET", "X-Data", "x", false),
            ("GET", "User-Agent", long.as_str(), false),
            ("POST", "X-Data", "x", true),
        ] {
            let written = request(method, name, value).written_out();
            assert_eq!(written.is_ok(), fits, "{method} {name}");
        }
    }
}
