//! A second reader holds more and never less, and what it said is a fact of the call.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use countersign_core::call::{ToolCall, Turn};
use countersign_core::content::crisis::{AN_UNSURE_TEXT, Question, SecondReading, Sensitivity};
use countersign_core::policy::{ApprovalsMode, Policy};
use countersign_gate::records::request::Submission;
use countersign_gate::records::view::CallView;
use countersign_gate::sessions::second_reader::{ReaderView, SecondReader, Whose};
use serde_json::{Value, json};

use crate::support::{Wishes, World, world_with};

/// Says the same of everything, and remembers what it was asked.
#[derive(Debug)]
struct Says {
    what: SecondReading,
    is_for_all: bool,
    asked: Mutex<Vec<Question>>,
}

impl SecondReader for Says {
    fn reads(&self, whose: Whose) -> bool {
        self.is_for_all || whose == Whose::Builtin
    }

    fn read<'a>(
        &'a self,
        _: Whose,
        question: &'a Question,
    ) -> Pin<Box<dyn Future<Output = SecondReading> + Send + 'a>> {
        self.asked.lock().unwrap().push(question.clone());
        Box::pin(async { self.what })
    }

    fn standing(&self) -> Vec<ReaderView> {
        Vec::new()
    }
}

fn open() -> Policy {
    Policy {
        require_approval: false,
        approvals: ApprovalsMode::Off,
        ..Policy::default()
    }
}

async fn read_by(policy: Policy, what: SecondReading, is_for_all: bool) -> (World, Arc<Says>) {
    let world = world_with(Wishes {
        policy,
        ..Wishes::default()
    })
    .await;
    let says = Arc::new(Says {
        what,
        is_for_all,
        asked: Mutex::default(),
    });
    world
        .gate
        .appoint_reader(Arc::clone(&says) as Arc<dyn SecondReader>);
    (world, says)
}

fn message(text: &str, before: &[&str]) -> Submission {
    let turn = |text: &&str| Turn {
        from: "sam".to_owned(),
        text: (*text).to_owned(),
    };
    Submission {
        call: ToolCall {
            tool: "send_message".to_owned(),
            args: json!({ "to": "sam", "text": text }),
            replying_to: before.iter().map(turn).collect(),
            ..ToolCall::default()
        },
        session: "talk".to_owned(),
        ..Submission::default()
    }
}

fn assessment(call: &CallView) -> Value {
    serde_json::from_str(call.assessment.get()).unwrap()
}

#[tokio::test]
async fn an_answer_holds_or_changes_nothing_and_only_a_sign_leaves_marks() {
    use SecondReading::{Crisis, NoSign, Unanswered};
    for (what, verdict, code, marks) in [
        (NoSign, "allow", "crisis.read_again", 0),
        (Crisis, "ask", "crisis", 1),
        (Unanswered, "ask", "crisis", 0),
    ] {
        let (world, says) = read_by(open(), what, true).await;
        let call = world.submit(message(AN_UNSURE_TEXT, &["hello"])).await;
        assert_eq!(call.verdict.word(), verdict, "{what:?}");
        let said = assessment(&call);
        assert_eq!(
            said["crisis_sensitive"],
            verdict == "ask",
            "{what:?}: {said}"
        );
        let findings = said["findings"].as_array().unwrap();
        assert!(
            findings.iter().any(|it| it["code"] == code),
            "{what:?}: {said}"
        );
        let asked = says.asked.lock().unwrap().clone();
        assert_eq!(asked.len(), 1);
        assert!(asked[0].message.contains(AN_UNSURE_TEXT));
        assert_eq!(asked[0].turns, [("person", "hello".to_owned())]);
        let found = world.gate.crisis_marks(&world.ana).await.unwrap();
        assert_eq!(found.sessions.len(), marks, "{what:?}");
        assert_eq!(found.recipients.len(), marks, "{what:?}");
        // The fact is kept, so judging again comes to the same.
        let again = world.gate.replay(&world.ana, 0, open()).await.unwrap();
        assert_eq!((again.calls, again.changed.len()), (1, 0), "{what:?}");
    }
}

#[tokio::test]
async fn it_is_asked_only_where_rules_and_model_are_not_sure() {
    let harmless = "The train leaves at nine from platform four.";
    let held = "I want to kill myself tonight";
    let long = format!("{AN_UNSURE_TEXT} {}", "The parcel came today. ".repeat(800));
    let high = Policy {
        crisis_sensitivity: Sensitivity::High,
        ..open()
    };
    let rows = [
        ("clear", open(), true, harmless, "allow", 0),
        ("held already", open(), true, held, "ask", 0),
        ("not sure", open(), true, AN_UNSURE_TEXT, "allow", 1),
        ("another agent's", open(), false, AN_UNSURE_TEXT, "allow", 0),
        (
            "held by the owner's wish",
            high,
            true,
            AN_UNSURE_TEXT,
            "ask",
            0,
        ),
        ("too long to be asked", open(), true, &long, "ask", 0),
    ];
    for (name, policy, is_for_all, text, verdict, asked) in rows {
        let (world, says) = read_by(policy, SecondReading::NoSign, is_for_all).await;
        let call = world.submit(message(text, &[])).await;
        assert_eq!(call.verdict.word(), verdict, "{name}");
        assert_eq!(says.asked.lock().unwrap().len(), asked, "{name}");
    }
}

#[tokio::test]
async fn a_card_shows_approvers_which_words_held_it_and_nothing_where_it_is_not_held() {
    let (world, _) = read_by(Policy::default(), SecondReading::NoSign, true).await;
    let rows = [
        (
            "I want to kill myself tonight. The train leaves at nine.",
            true,
        ),
        ("The train leaves at nine.", false),
    ];
    for (text, is_held) in rows {
        let submission = Submission {
            session: format!("held-{is_held}"),
            ..message(text, &[])
        };
        let call = world.submit(submission).await;
        let id = call.approval_id.unwrap();
        let view = world.gate.approval(&world.ana, &id).await.unwrap();
        let field = view.card.body.iter().find(|it| it.text == text).unwrap();
        let marked: Vec<&str> = field
            .marks
            .iter()
            .map(|mark| field.text.get(mark.start..mark.end).unwrap())
            .collect();
        assert_eq!(!marked.is_empty(), is_held, "{marked:?}");
        let names_it = marked.iter().any(|it| it.contains("kill"));
        assert!(marked.len() <= 4 && names_it == is_held, "{marked:?}");
        let told = view.card.look_at();
        assert_eq!(told.len(), marked.len(), "{told:?}");
    }
}
