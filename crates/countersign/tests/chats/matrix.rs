//! Matrix as a venue, and what only Matrix does.
//!
//! With `COUNTERSIGN_TEST_MATRIX_URL` the same scenes run on a real homeserver, which
//! `integrations/matrix/run.py` starts; `COUNTERSIGN_TEST_MATRIX_ADMIN_TOKEN` is a token of its
//! administrator, and a request to `COUNTERSIGN_TEST_MATRIX_CONTROL` restarts it.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use countersign_core::id::{ApprovalId, ClarificationId};
use countersign_testkit::matrix::{Limit, MatrixServer, Person, Views};
use serde_json::{Value, json};

use crate::support::{Gateway, client, said};
use crate::venue::{Card, Limits, Venue, Who};

mod own;
mod setup;

/// The bot's token is in this variable of the gateway.
const TOKEN: &str = "MATRIX_TOKEN";
/// Each sign and the word of what it means.
const SIGNS: &[(&str, &str)] = &[
    ("✅", "once"),
    ("🔁", "session"),
    ("♾️", "always"),
    ("❌", "deny"),
    ("📝", "denynote"),
    ("👀", "view"),
    ("1️⃣", "answer1"),
    ("2️⃣", "answer2"),
    ("💬", "other"),
    ("↩️", "revoke"),
];
/// What stands before the signs on a card.
const LEGEND: &str = "React to this message: ";

/// Begins the transaction id of a reaction as clients make it.
const GENUINE: &str = "press";

hostile! { Matrix }

/// The homeserver of a scene.
enum Server {
    Strict(MatrixServer),
    Real { url: String },
}

pub(crate) struct Matrix {
    server: Server,
    views: Views,
    people: [Person; 3],
    bot: Person,
    room: String,
    /// Events of presses that were told, by their transaction id.
    told: Mutex<HashMap<String, String>>,
}

/// A reaction, or what somebody makes of one.
#[derive(Clone, Debug)]
pub(crate) struct Reaction {
    who: Who,
    room: String,
    kind: &'static str,
    content: Value,
    txn: String,
}

impl Matrix {
    fn person(&self, who: Who) -> &Person {
        &self.people[who as usize]
    }

    fn url(&self) -> String {
        match &self.server {
            Server::Strict(server) => server.url(),
            Server::Real { url } => url.clone(),
        }
    }

    /// Returns the strict server; `None` where the scene runs on a real one, which cannot do it.
    fn strict(&self) -> Option<&MatrixServer> {
        match &self.server {
            Server::Strict(server) => Some(server),
            Server::Real { .. } => None,
        }
    }

    /// Returns a reaction that was not sent yet.
    fn reaction(who: Who, card: &Card, key: &str) -> Reaction {
        let relation = json!({ "rel_type": "m.annotation", "event_id": card.message, "key": key });
        Reaction {
            who,
            room: card.place.clone(),
            kind: "m.reaction",
            content: json!({ "m.relates_to": relation }),
            txn: unique(GENUINE),
        }
    }

    /// Waits until the bot has dealt with an event, and who did it is in the conversation that the bot
    /// may have opened for the answer.
    fn dealt_with(&self, who: Who, room: &str, event: &str) {
        let person = self.person(who);
        let is_direct = |invite: &Value| invite.to_string().contains("\"is_direct\":true");
        let is_coming = || person.invites().values().any(is_direct);
        let is_read = || person.has_read(room, &self.bot.id, event) && !is_coming();
        assert!(
            self.views.wait(&is_read),
            "{event} was not dealt with: {:#?}",
            person.events(room)
        );
    }

    /// Returns what the bot says to somebody about what they did.
    fn told_about(&self, who: Who, event: &str) -> String {
        let person = self.person(who);
        let messages = person
            .rooms()
            .into_iter()
            .flat_map(|room| person.messages(&room));
        let about = messages.filter(|it| it["content"]["countersign.about"] == event);
        about.map(|it| text(&it)).collect()
    }

    /// Returns every message that anybody sees, oldest first, once.
    fn messages(&self) -> Vec<Value> {
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        for person in &self.people {
            for message in person.rooms().iter().flat_map(|room| person.messages(room)) {
                if seen.insert(message["event_id"].to_string()) {
                    all.push(message);
                }
            }
        }
        all.sort_by_key(|it| it["origin_server_ts"].as_i64());
        all
    }

