//! Discord as a venue, once by its gateway and once by signed requests. What only Discord does is tested
//! beside it.

mod own;
mod setup;

use std::sync::Mutex;

use countersign_core::id::{ApprovalId, ClarificationId};
use countersign_testkit::discord::{Arrival, DiscordServer, Message, RateLimit, Settings};
use countersign_testkit::relay::Relay;
use serde_json::{Value, json};

use crate::support::Gateway;
use crate::telegram::word;
use crate::venue::{Card, Limits, Venue, Who};

/// The bot's token is in this variable of the gateway.
const TOKEN: &str = "DISCORD_TOKEN";
/// The kind of a text channel.
const TEXT: u8 = 0;

mod by_gateway {
    hostile! { super::Discord<true> }
}

mod by_requests {
    hostile! { super::Discord<false> }
}

/// A server whose application hears of presses by its connection, or else by signed requests.
pub(crate) struct Discord<const BY_GATEWAY: bool> {
    pub(crate) server: DiscordServer,
    pub(crate) people: [String; 3],
    pub(crate) guild: String,
    pub(crate) room: String,
    /// Between Discord and the gateway.
    pub(crate) relay: Relay,
    gateway: Mutex<String>,
}

/// A press as Discord would tell of it, and how its request is signed if not as it should be.
#[derive(Clone, Debug)]
pub(crate) struct Press {
    pub(crate) payload: Value,
    forged: Option<Forged>,
}

/// How a request is signed.
#[derive(Clone, Debug)]
enum Forged {
    Unsigned,
    /// By another key.
    WrongKey,
    /// So many seconds from now.
    At(i64),
    /// The body was changed after it was signed.
    Altered,
}

impl<const BY_GATEWAY: bool> Discord<BY_GATEWAY> {
    pub(crate) fn id(&self, who: Who) -> &str {
        &self.people[who as usize]
    }

    /// Presses the same once more.
    fn again(&self, press: &Press) -> Press {
        let text = |path: &str| press.payload.pointer(path).unwrap().as_str().unwrap();
        let (place, message) = (text("/channel_id"), text("/message/id"));
        let (user, id) = (text("/member/user/id"), text("/data/custom_id"));
        let payload = self.server.press(user, place, message, id).unwrap();
        let forged = None;
        Press { payload, forged }
    }

    pub(crate) fn route(&self) -> String {
        format!("{}/channels/discord/action", self.gateway.lock().unwrap())
    }

    /// Sends a request that is not signed as it should be.
    fn send(&self, payload: &Value, forged: &Forged) -> u16 {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        let now = i64::try_from(now.as_secs()).unwrap();
        let at = match forged {
            Forged::At(later) => now + later,
            Forged::Unsigned | Forged::WrongKey | Forged::Altered => now,
        };
        let (at, body) = (at.to_string(), payload.to_string());
        let signature = match forged {
            Forged::Unsigned => None,
            Forged::WrongKey => Some("0".repeat(128)),
            Forged::At(_) | Forged::Altered => Some(self.server.sign(&at, &body)),
        };
        let body = match forged {
            Forged::Altered => format!("{body} "),
            Forged::Unsigned | Forged::WrongKey | Forged::At(_) => body,
        };
        let url = self.route();
        let sent = self
            .server
            .request(&url, &body, Some(&at), signature.as_deref());
        sent.0
    }
}

impl<const BY_GATEWAY: bool> Venue for Discord<BY_GATEWAY> {
    const NAME: &'static str = "discord";

    type Press = Press;

    fn open(limits: Limits) -> Self {
        let rate_limit = match limits {
            Limits::None => None,
            Limits::Tight => Some(RateLimit {
                count: 20,
                window: std::time::Duration::from_secs(1),
            }),
        };
        let relay = Relay::start().unwrap();
        let arrival = if BY_GATEWAY {
            Arrival::Gateway
        } else {
            Arrival::Requests(format!("{}/channels/discord/action", relay.url()))
        };
        let settings = Settings {
            rate_limit,
            arrival,
            ..Settings::default()
        };
        let server = DiscordServer::start(settings).unwrap();
        let people = Who::ALL.map(|who| server.person(who.name()));
        let [ana, ben, eve] = &people;
        let guild = server.guild("Example", &[ana, ben, eve]);
        let room = server.channel(&guild, "approvals", TEXT);
        for id in &people {
            server.direct(id);
        }
        Self {
            server,
            people,
            guild,
            room,
            relay,
            gateway: Mutex::default(),
        }
    }

