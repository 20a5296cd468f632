//! The promises, one function each.

use std::time::Duration;

use countersign_store::{Change, Database, Expect, Kind, Order, Query, Record, StoreError};

use crate::place::{Place, change, draft, is_conflict, put, record, walk};

pub(crate) async fn the_first_writer_wins(place: &Place) {
    let store = place.open().await;
    store.commit(change("a", Expect::Absent)).await.unwrap();
    let racing = (0..20).map(|racer| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut change = change("a", Expect::Version(1));
            change.puts[0].record.body = racer.to_string();
            (racer, store.commit(change).await)
        })
    });
    let mut winners = Vec::new();
    for racer in racing.collect::<Vec<_>>() {
        let (racer, outcome) = racer.await.unwrap();
        if is_conflict(&outcome) {
            continue;
        }
        outcome.unwrap();
        winners.push(racer.to_string());
    }
    let kept = store.get(Kind::Call, "a").await.unwrap().unwrap();
    assert_eq!((kept.version, vec![kept.body]), (2, winners));
    assert_eq!(walk(&store).await, 2);
}

pub(crate) async fn a_change_is_all_or_nothing(place: &Place) {
    let store = place.open().await;
    store.commit(change("there", Expect::Absent)).await.unwrap();
    let spoiled = Change {
        puts: vec![
            put(record("new"), Expect::Absent),
            put(record("there"), Expect::Absent),
        ],
        entries: vec![draft("never")],
    };
    let outcome = store.commit(spoiled).await;
    match outcome {
        Err(StoreError::Conflict { kind, id }) => assert_eq!((kind, &*id), (Kind::Call, "there")),
        other => panic!("{other:?}"),
    }
    assert_eq!(store.get(Kind::Call, "new").await.unwrap(), None);
    assert_eq!(walk(&store).await, 1);
}

pub(crate) async fn a_change_may_write_a_record_twice(place: &Place) {
    let store = place.open().await;
    let twice = Change {
        puts: vec![
            put(record("a"), Expect::Absent),
            put(record("a"), Expect::Version(1)),
        ],
        entries: Vec::new(),
    };
    assert_eq!(store.commit(twice).await.unwrap(), []);
    let kept = store.get(Kind::Call, "a").await.unwrap().unwrap();
    assert_eq!(kept.version, 2);
}

pub(crate) async fn what_a_record_expects_must_be_there(place: &Place) {
    let store = place.open().await;
    store.commit(change("a", Expect::Absent)).await.unwrap();
    let rows = [
        ("absent, but there", "a", Expect::Absent, None),
        ("a version, but none there", "x", Expect::Version(1), None),
        ("version nought, none there", "x", Expect::Version(0), None),
        ("a later version", "a", Expect::Version(2), None),
        ("this version", "a", Expect::Version(1), Some(2)),
        ("the version before", "a", Expect::Version(1), None),
        ("anything, and there", "a", Expect::Anything, Some(3)),
        ("anything, and none there", "b", Expect::Anything, Some(1)),
        ("the largest version", "a", Expect::Version(u64::MAX), None),
    ];
    for (name, id, expect, version) in rows {
        let outcome = store.commit(change(id, expect)).await;
        let Some(version) = version else {
            assert!(is_conflict(&outcome), "{name}: {outcome:?}");
            continue;
        };
        assert!(outcome.is_ok(), "{name}: {outcome:?}");
        let kept = store.get(Kind::Call, id).await.unwrap().unwrap();
        assert_eq!(kept.version, version, "{name}");
    }
    let other_kind = Record {
        kind: Kind::Grant,
        ..record("a")
    };
    let change = Change {
        puts: vec![put(other_kind, Expect::Absent)],
        entries: Vec::new(),
    };
    store.commit(change).await.unwrap();
}

