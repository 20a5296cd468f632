//! The key that seals buttons.

use countersign_channels::seal::Seal;
use countersign_store::{Database, Kind, StoreError};

use crate::base::random::random;
use crate::records::kept_key;

/// Returns the key of `store`, which is made if it is not there.
pub(crate) async fn load_or_create(store: &Database) -> Result<Seal, StoreError> {
    let key = kept_key::load_or_create(store, Kind::ButtonKey, &random::<32>()).await?;
    let key = key.try_into();
    key.map(Seal::new)
        .map_err(|_| kept_key::unreadable("it is not 32 bytes"))
}
