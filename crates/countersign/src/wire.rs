//! The JSON that programs outside rely on: calls as they come in.

pub(crate) mod call;
