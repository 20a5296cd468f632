//! Telegram as a venue, and what only Telegram does.

use std::sync::atomic::{AtomicI64, Ordering};

use countersign_channels::press::Press;
use countersign_core::id::{ApprovalId, ClarificationId};
use countersign_testkit::telegram::{Limit, Message, TelegramServer};
use serde_json::{Value, json};

use crate::support::Gateway;
use crate::venue::{Card, Limits, Venue, Who};

mod own;
mod setup;

/// The bot's token is in this variable of the gateway.
const TOKEN: &str = "TELEGRAM_TOKEN";
/// The group.
const GROUP: i64 = -1_001_234_567_890;

hostile! { Telegram }

pub(crate) struct Telegram {
    server: TelegramServer,
    /// More variables of the gateway.
    more: Vec<(&'static str, String)>,
}

impl Telegram {
    pub(crate) fn id(who: Who) -> i64 {
        match who {
            Who::Ana => 1001,
            Who::Ben => 1002,
            Who::Eve => 1003,
        }
    }

    /// Returns what asks somebody for words or a second yes, oldest first.
    fn prompts(&self) -> Vec<Message> {
        let messages = self.server.messages().into_iter();
        let asks = |it: &Message| {
            it.markup.get("force_reply").is_some() || it.text.starts_with("Allow permanently?")
        };
        messages.filter(asks).collect()
    }

    fn press_with(&self, who: Who, card: &Card, data: &str) -> Value {
        let (chat, message) = (card.place.parse().unwrap(), card.message.parse().unwrap());
        self.server.press(Self::id(who), chat, message, data)
    }
}

impl Venue for Telegram {
    const NAME: &'static str = "telegram";

    type Press = Value;

    fn open(limits: Limits) -> Self {
        static BOTS: AtomicI64 = AtomicI64::new(700_000_001);
        let bot = BOTS.fetch_add(1, Ordering::Relaxed);
        let server = TelegramServer::start(bot, "countersign_bot").unwrap();
        for who in Who::ALL {
            server.person(Self::id(who), who.name());
        }
        server.group(GROUP, "Approvals", &Who::ALL.map(Self::id));
        let limit = Limit {
            per_second: 20,
            burst: 20,
        };
        server.limit((limits == Limits::Tight).then_some(limit));
        let more = Vec::new();
        Self { server, more }
    }

    fn section(&self) -> Value {
        json!({
            "type": "telegram", "url": self.server.url(), "token_env": TOKEN,
            "channel": GROUP.to_string(),
        })
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        let mut variables = vec![(TOKEN, self.server.token().to_owned())];
        variables.extend(self.more.iter().cloned());
        variables
    }

    fn account(&self, who: Who) -> String {
        Self::id(who).to_string()
    }

    fn address(&self, who: Who) -> String {
        self.account(who)
    }

    // The bot asks for what is new, wherever the gateway is.
    fn lead_to(&self, _gateway: &Gateway) {}

    fn hold_back(&self) {}

    fn cards(&self) -> Vec<Card> {
        let messages = self.server.messages().into_iter();
        let ours = messages.filter(|it| it.from == self.server.bot());
        ours.filter_map(|message| card(&message)).collect()
    }

    fn read_by(&self, who: Who) -> String {
        let messages = self.server.messages().into_iter();
        let seen = messages.filter(|it| [GROUP, Self::id(who)].contains(&it.chat));
        seen.map(|it| it.text + "\n" + it.document.as_deref().unwrap_or(""))
            .collect()
    }

    fn wait(&self, holds: &dyn Fn() -> bool) -> bool {
        self.server.wait(holds)
    }

    fn press(&self, who: Who, card: &Card, button: &str) -> String {
        let press = self.prepare(who, card, button);
        self.tell(&press)
    }

    fn prepare(&self, who: Who, card: &Card, button: &str) -> Value {
        let buttons = card.raw["buttons"].as_array().unwrap();
        let mut buttons = buttons
            .iter()
            .map(|it| it["callback_data"].as_str().unwrap());
        let data = buttons.find(|data| word(data) == button);
        let data = data.unwrap_or_else(|| panic!("no button {button} on {card:?}"));
        self.press_with(who, card, data)
    }

    fn tell(&self, press: &Value) -> String {
        self.server.forget_answer(press);
        self.server.tell_press(press);
        let alert = self.server.answered(press);
        alert
            .unwrap_or_else(|| panic!("{press} was not answered"))
            .text
    }

