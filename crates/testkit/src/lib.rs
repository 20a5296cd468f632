//! What the tests of several crates need to start. No part of the product.

pub mod model;
pub mod postgres;
pub mod smtp;
