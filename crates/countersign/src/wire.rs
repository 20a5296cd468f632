//! The JSON that programs outside rely on: calls as they come in, assessments as they go out.

pub(crate) mod assessment;
pub(crate) mod call;
pub(crate) mod strict;
