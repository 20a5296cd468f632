//! Any sequence of changes and queries gives what a simple model in memory gives.

use std::collections::BTreeMap;

use countersign_store::{Change, Expect, Kind, Order, Put, Query, Record};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};

use crate::place::{Place, draft, is_conflict, walk};

/// Sequences that are tried; each needs a database of its own.
const SEQUENCES: u32 = 6;

#[derive(Clone, Debug)]
enum Step {
    Commit(Change),
    Append(Change),
    Find(Query),
}

#[derive(Default)]
struct Model {
    records: BTreeMap<(Kind, String), Record>,
    entries: u64,
}

impl Model {
    fn apply(&mut self, change: &Change) -> bool {
        let mut after = self.records.clone();
        for Put { record, expect } in &change.puts {
            let key = (record.kind, record.id.clone());
            let version = after.get(&key).map_or(0, |there| there.version);
            let fits = match expect {
                Expect::Absent => version == 0,
                Expect::Version(expected) => version == *expected && version > 0,
                Expect::Anything => true,
            };
            if !fits {
                return false;
            }
            let record = Record {
                version: version + 1,
                ..record.clone()
            };
            after.insert(key, record);
        }
        self.records = after;
        self.entries += change.entries.len() as u64;
        true
    }

    fn find(&self, query: &Query) -> Vec<Record> {
        let same = |asked: &Option<String>, is: &String| asked.as_ref().is_none_or(|it| it == is);
        let mut found: Vec<Record> = self
            .records
            .values()
            .filter(|record| {
                let place = (record.at, record.id.clone());
                let is_behind = query
                    .behind
                    .as_ref()
                    .is_none_or(|behind| match query.order {
                        Order::OldestFirst => place > *behind,
                        Order::NewestFirst => place < *behind,
                    });
                record.kind == query.kind
                    && same(&query.status, &record.status)
                    && same(&query.owner, &record.owner)
                    && same(&query.session, &record.session)
                    && same(&query.run, &record.run)
                    && same(&query.link, &record.link)
                    && query.since.is_none_or(|since| record.at >= since)
                    && query
                        .due_by
                        .is_none_or(|by| record.due_at.is_some_and(|due| due <= by))
                    && is_behind
            })
            .cloned()
            .collect();
        found.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
        if query.order == Order::NewestFirst {
            found.reverse();
        }
        found
    }
}

pub(crate) async fn the_store_does_what_a_simple_model_does(place: &Place) {
    let mut runner = TestRunner::new(Config::default());
    for _ in 0..SEQUENCES {
        let steps = prop::collection::vec(step(), 1..80);
        let steps = steps.new_tree(&mut runner).unwrap().current();
        let place = place.another();
        let store = place.open().await;
        let mut model = Model::default();
        for step in &steps {
            match step {
                Step::Commit(change) => {
                    let outcome = store.commit(change.clone()).await;
                    let applied = model.apply(change);
                    assert_eq!(outcome.is_ok(), applied, "{step:?} of {steps:#?}");
                    assert_eq!(is_conflict(&outcome), !applied, "{step:?} of {steps:#?}");
                }
                Step::Append(change) => {
                    model.apply(change);
                    store.append(change.clone()).unwrap();
                }
                Step::Find(query) => {
                    let expected = model.find(query);
                    let counted = store.count(query.clone()).await.unwrap();
                    assert_eq!(counted, expected.len() as u64, "{step:?} of {steps:#?}");
                    let limit = usize::try_from(query.limit).unwrap();
                    let expected: Vec<Record> = expected.into_iter().take(limit).collect();
                    let found = store.find(query.clone()).await.unwrap();
                    assert_eq!(found, expected, "{step:?} of {steps:#?}");
                }
            }
        }
        store.flush().await.unwrap();
        assert_eq!(walk(&store).await, model.entries, "{steps:#?}");
        for ((kind, id), record) in &model.records {
            let kept = store.get(*kind, id).await.unwrap();
            assert_eq!(kept.as_ref(), Some(record), "{steps:#?}");
        }
        store.close().await;
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => change(expect()).prop_map(Step::Commit),
        2 => change(prop_oneof![Just(Expect::Absent), Just(Expect::Anything)])
            .prop_map(Step::Append),
        2 => query().prop_map(Step::Find),
    ]
}

fn expect() -> impl Strategy<Value = Expect> {
    prop_oneof![
        Just(Expect::Absent),
        Just(Expect::Anything),
        (0..4_u64).prop_map(Expect::Version),
    ]
}

fn change(expect: impl Strategy<Value = Expect>) -> impl Strategy<Value = Change> {
    let put = (record(), expect).prop_map(|(record, expect)| Put { record, expect });
    (prop::collection::vec(put, 0..4), 0..3_usize).prop_map(|(puts, entries)| Change {
        puts,
        entries: (0..entries)
            .map(|number| draft(&number.to_string()))
            .collect(),
    })
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Call), Just(Kind::Approval)]
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![Just(""), Just("a"), Just("b")].prop_map(str::to_owned)
}

fn record() -> impl Strategy<Value = Record> {
    (
        (kind(), "[a-d]"),
        (word(), word(), word(), word(), word()),
        (0..5_i64, prop::option::of(0..5_i64)),
        ".{0,20}",
    )
        .prop_map(
            |((kind, id), (status, owner, session, run, link), (at, due_at), body)| Record {
                kind,
                id,
                version: 0,
                status,
                owner,
                session,
                run,
                link,
                at,
                due_at,
                body,
            },
        )
}

fn query() -> impl Strategy<Value = Query> {
    let asked = || prop::option::weighted(0.2, word());
    (
        kind(),
        (asked(), asked(), asked(), asked(), asked()),
        prop::option::weighted(0.2, 0..5_i64),
        prop::option::weighted(0.2, 0..5_i64),
        prop::option::weighted(0.3, (0..5_i64, "[a-d]")),
        prop_oneof![Just(Order::OldestFirst), Just(Order::NewestFirst)],
        0..6_u32,
    )
        .prop_map(
            |(kind, (status, owner, session, run, link), since, due_by, behind, order, limit)| {
                Query {
                    kind,
                    status,
                    owner,
                    session,
                    run,
                    link,
                    since,
                    due_by,
                    behind,
                    order,
                    limit,
                }
            },
        )
}
