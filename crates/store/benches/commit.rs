//! How many changes a second the store takes, and what that costs. Prints a table.
//!
//!     cargo bench -p countersign-store
//!
//! PostgreSQL is measured where Debian's binaries are installed.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measurement that fails may panic"
)]

use std::time::{Duration, Instant};

use countersign_core::digest::Digest;
use countersign_core::ledger::Draft;
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Database, Expect, Kind, Put, Record};
use countersign_testkit::postgres::Server;

const MEASURE: Duration = Duration::from_secs(3);

fn change(id: String) -> Change {
    // As repetitive as calls are, and no more: what is packed is compressed.
    let digest = Digest::of(id.as_bytes());
    let words = "reads the files of the project, runs its tests and prints what they say; ";
    let body = format!(
        "{{\"call_id\":\"{id}\",\"digest\":\"{digest}\",\"salt\":\"{}\",\"reasons\":\"{}\"}}",
        Digest::of(&digest.0).hex(),
        words.repeat(16)
    );
    Change {
        entries: vec![Draft {
            at: UnixMillis(1),
            event: "call.assessed".to_owned(),
            owner: "key_0123456789abcdef".to_owned(),
            run: "run_0123456789abcdef".to_owned(),
            session: "session".to_owned(),
            subject: id.clone(),
            body: body.clone(),
        }],
        puts: vec![Put {
            record: Record {
                kind: Kind::Call,
                id,
                version: 0,
                status: "allowed".to_owned(),
                owner: "key_0123456789abcdef".to_owned(),
                session: "session".to_owned(),
                run: "run_0123456789abcdef".to_owned(),
                link: String::new(),
                at: 1_700_000_000_000,
                due_at: None,
                body,
            },
            expect: Expect::Absent,
        }],
    }
}

fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split(' ')
        .collect();
    let ticks = |field: usize| fields.get(field).and_then(|it| it.parse::<f64>().ok());
    (ticks(12).unwrap_or(0.0) + ticks(13).unwrap_or(0.0)) / 100.0
}

fn row(name: &str, changes: f64, started: Instant, processor: f64) {
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{name:<44} {:>9.0}/s   {:>5.2} cores",
        changes / seconds,
        (processor_seconds() - processor) / seconds
    );
}

async fn commits(name: &str, stores: &[Database], committers: usize) {
    let (started, processor) = (Instant::now(), processor_seconds());
    let tasks: Vec<_> = (0..committers)
        .map(|committer| {
            let store = stores[committer % stores.len()].clone();
            let name = name.to_owned();
            tokio::spawn(async move {
                let mut done = 0_u32;
                while started.elapsed() < MEASURE {
                    let id = format!("{name}-{committer}-{done}");
                    store.commit(change(id)).await.unwrap();
                    done += 1;
                }
                done
            })
        })
        .collect();
    let mut total = 0.0;
    for task in tasks {
        total += f64::from(task.await.unwrap());
    }
    row(name, total, started, processor);
}

async fn appends(name: &str, store: &Database, rate: Option<f64>) {
    let (started, processor) = (Instant::now(), processor_seconds());
    let (mut done, mut refused) = (0_u32, 0_u32);
    while started.elapsed() < MEASURE {
        let due = rate.map_or(f64::INFINITY, |rate| started.elapsed().as_secs_f64() * rate);
        while f64::from(done) < due && started.elapsed() < MEASURE {
            if store.append(change(format!("{name}-{done:010}"))).is_err() {
                refused += 1;
                break;
            }
            done += 1;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    store.flush().await.unwrap();
    row(name, f64::from(done), started, processor);
    if refused > 0 {
        println!(
            "{:<44} {refused} times, and tried again",
            "  the queue was full"
        );
    }
}

#[tokio::main]
async fn main() {
    let directory = tempfile::tempdir_in(".").unwrap();
    let store = Database::sqlite(&directory.path().join("state.db"))
        .await
        .unwrap();
    let one = std::slice::from_ref(&store);
    commits("SQLite, 1 committer", one, 1).await;
    commits("SQLite, 8 committers", one, 8).await;
    commits("SQLite, 64 committers", one, 64).await;
    commits("SQLite, 512 committers", one, 512).await;
    appends("SQLite, appended, 5 000 asked for", &store, Some(5_000.0)).await;
    appends("SQLite, appended, 20 000 asked for", &store, Some(20_000.0)).await;
    appends("SQLite, appended, as fast as it goes", &store, None).await;
    store.close().await;

    let Some(server) = Server::shared() else {
        return;
    };
    let url = server.database().unwrap();
    let two = [
        Database::postgres(&url).await.unwrap(),
        Database::postgres(&url).await.unwrap(),
    ];
    let one = &two[..1];
    commits("PostgreSQL, 1 committer", one, 1).await;
    commits("PostgreSQL, 64 committers", one, 64).await;
    commits("PostgreSQL, 512 committers", one, 512).await;
    commits("PostgreSQL, two replicas, 2 committers", &two, 2).await;
    commits("PostgreSQL, two replicas, 64 committers", &two, 64).await;
    commits("PostgreSQL, two replicas, 512 committers", &two, 512).await;
    appends("PostgreSQL, appended, as fast as it goes", &two[0], None).await;
}
