//! A server with a team, and an integration that answers as a test wants.

use std::sync::mpsc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse as _;
use countersign_testkit::mattermost::{MattermostServer, Place, Settings};
use serde_json::{Value, json};
use tokio::sync::oneshot;

pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) fn started(settings: Settings) -> (MattermostServer, Place) {
    let server = MattermostServer::start(settings).unwrap();
    let place = Place::prepare(server.url(), server.admin_token()).unwrap();
    (server, place)
}

/// What an integration was sent.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |it| it.to_str().unwrap())
    }

    /// Returns the fields of a form, as they are written.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.body.split('&').filter_map(|it| it.split_once('='));
        fields.find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

/// Something the server calls.
pub(crate) struct Integration {
    pub(crate) url: String,
    received: mpsc::Receiver<Received>,
    _stop: oneshot::Sender<()>,
}

impl Integration {
    /// Always answers with this status and body, after a pause.
    pub(crate) fn answering(status: u16, body: &str, pause: Duration) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (tell, received) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let body = body.to_owned();
        let answer = move |headers: HeaderMap, bytes: Bytes| async move {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            let _heard = tell.send(Received {
                headers,
                body: text,
            });
            tokio::time::sleep(pause).await;
            let status = StatusCode::from_u16(status).unwrap();
            let kind = [(header::CONTENT_TYPE, "application/json")];
            (status, kind, body).into_response()
        };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread();
            runtime.enable_all_and_build().block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let routes = Router::new().fallback(answer);
                tokio::select! {
                    _ended = axum::serve(listener, routes) => {}
                    _stopped = stopped => {}
                }
            });
        });
        Self {
            url,
            received,
            _stop: stop,
        }
    }

    pub(crate) fn saying(body: &Value) -> Self {
        Self::answering(200, &body.to_string(), Duration::ZERO)
    }

    pub(crate) fn next(&self) -> Received {
        self.received.recv_timeout(PATIENCE).unwrap()
    }

    pub(crate) fn heard_nothing(&self) -> bool {
        self.received.try_recv().is_err()
    }
}

trait Build {
    fn enable_all_and_build(self) -> tokio::runtime::Runtime;
}

impl Build for tokio::runtime::Builder {
    fn enable_all_and_build(mut self) -> tokio::runtime::Runtime {
        self.enable_all().build().unwrap()
    }
}

/// A post with one button.
pub(crate) fn with_button(channel_id: &str, id: &str, url: &str) -> Value {
    json!({
        "channel_id": channel_id,
        "message": "a question",
        "props": { "attachments": [{ "text": "really?", "actions": [{
            "id": id, "type": "button", "name": "Yes",
            "integration": { "url": url, "context": { "secret": "s3cret" } },
        }] }] },
    })
}
