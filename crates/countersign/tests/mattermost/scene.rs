//! A chat server with a team, a gateway that has a bot there, and people.

use countersign_testkit::mattermost::{MattermostServer, Person, Place, Settings};
use countersign_testkit::relay::Relay;
use serde_json::{Map, Value, json};

use crate::support::{Gateway, Said, said, shell};

/// The bot's token is in this variable of the gateway.
pub(crate) const TOKEN: &str = "MATTERMOST_TOKEN";

/// How a scene differs from the usual one.
pub(crate) struct Wanted {
    /// Of the chat server; a real one is as it is.
    pub(crate) settings: Settings,
    /// More in the section of the channel; null takes away.
    pub(crate) channel: Value,
    /// More in the configuration.
    pub(crate) config: Value,
    /// Which of `ana` and `ben` the configuration lists as approvers.
    pub(crate) approvers: Vec<&'static str>,
    /// Which of them the variable names.
    pub(crate) allowed_users: Vec<&'static str>,
    /// What is done before the gateway starts.
    pub(crate) before: fn(&Stage),
    /// Whether there is a second channel, `backup`, to each approver directly.
    pub(crate) backup: bool,
}

/// A chat server with a team.
pub(crate) struct Stage {
    /// The server, if it is one of ours.
    pub(crate) fake: Option<MattermostServer>,
    pub(crate) place: Place,
}

pub(crate) struct Scene {
    pub(crate) gateway: Gateway,
    /// Between the chat server and the gateway.
    pub(crate) relay: Relay,
    /// An approver.
    pub(crate) ana: Person,
    /// In the channel, and an approver only if a scene says so.
    pub(crate) ben: Person,
    /// The key of an agent.
    pub(crate) agent: String,
    pub(crate) stage: Stage,
}

/// A question as the agent knows it.
pub(crate) struct Question {
    pub(crate) call: String,
    pub(crate) approval: String,
}

/// A card as people in the channel see it.
#[derive(Debug)]
pub(crate) struct Card(pub(crate) Value);

