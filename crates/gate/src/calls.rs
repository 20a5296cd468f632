//! Calls of agents: submitting, waiting for the answer, tokens, permits, reports.

pub(crate) mod assessors;
pub mod flood;
pub(crate) mod idempotency;
mod let_run;
pub(crate) mod lifecycle;
pub mod permit;
pub(crate) mod sending;
pub mod submit;

use std::sync::Arc;

use crate::approvals::Approvals;
use crate::base::Base;
use crate::grants::Grants;
use crate::ledger::Ledger;
use crate::people::People;
use crate::sessions::Sessions;
use assessors::Assessors;
use flood::Floods;

/// Calls of agents.
#[derive(Debug)]
pub struct Calls {
    base: Arc<Base>,
    ledger: Arc<Ledger>,
    people: Arc<People>,
    sessions: Arc<Sessions>,
    grants: Arc<Grants>,
    approvals: Arc<Approvals>,
    assessors: Assessors,
    floods: Floods,
}

impl Calls {
    pub(crate) fn new(
        base: Arc<Base>,
        ledger: Arc<Ledger>,
        people: Arc<People>,
        sessions: Arc<Sessions>,
        grants: Arc<Grants>,
        approvals: Arc<Approvals>,
    ) -> Self {
        Self {
            base,
            ledger,
            people,
            sessions,
            grants,
            approvals,
            assessors: Assessors::default(),
            floods: Floods::default(),
        }
    }
}
