//! Clarifications: questions from agents. An answer never permits anything.

use std::time::Duration;

use countersign_core::display::{line, unfenced};
use countersign_core::id::{ClarificationId, KeyId};
use countersign_core::ledger::Draft;
use countersign_core::status::ClarificationStatus;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Expect, Kind, Put, Query, Record, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use std::sync::Arc;

use crate::GateError;
use crate::base::Base;
use crate::base::principal::{Principal, Role};
use crate::base::random::random;
use crate::base::waiting::Look;
use crate::records::error::invalid;
use crate::records::event::{ClarifyRequired, ClarifyResolved, Event};
use crate::records::identifiers;
use crate::records::identifiers::run_of;
use crate::records::stored::{read, written};
use crate::records::view::{Page, time_of_day};

/// Most answers to choose from.
pub const CHOICES_MAX: usize = 9;
/// Longest answer to choose from, in characters.
pub const CHOICE_CHARS_MAX: usize = 200;
/// Longest question, and longest answer in a person's own words, in bytes.
pub const TEXT_BYTES_MAX: usize = 16 * 1024;
/// Questions of one key that may wait.
pub const WAITING_OF_ONE_MAX: u64 = 20;
/// Most questions that time settles in one go.
const LAPSED_MAX: u32 = 100;

/// A question an agent asks a person.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The question.
    pub text: String,
    /// Up to nine answers to choose from.
    pub choices: Vec<String>,
    /// The session.
    pub session: String,
    /// The run.
    pub run: Option<String>,
}

/// What a person answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clarified {
    /// One of the choices, from 1.
    Choice(usize),
    /// In their own words.
    Text(String),
}

/// A question as programs and people see it.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ClarificationView {
    /// The question.
    pub clarification_id: String,
    /// `waiting`, `answered` or `expired`.
    #[schema(value_type = String)]
    pub status: ClarificationStatus,
    /// The question's text.
    pub question: String,
    /// The choices.
    pub choices: Vec<String>,
    /// The session.
    pub session_id: String,
    /// The run.
    pub run_id: String,
    /// The answer: `{"answered":true,"choice","text","by"}` or `{"answered":false,"reason":"timeout"}`.
    #[schema(value_type = Option<ClarifiedView>)]
    pub answer: Option<serde_json::Value>,
    /// When it was asked, in seconds.
    pub created_at: f64,
    /// When it expires, in seconds.
    pub expires_at: f64,
}

/// How a question ended: `{"answered":true,"choice","text","by"}` or
/// `{"answered":false,"reason":"timeout"}`.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ClarifiedView {
    /// Whether somebody answered.
    pub answered: bool,
    /// The number of the choice, from 1.
    pub choice: Option<u32>,
    /// In words.
    pub text: Option<String>,
    /// Who answered.
    pub by: Option<String>,
    /// Why nobody did.
    pub reason: Option<String>,
}

/// A question as channels need it.
#[derive(Clone, Debug)]
pub(crate) struct AskedQuestion {
    pub(crate) view: ClarificationView,
    pub(crate) asked_at: UnixMillis,
    pub(crate) expires_at: UnixMillis,
    /// How it ended, in words.
    pub(crate) outcome: Option<String>,
}

/// A question as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredClarification {
    question: String,
    choices: Vec<String>,
    expires_at: UnixMillis,
    answer: Option<StoredAnswer>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredAnswer {
    choice: Option<usize>,
    text: String,
    by: String,
    via: String,
    at: UnixMillis,
}

/// Questions of agents to people.
#[derive(Debug)]
pub struct Clarifications {
    base: Arc<Base>,
}

impl Clarifications {
    pub(crate) fn new(base: Arc<Base>) -> Self {
        Self { base }
    }
}

impl Clarifications {
    /// Asks a question and waits for at most `wait`.
    pub async fn ask_person(
        &self,
        who: &Principal,
        question: Question,
        wait: Duration,
    ) -> Result<ClarificationView, GateError> {
        self.ask_person_for(who, question, "", wait).await
    }