    /// Returns what asks somebody for words or a second yes, oldest first.
    fn prompts(&self) -> Vec<Value> {
        let ours = self.messages().into_iter();
        let ours = ours.filter(|it| it["sender"] == self.bot.id.as_str());
        ours.filter(|it| it["content"]["countersign.prompt"].is_object())
            .collect()
    }

    /// Returns the conversation of somebody with the bot alone, which is opened if there is none and the
    /// bot comes. It comes for nobody who is not listed.
    fn direct(&self, who: Who) -> Option<String> {
        let person = self.person(who);
        let is_there = |room: &String| {
            let events = person.events(room);
            let is_joined = |id: &str| {
                let mut members = events.iter().filter(|it| it["type"] == "m.room.member");
                members.any(|it| it["state_key"] == id && it["content"]["membership"] == "join")
            };
            *room != self.room && is_joined(&self.bot.id) && is_joined(&person.id)
        };
        let known = || person.rooms().into_iter().find(is_there);
        if let Some(room) = known() {
            return Some(room);
        }
        if who == Who::Eve {
            return None;
        }
        let body = json!({
            "preset": "trusted_private_chat", "is_direct": true, "invite": [self.bot.id],
        });
        person.create(&body);
        assert!(
            self.views.wait(&|| known().is_some()),
            "the bot does not come"
        );
        known()
    }
}

impl Venue for Matrix {
    const NAME: &'static str = "matrix";

    type Press = Reaction;

    fn open(limits: Limits) -> Self {
        let server = match std::env::var("COUNTERSIGN_TEST_MATRIX_URL") {
            Ok(url) => Server::Real { url },
            Err(_) => Server::Strict(MatrixServer::start().unwrap()),
        };
        let url = match &server {
            Server::Strict(server) => server.url(),
            Server::Real { url } => url.clone(),
        };
        let views = Views::new();
        let person = |name: &str| Person::register(&url, &unique(name), &views).unwrap();
        let people = Who::ALL.map(|who| person(who.name()));
        let bot = person("countersign");
        // From here on the gateway is the bot.
        bot.stop();
        let [ana, ben, eve] = &people;
        let invited = [&bot.id, &ben.id, &eve.id];
        let body = json!({ "name": "Approvals", "preset": "private_chat", "invite": invited });
        let room = ana.create(&body);
        for other in [ben, eve] {
            other.join(&room);
        }
        let venue = Self {
            server,
            views,
            people,
            bot,
            room,
            told: Mutex::default(),
        };
        if limits == Limits::Tight {
            venue.limit(20, 20);
        }
        venue
    }

    fn section(&self) -> Value {
        json!({
            "type": "matrix", "url": self.url(), "token_env": TOKEN, "channel": self.room,
            "mention": false,
        })
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![(TOKEN, self.bot.token().to_owned())]
    }

    fn account(&self, who: Who) -> String {
        self.person(who).id.clone()
    }

    fn address(&self, who: Who) -> String {
        self.account(who)
    }

    // The bot asks for what is new, wherever the gateway is. It listens once it has gone into the room.
    fn lead_to(&self, _gateway: &Gateway) {
        let ana = self.person(Who::Ana);
        let is_there = || {
            let events = ana.events(&self.room);
            let mut members = events
                .iter()
                .filter(|it| it["state_key"] == self.bot.id.as_str());
            members.any(|it| it["content"]["membership"] == "join")
        };
        assert!(
            self.views.wait(&is_there),
            "the bot does not come into its room"
        );
        let event = ana.say(&self.room, "good morning", &json!({}));
        self.dealt_with(Who::Ana, &self.room, &event);
    }

    fn hold_back(&self) {}

    fn cards(&self) -> Vec<Card> {
        let ours = self.messages().into_iter();
        let ours = ours.filter(|it| it["sender"] == self.bot.id.as_str());
        ours.filter_map(|message| card(&message)).collect()
    }

    fn read_by(&self, who: Who) -> String {
        let person = self.person(who);
        let rooms = person.rooms().into_iter();
        let messages = rooms.flat_map(|room| person.messages(&room));
        messages.map(|it| text(&it) + "\n").collect()
    }

    fn wait(&self, holds: &dyn Fn() -> bool) -> bool {
        self.views.wait(holds)
    }

