//! The built-in agent: model client, loop, tools, each dispatched through the gate.
//!
//! Reading order: [`agent`] starts, stops and takes up runs; `drive` is the loop; `dispatch` is the
//! one way a tool is run. [`message`] is what is said between people, model and tools; [`model`]
//! talks to a model; [`tools`] are what the agent can do, each only with a permit of the gate;
//! [`outbound`] is what leaves the machine, each only with a person's yes; [`undo`] takes back what a
//! person does not keep; [`guard`] is what may be shown of an answer while it is written, [`feed`]
//! who hears it; [`auxiliary`] asks models for side tasks, [`smart`] is one of them; [`second_reader`] asks one whether
//! somebody is in crisis.

pub mod agent;
mod around;
pub mod auxiliary;
mod conversation;
mod dispatch;
mod drive;
pub mod feed;
pub mod guard;
pub mod message;
pub mod model;
pub mod outbound;
pub mod second_reader;
pub mod smart;
pub mod toolbox;
pub mod tools;
pub mod undo;

use std::future::Future;
use std::pin::Pin;

pub use agent::{Agent, AgentParts, CrisisNotices, Models, RunLimits, RunRequest};

/// A future that can be kept behind `dyn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