    /// Asks a question that the call `call` is about, so that it is found again after a crash.
    pub async fn ask_person_for(
        &self,
        who: &Principal,
        question: Question,
        call: &str,
        wait: Duration,
    ) -> Result<ClarificationView, GateError> {
        if !who.role.asks() {
            return Err(GateError::Forbidden("only agent keys can ask questions"));
        }
        check(&question)?;
        self.check_room_for_question(who).await?;
        let now = self.base.clock.now();
        let id = ClarificationId::fresh(now, random());
        let expires_at = now.plus(self.base.settings.timeouts.usual);
        let run = question
            .run
            .unwrap_or_else(|| run_of(who, &question.session));
        let stored = StoredClarification {
            question: question.text,
            choices: question.choices,
            expires_at,
            answer: None,
        };
        let record = Record {
            status: ClarificationStatus::Waiting.word().to_owned(),
            owner: who.key.0.clone(),
            session: question.session,
            run,
            link: call.to_owned(),
            due_at: Some(expires_at.0),
            ..Record::new(Kind::Clarification, id.0.clone(), now.0, written(&stored))
        };
        let shown = view(&record, &stored);
        let event = Event::ClarifyRequired(ClarifyRequired {
            clarification_id: id.0.clone(),
            run_id: shown.run_id,
            session_id: shown.session_id,
            question: shown.question,
            choices: shown.choices,
            expires_at: shown.expires_at,
            timestamp: now.as_seconds(),
        });
        let change = Change {
            entries: vec![entry(&record, &event, now)],
            puts: vec![Put {
                record,
                expect: Expect::Absent,
            }],
        };
        self.base.store.commit(change).await?;
        self.base.cards.deliver_soon(id.as_str());
        self.clarification(who, id.as_str(), wait).await
    }

    /// Returns one question, waiting for at most `wait`.
    pub async fn clarification(
        &self,
        who: &Principal,
        id: &str,
        wait: Duration,
    ) -> Result<ClarificationView, GateError> {
        let look = || async move {
            let record = self.stored_clarification(who, id).await?;
            let seen = view(&record, &read(&record)?);
            if seen.status != ClarificationStatus::Waiting {
                return Ok(Look::Settled(seen));
            }
            let due = record.due_at.unwrap_or_default();
            let until_due = due.saturating_sub(self.base.clock.now().0);
            let until_due = Duration::from_millis(u64::try_from(until_due).unwrap_or(0));
            Ok(Look::Waits(seen, until_due))
        };
        self.base.waiting.until_settled(id, wait, look).await
    }

    /// Returns the question that the call `call` asked, if it came so far.
    pub async fn question_of(
        &self,
        who: &Principal,
        call: &str,
    ) -> Result<Option<String>, GateError> {
        let query = Query {
            owner: Some(who.key.0.clone()),
            link: Some(call.to_owned()),
            limit: 1,
            ..Query::of(Kind::Clarification)
        };
        let found = self.base.store.find(query).await?;
        Ok(found.into_iter().next().map(|record| record.id))
    }

    /// Returns the questions that wait.
    pub async fn list(&self, who: &Principal) -> Result<Page<ClarificationView>, GateError> {
        let query = Query {
            status: Some(ClarificationStatus::Waiting.word().to_owned()),
            owner: (!who.role.sees_all()).then(|| who.key.0.clone()),
            ..Query::of(Kind::Clarification)
        };
        let now = self.base.clock.now();
        let mut items = Vec::new();
        for record in self.base.find_all(query).await? {
            if !is_over(&record, now) {
                items.push(view(&record, &read(&record)?));
            }
        }
        Ok(Page { items, next: None })
    }

    /// Answers one.
    pub async fn clarify(
        &self,
        who: &Principal,
        id: &str,
        reply: Clarified,
    ) -> Result<ClarificationView, GateError> {
        if !who.role.answers() {
            return Err(GateError::Forbidden("only approvers can answer questions"));
        }
        let record = self.stored_clarification(who, id).await?;
        let mut stored: StoredClarification = read(&record)?;
        if !waits(&record) {
            return Err(settled_already(&record, &stored));
        }
        let (choice, text) = chosen(&stored, reply)?;
        let now = self.base.clock.now();
        stored.answer = Some(StoredAnswer {
            choice,
            text,
            by: who.name.clone(),
            via: who.via.clone(),
            at: now,
        });
        if let Some(record) = self
            .settle_question(record, &stored, ClarificationStatus::Answered, now)
            .await?
        {
            return Ok(view(&record, &stored));
        }
        let record = self.stored_clarification(who, id).await?;
        Err(settled_already(&record, &read(&record)?))
    }

