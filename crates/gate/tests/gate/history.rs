//! Traces, the ledger, and what another policy would have said.

use std::time::Duration;

use countersign_core::approval::Choice;
use countersign_core::ledger::Entry;
use countersign_core::policy::{ApprovalsMode, Policy};
use countersign_gate::base::principal::Role;
use countersign_gate::base::settings::{OnePolicy, Settings};
use countersign_gate::base::signer::Signer;
use countersign_gate::history::traces::TraceFilter;
use countersign_gate::ledger::verify::LedgerState;
use countersign_gate::{Gate, GateError, Parts};
use countersign_store::Database;

use crate::support::{
    DANGEROUS, Wishes, World, ask, command, in_session, open, principal, reply, world,
};
use crate::{everybody, ledger, told};

const NOW: Duration = Duration::ZERO;

#[tokio::test]
async fn a_trace_tells_how_a_call_was_judged_and_ended_but_never_its_token() {
    let world = world().await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    let World {
        gate, agent, ana, ..
    } = &world;
    gate.answer(ana, reply(&approval, Choice::Once))
        .await
        .unwrap();
    let collected = gate.call(agent, &call.call_id, NOW).await.unwrap();
    let token = collected.token.expect("the asker has it");
    for id in [&call.call_id, &approval] {
        for who in [agent, ana] {
            let trace = gate.trace(who, id).await.unwrap();
            assert_eq!(trace.call.call_id, call.call_id);
            assert_eq!(trace.command, DANGEROUS);
            assert_eq!(trace.key_name, "claude");
            let decision = trace.call.decision.as_ref().unwrap();
            assert_eq!(decision.by.as_deref(), Some("ana"));
            let written = serde_json::to_string(&trace).unwrap();
            assert!(!written.contains(&token) && written.contains("factors"));
        }
    }
}

#[tokio::test]
async fn an_agent_sees_its_own_history_and_people_see_all() {
    let world = world().await;
    let World { gate, agent, .. } = &world;
    let call = gate.submit(agent, command("cargo test")).await.unwrap();
    for who in everybody(gate).await {
        let (role, sees) = (who.role, who.role.sees_all());
        let trace = gate.trace(&who, &call.call_id).await;
        assert_eq!(trace.is_ok(), sees, "{role:?}");
        let traces = gate.traces(&who, TraceFilter::default()).await.unwrap();
        assert_eq!(!traces.items.is_empty(), sees, "{role:?}");
        let (entries, _) = gate.entries(&who, 0, 500).await.unwrap();
        let foreign = |entry: &Entry| entry.draft.owner != who.key.0;
        assert_eq!(entries.iter().any(foreign), sees, "{role:?}");
        assert_eq!(gate.verify_ledger(&who).await.is_ok(), sees, "{role:?}");
        let replayed = gate.replay(&who, 0, Policy::default()).await;
        assert_eq!(replayed.is_ok(), sees, "{role:?}");
    }
    let unknown = gate.trace(&world.ana, "call_x").await;
    assert!(matches!(unknown, Err(GateError::NotFound { .. })));
    let nothing = gate.trace(&world.ana, "").await;
    assert!(matches!(nothing, Err(GateError::NotFound { .. })));
}

#[tokio::test]
async fn pages_of_traces_hold_every_call_once_and_filters_leave_out_the_rest() {
    let World {
        gate,
        agent,
        ana,
        clock,
        ..
    } = world().await;
    for number in 0..25 {
        let text = if number % 5 == 0 { "rm -rf /" } else { "ls" };
        let session = if number < 10 { "early" } else { "late" };
        gate.submit(&agent, in_session(session, text))
            .await
            .unwrap();
        // Some calls come in the same millisecond.
        clock.advance(Duration::from_millis(number % 2));
    }
    let all = TraceFilter::default();
    let refused = TraceFilter {
        verdict: Some("refuse".to_owned()),
        ..TraceFilter::default()
    };
    let late = TraceFilter {
        session: Some("late".to_owned()),
        ..TraceFilter::default()
    };
    let nothing = TraceFilter {
        run: Some("run_x".to_owned()),
        ..TraceFilter::default()
    };
    for (filter, expected) in [(all, 25), (refused, 5), (late, 15), (nothing, 0)] {
        for limit in [1, 3, 5, 25, 500] {
            let mut ids = Vec::new();
            let mut behind = None;
            loop {
                let page = TraceFilter {
                    limit: Some(limit),
                    behind,
                    ..filter.clone()
                };
                let page = gate.traces(&ana, page).await.unwrap();
                assert!(page.items.len() <= limit as usize);
                ids.extend(page.items.into_iter().map(|trace| trace.call.call_id));
                behind = page.next;
                if behind.is_none() {
                    break;
                }
            }
            let mut sorted = ids.clone();
            sorted.sort_by(|one, other| other.cmp(one));
            sorted.dedup();
            assert_eq!(sorted.len(), expected, "{filter:?} by {limit}");
            assert_eq!(ids.len(), expected, "{filter:?} by {limit}");
        }
    }
}