    fn press(&self, who: Who, card: &Card, button: &str) -> String {
        let press = self.prepare(who, card, button);
        self.tell(&press)
    }

    fn prepare(&self, who: Who, card: &Card, button: &str) -> Reaction {
        assert!(card.has(button), "no {button} on {card:?}");
        Self::reaction(who, card, sign(button))
    }

    fn tell(&self, press: &Reaction) -> String {
        let person = self.person(press.who);
        let known = self.told.lock().unwrap().get(&press.txn).cloned();
        if let Some(event) = known {
            // The server sends an event once, but may tell of it again.
            if let Some(server) = self.strict() {
                server.repeat(&event);
            }
            let marker = person.say(&press.room, "and now?", &json!({}));
            self.dealt_with(press.who, &press.room, &marker);
            return self.told_about(press.who, &event);
        }
        let sent = person.send(&press.room, press.kind, &press.txn, &press.content);
        if sent.status != 200 {
            let is_genuine = press.txn.starts_with(GENUINE);
            assert!(!is_genuine, "{press:?}: {sent:?}");
            assert!((400..500).contains(&sent.status), "{press:?}: {sent:?}");
            return String::new();
        }
        let event = sent.text("event_id").to_owned();
        self.told
            .lock()
            .unwrap()
            .insert(press.txn.clone(), event.clone());
        self.dealt_with(press.who, &press.room, &event);
        self.told_about(press.who, &event)
    }

