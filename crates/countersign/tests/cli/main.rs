//! The binary as people and scripts meet it.

mod check;
mod config;
mod eval;
mod support;
