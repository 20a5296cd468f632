//! Verifies a whole ledger: its chain, its checkpoints, and a head kept elsewhere.

use std::collections::VecDeque;

use super::checkpoint::{Checkpoint, EVENT, verify_checkpoint};
use super::{BrokenChain, Entry, Walk};
use crate::canonical;
use crate::digest::Digest;
use crate::token::PublicKey;

/// How many entries may stand between an entry and the checkpoint that speaks of it: several
/// gateways write one ledger, and what a busy one has queued is written in between. More than any
/// queue holds, and four megabytes of hashes.
const CHECKPOINT_LAG_MAX: usize = 128 * 1024;

/// Takes a ledger entry by entry and names the first that is not what it was.
#[derive(Clone, Debug, Default)]
pub struct Verifier {
    walk: Walk,
    keys: Option<Vec<PublicKey>>,
    anchor: Option<Checkpoint>,
    /// The hashes of the last good entries, the newest last.
    recent: VecDeque<Digest>,
    checkpoints: u64,
    signed: Option<Checkpoint>,
}

/// What a ledger was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many entries there are.
    pub entries: u64,
    /// How many of them are checkpoints.
    pub checkpoints: u64,
    /// How far a signature reaches. Behind it the chain holds, but who can write it could have
    /// written it anew or cut it off.
    pub signed: Option<Checkpoint>,
    /// The last entry, to be kept elsewhere.
    pub head: Checkpoint,
}

impl Verifier {
    /// Returns a verifier of a ledger from its beginning.
    ///
    /// With `keys`, checkpoints must be signed by one of them; without, by any key they name. With
    /// an `anchor`, a head kept elsewhere, that entry must be there and have that hash.
    pub fn new(keys: Option<Vec<PublicKey>>, anchor: Option<Checkpoint>) -> Self {
        Self {
            keys,
            anchor,
            ..Self::default()
        }
    }

    /// Takes the next line of a file of [`Entry::line`]s.
    pub fn take_line(&mut self, line: &str) -> Result<(), BrokenChain> {
        let entry =
            Entry::from_line(line).ok_or_else(|| self.broken("the line is not an entry"))?;
        self.take(&entry)
    }

    /// Takes the next entry.
    pub fn take(&mut self, entry: &Entry) -> Result<(), BrokenChain> {
        let mut walk = self.walk;
        walk.take(entry)?;
        if entry.draft.event == EVENT {
            self.take_checkpoint(&entry.draft.body)?;
        }
        let differs = |anchor: Checkpoint| anchor.seq == entry.seq && anchor.hash != entry.hash;
        if self.anchor.is_some_and(differs) {
            return Err(self.broken("it is not the entry that was kept elsewhere"));
        }
        self.walk = walk;
        if self.recent.len() == CHECKPOINT_LAG_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(entry.hash);
        Ok(())
    }

    /// Ends the ledger here and returns what it was found to be.
    pub fn finish(self) -> Result<Verified, BrokenChain> {
        let (seq, _) = self.walk.head();
        if self.anchor.is_some_and(|anchor| anchor.seq > seq) {
            return Err(self.broken("the ledger ends before the entry that was kept elsewhere"));
        }
        Ok(self.good())
    }

    /// Returns what the ledger was found to be so far.
    pub const fn good(&self) -> Verified {
        let (seq, hash) = self.walk.head();
        Verified {
            entries: seq,
            checkpoints: self.checkpoints,
            signed: self.signed,
            head: Checkpoint { seq, hash },
        }
    }

    fn take_checkpoint(&mut self, body: &str) -> Result<(), BrokenChain> {
        let body =
            canonical::parse(body.as_bytes()).map_err(|_| self.broken("it is not a checkpoint"))?;
        let checkpoint = verify_checkpoint(&body, self.keys.as_deref())
            .map_err(|error| self.broken(error.why()))?;
        let (head, _) = self.walk.head();
        let known = head
            .checked_sub(checkpoint.seq)
            .and_then(|back| usize::try_from(back).ok())
            .and_then(|back| self.recent.iter().rev().nth(back));
        if known != Some(&checkpoint.hash) {
            return Err(self.broken("the checkpoint belongs to another ledger"));
        }
        self.checkpoints += 1;
        if self.signed.is_none_or(|signed| signed.seq < checkpoint.seq) {
            self.signed = Some(checkpoint);
        }
        Ok(())
    }

    fn broken(&self, why: &'static str) -> BrokenChain {
        BrokenChain {
            seq: self.walk.head().0 + 1,
            why,
        }
    }
}
