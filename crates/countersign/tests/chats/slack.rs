//! Slack as a venue, once with Socket Mode and once with signed requests. What only Slack does is
//! tested beside it.

mod own;
mod reading;

use std::sync::Mutex;

use countersign_core::id::{ApprovalId, ClarificationId};
use countersign_testkit::relay::Relay;
use countersign_testkit::slack::{Arrival, Payload, RateLimit, Settings, SlackServer};
use serde_json::{Value, json};

use crate::support::Gateway;
use crate::venue::{Card, Limits, Venue, Who};

/// The bot's token, the app's token and the signing secret are in these variables of the gateway.
const TOKEN: &str = "SLACK_TOKEN";
const APP_TOKEN: &str = "SLACK_APP_TOKEN";
const SECRET: &str = "SLACK_SIGNING_SECRET";

mod by_socket {
    hostile! { super::Slack<true> }
}

mod by_requests {
    hostile! { super::Slack<false> }
}

/// A workspace whose app hears by connections of its own, or else by signed requests.
pub(crate) struct Slack<const BY_SOCKET: bool> {
    pub(crate) server: SlackServer,
    pub(crate) people: [String; 3],
    pub(crate) room: String,
    /// Between Slack and the gateway.
    pub(crate) relay: Relay,
    gateway: Mutex<String>,
}

/// A press as Slack would tell of it, and how its request is signed if not as it should be.
#[derive(Clone, Debug)]
pub(crate) struct Press {
    payload: Payload,
    forged: Option<Forged>,
}

/// How a request is signed.
#[derive(Clone, Debug)]
enum Forged {
    Unsigned,
    /// By another secret.
    WrongSecret,
    /// So many seconds from now.
    At(i64),
    /// The body was changed after it was signed.
    Altered,
}

impl<const BY_SOCKET: bool> Slack<BY_SOCKET> {
    pub(crate) fn id(&self, who: Who) -> &str {
        &self.people[who as usize]
    }

    fn places(&self) -> Vec<String> {
        self.server.places()
    }

    /// Presses the same once more.
    fn again(&self, press: &Press) -> Press {
        let body = &press.payload.body;
        let text = |path: &str| body.pointer(path).unwrap().as_str().unwrap();
        let (place, ts) = (text("/container/channel_id"), text("/container/message_ts"));
        let (user, button) = (text("/user/id"), text("/actions/0/action_id"));
        let payload = self.server.press(user, place, ts, button).unwrap();
        let forged = None;
        Press { payload, forged }
    }

    fn route(&self, route: &str) -> String {
        format!("{}/channels/slack/{route}", self.gateway.lock().unwrap())
    }

    /// Sends a request that is not signed as it should be.
    fn send(&self, payload: &Payload, forged: &Forged) -> u16 {
        let (route, body, kind) = self.server.as_request(payload);
        let now = i64::try_from(
            std::time::SystemTime::UNIX_EPOCH
                .elapsed()
                .unwrap()
                .as_secs(),
        );
        let now = now.unwrap();
        let at = match forged {
            Forged::At(later) => now + later,
            Forged::Unsigned | Forged::WrongSecret | Forged::Altered => now,
        };
        let at = at.to_string();
        let signature = match forged {
            Forged::Unsigned => None,
            Forged::WrongSecret => Some(format!("v0={}", "0".repeat(64))),
            Forged::At(_) | Forged::Altered => Some(self.server.sign(&at, &body)),
        };
        let body = match forged {
            Forged::Altered => format!("{body}&x=1"),
            Forged::Unsigned | Forged::WrongSecret | Forged::At(_) => body,
        };
        let url = self.route(route);
        let sent = self
            .server
            .request(&url, &body, kind, Some(&at), signature.as_deref());
        sent.status
    }
}

impl<const BY_SOCKET: bool> Venue for Slack<BY_SOCKET> {
    const NAME: &'static str = "slack";

    type Press = Press;

    fn open(limits: Limits) -> Self {
        let rate_limit = match limits {
            Limits::None => None,
            Limits::Tight => Some(RateLimit {
                per_second: 40,
                burst: 20,
            }),
        };
        let relay = Relay::start().unwrap();
        let arrival = if BY_SOCKET {
            Arrival::Socket
        } else {
            Arrival::Requests(format!("{}/channels/slack", relay.url()))
        };
        let settings = Settings {
            rate_limit,
            arrival,
            ..Settings::default()
        };
        let server = SlackServer::start(settings).unwrap();
        let people = Who::ALL.map(|who| server.person(who.name()));
        let [ana, ben, eve] = &people;
        let room = server.channel("approvals", &[ana, ben, eve]);
        for id in &people {
            server.direct(id);
        }
        Self {
            server,
            people,
            room,
            relay,
            gateway: Mutex::default(),
        }
    }

