//! The head of the ledger, kept beside the database: what was cut off is noticed, what a crash
//! leaves is not taken for it, and records that say something else than the ledger are named.

use std::path::Path;

use countersign_core::approval::Choice;
use countersign_core::ledger::checkpoint::Checkpoint;
use countersign_core::time::UnixMillis;
use countersign_gate::base::signer::Signer;
use countersign_gate::ledger::anchor::{Anchor, AnchorError, FILE, Found, Mismatch};
use countersign_gate::ledger::verify::{Evidence, LedgerState};
use countersign_store::Database;
use rusqlite::Connection;

use crate::support::{DANGEROUS, START, Wishes, World, ask, command, open, reply, world};

const UNLOCKED: &str =
    "DROP TRIGGER ledger_is_never_changed; DROP TRIGGER ledger_is_never_shortened;";

fn anchor(home: &Path, seed: u8, is_shared: bool) -> Anchor {
    Anchor::new(home.join(FILE), Signer::from_seed([seed; 32]), is_shared)
}

/// A gate whose head is kept, some calls old: allowed in packs, answered, granted, used.
async fn anchored_world() -> World {
    let world = world().await;
    let home = world.home.path();
    let kept = anchor(home, 7, false);
    let found = kept.begin(world.gate.store(), START).await.unwrap();
    assert_eq!(
        found,
        Found::Nothing,
        "a home without a head adopts its ledger"
    );
    world.gate.anchored(kept);
    for _ in 0..30 {
        world.submit(command("ls")).await;
    }
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    world.answer(&approval, Choice::Once).await;
    let token = world.call(&call.call_id).await.token.unwrap();
    world.gate.consume(&world.agent, &token).await.unwrap();
    let (_, approval) = ask(&world, command("rm -rf /srv/old")).await;
    world.answer(&approval, Choice::Deny).await;
    let (_, approval) = ask(&world, command("rm -rf /srv/tmp")).await;
    world.answer(&approval, Choice::Always).await;
    world.submit(command("rm -rf /srv/tmp")).await;
    for _ in 0..30 {
        world.submit(command("pwd")).await;
    }
    world.gate.rest().await;
    world
}

/// Returns a copy of the home to which `sql` was done.
fn copy_with(world: &World, sql: &str) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for found in std::fs::read_dir(world.home.path()).unwrap() {
        let found = found.unwrap();
        std::fs::copy(found.path(), copy.path().join(found.file_name())).unwrap();
    }
    let connection = Connection::open(copy.path().join("countersign.db")).unwrap();
    connection
        .execute_batch(&format!("{UNLOCKED}{sql}"))
        .unwrap();
    copy
}

async fn store(home: &Path) -> Database {
    Database::sqlite(&home.join("countersign.db"))
        .await
        .unwrap()
}

async fn verified(home: &Path, kept: Option<Checkpoint>) -> LedgerState {
    let (store, anchor) = (store(home).await, anchor(home, 7, false));
    let signer = Signer::from_seed([7; 32]);
    let evidence = Evidence {
        store: &store,
        signer: &signer,
        now: START,
        anchor: Some(&anchor),
        kept,
        progress: |_, _| {},
    };
    evidence.verify().await.unwrap()
}

fn mismatch(outcome: Result<Found, AnchorError>) -> Option<Mismatch> {
    match outcome {
        Err(AnchorError::Mismatch(mismatch)) => Some(mismatch),
        Ok(_) | Err(AnchorError::Store(_) | AnchorError::File { .. }) => None,
    }
}

