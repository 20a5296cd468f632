//! What both databases promise. Every function here is run on SQLite and on PostgreSQL.

use std::sync::Arc;

use countersign_core::ledger::{Draft, Walk};
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Database, Expect, Kind, Order, Put, Query, Record, StoreError};

/// A database that can be opened again, as a restart or another replica would.
struct Place {
    url: String,
    _directory: tempfile::TempDir,
}

impl Place {
    async fn open(&self) -> Database {
        Database::sqlite(std::path::Path::new(&self.url))
            .await
            .unwrap()
    }
}

fn sqlite() -> Place {
    let directory = tempfile::tempdir().unwrap();
    Place {
        url: directory.path().join("state.db").display().to_string(),
        _directory: directory,
    }
}

fn record(id: &str) -> Record {
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

fn draft(subject: &str) -> Draft {
    Draft {
        at: UnixMillis(7),
        event: "call.assessed".to_owned(),
        subject: subject.to_owned(),
        body: format!("{{\"subject\":\"{subject}\"}}"),
        ..Draft::default()
    }
}

fn change(id: &str, expect: Expect) -> Change {
    Change {
        puts: vec![Put {
            record: record(id),
            expect,
        }],
        entries: vec![draft(id)],
    }
}

async fn the_chain_is_whole(store: &Database) -> u64 {
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

#[tokio::test]
async fn smoke() {
    let place = sqlite();
    let store = place.open().await;
    let entries = store.commit(change("a", Expect::Absent)).await.unwrap();
    assert_eq!(entries[0].seq, 1);
    let error = store.commit(change("a", Expect::Absent)).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }));
    store.append(change("b", Expect::Absent)).unwrap();
    assert_eq!(
        store.get(Kind::Call, "b").await.unwrap().unwrap().version,
        1
    );
    assert_eq!(store.find(Query::of(Kind::Call)).await.unwrap().len(), 2);
    assert_eq!(the_chain_is_whole(&store).await, 2);
    store.close().await;
    let _ = (Arc::new(1), Order::OldestFirst);
}