#[tokio::test]
async fn secrets_in_a_call_are_named_and_not_shown() {
    let World {
        gate, agent, ana, ..
    } = world().await;
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let text = format!("curl -H 'Authorization: Bearer {secret}' https://api.github.com/user");
    let call = gate.submit(&agent, command(&text)).await.unwrap();
    let trace = gate.trace(&ana, &call.call_id).await.unwrap();
    let (args, line) = (trace.args.to_string(), trace.command);
    assert!(!args.contains(secret) && !line.contains(secret), "{line}");
    assert!(line.contains("api.github.com"), "{line}");
    assert!(!format!("{:?}", ledger(&gate).await).contains(secret));
}

#[tokio::test]
async fn entries_are_read_in_order_without_gaps_by_those_who_may() {
    let World {
        gate, agent, ana, ..
    } = world().await;
    let other = principal(&gate, "codex", Role::Agent).await;
    for number in 0..30 {
        let who = if number % 3 == 0 { &agent } else { &other };
        gate.submit(who, command("ls")).await.unwrap();
    }
    let whole = ledger(&gate).await;
    for who in [&ana, &agent] {
        let mut read = Vec::new();
        let mut after = 0;
        loop {
            let (entries, next) = gate.entries(who, after, 7).await.unwrap();
            assert!(entries.len() <= 7);
            read.extend(entries);
            if next == after {
                break;
            }
            after = next;
        }
        assert_eq!(after, whole.last().unwrap().seq);
        let may_see = |entry: &&Entry| who.role.sees_all() || entry.draft.owner == who.key.0;
        let expected: Vec<Entry> = whole.iter().filter(may_see).cloned().collect();
        assert_eq!(read, expected);
    }
}