    fn altered(&self, press: &Reaction, other: &Reaction) -> Vec<(&'static str, Reaction)> {
        let card = press.content["m.relates_to"]["event_id"].as_str().unwrap();
        let others = other.content["m.relates_to"]["event_id"].as_str().unwrap();
        // What anybody in the room can copy: everything a card says, codes included.
        let ana = self.person(Who::Ana);
        let original = || {
            let events = ana.events(&self.room).into_iter();
            let mut cards = events.filter(|it| it["event_id"] == card);
            cards.next()
        };
        assert!(
            self.wait(&|| original().is_some()),
            "Ana does not see {card}"
        );
        let original = original().unwrap();
        let eve = self.person(Who::Eve);
        let copy = eve.send(
            &self.room,
            "m.room.message",
            &unique("copy"),
            &original["content"],
        );
        let copy = copy.text("event_id").to_owned();
        let mut edit = json!({
            "msgtype": "m.text", "body": "*", "m.relates_to": { "rel_type": "m.replace", "event_id": others },
        });
        edit["m.new_content"] = original["content"].clone();
        let edited = eve.send(&self.room, "m.room.message", &unique("edit"), &edit);
        let edited = edited.text("event_id").to_owned();
        let own_room = ana.create(&json!({ "preset": "private_chat", "invite": [self.bot.id] }));
        let rows = alterations(card, &copy, &edited);
        let alter = |(name, kind, content): (&'static str, &'static str, Value)| {
            let txn = unique("altered");
            (
                name,
                Reaction {
                    kind,
                    content,
                    txn,
                    ..press.clone()
                },
            )
        };
        let mut rows: Vec<(&'static str, Reaction)> = rows.into_iter().map(alter).collect();
        // Of a stranger who says that it is hers.
        let mut forged = press.content.clone();
        forged["countersign.sender"] = json!(ana.id);
        let (who, txn) = (Who::Eve, unique("altered"));
        rows.push((
            "a stranger's",
            Reaction {
                who,
                txn,
                content: forged,
                ..press.clone()
            },
        ));
        // In a room of her own, about a card elsewhere: the server refuses it.
        let (room, txn) = (own_room, unique("altered"));
        rows.push((
            "in another room",
            Reaction {
                room,
                txn,
                ..press.clone()
            },
        ));
        rows
    }

    fn moved(&self, foreign: &Reaction, card: &Card) -> Vec<(&'static str, Reaction)> {
        let here = |content: Value| Reaction {
            who: Who::Ana,
            room: card.place.clone(),
            kind: "m.reaction",
            content,
            txn: unique("moved"),
        };
        // A card of another firewall, for our question, as somebody else can post it here.
        let mut copy = json!({ "msgtype": "m.text", "body": "Command Approval Required" });
        copy["countersign.card"] = json!({
            "v": 1, "key": "k", "subject": card.subject, "codes": { "once": "x".repeat(22) },
        });
        let eve = self.person(Who::Eve);
        let posted = eve.send(&self.room, "m.room.message", &unique("copy"), &copy);
        let mut on_copy = foreign.content.clone();
        on_copy["m.relates_to"]["event_id"] = json!(posted.text("event_id"));
        vec![
            ("as it is", here(foreign.content.clone())),
            ("on a copy, for our question", here(on_copy)),
        ]
    }

    fn asked_for(&self, _who: Who) -> usize {
        self.prompts().len()
    }

    fn fill_in(&self, who: Who, seen: usize, words: Option<&str>) {
        assert!(
            self.wait(&|| self.prompts().len() > seen),
            "nothing was asked for"
        );
        let prompt = self.prompts().swap_remove(seen);
        let (room, event) = (place(&prompt), prompt["event_id"].as_str().unwrap());
        let event = if let Some(words) = words {
            let reply = json!({ "m.relates_to": { "m.in_reply_to": { "event_id": event } } });
            self.person(who).say(&room, words, &reply)
        } else {
            let reacted = self.person(who).react(&room, event, "✅");
            assert_eq!(reacted.status, 200, "{reacted:?}");
            reacted.text("event_id").to_owned()
        };
        self.dealt_with(who, &room, &event);
    }

    fn say(&self, who: Who, text: &str) {
        let room = self.direct(who).unwrap_or_else(|| self.room.clone());
        self.person(who).say(&room, text, &json!({}));
    }

    fn command(&self, who: Who, line: &str) -> String {
        let room = self.direct(who).unwrap_or_else(|| self.room.clone());
        let line = line.replacen('/', "!countersign ", 1);
        let typed = self.person(who).say(&room, &line, &json!({}));
        self.dealt_with(who, &room, &typed);
        let told = || self.told_about(who, &typed);
        assert!(self.wait(&|| !told().is_empty()), "{line} was not answered");
        told()
    }

    fn full_text(&self, card: &Card) -> String {
        let ana = self.person(Who::Ana);
        let below = ana.messages(&card.place).into_iter().filter(|it| {
            let relation = &it["content"]["m.relates_to"];
            relation["m.in_reply_to"]["event_id"] == card.message.as_str()
        });
        let mut whole: String = below
            .map(|it| match it["content"]["url"].as_str() {
                Some(address) => ana.download(address),
                None => text(&it),
            })
            .collect();
        // The lines of a card are folded, and marked where they are.
        whole.retain(|char| !char.is_whitespace() && char != '│');
        whole
    }

    fn acts_on(&self, card: &Card) -> Vec<String> {
        let look = look(&card.raw);
        let mut acts = Vec::new();
        if look["m.mentions"] != json!({}) {
            acts.push(format!("mentions {}", look["m.mentions"]));
        }
        acts.extend(acts_of(look["formatted_body"].as_str().unwrap()));
        acts
    }

    fn restart(&mut self) {
        match &mut self.server {
            Server::Strict(server) => {
                server.stop();
                server.start_again().unwrap();
            }
            Server::Real { .. } => {
                let control = std::env::var("COUNTERSIGN_TEST_MATRIX_CONTROL").unwrap();
                assert_eq!(said(client().post(control)).status, 200);
            }
        }
    }

    fn over_the_limit(&self) -> usize {
        let hits = self.strict().map(MatrixServer::hits).unwrap_or_default();
        hits.iter().filter(|hit| hit.status == 429).count()
    }
}

impl Matrix {
    /// Lets the bot send so many events and no more.
    fn limit(&self, per_second: u32, burst: u32) {
        match &self.server {
            Server::Strict(server) => server.limit(&self.bot.id, Some(Limit { per_second, burst })),
            Server::Real { url } => {
                let token = std::env::var("COUNTERSIGN_TEST_MATRIX_ADMIN_TOKEN").unwrap();
                let user = self.bot.id.replace('@', "%40").replace(':', "%3A");
                let url = format!("{url}/_synapse/admin/v1/users/{user}/override_ratelimit");
                let body = json!({ "messages_per_second": per_second, "burst_count": burst });
                let set = said(client().post(url).bearer_auth(token).json(&body));
                assert_eq!(set.status, 200, "{set:?}");
            }
        }
    }
}

/// Returns what Ana can send instead of a reaction to a card: type and content.
fn alterations(card: &str, copy: &str, edited: &str) -> Vec<(&'static str, &'static str, Value)> {
    let relation = |how: &str, event: &str, key: &str| json!({ "m.relates_to": { "rel_type": how, "event_id": event, "key": key } });
    let annotation = "m.annotation";
    let reply = json!({ "m.in_reply_to": { "event_id": card } });
    vec![
        (
            "another sign",
            "m.reaction",
            relation(annotation, card, "👍"),
        ),
        ("a word", "m.reaction", relation(annotation, card, "once")),
        (
            "two signs",
            "m.reaction",
            relation(annotation, card, "✅✅"),
        ),
        (
            "a sign and a blank",
            "m.reaction",
            relation(annotation, card, "✅ "),
        ),
        (
            "what is not offered",
            "m.reaction",
            relation(annotation, card, "1️⃣"),
        ),
        (
            "another relation",
            "m.reaction",
            relation("m.reference", card, "✅"),
        ),
        (
            "no relation",
            "m.reaction",
            json!({ "m.relates_to": { "event_id": card, "key": "✅" } }),
        ),
        (
            "no event",
            "m.reaction",
            relation(annotation, "$nothing", "✅"),
        ),
        (
            "a copy of the card",
            "m.reaction",
            relation(annotation, copy, "✅"),
        ),
        (
            "somebody's edit of a card",
            "m.reaction",
            relation(annotation, edited, "✅"),
        ),
        (
            "the sign as a message",
            "m.room.message",
            json!({ "msgtype": "m.text", "body": "✅", "m.relates_to": reply }),
        ),
        (
            "a yes as a message",
            "m.room.message",
            json!({ "msgtype": "m.text", "body": "yes", "m.relates_to": reply }),
        ),
    ]
}

/// Returns a name that nothing had before, also not in an earlier run on the same server.
fn unique(name: &str) -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    format!("{name}-{:x}-{number}", now.as_millis())
}

