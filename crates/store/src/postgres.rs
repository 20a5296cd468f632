//! To be written.

use countersign_core::digest::Digest;
use countersign_core::ledger::{Entry, GENESIS};

use crate::{Change, Kind, Query, Record, StoreError, Tail};

/// The store on Postgres.
#[derive(Clone, Debug)]
pub struct Postgres {
    tail: Tail,
}

impl Postgres {
    pub(crate) async fn open(url: &str) -> Result<Self, StoreError> {
        let _ = url;
        Ok(Self {
            tail: Tail::behind(0),
        })
    }

    pub(crate) async fn commit(&self, change: Change) -> Result<Vec<Entry>, StoreError> {
        let _ = self.tail.publish([]);
        drop(change);
        Err(StoreError::Closed)
    }

    pub(crate) fn append(&self, change: Change) -> Result<(), StoreError> {
        drop(change);
        Err(StoreError::Closed)
    }

    pub(crate) async fn get(&self, kind: Kind, id: &str) -> Result<Option<Record>, StoreError> {
        let _ = (kind, id);
        Ok(None)
    }

    pub(crate) async fn find(&self, query: Query) -> Result<Vec<Record>, StoreError> {
        drop(query);
        Ok(Vec::new())
    }

    pub(crate) async fn count(&self, query: Query) -> Result<u64, StoreError> {
        drop(query);
        Ok(0)
    }

    pub(crate) async fn entries(&self, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError> {
        let _ = (after, limit);
        Ok(Vec::new())
    }

    pub(crate) async fn last(&self) -> Result<(u64, Digest), StoreError> {
        Ok((0, GENESIS))
    }

    pub(crate) const fn tail(&self) -> &Tail {
        &self.tail
    }

    pub(crate) async fn close(&self) {}
}
