//! History is searched and counted, and other lines are tried, from what the ledger tells.

use std::time::Duration;

use countersign_core::approval::Choice;
use countersign_core::policy::Policy;
use countersign_core::score::Score;
use countersign_core::status::Status;
use countersign_core::verdict::Thresholds;
use countersign_gate::GateError;
use countersign_gate::base::principal::{Principal, Role};
use countersign_gate::history::search::Search;
use countersign_gate::history::statistics::StatsFilter;
use countersign_gate::history::traces::TraceFilter;
use countersign_gate::history::what_if::ProposedThresholds;

use crate::support::{DANGEROUS, World, ask, command, in_session, principal, reply, world};

async fn found(world: &World, who: &Principal, search: Search) -> Vec<String> {
    let filter = TraceFilter {
        search: Some(search),
        ..TraceFilter::default()
    };
    let page = world.gate.traces(who, filter).await.unwrap();
    page.items.into_iter().map(|it| it.command).collect()
}

#[tokio::test]
async fn calls_are_found_by_how_they_ended_by_whom_and_what_they_say() {
    let world = world().await;
    let World {
        gate,
        agent,
        ana,
        clock,
        ..
    } = &world;
    gate.submit(agent, command("git status")).await.unwrap();
    gate.submit(agent, command("rm -rf /")).await.unwrap();
    clock.advance(Duration::from_mins(1));
    let late = clock.now().0;
    let (_, denied) = ask(&world, command(DANGEROUS)).await;
    gate.answer(ana, reply(&denied, Choice::Deny))
        .await
        .unwrap();
    gate.submit(agent, command("CARGO test")).await.unwrap();
    gate.store().flush().await.unwrap();
    let some = |text: &str| Some(text.to_owned());
    let none = Search::default;
    #[rustfmt::skip]
    let rows = [
        ("denied", Search { outcome: Some(Status::Denied), ..none() }, vec![DANGEROUS]),
        ("allowed", Search { outcome: Some(Status::Allowed), ..none() }, vec!["CARGO test", "git status"]),
        ("refused", Search { outcome: Some(Status::Refused), ..none() }, vec!["rm -rf /"]),
        ("by ana", Search { by: some("ana"), ..none() }, vec![DANGEROUS]),
        ("by nobody", Search { by: some("bob"), ..none() }, vec![]),
        ("a tool", Search { tool: some("read_file"), ..none() }, vec![]),
        ("tools by their beginning", Search { tool: some("term*"), text: some("git"), ..none() }, vec!["git status"]),
        ("a word, small or capital", Search { text: some("cArgo"), ..none() }, vec!["CARGO test"]),
        ("two words", Search { text: some("status git"), ..none() }, vec!["git status"]),
        ("before", Search { until: Some(late), text: some("git"), ..none() }, vec!["git status"]),
    ];
    for (name, search, wanted) in rows {
        assert_eq!(found(&world, ana, search).await, wanted, "{name}");
    }
    // What happens later is found, too, and how a question ends that was known before.
    let (_, waiting) = ask(&world, in_session("s2", "rm -rf /srv/other")).await;
    let waits = || Search {
        outcome: Some(Status::Waiting),
        ..none()
    };
    assert_eq!(found(&world, ana, waits()).await, ["rm -rf /srv/other"]);
    gate.answer(ana, reply(&waiting, Choice::Once))
        .await
        .unwrap();
    assert!(found(&world, ana, waits()).await.is_empty());
    let other = principal(gate, "other", Role::Agent).await;
    let all = Search {
        until: Some(i64::MAX),
        ..none()
    };
    assert!(
        found(&world, &other, all.clone()).await.is_empty(),
        "not its own"
    );
    assert_eq!(found(&world, agent, all).await.len(), 5);
}

#[tokio::test]
async fn found_calls_come_page_by_page_each_once() {
    let world = world().await;
    for number in 0..7 {
        let text = format!("echo {number}");
        world.submit(command(&text)).await;
    }
    world.gate.store().flush().await.unwrap();
    let mut seen = Vec::new();
    let mut behind = None;
    loop {
        let filter = TraceFilter {
            search: Some(Search {
                text: Some("echo".to_owned()),
                ..Search::default()
            }),
            limit: Some(3),
            behind,
            ..TraceFilter::default()
        };
        let page = world.gate.traces(&world.ana, filter).await.unwrap();
        seen.extend(page.items.into_iter().map(|it| it.command));
        behind = page.next;
        if behind.is_none() {
            break;
        }
    }
    let wanted: Vec<String> = (0..7)
        .rev()
        .map(|number| format!("echo {number}"))
        .collect();
    assert_eq!(seen, wanted);
    let astray = TraceFilter {
        search: Some(Search {
            text: Some("echo".to_owned()),
            ..Search::default()
        }),
        behind: Some("1.call_x".to_owned()),
        ..TraceFilter::default()
    };
    let wrong = world.gate.traces(&world.ana, astray).await;
    assert!(matches!(
        wrong,
        Err(GateError::Invalid {
            param: "behind",
            ..
        })
    ));
}

