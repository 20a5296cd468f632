//! Records changes of the configuration.

use countersign_store::Change;

use crate::GateError;
use crate::base::principal::Principal;
use crate::ledger::Ledger;
use crate::records::event::{ConfigChanged, Event};

impl Ledger {
    /// Records that `who` is about to change `key` of the configuration. The value is not
    /// recorded: it may be a secret.
    pub async fn note_config_change(&self, who: &Principal, key: &str) -> Result<(), GateError> {
        if !who.role.administers() {
            return Err(GateError::Forbidden(
                "only admins can change the configuration",
            ));
        }
        let now = self.base.clock.now();
        let event = Event::ConfigChanged(ConfigChanged {
            key: key.to_owned(),
            by: who.name.clone(),
            via: who.via.clone(),
            timestamp: now.as_seconds(),
        });
        let change = Change {
            puts: Vec::new(),
            entries: vec![event.draft(key, now)],
        };
        self.base.store.commit(change).await?;
        Ok(())
    }
}
