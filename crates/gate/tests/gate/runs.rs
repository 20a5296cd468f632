//! Runs of the built-in agent as the gate keeps them.

use countersign_core::status::{Ended, RunStatus};
use countersign_gate::GateError;
use countersign_gate::base::principal::Role;
use countersign_gate::records::event::Event;
use countersign_gate::records::request::Submission;
use countersign_gate::runs::event::RunEvent;
use countersign_gate::runs::{LEASE_MILLIS, NewRun, RunEnd, RunStep, builtin};
use serde_json::{Value, json};

use crate::support::{Wishes, World, in_session, open, principal, reply, world, world_with};
use crate::{everybody, ledger, told};
use countersign_core::approval::Choice;
use countersign_core::call::ToolCall;

fn new(session: Option<&str>) -> NewRun {
    NewRun {
        session: session.map(str::to_owned),
        model: "m".to_owned(),
        messages: vec![json!({ "role": "user", "content": "hello" })],
        driver: "d1".to_owned(),
        ..NewRun::default()
    }
}

fn said(text: &str) -> RunStep {
    RunStep {
        messages: vec![json!({ "role": "assistant", "content": text })],
        tokens: (10, 2),
        asked: 1,
        ..RunStep::default()
    }
}

fn ends(end: RunEnd) -> RunStep {
    RunStep {
        end: Some(end),
        ..RunStep::default()
    }
}

#[tokio::test]
async fn only_people_start_and_stop_runs_and_an_agent_sees_none() {
    let World { gate, .. } = world().await;
    for who in everybody(&gate).await {
        let role = who.role;
        let begun = gate.begin_run(&who, new(None)).await;
        assert_eq!(begun.is_ok(), role.answers(), "{role:?}");
        if let Ok(run) = begun {
            assert!(gate.stop_run(&who, &run.run_id).await.is_ok());
        }
    }
    let World {
        gate, agent, ana, ..
    } = world().await;
    let run = gate.begin_run(&ana, new(None)).await.unwrap();
    assert!(matches!(
        gate.run_of(&agent, &run.run_id).await,
        Err(GateError::NotFound { .. })
    ));
    assert!(
        gate.runs(&agent, None, None, None)
            .await
            .unwrap()
            .items
            .is_empty()
    );
    assert!(gate.stop_run(&agent, &run.run_id).await.is_err());
}

