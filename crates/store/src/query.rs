//! What can be asked of the records.

use crate::Kind;

/// Which end of time comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The oldest.
    #[default]
    OldestFirst,
    /// The newest.
    NewestFirst,
}

/// A question about records: everything that is set must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// What kind.
    pub kind: Kind,
    /// Exactly this status.
    pub status: Option<String>,
    /// Of this key.
    pub owner: Option<String>,
    /// Of this session.
    pub session: Option<String>,
    /// Of this run.
    pub run: Option<String>,
    /// Found by this.
    pub link: Option<String>,
    /// Made at or after this moment.
    pub since: Option<i64>,
    /// Due at or before this moment.
    pub due_by: Option<i64>,
    /// Behind this record, in the order asked for: its `at` and id.
    pub behind: Option<(i64, String)>,
    /// Which end first; equal times are ordered by id.
    pub order: Order,
    /// At most so many.
    pub limit: u32,
}

impl Query {
    /// Asks for all records of `kind`, the oldest first, a thousand at most.
    pub const fn of(kind: Kind) -> Self {
        Self {
            kind,
            status: None,
            owner: None,
            session: None,
            run: None,
            link: None,
            since: None,
            due_by: None,
            behind: None,
            order: Order::OldestFirst,
            limit: 1000,
        }
    }
}
