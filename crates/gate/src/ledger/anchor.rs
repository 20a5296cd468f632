//! Keeps the ledger's head in a file outside the database and compares them at startup, which
//! detects a truncated or replaced ledger.
//!
//! INVARIANT: a head speaks only of what is on disk. So the ledger may be ahead of its head, after
//! a kill or beside other gateways, but never behind it and never another one.
//!
//! That there is a head is a record of the database as well, written after the file: a file that is
//! missing although the database knows of it was taken away.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use countersign_core::canonical;
use countersign_core::ledger::Walk;
use countersign_core::ledger::checkpoint::{Checkpoint, CheckpointError};
use countersign_core::ledger::head::{Head, verify_head};
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Database, Expect, Kind, Put, Query, Record, StoreError};

use crate::base::signer::{Signer, sync_folder};
use crate::ledger::Ledger;
use crate::records::event::{AnchoredTold, Event};

/// The name of the file in a home.
pub const FILE: &str = "ledger.head";
/// The event that tells of a head that was taken as it was.
pub const EVENT: &str = "ledger.anchored";

/// Shortest time between two heads. What is written in between could be cut off unnoticed by
/// somebody who kills the gateway at that moment. Writing one takes two syncs of the disk, so five
/// a second are what a slow disk bears beside the database.
const EVERY: Duration = Duration::from_millis(200);
/// How long to wait before a head that could not be written is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// Entries before the head that are looked at when a gateway starts.
const LOOKED_BACK: u64 = 1000;
/// Longest file that is read.
const FILE_BYTES_MAX: u64 = 4096;

/// How the ledger differs from the head that was kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The ledger ends too early.
    #[error(
        "the ledger ends with entry {last}, but this home has seen entry {}: later entries were deleted",
        .head.seq
    )]
    Shorter {
        /// The stored value.
        head: Checkpoint,
        /// Where the ledger ends.
        last: u64,
    },
    /// The ledger is another one.
    #[error("entry {} of the ledger is not the one this home has seen, or entries before it are gone", .head.seq)]
    Other {
        /// The stored value.
        head: Checkpoint,
    },
    /// The file is gone.
    #[error("the ledger's head is missing from the home, and the database says that there was one")]
    Missing,
    /// The file is not what was written there.
    #[error("the ledger's head in the home is not valid: {}", .0.why())]
    Forged(CheckpointError),
}

/// Why there is nothing to go on from.
#[derive(Debug, thiserror::Error)]
pub enum AnchorError {
    /// The ledger is not the one that was seen.
    #[error("the ledger is damaged: {0}")]
    Mismatch(#[from] Mismatch),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be read or written.
    #[error("the ledger's head cannot be stored in {}: {cause}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why not.
        cause: io::Error,
    },
}

/// Where the head of a home's ledger is kept, and who signs it.
#[derive(Debug)]
pub struct Anchor {
    file: PathBuf,
    signer: Signer,
    /// Whether gateways with other homes write the same ledger.
    is_shared: bool,
    kept: Mutex<Option<Head>>,
    /// A defect of the ledger, found while writing.
    wrong: Mutex<Option<String>>,
}

/// What a home knew of its ledger when it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The head is on the ledger.
    Kept(Head),
    /// There was no head yet.
    Nothing,
}

impl Anchor {
    /// Returns the anchor in `file`, of which nothing is known yet.
    pub fn new(file: PathBuf, signer: Signer, is_shared: bool) -> Self {
        Self {
            file,
            signer,
            is_shared,
            kept: Mutex::default(),
            wrong: Mutex::default(),
        }
    }

    /// Holds the ledger in `store` against the head. Nothing is written.
    pub async fn compare(&self, store: &Database) -> Result<Found, AnchorError> {
        // The file first: the ledger only grows, so what is read after it is not behind it.
        let Some(head) = self.read()? else {
            return if self.was_kept(store).await? {
                Err(Mismatch::Missing.into())
            } else {
                Ok(Found::Nothing)
            };
        };
        on_chain(store, head.last).await?;
        Ok(Found::Kept(head))
    }