    /// Lets time settle the questions nobody answered.
    pub(crate) async fn lapse_clarifications(&self) -> Result<(), GateError> {
        let now = self.base.clock.now();
        let query = Query {
            status: Some(ClarificationStatus::Waiting.word().to_owned()),
            due_by: Some(now.0),
            limit: LAPSED_MAX,
            ..Query::of(Kind::Clarification)
        };
        for record in self.base.store.find(query).await? {
            let stored: StoredClarification = read(&record)?;
            self.settle_question(record, &stored, ClarificationStatus::Expired, now)
                .await?;
        }
        Ok(())
    }

    /// Returns a question that `who` may see, as time has left it.
    async fn stored_clarification(&self, who: &Principal, id: &str) -> Result<Record, GateError> {
        loop {
            let found = self.base.store.get(Kind::Clarification, id).await?;
            let record = found
                .filter(|record| who.role.sees_all() || record.owner == who.key.0)
                .ok_or_else(|| GateError::NotFound {
                    kind: "clarification",
                    id: id.to_owned(),
                })?;
            let now = self.base.clock.now();
            if !waits(&record) || !is_over(&record, now) {
                return Ok(record);
            }
            let stored: StoredClarification = read(&record)?;
            // Whoever loses the race finds it settled when looking again.
            self.settle_question(record, &stored, ClarificationStatus::Expired, now)
                .await?;
        }
    }

    /// Settles a question that waits; `None` if somebody else was faster.
    async fn settle_question(
        &self,
        mut record: Record,
        stored: &StoredClarification,
        status: ClarificationStatus,
        now: UnixMillis,
    ) -> Result<Option<Record>, GateError> {
        status.word().clone_into(&mut record.status);
        record.due_at = None;
        record.body = written(stored);
        let answer = stored.answer.as_ref();
        let choice = answer.and_then(|answer| answer.choice);
        let event = Event::ClarifyResolved(ClarifyResolved {
            clarification_id: record.id.clone(),
            run_id: record.run.clone(),
            session_id: record.session.clone(),
            outcome: status,
            choice: choice.and_then(|number| u32::try_from(number).ok()),
            by: answer.map(|answer| answer.by.clone()),
            via: answer.map(|answer| answer.via.clone()),
            timestamp: now.as_seconds(),
        });
        let change = Change {
            entries: vec![entry(&record, &event, now)],
            puts: vec![Put {
                expect: Expect::Version(record.version),
                record: record.clone(),
            }],
        };
        match self.base.store.commit(change).await {
            Ok(_) => {
                self.base.waiting.wake(&record.id);
                self.base.cards.repaint_soon(&record.id);
                Ok(Some(record))
            }
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(failed @ (StoreError::Unavailable { .. } | StoreError::Closed)) => {
                Err(failed.into())
            }
        }
    }

    /// Returns a question as channels need it, as time has left it.
    pub(crate) async fn asked(&self, id: &str) -> Result<AskedQuestion, GateError> {
        let record = self.stored_clarification(&everyone(), id).await?;
        let stored: StoredClarification = read(&record)?;
        let view = view(&record, &stored);
        let outcome = match (&stored.answer, view.status) {
            (Some(answer), _) => {
                let at = time_of_day(answer.at);
                Some(format!("Answered by {} · {at} · {}", answer.by, answer.via))
            }
            (None, ClarificationStatus::Expired) => Some("Nobody answered in time".to_owned()),
            (None, ClarificationStatus::Waiting | ClarificationStatus::Answered) => None,
        };
        Ok(AskedQuestion {
            view,
            asked_at: UnixMillis(record.at),
            expires_at: stored.expires_at,
            outcome,
        })
    }

    async fn check_room_for_question(&self, who: &Principal) -> Result<(), GateError> {
        let query = Query {
            status: Some(ClarificationStatus::Waiting.word().to_owned()),
            owner: Some(who.key.0.clone()),
            ..Query::of(Kind::Clarification)
        };
        if self.base.store.count(query).await? >= WAITING_OF_ONE_MAX {
            return Err(GateError::TooMany {
                message: "20 questions of this key are already waiting",
                retry_after: 5,
            });
        }
        Ok(())
    }
}