    fn section(&self) -> Value {
        let mut section = json!({
            "type": "slack", "url": self.server.url(), "token_env": TOKEN, "channel": self.room,
            "mention": false,
        });
        if BY_SOCKET {
            section["app_token_env"] = json!(APP_TOKEN);
        } else {
            section["signing_secret_env"] = json!(SECRET);
            section["callback_url"] = json!(self.relay.url());
        }
        section
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            (TOKEN, self.server.bot_token().to_owned()),
            (APP_TOKEN, self.server.app_token().to_owned()),
            (SECRET, self.server.signing_secret().to_owned()),
        ]
    }

    fn account(&self, who: Who) -> String {
        self.id(who).to_owned()
    }

    fn address(&self, who: Who) -> String {
        self.id(who).to_owned()
    }

    fn lead_to(&self, gateway: &Gateway) {
        gateway.url.clone_into(&mut self.gateway.lock().unwrap());
        self.relay.lead_to(&gateway.url);
        if BY_SOCKET {
            let is_connected = || self.server.connections() == 1;
            assert!(self.server.wait(is_connected), "it does not connect");
        }
    }

    fn hold_back(&self) {
        self.relay.hold_back();
    }

    fn cards(&self) -> Vec<Card> {
        let places = self.places();
        let messages = places.iter().flat_map(|place| self.server.messages(place));
        messages.filter_map(|message| card(&message)).collect()
    }

    fn read_by(&self, who: Who) -> String {
        let places = [self.server.direct(self.id(who)), self.room.clone()];
        let messages = places.iter().flat_map(|place| self.server.messages(place));
        let read = messages.map(|it| it["readable"].as_str().unwrap().to_owned() + "\n");
        read.collect()
    }

    fn wait(&self, holds: &dyn Fn() -> bool) -> bool {
        self.server.wait(holds)
    }

    fn press(&self, who: Who, card: &Card, button: &str) -> String {
        if BY_SOCKET {
            // Slack gives a press to nobody while the app is away; people press again.
            assert!(self.server.wait(|| self.server.connections() == 1));
        }
        self.tell(&self.prepare(who, card, button))
    }

    fn prepare(&self, who: Who, card: &Card, button: &str) -> Press {
        let (id, ts) = (self.id(who), &card.message);
        let payload = self.server.press(id, &card.place, ts, button).unwrap();
        let forged = None;
        Press { payload, forged }
    }

    fn tell(&self, press: &Press) -> String {
        match &press.forged {
            None => self.server.tell_and_wait(&press.payload),
            Some(forged) => {
                let status = self.send(&press.payload, forged);
                assert_eq!(status, 401, "{forged:?}");
                String::new()
            }
        }
    }

    fn altered(&self, press: &Press, other: &Press) -> Vec<(&'static str, Press)> {
        let value = press.payload.body["actions"][0]["value"].as_str().unwrap();
        let parts: Vec<&str> = value.split('|').collect();
        let others = other.payload.body["actions"][0]["value"].as_str().unwrap();
        let others: Vec<&str> = others.split('|').collect();
        let with = |at: usize, part: &str| {
            let mut parts = parts.clone();
            parts[at] = part;
            json!(parts.join("|"))
        };
        let foreign = self
            .server
            .account(|account| "T0OTHER".clone_into(&mut account.team));
        let value = "/actions/0/value";
        let rows = [
            ("no value", value, json!("")),
            ("no code", value, with(4, "")),
            ("a code of another card", value, with(4, others[4])),
            ("another choice", value, with(2, "always")),
            ("another question", value, with(1, others[1])),
            ("another digest", value, with(3, others[3])),
            ("another button", "/actions/0/action_id", json!("always")),
            ("the value of another card", value, json!(others.join("|"))),
            ("another person", "/user/id", json!(self.id(Who::Eve))),
            ("nobody", "/user/id", json!("U0NOBODY")),
            ("a person of another workspace", "/user/id", json!(foreign)),
            ("another workspace", "/team/id", json!("T0OTHER")),
            ("no workspace", "/team", Value::Null),
            (
                "another message",
                "/container/message_ts",
                json!("1.000001"),
            ),
            (
                "another place",
                "/container/channel_id",
                json!(self.server.direct(self.id(Who::Ana))),
            ),
            ("an ephemeral place", "/container/type", json!("view")),
            ("no trigger", "/trigger_id", json!("")),
            ("another kind", "/type", json!("message_action")),
        ];
        let mut all: Vec<(&'static str, Press)> = Vec::new();
        for (name, path, value) in rows {
            // Each is a press of its own, which Slack numbers and gives a response.
            let mut press = self.again(press);
            *press.payload.body.pointer_mut(path).unwrap() = value;
            all.push((name, press));
        }
        if !BY_SOCKET {
            let forged = [
                ("unsigned", Forged::Unsigned),
                ("signed by somebody else", Forged::WrongSecret),
                ("signed six minutes ago", Forged::At(-360)),
                ("signed in six minutes", Forged::At(360)),
                ("changed after it was signed", Forged::Altered),
            ];
            for (name, how) in forged {
                let forged = Some(how);
                let payload = self.again(press).payload;
                all.push((name, Press { payload, forged }));
            }
        }
        all
    }

    fn moved(&self, foreign: &Press, card: &Card) -> Vec<(&'static str, Press)> {
        let theirs = foreign.payload.body["actions"][0]["value"]
            .as_str()
            .unwrap();
        let parts: Vec<&str> = theirs.split('|').collect();
        let renamed = ["1", &card.subject, parts[2], parts[3], parts[4]].join("|");
        let ours = |value: &str| {
            let mut press = self.prepare(Who::Ana, card, "once");
            press.payload.body["actions"][0]["value"] = json!(value);
            press
        };
        let mut here = foreign.clone();
        let ours_now = self.prepare(Who::Ana, card, "once");
        // Their response would go to their server.
        here.payload.body["response_url"] = ours_now.payload.body["response_url"].clone();
        vec![
            ("as it is", here),
            ("on our card", ours(theirs)),
            ("on our card, for its question", ours(&renamed)),
        ]
    }

    fn asked_for(&self, who: Who) -> usize {
        self.server.dialogs(self.id(who)).len()
    }

    fn fill_in(&self, who: Who, seen: usize, words: Option<&str>) {
        let id = self.id(who);
        assert!(self.server.wait(|| self.server.dialogs(id).len() > seen));
        let dialog = self.server.dialogs(id).swap_remove(seen);
        let submitted = self.server.submit(id, &dialog, words);
        let taken = self.server.tell(&submitted);
        assert_eq!((taken.status, &taken.body), (200, &json!({})), "{taken:?}");
    }

    fn say(&self, who: Who, text: &str) {
        let id = self.id(who);
        let said = self.server.say(id, &self.server.direct(id), None, text);
        assert_eq!(said.unwrap().status, 200);
    }

    fn command(&self, who: Who, line: &str) -> String {
        let id = self.id(who);
        let line = line.strip_prefix('/').unwrap();
        let typed = self.server.command(id, &self.server.direct(id), line);
        self.server.tell_and_wait(&typed)
    }

    fn full_text(&self, card: &Card) -> String {
        let mut whole = self.server.files_below(&card.place, &card.message);
        // The lines of a card are folded, and marked where they are.
        whole.retain(|char| !char.is_whitespace() && char != '│');
        whole
    }

    fn acts_on(&self, card: &Card) -> Vec<String> {
        let mut acted = Vec::new();
        acting(&card.raw["blocks"], &mut acted);
        // The line for notifications is parsed by every client.
        let line = card.raw["text"].as_str().unwrap();
        let signs = ["<", "*", "_", "`", "://", "www."].into_iter();
        acted.extend(signs.filter(|it| line.contains(it)).map(str::to_owned));
        acted
    }

    fn restart(&mut self) {
        self.server.stop();
        self.server.start_again().unwrap();
    }

    fn over_the_limit(&self) -> usize {
        let hits = self.server.hits();
        hits.iter().filter(|hit| hit.status == 429).count()
    }
}

