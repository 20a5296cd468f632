//! Records the calls that hooks of this home let run without asking.

use std::collections::BTreeSet;
use std::time::Duration;

use countersign_gate::base::principal::Principal;
use countersign_gate::{Gate, GateError};

use crate::config::Home;
use crate::hook;
use crate::hook::spool::{self, Entry, Spool};
use crate::wire::requests::CallBody;

/// How often the home is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// Records what hooks leave in `home`, for as long as the gateway runs.
pub(crate) async fn collect(gate: Gate, home: Home) {
    let directory = hook::directory(&home);
    let mut warned = BTreeSet::new();
    loop {
        tokio::time::sleep(EVERY).await;
        for spool in spool::all(&directory) {
            let agent = spool.agent().to_owned();
            match record_all(&gate, &home, &spool).await {
                Ok(()) => {
                    warned.remove(&agent);
                }
                Err(why) if warned.insert(agent.clone()) => {
                    tracing::warn!(%agent, %why, "calls that its hook let run are not recorded yet");
                }
                Err(_) => {}
            }
        }
    }
}

async fn record_all(gate: &Gate, home: &Home, spool: &Spool) -> Result<(), String> {
    if !spool.has_entries() {
        return Ok(());
    }
    let file = hook::directory(home).join(format!("{}.key", spool.agent()));
    let key = std::fs::read_to_string(&file)
        .map_err(|error| format!("no key in {}: {error}", file.display()))?;
    let who = gate.authenticate(key.trim()).await;
    let who = who.map_err(|error| error.to_string())?;
    while let Some(taken) = spool.take().await.map_err(|error| error.to_string())? {
        for entry in &taken.entries {
            match record(gate, &who, entry).await {
                Ok(()) => {}
                Err(error @ (GateError::Store(_) | GateError::TooMany { .. })) => {
                    return Err(error.to_string());
                }
                // It will not become better; the rest goes on.
                Err(error) => tracing::warn!(%error, id = entry.id, "a call cannot be recorded"),
            }
        }
        taken.finish().map_err(|error| error.to_string())?;
    }
    Ok(())
}

async fn record(gate: &Gate, who: &Principal, entry: &Entry) -> Result<(), GateError> {
    let body = serde_json::from_value::<CallBody>(entry.call.clone());
    let body = body.map_err(|error| GateError::Invalid {
        param: "call",
        code: "invalid_body",
        message: error.to_string(),
    })?;
    let submission = body.submission(Some(entry.id.clone()))?;
    if submission.let_run_at.is_none() {
        return Err(GateError::Invalid {
            param: "let_run_at",
            code: "invalid_body",
            message: "`let_run_at` is missing".to_owned(),
        });
    }
    gate.submit(who, submission).await.map(drop)
}
