//! Starts, stops and restarts the server with its state.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use axum::http::Method;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::gatekeeper::{Buckets, Fault, Hit, Planned};
use super::settings::Settings;
use super::trigger::Signer;
use super::websocket::Sockets;
use super::world::{self, User, World};
use super::{posts, routes};
use crate::serving::Serving;

/// How long a test waits for something the server should see.
const PATIENCE: Duration = Duration::from_mins(1);

/// The state shared by all handlers.
pub(super) type Shared = Arc<Inside>;

/// The server's insides.
#[derive(Debug)]
pub(super) struct Inside {
    pub(super) settings: RwLock<Settings>,
    pub(super) world: Mutex<World>,
    pub(super) sockets: Mutex<Sockets>,
    pub(super) faults: Mutex<Vec<Planned>>,
    pub(super) buckets: Mutex<Buckets>,
    pub(super) hits: watch::Sender<Vec<Hit>>,
    pub(super) signer: Signer,
    /// Added to the clock when a trigger id is signed, in milliseconds.
    pub(super) trigger_skew: AtomicI64,
    pub(super) outgoing: reqwest::Client,
    pub(super) url: String,
}

impl Inside {
    pub(super) fn settings(&self) -> Settings {
        self.settings
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        locked(&self.world)
    }

    /// Returns a trigger id for what `user_id` does now.
    pub(super) fn trigger_id(&self, user_id: &str) -> String {
        let at = world::now() + self.trigger_skew.load(Ordering::SeqCst);
        self.signer.trigger_id(user_id, at)
    }
}

/// A running server.
#[derive(Debug)]
pub struct MattermostServer {
    address: SocketAddr,
    inside: Shared,
    running: Option<Serving>,
    admin_token: String,
}

impl MattermostServer {
    /// Starts an empty server that has an administrator.
    pub fn start(settings: Settings) -> io::Result<Self> {
        // The client wants one even where nothing is encrypted; the first choice holds.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let outgoing = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .user_agent("Mattermost-Bot/1.1")
            .pool_max_idle_per_host(0)
            .build()
            .map_err(io::Error::other)?;
        let (world, admin_token) = with_admin();
        let inside = Arc::new(Inside {
            settings: RwLock::new(settings),
            world: Mutex::new(world),
            sockets: Mutex::default(),
            faults: Mutex::default(),
            buckets: Mutex::default(),
            hits: watch::Sender::new(Vec::new()),
            signer: Signer::new()?,
            trigger_skew: AtomicI64::new(0),
            outgoing,
            url: format!("http://{address}"),
        });
        let running = Some(serve(listener, Arc::clone(&inside))?);
        Ok(Self {
            address,
            inside,
            running,
            admin_token,
        })
    }

    /// Returns where it listens.
    pub fn url(&self) -> &str {
        &self.inside.url
    }

    /// Returns a token of its administrator.
    pub fn admin_token(&self) -> &str {
        &self.admin_token
    }

    /// Stops it. Every connection is cut; what is in the database stays.
    pub fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
        locked(&self.inside.sockets).clear();
        self.inside.world().pending.clear();
    }

    /// Starts it again where it was, with what it knew.
    pub fn start_again(&mut self) -> io::Result<()> {
        let listener = std::net::TcpListener::bind(self.address)?;
        self.running = Some(serve(listener, Arc::clone(&self.inside))?);
        Ok(())
    }

    /// Changes how the server is set up while it runs.
    pub fn set(&self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self
            .inside
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        change(&mut settings);
    }

    /// The next `times` requests of this method and path fail. `*` stands for one part of a path,
    /// which begins behind `/api/v4`.
    pub fn fail(&self, method: &str, path: &str, fault: Fault, times: usize) {
        let method = method.parse().unwrap_or(Method::GET);
        locked(&self.inside.faults).push(Planned {
            method,
            path: path.to_owned(),
            fault,
            times,
        });
    }

    /// All is well again.
    pub fn recover(&self) {
        locked(&self.inside.faults).clear();
    }

    /// Forgets which posts were sent a moment ago, as another node of a cluster would not know.
    pub fn forget_pending_posts(&self) {
        self.inside.world().pending.clear();
    }

    /// Returns the key trigger ids are signed with, to sign some by hand.
    pub fn signer(&self) -> &Signer {
        &self.inside.signer
    }

    /// From now on trigger ids are signed as if it were this many milliseconds later.
    pub fn skew_triggers(&self, milliseconds: i64) {
        self.inside
            .trigger_skew
            .store(milliseconds, Ordering::SeqCst);
    }

    /// Returns every request so far.
    pub fn hits(&self) -> Vec<Hit> {
        self.inside.hits.borrow().clone()
    }

    /// Waits until `enough` says so of the requests so far, and returns whether it did.
    pub fn wait_for_hits(&self, enough: impl Fn(&[Hit]) -> bool) -> bool {
        let mut seen = self.inside.hits.subscribe();
        let waited = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map(|runtime| {
                runtime.block_on(async {
                    let seen = seen.wait_for(|hits| enough(hits));
                    matches!(tokio::time::timeout(PATIENCE, seen).await, Ok(Ok(_)))
                })
            });
        waited.unwrap_or(false)
    }

    /// Returns the posts of a channel with everything the server keeps of them, integrations
    /// included, oldest first. No client ever sees them like this.
    pub fn kept_posts(&self, channel_id: &str) -> Vec<Value> {
        let world = self.inside.world();
        let posts = world.posts.iter();
        posts
            .filter(|post| post.channel_id == channel_id && post.delete_at == 0)
            .filter(|post| post.kind.is_empty())
            .map(|post| posts::shown(post, &post.props))
            .collect()
    }

    /// Returns the custom commands of a team, by trigger.
    pub fn kept_commands(&self, team_id: &str) -> Map<String, Value> {
        let world = self.inside.world();
        let commands = world.commands.values();
        commands
            .filter(|command| command.team_id == team_id)
            .map(|command| (command.trigger.clone(), command.public()))
            .collect()
    }

    /// Returns how many connections listen to the events of `user_id`.
    pub fn listeners(&self, user_id: &str) -> usize {
        locked(&self.inside.sockets).of(user_id)
    }
}

impl Drop for MattermostServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns a world with an administrator, and a token of theirs.
fn with_admin() -> (World, String) {
    let mut world = World::default();
    let (id, token) = (world::new_id(), world::new_id());
    let create_at = world.moment();
    world.users.insert(
        id.clone(),
        User {
            id: id.clone(),
            username: "admin".to_owned(),
            email: "admin@example.org".to_owned(),
            password: world::new_id(),
            roles: "system_admin system_user".to_owned(),
            bot_of: None,
            create_at,
            delete_at: 0,
            timezone: world::no_timezone(),
        },
    );
    world.sessions.insert(token.clone(), id);
    (world, token)
}

/// Serves in a thread of its own until it is told to stop.
fn serve(listener: std::net::TcpListener, inside: Shared) -> io::Result<Serving> {
    Serving::start("strict-mattermost", listener, routes::all(inside))
}

pub(super) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
