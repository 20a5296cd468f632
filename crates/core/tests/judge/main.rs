//! Judges single calls: tools, commands, languages, policies and grants.
//!
//! One binary, because each costs a link.

mod arguments;
mod closed_holes;
mod code;
mod code_again;
mod definitions;
mod depth;
mod disclosed;
mod everyday;
mod everyday_again;
mod fresh;
mod grant;
mod holes_again;
mod knowledge;
mod language;
mod linear;
mod names;
mod nearby;
mod owners;
mod places;
mod policy;
#[path = "../support/processor.rs"]
mod processor;
mod quiet;
mod quiet_again;
mod reached;
mod regressions;
mod sample_again;
mod shell_again;
mod started;
mod strangers;
mod tools;
mod tools_again;
mod trust;
mod twins;
mod typed;
mod windows_again;
mod windows_shells;