    /// Holds the ledger against the head before a gateway begins to work, and takes it as it is if
    /// there was no head yet.
    pub async fn begin(&self, store: &Database, now: UnixMillis) -> Result<Found, AnchorError> {
        let found = self.compare(store).await?;
        self.advance(store, now).await?;
        if !self.is_known(store, &self.signer.public().kid).await? {
            let why = match found {
                Found::Kept(_) => "another key signs the head",
                Found::Nothing => "there was no head yet",
            };
            self.tell(store, now, why, "gateway").await?;
        }
        Ok(found)
    }

    /// Takes the ledger as it is, whatever was kept, because a person says so. The ledger tells who
    /// did, what was kept and what is now.
    pub async fn accept(
        &self,
        store: &Database,
        now: UnixMillis,
        by: &str,
    ) -> Result<Head, AnchorError> {
        let why = match self.compare(store).await {
            Ok(_) => "accepted".to_owned(),
            Err(AnchorError::Mismatch(mismatch)) => mismatch.to_string(),
            Err(error) => return Err(error),
        };
        self.tell(store, now, &why, by).await?;
        *self.kept() = None;
        self.advance(store, now).await
    }

    /// Returns the head of the ledger as it is now, signed, to be kept elsewhere.
    pub async fn signed_head(
        &self,
        store: &Database,
        now: UnixMillis,
    ) -> Result<(Head, serde_json::Value), StoreError> {
        let (seq, hash) = store.last().await?;
        let head = Head {
            last: Checkpoint { seq, hash },
            at: now,
        };
        Ok((head, self.signer.sign_head(head)))
    }