pub(crate) async fn entries_are_numbered_without_gaps_and_chained(place: &Place) {
    let store = place.open().await;
    assert_eq!(store.last().await.unwrap().0, 0);
    let three = Change {
        puts: Vec::new(),
        entries: vec![draft("a"), draft("b"), draft("c")],
    };
    let entries = store.commit(three).await.unwrap();
    let numbers: Vec<u64> = entries.iter().map(|entry| entry.seq).collect();
    assert_eq!(numbers, [1, 2, 3]);
    store.commit(change("x", Expect::Absent)).await.unwrap();
    store.commit(change("x", Expect::Absent)).await.unwrap_err();
    store.commit(change("y", Expect::Absent)).await.unwrap();
    let entries: Vec<_> = entries.iter().map(|entry| (**entry).clone()).collect();
    assert_eq!(store.entries(0, 3).await.unwrap(), entries);
    assert_eq!(store.entries(5, 10).await.unwrap(), []);
    assert_eq!(store.entries(u64::MAX, 10).await.unwrap(), []);
    assert_eq!(walk(&store).await, 5);
}

pub(crate) async fn two_hundred_writers_all_land(place: &Place) {
    let store = place.open().await;
    let writing = (0..200).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            let own = format!("own-{writer}");
            let change = Change {
                puts: vec![
                    put(record(&own), Expect::Absent),
                    put(record("shared"), Expect::Anything),
                ],
                entries: vec![draft(&own)],
            };
            let entries = store.commit(change).await.unwrap();
            assert_eq!(entries[0].draft.subject, own);
            // Who was answered sees it.
            assert!(store.get(Kind::Call, &own).await.unwrap().is_some());
        })
    });
    for writer in writing.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let shared = store.get(Kind::Call, "shared").await.unwrap().unwrap();
    assert_eq!(shared.version, 200);
    assert_eq!(store.count(Query::of(Kind::Call)).await.unwrap(), 201);
    assert_eq!(walk(&store).await, 200);
}

pub(crate) async fn a_query_finds_what_it_asks_for(place: &Place) {
    let store = place.open().await;
    let row = |id: &str, status: &str, owner: &str, session: &str, at, due_at| {
        let record = Record {
            status: status.to_owned(),
            owner: owner.to_owned(),
            session: session.to_owned(),
            run: format!("run-{session}"),
            link: format!("link-{id}"),
            at,
            due_at,
            ..record(id)
        };
        put(record, Expect::Absent)
    };
    let other_kind = Record {
        kind: Kind::Approval,
        ..record("a")
    };
    let change = Change {
        puts: vec![
            row("d", "waiting", "k1", "s1", 40, Some(100)),
            row("c", "waiting", "k2", "s1", 30, Some(200)),
            row("b", "allowed", "k1", "s2", 20, None),
            row("a", "", "", "", 20, None),
            put(other_kind, Expect::Absent),
        ],
        entries: Vec::new(),
    };
    store.commit(change).await.unwrap();
    let text = |value: &str| Some(value.to_owned());
    let all = || Query::of(Kind::Call);
    #[rustfmt::skip]
    let rows = [
        ("all", all(), "abcd"),
        ("newest first", Query { order: Order::NewestFirst, ..all() }, "dcba"),
        ("a limit", Query { limit: 2, ..all() }, "ab"),
        ("a limit of none", Query { limit: 0, ..all() }, ""),
        ("by status", Query { status: text("waiting"), ..all() }, "cd"),
        ("by empty status", Query { status: text(""), ..all() }, "a"),
        ("by owner", Query { owner: text("k1"), ..all() }, "bd"),
        ("by session", Query { session: text("s1"), ..all() }, "cd"),
        ("by run", Query { run: text("run-s2"), ..all() }, "b"),
        ("by link", Query { link: text("link-c"), ..all() }, "c"),
        ("by nothing there", Query { link: text("link-z"), ..all() }, ""),
        ("since", Query { since: Some(30), ..all() }, "cd"),
        ("due", Query { due_by: Some(100), ..all() }, "d"),
        ("due, both", Query { due_by: Some(200), status: text("waiting"), ..all() }, "cd"),
        ("behind, same time", Query { behind: Some((20, "a".to_owned())), ..all() }, "bcd"),
        ("behind, backwards", Query { behind: Some((30, "c".to_owned())), order: Order::NewestFirst, ..all() }, "ba"),
        ("everything together", Query { status: text("waiting"), owner: text("k1"), session: text("s1"), run: text("run-s1"), link: text("link-d"), since: Some(40), due_by: Some(100), behind: Some((39, "z".to_owned())), ..all() }, "d"),
        ("another kind", Query::of(Kind::Approval), "a"),
        ("a kind without records", Query::of(Kind::Review), ""),
    ];
    for (name, query, expected) in rows {
        let found = store.find(query.clone()).await.unwrap();
        let ids: String = found.iter().map(|record| record.id.as_str()).collect();
        assert_eq!(ids, expected, "{name}");
        let unlimited = Query {
            limit: 1000,
            ..query
        };
        let matching = store.find(unlimited.clone()).await.unwrap().len();
        let counted = store.count(unlimited).await.unwrap();
        assert_eq!(usize::try_from(counted), Ok(matching), "{name}");
    }
}

