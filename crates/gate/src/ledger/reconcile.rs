//! Compares stored calls, approvals, grants and keys with the ledger.
//!
//! Each record can be told in a few words, and so can the entries about it; the two must be equal.
//! Records are never deleted, so an entry without a record is as wrong as a record without one.
//!
//! What happens while it is compared is not compared: a record may have been read before or after.

use std::collections::{BTreeMap, HashMap, HashSet};

use countersign_core::approval::{Choice, State};
use countersign_core::digest::Digest;
use countersign_core::grant::Grant;
use countersign_core::id::ApprovalId;
use countersign_core::ledger::{Draft, Entry, commitment};
use countersign_core::status::RecordStatus;
use countersign_store::{Database, Kind, Query, Record, StoreError};
use serde::Deserialize;

use crate::people::key_account;
use crate::records::account::Account;
use crate::records::entries::decision;
use crate::records::stored::{StoredApproval, StoredCall, read};

/// Records that are read in one go.
const READ_MAX: u32 = 1000;

/// The summary of a call, kept small because there are many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CallTold {
    said: [u8; 16],
    arguments: Option<[u8; 16]>,
}

/// The entries of the ledger.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    calls: HashMap<[u8; 16], CallTold>,
    others: BTreeMap<(Kind, String), Account>,
    disagreement: Option<String>,
}

/// What is read of the body of an entry.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Body {
    digest: String,
    verdict: String,
    status: String,
    arguments_commitment: Option<String>,
    approval_id: Option<String>,
    outcome: String,
    cause: Option<String>,
    choice: Option<String>,
    by: Option<String>,
    via: Option<String>,
    note: Option<String>,
    detail: Option<String>,
    scope: String,
    uses: u64,
    name: String,
    role: String,
}

impl Accounts {
    /// Takes the next entry of the ledger.
    pub(super) fn tell(&mut self, entry: &Entry) {
        let draft = &entry.draft;
        let body = || serde_json::from_str::<Body>(&draft.body).unwrap_or_default();
        match draft.event.as_str() {
            "call.assessed" => {
                let body = body();
                let said = call_words(
                    &body.digest,
                    &body.verdict,
                    &body.status,
                    body.approval_id.as_deref(),
                );
                let told = CallTold {
                    said: short(&said),
                    arguments: body.arguments_commitment.as_deref().map(short),
                };
                self.calls.insert(short(&draft.subject), told);
            }
            "approval.required" => self.of(Kind::Approval, draft).begun = body().digest,
            "approval.resolved" => {
                let body = body();
                self.of(Kind::Approval, draft).ended = ending(
                    &body.outcome,
                    body.cause.as_deref().unwrap_or_default(),
                    [
                        body.choice.as_deref(),
                        body.by.as_deref(),
                        body.via.as_deref(),
                        body.note.as_deref(),
                    ],
                );
            }
            "token.consumed" => {
                self.of(Kind::Approval, draft).used = body().detail.unwrap_or_default();
            }
            "grant.created" | "grant.used" => {
                let body = body();
                let account = self.of(Kind::Grant, draft);
                account.begun = grant_words(&body.scope, &body.by.unwrap_or_default());
                account.used = body.uses.to_string();
            }
            "grant.revoked" => self.of(Kind::Grant, draft).ended = body().by.unwrap_or_default(),
            "key.created" => {
                let body = body();
                self.of(Kind::Key, draft).begun = format!("{} {}", body.role, body.name);
            }
            "key.revoked" => {
                let ended = RecordStatus::Revoked.word();
                ended.clone_into(&mut self.of(Kind::Key, draft).ended);
            }
            "key.published" => {
                self.of(Kind::SigningKey, draft);
            }
            _ => {}
        }
    }

    fn of(&mut self, kind: Kind, draft: &Draft) -> &mut Account {
        let key = (kind, draft.subject.clone());
        self.others.entry(key).or_default()
    }

    /// Reads all records and holds them against what the ledger told up to entry `seq`; returns how
    /// many there are.
    pub(super) async fn compare(
        &mut self,
        store: &Database,
        seq: u64,
        progress: fn(u64, u64),
    ) -> Result<u64, StoreError> {
        let (mut differing, mut read) = (Vec::new(), 0);
        let known = (self.calls.len() + self.others.len()) as u64;
        for kind in [
            Kind::Call,
            Kind::Approval,
            Kind::Grant,
            Kind::Key,
            Kind::SigningKey,
        ] {
            let mut query = Query {
                limit: READ_MAX,
                ..Query::of(kind)
            };
            loop {
                let page = store.find(query.clone()).await?;
                let Some(last) = page.last() else { break };
                query.behind = Some((last.at, last.id.clone()));
                read += page.len() as u64;
                for record in &page {
                    if let Some(how) = self.differs(record) {
                        differing.push((kind, record.id.clone(), how));
                    }
                }
                progress(read, known.max(read));
            }
        }
        let moving = moving(store, seq).await?;
        let is_still = |id: &str| !moving.contains(id);
        let found = differing.iter().find(|(_, id, _)| is_still(id));
        self.disagreement =
            found.map(|(kind, id, how)| format!("the record of {} `{id}` {how}", kind.word()));
        if self.disagreement.is_none() {
            self.disagreement = self.without_record(store, seq).await?;
        }
        Ok(read)
    }

    /// Returns the first thing on which the records and the ledger do not agree.
    pub(super) fn first_disagreement(&self) -> Option<String> {
        self.disagreement.clone()
    }

