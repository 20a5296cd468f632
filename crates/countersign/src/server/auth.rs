//! Who is asking: a bearer key, or the page's cookie.

use countersign_gate::principal::Principal;

/// Whoever sent the request, proven by a key or a cookie.
#[derive(Clone, Debug)]
pub(crate) struct Caller(pub(crate) Principal);
