//! The audience of an approval: which people and places of a channel get its card.
//!
//! A question of a run that was started in a chat is asked there. The draft of a reply to a person is
//! shown to others alone, one by one, because the usual place may have that person in it.

use countersign_channels::Channel;
use countersign_channels::order::{Aftermath, COVERS, Closing, Destination, Inquiry, Subject};
use countersign_core::approval::Choice;
use countersign_core::card::Field;
use countersign_core::display::inline;
use countersign_core::grant::Grant;
use countersign_core::id::ApprovalId;
use countersign_core::status::ClarificationStatus;
use countersign_store::Kind;

use crate::GateError;
use crate::delivery::Delivery;
use crate::delivery::{About, Starter};
use crate::people::PersonView;
use crate::records::deliveries::StoredDelivery;
use crate::records::stored::read;
use crate::records::view::{ApprovalView, DecisionView};

/// Whether who started the run has the card already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IsAsked {
    NotYet,
    AlreadyThere,
}

impl Delivery {
    /// Returns a question and what a delivery needs to know of it.
    pub(crate) async fn about(&self, subject: &str) -> Result<About, GateError> {
        if !ApprovalId::is_id(subject) {
            return self.about_clarification(subject).await;
        }
        let stored = self.base.stored_approval(subject).await?;
        let may = self.base.settings.starter_may_answer;
        let starter = stored.call.starter.as_ref().map(|name| Starter {
            is_closed: stored.call.is_closed_to(name, may),
            is_hidden: stored.call.is_hidden_from(name),
            name: name.clone(),
        });
        let callees = match stored.approval.outcome() {
            None => self.may_answer(starter.as_ref()).await?,
            Some(_) => Vec::new(),
        };
        let view = ApprovalView::of(&stored, self.base.clock.now());
        let aftermath = self.aftermath(view.decision.as_ref()).await?;
        let mut card = view.card;
        // Law 10: whoever allows more than once reads first what that covers. A chat has no list to
        // choose from and leaves the narrowest.
        let is_standing = |choice: &Choice| matches!(choice, Choice::Session | Choice::Always);
        if card.choices.iter().any(is_standing)
            && let Some(scope) = stored.scopes.first()
        {
            let covers = Field::words(COVERS, scope.words());
            card.lineage.push(covers);
        }
        Ok(About {
            closing: stored.approval.outcome().map(Closing::from),
            asked_at: stored.approval.asked_at,
            opened_by: self.openers(&stored.viewed_by).await?,
            aftermath,
            callees,
            session: stored.call.session.clone(),
            run: stored.call.run.clone(),
            call: Some((
                stored.call.call_id.0.clone(),
                stored.call.tool_call_id.clone(),
            )),
            is_crisis: stored.call.is_crisis_sensitive(),
            what: Subject::Card(Box::new(card)),
            starter,
        })
    }

    /// Returns what an answer left besides yes or no.
    async fn aftermath(&self, decision: Option<&DecisionView>) -> Result<Aftermath, GateError> {
        let Some(decision) = decision else {
            return Ok(Aftermath::default());
        };
        let note = decision.note.as_deref().map(inline);
        let grant = match &decision.grant_id {
            Some(id) => self.base.store.get(Kind::Grant, id).await?,
            None => None,
        };
        let Some(grant) = grant.as_ref().map(read::<Grant>).transpose()? else {
            return Ok(Aftermath {
                note,
                ..Aftermath::default()
            });
        };
        Ok(Aftermath {
            note,
            covers: Some(grant.scope.words()),
            is_revocable: grant.is_live(self.base.clock.now()),
            revoked_by: grant.revoked.map(|(by, _)| inline(&by)),
        })
    }

