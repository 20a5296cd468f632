//! What the tests of several crates need to start. No part of the product.

pub mod mattermost;
pub mod model;
pub mod postgres;
pub mod relay;
pub mod smtp;
