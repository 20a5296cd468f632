//! A few words a record says of itself, compared with what the ledger says of it.

/// The entries about one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// How it began.
    pub(crate) begun: String,
    /// How it ended, or empty.
    pub(crate) ended: String,
    /// How often it was used, or by what.
    pub(crate) used: String,
}
