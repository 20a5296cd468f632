//! Rate limit for questions: excess calls are refused, and one card reports them.
//!
//! What an asker asks beyond its [quota](crate::approvals::quota) is refused and recorded like every
//! refused call, and a single card says how many calls were held back. It offers *deny* alone, which
//! keeps further cards of that flood away, and it expires when the flood is over.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_core::approval::{Choice, Happened, State};
use countersign_core::assessment::Assessment;
use countersign_core::card::Field;
use countersign_core::digest::Digest;
use countersign_core::display::{inline, shortened};
use countersign_core::status::{Cause, Outcome};
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Expect, Kind, Order, Query};
use serde_json::json;

use crate::GateError;
use crate::approvals::change::Unchanged;
use crate::approvals::quota::asker;
use crate::calls::Calls;
use crate::calls::submit::Considered;
use crate::calls::submit::asking::About;
use crate::records::entries::approval_required;
use crate::records::stored::{Decision, StoredApproval, StoredCall, read};
use crate::records::view::CallView;

/// A flood ends this long after its last refused call, in milliseconds.
pub const OVER_AFTER_MILLIS: i64 = 60_000;
/// How often the card says a new number, in milliseconds.
const TOLD_EVERY_MILLIS: i64 = 1_000;
/// What a flood's card is about, in place of a tool.
const TOOL: &str = "calls_held_back";

/// The floods that go on.
#[derive(Debug, Default)]
pub(crate) struct Floods {
    counts: Mutex<HashMap<String, Count>>,
}

/// A flood that goes on.
#[derive(Clone, Debug)]
struct Count {
    approval: String,
    held_back: u64,
    latest: String,
    last_at: UnixMillis,
    /// The number on the card, and when it was written there.
    told: u64,
    told_at: UnixMillis,
}

impl Calls {
    /// Refuses a call that is more than people can answer, and lets one card tell of it. The asker's
    /// lane is held, so its calls come here one after the other.
    pub(crate) async fn hold_back(
        &self,
        mut considered: Considered,
        wait: u32,
    ) -> Result<CallView, GateError> {
        let mut told = considered.call.clone();
        let assessment = considered.judged.assessment.clone();
        let command = considered.command.clone();
        let card = self.question(
            &mut told,
            &considered.judged,
            considered.policy(),
            About::default(),
        );
        considered.call.decision = Some(Decision {
            retry_after: Some(wait),
            ..Decision::new(Outcome::Refused, Cause::Flood, considered.call.at)
        });
        let recorded = Box::pin(self.record_decided(considered)).await?;
        self.tell_of(card, &assessment, &command).await?;
        Ok(recorded.view)
    }

    /// Counts a call on the card of its flood, or puts a card where there is none.
    async fn tell_of(
        &self,
        mut card: StoredApproval,
        assessment: &Assessment,
        command: &str,
    ) -> Result<(), GateError> {
        let (asker, now) = (asker(&card.call), card.call.at);
        let digest = Digest::of(format!("countersign/v1/flood\0{asker}").as_bytes());
        let latest = self.latest_flood(&card.call, digest).await?;
        if let Some(open) = latest.as_ref().filter(|it| is_open(it, now)) {
            let count = self.floods.counted(&asker, open, command, now);
            if count.is_to_be_told(now) {
                self.write_count(&asker, &count).await?;
            }
            return Ok(());
        }
        if latest.is_some_and(|it| self.was_denied(&it)) {
            return Ok(());
        }
        card.call.digest = digest;
        TOOL.clone_into(&mut card.call.tool);
        card.approval.digest = digest;
        card.approval.choices = vec![Choice::Deny];
        card.scopes.clear();
        card.card.digest = digest.to_string();
        card.card.explanation = None;
        paint(&mut card, 1, command, now);
        let change = Change {
            puts: vec![card.put(Expect::Absent)],
            entries: vec![approval_required(&card, assessment)],
        };
        self.base.store.commit(change).await?;
        self.floods.began(&asker, &card);
        self.base.cards.deliver_soon(card.approval.id.as_str());
        Ok(())
    }

    /// Writes numbers on cards that were not written yet.
    pub(crate) async fn tell_floods(&self) -> Result<(), GateError> {
        let now = self.base.clock.now();
        for (asker, count) in self.floods.untold(now) {
            self.write_count(&asker, &count).await?;
        }
        Ok(())
    }

    async fn write_count(&self, asker: &str, count: &Count) -> Result<(), GateError> {
        let changed = self
            .approvals
            .change_approval(&count.approval, |stored, now| {
                if is_open(stored, now) {
                    paint(stored, count.held_back, &count.latest, count.last_at);
                }
                Ok(Happened::TimePassed { reached: true })
            })
            .await;
        let now = self.base.clock.now();
        match changed {
            Ok(stored) => {
                let goes_on = is_open(&stored, now);
                self.floods.told(asker, count, now, goes_on);
                self.base.cards.repaint_soon(&count.approval);
                Ok(())
            }
            Err(Unchanged::Step(..)) => Ok(()),
            Err(Unchanged::Gate(error)) => Err(error),
        }
    }

