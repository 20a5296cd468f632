//! The gate's data: requests, stored records, ledger entries and events, views, errors.

pub(crate) mod account;
pub(crate) mod deliveries;
pub(crate) mod entries;
pub mod error;
pub mod event;
pub mod fold;
pub mod identifiers;
pub(crate) mod kept_key;
pub(crate) mod lookup;
pub mod request;
pub(crate) mod retry;
pub mod schema;
pub(crate) mod short_ids;
pub(crate) mod stored;
pub mod view;
