//! The ledger: an append-only log whose entries are chained by hashes.
//!
//! An entry carries the event people and programs are shown, never a secret: what was redacted is
//! there as a salted commitment, so deleting the salt erases it and the chain still verifies.
//!
//! A chain alone shows that something was changed, not that all of it was written anew: who can
//! write the whole file can hash the whole file. For that there are signed [`checkpoint`]s in the
//! chain, and heads of the chain kept elsewhere, which the [`Verifier`] holds it against.

pub mod checkpoint;
pub mod head;
mod verifier;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use self::verifier::{Verified, Verifier};
use crate::digest::Digest;
use crate::time::UnixMillis;

const DOMAIN: &[u8] = b"countersign/v1/ledger\0";

/// The hash before the first entry.
pub const GENESIS: Digest = Digest([0; 32]);

/// An entry before it has its place in the chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// When it happened.
    pub at: UnixMillis,
    /// What happened: `approval.required`, `grant.revoked` …
    pub event: String,
    /// The key whose doing it is about; the agent behind it may see it. Empty: people only.
    pub owner: String,
    /// The run it belongs to, or empty.
    pub run: String,
    /// The session it belongs to, or empty.
    pub session: String,
    /// The id of the thing it is about, or empty.
    pub subject: String,
    /// The event as it is shown, a JSON object.
    pub body: String,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// The hash of the entry before it.
    pub previous: Digest,
    /// Its own hash.
    pub hash: Digest,
    /// What it says.
    #[serde(flatten)]
    pub draft: Draft,
}

impl Entry {
    /// Returns `draft` as the entry number `seq` behind `previous`.
    pub fn seal(draft: Draft, seq: u64, previous: Digest) -> Self {
        let hash = hash(&draft, seq, previous);
        Self {
            seq,
            previous,
            hash,
            draft,
        }
    }

    /// Returns the entry as one line of a file.
    pub fn line(&self) -> String {
        // Our own types with text keys; writing them to memory cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a line that [`Entry::line`] wrote. Any other spelling is refused, so that nothing can
    /// be added that is not hashed.
    pub fn from_line(line: &str) -> Option<Self> {
        let entry: Self = serde_json::from_str(line).ok()?;
        (entry.line() == line).then_some(entry)
    }
}

/// Returns the salted commitment to `field`, 64 hexadecimal digits. The salt, 16 random bytes kept
/// beside the ledger, proves what was committed to; without it not even a guess can be tested.
pub fn commitment(salt: &[u8], field: &[u8]) -> String {
    // A key of any length is accepted, so there is always a first arm.
    Hmac::<Sha256>::new_from_slice(salt).map_or_else(
        |_| String::new(),
        |mut mac| {
            mac.update(field);
            Digest(mac.finalize().into_bytes().into()).hex()
        },
    )
}

/// The first entry that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("entry {seq}: {why}")]
pub struct BrokenChain {
    /// Its number, or the one that should stand there.
    pub seq: u64,
    /// What is wrong with it.
    pub why: &'static str,
}

/// Walks a chain entry by entry.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    seq: u64,
    hash: Digest,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            seq: 0,
            hash: GENESIS,
        }
    }
}

impl Walk {
    /// Continues behind an entry that is known to be good.
    pub const fn behind(seq: u64, hash: Digest) -> Self {
        Self { seq, hash }
    }

    /// Returns the last good entry's number and hash.
    pub const fn head(&self) -> (u64, Digest) {
        (self.seq, self.hash)
    }

    /// Takes the next entry, if it is the one that belongs there.
    pub fn take(&mut self, entry: &Entry) -> Result<(), BrokenChain> {
        let broken = |why| BrokenChain {
            seq: self.seq + 1,
            why,
        };
        if entry.seq > self.seq + 1 {
            return Err(broken("an entry is missing before the next one"));
        }
        if entry.seq < self.seq + 1 {
            return Err(broken("an entry is duplicated or out of order"));
        }
        if entry.previous != self.hash {
            return Err(broken("it does not follow the entry before it"));
        }
        if entry.hash != hash(&entry.draft, entry.seq, entry.previous) {
            return Err(broken("it was changed"));
        }
        self.seq = entry.seq;
        self.hash = entry.hash;
        Ok(())
    }
}

fn hash(draft: &Draft, seq: u64, previous: Digest) -> Digest {
    let mut hash = Sha256::new();
    hash.update(DOMAIN);
    hash.update(previous.0);
    hash.update(seq.to_be_bytes());
    hash.update(draft.at.0.to_be_bytes());
    for part in [
        &draft.event,
        &draft.owner,
        &draft.run,
        &draft.session,
        &draft.subject,
        &draft.body,
    ] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    Digest(hash.finalize().into())
}
