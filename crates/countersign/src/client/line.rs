//! A line to one gateway: where it is, who speaks, and how a request is sent.
//!
//! Separate from [`super::Client`], which brings a runtime of its own: programs that already run in
//! one, such as the MCP proxy, share a line between their tasks.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::Method;
use serde_json::Value;

use super::{Answer, Reach, left_by_gateway};
use crate::complaint::Complaint;
use crate::config::Home;
use crate::tls;
use crate::wire::CLIENT_HEADER;

/// The default listen address.
const DEFAULT_URL: &str = "http://127.0.0.1:8750";
/// The address of a gateway behind the agents' socket.
const SOCKET_URL: &str = "http://agents";
/// Longest answer that is waited for; the longest wait the gateway knows is a minute.
const TIMEOUT: Duration = Duration::from_secs(75);

/// A line to a gateway, with the key that is used on it.
#[derive(Debug)]
pub(crate) struct Line {
    place: Mutex<Place>,
    /// Where whoever uses it sits, for the gateway to show.
    pub(super) surface: &'static str,
    /// The home whose gateway is meant, where no address was named.
    found_in: Option<Home>,
    pub(super) key: String,
}

/// Where a gateway is, and who speaks to it there.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) url: String,
    pub(super) http: reqwest::Client,
}

impl Place {
    fn new(url: &str, fingerprint: Option<&str>) -> Result<Self, Complaint> {
        Self::through(url, fingerprint, None)
    }

    /// Returns the gateway behind `socket`, which only its owner can put there: once a gateway is
    /// gone, anybody on the machine can listen at its port.
    fn behind(socket: &Path) -> Result<Self, Complaint> {
        Self::through(SOCKET_URL, None, Some(socket))
    }

    fn through(
        url: &str,
        fingerprint: Option<&str>,
        socket: Option<&Path>,
    ) -> Result<Self, Complaint> {
        let failed = |error: String| Complaint::failed(format!("cannot start: {error}"), "");
        let mut http = countersign_channels::http().timeout(TIMEOUT).no_proxy();
        if let Some(socket) = socket {
            http = http.unix_socket(socket);
        }
        let trusted = match fingerprint {
            Some(fingerprint) => Some(tls::trusting(fingerprint)),
            // Nobody's certificate is looked at, and reading all that the system trusts takes longer
            // than the rest of a command.
            None if url.starts_with("http://") => Some(tls::trusting("")),
            None => None,
        };
        if let Some(trusted) = trusted {
            let trusted = trusted.map_err(|error| failed(error.to_string()))?;
            http = http.tls_backend_preconfigured(trusted);
        }
        let http = http.build().map_err(|error| failed(error.to_string()))?;
        let url = url.trim_end_matches('/').to_owned();
        Ok(Self { url, http })
    }

    pub(super) fn away(&self, error: &reqwest::Error) -> Complaint {
        let why = if error.is_timeout() {
            "it does not respond in time"
        } else {
            "nothing is listening there"
        };
        Complaint::unreachable(format!("no gateway at {}: {why}", self.url))
    }

    pub(super) async fn read(&self, response: reqwest::Response) -> Result<Answer, Complaint> {
        let status = response.status();
        let bytes = response.bytes().await.map_err(|error| self.away(&error))?;
        let body = if bytes.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&bytes).map_err(|_| {
                let hint = "is that address a Countersign gateway?";
                Complaint::failed(format!("{} did not respond with JSON", self.url), hint)
            })?
        };
        Ok(Answer { status, body })
    }
}

impl Line {
    /// Returns a line to the gateway the command line means.
    pub(crate) fn find(reach: &Reach) -> Result<Self, Complaint> {
        let home = Home::new(reach.home.clone())?;
        let named = reach.url.clone();
        let named = named.or_else(|| reach.variable("COUNTERSIGN_URL"));
        let own = left_by_gateway(&home)
            .filter(|(url, _)| named.as_ref().is_none_or(|named| is_same(named, url)));
        let socket = home.agent_socket();
        let is_agent = reach.asks_for_agent && named.is_none() && socket.exists();
        let place = match (&own, &named) {
            _ if is_agent => Place::behind(&socket),
            (Some((url, fingerprint)), _) => Place::new(url, fingerprint.as_deref()),
            (None, Some(url)) => Place::new(url, None),
            // Whoever listens at the usual port would be believed.
            (None, None) if reach.asks_for_agent => Err(foreign(&home, None)),
            (None, None) => Place::new(DEFAULT_URL, None),
        }?;
        let key = match given_key(reach, &home)? {
            Some(key) => key,
            None if own.is_some() && home.has_begun() => read_key(&home.command_line_key_file())?,
            None => return Err(foreign(&home, named.as_deref())),
        };
        Ok(Self {
            place: Mutex::new(place),
            surface: "cli",
            found_in: (own.is_some() && !is_agent).then_some(home),
            key,
        })
    }