pub(crate) async fn pages_follow_each_other_without_loss(place: &Place) {
    let store = place.open().await;
    let puts = (0..57).map(|number| {
        let record = Record {
            at: i64::from(number / 10),
            ..record(&format!("{:02}", number * 7 % 57))
        };
        put(record, Expect::Absent)
    });
    let change = Change {
        puts: puts.collect(),
        entries: Vec::new(),
    };
    store.commit(change).await.unwrap();
    for order in [Order::OldestFirst, Order::NewestFirst] {
        let query = Query {
            order,
            ..Query::of(Kind::Call)
        };
        let whole = store.find(query.clone()).await.unwrap();
        assert_eq!(whole.len(), 57);
        let mut paged: Vec<Record> = Vec::new();
        loop {
            let behind = paged.last().map(|record| (record.at, record.id.clone()));
            let query = Query {
                behind,
                limit: 10,
                ..query.clone()
            };
            let page = store.find(query).await.unwrap();
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, whole, "{order:?}");
    }
}

pub(crate) async fn what_was_appended_is_read_at_once(place: &Place) {
    let store = place.open().await;
    for number in 0..20 {
        let id = format!("a{number}");
        store.append(change(&id, Expect::Absent)).unwrap();
        match number % 3 {
            0 => assert!(store.get(Kind::Call, &id).await.unwrap().is_some()),
            1 => assert_eq!(
                store.find(Query::of(Kind::Call)).await.unwrap().len(),
                number + 1
            ),
            _ => assert_eq!(
                usize::try_from(store.count(Query::of(Kind::Call)).await.unwrap()),
                Ok(number + 1)
            ),
        }
    }
}

pub(crate) async fn what_was_appended_lands_without_being_asked_for(place: &Place) {
    let store = place.open().await;
    let mut last = store.tail().last();
    store.append(change("a", Expect::Absent)).unwrap();
    let landed = tokio::time::timeout(Duration::from_secs(10), last.wait_for(|last| *last == 1));
    assert_eq!(*landed.await.unwrap().unwrap(), 1);
    assert_eq!(walk(&store).await, 1);
}

pub(crate) async fn what_was_appended_keeps_its_order_with_commits(place: &Place) {
    let store = place.open().await;
    store.append(change("a", Expect::Absent)).unwrap();
    // It names the version the appended change makes.
    let commit = store.commit(change("a", Expect::Version(1))).await.unwrap();
    assert_eq!(commit[0].seq, 2);
    // A refused append does no harm to what follows it.
    store.append(change("a", Expect::Absent)).unwrap();
    store.append(change("b", Expect::Absent)).unwrap();
    store.flush().await.unwrap();
    let kept = store.get(Kind::Call, "a").await.unwrap().unwrap();
    assert_eq!(kept.version, 2);
    assert_eq!(walk(&store).await, 3);
}

