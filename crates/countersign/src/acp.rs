//! `countersign acp -- AGENT…`: stands between an editor and an agent that speak the Agent Client
//! Protocol, and answers the agent's questions for permission.
//!
//! Every line passes to the byte in both directions, except `session/request_permission`: it is put to
//! the gateway as a call, and the agent is told what the rules or a person decided. The editor does
//! not see it. Whatever goes wrong is a rejection.
//!
//! INVARIANT: no environment variable says where the home or the gateway is, or which key is used,
//! as for hooks: a project can set variables of the editor that works on it.

mod ask;
mod held;
mod line;
mod message;
mod permission;
mod relay;
mod report;
mod sessions;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use crate::client::Reach;
use crate::complaint::Complaint;
use crate::config::Home;
use crate::hook;

/// The name of the key that is used unless another is named.
pub(crate) const NAME: &str = "acp";

/// An agent that is to be run.
#[derive(Debug)]
pub(crate) struct Start {
    /// Its program.
    pub(crate) program: OsString,
    /// Its arguments.
    pub(crate) arguments: Vec<OsString>,
}

/// Runs the agent until it ends, and returns its exit code.
pub(crate) fn run(start: &Start, reach: &Reach) -> Result<ExitCode, Complaint> {
    let home = Home::named_or_usual(reach.home.clone())?;
    let own = hook::directory(&home).join(format!("{NAME}.key"));
    let key_file = reach.key_file.clone().unwrap_or(own);
    if !key_file.exists() {
        return Err(no_key(&key_file));
    }
    let reach = Reach {
        home: Some(home.directory().to_owned()),
        url: reach.url.clone(),
        key_file: Some(key_file),
        asks_for_agent: true,
    };
    relay::run(start, reach)
}

fn no_key(file: &Path) -> Complaint {
    Complaint::usage(
        format!("there is no key in {}", file.display()),
        format!("`countersign init {NAME}` creates it; or name another with --key-file FILE"),
    )
}