    fn altered(&self, press: &Value, other: &Value) -> Vec<(&'static str, Value)> {
        let data = press["data"].as_str().unwrap();
        let others = other["data"].as_str().unwrap();
        let (head, code) = data.split_at(29);
        let always = format!("{}a{code}", head.get(..28).unwrap());
        let first = if code.starts_with('A') { 'B' } else { 'A' };
        let swapped = format!("{head}{first}{}", code.get(1..).unwrap());
        let rows = [
            ("no data", "/data", json!("")),
            ("nonsense", "/data", json!("once")),
            ("64 bytes of nonsense", "/data", json!("x".repeat(64))),
            ("an altered code", "/data", json!(swapped)),
            (
                "a code that is cut",
                "/data",
                json!(data.get(..data.len() - 1).unwrap()),
            ),
            ("another choice", "/data", json!(always)),
            (
                "a code of another card",
                "/data",
                json!(format!("{head}{}", others.get(29..).unwrap())),
            ),
            ("a button of another card", "/data", json!(others)),
            (
                "another kind of question",
                "/data",
                json!(data.replacen('a', "c", 1)),
            ),
            (
                "another version",
                "/data",
                json!(data.replacen('1', "2", 1)),
            ),
            ("another message", "/message", other["message"].clone()),
            (
                "another place",
                "/message/chat/id",
                json!(Self::id(Who::Ana)),
            ),
            ("no message", "/message", Value::Null),
            ("a bot", "/from/is_bot", json!(true)),
        ];
        let alter = |(name, path, value): (&'static str, &str, Value)| {
            // Each a press of its own, or the first would use it up.
            let mut altered = press.clone();
            altered["id"] = json!(format!("{name} {}", press["id"]));
            *altered.pointer_mut(path).unwrap() = value;
            (name, altered)
        };
        rows.map(alter).to_vec()
    }

    fn moved(&self, foreign: &Value, card: &Card) -> Vec<(&'static str, Value)> {
        let data = foreign["data"].as_str().unwrap();
        let (_, letters) = card.subject.split_once('_').unwrap();
        let renamed = format!(
            "{}{letters}{}",
            data.get(..2).unwrap(),
            data.get(28..).unwrap()
        );
        vec![
            ("as it is", foreign.clone()),
            ("on our card", self.press_with(Who::Ana, card, data)),
            (
                "on our card, for its question",
                self.press_with(Who::Ana, card, &renamed),
            ),
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
        if let Some(words) = words {
            self.server
                .say(Self::id(who), prompt.chat, Some(prompt.id), words);
            return;
        }
        let button = prompt.buttons().swap_remove(0);
        let data = button["callback_data"].as_str().unwrap();
        let press = self
            .server
            .press(Self::id(who), prompt.chat, prompt.id, data);
        self.tell(&press);
    }

    fn say(&self, who: Who, text: &str) {
        let id = Self::id(who);
        self.server.say(id, id, None, text);
    }

    fn command(&self, who: Who, line: &str) -> String {
        assert!(
            self.wait(&|| self.server.menu().is_array()),
            "there is no menu"
        );
        let id = Self::id(who);
        let typed = self.server.say(id, id, None, line);
        let reply = || {
            let messages = self.server.messages().into_iter();
            let mut replies = messages.filter(|it| it.chat == id && it.reply_to == Some(typed));
            replies.next()
        };
        assert!(self.wait(&|| reply().is_some()), "{line} was not answered");
        reply().unwrap().text
    }

    fn full_text(&self, card: &Card) -> String {
        let messages = self.server.messages().into_iter();
        let below = messages.filter(|it| {
            it.chat.to_string() == card.place
                && it.reply_to.map(|id| id.to_string()).as_ref() == Some(&card.message)
        });
        let mut whole: String = below.map(|it| it.document.unwrap_or(it.text)).collect();
        // The lines of a card are folded, and marked where they are.
        whole.retain(|char| !char.is_whitespace() && char != '│');
        whole
    }

    fn acts_on(&self, card: &Card) -> Vec<String> {
        let found = card.raw["found"].as_array().unwrap().iter();
        let ours = card.raw["entities"].as_array().unwrap().iter();
        let foreign =
            ours.filter(|it| !["bold", "code", "pre"].contains(&it["type"].as_str().unwrap()));
        found.chain(foreign).map(Value::to_string).collect()
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

/// Returns the word of what a button with little room carries.
pub(crate) fn word(data: &str) -> &'static str {
    let letter = data.chars().nth(28).and_then(Press::of_letter);
    letter.map_or("none", Press::word)
}

fn card(message: &Message) -> Option<Card> {
    let last = message.text.lines().next_back()?;
    let subject = last.split(' ').next()?;
    let is_card = ApprovalId::is_id(subject) || ClarificationId::is_id(subject);
    let buttons = message.buttons();
    let words = buttons
        .iter()
        .map(|it| word(it["callback_data"].as_str().unwrap()).to_owned());
    is_card.then(|| Card {
        subject: subject.to_owned(),
        message: message.id.to_string(),
        place: message.chat.to_string(),
        text: message.text.clone(),
        buttons: words.collect(),
        raw: json!({ "buttons": buttons, "found": message.found, "entities": message.entities }),
    })
}
