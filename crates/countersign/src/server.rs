//! The HTTP server: routes, authentication, responses.
//!
//! Handlers turn JSON into what the gate is asked and its answer into JSON. They hold no rules:
//! what a role may do is the gate's to say, and the router's to refuse early.
//!
//! A request passes, from outside in: [`listen`] (connections), [`outer`] (which host is meant,
//! which origins may read, headers of every answer), [`routes`] (the table of what there is),
//! [`gzip`] (compression), [`auth`] (who asks, whether the role may, how often), and a handler in [`handle`].

pub(crate) mod auth;
pub(crate) mod body;
pub(crate) mod events;
pub(crate) mod gzip;
pub(crate) mod handle;
pub(crate) mod limits;
pub(crate) mod listen;
pub(crate) mod mcp;
pub(crate) mod metrics;
pub(crate) mod openapi;
pub(crate) mod outer;
pub(crate) mod problem;
pub(crate) mod routes;
pub(crate) mod whole_id;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use countersign_agent::Agent;
use countersign_gate::Gate;
use tokio::sync::watch;

use crate::config::Home;
use crate::config::settings::Dialect;
use crate::gateway::chats::Desk;
use crate::gateway::policies::FilePolicies;

/// The state shared by all handlers.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) gate: Gate,
    pub(crate) agent: Agent,
    pub(crate) policies: Arc<FilePolicies>,
    pub(crate) home: Home,
    pub(crate) dialect: Dialect,
    pub(crate) entrance: outer::Entrance,
    /// Whether the network is served over TLS.
    pub(crate) is_encrypted: bool,
    pub(crate) limits: limits::Limits,
    pub(crate) socket_keys: auth::SocketKeys,
    pub(crate) metrics: metrics::Metrics,
    /// Channels whose answers come in here.
    pub(crate) webhooks: Vec<countersign_channels::Webhook>,
    /// Channels that only tell.
    pub(crate) notifiers: Vec<std::sync::Arc<dyn countersign_channels::notifier::Notifier>>,
    /// Where the page is read from while it is being worked on; the binary has it otherwise.
    pub(crate) web_dir: Option<PathBuf>,
    /// Chats, joined to the gate and the agent.
    pub(crate) desks: Vec<Desk>,
    /// MCP servers behind this gateway.
    pub(crate) mcp: Arc<mcp::Servers>,
    /// The description of the API, written once.
    pub(crate) description: OnceLock<String>,
    /// Becomes true when the gateway stops; whoever waits for something stops waiting.
    pub(crate) stopping: watch::Receiver<bool>,
}

impl App {
    /// Returns when the gateway stops.
    pub(crate) async fn stopped(&self) {
        let mut stopping = self.stopping.clone();
        // A sender that is gone is a gateway that is gone.
        let _gone = stopping.wait_for(|stopping| *stopping).await;
    }
}
