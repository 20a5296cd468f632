//! Keys that are random, created once, and stored in the database for all replicas.
//!
//! Separate because several rooms have such a key and all of them need the same care: of two
//! gateways that start at once, one makes it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_store::{Change, Database, Expect, Kind, Put, Record, StoreError};
use serde::{Deserialize, Serialize};

use crate::records::stored::{read, written};

/// The name of the one key there is of a kind.
const CURRENT: &str = "current";

/// The key as it is kept.
#[derive(Serialize, Deserialize)]
struct StoredKey {
    key: String,
}

/// Returns the key of this `kind` in `store`; `fresh` is kept if there is none.
pub(crate) async fn load_or_create(
    store: &Database,
    kind: Kind,
    fresh: &[u8],
) -> Result<Vec<u8>, StoreError> {
    if let Some(key) = load(store, kind).await? {
        return Ok(key);
    }
    let stored = StoredKey {
        key: STANDARD.encode(fresh),
    };
    let put = Put {
        record: Record::new(kind, CURRENT.to_owned(), 0, written(&stored)),
        expect: Expect::Absent,
    };
    let change = Change {
        puts: vec![put],
        entries: Vec::new(),
    };
    match store.commit(change).await {
        // Another gateway may have made one at the same moment; that one counts then.
        Ok(_) | Err(StoreError::Conflict { .. }) => {}
        Err(error) => return Err(error),
    }
    let key = load(store, kind).await?;
    key.ok_or_else(|| unreadable("it was just written"))
}

/// The error for a key that cannot be used.
pub(crate) fn unreadable(cause: &str) -> StoreError {
    StoreError::Unavailable {
        why: "a stored key cannot be read",
        cause: cause.to_owned().into(),
    }
}

async fn load(store: &Database, kind: Kind) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(record) = store.get(kind, CURRENT).await? else {
        return Ok(None);
    };
    let stored: StoredKey = read(&record)?;
    let key = STANDARD.decode(&stored.key).ok();
    key.map(Some).ok_or_else(|| unreadable("it is not base64"))
}
