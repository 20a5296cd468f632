//! Mattermost as a venue. What only Mattermost does is in the suite of that name.

use std::sync::Mutex;

use countersign_core::command::TABLE;
use countersign_testkit::mattermost::{
    MattermostServer, Person, Place, RateLimit, Settings, Signer, outside_code,
};
use countersign_testkit::relay::Relay;
use serde_json::{Value, json};

use crate::support::{Gateway, client, said};
use crate::venue::{Card, Limits, Venue, Who};

/// The bot's token is in this variable of the gateway.
const TOKEN: &str = "MATTERMOST_TOKEN";

hostile! { Mattermost }

pub(crate) struct Mattermost {
    server: MattermostServer,
    place: Place,
    people: [Person; 3],
    /// The conversation of each with the bot.
    directs: [String; 3],
    /// Between the server and the gateway.
    relay: Relay,
    gateway: Mutex<String>,
}

impl Mattermost {
    fn person(&self, who: Who) -> &Person {
        &self.people[who as usize]
    }

    /// Returns what is written where `place` is, as the server keeps it.
    fn posts(&self, place: &str) -> Vec<Value> {
        self.server.kept_posts(place)
    }

    fn gateway(&self) -> String {
        self.gateway.lock().unwrap().clone()
    }
}

impl Venue for Mattermost {
    const NAME: &'static str = "mattermost";

    type Press = Value;

    fn open(limits: Limits) -> Self {
        let rate_limit = match limits {
            Limits::None => None,
            Limits::Tight => Some(RateLimit {
                per_second: 40,
                burst: 20,
            }),
        };
        let settings = Settings {
            rate_limit: None,
            ..Settings::default()
        };
        let server = MattermostServer::start(settings).unwrap();
        let place = Place::prepare(server.url(), server.admin_token()).unwrap();
        let people = Who::ALL.map(|who| place.person(who.name()).unwrap());
        let directs = [0, 1, 2].map(|at: usize| people[at].direct(&place.bot.id));
        // Only now: preparing is not what is limited.
        server.set(|settings| settings.rate_limit = rate_limit);
        Self {
            server,
            place,
            people,
            directs,
            relay: Relay::start().unwrap(),
            gateway: Mutex::default(),
        }
    }

    fn section(&self) -> Value {
        json!({
            "type": "mattermost", "url": self.place.url, "token_env": TOKEN,
            "team": self.place.team_name, "channel": self.place.channel_name,
            "callback_url": self.relay.url(), "mention": false,
        })
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![(TOKEN, self.place.bot.token().to_owned())]
    }

    fn account(&self, who: Who) -> String {
        self.person(who).id.clone()
    }

    fn address(&self, who: Who) -> String {
        format!("@{}", self.person(who).name)
    }

    fn lead_to(&self, gateway: &Gateway) {
        gateway.url.clone_into(&mut self.gateway.lock().unwrap());
        self.relay.lead_to(&gateway.url);
    }

    fn hold_back(&self) {
        self.relay.hold_back();
    }

    fn cards(&self) -> Vec<Card> {
        let places = self.directs.iter().chain([&self.place.channel_id]);
        let posts = places.flat_map(|place| self.posts(place));
        posts.filter_map(|post| card(&post)).collect()
    }

    fn read_by(&self, who: Who) -> String {
        let places = [&self.directs[who as usize], &self.place.channel_id];
        let posts = places.into_iter().flat_map(|place| self.posts(place));
        posts.map(|post| text(&post) + "\n").collect()
    }

    fn wait(&self, holds: &dyn Fn() -> bool) -> bool {
        self.server.wait_for_hits(|_| holds())
    }

    fn press(&self, who: Who, card: &Card, button: &str) -> String {
        let person = self.person(who);
        let seen = person.events_so_far();
        let clicked = person.click(&card.message, button);
        assert_eq!(clicked.status, 200, "{clicked:?}");
        // A button that asks for more says nothing by itself.
        let is_more = matches!(button, "denynote" | "other" | "always") && who != Who::Eve;
        if is_more {
            return String::new();
        }
        person.wait_for_whisper(seen).unwrap()
    }

    fn prepare(&self, who: Who, card: &Card, button: &str) -> Value {
        self.relay.hold_back();
        let clicked = self.person(who).click(&card.message, button);
        self.relay.lead_to(&self.gateway());
        assert!(matches!(clicked.status, 400 | 503), "{clicked:?}");
        let passed = self.relay.passed();
        serde_json::from_slice(&passed.last().unwrap().body).unwrap()
    }

    fn tell(&self, press: &Value) -> String {
        let url = format!("{}/channels/mattermost/action", self.gateway());
        let answer = said(client().post(url).json(press));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body["ephemeral_text"]
            .as_str()
            .unwrap_or("")
            .to_owned()
    }

    fn altered(&self, press: &Value, other: &Value) -> Vec<(&'static str, Value)> {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        let now = i64::try_from(now.as_millis()).unwrap();
        let foreign = Signer::new()
            .unwrap()
            .trigger_id(&self.person(Who::Ana).id, now);
        let old = self
            .server
            .signer()
            .trigger_id(&self.person(Who::Ana).id, now - 3_600_000);
        let context = |key: &str| other["context"][key].clone();
        let rows = [
            ("no code", "/context/t", json!("")),
            ("a code of another card", "/context/t", context("t")),
            ("another choice", "/context/d", json!("always")),
            ("another question", "/context/a", context("a")),
            ("another digest", "/context/g", context("g")),
            (
                "the context of another card",
                "/context",
                other["context"].clone(),
            ),
            ("no trigger", "/trigger_id", json!("")),
            ("a trigger of another server", "/trigger_id", json!(foreign)),
            ("an old trigger", "/trigger_id", json!(old)),
            (
                "another person",
                "/user_id",
                json!(self.person(Who::Ben).id),
            ),
            ("another message", "/post_id", other["post_id"].clone()),
            ("another place", "/channel_id", json!(self.directs[0])),
            ("another kind", "/type", json!("dialog_action")),
        ];
        let alter = |(name, path, value): (&'static str, &str, Value)| {
            let mut press = press.clone();
            *press.pointer_mut(path).unwrap() = value;
            (name, press)
        };
        rows.map(alter).to_vec()
    }

