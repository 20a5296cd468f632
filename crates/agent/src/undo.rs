//! Undo: restores a file to its state before a call, after a review.

use std::path::{Path, PathBuf};

use countersign_core::card::{Redacts, without_secrets};
use countersign_core::display::unfenced;
use countersign_gate::base::principal::Principal;
use countersign_gate::reviews::{Held, ReviewView, SNAPSHOT_BYTES_MAX, Settled, Snapshot, Undoing};
use countersign_gate::{Gate, GateError};

use crate::tools::{Spot, Staged, host, unmake};

/// Why something was not undone. The file is as it was found.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// The gate says no.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The file is neither as the call left it nor as it was before.
    #[error(
        "{path} has changed since, so it was not restored\n\nchange by the call:\n{done}\nchange since:\n{since}"
    )]
    Changed {
        /// The file.
        path: String,
        /// The change by the call.
        done: String,
        /// The change since.
        since: String,
    },
    /// The file cannot be read or written.
    #[error("{0}")]
    File(String),
}

/// Undoes what a review is about and settles it. What the built-in agent did is put back here;
/// another agent is told to undo what it did.
pub async fn undo(gate: &Gate, who: &Principal, review: &str) -> Result<ReviewView, UndoError> {
    let Some(snapshot) = gate.begin_undo(who, review).await? else {
        return Ok(gate.settle_review(who, review, Settled::Undo).await?);
    };
    let put_back = tokio::task::spawn_blocking(move || put_back(&snapshot)).await;
    let put_back = put_back.unwrap_or_else(|error| Err(UndoError::File(error.to_string())));
    match put_back {
        Ok(()) => Ok(gate.finish_undo(who, review, Undoing::Done).await?),
        Err(error) => {
            gate.finish_undo(who, review, Undoing::NotDone).await?;
            Err(error)
        }
    }
}

fn put_back(snapshot: &Snapshot) -> Result<(), UndoError> {
    let path = Path::new(&snapshot.path);
    let Some(spot) = Spot::find(path).map_err(UndoError::File)? else {
        // Its directory is gone, and the file with it.
        return match snapshot.before {
            Held::Absent => already_there(snapshot),
            Held::File { .. } => Err(changed(snapshot, &Held::Absent)),
        };
    };
    let now = spot.read(SNAPSHOT_BYTES_MAX).map_err(UndoError::File)?;
    if now == snapshot.before {
        return already_there(snapshot);
    }
    if now != snapshot.after {
        return Err(changed(snapshot, &now));
    }
    match &snapshot.before {
        Held::Absent => {
            spot.remove().map_err(UndoError::File)?;
            let made: Vec<PathBuf> = snapshot.made.iter().map(PathBuf::from).collect();
            unmake(&made);
        }
        Held::File { content, mode } => {
            let staged = spot.stage(content, Some(*mode));
            staged.and_then(Staged::publish).map_err(UndoError::File)?;
        }
    }
    Ok(())
}

/// Says that nothing has to be done, unless the file was changed on another machine: there it may
/// well be as the call left it.
fn already_there(snapshot: &Snapshot) -> Result<(), UndoError> {
    if snapshot.host == host() {
        return Ok(());
    }
    Err(UndoError::File(format!(
        "{} was changed on {}; undo it at the gateway there",
        snapshot.path, snapshot.host
    )))
}

fn changed(snapshot: &Snapshot, now: &Held) -> UndoError {
    UndoError::Changed {
        path: snapshot.path.clone(),
        done: shown(&snapshot.diff()),
        since: shown(&snapshot.diff_since(now)),
    }
}

fn shown(diff: &str) -> String {
    unfenced(&without_secrets(diff, Redacts::Secrets))
}
