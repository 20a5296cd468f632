//! What is recorded for others: changes that happen beside the gate and belong in the ledger.

use countersign_core::ledger::Draft;
use countersign_store::Change;
use serde_json::json;

use crate::principal::Principal;
use crate::{Gate, GateError};

impl Gate {
    /// Records that `who` is about to change `key` of the configuration. The value is not
    /// recorded: it may be a secret.
    pub async fn note_config_change(&self, who: &Principal, key: &str) -> Result<(), GateError> {
        if !who.role.administers() {
            return Err(GateError::Forbidden(
                "only an admin changes the configuration",
            ));
        }
        let at = self.clock().now();
        let body = json!({
            "event": "config.changed",
            "key": key,
            "by": who.name,
            "via": who.via,
            "timestamp": at.as_seconds(),
        });
        let entry = Draft {
            at,
            event: "config.changed".to_owned(),
            subject: key.to_owned(),
            body: body.to_string(),
            ..Draft::default()
        };
        let change = Change {
            puts: Vec::new(),
            entries: vec![entry],
        };
        self.store().commit(change).await?;
        Ok(())
    }
}
