//! Questions an agent asks a person.

use std::time::Duration;

use countersign_gate::base::principal::Role;
use countersign_gate::clarifications::{Clarified, Question};
use countersign_gate::{Gate, GateError};

use crate::support::{Wishes, World, open, principal, world};
use crate::{everybody, told};

const NOW: Duration = Duration::ZERO;
const LONG: Duration = Duration::from_secs(30);

#[tokio::test]
async fn whoever_waits_is_told_the_answer_as_soon_as_there_is_one() {
    let World {
        gate, agent, ana, ..
    } = world().await;
    let asked = tokio::spawn({
        let (gate, agent) = (gate.clone(), agent.clone());
        async move { gate.ask_person(&agent, question(), LONG).await }
    });
    let id = first_waiting(&gate, &ana).await;
    let answered = gate.clarify(&ana, &id, Clarified::Choice(2)).await.unwrap();
    let heard = asked.await.unwrap().unwrap();
    for view in [answered, heard] {
        assert_eq!(view.status.word(), "answered");
        let answer = view.answer.unwrap();
        assert_eq!(
            (&answer["answered"], &answer["choice"]),
            (&true.into(), &2.into())
        );
        assert_eq!(
            (&answer["text"], &answer["by"]),
            (&"green".into(), &"ana".into())
        );
    }
    assert_eq!(told(&gate, "clarify.required").await.len(), 1);
    let resolved = told(&gate, "clarify.resolved").await;
    assert_eq!(
        (&resolved[0]["outcome"], &resolved[0]["by"]),
        (&"answered".into(), &"ana".into())
    );
    assert!(gate.clarifications(&ana).await.unwrap().items.is_empty());
}

#[tokio::test]
async fn an_answer_given_at_another_gateway_is_heard_here() {
    let World {
        gate,
        agent,
        ana,
        clock,
        home,
    } = world().await;
    let other = open(home.path(), &clock, Wishes::default()).await;
    let asked = tokio::spawn({
        let (gate, agent) = (gate.clone(), agent.clone());
        async move { gate.ask_person(&agent, question(), LONG).await }
    });
    let id = first_waiting(&other, &ana).await;
    let own_words = Clarified::Text("blue, please".to_owned());
    other.clarify(&ana, &id, own_words).await.unwrap();
    let heard = asked.await.unwrap().unwrap().answer.unwrap();
    assert_eq!(
        (&heard["choice"], &heard["text"]),
        (&().into(), &"blue, please".into())
    );
}