    /// Looks where the gateway is now: one that was started again may listen elsewhere.
    pub(crate) fn look_again(&self) {
        let Some((url, fingerprint)) = self.found_in.as_ref().and_then(left_by_gateway) else {
            return;
        };
        if let Ok(place) = Place::new(&url, fingerprint.as_deref()) {
            *self.place.lock().unwrap_or_else(PoisonError::into_inner) = place;
        }
    }

    pub(super) fn place(&self) -> Place {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        place.clone()
    }

    /// Returns where the gateway is.
    pub(crate) fn url(&self) -> String {
        self.place().url
    }

    /// Sends a request and returns status and body, whatever they are.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, Complaint> {
        self.send_as(&self.key, method, path, body, None).await
    }

    /// Sends a request that may be sent twice: the gateway does what it says once for each `name`.
    pub(crate) async fn send_named(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        name: &str,
    ) -> Result<Answer, Complaint> {
        self.send_as(&self.key, method, path, body, Some(name))
            .await
    }

    /// Sends a request with another key.
    pub(super) async fn send_as(
        &self,
        key: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
        name: Option<&str>,
    ) -> Result<Answer, Complaint> {
        let place = self.place();
        let mut request = place
            .http
            .request(method, format!("{}{path}", place.url))
            .bearer_auth(key)
            .header(CLIENT_HEADER, self.surface);
        if let Some(body) = body {
            request = request.json(body);
        }
        if let Some(name) = name {
            request = request.header("idempotency-key", name);
        }
        let response = request.send().await.map_err(|error| place.away(&error))?;
        place.read(response).await
    }
}

/// Returns the key that was given for this very call. The key of the home is not one: it belongs to
/// the home's own gateway, wherever its file is named.
fn given_key(reach: &Reach, home: &Home) -> Result<Option<String>, Complaint> {
    let own = home.command_line_key_file();
    match &reach.key_file {
        Some(file) if is_same_file(file, &own) => Ok(None),
        Some(file) => read_key(file).map(Some),
        None => Ok(reach.variable("COUNTERSIGN_KEY")),
    }
}

fn read_key(file: &Path) -> Result<String, Complaint> {
    match std::fs::read_to_string(file) {
        Ok(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        Ok(_) => Err(no_key(file, "it is empty")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let hint = "give a file that holds a key; `countersign keys create` creates one";
            let file = file.display();
            Err(Complaint::usage(
                format!("there is no key file {file}"),
                hint,
            ))
        }
        Err(error) => Err(no_key(file, &error.to_string())),
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        (Ok(_) | Err(_), Ok(_) | Err(_)) => one == other,
    }
}

/// The key of a home is sent to the home's own gateway alone.
fn foreign(home: &Home, named: Option<&str>) -> Complaint {
    let directory = home.directory().display();
    match named {
        None if home.has_begun() => {
            Complaint::unreachable(format!("no gateway is running in {directory}"))
        }
        None => Complaint::unreachable(format!("no gateway has run in {directory} yet")),
        Some(url) => Complaint::usage(
            format!(
                "the key of {directory} belongs to the gateway of this home and is not sent to {url}"
            ),
            "give a key of that gateway: --key-file FILE or COUNTERSIGN_KEY",
        ),
    }
}

/// Whether two addresses name the same gateway. `localhost` stands for the address the gateway left.
fn is_same(named: &str, left: &str) -> bool {
    let (Ok(named), Ok(left)) = (reqwest::Url::parse(named), reqwest::Url::parse(left)) else {
        return false;
    };
    let is_loopback = matches!(left.host_str(), Some("127.0.0.1" | "[::1]"));
    named.scheme() == left.scheme()
        && named.port_or_known_default() == left.port_or_known_default()
        && (named.host_str() == left.host_str()
            || is_loopback && named.host_str() == Some("localhost"))
        && named.path() == "/"
        && named.username().is_empty()
}

fn no_key(file: &Path, why: &str) -> Complaint {
    Complaint::unreachable(format!("no key in {}: {why}", file.display()))
}
