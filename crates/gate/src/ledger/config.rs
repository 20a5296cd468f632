//! Records changes of the configuration.

use countersign_store::Change;
use serde_json::json;

use crate::GateError;
use crate::base::principal::Principal;
use crate::ledger::Ledger;
use crate::records::draft::told;

impl Ledger {
    /// Records that `who` is about to change `key` of the configuration. The value is not
    /// recorded: it may be a secret.
    pub async fn note_config_change(&self, who: &Principal, key: &str) -> Result<(), GateError> {
        if !who.role.administers() {
            return Err(GateError::Forbidden(
                "only admins can change the configuration",
            ));
        }
        let body = json!({ "key": key, "by": who.name, "via": who.via });
        let entry = told(self.base.clock.now(), "config.changed", key, body);
        let change = Change {
            puts: Vec::new(),
            entries: vec![entry],
        };
        self.base.store.commit(change).await?;
        Ok(())
    }
}
