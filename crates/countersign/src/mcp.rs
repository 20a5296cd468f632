//! `countersign mcp`: stands between a client and a server of the Model Context Protocol.
//!
//! Everything passes byte for byte but `tools/call`, which the gateway decides about. The proxy is a
//! program like any other to the gateway: it asks over HTTP, with an agent's key, and it holds no rule.
//!
//! INVARIANT: what may be a call and cannot be read is not forwarded, and a call is not forwarded
//! without the gateway's yes, whoever cancels, retries, or answers for the person.

pub(crate) mod call;
pub(crate) mod configured;
mod definitions;
pub(crate) mod gatekeeper;
pub(crate) mod hold;
pub(crate) mod http;
mod link;
pub(crate) mod message;
pub(crate) mod stdio;
pub(crate) mod way;

/// Longest name of a server, in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 64;
/// What a name of a server consists of.
pub(crate) const NAME_HINT: &str =
    "use up to 64 letters, digits, `-`, `.` and single `_`, and no `_` at either end";

/// Whether a server may have this name. It stands inside names of tools: with two underscores in it, or one
/// at its end, the tool of one server would have the name of another's.
pub(crate) fn may_name_a_server(name: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && name.chars().all(is_plain)
        && !name.contains("__")
        && !name.starts_with('_')
        && !name.ends_with('_')
}
