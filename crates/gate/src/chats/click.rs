//! Handles clicks on cards: one order of checks for every chat.
//!
//! Does it come from the chat → is it our button → is there such a question, and does it wait → is it
//! the card we delivered → may this person answer this question → was it offered, and seen in full →
//! compare-and-set with the ledger in the same commit → only then is anything painted. What is refused
//! changes nothing, is told to the person alone, and is in the ledger.

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Instant;

use countersign_channels::order::{Attempt, Delivered, Subject};
use countersign_channels::press::{Click, Press, Proof, Standing, Untrusted};
use countersign_channels::seal::Bound;
use countersign_channels::{DeliveryError, Order};
use countersign_core::approval::Choice;
use countersign_core::digest::Digest;
use countersign_core::display::inline;
use countersign_core::id::{ApprovalId, KeyId};
use countersign_core::status::{DeliveryStatus, Risk};
use countersign_store::{Change, Expect, Kind, Put, Record, StoreError};
use serde_json::Value;

use crate::GateError;
use crate::base::principal::{Principal, Role};
use crate::chats::Chats;
pub use crate::chats::refusal::Refusal;
use crate::chats::refusal::{closed, failed, refused};
use crate::clarifications::Clarified;
use crate::delivery::About;
use crate::delivery::audience::account_in;
use crate::delivery::{LOOK_EVERY, NOTED_WITHIN};
use crate::people::PersonView;
use crate::records::deliveries::StoredDelivery;
use crate::records::event::{ClickRefused, Event};
use crate::records::request::Reply;
use crate::records::stored::read;
use crate::records::view::ApprovalView;

/// Refusals of what nobody vouched for that are written down per minute; anybody can send those.
const STRANGE_PER_MINUTE_MAX: u32 = 60;
/// The result of an interaction.
#[derive(Clone, Debug)]
pub struct Clicked {
    /// The outcome.
    pub outcome: Outcome,
    /// The card as it is now; none where it was typed and no card is there.
    pub card: Option<(Box<Order>, Box<Delivered>)>,
    /// What the person is told.
    pub words: String,
}

/// Its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was an answer, and it counts.
    Answered,
    /// The full text was opened.
    Opened,
    /// Words are needed first.
    WantsWords,
}

/// Results of the checks of a click.
struct Facts {
    about: About,
    delivery: Option<StoredDelivery>,
    person: Principal,
}

impl Chats {
    /// Does what a person did in a chat, if it counts.
    pub async fn click(&self, click: &Click) -> Result<Clicked, Refusal> {
        self.click_with(click, None).await
    }

    /// Does the same; a call that is allowed runs with `args`, if there are some.
    pub(super) async fn click_with(
        &self,
        click: &Click,
        args: Option<Value>,
    ) -> Result<Clicked, Refusal> {
        let done = self.click_checked(click, args).await;
        if let Err(refusal) = &done {
            self.note_refusal(click, refusal).await;
            if matches!(
                refusal,
                Refusal::Answered(_) | Refusal::Expired | Refusal::Withdrawn
            ) {
                // The card still looked open, or nobody would have pressed.
                self.note_reply(click);
                self.base.cards.repaint_soon(&click.subject);
            }
        }
        done
    }

    /// Returns the card of a press that came too late as it is now, for the reply to paint: where
    /// posts cannot be edited any more, nothing else can.
    pub async fn late_card(
        &self,
        click: &Click,
        refusal: &Refusal,
    ) -> Option<(Box<Order>, Box<Delivered>)> {
        // These are said only of our own buttons.
        let is_late = matches!(
            refusal,
            Refusal::Answered(_) | Refusal::Expired | Refusal::Withdrawn
        );
        let about = self.delivery.about(&click.subject).await.ok()?;
        about.closing.filter(|_| is_late)?;
        let (there, _) = self.cards_there(click).await.ok()?;
        let is_it = |it: &StoredDelivery| it.reference.as_deref() == Some(click.reference.as_str());
        self.card_of(&about, there.into_iter().find(is_it).as_ref())
    }