pub(crate) async fn a_flush_waits_for_everything_appended(place: &Place) {
    let store = place.open().await;
    for number in 0..3000 {
        let id = format!("a{number}");
        store.append(change(&id, Expect::Absent)).unwrap();
    }
    store.flush().await.unwrap();
    // Read by another handle, so nothing but the database can have told it.
    let other = place.open().await;
    assert_eq!(other.count(Query::of(Kind::Call)).await.unwrap(), 3000);
    assert_eq!(walk(&other).await, 3000);
}

pub(crate) async fn an_append_that_expects_a_version_is_refused(place: &Place) {
    let store = place.open().await;
    store.commit(change("a", Expect::Absent)).await.unwrap();
    assert!(is_conflict(&store.append(change("a", Expect::Version(1)))));
    store.flush().await.unwrap();
    assert_eq!(walk(&store).await, 1);
}

pub(crate) async fn the_tail_has_no_gaps_under_load(place: &Place) {
    const EACH: u64 = 60;
    let store = place.open().await;
    let follower = tokio::spawn(follow(store.clone(), EACH * 8));
    let writing = (0..8).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in 0..EACH {
                let change = change(&format!("{writer}-{number}"), Expect::Absent);
                if number % 3 == 0 {
                    store.append(change).unwrap();
                    continue;
                }
                let entries = store.commit(change).await.unwrap();
                // What is acknowledged is visible.
                assert!(*store.tail().last().borrow() >= entries[0].seq);
            }
        })
    });
    for writer in writing.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    store.flush().await.unwrap();
    assert_eq!(follower.await.unwrap(), walk(&store).await);
}

/// Follows the ledger as a reader of events does, up to a number; panics at the first gap.
async fn follow(store: Database, up_to: u64) -> u64 {
    let mut last = store.tail().last();
    let mut seen = 0;
    while seen < up_to {
        let numbers: Vec<u64> = if let Some(entries) = store.tail().recent(seen, 7) {
            entries.iter().map(|entry| entry.seq).collect()
        } else {
            let entries = store.entries(seen, 7).await.unwrap();
            entries.iter().map(|entry| entry.seq).collect()
        };
        for number in &numbers {
            assert_eq!(*number, seen + 1);
            seen = *number;
        }
        if numbers.is_empty() {
            let waiting = last.wait_for(|last| *last > seen);
            let woken = tokio::time::timeout(Duration::from_secs(20), waiting).await;
            assert!(woken.is_ok(), "nothing came behind {seen}");
        }
    }
    seen
}

pub(crate) async fn two_handles_see_each_others_entries_and_never_fork_the_chain(place: &Place) {
    const EACH: u64 = 80;
    let handles = [place.open().await, place.open().await];
    let followers: Vec<_> = handles
        .iter()
        .map(|store| tokio::spawn(follow(store.clone(), EACH * 4)))
        .collect();
    let writing = (0..4).map(|writer| {
        let store = handles[writer % 2].clone();
        tokio::spawn(async move {
            for number in 0..EACH {
                let change = change(&format!("{writer}-{number}"), Expect::Absent);
                store.commit(change).await.unwrap();
            }
        })
    });
    for writer in writing.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    for follower in followers {
        assert_eq!(follower.await.unwrap(), EACH * 4);
    }
    assert_eq!(walk(&handles[0]).await, EACH * 4);
    assert_eq!(walk(&handles[1]).await, EACH * 4);
}

pub(crate) async fn of_two_handles_one_wins(place: &Place) {
    let handles = [place.open().await, place.open().await];
    for race in 0..30 {
        let id = format!("race-{race}");
        handles[race % 2]
            .commit(change(&id, Expect::Absent))
            .await
            .unwrap();
        let (first, second) = tokio::join!(
            handles[0].commit(change(&id, Expect::Version(1))),
            handles[1].commit(change(&id, Expect::Version(1))),
        );
        assert_ne!(is_conflict(&first), is_conflict(&second), "race {race}");
        assert_ne!(first.is_ok(), second.is_ok(), "race {race}");
        for store in &handles {
            let kept = store.get(Kind::Call, &id).await.unwrap().unwrap();
            assert_eq!(kept.version, 2);
        }
    }
    assert_eq!(walk(&handles[0]).await, 60);
}

