//! `countersign mcp`: stands between a client and a server of the Model Context Protocol.
//!
//! Everything passes byte for byte but `tools/call`, which the gateway decides about. The proxy is a
//! program like any other to the gateway: it asks over HTTP, with an agent's key, and it holds no rule.
//!
//! INVARIANT: what may be a call and cannot be read is not forwarded, and a call is not forwarded
//! without the gateway's yes, whoever cancels, retries, or answers for the person.

pub(crate) mod call;
mod definitions;
pub(crate) mod gatekeeper;
pub(crate) mod hold;
pub(crate) mod http;
mod link;
pub(crate) mod message;
pub(crate) mod stdio;
pub(crate) mod way;