    /// The checks, in the order that counts.
    async fn click_checked(&self, click: &Click, args: Option<Value>) -> Result<Clicked, Refusal> {
        click.transport.map_err(Refusal::Untrusted)?;
        // Whoever it is: what was refused does not count when the chat is read again, and that person
        // is listed by then.
        if let Some(ticket) = &click.ticket {
            self.use_ticket(&click.channel, ticket).await?;
        }
        self.check_code(click).await?;
        if click.press == Press::Revoke {
            return self.revoke_click(click).await;
        }
        let about = self.check_waiting(click).await?;
        let delivery = self.check_delivered(click).await?;
        let person = self.check_person(click, &about).await?;
        self.check_offered(click, &about, delivery.as_ref(), &person)
            .await?;
        let facts = Facts {
            about,
            delivery,
            person,
        };
        match click.press {
            Press::View => self.open_full(click, facts).await,
            press
                if (press.needs_words() || self.asks_once_more(press, &facts.about))
                    && matches!(click.proof, Proof::Button { .. }) =>
            {
                let card = self.card_of(&facts.about, facts.delivery.as_ref());
                Ok(Clicked {
                    outcome: Outcome::WantsWords,
                    card,
                    words: String::new(),
                })
            }
            Press::Choose(_) | Press::DenyNote => self.answer_click(click, facts, args).await,
            Press::Answer(_) | Press::Other => self.clarify_click(click, facts).await,
            Press::Revoke => Err(Refusal::NotOffered),
        }
    }

    /// Whether a press must be confirmed: allowing a critical call for good.
    fn asks_once_more(&self, press: Press, about: &About) -> bool {
        let is_critical = match &about.what {
            Subject::Card(card) => card.risk == Risk::Critical,
            Subject::Question(_) => false,
        };
        let confirms = self.base.settings.confirm_critical;
        press == Press::Choose(Choice::Always) && is_critical && confirms
    }

    /// Notes that the reply to a press is about to paint the card. A dialog cannot.
    fn note_reply(&self, click: &Click) {
        if matches!(click.proof, Proof::Button { .. }) {
            self.delivery.note_reply(&click.channel, &click.reference);
        }
    }

    /// Takes back the grant that an answer left, on the card that says so.
    async fn revoke_click(&self, click: &Click) -> Result<Clicked, Refusal> {
        let about = match self.delivery.about(&click.subject).await {
            Ok(about) if click.digest.is_none_or(|it| it == about.what.digest()) => about,
            Ok(_) => return Err(Refusal::Forged),
            Err(GateError::NotFound { .. }) => return Err(Refusal::Unknown),
            Err(error) => return Err(failed(&error)),
        };
        let delivery = self.check_delivered(click).await?;
        let person = self.check_person(click, &about).await?;
        // Who started a run may answer its questions, but grants are for approvers.
        let listed = self.person_of(&click.channel, &click.clicker.account).await;
        if !listed.is_ok_and(|person| person.is_some_and(|person| person.answers())) {
            return Err(Refusal::Stranger);
        }
        let stored = self.base.stored_approval(&click.subject).await;
        let stored = stored.map_err(|error| failed(&error))?;
        let decision = ApprovalView::of(&stored, self.base.clock.now()).decision;
        let grant = decision.and_then(|decision| decision.grant_id);
        let grant = grant.ok_or(Refusal::NotOffered)?;
        self.note_reply(click);
        let revoked = self.grants.revoke_grant(&person, &grant).await;
        revoked.map_err(refused)?;
        self.base.cards.repaint_soon(&click.subject);
        let words = if about.aftermath.is_revocable {
            "Revoked. The next such call asks again."
        } else {
            "This grant had ended or was revoked before."
        };
        let about = self.delivery.about(&click.subject).await;
        let about = about.map_err(|error| failed(&error))?;
        Ok(Clicked {
            outcome: Outcome::Answered,
            card: self.card_of(&about, delivery.as_ref()),
            words: words.to_owned(),
        })
    }

