//! The key that seals buttons: random, created once, stored in the database for all replicas.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_channels::seal::Seal;
use countersign_store::{Change, Database, Expect, Kind, Put, Record, StoreError};
use serde::{Deserialize, Serialize};

use crate::base::random::random;
use crate::records::stored::{read, written};

/// The name of the one key there is.
const CURRENT: &str = "current";

/// The key as it is kept.
#[derive(Serialize, Deserialize)]
struct StoredKey {
    key: String,
}

/// Returns the key of `store`, which is made if it is not there.
pub(crate) async fn load_or_create(store: &Database) -> Result<Seal, StoreError> {
    if let Some(seal) = load(store).await? {
        return Ok(seal);
    }
    let stored = StoredKey {
        key: STANDARD.encode(random::<32>()),
    };
    let put = Put {
        record: Record::new(Kind::ButtonKey, CURRENT.to_owned(), 0, written(&stored)),
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
    let unreadable = || StoreError::Unavailable {
        why: "the key of buttons cannot be read",
        cause: "it was just written".into(),
    };
    load(store).await?.ok_or_else(unreadable)
}

async fn load(store: &Database) -> Result<Option<Seal>, StoreError> {
    let Some(record) = store.get(Kind::ButtonKey, CURRENT).await? else {
        return Ok(None);
    };
    let stored: StoredKey = read(&record)?;
    let bytes = STANDARD.decode(&stored.key).ok();
    let key: Option<[u8; 32]> = bytes.and_then(|bytes| bytes.try_into().ok());
    key.map(|key| Some(Seal::new(key)))
        .ok_or_else(|| StoreError::Unavailable {
            why: "the key of buttons cannot be read",
            cause: "it is not 32 bytes".into(),
        })
}