/// Collects the types of everything in blocks that is not text of ours or a button.
fn acting(value: &Value, acted: &mut Vec<String>) {
    let harmless = [
        "rich_text",
        "rich_text_section",
        "rich_text_preformatted",
        "text",
        "actions",
        "button",
        "plain_text",
    ];
    match value {
        Value::Object(map) => {
            if let Some(kind) = map.get("type").and_then(Value::as_str)
                && !harmless.contains(&kind)
            {
                acted.push(kind.to_owned());
            }
            map.values().for_each(|it| acting(it, acted));
        }
        Value::Array(list) => list.iter().for_each(|it| acting(it, acted)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

pub(crate) fn card(message: &Value) -> Option<Card> {
    let key = message["metadata"]["event_payload"]["key"].as_str()?;
    let subject = key.split(':').next()?;
    let is_question = ApprovalId::is_id(subject) || ClarificationId::is_id(subject);
    let blocks = message["blocks"].as_array()?;
    // A full text below a card is ours, too, but no card.
    if !is_question || key.contains(":full") {
        return None;
    }
    let rows = blocks.iter().filter(|block| block["type"] == "actions");
    let buttons = rows.flat_map(|row| row["elements"].as_array().unwrap());
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    Some(Card {
        subject: subject.to_owned(),
        message: text(&message["ts"]),
        place: text(&message["channel"]),
        text: text(&message["readable"]),
        buttons: buttons.map(|it| text(&it["action_id"])).collect(),
        raw: message.clone(),
    })
}