#[tokio::test]
async fn law_4_of_many_answers_one_counts_and_the_others_are_told_whose() {
    let World { gate, agent, .. } = world().await;
    let view = gate.ask_person(&agent, question(), NOW).await.unwrap();
    let mut answers = Vec::new();
    for number in 0..8 {
        let person = principal(&gate, &format!("person {number}"), Role::Approver).await;
        let (gate, id) = (gate.clone(), view.clarification_id.clone());
        answers.push(tokio::spawn(async move {
            gate.clarify(&person, &id, Clarified::Choice(1)).await
        }));
    }
    let (mut counted, mut late) = (Vec::new(), Vec::new());
    for answer in answers {
        match answer.await.unwrap() {
            Ok(view) => counted.push(view.answer.unwrap()),
            Err(GateError::AlreadySettled { how, .. }) => late.push(how),
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((counted.len(), late.len()), (1, 7));
    let winner = format!("answered by {}", counted[0]["by"].as_str().unwrap());
    assert!(late.iter().all(|how| *how == winner), "{late:?}");
    assert_eq!(told(&gate, "clarify.resolved").await.len(), 1);
}

#[tokio::test]
async fn a_question_nobody_answers_ends_and_says_so() {
    let World {
        gate,
        agent,
        ana,
        clock,
        ..
    } = world().await;
    let view = gate.ask_person(&agent, question(), NOW).await.unwrap();
    assert_eq!((view.status.word(), &view.answer), ("waiting", &None));
    let id = view.clarification_id.as_str();
    clock.advance(Duration::from_mins(5));
    assert!(gate.clarifications(&ana).await.unwrap().items.is_empty());
    let late = gate.clarify(&ana, id, Clarified::Choice(1)).await;
    assert!(matches!(late, Err(GateError::AlreadySettled { .. })));
    let over = gate.clarification(&agent, id, LONG).await.unwrap();
    assert_eq!(over.status.word(), "expired");
    let said = serde_json::json!({ "answered": false, "reason": "timeout" });
    assert_eq!(over.answer, Some(said));
    let resolved = told(&gate, "clarify.resolved").await;
    assert_eq!(
        (resolved.len(), &resolved[0]["outcome"]),
        (1, &"expired".into())
    );
}

#[tokio::test]
async fn law_7_agents_ask_and_people_answer() {
    let World { gate, agent, .. } = world().await;
    for who in everybody(&gate).await {
        let role = who.role;
        let asked = gate.ask_person(&who, question(), NOW).await;
        assert_eq!(asked.is_ok(), role.asks(), "{role:?}");
        let of_agent = gate.ask_person(&agent, question(), NOW).await.unwrap();
        let id = of_agent.clarification_id.as_str();
        let seen = gate.clarification(&who, id, NOW).await;
        assert_eq!(seen.is_ok(), role.sees_all(), "{role:?} sees another's");
        let answered = gate.clarify(&who, id, Clarified::Choice(1)).await;
        assert_eq!(answered.is_ok(), role.answers(), "{role:?}");
    }
    let own = gate.ask_person(&agent, question(), NOW).await.unwrap();
    let id = own.clarification_id.as_str();
    assert!(gate.clarification(&agent, id, NOW).await.is_ok());
    let own_answer = gate.clarify(&agent, id, Clarified::Choice(1)).await;
    assert!(matches!(own_answer, Err(GateError::Forbidden(_))));
}

#[tokio::test]
async fn what_cannot_be_asked_or_answered_is_refused_and_changes_nothing() {
    let World {
        gate, agent, ana, ..
    } = world().await;
    let ten = (0..10).map(|number| number.to_string()).collect();
    let rows = [
        (
            "no words",
            Question {
                text: " \n".to_owned(),
                ..question()
            },
        ),
        (
            "too many words",
            Question {
                text: "x".repeat(16 * 1024 + 1),
                ..question()
            },
        ),
        (
            "ten choices",
            Question {
                choices: ten,
                ..question()
            },
        ),
        (
            "an empty choice",
            Question {
                choices: vec![String::new()],
                ..question()
            },
        ),
        (
            "no session",
            Question {
                session: String::new(),
                ..question()
            },
        ),
        (
            "a run with a line break",
            Question {
                run: Some("a\nb".to_owned()),
                ..question()
            },
        ),
    ];
    for (row, question) in rows {
        let refused = gate.ask_person(&agent, question, NOW).await;
        assert!(matches!(refused, Err(GateError::Invalid { .. })), "{row}");
    }
    let view = gate.ask_person(&agent, question(), NOW).await.unwrap();
    let rows = [
        ("choice zero", Clarified::Choice(0)),
        ("a choice too many", Clarified::Choice(3)),
        ("a blank", Clarified::Text(" ".to_owned())),
        ("too long", Clarified::Text("x".repeat(16 * 1024 + 1))),
    ];
    for (row, reply) in rows {
        let refused = gate.clarify(&ana, &view.clarification_id, reply).await;
        assert!(matches!(refused, Err(GateError::Invalid { .. })), "{row}");
    }
    assert_eq!(gate.clarifications(&ana).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn one_agent_cannot_flood_people_with_questions() {
    let World {
        gate, agent, ana, ..
    } = world().await;
    for _ in 0..20 {
        gate.ask_person(&agent, question(), NOW).await.unwrap();
    }
    let one_more = gate.ask_person(&agent, question(), NOW).await;
    assert!(matches!(one_more, Err(GateError::TooMany { .. })));
    let other = principal(&gate, "codex", Role::Agent).await;
    gate.ask_person(&other, question(), NOW).await.unwrap();
    assert_eq!(gate.clarifications(&ana).await.unwrap().items.len(), 21);
    assert_eq!(gate.clarifications(&other).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn what_an_agent_hides_in_a_question_is_written_out() {
    let World {
        gate, agent, ana, ..
    } = world().await;
    let hostile = Question {
        text: "Which\u{202e} one?\nSecond line".to_owned(),
        choices: vec!["yes\u{200b}\nno".to_owned()],
        ..question()
    };
    gate.ask_person(&agent, hostile, NOW).await.unwrap();
    let view = &gate.clarifications(&ana).await.unwrap().items[0];
    assert_eq!(view.question, "Which⟨U+202E⟩ one?\nSecond line");
    assert!(view.choices[0].starts_with("yes⟨U+200B⟩"), "{view:?}");
    assert!(!view.choices[0].contains('\n'), "{view:?}");
}

fn question() -> Question {
    Question {
        text: "Which colour?".to_owned(),
        choices: vec!["red".to_owned(), "green".to_owned()],
        session: "s1".to_owned(),
        run: None,
    }
}

async fn first_waiting(gate: &Gate, who: &countersign_gate::base::principal::Principal) -> String {
    loop {
        let waiting = gate.clarifications(who).await.unwrap().items;
        if let Some(first) = waiting.into_iter().next() {
            return first.clarification_id;
        }
        tokio::task::yield_now().await;
    }
}
