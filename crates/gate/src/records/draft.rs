//! Small things the parts of the gate share: the entry that tells of an event, a list read whole.

use countersign_core::ledger::Draft;
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Query, Record, StoreError};
use serde_json::{Map, Value, json};

use crate::base::principal::Principal;
use crate::{Gate, GateError};

/// How often a change is tried again because somebody else was faster.
pub(crate) const ATTEMPTS_MAX: usize = 16;

/// Returns the entry that tells of `event` about `subject`; `body` is what is shown of it.
pub(crate) fn told(now: UnixMillis, event: &str, subject: &str, body: Value) -> Draft {
    let mut shown = Map::new();
    shown.insert("event".to_owned(), Value::from(event));
    if let Value::Object(fields) = body {
        shown.extend(fields);
    }
    shown.insert("timestamp".to_owned(), Value::from(now.as_seconds()));
    Draft {
        at: now,
        event: event.to_owned(),
        subject: subject.to_owned(),
        body: Value::Object(shown).to_string(),
        ..Draft::default()
    }
}

impl Gate {
    /// Records that `who` is about to change `key` of the configuration. The value is not
    /// recorded: it may be a secret.
    pub async fn note_config_change(&self, who: &Principal, key: &str) -> Result<(), GateError> {
        if !who.role.administers() {
            return Err(GateError::Forbidden(
                "only admins can change the configuration",
            ));
        }
        let body = json!({ "key": key, "by": who.name, "via": who.via });
        let entry = told(self.inner.clock.now(), "config.changed", key, body);
        let change = Change {
            puts: Vec::new(),
            entries: vec![entry],
        };
        self.inner.store.commit(change).await?;
        Ok(())
    }

    /// Returns everything `query` asks for, page by page.
    pub(crate) async fn find_all(&self, mut query: Query) -> Result<Vec<Record>, StoreError> {
        let mut found = Vec::new();
        loop {
            let page = self.inner.store.find(query.clone()).await?;
            let full = page.len() >= usize::try_from(query.limit).unwrap_or(usize::MAX);
            query.behind = page.last().map(|last| (last.at, last.id.clone()));
            found.extend(page);
            if !full {
                return Ok(found);
            }
        }
    }
}
