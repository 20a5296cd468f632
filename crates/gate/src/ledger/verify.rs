//! Verifies the ledger: the chain, its signatures, the stored heads, and the records.
//!
//! All of it is read once, page by page. Of each call a few bytes are kept until its record was
//! read; a million calls take about a hundred megabytes.

use countersign_core::ledger::checkpoint::{Checkpoint, EVENT};
use countersign_core::ledger::{BrokenChain, Entry, Verifier};
use countersign_core::time::UnixMillis;
use countersign_store::{Database, Kind, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::reconcile::Accounts;
use crate::GateError;
use crate::base::principal::Principal;
use crate::base::signer::Signer;
use crate::ledger::Ledger;
use crate::ledger::anchor::{Anchor, AnchorError, Found};

/// Entries that are read in one go.
const READ_MAX: u32 = 1000;

/// Whether the ledger is what it was.
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LedgerState {
    /// Whether it is.
    pub ok: bool,
    /// Good entries.
    pub entries: u64,
    /// Hash of the last good one.
    pub head: String,
    /// Signatures that were checked.
    pub checkpoints: u64,
    /// The entry up to which the home has kept a head.
    pub anchored: Option<u64>,
    /// Records that were held against the ledger.
    pub records: u64,
    /// The first bad entry; none if all entries are good and something else is not.
    pub first_bad: Option<u64>,
    /// What is wrong with it.
    pub why: Option<String>,
}

/// What a ledger is held against.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// Where it is.
    pub store: &'a Database,
    /// Whose signatures are ours.
    pub signer: &'a Signer,
    /// The wall clock of this machine.
    pub now: UnixMillis,
    /// Where the home keeps its head.
    pub anchor: Option<&'a Anchor>,
    /// A head that was kept elsewhere.
    pub kept: Option<Checkpoint>,
    /// Is told how many entries and records have been read, and of how many.
    pub progress: fn(u64, u64),
}

impl Ledger {
    /// Verifies the ledger of this gate.
    pub async fn verify_ledger(&self, who: &Principal) -> Result<LedgerState, GateError> {
        if !who.role.sees_all() {
            return Err(GateError::Forbidden("agents cannot verify the ledger"));
        }
        let _alone = self.verifying.lock().await;
        let evidence = Evidence {
            store: &self.base.store,
            signer: &self.base.signer,
            now: self.base.clock.machine(),
            anchor: self.anchor(),
            kept: None,
            progress: |_, _| {},
        };
        Ok(evidence.verify().await?)
    }
}

impl Evidence<'_> {
    /// Verifies the whole chain and its signatures, then the heads, then the records.
    ///
    /// Checkpoints may have been signed by keys that are not used any more, or by replicas; a
    /// checkpoint proves all before it, so the last one's key must be known. The names of replicas'
    /// keys come from the database that is in doubt, so a ledger that our own key has never signed
    /// proves nothing.
    pub async fn verify(&self) -> Result<LedgerState, StoreError> {
        let anchored = match self.anchor {
            None => Ok(Found::Nothing),
            Some(anchor) => match anchor.compare(self.store).await {
                Ok(found) => Ok(found),
                Err(AnchorError::Store(error)) => return Err(error),
                Err(AnchorError::Mismatch(mismatch)) => Err(mismatch.to_string()),
                Err(error @ AnchorError::File { .. }) => Err(error.to_string()),
            },
        };
        let mut accounts = Accounts::default();
        let mut state = self.verify_chain(&mut accounts).await?;
        if let Ok(Found::Kept(head)) = anchored {
            state.anchored = Some(head.last.seq);
        }
        if let (true, Err(why)) = (state.ok, anchored) {
            return Ok(LedgerState {
                ok: false,
                first_bad: Some(state.entries + 1),
                why: Some(why),
                ..state
            });
        }
        if state.ok {
            state.records = accounts
                .compare(self.store, state.entries, self.progress)
                .await?;
            state.why = accounts.first_disagreement();
            state.ok = state.why.is_none();
        }
        Ok(state)
    }

    async fn verify_chain(&self, accounts: &mut Accounts) -> Result<LedgerState, StoreError> {
        let own = self.signer.published(self.now);
        let is_ours = |kid: &str| own.iter().any(|key| key.kid == kid);
        let mut verifier = Verifier::new(None, self.kept);
        let (mut last_signed, mut signed_by_us) = (None, false);
        let (mut behind, mut head) = (0, String::new());
        let (length, _) = self.store.last().await?;
        loop {
            let entries = self.store.entries(behind, READ_MAX).await?;
            for entry in &entries {
                if let Err(broken) = verifier.take(entry) {
                    return Ok(broken_at(&verifier, &broken, head));
                }
                if entry.draft.event == EVENT {
                    let kid = kid(entry);
                    signed_by_us |= is_ours(&kid);
                    last_signed = Some((entry.seq, kid));
                }
                accounts.tell(entry);
                behind = entry.seq;
                head = entry.hash.to_string();
            }
            (self.progress)(behind, length);
            if entries.is_empty() {
                break;
            }
        }
        if let Some((seq, kid)) = last_signed {
            let why = if !signed_by_us {
                Some("no checkpoint is signed by this gateway's key")
            } else if !is_ours(&kid) && !self.was_published(&kid).await? {
                Some("the last checkpoint is signed by an unknown key")
            } else {
                None
            };
            if let Some(why) = why {
                return Ok(broken_at(&verifier, &BrokenChain { seq, why }, head));
            }
        }
        match verifier.clone().finish() {
            Ok(good) => Ok(LedgerState {
                ok: true,
                entries: good.entries,
                head: good.head.hash.to_string(),
                checkpoints: good.checkpoints,
                ..LedgerState::default()
            }),
            Err(broken) => Ok(broken_at(&verifier, &broken, head)),
        }
    }

    async fn was_published(&self, kid: &str) -> Result<bool, StoreError> {
        let found = self.store.get(Kind::SigningKey, kid).await?;
        Ok(found.is_some())
    }
}

fn kid(entry: &Entry) -> String {
    let body: Value = serde_json::from_str(&entry.draft.body).unwrap_or_default();
    let kid = body.get("kid").and_then(Value::as_str);
    kid.unwrap_or_default().to_owned()
}

fn broken_at(verifier: &Verifier, broken: &BrokenChain, head: String) -> LedgerState {
    // What was good up to the break is counted by ending the ledger there.
    let good = verifier.good();
    LedgerState {
        ok: false,
        entries: good.entries,
        head,
        checkpoints: good.checkpoints,
        first_bad: Some(broken.seq),
        why: Some(broken.why.to_owned()),
        ..LedgerState::default()
    }
}
