//! The built-in agent: model client, loop, tools, each dispatched through the gate.
//!
//! Reading order: [`message`] is what is said between people, model and tools; [`model`] talks to a
//! model; [`tools`] are what the agent can do, each only with a permit of the gate.

pub mod message;
pub mod model;
pub mod tools;

use std::future::Future;
use std::pin::Pin;

/// A future that can be kept behind `dyn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
