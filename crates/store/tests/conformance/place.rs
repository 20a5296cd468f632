//! Where a database lives, so that it can be opened again, as a restart or another replica would.

use std::path::PathBuf;

use countersign_core::ledger::{Draft, Walk};
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Database, Expect, Kind, Put, Record, StoreError};
use countersign_testkit::postgres::Server;

pub(crate) enum Place {
    Sqlite {
        file: PathBuf,
        _directory: tempfile::TempDir,
    },
    Postgres {
        url: String,
    },
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self::Sqlite {
            file: directory.path().join("home/state.db"),
            _directory: directory,
        }
    }

    pub(crate) fn postgres() -> Option<Self> {
        let url = Server::shared()?.database().unwrap();
        Some(Self::Postgres { url })
    }

    /// Another empty place of the same sort.
    pub(crate) fn another(&self) -> Self {
        match self {
            Self::Sqlite { .. } => Self::sqlite(),
            Self::Postgres { .. } => Self::postgres().unwrap(),
        }
    }

    pub(crate) async fn try_open(&self) -> Result<Database, StoreError> {
        match self {
            Self::Sqlite { file, .. } => Database::sqlite(file).await,
            Self::Postgres { url } => Database::postgres(url).await,
        }
    }

    pub(crate) async fn open(&self) -> Database {
        self.try_open().await.unwrap()
    }

    /// Makes the database look as if a later version had made it.
    pub(crate) fn age(&self) {
        match self {
            Self::Sqlite { file, .. } => rusqlite::Connection::open(file)
                .unwrap()
                .pragma_update(None, "user_version", 99)
                .unwrap(),
            Self::Postgres { url } => {
                let name = url.rsplit('/').next().unwrap().split('?').next().unwrap();
                let statement = "INSERT INTO schema_version (version) VALUES (99)";
                Server::shared().unwrap().sql(name, statement).unwrap();
            }
        }
    }
}

pub(crate) fn record(id: &str) -> Record {
    Record {
        kind: Kind::Call,
        id: id.to_owned(),
        version: 0,
        status: "waiting".to_owned(),
        owner: "key_a".to_owned(),
        session: "s".to_owned(),
        run: "run_a".to_owned(),
        link: String::new(),
        at: 1,
        due_at: None,
        body: "{}".to_owned(),
    }
}

pub(crate) fn draft(subject: &str) -> Draft {
    Draft {
        at: UnixMillis(7),
        event: "call.assessed".to_owned(),
        subject: subject.to_owned(),
        body: format!("{{\"subject\":\"{subject}\"}}"),
        ..Draft::default()
    }
}

pub(crate) fn put(record: Record, expect: Expect) -> Put {
    Put { record, expect }
}

/// A change that writes one record and tells of it.
pub(crate) fn change(id: &str, expect: Expect) -> Change {
    Change {
        puts: vec![put(record(id), expect)],
        entries: vec![draft(id)],
    }
}

/// Walks the whole ledger and returns how many entries it has.
pub(crate) async fn walk(store: &Database) -> u64 {
    let mut walk = Walk::default();
    loop {
        let entries = store.entries(walk.head().0, 100).await.unwrap();
        if entries.is_empty() {
            break;
        }
        for entry in &entries {
            walk.take(entry).unwrap();
        }
    }
    assert_eq!(store.last().await.unwrap(), walk.head());
    walk.head().0
}

pub(crate) fn is_conflict<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Conflict { .. }))
}
