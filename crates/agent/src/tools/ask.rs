//! The `clarify` tool: asks a person. An answer never permits anything.

use std::time::Duration;

use countersign_gate::GateError;
use countersign_gate::calls::permit::Permit;
use countersign_gate::clarifications::{ClarificationView, Question};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Around, Asks, Outcome, Tool, checked, understood};
use crate::BoxFuture;
use crate::model::ToolSchema;

/// Questions end by themselves; this is only longer than any of them waits.
const LONGEST: Duration = Duration::from_hours(7 * 24);

/// Additional instructions in a conversation with a person in crisis.
const NOT_ASKED: &str = "The question was not asked: in this conversation somebody else looks at everything before the \
person reads it. Put it into your answer.";

/// Asks a person something.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clarify;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asking {
    question: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    choices: Vec<String>,
}

impl Tool for Clarify {
    fn schema(&self) -> ToolSchema {
        ToolSchema {
            name: "clarify".to_owned(),
            description: "Asks the person you work for a question and waits for the answer. \
                          `choices` are up to nine answers to choose from. An answer allows \
                          nothing: what needs a yes is asked for by the tool itself."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "question": {"type": "string"},
                    "choices": {"type": "array", "items": {"type": "string"}, "maxItems": 9},
                },
                "required": ["question"],
                "additionalProperties": false,
            }),
        }
    }

    fn does(&self) -> String {
        "Asks the person it works for a question and waits for the answer.".to_owned()
    }

    fn asks(&self) -> Asks {
        Asks::Never
    }

    fn resolved(&self, args: Value) -> Result<Value, String> {
        checked::<Asking>(&args)
    }

    fn taken_up<'a>(&'a self, call: &'a str, around: &'a Around) -> BoxFuture<'a, Option<Outcome>> {
        Box::pin(async move {
            let question = around.gate.question_of(&around.who, call).await.ok()??;
            let asked = around.gate.clarification(&around.who, &question, LONGEST);
            Some(answered(asked, around).await)
        })
    }

    fn run<'a>(&'a self, permit: Permit, around: &'a Around) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let args = match understood::<Asking>(permit.args()) {
                Ok(args) => args,
                Err(why) => return Outcome::failed(why),
            };
            // Law 1: a question, too, is something the person reads that nobody has looked at.
            let words: Vec<&str> = [args.question.as_str()]
                .into_iter()
                .chain(args.choices.iter().map(String::as_str))
                .collect();
            match around.gate.heed(&around.who, &around.session, &words).await {
                Ok(false) => {}
                Ok(true) => return Outcome::failed(NOT_ASKED),
                Err(error) => return Outcome::failed(error.to_string()),
            }
            let question = Question {
                text: args.question,
                choices: args.choices,
                session: around.session.clone(),
                run: Some(around.run.clone()),
            };
            let asked =
                around
                    .gate
                    .ask_person_for(&around.who, question, permit.call_id(), LONGEST);
            answered(asked, around).await
        })
    }
}

/// Waits for a person's answer, and heeds it: what is said here is part of the conversation, too.
async fn answered(
    asked: impl Future<Output = Result<ClarificationView, GateError>> + Send,
    around: &Around,
) -> Outcome {
    let asked = tokio::select! {
        asked = asked => asked,
        () = around.stopped() => return Outcome::failed("the run was stopped"),
    };
    let answer = match asked {
        Ok(asked) => asked.answer,
        Err(error) => return Outcome::failed(error.to_string()),
    };
    let said = answer.as_ref().and_then(|it| it["text"].as_str());
    let said: Vec<&str> = said.into_iter().collect();
    if let Err(error) = around.gate.heed(&around.who, &around.session, &said).await {
        return Outcome::failed(error.to_string());
    }
    let unanswered = || json!({"answered": false, "reason": "timeout"});
    Outcome::done(answer.unwrap_or_else(unanswered).to_string())
}