    fn section(&self) -> Value {
        let mut section = json!({
            "type": "discord", "url": self.server.url(), "token_env": TOKEN, "channel": self.room,
            "mention": false,
        });
        if !BY_GATEWAY {
            section["public_key"] = json!(self.server.public_key());
            section["callback_url"] = json!(self.relay.url());
        }
        section
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![(TOKEN, self.server.token().to_owned())]
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
        let is_connected = || self.server.connections() == 1;
        assert!(self.server.wait(is_connected), "it does not connect");
    }

    fn hold_back(&self) {
        self.relay.hold_back();
    }

    fn cards(&self) -> Vec<Card> {
        let places = self.server.places();
        let messages = places.iter().flat_map(|place| self.server.messages(place));
        messages.filter_map(|message| card(&message)).collect()
    }

    fn read_by(&self, who: Who) -> String {
        let places = [self.server.direct(self.id(who)), self.room.clone()];
        let messages = places.iter().flat_map(|place| self.server.messages(place));
        messages.map(|it| it.readable() + "\n").collect()
    }

    fn wait(&self, holds: &dyn Fn() -> bool) -> bool {
        self.server.wait(holds)
    }

    fn press(&self, who: Who, card: &Card, button: &str) -> String {
        if BY_GATEWAY {
            // Nobody answers a press while the application is away; people press again.
            assert!(self.server.wait(|| self.server.connections() == 1));
        }
        self.tell(&self.prepare(who, card, button))
    }

