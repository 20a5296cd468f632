//! Questions an agent asks a person. An answer is never consent.

use std::time::Duration;

use serde::Serialize;

use crate::principal::Principal;
use crate::view::Page;
use crate::{Gate, GateError};

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
#[derive(Clone, Debug, Serialize)]
pub struct ClarificationView {
    /// The question.
    pub clarification_id: String,
    /// `waiting`, `answered` or `expired`.
    pub status: String,
    /// The question's text.
    pub question: String,
    /// The choices.
    pub choices: Vec<String>,
    /// The session.
    pub session_id: String,
    /// The run.
    pub run_id: String,
    /// The answer: `{"answered":true,"choice","text"}` or `{"answered":false,"reason":"timeout"}`.
    pub answer: Option<serde_json::Value>,
    /// When it was asked, in seconds.
    pub created_at: f64,
    /// When it ends unanswered, in seconds.
    pub expires_at: f64,
}

impl Gate {
    /// Asks a question and waits for at most `wait`.
    pub async fn ask_person(
        &self,
        who: &Principal,
        question: Question,
        wait: Duration,
    ) -> Result<ClarificationView, GateError> {
        let _ = (who, question, wait, &self.inner);
        Err(GateError::NotFound {
            kind: "clarification",
            id: String::new(),
        })
    }

    /// Returns one question, waiting for at most `wait`.
    pub async fn clarification(
        &self,
        who: &Principal,
        id: &str,
        wait: Duration,
    ) -> Result<ClarificationView, GateError> {
        let _ = (who, id, wait, &self.inner);
        Err(GateError::NotFound {
            kind: "clarification",
            id: String::new(),
        })
    }

    /// Returns the questions that wait.
    pub async fn clarifications(
        &self,
        who: &Principal,
    ) -> Result<Page<ClarificationView>, GateError> {
        let _ = (who, &self.inner);
        Err(GateError::NotFound {
            kind: "clarification",
            id: String::new(),
        })
    }

    /// Answers one.
    pub async fn clarify(
        &self,
        who: &Principal,
        id: &str,
        reply: Clarified,
    ) -> Result<ClarificationView, GateError> {
        let _ = (who, id, reply, &self.inner);
        Err(GateError::NotFound {
            kind: "clarification",
            id: String::new(),
        })
    }
}