#[tokio::test]
async fn answers_are_counted_with_how_long_people_took() {
    let world = world().await;
    let World {
        gate,
        agent,
        ana,
        clock,
        ..
    } = &world;
    let began = clock.now().0;
    for (session, took, choice) in [
        ("s1", 400, Choice::Once),
        ("s2", 5_000, Choice::Deny),
        ("s3", 20_000, Choice::Once),
    ] {
        // Each about something of its own: what was denied is not asked about again.
        let text = format!("rm -rf /srv/{session}");
        let (_, approval) = ask(&world, in_session(session, &text)).await;
        clock.advance(Duration::from_millis(took));
        gate.answer(ana, reply(&approval, choice)).await.unwrap();
    }
    let _waits = ask(&world, in_session("s4", "rm -rf /srv/s4")).await;
    gate.submit(agent, command("git status")).await.unwrap();
    gate.submit(agent, command("rm -rf /")).await.unwrap();
    gate.store().flush().await.unwrap();
    let filter = StatsFilter {
        since: Some(began),
        bucket: Some(60_000),
        ..StatsFilter::default()
    };
    let counted = gate.statistics(ana, filter).await.unwrap();
    assert_eq!(counted.calls, 6);
    let [bucket] = counted.buckets.as_slice() else {
        panic!("all of it is within a minute: {counted:?}");
    };
    assert_eq!((bucket.allow, bucket.ask, bucket.refuse), (1, 4, 1));
    let questions = counted.questions;
    assert_eq!((questions.asked, questions.waiting), (4, 1));
    assert_eq!((questions.approved, questions.denied), (2, 1));
    let answers = &counted.answers;
    assert_eq!((answers.count, answers.under_one_second), (3, 1));
    assert_eq!(answers.hasty_approvals, 1);
    assert_eq!(
        (answers.p50_seconds, answers.p90_seconds),
        (Some(5.0), Some(20.0))
    );
    assert!((answers.approval_rate.unwrap() - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(counted.agents[0].name, "claude");
    assert_eq!((counted.agents[0].calls, counted.agents[0].asked), (6, 4));
    assert_eq!(
        (counted.people[0].name.as_str(), counted.people[0].answers),
        ("ana", 3)
    );
    assert_eq!(
        (counted.reasons[0].asked, counted.reasons[0].denied),
        (4, 1)
    );
    assert!(!counted.reasons[0].code.is_empty() && !counted.reasons[0].example.is_empty());
    assert_eq!(counted.tools, ["terminal"]);
    let many = StatsFilter {
        since: Some(0),
        bucket: Some(60_000),
        ..StatsFilter::default()
    };
    let refused = gate.statistics(ana, many).await;
    assert!(matches!(
        refused,
        Err(GateError::Invalid {
            param: "bucket",
            ..
        })
    ));
    assert!(
        gate.statistics(agent, filter).await.is_err(),
        "an agent does not see it"
    );
}

#[tokio::test]
async fn a_span_of_all_time_is_counted_and_ends() {
    let world = world().await;
    let (gate, agent, ana) = (&world.gate, &world.agent, &world.ana);
    gate.submit(agent, command("git status")).await.unwrap();
    gate.store().flush().await.unwrap();
    let (first, last) = (Some(i64::MIN), Some(i64::MAX));
    for (since, until, bucket) in [
        (Some(0), last, i64::MAX / 2 + 1),
        (first, last, i64::MAX),
        (first, None, i64::MAX / 3),
    ] {
        let bucket = Some(bucket);
        let filter = StatsFilter {
            since,
            until,
            bucket,
        };
        let counted = gate.statistics(ana, filter).await.unwrap();
        assert_eq!(counted.calls, 1, "{filter:?}");
        assert!(counted.buckets.len() < 10, "{filter:?}");
    }
}

#[tokio::test]
async fn other_lines_mean_what_judging_again_would_say() {
    let world = world().await;
    let World { gate, ana, .. } = &world;
    let texts = [
        "ls",
        "git status",
        "git push origin main",
        "npm install left-pad",
        "mkdir /etc/new",
        "kill 4242",
        "curl https://example.org/x",
        "chmod 777 notes.txt",
        "touch a",
        DANGEROUS,
    ];
    for (number, text) in texts.iter().enumerate() {
        world.submit(in_session(&format!("s{number}"), text)).await;
    }
    gate.store().flush().await.unwrap();
    for (auto_below, ask_above, confidence_min) in [
        (250, 600, 700),
        (0, 0, 1000),
        (1000, 1000, 0),
        (100, 300, 900),
        (400, 800, 500),
    ] {
        let thresholds = Thresholds {
            auto_below: Score::new(auto_below),
            ask_above: Score::new(ask_above),
            confidence_min: Score::new(confidence_min),
        };
        let policy = Policy {
            thresholds,
            ..Policy::default()
        };
        let judged = gate.replay(ana, 0, policy).await.unwrap();
        let lines = ProposedThresholds {
            auto_below: f64::from(auto_below) / 1000.0,
            ask_above: f64::from(ask_above) / 1000.0,
            confidence_min: f64::from(confidence_min) / 1000.0,
        };
        let drawn = gate.what_if(ana, 0, lines).await.unwrap();
        assert_eq!(drawn.verdicts, judged.verdicts, "{lines:?}");
        assert_eq!(drawn.changed.len(), judged.changed.len(), "{lines:?}");
    }
}
