//! Delivers cards to channels, with retries, and updates them when they change.
//!
//! Who delivers says so first and under a key that stays the same, so a retry, a restart or a second
//! gateway puts no second card in front of anybody. Delivering never decides, but a card that can be
//! delivered nowhere ends its question, because nobody will answer it.

pub(crate) mod audience;
pub mod health;
pub mod push;
mod repaint;

use std::sync::Arc;
use std::time::Duration;

use countersign_channels::order::{Aftermath, Attempt, Closing, Destination, Shown, Subject};
use countersign_channels::{Channel, Delivered, DeliveryError, Order};
use countersign_core::approval::Happened;
use countersign_core::id::ApprovalId;
use countersign_core::ledger::Draft;
use countersign_core::status::{DeliveryStatus, Status};
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Database, Expect, Kind, Put, Query, Record, StoreError};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};

use crate::GateError;
use crate::approvals::Approvals;
use crate::approvals::change::Unchanged;
use crate::base::Base;
use crate::base::cards::Painter;
use crate::base::principal::Principal;
use crate::clarifications::Clarifications;
use crate::delivery::health::Health;
use crate::delivery::push::Endings;
use crate::delivery::repaint::Replies;
use crate::people::{People, PersonView};
use crate::records::deliveries::StoredDelivery;
use crate::records::event::{CardHappening, Event};
use crate::records::stored::{read, status, written};
use crate::records::view::Page;
use crate::runs::Runs;

/// First pause after a delivery that may work later; it doubles up to the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(500);
/// Longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// How often a channel is tried while another is there to fall back to.
const TRIES_BEFORE_NEXT: u32 = 4;
/// How long whoever delivers may be silent before somebody else does; longer than any pause.
const LEASE_MILLIS: i64 = 60_000;
/// How often deliveries are looked for that nobody works at any more.
const SWEEP_EVERY: Duration = Duration::from_secs(20);
/// How long a click or a deletion waits until it is written down where its card is: people can see a
/// card a moment before that.
pub(crate) const NOTED_WITHIN: Duration = Duration::from_secs(3);
/// How often it is looked for meanwhile.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A person counts as present for this long after a read, in milliseconds.
const LOOKING_MILLIS: i64 = 30_000;

/// A card and one channel, as people see it.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeliveryView {
    /// The channel.
    pub channel: String,
    /// `trying`, `delivered`, `settled` or `failed`.
    #[schema(value_type = String)]
    pub status: DeliveryStatus,
    /// Why it could not be delivered.
    pub why: Option<String>,
}

/// A question and what a delivery needs to know of it.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) what: Subject,
    pub(crate) asked_at: UnixMillis,
    /// How it ended; `None` while it waits.
    pub(crate) closing: Option<Closing>,
    /// Who has opened the full text.
    pub(crate) opened_by: Vec<PersonView>,
    pub(crate) aftermath: Aftermath,
    /// Who may answer it, while it waits.
    pub(crate) callees: Vec<PersonView>,
    pub(crate) session: String,
    pub(crate) run: String,
    /// The call it is about, and what the model calls it.
    pub(crate) call: Option<(String, Option<String>)>,
    /// Whether a person in crisis may be concerned.
    pub(crate) is_crisis: bool,
    /// The person whose run of the built-in agent asks.
    pub(crate) starter: Option<Starter>,
}

/// The person whose run of the built-in agent asks.
#[derive(Clone, Debug)]
pub(crate) struct Starter {
    pub(crate) name: String,
    /// Whether that person must not answer.
    pub(crate) is_closed: bool,
    /// Whether that person must not see it.
    pub(crate) is_hidden: bool,
}

/// How a delivery went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    /// People can see it, or it is over, or somebody else sees to it.
    Yes,
    /// It could not be delivered there.
    No,
}

/// How long a channel is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// As long as the question waits.
    Endless,
    /// A few times; another channel comes next.
    Short,
}

/// Delivers cards to channels.
#[derive(Debug)]
pub struct Delivery {
    base: Arc<Base>,
    people: Arc<People>,
    runs: Arc<Runs>,
    approvals: Arc<Approvals>,
    clarifications: Arc<Clarifications>,
    health: Health,
    replies: Replies,
    endings: Endings,
}