/// Returns somebody who sees every question and may do nothing about it.
fn everyone() -> Principal {
    Principal {
        key: KeyId("channels".to_owned()),
        name: "channels".to_owned(),
        role: Role::Viewer,
        via: "channels".to_owned(),
        tier: Tier::T0,
    }
}

fn check(question: &Question) -> Result<(), GateError> {
    let Question {
        text,
        choices,
        session,
        run,
    } = question;
    if text.trim().is_empty() || text.len() > TEXT_BYTES_MAX {
        let message = format!("`question` is a text of up to {TEXT_BYTES_MAX} bytes");
        return Err(invalid("question", "invalid_question", &message));
    }
    let is_good =
        |choice: &String| !choice.trim().is_empty() && choice.chars().count() <= CHOICE_CHARS_MAX;
    if choices.len() > CHOICES_MAX || !choices.iter().all(is_good) {
        let message = format!(
            "`choices` are up to {CHOICES_MAX} texts of up to {CHOICE_CHARS_MAX} characters"
        );
        return Err(invalid("choices", "invalid_choices", &message));
    }
    identifiers::check("session_id", session)?;
    run.as_ref()
        .map_or(Ok(()), |run| identifiers::check("run_id", run))
}

/// Returns what was chosen and what that says.
fn chosen(
    stored: &StoredClarification,
    reply: Clarified,
) -> Result<(Option<usize>, String), GateError> {
    match reply {
        Clarified::Choice(number) => {
            let text = number
                .checked_sub(1)
                .and_then(|at| stored.choices.get(at))
                .ok_or_else(|| {
                    let message = format!("there are {} choices", stored.choices.len());
                    invalid("choice", "choice_out_of_range", &message)
                })?;
            Ok((Some(number), text.clone()))
        }
        Clarified::Text(text) if text.trim().is_empty() => {
            Err(invalid("text", "empty", "an answer must not be empty"))
        }
        Clarified::Text(text) if text.len() > TEXT_BYTES_MAX => {
            let message = format!("`text` is longer than {TEXT_BYTES_MAX} bytes");
            Err(invalid("text", "too_long", &message))
        }
        Clarified::Text(text) => Ok((None, text)),
    }
}

/// Time ends what is due now.
fn is_over(record: &Record, now: UnixMillis) -> bool {
    record.due_at.is_some_and(|due| due <= now.0)
}

fn entry(record: &Record, event: &Event, now: UnixMillis) -> Draft {
    Draft {
        owner: record.owner.clone(),
        run: record.run.clone(),
        session: record.session.clone(),
        ..event.draft(&record.id, now)
    }
}

fn waits(record: &Record) -> bool {
    record.status == ClarificationStatus::Waiting.word()
}

fn view(record: &Record, stored: &StoredClarification) -> ClarificationView {
    let status = match &stored.answer {
        Some(_) => ClarificationStatus::Answered,
        None if waits(record) => ClarificationStatus::Waiting,
        None => ClarificationStatus::Expired,
    };
    let answer = match (&stored.answer, status) {
        (Some(answer), _) => Some(json!({
            "answered": true, "choice": answer.choice, "text": answer.text, "by": answer.by,
        })),
        (None, ClarificationStatus::Expired) => {
            Some(json!({ "answered": false, "reason": "timeout" }))
        }
        (None, ClarificationStatus::Waiting | ClarificationStatus::Answered) => None,
    };
    ClarificationView {
        clarification_id: record.id.clone(),
        status,
        question: unfenced(&stored.question),
        choices: stored.choices.iter().map(|choice| line(choice)).collect(),
        session_id: record.session.clone(),
        run_id: record.run.clone(),
        answer,
        created_at: UnixMillis(record.at).as_seconds(),
        expires_at: stored.expires_at.as_seconds(),
    }
}

fn settled_already(record: &Record, stored: &StoredClarification) -> GateError {
    let how = match &stored.answer {
        Some(answer) => format!("answered by {}", answer.by),
        None => record.status.clone(),
    };
    GateError::AlreadySettled {
        kind: "clarification",
        how,
    }
}
