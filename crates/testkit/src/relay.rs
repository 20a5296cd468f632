//! A relay between a server and the gateway it calls back: a fixed address for the whole test,
//! whatever port the gateway uses; records what passes.
//!
//! What it keeps is what an attacker on the way would have. It can also hold a request back: then
//! the sender is told that nobody is there, and the test has a genuine request that was never used.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};

use crate::background::Background;

/// A request that came by.
#[derive(Clone, Debug)]
pub struct Passed {
    /// Its path.
    pub path: String,
    /// Its `content-type`.
    pub content_type: String,
    /// Its `authorization`, if it has one.
    pub authorization: Option<String>,
    /// Its body.
    pub body: Vec<u8>,
    /// The response of the gateway; nothing if there was none.
    pub answer: Option<(u16, Vec<u8>)>,
}

/// A running relay.
#[derive(Debug)]
pub struct Relay {
    server: Background,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    way: Mutex<Way>,
    passed: Mutex<Vec<Passed>>,
    client: reqwest::Client,
}

/// The address for requests.
#[derive(Clone, Debug)]
enum Way {
    To(String),
    Nowhere,
}

impl Relay {
    /// Starts one that leads nowhere yet.
    pub fn start() -> io::Result<Self> {
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .pool_max_idle_per_host(0)
            .build()
            .map_err(io::Error::other)?;
        let shared = Arc::new(Shared {
            way: Mutex::new(Way::Nowhere),
            passed: Mutex::default(),
            client,
        });
        let routes = Router::new().fallback(pass).with_state(Arc::clone(&shared));
        let server = Background::serve("relay", routes)?;
        Ok(Self { server, shared })
    }

    /// Returns where it listens.
    pub fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// From now on requests go to the gateway at `url`.
    pub fn lead_to(&self, url: &str) {
        *locked(&self.shared.way) = Way::To(url.to_owned());
    }

    /// From now on requests are held back: kept, and answered with 503.
    pub fn hold_back(&self) {
        *locked(&self.shared.way) = Way::Nowhere;
    }

    /// Returns everything that came by, in order.
    pub fn passed(&self) -> Vec<Passed> {
        locked(&self.shared.passed).clone()
    }
}

async fn pass(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let header = |name: &str| {
        let value = headers.get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let mut passed = Passed {
        path: uri.path().to_owned(),
        content_type: header("content-type").unwrap_or_default(),
        authorization: header("authorization"),
        body: body.to_vec(),
        answer: None,
    };
    let way = locked(&shared.way).clone();
    let answer = match way {
        Way::Nowhere => None,
        Way::To(url) => {
            let mut request = shared.client.request(method, format!("{url}{uri}"));
            // All but what belongs to one connection: platforms sign in headers of their own.
            for (name, value) in &headers {
                if !["host", "connection", "content-length", "transfer-encoding"]
                    .contains(&name.as_str())
                {
                    request = request.header(name.clone(), value.clone());
                }
            }
            heard(request.body(body)).await
        }
    };
    let response = match answer {
        Some((status, content_type, body)) => {
            passed.answer = Some((status, body.clone()));
            Response::builder()
                .status(status)
                .header("content-type", content_type)
                .body(Body::from(body))
                .unwrap_or_default()
        }
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    };
    locked(&shared.passed).push(passed);
    response
}

async fn heard(request: reqwest::RequestBuilder) -> Option<(u16, String, Vec<u8>)> {
    let response = request.send().await.ok()?;
    let status = response.status().as_u16();
    let content_type = response.headers().get("content-type");
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or("").to_owned();
    Some((status, content_type, response.bytes().await.ok()?.to_vec()))
}

fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
