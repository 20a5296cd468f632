//! What the owner decided about the gate itself, and where policies come from.

use std::sync::Arc;

use countersign_core::policy::Policy;

/// What the owner decided about the gate itself.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a question waits, in milliseconds.
    pub timeout_millis: i64,
    /// How long a denial is remembered, in milliseconds.
    pub deny_memory_millis: i64,
    /// How long an allowing answer can be taken back, in milliseconds.
    pub undo_millis: i64,
    /// How long a token lives, in seconds.
    pub token_seconds: i64,
    /// Whether who started a run of the built-in agent may answer its cards.
    pub starter_may_answer: bool,
    /// The `iss` of tokens.
    pub issuer: String,
    /// Programs that may raise what the judge concludes.
    pub assessors: Vec<AssessorSettings>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout_millis: 5 * 60 * 1000,
            deny_memory_millis: 10 * 60 * 1000,
            undo_millis: 0,
            token_seconds: 120,
            starter_may_answer: true,
            issuer: "countersign".to_owned(),
            assessors: Vec::new(),
        }
    }
}

/// A program that may raise what the judge concludes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssessorSettings {
    /// How it is asked.
    pub reach: AssessorReach,
    /// How long it may take, in milliseconds.
    pub timeout_millis: u64,
    /// Whether it may lower, too.
    pub may_lower: bool,
}

/// How an assessor is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssessorReach {
    /// A shell command that reads JSON and writes JSON.
    Command(String),
    /// An address that is sent JSON and answers JSON.
    Url(String),
}

/// Where policies come from: the owner's file, and what projects tighten.
pub trait Policies: Send + Sync + std::fmt::Debug {
    /// Returns the policy for a call from `cwd`, and a hash of it; or why it cannot be read.
    fn at(&self, cwd: Option<&str>) -> Result<Arc<Ruleset>, String>;
}

/// A policy and the hash it is known by.
#[derive(Clone, Debug)]
pub struct Ruleset {
    /// The policy.
    pub policy: Policy,
    /// SHA-256 of what it was read from, 64 hexadecimal digits.
    pub hash: String,
}

/// The same policy everywhere.
#[derive(Clone, Debug)]
pub struct OnePolicy(pub Arc<Ruleset>);

impl OnePolicy {
    /// Returns `policy` for every directory.
    pub fn new(policy: Policy) -> Self {
        Self(Arc::new(Ruleset {
            policy,
            hash: "0".repeat(64),
        }))
    }
}

impl Policies for OnePolicy {
    fn at(&self, _cwd: Option<&str>) -> Result<Arc<Ruleset>, String> {
        Ok(Arc::clone(&self.0))
    }
}