#[tokio::test]
async fn the_ledger_is_signed_as_it_grows_and_every_change_to_it_is_found() {
    let world = world().await;
    let World {
        gate, agent, ana, ..
    } = &world;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn({
        let gate = gate.clone();
        async move {
            gate.run(async {
                stopped.await.ok();
            })
            .await;
        }
    });
    until_signed(gate, 1).await;
    for _ in 0..120 {
        gate.submit(agent, command("ls")).await.unwrap();
    }
    until_signed(gate, 2).await;
    stop.send(()).unwrap();
    running.await.unwrap();
    let good = gate.verify_ledger(ana).await.unwrap();
    assert!(good.ok, "{good:?}");
    let whole = ledger(gate).await;
    assert_eq!(good.entries, whole.len() as u64);
    assert_eq!(good.head, whole.last().unwrap().hash.to_string());
    let signed = told(gate, "ledger.checkpoint").await.len() as u64;
    assert_eq!(good.checkpoints, signed);
    gate.store().close().await;
    let database = rusqlite::Connection::open(world.home.path().join("countersign.db")).unwrap();
    let number = |sql: &str| {
        database
            .query_row(sql, [], |row| row.get::<_, u64>(0))
            .unwrap()
    };
    // Entries of calls that were allowed together lie in the row of the last of them.
    let pack = number("SELECT min(seq) FROM ledger WHERE packed IS NOT NULL");
    let single = number(&format!("SELECT max(seq) FROM ledger WHERE seq < {pack}"));
    let packed = single + 1;
    drop(database);
    #[rustfmt::skip]
    let changes = [
        ("a word", format!("UPDATE ledger SET body = replace(body, '{{', '{{ ') WHERE seq = {single}"), single),
        ("a moment", format!("UPDATE ledger SET at = at + 1 WHERE seq = {single}"), single),
        ("an entry less", format!("DELETE FROM ledger WHERE seq = {single}"), single),
        ("the first is gone", "DELETE FROM ledger WHERE seq = 1".to_owned(), 1),
        ("a pack less", format!("DELETE FROM ledger WHERE seq = {pack}"), packed),
        ("the moment of a pack", format!("UPDATE ledger SET at = at + 1 WHERE seq = {pack}"), packed),
        ("the hash of a pack", format!("UPDATE ledger SET hash = zeroblob(32) WHERE seq = {pack}"), packed),
        ("no pack", format!("UPDATE ledger SET packed = NULL WHERE seq = {pack}"), packed),
        ("a pack of nothing", format!("UPDATE ledger SET packed = zeroblob(64) WHERE seq = {pack}"), packed),
        ("a bit of a pack", format!("UPDATE ledger SET packed = CAST(substr(packed, 1, length(packed) - 2) || x'0000' AS BLOB) WHERE seq = {pack}"), packed),
    ];
    for (row, sql, first_bad) in changes {
        let state = verified_after(&world, &sql).await;
        assert_eq!(
            (state.ok, state.first_bad),
            (false, Some(first_bad)),
            "{row}"
        );
        assert_eq!(state.entries, first_bad - 1, "{row}");
    }
    let same = verified_after(&world, "SELECT 1").await;
    assert_eq!((same.ok, same.entries), (true, good.entries));
}

#[tokio::test]
async fn a_ledger_whose_last_signature_is_a_strangers_is_not_ours() {
    let world = world().await;
    let World {
        gate,
        ana,
        clock,
        home,
        ..
    } = &world;
    assert!(gate.verify_ledger(ana).await.unwrap().ok, "not signed yet");
    let store = Database::sqlite(&home.path().join("countersign.db"))
        .await
        .unwrap();
    let stranger = Gate::open(Parts {
        store,
        clock: clock.clone(),
        signer: Signer::from_seed([9; 32]),
        policies: std::sync::Arc::new(OnePolicy::new(Policy::default())),
        settings: Settings::default(),
        channels: Vec::new(),
    })
    .await
    .unwrap();
    tokio::select! {
        () = stranger.run(std::future::pending()) => {}
        () = until_signed(gate, 1) => {}
    }
    let state = gate.verify_ledger(ana).await.unwrap();
    assert!(!state.ok && state.why.unwrap().contains("this gateway's key"));
    // A gate that begins signs what it finds, so a new key proves what an old one signed.
    tokio::select! {
        () = gate.run(std::future::pending()) => {}
        () = until_signed(gate, 2) => {}
    }
    assert!(gate.verify_ledger(ana).await.unwrap().ok);
    // A replica signs what both have written; whose key it is stands in the database.
    principal(gate, "bo", Role::Approver).await;
    tokio::select! {
        () = stranger.run(std::future::pending()) => {}
        () = until_signed(gate, 3) => {}
    }
    assert!(gate.verify_ledger(ana).await.unwrap().ok);
    let kid = Signer::from_seed([9; 32]).public().kid;
    let forgotten = format!("DELETE FROM records WHERE id = '{kid}'");
    let state = verified_after(&world, &forgotten).await;
    assert!(!state.ok && state.why.unwrap().contains("unknown key"));
}