#[tokio::test]
async fn a_ledger_that_was_cut_off_neither_verifies_nor_starts() {
    let world = anchored_world().await;
    let whole = verified(world.home.path(), None).await;
    assert!(
        whole.ok && whole.anchored == Some(whole.entries),
        "{whole:?}"
    );
    assert!(whole.records > 60, "{whole:?}");
    let last = whole.entries;
    for (name, sql) in [
        (
            "the last row",
            format!("DELETE FROM ledger WHERE seq > {}", last - 1),
        ),
        (
            "several",
            format!("DELETE FROM ledger WHERE seq > {}", last - 20),
        ),
        ("nearly all", "DELETE FROM ledger WHERE seq > 1".to_owned()),
        ("all", "DELETE FROM ledger".to_owned()),
        (
            "all of it, records included",
            "DELETE FROM ledger; DELETE FROM records; DELETE FROM packs;".to_owned(),
        ),
    ] {
        let copy = copy_with(&world, &sql);
        let state = verified(copy.path(), None).await;
        assert!(!state.ok, "{name}: {state:?}");
        let store = store(copy.path()).await;
        let found = anchor(copy.path(), 7, false).begin(&store, START).await;
        assert!(
            matches!(mismatch(found), Some(Mismatch::Shorter { .. })),
            "{name}"
        );
    }
    // Cut off and filled up again with entries that follow: another ledger.
    let copy = copy_with(
        &world,
        &format!("DELETE FROM ledger WHERE seq > {};", last - 35),
    );
    let gate = open(copy.path(), &world.clock, Wishes::default()).await;
    for _ in 0..40 {
        gate.submit(&world.agent, command("ls")).await.unwrap();
    }
    gate.store().flush().await.unwrap();
    assert!(!verified(copy.path(), None).await.ok);
    let found = anchor(copy.path(), 7, false).compare(gate.store()).await;
    assert!(matches!(mismatch(found), Some(Mismatch::Other { .. })));
}

#[tokio::test]
async fn a_ledger_ahead_of_its_head_is_what_a_crash_leaves_and_starts() {
    let world = anchored_world().await;
    // Written after the head, which is not kept again: as if killed in between.
    for _ in 0..10 {
        world.submit(command("ls")).await;
    }
    world.gate.store().flush().await.unwrap();
    let copy = copy_with(&world, "");
    let state = verified(copy.path(), None).await;
    assert!(
        state.ok && state.anchored < Some(state.entries),
        "{state:?}"
    );
    let store = store(copy.path()).await;
    let found = anchor(copy.path(), 7, false)
        .begin(&store, START)
        .await
        .unwrap();
    assert!(matches!(found, Found::Kept(_)));
}

#[tokio::test]
async fn a_head_that_is_gone_forged_or_of_another_home_is_a_mismatch() {
    let world = anchored_world().await;
    let home = world.home.path();
    let stranger = Signer::from_seed([9; 32]);
    let store = store(home).await;
    let (_, forged) = anchor(home, 9, false)
        .signed_head(&store, START)
        .await
        .unwrap();
    for (name, text, expected) in [
        ("signed by a stranger", forged.to_string(), "unknown key"),
        ("of no shape", "{}".to_owned(), "not a checkpoint"),
        ("empty", String::new(), "not a checkpoint"),
    ] {
        let copy = copy_with(&world, "");
        std::fs::write(copy.path().join(FILE), text).unwrap();
        let state = verified(copy.path(), None).await;
        let why = state.why.unwrap();
        assert!(!state.ok && why.contains(expected), "{name}: {why}");
    }
    let copy = copy_with(&world, "DELETE FROM ledger WHERE seq > 5");
    std::fs::remove_file(copy.path().join(FILE)).unwrap();
    let gone = anchor(copy.path(), 7, false).compare(&store).await;
    assert_eq!(mismatch(gone), Some(Mismatch::Missing));
    // A replica with a home of its own has not kept one yet, and is none the worse for it.
    let fresh = Anchor::new(copy.path().join(FILE), stranger, true);
    assert_eq!(fresh.compare(&store).await.unwrap(), Found::Nothing);
}

#[tokio::test]
async fn taking_a_ledger_as_it_is_is_itself_in_the_ledger() {
    let world = anchored_world().await;
    let copy = copy_with(&world, "DELETE FROM ledger WHERE seq > 20");
    let store = store(copy.path()).await;
    let kept = anchor(copy.path(), 7, false);
    assert!(kept.begin(&store, START).await.is_err());
    kept.accept(&store, START, "root").await.unwrap();
    let (seq, _) = store.last().await.unwrap();
    let entries = store.entries(seq - 1, 1).await.unwrap();
    let draft = &entries[0].draft;
    assert_eq!(draft.event, "ledger.anchored");
    let body: serde_json::Value = serde_json::from_str(&draft.body).unwrap();
    assert_eq!(body["by"], "root");
    let (was, head) = (
        body["was"].as_str().unwrap(),
        body["head"].as_str().unwrap(),
    );
    assert!(was != head && was.contains(":sha256:"), "{body}");
    assert!(matches!(
        anchor(copy.path(), 7, false).begin(&store, START).await,
        Ok(Found::Kept(_))
    ));
}