pub(crate) async fn reopening_continues_the_chain(place: &Place) {
    for round in 0..3 {
        let store = place.open().await;
        assert_eq!(*store.tail().last().borrow(), round * 2);
        store
            .append(change(&format!("a{round}"), Expect::Absent))
            .unwrap();
        let id = format!("c{round}");
        let entries = store.commit(change(&id, Expect::Absent)).await.unwrap();
        assert_eq!(entries[0].seq, round * 2 + 2);
        store.close().await;
    }
    assert_eq!(walk(&place.open().await).await, 6);
}

pub(crate) async fn dropping_the_store_writes_what_was_appended(place: &Place) {
    let store = place.open().await;
    store.append(change("a", Expect::Absent)).unwrap();
    drop(store);
    let store = place.open().await;
    let mut last = store.tail().last();
    let landed = tokio::time::timeout(Duration::from_secs(10), last.wait_for(|last| *last == 1));
    assert_eq!(*landed.await.unwrap().unwrap(), 1);
}

pub(crate) async fn any_text_comes_back_as_it_was(place: &Place) {
    let store = place.open().await;
    let texts = [
        "",
        "it's \"quoted\" \\ and %_",
        "nul \0 inside",
        "\0",
        "\u{1}",
        "\u{1}0",
        "⟨U+202E⟩ \u{202e} 🦀",
        "line\nbreak\r\n",
    ];
    for (number, text) in texts.iter().enumerate() {
        let text = (*text).to_owned();
        let record = Record {
            id: format!("{number}{text}"),
            version: 1,
            status: text.clone(),
            owner: text.clone(),
            session: text.clone(),
            run: text.clone(),
            link: text.clone(),
            at: i64::MIN,
            due_at: Some(i64::MAX),
            body: text.clone(),
            ..record("")
        };
        let mut draft = draft("");
        draft.body.clone_from(&text);
        draft.session.clone_from(&text);
        let change = Change {
            puts: vec![put(record.clone(), Expect::Absent)],
            entries: vec![draft.clone()],
        };
        store.commit(change).await.unwrap();
        let kept = store.get(Kind::Call, &record.id).await.unwrap();
        assert_eq!(kept.as_ref(), Some(&record), "{text:?}");
        let query = Query {
            session: Some(text.clone()),
            link: Some(text.clone()),
            ..Query::of(Kind::Call)
        };
        assert_eq!(store.find(query).await.unwrap(), [record], "{text:?}");
        let entries = store.entries(number as u64, 1).await.unwrap();
        assert_eq!(entries[0].draft, draft, "{text:?}");
    }
    assert_eq!(walk(&store).await, texts.len() as u64);
}

pub(crate) async fn a_closed_store_says_so(place: &Place) {
    let store = place.open().await;
    store.commit(change("a", Expect::Absent)).await.unwrap();
    let other = store.clone();
    store.close().await;
    let commit = other.commit(change("b", Expect::Absent)).await;
    assert!(matches!(commit, Err(StoreError::Closed)), "{commit:?}");
    let append = other.append(change("b", Expect::Absent));
    assert!(matches!(append, Err(StoreError::Closed)), "{append:?}");
    let read = other.get(Kind::Call, "a").await;
    assert!(matches!(read, Err(StoreError::Closed)), "{read:?}");
    other.close().await;
}

pub(crate) async fn a_database_of_a_newer_version_is_refused(place: &Place) {
    let store = place.open().await;
    store.commit(change("a", Expect::Absent)).await.unwrap();
    store.close().await;
    place.age();
    match place.try_open().await {
        Err(StoreError::Unavailable { why, .. }) => assert!(why.contains("newer version"), "{why}"),
        other => panic!("{other:?}"),
    }
}
