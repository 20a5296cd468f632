//! Durable state on SQLite or PostgreSQL behind one contract.
//!
//! The store keeps two things: *records*, each with a version, and the *ledger*, an append-only
//! hash chain. A [`Change`] is some records, each naming the version it expects to replace, and the
//! entries that tell of it; all of it happens or nothing does. The store decides nothing: what a
//! record means is the gate's business.
//!
//! - [`Database::commit`] returns when the change is on disk. Many commits that arrive together
//!   share one.
//! - [`Database::append`] returns at once; what it was given is on disk within
//!   [`APPEND_MILLIS_MAX`], or lost in a crash before. Only traces of allowed calls go that way.
//! - [`Database::tail`] wakes whoever follows the ledger; entries have numbers without gaps, and an
//!   entry that is visible is never followed by a smaller number becoming visible later.
//! - A record is read as it was last committed or appended, also when it was appended a moment ago.
//!   Entries are read when they are on disk.

mod batch;
mod failure;
mod postgres;
mod query;
mod queue;
mod sqlite;
mod tail;

use std::path::Path;
use std::sync::Arc;

use countersign_core::digest::Digest;
use countersign_core::ledger::{Draft, Entry};

pub use query::{Order, Query};
pub use tail::Tail;

/// Appended changes are on disk after this many milliseconds.
pub const APPEND_MILLIS_MAX: u64 = 25;

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A tool call.
    Call,
    /// A question put to people.
    Approval,
    /// The latest approval of a call, by the call's digest.
    Question,
    /// A standing permission.
    Grant,
    /// A session's facts: its workspace, its override, whether a person in crisis was in it.
    Session,
    /// A credential.
    Key,
    /// A person.
    Person,
    /// A one-time login code.
    LoginCode,
    /// A browser that is signed in.
    Login,
    /// A browser that takes notifications.
    Device,
    /// The public half of a signing key.
    SigningKey,
    /// The response recorded for an idempotency key.
    Idempotency,
    /// A card that was delivered somewhere.
    Delivery,
    /// A question an agent asks a person.
    Clarification,
    /// Something that ran and awaits a look.
    Review,
    /// A run of the built-in agent.
    Run,
    /// Whose conversation it is, and which run goes on in it.
    Conversation,
    /// One message of a conversation with it.
    Message,
    /// Tokens of models, by task, model and day.
    Usage,
    /// Somebody who was written to.
    Recipient,
    /// The key that buttons in chats are sealed with.
    ButtonKey,
    /// The key that messages to push services are signed with.
    PushKey,
    /// A person's conversation with the built-in agent in a chat.
    Thread,
    /// Something from a chat that counts once.
    Ticket,
    /// What an agent may have written into a file.
    Written,
    /// The definition of a tool, as an agent told of it.
    Definition,
    /// That a home keeps the head of the ledger, by the key that signs it.
    Anchor,
    /// The probe record of the readiness check.
    Probe,
}

impl Kind {
    /// Returns the word it is stored under.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Approval => "approval",
            Self::Question => "question",
            Self::Grant => "grant",
            Self::Session => "session",
            Self::Key => "key",
            Self::Person => "person",
            Self::LoginCode => "login_code",
            Self::Login => "login",
            Self::Device => "device",
            Self::SigningKey => "signing_key",
            Self::Idempotency => "idempotency",
            Self::Delivery => "delivery",
            Self::Clarification => "clarification",
            Self::Review => "review",
            Self::Run => "run",
            Self::Conversation => "conversation",
            Self::Message => "message",
            Self::Usage => "usage",
            Self::Recipient => "recipient",
            Self::ButtonKey => "button_key",
            Self::PushKey => "push_key",
            Self::Thread => "thread",
            Self::Ticket => "ticket",
            Self::Written => "written",
            Self::Definition => "definition",
            Self::Anchor => "anchor",
            Self::Probe => "probe",
        }
    }
}

/// One record: a few columns that can be searched, and a body that only the gate reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it is about.
    pub kind: Kind,
    /// Its id, unique within the kind.
    pub id: String,
    /// How often it was written; the store counts.
    pub version: u64,
    /// Where it stands, in the gate's words; empty if that means nothing.
    pub status: String,
    /// The key it belongs to, or empty.
    pub owner: String,
    /// The session it belongs to, or empty.
    pub session: String,
    /// The run it belongs to, or empty.
    pub run: String,
    /// The secondary key (a digest, an approval), or empty.
    pub link: String,
    /// When it was made, in milliseconds.
    pub at: i64,
    /// When time will change it, in milliseconds.
    pub due_at: Option<i64>,
    /// JSON.
    pub body: String,
}