#[tokio::test]
async fn a_head_kept_elsewhere_is_held_against_the_ledger() {
    let world = anchored_world().await;
    let (head, signed) = anchor(world.home.path(), 7, false)
        .signed_head(world.gate.store(), START)
        .await
        .unwrap();
    let parse = countersign_core::ledger::head::parse_kept;
    for text in [signed.to_string(), head.last.text()] {
        assert_eq!(parse(&text), Ok(head.last));
    }
    assert!(verified(world.home.path(), Some(head.last)).await.ok);
    for kept in [
        Checkpoint {
            seq: head.last.seq + 1,
            ..head.last
        },
        Checkpoint {
            seq: head.last.seq - 1,
            ..head.last
        },
    ] {
        assert!(!verified(world.home.path(), Some(kept)).await.ok);
    }
    for bad in ["", "12", "12:abc", "x:sha256:00", "{\"seq\":1}"] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}

#[tokio::test]
async fn records_that_say_something_else_than_the_ledger_are_named() {
    let world = anchored_world().await;
    let set = |kind: &str, what: &str| {
        format!(
            "UPDATE records SET body = {what} WHERE kind = '{kind}' AND id = (SELECT min(id) FROM records WHERE kind = '{kind}' AND body <> {what})"
        )
    };
    #[rustfmt::skip]
    let rows = [
        ("a denial turned into nothing", set("approval", "replace(body, '\"is\":\"denied\"', '\"is\":\"waiting\"')"), "approval"),
        ("another answerer", set("approval", "replace(body, '\"by\":\"ana\"', '\"by\":\"eve\"')"), "approval"),
        ("other arguments", set("call", "replace(body, '/srv/www', '/srv/wwx')"), "call"),
        ("another verdict", set("call", "replace(body, '\"verdict\":\"ask\"', '\"verdict\":\"allow\"')"), "call"),
        ("an agent's key made an admin's", set("key", "replace(body, '\"agent\"', '\"admin\"')"), "key"),
        ("a wider grant", set("grant", "replace(body, '/srv/tmp', '/srv')"), "grant"),
        ("a grant of which nothing is told", "INSERT INTO records SELECT kind, 'grant_x', version, status, owner, session, run, link, at, due_at, body FROM records WHERE kind = 'grant'".to_owned(), "grant"),
        ("a signing key of somebody else", "INSERT INTO records SELECT kind, 'x', version, status, owner, session, run, link, at, due_at, body FROM records WHERE kind = 'signing_key'".to_owned(), "signing_key"),
        ("a question less", "DELETE FROM records WHERE kind = 'approval' AND status = 'denied'".to_owned(), "approval"),
        ("a call less", "DELETE FROM records WHERE kind = 'call' AND id = (SELECT min(id) FROM records WHERE kind = 'call')".to_owned(), "call"),
        ("packed calls less", "DELETE FROM packed; DELETE FROM packs;".to_owned(), "call"),
    ];
    for (name, sql, kind) in rows {
        let copy = copy_with(&world, &sql);
        let state = verified(copy.path(), None).await;
        let why = state.why.clone().unwrap_or_default();
        assert!(!state.ok && why.contains(kind), "{name}: {state:?}");
        assert_eq!(state.first_bad, None, "{name}");
    }
}

#[tokio::test]
async fn what_happens_while_it_is_verified_is_no_disagreement() {
    let world = anchored_world().await;
    for round in 0..5 {
        let text = format!("rm -rf /srv/round{round}");
        let (work, verify) = tokio::join!(
            async {
                let (_, approval) = ask(&world, command(&text)).await;
                world
                    .gate
                    .answer(&world.ana, reply(&approval, Choice::Once))
                    .await
            },
            world.gate.verify_ledger(&world.ana)
        );
        work.unwrap();
        let state = verify.unwrap();
        assert!(state.ok, "{state:?}");
    }
}

#[tokio::test]
async fn a_head_never_goes_back_while_the_gate_works() {
    let world = anchored_world().await;
    let before = std::fs::read_to_string(world.home.path().join(FILE)).unwrap();
    let connection = Connection::open(world.home.path().join("countersign.db")).unwrap();
    connection
        .execute_batch(&format!("{UNLOCKED}DELETE FROM ledger WHERE seq > 10;"))
        .unwrap();
    world.gate.rest().await;
    let after = std::fs::read_to_string(world.home.path().join(FILE)).unwrap();
    assert_eq!(before, after);
    let found = anchor(world.home.path(), 7, false);
    let found = found
        .begin(world.gate.store(), UnixMillis(START.0 + 1))
        .await;
    assert!(matches!(mismatch(found), Some(Mismatch::Shorter { .. })));
}
