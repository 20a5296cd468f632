//! Faults of the server and of the way to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersign_store::{Database, StoreError};
use countersign_testkit::postgres::Server;

use tokio::sync::watch;

use crate::proxy::{Lose, Proxy};
use crate::{change, everything_is_whole, has, until_it_works, why};

/// Changes that are acknowledged before the server crashes again.
const BETWEEN_CRASHES: u32 = 200;

/// Returns the name of a database and the folder of its server's socket.
fn parts(url: &str) -> (String, String) {
    let (_, rest) = url.rsplit_once('/').unwrap();
    let (name, socket) = rest.split_once("?host=").unwrap();
    (name.to_owned(), socket.replace("%2F", "/"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_was_lost_is_acknowledged() {
    let Some(server) = Server::shared() else {
        return;
    };
    let url = server.database().unwrap();
    let (name, socket) = parts(&url);
    let proxy = Proxy::new(&socket);
    let through = format!(
        "postgres://postgres@localhost/{name}?host={}",
        proxy.directory()
    );
    let store = Database::postgres(&through).await.unwrap();
    store.commit(change("before", 10)).await.unwrap();
    for round in 0..5 {
        proxy.lose_next(Lose::Answer);
        let appended = format!("appended-{round}");
        store.append(change(&appended, 10)).unwrap();
        let committed = format!("committed-{round}");
        let entries = store.commit(change(&committed, 10)).await.unwrap();
        assert!(proxy.has_lost());
        assert_eq!(entries[0].draft.subject, committed);
        assert!(has(&store, &appended).await);
    }
    assert_eq!(everything_is_whole(&store).await, 11);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_never_arrived_is_not_acknowledged() {
    let Some(server) = Server::shared() else {
        return;
    };
    let url = server.database().unwrap();
    let (name, socket) = parts(&url);
    let proxy = Proxy::new(&socket);
    let through = format!(
        "postgres://postgres@localhost/{name}?host={}",
        proxy.directory()
    );
    let store = Database::postgres(&through).await.unwrap();
    for round in 0..5 {
        proxy.lose_next(Lose::Request);
        let appended = format!("appended-{round}");
        store.append(change(&appended, 10)).unwrap();
        let refused = format!("refused-{round}");
        let outcome = store.commit(change(&refused, 10)).await;
        assert!(proxy.has_lost());
        assert_eq!(why(outcome), "the database was lost while writing");
        // What was appended is written after all, once.
        assert!(has(&store, &appended).await);
        assert!(!has(&store, &refused).await);
        until_it_works(&store, &refused).await;
    }
    assert_eq!(everything_is_whole(&store).await, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_crashes_under_load_loses_nothing_acknowledged() {
    let server = match Server::start() {
        Ok(server) => server,
        Err(error) => return countersign_testkit::skipped(&error.to_string()),
    };
    let url = server.database().unwrap();
    let stores = [
        Database::postgres(&url).await.unwrap(),
        Database::postgres(&url).await.unwrap(),
    ];
    let enough = Arc::new(AtomicBool::new(false));
    let (counter, mut count) = watch::channel(0_u32);
    let writing: Vec<_> = (0..8)
        .map(|writer: usize| {
            let (store, enough) = (stores[writer % 2].clone(), Arc::clone(&enough));
            let counter = counter.clone();
            tokio::spawn(async move {
                let (mut acknowledged, mut refused) = (Vec::new(), Vec::new());
                for number in 0.. {
                    if enough.load(Ordering::Relaxed) {
                        break;
                    }
                    let id = format!("{writer}-{number}");
                    match store.commit(change(&id, 100)).await {
                        Ok(_) => {
                            acknowledged.push(id);
                            counter.send_modify(|count| *count += 1);
                        }
                        Err(StoreError::Unavailable { why, .. }) => {
                            assert!(!why.contains("not known"), "{why}");
                            refused.push(id);
                            tokio::time::sleep(Duration::from_millis(5)).await;
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
                (acknowledged, refused)
            })
        })
        .collect();
    for crashes in 0..=3 {
        let so_far = *count.borrow();
        let more = count.wait_for(|count| *count >= so_far + BETWEEN_CRASHES);
        tokio::time::timeout(Duration::from_mins(1), more)
            .await
            .expect("writing goes on")
            .unwrap();
        if crashes < 3 {
            tokio::task::block_in_place(|| server.crash_and_restart()).unwrap();
        }
    }
    enough.store(true, Ordering::Relaxed);
    let mut total = 0;
    let mut failures = 0;
    for writer in writing {
        let (acknowledged, refused) = writer.await.unwrap();
        total += acknowledged.len() as u64;
        failures += refused.len();
        for id in acknowledged {
            assert!(
                has(&stores[0], &id).await,
                "{id} was acknowledged and is lost"
            );
        }
        for id in refused {
            assert!(!has(&stores[0], &id).await, "{id} was refused and is there");
        }
    }
    assert!(
        total > 0 && failures > 0,
        "{total} acknowledged, {failures} refused"
    );
    until_it_works(&stores[1], "after").await;
    assert_eq!(everything_is_whole(&stores[0]).await, total + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_gone_fails_closed_and_is_found_again() {
    let server = match Server::start() {
        Ok(server) => server,
        Err(error) => return countersign_testkit::skipped(&error.to_string()),
    };
    let url = server.database().unwrap();
    let store = Database::postgres(&url).await.unwrap();
    store.commit(change("before", 10)).await.unwrap();
    server.crash().unwrap();
    store.append(change("appended", 10)).unwrap();
    why(store.commit(change("refused", 10)).await);
    let unreachable = "the database cannot be reached";
    assert_eq!(why(store.commit(change("refused", 10)).await), unreachable);
    assert_eq!(why(store.append(change("late", 10))), unreachable);
    assert_eq!(why(store.last().await), unreachable);
    assert_eq!(why(Database::postgres(&url).await), unreachable);
    server.start_again().unwrap();
    until_it_works(&store, "after").await;
    assert!(has(&store, "appended").await);
    assert!(!has(&store, "refused").await);
    assert_eq!(everything_is_whole(&store).await, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_becomes_read_only_refuses_and_then_works() {
    let Some(server) = Server::shared() else {
        return;
    };
    let url = server.database().unwrap();
    let (name, _) = parts(&url);
    let store = Database::postgres(&url).await.unwrap();
    store.commit(change("before", 10)).await.unwrap();
    let read_only = |how: &str| {
        let setting = format!("ALTER DATABASE {name} SET default_transaction_read_only = {how}");
        server.sql("postgres", &setting).unwrap();
        let end = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        );
        server.sql("postgres", &end).unwrap();
    };
    read_only("on");
    // The first may still meet the connection that was ended.
    drop(store.commit(change("refused", 10)).await);
    let outcome = store.commit(change("refused", 10)).await;
    assert_eq!(why(outcome), "the database is read-only");
    assert!(has(&store, "before").await);
    read_only("off");
    until_it_works(&store, "after").await;
    assert!(!has(&store, "refused").await);
    assert_eq!(everything_is_whole(&store).await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_change_that_is_refused_does_not_spoil_those_beside_it() {
    let Some(server) = Server::shared() else {
        return;
    };
    let store = Database::postgres(&server.database().unwrap())
        .await
        .unwrap();
    // No index takes a name of this length that cannot be shortened.
    let endless: String = (0_u32..20_000)
        .filter_map(|number| char::from_u32(0x4e00 + number.wrapping_mul(2_654_435_761) % 20_000))
        .collect();
    let mut spoiled = change("spoiled", 10);
    spoiled.puts[0].record.session.clone_from(&endless);
    let mut appended = change("spoiled-too", 10);
    appended.puts[0].record.session = endless;
    store.append(change("a", 10)).unwrap();
    store.append(appended).unwrap();
    store.append(change("b", 10)).unwrap();
    let (first, refused, second) = tokio::join!(
        store.commit(change("c", 10)),
        store.commit(spoiled),
        store.commit(change("d", 10)),
    );
    first.unwrap();
    second.unwrap();
    assert_eq!(why(refused), "the database refused what was to be written");
    store.append(change("e", 10)).unwrap();
    for id in ["a", "b", "c", "d", "e"] {
        assert!(has(&store, id).await, "{id}");
    }
    assert_eq!(everything_is_whole(&store).await, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_hangs_holds_the_others_up_for_seconds_only() {
    let Some(server) = Server::shared() else {
        return;
    };
    let url = server.database().unwrap();
    let (name, _) = parts(&url);
    let store = Database::postgres(&url).await.unwrap();
    let hanging = tokio::task::spawn_blocking(move || {
        let lock = "BEGIN; SELECT 1 FROM ledger_head FOR UPDATE; SELECT pg_sleep(6)";
        server.sql(&name, lock)
    });
    // Until the other has the lock, commits succeed.
    let mut number = 0;
    let locked = loop {
        match store.commit(change(&format!("c{number}"), 10)).await {
            Ok(_) => number += 1,
            error => break why(error),
        }
    };
    assert_eq!(locked, "the database is locked");
    hanging.await.unwrap().unwrap();
    until_it_works(&store, "after").await;
    assert_eq!(everything_is_whole(&store).await, number + 1);
}