impl Record {
    /// Returns a record with these columns; the others are empty.
    pub fn new(kind: Kind, id: impl Into<String>, at: i64, body: String) -> Self {
        Self {
            kind,
            id: id.into(),
            version: 0,
            status: String::new(),
            owner: String::new(),
            session: String::new(),
            run: String::new(),
            link: String::new(),
            at,
            due_at: None,
            body,
        }
    }
}

/// The precondition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// There is none.
    Absent,
    /// This version is there.
    Version(u64),
    /// It does not matter.
    Anything,
}

/// A record to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put {
    /// The record; its own `version` is ignored.
    pub record: Record,
    /// What must be there before.
    pub expect: Expect,
}

/// An atomic batch of changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Records to be written.
    pub puts: Vec<Put>,
    /// Its entry in the ledger.
    pub entries: Vec<Draft>,
}

/// Everything that can go wrong when reading or writing state.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another writer got there first. Reload and look again; nothing was written.
    #[error("{kind} `{id}` was changed meanwhile", kind = kind.word())]
    Conflict {
        /// What kind.
        kind: Kind,
        /// The id.
        id: String,
    },
    /// The database cannot be used now. Nothing was written; it may work later.
    #[error("storage is unavailable: {why}")]
    Unavailable {
        /// For a person: "the disk is full", "the database is locked".
        why: &'static str,
        /// For the log.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

/// A store.
#[derive(Clone, Debug)]
pub enum Database {
    /// Embedded.
    Sqlite(sqlite::Sqlite),
    /// A server, for several replicas.
    Postgres(postgres::Postgres),
}

impl Database {
    /// Opens or creates the SQLite database in `file`.
    pub async fn sqlite(file: &Path) -> Result<Self, StoreError> {
        sqlite::Sqlite::open(file).await.map(Self::Sqlite)
    }

    /// Connects to the PostgreSQL database at `url` and migrates it.
    pub async fn postgres(url: &str) -> Result<Self, StoreError> {
        postgres::Postgres::open(url).await.map(Self::Postgres)
    }

    /// Writes `change`; returns its entries with their numbers when it is on disk.
    pub async fn commit(&self, change: Change) -> Result<Vec<Arc<Entry>>, StoreError> {
        match self {
            Self::Sqlite(store) => store.commit(change).await,
            Self::Postgres(store) => store.commit(change).await,
        }
    }

    /// Writes `change` soon. Fails only if too much is waiting to be written or the store is
    /// broken; the records must not expect a version.
    pub fn append(&self, change: Change) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(store) => store.append(change),
            Self::Postgres(store) => store.append(change),
        }
    }

    /// Returns when everything appended before is on disk.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.commit(Change::default()).await.map(drop)
    }

    /// Returns one record.
    pub async fn get(&self, kind: Kind, id: &str) -> Result<Option<Record>, StoreError> {
        match self {
            Self::Sqlite(store) => store.get(kind, id).await,
            Self::Postgres(store) => store.get(kind, id).await,
        }
    }

    /// Returns the records that `query` asks for.
    pub async fn find(&self, query: Query) -> Result<Vec<Record>, StoreError> {
        match self {
            Self::Sqlite(store) => store.find(query).await,
            Self::Postgres(store) => store.find(query).await,
        }
    }

    /// Returns how many records `query` asks for, whatever its limit.
    pub async fn count(&self, query: Query) -> Result<u64, StoreError> {
        match self {
            Self::Sqlite(store) => store.count(query).await,
            Self::Postgres(store) => store.count(query).await,
        }
    }

    /// Returns at most `limit` entries behind number `after`, in order.
    pub async fn entries(&self, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError> {
        match self {
            Self::Sqlite(store) => store.entries(after, limit).await,
            Self::Postgres(store) => store.entries(after, limit).await,
        }
    }

    /// Returns the last entry's number and hash.
    pub async fn last(&self) -> Result<(u64, Digest), StoreError> {
        match self {
            Self::Sqlite(store) => store.last().await,
            Self::Postgres(store) => store.last().await,
        }
    }

    /// Returns what follows the ledger: the number of the last visible entry, and recent entries
    /// from memory.
    pub fn tail(&self) -> &Tail {
        match self {
            Self::Sqlite(store) => store.tail(),
            Self::Postgres(store) => store.tail(),
        }
    }

    /// Writes what is waiting to be written and stops.
    pub async fn close(&self) {
        match self {
            Self::Sqlite(store) => store.close().await,
            Self::Postgres(store) => store.close().await,
        }
    }
}