fn sign(word: &str) -> &'static str {
    let known = SIGNS.iter().find(|(_, known)| *known == word);
    known.unwrap_or_else(|| panic!("{word} has no sign")).0
}

fn place(message: &Value) -> String {
    message["room_id"].as_str().unwrap_or("").to_owned()
}

/// Returns how a message looks now.
fn look(message: &Value) -> &Value {
    message.get("look").unwrap_or(&message["content"])
}

fn text(message: &Value) -> String {
    look(message)["body"].as_str().unwrap_or("").to_owned()
}

fn card(message: &Value) -> Option<Card> {
    let subject = message["content"]["countersign.card"]["subject"].as_str()?;
    assert!(ApprovalId::is_id(subject) || ClarificationId::is_id(subject));
    let text = text(message);
    let legend = text.lines().next_back()?.strip_prefix(LEGEND).unwrap_or("");
    let shown = |sign: &str| legend.split([' ', '·']).any(|it| it == sign);
    let buttons = SIGNS.iter().filter(|(sign, _)| shown(sign));
    let buttons = buttons.map(|(_, word)| (*word).to_owned()).collect();
    Some(Card {
        subject: subject.to_owned(),
        message: message["event_id"].as_str()?.to_owned(),
        place: place(message),
        buttons,
        raw: message.clone(),
        text,
    })
}

/// Returns what a client would act on in HTML: tags that are not ours, and links and names outside code.
fn acts_of(html: &str) -> Vec<String> {
    let mut acts = Vec::new();
    let (mut prose, mut depth) = (String::new(), 0_u32);
    let mut rest = html;
    while let Some((before, behind)) = rest.split_once('<') {
        if depth == 0 {
            prose.push_str(before);
        }
        let Some((tag, behind)) = behind.split_once('>') else {
            acts.push(format!("a tag without an end in {html}"));
            break;
        };
        match tag {
            "pre" | "code" => depth += 1,
            "/pre" | "/code" => depth -= 1,
            "strong" | "/strong" => {}
            "br" => prose.push('\n'),
            other => acts.push(format!("<{other}>")),
        }
        rest = behind;
    }
    prose.push_str(rest);
    let signs = ["@", "://", "www.", "](", "#", "matrix:"].into_iter();
    let found = signs.filter(|sign| prose.replace("&#39;", "'").contains(sign));
    acts.extend(found.map(|sign| format!("{sign} in {prose}")));
    acts
}