#[tokio::test]
async fn a_run_is_after_a_restart_where_it_was_before() {
    let World {
        gate,
        ana,
        clock,
        home,
        ..
    } = world().await;
    let run = gate.begin_run(&ana, new(Some("talk"))).await.unwrap();
    let run = gate.advance_run(&run, &said("one")).await.unwrap();
    let restarted = open(home.path(), &clock, Wishes::default()).await;
    assert_eq!(restarted.run_of(&ana, &run.run_id).await.unwrap(), run);
    let messages: Vec<Value> = restarted.conversation("talk").await.unwrap();
    let texts: Vec<&str> = messages
        .iter()
        .filter_map(|it| it["content"].as_str())
        .collect();
    assert_eq!(texts, ["hello", "one"]);
    let taken = restarted.take_over_runs("d2", true).await.unwrap();
    assert_eq!(taken.len(), 1);
    let run = taken[0].clone();
    let ended = restarted
        .advance_run(&run, &ends(RunEnd::Completed("done".to_owned())))
        .await
        .unwrap();
    assert_eq!(
        (ended.status, ended.output.as_deref()),
        (RunStatus::Completed, Some("done"))
    );
    assert_eq!(
        (ended.prompt_tokens, ended.completion_tokens, ended.steps),
        (10, 2, 1)
    );
    let completed = told(&restarted, "run.completed").await;
    assert_eq!(completed[0]["usage"]["total_tokens"], 12);
    let late = restarted.advance_run(&run, &said("late")).await;
    assert!(
        matches!(late, Err(GateError::AlreadySettled { .. })),
        "{late:?}"
    );
    assert!(
        restarted
            .take_over_runs("d3", true)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_run_whose_gateway_is_silent_is_taken_over_and_others_are_not() {
    let World {
        gate, ana, clock, ..
    } = world().await;
    let run = gate.begin_run(&ana, new(None)).await.unwrap();
    let half = std::time::Duration::from_millis(u64::try_from(LEASE_MILLIS / 2).unwrap());
    clock.advance(half);
    assert!(gate.take_over_runs("d2", false).await.unwrap().is_empty());
    assert!(gate.keep_run(&run.run_id, "d1").await.unwrap().is_some());
    clock.advance(half);
    assert!(
        gate.take_over_runs("d2", false).await.unwrap().is_empty(),
        "it was kept"
    );
    clock.advance(half);
    assert_eq!(gate.take_over_runs("d2", false).await.unwrap().len(), 1);
    assert_eq!(gate.keep_run(&run.run_id, "d1").await.unwrap(), None);
    let late = gate.advance_run(&run, &said("late")).await;
    assert!(
        matches!(late, Err(GateError::AlreadySettled { .. })),
        "{late:?}"
    );
    assert!(gate.keep_run(&run.run_id, "d2").await.unwrap().is_some());
}

#[tokio::test]
async fn a_conversation_belongs_to_one_person_and_has_one_run_at_a_time() {
    let World { gate, ana, .. } = world().await;
    let ben = principal(&gate, "ben", Role::Approver).await;
    let first = gate.begin_run(&ana, new(Some("talk"))).await.unwrap();
    let second = gate.begin_run(&ana, new(Some("talk"))).await;
    assert!(
        matches!(second, Err(GateError::AlreadySettled { .. })),
        "{second:?}"
    );
    gate.advance_run(&first, &ends(RunEnd::Cancelled))
        .await
        .unwrap();
    assert!(gate.begin_run(&ana, new(Some("talk"))).await.is_ok());
    let others = gate.begin_run(&ben, new(Some("talk"))).await;
    assert!(matches!(others, Err(GateError::Forbidden(_))), "{others:?}");
    for name in ["", " ", "a\nb", &"x".repeat(300)] {
        let bad = gate.begin_run(&ana, new(Some(name))).await;
        assert!(matches!(bad, Err(GateError::Invalid { .. })), "{name:?}");
    }
}

#[tokio::test]
async fn of_two_runs_that_begin_at_once_in_a_conversation_one_begins() {
    let World { gate, ana, .. } = world().await;
    let ben = principal(&gate, "ben", Role::Approver).await;
    for round in 0..20 {
        let session = format!("talk {round}");
        let mut starters = tokio::task::JoinSet::new();
        for who in [&ana, &ben, &ana] {
            let (gate, who, session) = (gate.clone(), who.clone(), session.clone());
            starters.spawn(async move { gate.begin_run(&who, new(Some(&session))).await.is_ok() });
        }
        let begun = starters.join_all().await;
        assert_eq!(begun.iter().filter(|it| **it).count(), 1, "{round}");
    }
}

/// The agent's own reply to ana.
fn draft(answers_starter: bool) -> Submission {
    Submission {
        call: ToolCall {
            tool: "reply".to_owned(),
            args: json!({ "to": "ana", "text": "I am here." }),
            ..ToolCall::default()
        },
        starter: Some("ana".to_owned()),
        answers_starter,
        ..in_session("talk", "")
    }
}

#[tokio::test]
async fn law_1_a_reply_to_a_person_in_crisis_is_another_person_s_to_allow() {
    let World { gate, ana, .. } = world().await;
    let who = builtin();
    assert!(
        gate.heed(&who, "talk", &["I want to kill myself"])
            .await
            .unwrap()
    );
    assert!(gate.heed(&who, "talk", &["ok"]).await.unwrap(), "it stays");
    assert!(!gate.heed(&who, "other", &["ok"]).await.unwrap());
    let alone = gate.submit(&who, draft(true)).await.unwrap();
    assert_eq!(alone.decision.unwrap().cause.word(), "no_approver");
    let ben = principal(&gate, "ben", Role::Approver).await;
    let held = gate.submit(&who, draft(true)).await.unwrap();
    let approval = held.approval_id.unwrap();
    let view = gate.approval(&ben, &approval).await.unwrap();
    assert_eq!(view.choices, [Choice::Once, Choice::Deny]);
    let herself = gate.answer(&ana, reply(&approval, Choice::Once)).await;
    assert!(
        matches!(herself, Err(GateError::Forbidden(_))),
        "{herself:?}"
    );
    let opened = gate.viewed(&ana, &approval).await;
    assert!(matches!(opened, Err(GateError::Forbidden(_))), "{opened:?}");
    let seen = gate.approval(&ana, &approval).await.unwrap();
    let seen = serde_json::to_string(&seen).unwrap();
    assert!(!seen.contains("I am here"), "{seen}");
    let Err(GateError::AlreadyResolved(view)) = gate.take_back(&ana, &approval).await else {
        panic!("nothing is held")
    };
    let told = serde_json::to_string(&view).unwrap();
    assert!(!told.contains("I am here"), "{told}");
    gate.answer(&ben, reply(&approval, Choice::Once))
        .await
        .unwrap();
}

#[tokio::test]
async fn who_started_a_run_answers_its_cards_unless_the_owner_says_otherwise() {
    for may in [true, false] {
        let mut wishes = Wishes::default();
        wishes.settings.starter_may_answer = may;
        let World { gate, ana, .. } = world_with(wishes).await;
        let ben = principal(&gate, "ben", Role::Approver).await;
        let held = gate.submit(&builtin(), draft(false)).await.unwrap();
        let approval = held.approval_id.unwrap();
        let herself = gate.answer(&ana, reply(&approval, Choice::Once)).await;
        assert_eq!(herself.is_ok(), may);
        let other = gate.answer(&ben, reply(&approval, Choice::Once)).await;
        assert_eq!(other.is_ok(), !may);
    }
}

#[tokio::test]
async fn what_models_cost_is_added_up_by_task_model_and_day() {
    let World {
        gate,
        ana,
        agent,
        clock,
        ..
    } = world().await;
    gate.record_usage("agent", "m", 100, 10).await.unwrap();
    gate.record_usage("agent", "m", 1, 1).await.unwrap();
    gate.record_usage("approval", "small", 5, 1).await.unwrap();
    let rows = gate.usage(&ana, None).await.unwrap();
    let seen: Vec<(&str, &str, u64, u64, u64)> = rows
        .iter()
        .map(|it| {
            (
                it.task.as_str(),
                it.model.as_str(),
                it.calls,
                it.prompt_tokens,
                it.completion_tokens,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [("agent", "m", 2, 101, 11), ("approval", "small", 1, 5, 1)]
    );
    clock.advance(std::time::Duration::from_hours(48));
    gate.record_usage("agent", "m", 7, 7).await.unwrap();
    let since = clock.now().0 - 3_600_000;
    let recent = gate.usage(&ana, Some(since)).await.unwrap();
    assert_eq!((recent.len(), recent[0].prompt_tokens), (1, 7));
    assert!(gate.usage(&agent, None).await.is_err());
}

#[tokio::test]
async fn what_the_agent_tells_is_written_as_earlier_builds_wrote_it() {
    let World { gate, ana, .. } = world().await;
    let run = gate.begin_run(&ana, new(Some("s1"))).await.unwrap();
    let step = RunStep {
        events: vec![
            RunEvent::ToolStarted {
                tool: "terminal".to_owned(),
                tool_call_id: "t1".to_owned(),
                call_id: "call_1".to_owned(),
                preview: "ls".to_owned(),
            },
            RunEvent::ToolNotRun {
                tool: "terminal".to_owned(),
                tool_call_id: "t1".to_owned(),
                call_id: "call_1".to_owned(),
                outcome: Ended::Denied,
                words: "denied by ana".to_owned(),
            },
            RunEvent::MessageHeld {
                notice: "Somebody was asked.".to_owned(),
                reached: true,
            },
        ],
        ..RunStep::default()
    };
    let run = gate.advance_run(&run, &step).await.unwrap();
    assert_eq!(run.last_event, "message.held");
    let run_id = &run.run_id;
    let at = serde_json::to_string(&run.updated_at.as_seconds()).unwrap();
    let wanted = [
        format!(
            r#"{{"event":"tool.started","run_id":"{run_id}","tool":"terminal","tool_call_id":"t1","call_id":"call_1","preview":"ls","timestamp":{at}}}"#
        ),
        format!(
            r#"{{"event":"tool.completed","run_id":"{run_id}","tool":"terminal","tool_call_id":"t1","call_id":"call_1","session_id":"s1","duration":0.0,"error":true,"outcome":"denied","words":"denied by ana","timestamp":{at}}}"#
        ),
        format!(
            r#"{{"event":"message.held","run_id":"{run_id}","notice":"Somebody was asked.","draft":1,"reached":true,"timestamp":{at}}}"#
        ),
    ];
    let entries = ledger(&gate).await;
    for (entry, wanted) in entries.iter().rev().take(3).rev().zip(wanted) {
        assert_eq!(entry.draft.body, wanted);
        let event: Event = serde_json::from_str(&wanted).unwrap();
        assert_eq!(event.name(), entry.draft.event);
        assert_eq!((&entry.draft.run, &entry.draft.subject), (run_id, run_id));
    }
}
