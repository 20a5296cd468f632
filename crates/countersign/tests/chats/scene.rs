//! A venue, and a gateway that has a bot there.

use serde_json::{Value, json};

use crate::support::{Gateway, shell};
use crate::venue::{Card, Limits, Venue, Who};

pub(crate) struct Scene<V> {
    pub(crate) gateway: Gateway,
    /// The key of an agent.
    pub(crate) agent: String,
    pub(crate) venue: V,
}

/// A question as the agent knows it.
pub(crate) struct Question {
    pub(crate) call: String,
    pub(crate) approval: String,
}

impl<V: Venue> Scene<V> {
    pub(crate) fn new() -> Self {
        Self::with(&json!({}), Limits::None)
    }

    /// Opens a venue and starts a gateway with `more` in its configuration.
    pub(crate) fn with(more: &Value, limits: Limits) -> Self {
        Self::of(V::open(limits), more)
    }

    /// Starts a gateway for a venue.
    pub(crate) fn of(venue: V, more: &Value) -> Self {
        let person = |who: Who| {
            let mut person = json!({ "name": who.name(), "roles": ["approver"] });
            person[V::NAME] = json!(venue.account(who));
            person
        };
        let mut config = json!({
            "channels": { V::NAME: venue.section() },
            "people": [person(Who::Ana), person(Who::Ben)],
        });
        for (key, value) in more.as_object().unwrap() {
            config[key] = value.clone();
        }
        let variables = venue.variables();
        let variables: Vec<(&str, &str)> = variables
            .iter()
            .map(|(name, it)| (*name, it.as_str()))
            .collect();
        let gateway = Gateway::with_variables(&config.to_string(), &variables);
        venue.lead_to(&gateway);
        let agent = gateway.key("agent");
        Self {
            gateway,
            agent,
            venue,
        }
    }

    /// Stops the gateway and starts it again at another port.
    pub(crate) fn restarted(self) -> Self {
        self.restarted_after(|_| ())
    }

    /// Stops the gateway, lets something happen, and starts it again at another port.
    pub(crate) fn restarted_after(mut self, happens: impl FnOnce(&Self)) -> Self {
        self.wait_for_deliveries();
        self.venue.hold_back();
        self.gateway.stop();
        happens(&self);
        self.gateway = self.gateway.started_again();
        self.venue.lead_to(&self.gateway);
        self
    }

    /// Waits until it is written down where the cards are: people see a card a moment before that.
    fn wait_for_deliveries(&self) {
        let admin = self.gateway.admin();
        let get = |path: &str| self.gateway.get(&admin, path).body;
        let mut events = self.gateway.events(&admin, "/v1/events", Some(0));
        let waiting = get("/v1/approvals?status=waiting");
        for approval in waiting["approvals"].as_array().unwrap() {
            let id = approval["approval_id"].as_str().unwrap();
            let path = format!("/v1/approvals/{id}/deliveries");
            while get(&path)["deliveries"][0]["status"] != "delivered" {
                events.named("card.delivered");
            }
        }
    }

    /// The agent wants to run something a person must answer.
    pub(crate) fn ask(&self, command: &str) -> Question {
        self.ask_with(&shell(command))
    }

    pub(crate) fn ask_with(&self, call: &Value) -> Question {
        let asked = self.gateway.post(&self.agent, "/v1/calls", call);
        assert_eq!(asked.status, 202, "{asked:?}");
        let text = |key: &str| asked.body[key].as_str().unwrap().to_owned();
        Question {
            call: text("call_id"),
            approval: text("approval_id"),
        }
    }

    /// Asks and waits for the card.
    pub(crate) fn asked(&self, command: &str) -> (Question, Card) {
        let question = self.ask(command);
        let card = self.card(&question.approval);
        (question, card)
    }

    /// Waits for a card of a question that can be answered.
    pub(crate) fn card(&self, subject: &str) -> Card {
        self.card_that("with buttons", |card| {
            card.subject == subject && !card.buttons.is_empty()
        })
    }

    /// Waits until a card says how its question ended. What the answer left may be revoked on it.
    pub(crate) fn settled(&self, subject: &str) -> Card {
        self.card_that("that is settled", |card| {
            card.subject == subject && card.buttons.iter().all(|it| it == "revoke")
        })
    }

    /// Waits for the newest card that `fits`.
    pub(crate) fn card_that(&self, what: &str, fits: impl Fn(&Card) -> bool) -> Card {
        let found = || self.venue.cards().into_iter().rfind(&fits);
        let is_there = self.venue.wait(&|| found().is_some());
        assert!(is_there, "no card {what}: {:#?}", self.venue.cards());
        found().unwrap()
    }

    /// Waits until `who` can read `words`.
    pub(crate) fn reads(&self, who: Who, words: &str) {
        let reads = || self.venue.read_by(who).contains(words);
        let text = || self.venue.read_by(who);
        assert!(
            self.venue.wait(&reads),
            "{who:?} never reads {words}: {}",
            text()
        );
    }

    pub(crate) fn cards_about(&self, subject: &str) -> Vec<Card> {
        let cards = self.venue.cards().into_iter();
        cards.filter(|card| card.subject == subject).collect()
    }

    /// Waits until the call is decided and returns it.
    pub(crate) fn decided(&self, question: &Question) -> Value {
        let path = format!("/v1/calls/{}?wait_seconds=60", question.call);
        let call = self.gateway.get(&self.agent, &path);
        assert_eq!(call.status, 200, "{call:?}");
        call.body
    }

    /// Fails unless the question still waits.
    pub(crate) fn assert_waiting(&self, question: &Question, name: &str) {
        let path = format!("/v1/calls/{}", question.call);
        let call = self.gateway.get(&self.agent, &path).body;
        assert_eq!(call["status"], "waiting", "{name}: {call}");
    }
}