    /// Returns the latest card about a flood of the same asker.
    async fn latest_flood(
        &self,
        call: &StoredCall,
        digest: Digest,
    ) -> Result<Option<StoredApproval>, GateError> {
        let query = Query {
            owner: Some(call.key.0.clone()),
            link: Some(digest.hex()),
            order: Order::NewestFirst,
            limit: 1,
            ..Query::of(Kind::Approval)
        };
        let found = self.base.store.find(query).await?;
        Ok(found.first().map(read).transpose()?)
    }

    /// Whether a person has said a moment ago that they know of the flood.
    fn was_denied(&self, card: &StoredApproval) -> bool {
        let since = self.base.denials_since();
        card.lifted.is_none()
            && matches!(&card.approval.state, State::Denied { answer } if answer.at > since)
    }
}

impl Floods {
    /// Begins to count on a card that was just put.
    fn began(&self, asker: &str, card: &StoredApproval) {
        let count = Count::on(card, card.approval.asked_at);
        locked(&self.counts).insert(asker.to_owned(), count);
    }

    /// Counts one more call on `card`, which waits.
    fn counted(&self, asker: &str, card: &StoredApproval, latest: &str, now: UnixMillis) -> Count {
        let mut counts = locked(&self.counts);
        let count = counts
            .entry(asker.to_owned())
            .or_insert_with(|| Count::on(card, now));
        if count.approval != card.approval.id.as_str() {
            *count = Count::on(card, now);
        }
        count.held_back += 1;
        latest.clone_into(&mut count.latest);
        count.last_at = now;
        count.clone()
    }

    /// Notes that a card says this number; a flood that is over is forgotten.
    fn told(&self, asker: &str, count: &Count, now: UnixMillis, goes_on: bool) {
        let mut counts = locked(&self.counts);
        if !goes_on {
            counts.remove(asker);
        } else if let Some(known) = counts.get_mut(asker) {
            known.told = known.told.max(count.held_back);
            known.told_at = now;
        }
    }

    /// Returns the floods whose card says less than there is to say.
    fn untold(&self, now: UnixMillis) -> Vec<(String, Count)> {
        locked(&self.counts)
            .iter()
            .filter(|(_, count)| count.is_to_be_told(now) || count.is_over(now))
            .map(|(asker, count)| (asker.clone(), count.clone()))
            .collect()
    }
}

impl Count {
    /// Returns the count that `card` says.
    fn on(card: &StoredApproval, now: UnixMillis) -> Self {
        let told = card.held_back.unwrap_or_default();
        Self {
            approval: card.approval.id.0.clone(),
            held_back: told,
            latest: String::new(),
            last_at: now,
            told,
            told_at: now,
        }
    }

    fn is_to_be_told(&self, now: UnixMillis) -> bool {
        self.held_back > self.told && now.0 - self.told_at.0 >= TOLD_EVERY_MILLIS
    }

    const fn is_over(&self, now: UnixMillis) -> bool {
        now.0 - self.last_at.0 >= OVER_AFTER_MILLIS
    }
}

/// Paints the card of a flood anew.
fn paint(stored: &mut StoredApproval, count: u64, latest: &str, now: UnixMillis) {
    let since = stored.approval.asked_at;
    stored.held_back = Some(count);
    stored.approval.expires_at = now.plus(OVER_AFTER_MILLIS);
    stored.card.expires_at = stored.approval.expires_at;
    let name = stored.call.agent.as_ref().unwrap_or(&stored.call.key_name);
    let minutes = (now.0 - since.0).max(0) / 60_000 + 1;
    let during = if minutes == 1 {
        "in the last minute".to_owned()
    } else {
        format!("in the last {minutes} minutes")
    };
    let (calls, were) = if count == 1 {
        ("call", "was")
    } else {
        ("calls", "were")
    };
    let said = format!(
        "{count} more {calls} of {} {were} refused {during}",
        inline(name)
    );
    let card = &mut stored.card;
    card.title.clone_from(&said);
    card.command.clone_from(&said);
    TOOL.clone_into(&mut card.tool);
    card.choices = vec![Choice::Deny];
    card.reasons = vec![
        said,
        "the agent asks too often; these calls did not run and are listed in the history"
            .to_owned(),
    ];
    card.body = vec![Field {
        name: "The latest one".to_owned(),
        text: shortened(latest),
        code: true,
        marks: Vec::new(),
    }];
    "This card closes automatically when the flood is over.".clone_into(&mut card.on_timeout);
    stored.shown_args = json!({ "held_back": count });
    stored.call.args = json!({ "held_back": count });
}

/// Whether the card of a flood waits.
fn is_open(card: &StoredApproval, now: UnixMillis) -> bool {
    card.held_back.is_some()
        && card.approval.state == State::Waiting
        && now < card.approval.expires_at
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
