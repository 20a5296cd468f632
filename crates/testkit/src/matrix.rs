//! A strict Matrix: a homeserver on loopback that enforces the rules of the client-server API.
//!
//! Every request is checked against the fields that the specification describes (`schema`), events
//! against their types and the 65536 bytes of an event, membership and power levels. A transaction id
//! sends an event once, a second equal reaction is refused, an edit shows only if it is its author's,
//! and what is redacted is gone. It refuses with the real error codes. There is no federation and no
//! encryption in it; that a room is encrypted is a part of its state.
//!
//! People act through [`Person`], which speaks the same API and can do so with a real homeserver.

mod error;
mod person;
mod rooms;
mod routes;
mod schema;
mod server;
mod sync;
mod world;

pub use person::{Person, Said, Views};
pub use server::{Fault, Hit, MatrixServer};
pub use world::Limit;
