//! What happens when the disk is full, the database is locked, read-only, gone or lost in the
//! middle of a commit: it fails closed, says why, loses nothing it acknowledged, and works again
//! without being opened anew.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a failing test panics")]

#[path = "faults/postgres.rs"]
mod postgres;
#[path = "faults/proxy.rs"]
mod proxy;
#[path = "faults/sqlite.rs"]
mod sqlite;

use std::time::Duration;

use countersign_core::ledger::{Draft, Walk};
use countersign_store::{Change, Database, Expect, Kind, Put, Query, Record, StoreError};

/// A change that writes one new record of this many bytes and tells of it.
fn change(id: &str, bytes: usize) -> Change {
    Change {
        puts: vec![Put {
            record: Record {
                kind: Kind::Call,
                id: id.to_owned(),
                version: 0,
                status: "allowed".to_owned(),
                owner: "key".to_owned(),
                session: "session".to_owned(),
                run: "run".to_owned(),
                link: String::new(),
                at: 1,
                due_at: None,
                body: "x".repeat(bytes),
            },
            expect: Expect::Absent,
        }],
        entries: vec![Draft {
            event: "call.assessed".to_owned(),
            subject: id.to_owned(),
            ..Draft::default()
        }],
    }
}

fn why<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> &'static str {
    match outcome {
        Err(StoreError::Unavailable { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

/// Checks the whole chain and that each record has its entry; returns how many there are.
async fn everything_is_whole(store: &Database) -> u64 {
    store.flush().await.unwrap();
    let mut walk = Walk::default();
    loop {
        let entries = store.entries(walk.head().0, 500).await.unwrap();
        if entries.is_empty() {
            break;
        }
        for entry in &entries {
            walk.take(entry).unwrap();
        }
    }
    assert_eq!(
        store.count(Query::of(Kind::Call)).await.unwrap(),
        walk.head().0
    );
    walk.head().0
}

async fn has(store: &Database, id: &str) -> bool {
    store.get(Kind::Call, id).await.unwrap().is_some()
}

/// Tries again until it works, as a caller would; the fault must be over within half a minute.
async fn until_it_works(store: &Database, id: &str) {
    let trying = async {
        while store.commit(change(id, 10)).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let worked = tokio::time::timeout(Duration::from_secs(30), trying).await;
    assert!(worked.is_ok(), "it does not work again");
}
