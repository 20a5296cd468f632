//! Handlers: translate requests to gate calls and results to JSON.

pub(crate) mod admin;
pub(crate) mod approvals;
pub(crate) mod calls;
pub(crate) mod channels;
pub(crate) mod chat;
pub(crate) mod clarifications;
pub(crate) mod devices;
pub(crate) mod grants;
pub(crate) mod history;
pub(crate) mod login;
pub(crate) mod mcp;
pub(crate) mod operations;
pub(crate) mod page;
pub(crate) mod practice;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod usage;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::App;
use super::problem::Problem;

/// The extractor for the state shared by all handlers.
pub(crate) type Reach = State<Arc<App>>;

/// An answer, or why there is none.
pub(crate) type Answer<T> = Result<Json<T>, Problem>;
