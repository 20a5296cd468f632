//! Chats: presses on cards, and conversations with the built-in agent.

pub mod click;
mod edits;
mod refusal;
pub(crate) mod seal_key;

use std::sync::Arc;

use crate::approvals::Approvals;
use crate::base::Base;
use crate::clarifications::Clarifications;
use crate::delivery::Delivery;
use crate::grants::Grants;
use crate::people::People;

/// Presses on cards in chats.
#[derive(Debug)]
pub struct Chats {
    base: Arc<Base>,
    people: Arc<People>,
    grants: Arc<Grants>,
    approvals: Arc<Approvals>,
    clarifications: Arc<Clarifications>,
    delivery: Arc<Delivery>,
    edits: edits::Edits,
}

impl Chats {
    pub(crate) fn new(
        base: Arc<Base>,
        people: Arc<People>,
        grants: Arc<Grants>,
        approvals: Arc<Approvals>,
        clarifications: Arc<Clarifications>,
        delivery: Arc<Delivery>,
    ) -> Self {
        Self {
            base,
            people,
            grants,
            approvals,
            clarifications,
            delivery,
            edits: edits::Edits::default(),
        }
    }
}
