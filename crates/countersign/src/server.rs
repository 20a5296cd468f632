//! The HTTP side of the gateway: routes, who may use them, and what they answer.
//!
//! Handlers turn JSON into what the gate is asked and its answer into JSON. They hold no rules:
//! what a role may do is the gate's to say, and the router's to refuse early.

pub(crate) mod auth;
pub(crate) mod problem;

use countersign_gate::Gate;

/// What every handler can reach.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) gate: Gate,
}