    fn moved(&self, foreign: &Value, card: &Card) -> Vec<(&'static str, Value)> {
        let ours = |context: Value| {
            let mut press = self.prepare(Who::Ana, card, "once");
            press["context"] = context;
            press
        };
        let mut renamed = foreign["context"].clone();
        renamed["a"] = json!(card.subject);
        vec![
            ("as it is", foreign.clone()),
            ("on our card", ours(foreign["context"].clone())),
            ("on our card, for its question", ours(renamed)),
        ]
    }

    fn asked_for(&self, who: Who) -> usize {
        let events = self.person(who).events();
        events
            .iter()
            .filter(|event| event["event"] == "open_dialog")
            .count()
    }

    fn fill_in(&self, who: Who, seen: usize, words: Option<&str>) {
        let person = self.person(who);
        let opened = |event: &Value| event["event"] == "open_dialog";
        // Where in all events the first of the new dialogs is.
        let events = person.events();
        let mut dialogs = events.iter().enumerate().filter(|(_, event)| opened(event));
        let behind = dialogs.nth(seen).map_or(events.len(), |(at, _)| at);
        let dialog = person.wait_for_dialog(behind).unwrap();
        let name = dialog["dialog"]["elements"][0]["name"].as_str();
        let filled = match (name, words) {
            (Some(name), Some(words)) => json!({ name: words }),
            _ => json!({}),
        };
        let sent = person.submit(&dialog, &self.place, &filled);
        assert_eq!((sent.status, sent.text("error")), (200, ""), "{sent:?}");
    }

    fn say(&self, who: Who, text: &str) {
        let said = self.person(who).say(&self.directs[who as usize], "", text);
        assert_eq!(said.status, 201, "{said:?}");
    }

    fn command(&self, who: Who, line: &str) -> String {
        let team = &self.place.team_id;
        let kept = || self.server.kept_commands(team).len() >= TABLE.len();
        assert!(self.wait(&kept), "the commands are not registered");
        let direct = &self.directs[who as usize];
        // Some names are Mattermost's own; ours have a prefix then.
        let name = line.trim_start_matches('/').split(' ').next().unwrap();
        let is_taken = !self.server.kept_commands(team).contains_key(name);
        let prefixed = line.replacen('/', "/cs-", 1);
        let line = if is_taken { &prefixed } else { line };
        let typed = self.person(who).command(direct, team, line);
        assert_eq!(typed.status, 200, "{line}: {typed:?}");
        typed.text("text").to_owned()
    }

    fn full_text(&self, card: &Card) -> String {
        let mut whole = String::new();
        let below = self.posts(&card.place);
        for post in below
            .iter()
            .filter(|post| post["root_id"] == card.message.as_str())
        {
            whole.push_str(post["message"].as_str().unwrap());
            for id in post["file_ids"].as_array().into_iter().flatten() {
                let path = format!("/files/{}", id.as_str().unwrap());
                let file = self.person(Who::Ana).get(&path);
                whole.push_str(file.body.as_str().unwrap());
            }
        }
        // The lines of a card are folded, and marked where they are.
        whole.retain(|char| !char.is_whitespace() && char != '│');
        whole
    }

    fn acts_on(&self, card: &Card) -> Vec<String> {
        let prose = outside_code(&text(&card.raw));
        let acted = ["@", "](", "://", "<", "www."].into_iter();
        let acted = acted.filter(|sign| prose.contains(sign));
        acted.map(|sign| format!("{sign} in {prose}")).collect()
    }

    fn restart(&mut self) {
        self.server.stop();
        self.server.start_again().unwrap();
        for person in &self.people {
            person.listen().unwrap();
        }
    }

    fn over_the_limit(&self) -> usize {
        let hits = self.server.hits();
        hits.iter().filter(|hit| hit.status == 429).count()
    }
}

fn card(post: &Value) -> Option<Card> {
    let first = post["props"]["attachments"].get(0)?;
    let subject = post["props"]["countersign"].as_str()?.split(':').next()?;
    let actions = first["actions"].as_array().into_iter().flatten();
    Some(Card {
        subject: subject.to_owned(),
        message: post["id"].as_str()?.to_owned(),
        place: post["channel_id"].as_str()?.to_owned(),
        text: text(post),
        buttons: actions
            .map(|it| it["id"].as_str().unwrap().to_owned())
            .collect(),
        raw: post.clone(),
    })
}

/// Returns everything people read of a post.
fn text(post: &Value) -> String {
    let mut text = post["message"].as_str().unwrap_or("").to_owned();
    for attachment in post["props"]["attachments"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let fields = attachment["fields"].as_array().into_iter().flatten();
        let fields = fields.flat_map(|field| [&field["title"], &field["value"]]);
        let parts = [
            &attachment["title"],
            &attachment["text"],
            &attachment["footer"],
        ];
        for part in parts.into_iter().chain(fields) {
            text.push('\n');
            text.push_str(part.as_str().unwrap_or(""));
        }
    }
    text
}