    /// Notes that what the chat calls `ticket` was used; an error if it was before, here or at
    /// another gateway, also before a restart.
    pub async fn use_ticket(&self, channel: &str, ticket: &str) -> Result<(), Refusal> {
        let put = Put {
            record: Record::new(
                Kind::Ticket,
                format!("{channel}\n{ticket}"),
                self.base.clock.now().0,
                "{}".to_owned(),
            ),
            expect: Expect::Absent,
        };
        let change = Change {
            puts: vec![put],
            entries: Vec::new(),
        };
        match self.base.store.commit(change).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict { .. }) => Err(Refusal::Untrusted(Untrusted::Replayed)),
            Err(error) => Err(failed(&error.into())),
        }
    }

    /// Is it our button?
    async fn check_code(&self, click: &Click) -> Result<(), Refusal> {
        let (code, holder) = match &click.proof {
            Proof::Button { code } => (code, None),
            Proof::Dialog { code, until } => (code, Some((click.clicker.account.as_str(), *until))),
            // The chat itself says on which card, or the person names the question.
            Proof::OnCard | Proof::Typed => return Ok(()),
        };
        let digest = match click.digest {
            Some(digest) => digest,
            // Where a button has no room for it, it is what the question is about.
            None => match self.delivery.about(&click.subject).await {
                Ok(about) => about.what.digest(),
                Err(GateError::NotFound { .. }) => Digest([0; 32]),
                Err(error) => return Err(failed(&error)),
            },
        };
        let bound = Bound {
            platform: &click.platform,
            tenant: &click.tenant,
            place: &click.place,
            subject: &click.subject,
            press: click.press,
            digest,
            holder,
        };
        if !self.base.seal.proves(&bound, code) {
            return Err(Refusal::Forged);
        }
        match holder {
            Some((_, until)) if until < self.base.clock.machine().seconds() => {
                Err(Refusal::DialogOver)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Is there such a question, as the button says, and does it wait?
    async fn check_waiting(&self, click: &Click) -> Result<About, Refusal> {
        let about = match self.delivery.about(&click.subject).await {
            Ok(about) => about,
            Err(GateError::NotFound { .. }) => return Err(Refusal::Unknown),
            Err(error) => return Err(failed(&error)),
        };
        if click
            .digest
            .is_some_and(|digest| digest != about.what.digest())
        {
            return Err(Refusal::Forged);
        }
        if let Some(closing) = about.closing {
            return Err(closed(closing, about.what.outcome()));
        }
        let expires_at = match &about.what {
            Subject::Card(card) => card.expires_at,
            Subject::Question(inquiry) => inquiry.expires_at,
        };
        if expires_at <= self.base.clock.now() {
            return Err(Refusal::Expired);
        }
        Ok(about)
    }

    /// Is it the card we delivered?
    async fn check_delivered(&self, click: &Click) -> Result<Option<StoredDelivery>, Refusal> {
        let since = Instant::now();
        loop {
            let (mut there, is_under_way) = self.cards_there(click).await?;
            match click.proof {
                // Whoever types a command names the question and is on no card. What is shown most
                // of in this chat counts.
                Proof::Typed => {
                    there.sort_by_key(|delivery| delivery.is_cut);
                    return Ok(there.into_iter().next());
                }
                Proof::Button { .. } | Proof::Dialog { .. } | Proof::OnCard => {
                    let is_it = |it: &StoredDelivery| {
                        it.reference.as_deref() == Some(click.reference.as_str())
                    };
                    if let Some(found) = there.into_iter().find(is_it) {
                        return Ok(Some(found));
                    }
                }
            }
            if !is_under_way || since.elapsed() > NOTED_WITHIN {
                return Err(Refusal::OtherCard);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Returns the cards of a question in the channel of a click, and whether one is under way.
    async fn cards_there(&self, click: &Click) -> Result<(Vec<StoredDelivery>, bool), Refusal> {
        let records = self.base.deliveries(&click.subject).await;
        let records = records.map_err(|error| failed(&error.into()))?;
        let (mut there, mut is_under_way) = (Vec::new(), false);
        for record in &records {
            let delivery: StoredDelivery = read(record).map_err(|error| failed(&error.into()))?;
            if delivery.channel != click.channel {
                continue;
            }
            if delivery.reference.is_some() {
                there.push(delivery);
            } else {
                is_under_way |= record.status == DeliveryStatus::Trying.word();
            }
        }
        Ok((there, is_under_way))
    }

    /// May this person answer this question?
    async fn check_person(&self, click: &Click, about: &About) -> Result<Principal, Refusal> {
        match click.clicker.standing {
            Standing::Person => {}
            Standing::Bot => return Err(Refusal::Bot),
            Standing::Closed => return Err(Refusal::AccountClosed),
            Standing::Foreign => return Err(Refusal::Foreign),
            Standing::Unknown | Standing::Unasked => return Err(Refusal::Unverified),
        }
        let person = self.person_of(&click.channel, &click.clicker.account).await;
        let person = person.map_err(|error| failed(&error))?;
        let person = person.ok_or(Refusal::Stranger)?;
        let starter = about.starter.as_ref();
        let starter = starter.filter(|starter| starter.name == person.name);
        if starter.is_some_and(|starter| starter.is_closed) {
            return Err(Refusal::NotYours(
                "you started this run; another person must answer",
            ));
        }
        if !person.answers() && starter.is_none() {
            return Err(Refusal::Stranger);
        }
        Ok(principal(person.name, click))
    }

    /// Was it offered, and was all of it seen by whoever allows it?
    async fn check_offered(
        &self,
        click: &Click,
        about: &About,
        delivery: Option<&StoredDelivery>,
        person: &Principal,
    ) -> Result<(), Refusal> {
        let is_offered = match (&about.what, click.press) {
            (Subject::Card(card), Press::Choose(choice)) => card.choices.contains(&choice),
            (Subject::Card(card), Press::DenyNote) => card.choices.contains(&Choice::Deny),
            (Subject::Card(_), Press::View) | (Subject::Question(_), Press::Other) => true,
            (Subject::Question(inquiry), Press::Answer(number)) => {
                (1..=inquiry.choices.len()).contains(&usize::from(number))
            }
            (Subject::Card(_), Press::Answer(_) | Press::Other | Press::Revoke)
            | (
                Subject::Question(_),
                Press::Choose(_) | Press::DenyNote | Press::View | Press::Revoke,
            ) => false,
        };
        if !is_offered {
            return Err(Refusal::NotOffered);
        }
        if !click.press.allows() || delivery.is_some_and(|delivery| !delivery.is_cut) {
            return Ok(());
        }
        let stored = self.base.stored_approval(&click.subject).await;
        let stored = stored.map_err(|error| failed(&error))?;
        if stored.viewed_by.contains(&person.name) {
            return Ok(());
        }
        Err(Refusal::NotSeen)
    }

    async fn open_full(&self, click: &Click, facts: Facts) -> Result<Clicked, Refusal> {
        let card = self.card_of(&facts.about, facts.delivery.as_ref());
        let channel = self.delivery.channel(&click.channel);
        // What was typed is answered with the text itself.
        if let (Some(channel), Some((order, delivered)), false) =
            (channel, &card, click.proof == Proof::Typed)
        {
            let unfolded = channel.unfold(delivered, order).await;
            unfolded.map_err(|error| match error {
                DeliveryError::Later { .. } | DeliveryError::Never { .. } => {
                    Refusal::Failed("the full text cannot be shown now".to_owned())
                }
            })?;
        }
        self.note_reply(click);
        let viewed = self.approvals.viewed(&facts.person, &click.subject).await;
        viewed.map_err(refused)?;
        let about = self.delivery.about(&click.subject).await;
        let about = about.map_err(|error| failed(&error))?;
        let delivery = facts.delivery.as_ref();
        if delivery.is_some_and(|delivery| self.delivery.is_opened(&about, delivery)) {
            self.base.cards.repaint_soon(&click.subject);
            return Ok(Clicked {
                outcome: Outcome::Opened,
                card: self.card_of(&about, delivery),
                words: "The full text is below the card. You can answer now.".to_owned(),
            });
        }
        // Others see this card, too, and have not read it. Who has gets one of their own.
        let mut words = "The full text is below the card.".to_owned();
        if let (Some(channel), false) = (channel, click.proof == Proof::Typed) {
            let account = &click.clicker.account;
            let given = self
                .delivery
                .deliver_to_one(&**channel, &click.subject, account);
            given.await.map_err(|error| failed(&error))?;
            words.push_str(" The buttons to allow it are in your direct messages.");
        }
        Ok(Clicked {
            outcome: Outcome::Opened,
            card: None,
            words,
        })
    }

    async fn answer_click(
        &self,
        click: &Click,
        facts: Facts,
        args: Option<Value>,
    ) -> Result<Clicked, Refusal> {
        let Some(choice) = click.press.choice() else {
            return Err(Refusal::NotOffered);
        };
        let reply = Reply {
            approval: ApprovalId(click.subject.clone()),
            choice,
            note: click.text.clone(),
            // The narrowest; a chat shows no list to choose from.
            grant: None,
            args,
        };
        self.note_reply(click);
        let view = self
            .approvals
            .answer(&facts.person, reply)
            .await
            .map_err(refused)?;
        let about = self.delivery.about(&click.subject).await;
        let about = about.map_err(|error| failed(&error))?;
        Ok(Clicked {
            outcome: Outcome::Answered,
            card: self.card_of(&about, facts.delivery.as_ref()),
            words: confirmation(choice, &view),
        })
    }

    async fn clarify_click(&self, click: &Click, facts: Facts) -> Result<Clicked, Refusal> {
        let reply = match (click.press, &click.text) {
            (Press::Answer(number), _) => Clarified::Choice(usize::from(number)),
            (_, Some(text)) => Clarified::Text(text.clone()),
            (_, None) => return Err(Refusal::NotOffered),
        };
        self.note_reply(click);
        self.clarifications
            .clarify(&facts.person, &click.subject, reply)
            .await
            .map_err(refused)?;
        let about = self.delivery.about(&click.subject).await;
        let about = about.map_err(|error| failed(&error))?;
        Ok(Clicked {
            outcome: Outcome::Answered,
            card: self.card_of(&about, facts.delivery.as_ref()),
            words: "The agent has your answer. It permits nothing.".to_owned(),
        })
    }

    fn card_of(
        &self,
        about: &About,
        delivery: Option<&StoredDelivery>,
    ) -> Option<(Box<Order>, Box<Delivered>)> {
        let delivery = delivery?;
        let delivered = delivery.delivered()?;
        let order = self.delivery.order(about, delivery, Attempt::Again);
        Some((Box::new(order), Box::new(delivered)))
    }

    /// Returns the person an account of a channel belongs to.
    pub async fn person_of(
        &self,
        channel: &str,
        account: &str,
    ) -> Result<Option<PersonView>, GateError> {
        let Some(channel) = self.delivery.channel(channel) else {
            return Ok(None);
        };
        let people = self.people.live_people().await?;
        let is_theirs =
            |person: &PersonView| account_in(&**channel, person).as_deref() == Some(account);
        Ok(people.into_iter().find(is_theirs))
    }

    /// Writes down that something did not count. What anybody can send fills no ledger.
    pub async fn note_refusal(&self, click: &Click, refusal: &Refusal) {
        // Strangers do not crowd out what was forged.
        static UNVOUCHED: PerMinute = PerMinute::new();
        static STRANGERS: PerMinute = PerMinute::new();
        let is_replayed = *refusal == Refusal::Untrusted(Untrusted::Replayed);
        if is_replayed && click.may_be_read_again() {
            // Chats are read again after a gap; nobody did anything.
            return;
        }
        let now = self.base.clock.now();
        let limit = if matches!(refusal, Refusal::Untrusted(_) | Refusal::Forged) {
            Some(&UNVOUCHED)
        } else if matches!(refusal, Refusal::Stranger | Refusal::Foreign | Refusal::Bot) {
            Some(&STRANGERS)
        } else {
            None
        };
        if limit.is_some_and(|limit| !limit.has_room(now.seconds() / 60)) {
            return;
        }
        let subject = inline(&click.subject);
        let event = Event::ClickRefused(ClickRefused {
            approval_id: subject.clone(),
            channel: click.channel.clone(),
            account: inline(&click.clicker.account),
            choice: click.press.word().to_owned(),
            reason: refusal.code().to_owned(),
            timestamp: now.as_seconds(),
        });
        let change = Change {
            puts: Vec::new(),
            entries: vec![event.draft(&subject, now)],
        };
        if let Err(error) = self.base.store.commit(change).await {
            tracing::warn!(%error, "a refused click could not be written down");
        }
    }
}

/// Counts what is written down in a minute.
struct PerMinute {
    minute: AtomicI64,
    count: AtomicU32,
}

impl PerMinute {
    const fn new() -> Self {
        Self {
            minute: AtomicI64::new(0),
            count: AtomicU32::new(0),
        }
    }

    /// Whether one more is written down in this minute.
    fn has_room(&self, minute: i64) -> bool {
        if self.minute.swap(minute, Ordering::Relaxed) != minute {
            self.count.store(0, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed) < STRANGE_PER_MINUTE_MAX
    }
}

fn principal(name: String, click: &Click) -> Principal {
    Principal {
        key: KeyId(format!("person:{name}")),
        name,
        role: Role::Approver,
        via: click.channel.clone(),
        tier: click.tier,
    }
}

/// Returns the reply to the person, with the permission it leaves.
fn confirmation(choice: Choice, view: &ApprovalView) -> String {
    let scope = view.scopes.first().map_or("", |scope| scope.words.as_str());
    let said = match choice {
        Choice::Once if view.decision.as_ref().is_some_and(|it| it.args.is_some()) => {
            "Allowed once, as edited.".to_owned()
        }
        Choice::Once => "Allowed once.".to_owned(),
        Choice::Session => {
            format!("Allowed for this session: {scope}. The grant covers nothing else.")
        }
        Choice::Always => {
            format!("Allowed permanently: {scope}. The grant covers nothing else.")
        }
        Choice::Deny => "Denied. The agent will be told.".to_owned(),
    };
    match view.held_until {
        Some(_) => format!("{said} It takes effect in a moment, unless it is undone."),
        None => said,
    }
}
