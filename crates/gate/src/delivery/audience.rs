//! The audience of an approval: which people and places of a channel get its card.
//!
//! A question of a run that was started in a chat is asked there. The draft of a reply to a person is
//! shown to others alone, one by one, because the usual place may have that person in it.

use countersign_channels::Channel;
use countersign_channels::order::{Closing, Destination, Inquiry, Subject};
use countersign_core::approval::Choice;
use countersign_core::card::Field;
use countersign_core::id::ApprovalId;
use countersign_core::status::ClarificationStatus;

use crate::GateError;
use crate::delivery::Delivery;
use crate::delivery::{About, Starter};
use crate::people::PersonView;
use crate::records::view::ApprovalView;

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
        let mut card = ApprovalView::of(&stored, self.base.clock.now()).card;
        // Law 10: whoever allows more than once reads first what that covers. A chat has no list to
        // choose from and leaves the narrowest.
        let is_standing = |choice: &Choice| matches!(choice, Choice::Session | Choice::Always);
        if card.choices.iter().any(is_standing)
            && let Some(scope) = stored.scopes.first()
        {
            let covers = Field::words("Session and always cover", scope.words());
            card.lineage.push(covers);
        }
        Ok(About {
            closing: stored.approval.outcome().map(Closing::from),
            asked_at: stored.approval.asked_at,
            is_opened: !stored.viewed_by.is_empty(),
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
            is_opened: false,
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

    /// Returns the names of approvers who have an account in a channel.
    pub async fn people_in(&self, channel: &str) -> Result<Vec<String>, GateError> {
        let Some(channel) = self.channel(channel) else {
            return Ok(Vec::new());
        };
        let people = self.people.live_people().await?;
        let there = people
            .into_iter()
            .filter(|person| person.answers() && account_in(&**channel, person).is_some());
        Ok(there.map(|person| person.name).collect())
    }

    /// Returns everybody who may answer the question and has an account there.
    async fn each_person(
        &self,
        channel: &dyn Channel,
        about: &About,
        starter: IsAsked,
    ) -> Result<Vec<Destination>, GateError> {
        let people = self.people.live_people().await?;
        let is_left_out = |it: &&Starter| it.is_closed || starter == IsAsked::AlreadyThere;
        let left_out = about.starter.as_ref().filter(is_left_out);
        let may = |person: &PersonView| {
            person.answers() && left_out.is_none_or(|starter| starter.name != person.name)
        };
        let account = |person: &PersonView| account_in(channel, person);
        let accounts = people.iter().filter(|person| may(person));
        let accounts = accounts.filter_map(account);
        Ok(accounts.map(Destination::Person).collect())
    }
}

/// Returns the account of `person` in `channel`.
pub(crate) fn account_in(channel: &dyn Channel, person: &PersonView) -> Option<String> {
    let names = channel.accounts();
    let account = names.iter().find_map(|name| person.accounts.get(*name));
    account.cloned()
}