    /// Returns the people of these names.
    async fn openers(&self, names: &[String]) -> Result<Vec<PersonView>, GateError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let people = self.people.live_people().await?;
        let has_opened = |person: &PersonView| names.contains(&person.name);
        Ok(people.into_iter().filter(has_opened).collect())
    }

    /// Returns the people who may answer a question.
    async fn may_answer(&self, starter: Option<&Starter>) -> Result<Vec<PersonView>, GateError> {
        let people = self.people.live_people().await?;
        let left_out = starter.filter(|starter| starter.is_closed);
        let may = |person: &PersonView| {
            person.answers() && left_out.is_none_or(|starter| starter.name != person.name)
        };
        Ok(people.into_iter().filter(may).collect())
    }

    /// Returns the accounts that the card of a delivery mentions. Who has it alone is told anyway; in
    /// a conversation it is for the one who started the run.
    pub(crate) fn callees(&self, about: &About, delivery: &StoredDelivery) -> Vec<String> {
        let to = Destination::of(&delivery.to);
        let channel = self.channel(&delivery.channel);
        let Some(channel) = channel.filter(|channel| !channel.is_for_one(&to)) else {
            return Vec::new();
        };
        let starter = about.starter.as_ref().map(|starter| &starter.name);
        let is_called = |person: &&PersonView| match to {
            Destination::Thread(_) => starter == Some(&person.name),
            Destination::Usual | Destination::Person(_) => true,
        };
        let called = about.callees.iter().filter(is_called);
        called
            .filter_map(|person| account_in(&**channel, person))
            .collect()
    }

    /// Whether the one person who sees the card of a delivery has opened the full text. Where
    /// several see it nobody is offered to allow what others have not read.
    pub(crate) fn is_opened(&self, about: &About, delivery: &StoredDelivery) -> bool {
        let to = Destination::of(&delivery.to);
        let channel = self.channel(&delivery.channel);
        let Some(channel) = channel.filter(|channel| channel.is_for_one(&to)) else {
            return false;
        };
        let starter = about.starter.as_ref().map(|starter| &starter.name);
        about.opened_by.iter().any(|person| match &to {
            Destination::Person(account) => {
                account_in(&**channel, person).as_ref() == Some(account)
            }
            Destination::Thread(_) => starter == Some(&person.name),
            Destination::Usual => false,
        })
    }

    async fn about_clarification(&self, subject: &str) -> Result<About, GateError> {
        let asked = self.clarifications.asked(subject).await?;
        let starter = match self
            .runs
            .run_of(&crate::runs::builtin(), &asked.view.run_id)
            .await
        {
            Ok(run) => Some(Starter {
                name: run.starter,
                is_closed: false,
                is_hidden: false,
            }),
            Err(GateError::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        let closing = match asked.view.status {
            ClarificationStatus::Waiting => None,
            ClarificationStatus::Answered => Some(Closing::Answered),
            ClarificationStatus::Expired => Some(Closing::Expired),
        };
        let callees = match closing {
            None => self.may_answer(starter.as_ref()).await?,
            Some(_) => Vec::new(),
        };
        Ok(About {
            what: Subject::Question(Box::new(Inquiry {
                id: subject.to_owned(),
                question: asked.view.question,
                choices: asked.view.choices,
                expires_at: asked.expires_at,
                outcome: asked.outcome,
            })),
            asked_at: asked.asked_at,
            closing,
            opened_by: Vec::new(),
            aftermath: Aftermath::default(),
            callees,
            session: asked.view.session_id,
            run: asked.view.run_id,
            call: None,
            is_crisis: false,
            starter,
        })
    }

    /// Returns where the card of a question goes in one channel.
    pub(crate) async fn destinations(
        &self,
        channel: &dyn Channel,
        about: &About,
    ) -> Result<Vec<Destination>, GateError> {
        if about.starter.as_ref().is_some_and(|it| it.is_hidden) {
            return self.each_person(channel, about, IsAsked::NotYet).await;
        }
        if about.starter.as_ref().is_some_and(|it| !it.is_closed)
            && let Some(thread) = self.runs.thread_of(channel.name(), &about.session).await?
        {
            let mut places = vec![Destination::Thread(thread)];
            // Law 1: who started it may be the one in crisis, so everybody else is asked, too.
            if about.is_crisis {
                places.extend(
                    self.usual_or_each(channel, about, IsAsked::AlreadyThere)
                        .await?,
                );
            }
            return Ok(places);
        }
        self.usual_or_each(channel, about, IsAsked::NotYet).await
    }

    /// Whether a card of a question is what `thread` is below, or one of its messages.
    pub async fn is_in_thread(
        &self,
        subject: &str,
        channel: &str,
        thread: &str,
    ) -> Result<bool, GateError> {
        let to = Destination::Thread(thread.to_owned()).word();
        for record in self.base.deliveries(subject).await? {
            let delivery: StoredDelivery = read(&record)?;
            let is_there = delivery.reference.as_deref() == Some(thread) || delivery.to == to;
            if delivery.channel == channel && is_there {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether somebody must open the full text of a question before they may allow it in a channel:
    /// its cards there show only parts of it, or there is none.
    pub async fn wants_opening(
        &self,
        subject: &str,
        channel: &str,
        person: &str,
    ) -> Result<bool, GateError> {
        let stored = self.base.stored_approval(subject).await?;
        if stored.viewed_by.iter().any(|name| name == person) {
            return Ok(false);
        }
        let mut is_whole = false;
        for record in self.base.deliveries(subject).await? {
            let delivery: StoredDelivery = read(&record)?;
            if delivery.channel == channel && delivery.reference.is_some() {
                if delivery.is_cut {
                    return Ok(true);
                }
                is_whole = true;
            }
        }
        Ok(!is_whole)
    }

    async fn usual_or_each(
        &self,
        channel: &dyn Channel,
        about: &About,
        starter: IsAsked,
    ) -> Result<Vec<Destination>, GateError> {
        if channel.has_usual_place() {
            return Ok(vec![Destination::Usual]);
        }
        self.each_person(channel, about, starter).await
    }

    /// Returns the names of approvers who have an account in a channel, and their accounts.
    pub async fn people_in(&self, channel: &str) -> Result<Vec<(String, String)>, GateError> {
        let Some(channel) = self.channel(channel) else {
            return Ok(Vec::new());
        };
        let people = self.people.live_people().await?;
        let approvers = people.into_iter().filter(PersonView::answers);
        let there = approvers.filter_map(|person| {
            let account = account_in(&**channel, &person)?;
            Some((person.name, account))
        });
        Ok(there.collect())
    }

    /// Returns everybody who may answer the question and has an account there.
    async fn each_person(
        &self,
        channel: &dyn Channel,
        about: &About,
        starter: IsAsked,
    ) -> Result<Vec<Destination>, GateError> {
        let people = self.may_answer(about.starter.as_ref()).await?;
        let asked = about.starter.as_ref();
        let asked = asked.filter(|_| starter == IsAsked::AlreadyThere);
        let is_asked = |person: &PersonView| asked.is_some_and(|it| it.name == person.name);
        let others = people.iter().filter(|person| !is_asked(person));
        let accounts = others.filter_map(|person| account_in(channel, person));
        Ok(accounts.map(Destination::Person).collect())
    }
}

/// Returns the account of `person` in `channel`.
pub(crate) fn account_in(channel: &dyn Channel, person: &PersonView) -> Option<String> {
    let names = channel.accounts();
    let account = names.iter().find_map(|name| person.accounts.get(*name));
    account.cloned()
}