    /// Returns how `record` differs from what the ledger tells. What was told is used up.
    fn differs(&mut self, record: &Record) -> Option<&'static str> {
        const OTHER: &str = "differs from the ledger";
        const NONE: &str = "is not in the ledger";
        if record.kind == Kind::Call {
            let Some(told) = self.calls.remove(&short(&record.id)) else {
                return Some(NONE);
            };
            let Ok(call) = read::<StoredCall>(record) else {
                return Some("cannot be read");
            };
            return (!call_agrees(&call, told)).then_some(OTHER);
        }
        let told = self.others.remove(&(record.kind, record.id.clone()));
        let Some(says) = account(record) else {
            return Some("cannot be read");
        };
        match told {
            Some(told) => (told != says).then_some(OTHER),
            // What a rule allowed needs no question, and the ledger tells of none.
            None if says == Account::default() && record.kind == Kind::Approval => None,
            None => Some(NONE),
        }
    }

    /// Returns the first thing the ledger tells of that has no record.
    async fn without_record(
        &self,
        store: &Database,
        seq: u64,
    ) -> Result<Option<String>, StoreError> {
        let missing = |kind: Kind, id: &str| {
            format!(
                "the ledger has {} `{id}`, but there is no such record",
                kind.word()
            )
        };
        if let Some((kind, id)) = self.others.keys().next() {
            return Ok(Some(missing(*kind, id)));
        }
        let mut behind = 0;
        while !self.calls.is_empty() && behind < seq {
            let entries = store.entries(behind, READ_MAX).await?;
            let Some(last) = entries.last() else { break };
            behind = last.seq;
            let is_left = |entry: &&Entry| {
                entry.draft.event == "call.assessed"
                    && self.calls.contains_key(&short(&entry.draft.subject))
            };
            if let Some(entry) = entries.iter().find(is_left) {
                return Ok(Some(missing(Kind::Call, &entry.draft.subject)));
            }
        }
        Ok(None)
    }
}

/// Returns what the ledger tells of since entry `seq`.
async fn moving(store: &Database, seq: u64) -> Result<HashSet<String>, StoreError> {
    let (mut behind, mut moving) = (seq, HashSet::new());
    loop {
        let entries = store.entries(behind, READ_MAX).await?;
        let Some(last) = entries.last() else {
            return Ok(moving);
        };
        behind = last.seq;
        moving.extend(entries.into_iter().map(|entry| entry.draft.subject));
    }
}

fn call_agrees(call: &StoredCall, told: CallTold) -> bool {
    let said = call_words(
        &call.digest.to_string(),
        call.verdict.word(),
        call.status().word(),
        call.approval.as_ref().map(ApprovalId::as_str),
    );
    // Without its salt a call was erased on purpose; nothing can be said of its arguments then.
    let arguments = told.arguments.filter(|_| !call.salt.is_empty());
    let is_same = arguments.is_none_or(|committed| {
        let written = serde_json::to_vec(&call.args).unwrap_or_default();
        short(&commitment(call.salt.as_bytes(), &written)) == committed
    });
    short(&said) == told.said && is_same
}

fn call_words(digest: &str, verdict: &str, status: &str, approval: Option<&str>) -> String {
    format!("{digest} {verdict} {status} {}", approval.unwrap_or("-"))
}

fn account(record: &Record) -> Option<Account> {
    if record.kind == Kind::Approval {
        return read(record).ok().as_ref().map(approval_account);
    }
    if record.kind == Kind::Grant {
        let grant: Grant = read(record).ok()?;
        return Some(Account {
            begun: grant_words(&grant.scope.words(), &grant.by),
            ended: grant.revoked.map_or_else(String::new, |(by, _)| by),
            used: grant.uses.to_string(),
        });
    }
    if record.kind == Kind::Key {
        return key_account(record);
    }
    // Of a signing key nothing is told but that there is one.
    Some(Account::default())
}

fn approval_account(stored: &StoredApproval) -> Account {
    // Nobody was asked: a rule allowed it, and it only has a token.
    let by_rule = stored.approval.choices.is_empty();
    let is_allowed = matches!(
        stored.approval.state,
        State::Approved { .. } | State::Consumed { .. }
    );
    let mut account = Account::default();
    if !by_rule {
        account.begun = stored.call.digest.to_string();
    }
    if let Some(it) = decision(stored).filter(|_| !(by_rule && is_allowed)) {
        account.ended = ending(
            it.outcome.word(),
            it.cause.word(),
            [
                it.choice.map(Choice::word),
                it.by.as_deref(),
                it.via.as_deref(),
                it.note.as_deref(),
            ],
        );
    }
    if let State::Consumed { jti, .. } = &stored.approval.state {
        account.used.clone_from(&jti.0);
    }
    account
}

fn ending(outcome: &str, cause: &str, rest: [Option<&str>; 4]) -> String {
    let rest = rest.map(|part| part.unwrap_or("-"));
    format!("{outcome} {cause} {}", rest.join("\n"))
}

fn grant_words(scope: &str, by: &str) -> String {
    format!("{scope} by {by}")
}

/// Returns enough of a hash to tell texts apart.
fn short(text: &str) -> [u8; 16] {
    let Digest(whole) = Digest::of(text.as_bytes());
    let mut half = [0; 16];
    for (to, from) in half.iter_mut().zip(whole) {
        *to = from;
    }
    half
}