    /// Returns what is wrong with the ledger, if something was noticed.
    pub fn wrong(&self) -> Option<String> {
        self.wrong
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Keeps the ledger's end, if it lies behind the head that was kept last.
    async fn advance(&self, store: &Database, now: UnixMillis) -> Result<Head, AnchorError> {
        let (seq, hash) = store.last().await?;
        let last = Checkpoint { seq, hash };
        let before = *self.kept();
        if let Some(before) = before {
            if before.last == last {
                return Ok(before);
            }
            let found = entry_hash(store, before.last.seq).await?;
            if seq < before.last.seq {
                let head = before.last;
                return Err(Mismatch::Shorter { head, last: seq }.into());
            }
            if before.last.seq > 0 && found != Some(before.last) {
                return Err(Mismatch::Other { head: before.last }.into());
            }
        }
        let head = Head { last, at: now };
        let text = format!("{}\n", self.signer.sign_head(head));
        let file = self.file.clone();
        let written = tokio::task::spawn_blocking(move || replace(&file, &text));
        let written = written
            .await
            .unwrap_or_else(|lost| Err(io::Error::other(lost)));
        written.map_err(|cause| self.failed(cause))?;
        *self.kept() = Some(head);
        Ok(head)
    }

    fn read(&self) -> Result<Option<Head>, AnchorError> {
        let mut text = String::new();
        let read = File::open(&self.file)
            .and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text));
        match read {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(Mismatch::Forged(CheckpointError::Malformed).into());
            }
            Err(error) => return Err(self.failed(error)),
        }
        let said = canonical::parse(text.trim().as_bytes())
            .map_err(|_| Mismatch::Forged(CheckpointError::Malformed))?;
        let keys = self.signer.every();
        let head = verify_head(&said, Some(&keys)).map_err(Mismatch::Forged)?;
        Ok(Some(head))
    }

    /// Whether the database says that this home has kept a head.
    async fn was_kept(&self, store: &Database) -> Result<bool, StoreError> {
        if !self.is_shared {
            let any = Query {
                limit: 1,
                ..Query::of(Kind::Anchor)
            };
            return Ok(!store.find(any).await?.is_empty());
        }
        for key in self.signer.every() {
            if self.is_known(store, &key.kid).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn is_known(&self, store: &Database, kid: &str) -> Result<bool, StoreError> {
        Ok(store.get(Kind::Anchor, kid).await?.is_some())
    }

    /// Writes down that the ledger was taken as it is.
    async fn tell(
        &self,
        store: &Database,
        now: UnixMillis,
        why: &str,
        by: &str,
    ) -> Result<(), AnchorError> {
        let kid = self.signer.public().kid;
        // A head that cannot be believed is none.
        let was = self.read().ok().flatten().map(|head| head.last.text());
        let (seq, hash) = store.last().await?;
        let event = Event::Anchored(AnchoredTold {
            kid: kid.clone(),
            was,
            head: Checkpoint { seq, hash }.text(),
            why: why.to_owned(),
            by: by.to_owned(),
            timestamp: now.as_seconds(),
        });
        let entry = event.draft(&kid, now);
        let record = Record::new(Kind::Anchor, kid.clone(), now.0, entry.body.clone());
        let change = Change {
            puts: vec![Put {
                record,
                expect: Expect::Anything,
            }],
            entries: vec![entry],
        };
        store.commit(change).await?;
        Ok(())
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Option<Head>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, wrong: Option<String>) {
        *self.wrong.lock().unwrap_or_else(PoisonError::into_inner) = wrong;
    }

    fn failed(&self, cause: io::Error) -> AnchorError {
        AnchorError::File {
            file: self.file.clone(),
            cause,
        }
    }
}

impl Ledger {
    /// Has the head of the ledger kept in `anchor` from now on.
    pub fn anchored(&self, anchor: Anchor) {
        // Whoever opened the gate does so once.
        let _first = self.anchor.set(anchor);
    }

    /// Returns where the head of the ledger is kept.
    pub fn anchor(&self) -> Option<&Anchor> {
        self.anchor.get()
    }

    /// Keeps the head for as long as it is polled.
    pub(crate) async fn keep_head(&self) {
        let Some(anchor) = self.anchor() else {
            return std::future::pending().await;
        };
        let mut last = self.base.store.tail().last();
        loop {
            last.mark_unchanged();
            let now = self.base.clock.now();
            match anchor.advance(&self.base.store, now).await {
                Ok(_) => anchor.note(None),
                Err(error) => {
                    tracing::error!(%error, "the ledger's head cannot be stored; retrying");
                    anchor.note(Some(error.to_string()));
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            }
            if last.changed().await.is_err() {
                return;
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Writes what waits to be written and keeps the head of it, before a gateway stops.
    pub async fn rest(&self) {
        if let Err(error) = self.base.store.flush().await {
            tracing::error!(%error, "something was not written");
            return;
        }
        let Some(anchor) = self.anchor() else { return };
        let now = self.base.clock.now();
        if let Err(error) = anchor.advance(&self.base.store, now).await {
            tracing::error!(%error, "the ledger's head was not kept");
        }
    }
}

/// Fails unless `head` is an entry of the ledger, with those before it in their places.
async fn on_chain(store: &Database, head: Checkpoint) -> Result<(), AnchorError> {
    let other = || Err(Mismatch::Other { head }.into());
    let first = head.seq.saturating_sub(LOOKED_BACK);
    let length = u32::try_from(head.seq - first).unwrap_or(u32::MAX);
    if length == 0 {
        return Ok(());
    }
    let entries = store.entries(first, length).await?;
    let Some(before) = entries.first() else {
        let (last, _) = store.last().await?;
        return Err(Mismatch::Shorter { head, last }.into());
    };
    let mut walk = Walk::behind(first, before.previous);
    for entry in &entries {
        if walk.take(entry).is_err() {
            return other();
        }
    }
    let (seq, hash) = walk.head();
    if seq < head.seq {
        let (last, _) = store.last().await?;
        return Err(Mismatch::Shorter { head, last }.into());
    }
    if (Checkpoint { seq, hash }) == head {
        Ok(())
    } else {
        other()
    }
}

async fn entry_hash(store: &Database, seq: u64) -> Result<Option<Checkpoint>, StoreError> {
    let entries = store.entries(seq.saturating_sub(1), 1).await?;
    Ok(entries.first().map(|entry| Checkpoint {
        seq: entry.seq,
        hash: entry.hash,
    }))
}

/// Puts `text` in the place of what is in `file`, so that a crash leaves one or the other.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let draft = file.with_file_name(name);
    let mut handle = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&draft)?;
    handle.write_all(text.as_bytes())?;
    handle.sync_all()?;
    fs::rename(&draft, file)?;
    sync_folder(file)
}
