//! `Around`: the surroundings of a tool call: gate, principal, directory, run and stop signal.
//!
//! Separate from `tools`, because senders (`outbound`) need it too and tools need those.

use std::path::PathBuf;

use countersign_gate::Gate;
use countersign_gate::base::principal::Principal;
use countersign_gate::calls::permit::Permit;
use tokio::sync::watch;

/// What a tool finds around it.
#[derive(Clone, Debug)]
pub struct Around {
    /// The gate.
    pub gate: Gate,
    /// As whom the agent asks.
    pub who: Principal,
    /// The directory the run works in: absolute, and no part of it is a link, because calls are
    /// judged by what a path says and not by where it leads.
    pub cwd: PathBuf,
    /// The session.
    pub session: String,
    /// The run.
    pub run: String,
    /// Becomes true when the run is stopped.
    pub stop: watch::Receiver<bool>,
}

impl Around {
    /// Whether the run is stopped.
    pub fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Returns when the run is stopped.
    pub async fn stopped(&self) {
        let mut stop = self.stop.clone();
        // Whoever could stop it is gone only when it is driven elsewhere.
        let _stopped = stop.wait_for(|stop| *stop).await;
    }

    /// Returns the directory a permitted call was judged in.
    pub(crate) fn directory(&self, permit: &Permit) -> PathBuf {
        let judged = permit.action().cwd.as_ref();
        judged.map_or_else(|| self.cwd.clone(), PathBuf::from)
    }
}