impl Delivery {
    pub(crate) fn new(
        base: Arc<Base>,
        people: Arc<People>,
        runs: Arc<Runs>,
        approvals: Arc<Approvals>,
        clarifications: Arc<Clarifications>,
    ) -> Self {
        Self {
            base,
            people,
            runs,
            approvals,
            clarifications,
            health: Health::default(),
            replies: Replies::default(),
            endings: Endings::default(),
        }
    }
}

impl Delivery {
    async fn deliver_along(
        &self,
        lane: &[Arc<dyn Channel>],
        subject: &str,
    ) -> Result<(), GateError> {
        for (at, channel) in lane.iter().enumerate() {
            let patience = if at + 1 < lane.len() {
                Patience::Short
            } else {
                Patience::Endless
            };
            if self.deliver(&**channel, subject, patience).await? == Reached::Yes {
                return Ok(());
            }
        }
        self.end_if_unreachable(subject).await
    }

    /// Takes up what a restart interrupted: cards that were not delivered, cards that show a
    /// question which is settled.
    pub(crate) async fn resume_deliveries(&self) -> Result<(), GateError> {
        if self.base.channels.is_empty() && self.has_no_device().await? {
            return Ok(());
        }
        for kind in [Kind::Approval, Kind::Clarification] {
            let waiting = Query {
                status: Some(Status::Waiting.word().to_owned()),
                ..Query::of(kind)
            };
            for record in self.base.find_all(waiting).await? {
                self.base.cards.deliver_soon(&record.id);
            }
        }
        let delivered = Query {
            status: Some(DeliveryStatus::Delivered.word().to_owned()),
            ..Query::of(Kind::Delivery)
        };
        for record in self.base.find_all(delivered).await? {
            if self.about(&record.link).await?.closing.is_some() {
                self.base.cards.repaint_soon(&record.link);
            }
        }
        Ok(())
    }

    /// Takes over deliveries whose gateway has been silent, for as long as it is polled.
    pub(crate) async fn sweep_deliveries(&self) {
        loop {
            tokio::time::sleep(SWEEP_EVERY).await;
            let left = Query {
                status: Some(DeliveryStatus::Trying.word().to_owned()),
                due_by: Some(self.base.clock.now().0),
                ..Query::of(Kind::Delivery)
            };
            match self.base.find_all(left).await {
                Ok(records) => {
                    for record in records {
                        self.take_over(&record).await;
                    }
                }
                Err(error) => tracing::warn!(%error, "deliveries cannot be looked for"),
            }
        }
    }

    /// Takes over a delivery, or puts it aside if its question is over.
    async fn take_over(&self, record: &Record) {
        let closing = self.about(&record.link).await.map(|it| it.closing);
        let settled = match closing {
            Ok(None) => {
                self.base.cards.deliver_soon(&record.link);
                Ok(())
            }
            Ok(Some(_)) => self.note_settled(record).await,
            Err(error) => Err(error),
        };
        if let Err(error) = settled {
            tracing::warn!(%error, subject = record.link, "a delivery cannot be taken over");
        }
    }

    /// Ends a question that no channel could show, unless somebody is looking by themselves.
    async fn end_if_unreachable(&self, subject: &str) -> Result<(), GateError> {
        if !ApprovalId::is_id(subject) {
            return Ok(());
        }
        let deliveries = self.base.deliveries(subject).await?;
        let has_failed = |name: &str| {
            let mut of_channel = deliveries
                .iter()
                .filter(|record| channel_of(&record.id) == name)
                .peekable();
            of_channel.peek().is_some()
                && of_channel.all(|record| record.status == DeliveryStatus::Failed.word())
        };
        let have_all_failed = self.base.channels.iter().all(|it| has_failed(it.name()));
        let since = self.base.clock.now().plus(-LOOKING_MILLIS);
        if !have_all_failed || self.approvals.admission.was_looked_at(since) {
            return Ok(());
        }
        // Whoever a device tells can still answer on the page.
        if !self
            .devices_for(&self.about(subject).await?)
            .await?
            .is_empty()
        {
            return Ok(());
        }
        let ended = self
            .approvals
            .change_approval(subject, |_, _| Ok(Happened::Unreachable));
        match ended.await {
            Ok(_) | Err(Unchanged::Step(..)) => Ok(()),
            Err(Unchanged::Gate(error)) => Err(error),
        }
    }

