//! MCP over Streamable HTTP: what both sides of it need.
//!
//! Separate from standard input and output, where a message is a line: here it is a request, an answer
//! or an event, and headers repeat what it says.

pub(crate) mod mirror;
pub(crate) mod remote;
pub(crate) mod spoken;
pub(crate) mod sse;
