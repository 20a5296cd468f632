//! Handlers: what a request says, turned into what the gate is asked, and its answer into JSON.

pub(crate) mod admin;
pub(crate) mod approvals;
pub(crate) mod calls;
pub(crate) mod channels;
pub(crate) mod chat;
pub(crate) mod clarifications;
pub(crate) mod grants;
pub(crate) mod history;
pub(crate) mod login;
pub(crate) mod operations;
pub(crate) mod page;
pub(crate) mod practice;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod usage;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::App;
use super::problem::Problem;

/// What every handler can reach, as a handler asks for it.
pub(crate) type Reach = State<Arc<App>>;

/// An answer, or why there is none.
pub(crate) type Answer<T> = Result<Json<T>, Problem>;