    async fn deliver(
        &self,
        channel: &dyn Channel,
        subject: &str,
        patience: Patience,
    ) -> Result<Reached, GateError> {
        let about = self.about(subject).await?;
        if about.closing.is_some() {
            return Ok(Reached::Yes);
        }
        let to = self.destinations(channel, &about).await?;
        let mut reached = Reached::No;
        if to.is_empty() {
            let why = "no approver has an account there".to_owned();
            let name = channel.name().to_owned();
            let delivery = delivery_to(&name, &Destination::Usual, &self.base.driver);
            let error = DeliveryError::Never { channel: name, why };
            self.note_delivery(&about, delivery, Err(error)).await?;
        }
        // Each by itself: an account that cannot be reached now delays no other.
        let all = to
            .iter()
            .map(|destination| self.deliver_to(channel, subject, destination, patience));
        for one in join_all(all).await {
            if one? == Reached::Yes {
                reached = Reached::Yes;
            }
        }
        Ok(reached)
    }

    /// Gives one account a card of its own, with what only that person is offered.
    pub(crate) async fn deliver_to_one(
        &self,
        channel: &dyn Channel,
        subject: &str,
        account: &str,
    ) -> Result<(), GateError> {
        let to = Destination::Person(account.to_owned());
        self.deliver_to(channel, subject, &to, Patience::Short)
            .await
            .map(drop)
    }

    async fn deliver_to(
        &self,
        channel: &dyn Channel,
        subject: &str,
        to: &Destination,
        patience: Patience,
    ) -> Result<Reached, GateError> {
        let mut delivery = delivery_to(channel.name(), to, &self.base.driver);
        let mut attempt = match self.claim(subject, &mut delivery).await? {
            Claim::Ours(attempt) => attempt,
            Claim::Done(reached) => return Ok(reached),
        };
        let mut pause = PAUSE_FIRST;
        for tries in 1_u32.. {
            let about = self.about(subject).await?;
            if about.closing.is_some() {
                return Ok(Reached::Yes);
            }
            let order = self.order(&about, &delivery, attempt);
            attempt = Attempt::Again;
            let tried = channel.deliver(&order);
            let tried = self.while_renewing(tried, &delivery, subject).await;
            let now = self.base.clock.now();
            self.health.note(channel.name(), now, &tried);
            let error = match tried {
                Ok(delivered) => {
                    self.note_delivery(&about, delivery, Ok(delivered)).await?;
                    // It may have been settled while it was on its way.
                    if self.about(subject).await?.closing.is_some() {
                        self.base.cards.repaint_soon(subject);
                    }
                    return Ok(Reached::Yes);
                }
                Err(error) => error,
            };
            let is_over = match error {
                DeliveryError::Never { .. } => true,
                DeliveryError::Later { .. } => {
                    patience == Patience::Short && tries >= TRIES_BEFORE_NEXT
                }
            };
            if is_over {
                tracing::warn!(%error, %subject, "a card cannot be delivered");
                self.note_delivery(&about, delivery, Err(error)).await?;
                return Ok(Reached::No);
            }
            tracing::warn!(%error, %subject, "a card will be delivered later");
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
            if self.renew(subject, &delivery).await? == Lease::Lost {
                return Ok(Reached::Yes);
            }
        }
        Ok(Reached::No)
    }

