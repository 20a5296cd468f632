//! The second reader of texts that rules and model neither clear nor hold: whom it reads for, and what its answer does.
//!
//! Who reads is appointed from outside, because a model is asked over the network. The answer is a fact of the call,
//! kept with it, so that the verdict can be replayed. It can only hold more. Where a reader is in use and gives no
//! answer that counts, the text is held for this once, and nobody gets a crisis mark for it.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::assess::{hear, question};
use countersign_core::assessment::Assessment;
use countersign_core::call::{ToolCall, Turn};
use countersign_core::content::crisis::{self, Question, Reading, SecondReading, Sensitivity};
use countersign_store::Change;
use serde::{Deserialize, Serialize};

use crate::GateError;
use crate::base::principal::Principal;
use crate::records::event::{Event, ReaderExamined};
use crate::runs::BUILTIN;
use crate::sessions::Sessions;

/// How long anybody waits for a second reader, whatever it promises.
const READ_TIME_MAX: Duration = Duration::from_secs(20);

/// Somebody who reads a text again: a model behind it.
pub trait SecondReader: Send + Sync + std::fmt::Debug {
    /// Whether it reads texts of these at the moment.
    fn reads(&self, whose: Whose) -> bool;

    /// Returns what it makes of `question`. Whatever goes wrong is [`SecondReading::Unanswered`].
    fn read<'a>(
        &'a self,
        whose: Whose,
        question: &'a Question,
    ) -> Pin<Box<dyn Future<Output = SecondReading> + Send + 'a>>;

    /// Returns who reads, and how the examination went.
    fn standing(&self) -> Vec<ReaderView>;
}

/// Whose texts are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The built-in agent's own.
    Builtin,
    /// Those of every other agent.
    Others,
}

impl Whose {
    fn of(who: &Principal) -> Self {
        if who.key.as_str() == BUILTIN {
            Self::Builtin
        } else {
            Self::Others
        }
    }
}

/// A model that reads again, and whether it may.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ReaderView {
    /// The model.
    pub model: String,
    /// Whether it reads for all agents, or for the built-in agent alone.
    pub for_all: bool,
    /// How its examination stands.
    pub examination: Examination,
    /// The same for people.
    pub words: String,
}

/// How the examination of a second reader stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Examination {
    /// It is under way.
    UnderWay,
    /// It passed: it is asked.
    Passed,
    /// It failed: it is not asked.
    Failed,
    /// It did not answer the questions, so nothing is known. It is examined again.
    NoAnswer,
}

impl Sessions {
    /// Appoints who reads again. Only the first appointment counts.
    pub fn appoint_reader(&self, reader: Arc<dyn SecondReader>) {
        if self.reader.set(reader).is_err() {
            tracing::warn!("a second reader was appointed twice");
        }
    }

    /// Whether what the built-in agent says is read again where rules and model are not sure.
    pub fn reads_again(&self) -> bool {
        let reader = self.reader.get();
        reader.is_some_and(|reader| reader.reads(Whose::Builtin))
    }

    /// Returns how much the owner wants held where no directory says otherwise. All of it where nobody can tell.
    pub fn crisis_sensitivity(&self) -> Sensitivity {
        let ruleset = self.base.policies.at(None);
        ruleset.map_or(Sensitivity::High, |it| it.policy.crisis_sensitivity)
    }

    /// Returns who reads again.
    pub(crate) fn readers(&self) -> Vec<ReaderView> {
        let reader = self.reader.get();
        reader.map_or_else(Vec::new, |reader| reader.standing())
    }

    /// Records that a model was examined.
    pub async fn note_examination(&self, examined: ReaderExamined) -> Result<(), GateError> {
        let now = self.base.clock.now();
        let model = examined.model.clone();
        let event = Event::ReaderExamined(ReaderExamined {
            timestamp: now.as_seconds(),
            ..examined
        });
        let change = Change {
            puts: Vec::new(),
            entries: vec![event.draft(&model, now)],
        };
        self.base.store.commit(change).await?;
        Ok(())
    }

    /// Returns what a second reader makes of a call that is neither cleared nor held; `None` if it is not asked.
    pub(crate) async fn second_reading_of(
        &self,
        who: &Principal,
        call: &ToolCall,
        assessment: &Assessment,
    ) -> Option<SecondReading> {
        let touches = assessment.outbound || !assessment.reversible;
        if !assessment.marks.crisis_unsure || assessment.crisis_sensitive || !touches {
            return None;
        }
        self.read_again(Whose::of(who), || question(call)).await
    }

    /// Returns what a text and the conversation say about a person in crisis, after a second reader was asked where
    /// that was not sure. `None` if it is held only because the reader gave no answer.
    pub(crate) async fn read_with_second(
        &self,
        who: &Principal,
        turns: &[Turn],
    ) -> Option<Reading> {
        let reading = crisis::read("", turns).at(self.crisis_sensitivity());
        if reading != Reading::Unsure {
            return Some(reading);
        }
        let said = self
            .read_again(Whose::of(who), || crisis::question("", turns))
            .await;
        match said {
            None | Some(SecondReading::NoSign) => Some(Reading::Unsure),
            Some(SecondReading::Crisis) => Some(Reading::Held),
            Some(SecondReading::Unanswered) => None,
        }
    }

    async fn read_again(
        &self,
        whose: Whose,
        question: impl FnOnce() -> Option<Question>,
    ) -> Option<SecondReading> {
        let reader = self.reader.get().filter(|reader| reader.reads(whose))?;
        let Some(question) = question() else {
            tracing::info!("a text is too long for the second reader, so it is held");
            return Some(SecondReading::Unanswered);
        };
        let reading = tokio::time::timeout(READ_TIME_MAX, reader.read(whose, &question)).await;
        Some(reading.unwrap_or(SecondReading::Unanswered))
    }
}

/// Takes an answer into an assessment, before the marks of others are looked at or behind them.
pub(crate) fn take(assessment: &mut Assessment, said: Option<SecondReading>, when: When) {
    match (said, when) {
        (Some(said @ (SecondReading::NoSign | SecondReading::Crisis)), When::BeforeMarks)
        | (Some(said @ SecondReading::Unanswered), When::BehindMarks) => hear(assessment, said),
        (Some(_) | None, When::BeforeMarks | When::BehindMarks) => {}
    }
}

/// A sign that was seen leaves marks. That no answer came leaves none, so it counts only behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    BeforeMarks,
    BehindMarks,
}
