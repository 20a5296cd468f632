//! The command line's way to a gateway: HTTP, like any other program.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::Value;

use crate::complaint::Complaint;
use crate::config::Home;
use crate::config::read::at;
use crate::gateway::command_line_key_file;
use crate::tls;

/// Where a gateway listens unless it is told otherwise.
const DEFAULT_URL: &str = "http://127.0.0.1:8750";
/// Longest answer that is waited for; the longest wait the gateway knows is a minute.
const TIMEOUT: Duration = Duration::from_secs(75);

/// How a gateway is found, as the command line says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    pub(crate) home: Option<PathBuf>,
    pub(crate) url: Option<String>,
    pub(crate) key_file: Option<PathBuf>,
}

/// A connection to a gateway.
#[derive(Debug)]
pub(crate) struct Client {
    url: String,
    key: String,
    http: reqwest::Client,
    runtime: tokio::runtime::Runtime,
}

impl Client {
    /// Returns a client for the gateway the command line means.
    pub(crate) fn new(reach: &Reach) -> Result<Self, Complaint> {
        let home = Home::new(reach.home.clone())?;
        let named = reach.url.clone().or_else(|| variable("COUNTERSIGN_URL"));
        let (url, fingerprint) = named
            .map(|url| (url, None))
            .or_else(|| left_by_gateway(&home))
            .unwrap_or_else(|| (DEFAULT_URL.to_owned(), None));
        let url = url.trim_end_matches('/').to_owned();
        let key = key(reach, &home)?;
        let failed = |error: String| Complaint::failed(format!("cannot start: {error}"), "");
        let mut http = countersign_channels::http().timeout(TIMEOUT).no_proxy();
        if let Some(fingerprint) = fingerprint {
            let trusting = tls::trusting(&fingerprint);
            let trusting = trusting.map_err(|error| failed(error.to_string()))?;
            http = http.tls_backend_preconfigured(trusting);
        }
        let http = http.build().map_err(|error| failed(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            url,
            key,
            http,
            runtime,
        })
    }

    /// Returns a client for the same gateway that uses another key.
    pub(crate) fn with_key(&self, key: &str) -> Agent<'_> {
        Agent {
            client: self,
            key: key.to_owned(),
        }
    }

    /// Returns where the gateway is.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Asks for `path`.
    pub(crate) fn get(&self, path: &str) -> Result<Value, Complaint> {
        self.ask(Method::GET, path, None).and_then(expect_done)
    }

    /// Sends `body` to `path`.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value, Complaint> {
        self.ask(Method::POST, path, Some(body))
            .and_then(expect_done)
    }

    /// Deletes what is at `path`.
    pub(crate) fn delete(&self, path: &str) -> Result<Value, Complaint> {
        self.ask(Method::DELETE, path, None).and_then(expect_done)
    }

    /// Sends a request and returns status and body, whatever they are.
    pub(crate) fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Value), Complaint> {
        self.ask_as(&self.key, method, path, body)
    }

    fn ask_as(
        &self,
        key: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Value), Complaint> {
        self.runtime.block_on(async {
            let mut request = self
                .http
                .request(method, format!("{}{path}", self.url))
                .bearer_auth(key);
            if let Some(body) = body {
                request = request.json(body);
            }
            let response = request.send().await.map_err(|error| self.away(&error))?;
            let status = response.status();
            let bytes = response.bytes().await.map_err(|error| self.away(&error))?;
            let body = if bytes.is_empty() {
                Value::Null
            } else {
                serde_json::from_slice(&bytes).map_err(|_| {
                    let hint = "is that address a Countersign gateway?";
                    Complaint::failed(format!("{} does not answer in JSON", self.url), hint)
                })?
            };
            Ok((status, body))
        })
    }

    fn away(&self, error: &reqwest::Error) -> Complaint {
        let why = if error.is_timeout() {
            "it does not answer in time"
        } else {
            "nothing answers there"
        };
        Complaint::unreachable(format!("no gateway at {}: {why}", self.url))
    }
}

/// The same gateway, asked with another key.
#[derive(Debug)]
pub(crate) struct Agent<'a> {
    client: &'a Client,
    key: String,
}

impl Agent<'_> {
    /// Asks for `path`.
    pub(crate) fn get(&self, path: &str) -> Result<Value, Complaint> {
        self.client
            .ask_as(&self.key, Method::GET, path, None)
            .and_then(expect_done)
    }

    /// Sends `body` to `path`.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value, Complaint> {
        self.client
            .ask_as(&self.key, Method::POST, path, Some(body))
            .and_then(expect_done)
    }
}

/// Returns the body of an answer that is one.
fn expect_done((status, body): (StatusCode, Value)) -> Result<Value, Complaint> {
    if status.is_success() {
        return Ok(body);
    }
    Err(refused(status, &body))
}

/// Returns what a refusal says, for a person.
pub(crate) fn refused(status: StatusCode, body: &Value) -> Complaint {
    let message = at(body, "error.message").as_str().map_or_else(
        || format!("the gateway answers {status}"),
        countersign_core::display::inline,
    );
    let hint = match status {
        StatusCode::UNAUTHORIZED => {
            "the key is not known to this gateway; `countersign keys create` makes one"
        }
        StatusCode::FORBIDDEN => "use a key with another role: --key-file FILE",
        StatusCode::NOT_FOUND => "`countersign approvals` and `countersign history` list ids",
        StatusCode::TOO_MANY_REQUESTS => "try again in a moment",
        StatusCode::SERVICE_UNAVAILABLE => "the gateway's log has the cause",
        _ => "",
    };
    Complaint::failed(message, hint)
}

fn key(reach: &Reach, home: &Home) -> Result<String, Complaint> {
    if reach.key_file.is_none()
        && let Some(key) = variable("COUNTERSIGN_KEY")
    {
        return Ok(key);
    }
    let file = reach
        .key_file
        .clone()
        .unwrap_or_else(|| command_line_key_file(home));
    match std::fs::read_to_string(&file) {
        Ok(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        Ok(_) => Err(no_key(&file, "it is empty")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(no_key(&file, "there is none"))
        }
        Err(error) => Err(no_key(&file, &error.to_string())),
    }
}

fn no_key(file: &Path, why: &str) -> Complaint {
    Complaint::unreachable(format!("no key in {}: {why}", file.display()))
}

/// Returns where the gateway of this home says it listens, and the fingerprint of its certificate
/// if it has one.
fn left_by_gateway(home: &Home) -> Option<(String, Option<String>)> {
    let text = std::fs::read_to_string(address_file(home)).ok()?;
    let mut lines = text.lines();
    let url = lines.next().filter(|url| url.starts_with("http"))?;
    Some((url.to_owned(), lines.next().map(str::to_owned)))
}

/// Returns the file in which the gateway of a home leaves its address, and below it the fingerprint
/// of its certificate.
pub(crate) fn address_file(home: &Home) -> PathBuf {
    home.directory().join("gateway.url")
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .map(|value| value.trim().to_owned())
        .filter(|value| !value.is_empty())
}
