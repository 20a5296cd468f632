//! Follows the ledger and, between entries, the live output of a run.
//!
//! What is said has its place among the entries: each piece knows which entry was the last when it
//! was said, so a message is never told behind the entry that ends it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use countersign_agent::feed::{self, Piece};
use countersign_core::ledger::Entry;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::server::App;
use crate::server::auth::{Caller, is_still_good};

/// Entries that are looked at in one go; a reader holds at most so many.
const BATCH: u32 = 64;
/// A sign of life when nothing happens, and how often a credential is looked at again.
const BEAT: Duration = Duration::from_secs(10);

/// What is followed.
#[derive(Debug)]
pub(crate) enum Which {
    /// Everything the caller may see.
    All,
    /// One run.
    Run(String),
}

/// What a follower is told.
#[derive(Debug)]
pub(crate) enum Told {
    /// An entry of the ledger.
    Entry(Arc<Entry>),
    /// Something the run says.
    Piece(Piece),
    /// Nothing has happened for a while.
    Beat,
    /// Nothing more is told, for this reason.
    Closed(&'static str),
}

/// The readers of the event stream.
#[derive(Debug)]
pub(crate) struct Follower {
    app: Arc<App>,
    caller: Caller,
    which: Which,
    cursor: u64,
    last: watch::Receiver<u64>,
    driven: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    /// Live output of the run, if this process drives it.
    voice: Option<feed::Reader>,
    beat_at: Instant,
    _counted: Counted,
}

/// Why a follower stopped waiting.
#[derive(Clone, Copy, Debug)]
enum Woken {
    More,
    Silent,
    Closed,
    Stopping,
    Beat,
}

/// Counts a reader while it is there.
#[derive(Debug)]
struct Counted(Arc<App>);

impl Counted {
    fn new(app: Arc<App>) -> Self {
        app.metrics.readers.fetch_add(1, Ordering::Relaxed);
        Self(app)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.metrics.readers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Follower {
    /// Returns who follows `which` behind the entry `cursor`.
    pub(crate) fn new(app: Arc<App>, caller: Caller, cursor: u64, which: Which) -> Self {
        app.gate.note_looking(&caller.principal);
        Self {
            last: app.gate.store().tail().last(),
            driven: app.agent.driven(),
            stopping: app.stopping.clone(),
            voice: None,
            beat_at: Instant::now() + BEAT,
            _counted: Counted::new(Arc::clone(&app)),
            app,
            caller,
            which,
            cursor,
        }
    }

    /// Returns what is to be told next, at least one thing.
    pub(crate) async fn next(&mut self) -> Vec<Told> {
        loop {
            self.listen();
            // Seen before it is read, so that what comes in between wakes us again.
            self.last.borrow_and_update();
            let Some(entries) = self.behind().await else {
                return vec![Told::Closed("storage is unavailable")];
            };
            let is_quiet = entries.is_empty();
            let told = self.merged(entries);
            if !told.is_empty() {
                return told;
            }
            if !is_quiet {
                // Others' entries go by without anybody waiting for us.
                tokio::task::yield_now().await;
            } else if let Some(told) = self.wait().await {
                return vec![told];
            }
        }
    }

    /// Returns what time it is, in seconds.
    pub(crate) fn now(&self) -> f64 {
        self.app.gate.clock().now().as_seconds()
    }

    /// Hears the run, if it is driven here and may be heard.
    fn listen(&mut self) {
        self.driven.borrow_and_update();
        if let (None, Which::Run(run)) = (&self.voice, &self.which)
            && self.caller.principal.role.sees_all()
        {
            self.voice = self.app.agent.feed(run).map(|feed| feed.listen());
        }
    }

    /// Returns entries and what was said between them, in order.
    fn merged(&mut self, entries: Vec<Arc<Entry>>) -> Vec<Told> {
        let mut told = Vec::new();
        for entry in entries {
            self.cursor = entry.seq;
            if self.sees(&entry) {
                self.hear(&mut told, entry.seq);
                told.push(Told::Entry(entry));
            }
        }
        self.hear(&mut told, self.cursor + 1);
        told
    }

    /// Adds what was said before the entry `number` was there.
    fn hear(&mut self, told: &mut Vec<Told>, number: u64) {
        if let Some(voice) = &mut self.voice {
            while let Some(piece) = voice.before(number) {
                told.push(Told::Piece(piece));
            }
        }
    }

    /// Waits until there is more to tell, or returns why there is not.
    async fn wait(&mut self) -> Option<Told> {
        let voice = &mut self.voice;
        let is_heard = voice.is_some();
        let said = async {
            match voice {
                Some(voice) => voice.said().await,
                None => std::future::pending().await,
            }
        };
        let woken = tokio::select! {
            changed = self.last.changed() => changed.map_or(Woken::Closed, |()| Woken::More),
            said = said => said.map_or(Woken::Silent, |()| Woken::More),
            _ = self.driven.changed(), if !is_heard => Woken::More,
            _ = self.stopping.wait_for(|stopping| *stopping) => Woken::Stopping,
            () = tokio::time::sleep_until(self.beat_at) => Woken::Beat,
        };
        match woken {
            Woken::More => None,
            Woken::Silent => {
                self.voice = None;
                None
            }
            Woken::Closed => Some(Told::Closed("the store is closed")),
            Woken::Stopping => Some(Told::Closed("the gateway is stopping")),
            Woken::Beat => {
                self.beat_at = Instant::now() + BEAT;
                if is_still_good(&self.app, &self.caller).await {
                    // Whoever follows what happens is looking.
                    self.app.gate.note_looking(&self.caller.principal);
                    Some(Told::Beat)
                } else {
                    Some(Told::Closed("the credential is no longer good"))
                }
            }
        }
    }

    async fn behind(&self) -> Option<Vec<Arc<Entry>>> {
        let store = self.app.gate.store();
        let limit = usize::try_from(BATCH).unwrap_or(1);
        if let Some(entries) = store.tail().recent(self.cursor, limit) {
            return Some(entries);
        }
        match store.entries(self.cursor, BATCH).await {
            Ok(entries) => Some(entries.into_iter().map(Arc::new).collect()),
            Err(error) => {
                tracing::warn!(?error, "events cannot be read");
                None
            }
        }
    }

    fn sees(&self, entry: &Entry) -> bool {
        let who = &self.caller.principal;
        let is_his = who.role.sees_all() || entry.draft.owner == who.key.as_str();
        let is_asked = match &self.which {
            Which::All => true,
            Which::Run(run) => entry.draft.run == *run,
        };
        is_his && is_asked
    }
}