    /// Says that this gateway delivers, unless somebody has or does.
    async fn claim(
        &self,
        subject: &str,
        delivery: &mut StoredDelivery,
    ) -> Result<Claim, GateError> {
        let id = delivery_id(subject, delivery);
        let known = self.base.store.get(Kind::Delivery, &id).await?;
        let now = self.base.clock.now();
        let (expect, attempt) = match &known {
            None => (Expect::Absent, Attempt::First),
            Some(record) if record.status == DeliveryStatus::Trying.word() => {
                let before: StoredDelivery = read(record)?;
                let is_live = record.due_at.is_some_and(|due| due > now.0);
                // Nobody else works on an embedded database, so who began there is gone.
                let is_alone = matches!(self.base.store, Database::Sqlite(_));
                if before.driver == self.base.driver || (is_live && !is_alone) {
                    return Ok(Claim::Done(Reached::Yes));
                }
                delivery.again = before.again;
                (Expect::Version(record.version), Attempt::Again)
            }
            Some(record) if record.status == DeliveryStatus::Failed.word() => {
                return Ok(Claim::Done(Reached::No));
            }
            Some(_) => return Ok(Claim::Done(Reached::Yes)),
        };
        let change = Change {
            puts: vec![delivery_put(
                subject,
                delivery,
                DeliveryStatus::Trying,
                expect,
                now,
            )],
            entries: Vec::new(),
        };
        match self.base.store.commit(change).await {
            Ok(_) => Ok(Claim::Ours(attempt)),
            Err(StoreError::Conflict { .. }) => Ok(Claim::Done(Reached::Yes)),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for `delivering`, which may take long where much is to be delivered, and says meanwhile
    /// that somebody works at it.
    async fn while_renewing<T>(
        &self,
        delivering: impl Future<Output = T>,
        delivery: &StoredDelivery,
        subject: &str,
    ) -> T {
        let mut delivering = std::pin::pin!(delivering);
        loop {
            let pause = tokio::time::sleep(SWEEP_EVERY);
            tokio::select! {
                done = &mut delivering => return done,
                () = pause => {
                    if let Err(error) = self.renew(subject, delivery).await {
                        tracing::warn!(%error, %subject, "a delivery could not be renewed");
                    }
                }
            }
        }
    }

    /// Says that this gateway still delivers, unless somebody has taken it over: what that one wrote
    /// down, above all where the card is, stays.
    async fn renew(&self, subject: &str, delivery: &StoredDelivery) -> Result<Lease, GateError> {
        let id = delivery_id(subject, delivery);
        let Some(record) = self.base.store.get(Kind::Delivery, &id).await? else {
            return Ok(Lease::Lost);
        };
        let known: StoredDelivery = read(&record)?;
        if record.status != DeliveryStatus::Trying.word() || known.driver != delivery.driver {
            return Ok(Lease::Lost);
        }
        let now = self.base.clock.now();
        let expect = Expect::Version(record.version);
        let change = Change {
            puts: vec![delivery_put(
                subject,
                delivery,
                DeliveryStatus::Trying,
                expect,
                now,
            )],
            entries: Vec::new(),
        };
        match self.base.store.commit(change).await {
            Ok(_) => Ok(Lease::Kept),
            Err(StoreError::Conflict { .. }) => Ok(Lease::Lost),
            Err(error) => Err(error.into()),
        }
    }

    async fn note_delivery(
        &self,
        about: &About,
        mut delivery: StoredDelivery,
        outcome: Result<Delivered, DeliveryError>,
    ) -> Result<(), GateError> {
        let now = self.base.clock.now();
        let subject = about.what.id();
        let (status, event): (_, fn(CardHappening) -> Event) = match outcome {
            Ok(delivered) => {
                delivery.is_cut = delivered.shown == Shown::Cut;
                delivery.reference = Some(delivered.reference);
                (DeliveryStatus::Delivered, Event::CardDelivered)
            }
            Err(DeliveryError::Never { why, .. } | DeliveryError::Later { why, .. }) => {
                delivery.why = Some(why);
                (DeliveryStatus::Failed, Event::CardFailed)
            }
        };
        let event = event(CardHappening {
            approval_id: subject.to_owned(),
            call_id: about.call.as_ref().map(|(call, _)| call.clone()),
            tool_call_id: about.call.as_ref().and_then(|(_, id)| id.clone()),
            run_id: about.run.clone(),
            channel: delivery.channel.clone(),
            why: delivery.why.clone(),
            timestamp: now.as_seconds(),
        });
        let entry = Draft {
            run: about.run.clone(),
            session: about.session.clone(),
            ..event.draft(subject, now)
        };
        let put = delivery_put(subject, &delivery, status, Expect::Anything, now);
        self.base
            .store
            .commit(Change {
                puts: vec![put],
                entries: vec![entry],
            })
            .await?;
        Ok(())
    }

    /// Returns the channel of this name.
    pub(crate) fn channel(&self, name: &str) -> Option<&Arc<dyn Channel>> {
        self.base
            .channels
            .iter()
            .find(|channel| channel.name() == name)
    }

    /// Returns what a channel is asked to show.
    pub(crate) fn order(
        &self,
        about: &About,
        delivery: &StoredDelivery,
        attempt: Attempt,
    ) -> Order {
        Order {
            key: delivery.key(about.what.id()),
            what: about.what.clone(),
            to: Destination::of(&delivery.to),
            since: about.asked_at,
            attempt,
            is_opened: self.is_opened(about, delivery),
            closing: about.closing,
            is_crisis: about.is_crisis,
            aftermath: about.aftermath.clone(),
            callees: self.callees(about, delivery),
            seal: self.base.seal.clone(),
        }
    }

    /// Returns where the card of an approval is, and where it could not be delivered.
    pub async fn deliveries_of(
        &self,
        who: &Principal,
        approval: &str,
    ) -> Result<Page<DeliveryView>, GateError> {
        self.approvals.approval(who, approval).await?;
        let mut items = Vec::new();
        for record in self.base.deliveries(approval).await? {
            let delivery: StoredDelivery = read(&record)?;
            items.push(DeliveryView {
                channel: delivery.channel,
                status: status(&record)?,
                why: delivery.why,
            });
        }
        Ok(Page { items, next: None })
    }
}

impl Painter for Delivery {
    /// Delivers a question to the channels, in the background: to all at once, but to those of the
    /// fallback one after the other until one has it.
    fn deliver_soon(self: Arc<Self>, subject: &str) {
        self.notify_soon(subject);
        let order = &self.base.settings.fallback;
        let is_question = !ApprovalId::is_id(subject);
        let all = self.base.channels.iter().cloned();
        let all = all.filter(|channel| !is_question || channel.takes_questions());
        let (ordered, at_once): (Vec<_>, Vec<_>) =
            all.partition(|channel| order.iter().any(|name| name == channel.name()));
        let mut lanes: Vec<Vec<Arc<dyn Channel>>> =
            at_once.into_iter().map(|channel| vec![channel]).collect();
        let place = |channel: &Arc<dyn Channel>| order.iter().position(|it| it == channel.name());
        let mut ordered = ordered;
        ordered.sort_by_key(place);
        if !ordered.is_empty() {
            lanes.push(ordered);
        }
        for lane in lanes {
            let (delivery, subject) = (Arc::clone(&self), subject.to_owned());
            tokio::spawn(async move {
                if let Err(error) = delivery.deliver_along(&lane, &subject).await {
                    tracing::error!(%error, %subject, "not delivered");
                }
            });
        }
    }

    /// Paints the cards of a question again, in the background.
    fn repaint_soon(self: Arc<Self>, subject: &str) {
        self.close_soon(subject);
        if self.base.channels.is_empty() {
            return;
        }
        let (delivery, subject) = (Arc::clone(&self), subject.to_owned());
        tokio::spawn(async move {
            if let Err(error) = delivery.repaint(&subject).await {
                tracing::error!(%error, %subject, "cards were not painted again");
            }
        });
    }
}

/// Whether a delivery is still this gateway's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lease {
    Kept,
    Lost,
}

/// Whose a delivery is.
enum Claim {
    /// Ours, and whether it may have happened before.
    Ours(Attempt),
    /// Nobody's any more, or somebody else's.
    Done(Reached),
}

fn delivery_to(channel: &str, to: &Destination, driver: &str) -> StoredDelivery {
    StoredDelivery {
        channel: channel.to_owned(),
        reference: None,
        why: None,
        to: to.word(),
        is_cut: false,
        driver: driver.to_owned(),
        again: 0,
    }
}

fn delivery_id(subject: &str, delivery: &StoredDelivery) -> String {
    match delivery.to.as_str() {
        "" => format!("{subject}\n{}", delivery.channel),
        to => format!("{subject}\n{}\n{to}", delivery.channel),
    }
}

/// Returns the channel in the id of a delivery.
fn channel_of(id: &str) -> &str {
    id.split('\n').nth(1).unwrap_or_default()
}

fn delivery_put(
    subject: &str,
    delivery: &StoredDelivery,
    status: DeliveryStatus,
    expect: Expect,
    now: UnixMillis,
) -> Put {
    Put {
        record: Record {
            status: status.word().to_owned(),
            link: subject.to_owned(),
            due_at: (status == DeliveryStatus::Trying).then(|| now.plus(LEASE_MILLIS).0),
            ..Record::new(
                Kind::Delivery,
                delivery_id(subject, delivery),
                now.0,
                written(delivery),
            )
        },
        expect,
    }
}