impl Stage {
    fn new(settings: Settings) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let real = variable("COUNTERSIGN_TEST_MATTERMOST_URL")
            .zip(variable("COUNTERSIGN_TEST_MATTERMOST_ADMIN_TOKEN"));
        if let Some((url, token)) = real {
            let place = Place::prepare(&url, &token).unwrap();
            return Self { fake: None, place };
        }
        let fake = MattermostServer::start(settings).unwrap();
        let place = Place::prepare(fake.url(), fake.admin_token()).unwrap();
        let fake = Some(fake);
        Self { fake, place }
    }
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Wanted)) -> Self {
        let mut wanted = Wanted {
            settings: Settings::default(),
            channel: json!({}),
            config: json!({}),
            approvers: vec!["ana"],
            allowed_users: Vec::new(),
            before: |_| {},
            backup: false,
        };
        change(&mut wanted);
        let stage = Stage::new(wanted.settings.clone());
        let place = &stage.place;
        let (ana, ben) = (place.person("ana").unwrap(), place.person("ben").unwrap());
        let relay = Relay::start().unwrap();
        (wanted.before)(&stage);
        let account = |name: &&str| if **name == *"ana" { &ana } else { &ben };
        let people: Vec<Value> = wanted
            .approvers
            .iter()
            .map(|name| json!({ "name": name, "roles": ["approver"], "mattermost": account(name).id }))
            .collect();
        let mut channel = json!({
            "type": "mattermost", "url": place.url, "token_env": TOKEN, "team": place.team_name,
            "channel": place.channel_name, "callback_url": relay.url(),
        });
        merge(&mut channel, &wanted.channel);
        let mut channels = json!({ "mattermost": channel });
        if wanted.backup {
            channels["backup"] = channel;
            merge(
                &mut channels["backup"],
                &json!({ "channel": null, "commands": false, "talk": false }),
            );
        }
        let mut people = people;
        for person in people.iter_mut().filter(|_| wanted.backup) {
            // With two chats an account is listed for each.
            person["accounts"] = json!({ "backup": person["mattermost"] });
        }
        let mut config = json!({ "channels": channels, "people": people });
        merge(&mut config, &wanted.config);
        let allowed: Vec<&str> = wanted
            .allowed_users
            .iter()
            .map(|name| account(name).id.as_str())
            .collect();
        let allowed = allowed.join(",");
        let mut variables = vec![(TOKEN, place.bot.token())];
        if !allowed.is_empty() {
            variables.push(("MATTERMOST_ALLOWED_USERS", &allowed));
        }
        let gateway = Gateway::with_variables(&config.to_string(), &variables);
        relay.lead_to(&gateway.url);
        let agent = gateway.key("agent");
        Self {
            gateway,
            relay,
            ana,
            ben,
            agent,
            stage,
        }
    }

    /// Returns the server if it is one of ours; otherwise says that `what` is skipped.
    pub(crate) fn fake(&self, what: &str) -> Option<&MattermostServer> {
        if self.stage.fake.is_none() {
            countersign_testkit::skipped(&format!("on a real server: {what}"));
        }
        self.stage.fake.as_ref()
    }

    /// Stops the gateway and starts it again at another port.
    pub(crate) fn restart_gateway(self) -> Self {
        self.restart_gateway_after(|_| {})
    }

    /// Stops the gateway, lets something happen, and starts it again at another port.
    pub(crate) fn restart_gateway_after(mut self, happens: impl FnOnce(&Self)) -> Self {
        // While it is away, clicks find nobody.
        self.relay.hold_back();
        self.gateway.stop();
        happens(&self);
        self.gateway = self.gateway.started_again();
        self.relay.lead_to(&self.gateway.url);
        self
    }

    pub(crate) fn place(&self) -> &Place {
        &self.stage.place
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

    /// Waits for the card of a question that waits.
    pub(crate) fn card(&self, approval: &str) -> Card {
        seen_by(&self.ana, approval, |card| !card.actions().is_empty())
    }

    /// Waits until the card is settled and returns it.
    pub(crate) fn settled(&self, approval: &str) -> Card {
        seen_by(&self.ana, approval, |card| !card.is_waiting())
    }

    /// Confirms in the dialog that opens after the first `seen` events.
    pub(crate) fn confirm(&self, person: &Person, seen: usize) {
        let dialog = person.wait_for_dialog(seen).unwrap();
        let sent = person.submit(&dialog, self.place(), &json!({}));
        assert_eq!((sent.status, sent.text("error")), (200, ""), "{sent:?}");
    }

    /// Asks and waits for the card.
    pub(crate) fn asked(&self, command: &str) -> (Question, Card) {
        let question = self.ask(command);
        let card = self.card(&question.approval);
        self.wait_for_delivery(&question.approval);
        (question, card)
    }

    /// Waits until it is written down where the card is: people see a card a moment before that.
    fn wait_for_delivery(&self, approval: &str) {
        let admin = self.gateway.admin();
        let mut events = self.gateway.events(&admin, "/v1/events", Some(0));
        let path = format!("/v1/approvals/{approval}/deliveries");
        let is_there = || {
            let delivered = self.gateway.get(&admin, &path).body;
            let mut deliveries = delivered["deliveries"].as_array().unwrap().iter();
            deliveries.any(|it| it["status"] == "delivered")
        };
        while !is_there() {
            events.named("card.delivered");
        }
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

    /// Somebody clicks, and what the server sends is held back: genuine, and not used.
    pub(crate) fn captured(&self, person: &Person, card: &Card, action: &str) -> Value {
        self.relay.hold_back();
        let clicked = person.click(card.id(), action);
        self.relay.lead_to(&self.gateway.url);
        assert!(is_unheard(clicked.status), "{clicked:?}");
        let passed = self.relay.passed();
        serde_json::from_slice(&passed.last().unwrap().body).unwrap()
    }

    /// Sends something to a route of the channel, as anybody could who reaches it.
    pub(crate) fn send(&self, route: &str, body: &Value) -> Said {
        let path = format!("/channels/mattermost/{route}");
        said(self.gateway.request("POST", &path).json(body))
    }

    /// Sends a click and fails unless it is refused in words and changes nothing.
    pub(crate) fn assert_refused(&self, question: &Question, click: &Value, name: &str) -> String {
        let answer = self.send("action", click);
        assert_eq!(answer.status, 200, "{name}: {answer:?}");
        assert!(answer.body.get("update").is_none(), "{name}: {answer:?}");
        self.assert_waiting(question, name);
        let words = answer.body["ephemeral_text"].as_str().unwrap_or("");
        words.to_owned()
    }

    /// Fails unless nobody but the first has a card: one post per question.
    pub(crate) fn cards_about(&self, subject: &str) -> Vec<Card> {
        let posts = self.place().posts(&self.place().channel_id);
        let cards = posts.into_iter().filter(|post| is_about(post, subject));
        cards.map(Card).collect()
    }
}

impl Card {
    pub(crate) fn id(&self) -> &str {
        self.0["id"].as_str().unwrap()
    }

    pub(crate) fn message(&self) -> &str {
        self.0["message"].as_str().unwrap()
    }

    /// Whether it says that somebody has to answer.
    pub(crate) fn is_waiting(&self) -> bool {
        self.message().starts_with(['⚠', '❓'])
    }

    pub(crate) fn attachment(&self) -> &Value {
        &self.0["props"]["attachments"][0]
    }

    pub(crate) fn text(&self) -> &str {
        self.attachment()["text"].as_str().unwrap()
    }

    /// Returns the ids of the buttons, in order.
    pub(crate) fn actions(&self) -> Vec<&str> {
        let actions = self.attachment()["actions"].as_array();
        let actions = actions.into_iter().flatten();
        actions.map(|it| it["id"].as_str().unwrap()).collect()
    }

    /// Returns what stands under a title, if there is such a field.
    pub(crate) fn field(&self, title: &str) -> Option<&str> {
        let mut fields = self.attachment()["fields"].as_array()?.iter();
        fields.find(|it| it["title"] == title)?["value"].as_str()
    }
}

/// Whether the status says that the gateway was not there to hear a click. Servers before 11.10 say
/// the same of everything an integration does wrong.
pub(crate) fn is_unheard(status: u16) -> bool {
    matches!(status, 400 | 503)
}

/// Whether a post is the card of a question, and not a word about it.
fn is_about(post: &Value, subject: &str) -> bool {
    let key = post["props"]["countersign"].as_str().unwrap_or("");
    let is_card = post["props"]["attachments"].is_array();
    is_card && key.split(':').next() == Some(subject)
}

/// Waits until somebody sees the card of a question as it should look.
pub(crate) fn seen_by(person: &Person, subject: &str, fits: impl Fn(&Card) -> bool) -> Card {
    let post = person.wait_for_post(|post| is_about(post, subject) && fits(&Card(post.clone())));
    Card(post.unwrap_or_else(|| panic!("no such card of {subject} was seen")))
}

/// Puts one object into another; null takes away.
fn merge(into: &mut Value, more: &Value) {
    let (Some(into), Some(more)) = (into.as_object_mut(), more.as_object()) else {
        return;
    };
    for (key, value) in more {
        if value.is_null() {
            into.remove(key);
        } else {
            into.insert(key.clone(), value.clone());
        }
    }
}

/// Returns an object of one field, to be merged.
pub(crate) fn only(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}