    fn prepare(&self, who: Who, card: &Card, button: &str) -> Press {
        let buttons = card.raw["buttons"].as_array().unwrap().iter();
        let mut ids = buttons.map(|it| it["custom_id"].as_str().unwrap());
        let id = ids.find(|id| word(id) == button);
        let id = id.unwrap_or_else(|| panic!("no button {button} on {card:?}"));
        let user = self.id(who);
        let payload = self.server.press(user, &card.place, &card.message, id);
        let forged = None;
        Press {
            payload: payload.unwrap(),
            forged,
        }
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
        let data = press.payload["data"]["custom_id"].as_str().unwrap();
        let others = other.payload["data"]["custom_id"].as_str().unwrap();
        let (head, code) = data.split_at(29);
        let always = format!("{}a{code}", head.get(..28).unwrap());
        let cut = data.get(..data.len() - 1).unwrap();
        let mixed = format!("{head}{}", others.get(29..).unwrap());
        let id = "/data/custom_id";
        let direct = self.server.direct(self.id(Who::Ana));
        let rows = [
            ("no id", id, json!("")),
            ("nonsense", id, json!("once")),
            ("100 letters of nonsense", id, json!("x".repeat(100))),
            ("a code that is cut", id, json!(cut)),
            ("another choice", id, json!(always)),
            ("a code of another card", id, json!(mixed)),
            ("a button of another card", id, json!(others)),
            (
                "another kind of question",
                id,
                json!(data.replacen('a', "c", 1)),
            ),
            ("another version", id, json!(data.replacen('1', "2", 1))),
            (
                "another message",
                "/message/id",
                other.payload["message"]["id"].clone(),
            ),
            ("no message", "/message", Value::Null),
            ("another place", "/channel_id", json!(direct)),
            (
                "another person",
                "/member/user/id",
                json!(self.id(Who::Eve)),
            ),
            ("nobody", "/member", Value::Null),
            ("a program", "/member/user/bot", json!(true)),
            ("another server", "/guild_id", json!("1400000000000000000")),
            ("no server", "/guild_id", Value::Null),
            ("another application", "/application_id", json!("1400")),
            ("a command", "/type", json!(2)),
            ("a dialog", "/type", json!(5)),
            ("a menu", "/data/component_type", json!(3)),
        ];
        let mut all: Vec<(&'static str, Press)> = Vec::new();
        for (name, path, value) in rows {
            // Each is a press of its own, which Discord numbers.
            let mut press = self.again(press);
            *press.payload.pointer_mut(path).unwrap() = value;
            all.push((name, press));
        }
        if !BY_GATEWAY {
            let forged = [
                ("unsigned", Forged::Unsigned),
                ("signed by somebody else", Forged::WrongKey),
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
        let theirs = foreign.payload["data"]["custom_id"].as_str().unwrap();
        let (_, letters) = card.subject.split_once('_').unwrap();
        let renamed = format!(
            "{}{letters}{}",
            theirs.get(..2).unwrap(),
            theirs.get(28..).unwrap()
        );
        let ours = |id: &str| {
            let mut press = self.prepare(Who::Ana, card, "once");
            press.payload["data"]["custom_id"] = json!(id);
            press
        };
        // The answer to it would go to their server.
        let mut here = foreign.clone();
        let ours_now = self.prepare(Who::Ana, card, "once");
        for key in ["id", "token"] {
            here.payload[key] = ours_now.payload[key].clone();
        }
        vec![
            ("as it is", here),
            ("on our card", ours(theirs)),
            ("on our card, for its question", ours(&renamed)),
        ]
    }

    fn asked_for(&self, who: Who) -> usize {
        self.server.modals(self.id(who)).len()
    }

    fn fill_in(&self, who: Who, seen: usize, words: Option<&str>) {
        let id = self.id(who);
        assert!(self.server.wait(|| self.server.modals(id).len() > seen));
        let modal = self.server.modals(id).swap_remove(seen);
        let submitted = self.server.submit(id, &modal, words).unwrap();
        self.server.tell_and_wait(&submitted);
    }

    fn say(&self, who: Who, text: &str) {
        let id = self.id(who);
        let place = self.server.direct(id);
        self.server.say(id, &place, text).unwrap();
    }

    fn command(&self, who: Who, line: &str) -> String {
        assert!(
            self.server.wait(|| !self.server.commands().is_empty()),
            "no command is registered"
        );
        let line = line.strip_prefix('/').unwrap();
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let id = self.id(who);
        let place = self.server.direct(id);
        let typed = self.server.command(id, &place, name, rest).unwrap();
        self.server.tell_and_wait(&typed)
    }

    fn full_text(&self, card: &Card) -> String {
        let messages = self.server.messages(&card.place).into_iter();
        let below = messages.filter(|it| it.reply_to.as_ref() == Some(&card.message));
        let files = below.flat_map(|it| it.files);
        let mut whole: String = files.map(|(_, content)| content).collect();
        // The lines of a card are folded, and marked where they are.
        whole.retain(|char| !char.is_whitespace() && char != '│');
        whole
    }

    fn acts_on(&self, card: &Card) -> Vec<String> {
        let found = card.raw["found"].as_array().unwrap().iter();
        let pings = card.raw["pings"].as_array().unwrap().iter();
        found.chain(pings).map(Value::to_string).collect()
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

pub(crate) fn card(message: &Message) -> Option<Card> {
    let mut footers = message.embeds.iter().map(|it| &it["footer"]["text"]);
    let subject = footers.find_map(|it| it.as_str()?.split(' ').next())?;
    let is_question = ApprovalId::is_id(subject) || ClarificationId::is_id(subject);
    let buttons = message.buttons();
    let words = buttons
        .iter()
        .map(|it| word(it["custom_id"].as_str().unwrap()).to_owned());
    is_question.then(|| Card {
        subject: subject.to_owned(),
        message: message.id.clone(),
        place: message.place.clone(),
        text: message.readable(),
        buttons: words.collect(),
        raw: json!({ "buttons": buttons, "found": message.found(), "pings": message.pings }),
    })
}