#[tokio::test]
async fn a_replay_counts_what_another_policy_would_have_said() {
    let world = world().await;
    let World {
        gate,
        agent,
        ana,
        clock,
        ..
    } = &world;
    gate.submit(agent, command("git status")).await.unwrap();
    clock.advance(Duration::from_mins(1));
    let since = clock.now();
    for text in ["ls", "cargo test", "rm -rf /"] {
        gate.submit(agent, command(text)).await.unwrap();
    }
    let (_, approval) = ask(&world, command(DANGEROUS)).await;
    gate.answer(ana, reply(&approval, Choice::Deny))
        .await
        .unwrap();
    let again = gate.submit(agent, command(DANGEROUS)).await.unwrap();
    assert_eq!(again.verdict.word(), "refuse", "denied a moment ago");
    let same = gate.replay(ana, since.0, Policy::default()).await.unwrap();
    assert_eq!((same.calls, same.changed.len()), (5, 0), "{same:?}");
    let off = Policy {
        approvals: ApprovalsMode::Off,
        ..Policy::default()
    };
    let loose = gate.replay(ana, since.0, off).await.unwrap();
    assert_eq!(loose.verdicts["ask"]["allow"], 2, "{loose:?}");
    assert_eq!(loose.verdicts["allow"]["allow"], 2, "{loose:?}");
    assert_eq!(loose.verdicts["refuse"]["refuse"], 1, "the floor stands");
    assert_eq!(loose.changed.len(), 2);
    assert_eq!(
        (loose.changed[0].was.as_str(), loose.changed[0].now.as_str()),
        ("ask", "allow")
    );
    assert_eq!(loose.changed[0].command, DANGEROUS);
}

/// Returns what a gate finds in a copy of the database to which `sql` was done.
async fn verified_after(world: &World, sql: &str) -> LedgerState {
    let copy = tempfile::tempdir().unwrap();
    let file = copy.path().join("countersign.db");
    for found in std::fs::read_dir(world.home.path()).unwrap() {
        let found = found.unwrap();
        std::fs::copy(found.path(), copy.path().join(found.file_name())).unwrap();
    }
    let connection = rusqlite::Connection::open(&file).unwrap();
    let unlocked = "DROP TRIGGER ledger_is_never_changed; DROP TRIGGER ledger_is_never_shortened;";
    connection
        .execute_batch(&format!("{unlocked}{sql};"))
        .unwrap();
    drop(connection);
    let gate = open(copy.path(), &world.clock, Wishes::default()).await;
    gate.verify_ledger(&world.ana).await.unwrap()
}

async fn until_signed(gate: &Gate, times: usize) {
    let mut last = gate.store().tail().last();
    while told(gate, "ledger.checkpoint").await.len() < times {
        last.changed().await.unwrap();
    }
}

#[tokio::test]
async fn what_led_to_a_call_is_the_message_and_the_last_calls_of_its_own_run() {
    let world = world().await;
    let World {
        gate,
        agent,
        ana,
        clock,
        ..
    } = &world;
    let in_run = |run: &str, text: &str| {
        let mut submission = command(text);
        submission.run = Some(run.to_owned());
        submission
    };
    let other = principal(gate, "codex", Role::Agent).await;
    for number in 0..7 {
        let text = format!("ls {number}");
        gate.submit(agent, in_run("run_1", &text)).await.unwrap();
        // Calls of one moment have no order.
        clock.advance(Duration::from_millis(1));
    }
    gate.submit(agent, in_run("run_2", "ls elsewhere"))
        .await
        .unwrap();
    // Another key may claim the same run.
    gate.submit(&other, in_run("run_1", "ls foreign"))
        .await
        .unwrap();
    let mut asked = in_run("run_1", DANGEROUS);
    let token = concat!("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a");
    asked.call.replying_to = vec![countersign_core::call::Turn {
        from: "sam".to_owned(),
        text: format!("clean up\u{202e} with {token}"),
    }];
    let (_, approval) = ask(&world, asked).await;
    clock.advance(Duration::from_millis(1));
    gate.submit(agent, in_run("run_1", "ls later"))
        .await
        .unwrap();
    let before = gate.before(ana, &approval).await.unwrap();
    let commands: Vec<&str> = before.calls.iter().map(|it| it.command.as_str()).collect();
    assert_eq!(commands, ["ls 2", "ls 3", "ls 4", "ls 5", "ls 6"]);
    let message = before.message.unwrap();
    assert_eq!(message.from, "sam");
    assert!(
        message.text.starts_with("clean up⟨U+202E⟩ with ‹secret"),
        "{message:?}"
    );
    for who in everybody(gate).await {
        let (role, sees) = (who.role, who.role.sees_all());
        let shown = gate.before(&who, &approval).await;
        assert_eq!(shown.is_ok(), sees, "{role:?}");
    }
}
