//! Tests for rendered messages: as people see them, and within Telegram's limits whatever they say.

use std::fmt::Write as _;

use countersign_core::approval::{Approval, Choice, State};
use countersign_core::call::ToolCall;
use countersign_core::card::{Card, Definition, Lineage, Redacts};
use countersign_core::digest::Digest;
use countersign_core::id::ApprovalId;
use countersign_core::judge::consider;
use countersign_core::policy::Policy;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use serde_json::Value;

use super::paint::{Canvas, Painted, UNITS_MAX, paint};
use super::{Telegram, TelegramSettings};
use crate::chat::Chat as _;
use crate::order::{Aftermath, Attempt, Closing, Destination, Inquiry, Order, Shown, Subject};
use crate::press::{Clicker, Standing};
use crate::rich::units;
use crate::seal::Seal;

const ID: &str = "appr_01jabcdefghjkmnpqrstvwxyz0";

fn terminal(command: &str) -> Card {
    let call = ToolCall::command(command).from_directory("/home/dev/project");
    let (assessment, _) = consider(&Policy::default(), &call);
    let approval = Approval {
        id: ApprovalId(ID.to_owned()),
        digest: Digest([7; 32]),
        asked_at: UnixMillis(1_786_000_000_000),
        expires_at: UnixMillis(1_786_000_300_000),
        choices: vec![Choice::Once, Choice::Session, Choice::Always, Choice::Deny],
        extended_millis: 0,
        undo_millis: 0,
        state: State::Waiting,
    };
    let lineage = Lineage {
        key_name: "build".to_owned(),
        agent: Some("build-bot".to_owned()),
        run: "run_1".to_owned(),
        session: "s1".to_owned(),
        explanation: Some("It frees space; tap /approve @ana".to_owned()),
        tier: Tier::T2,
        known_recipients: None,
        help_lines: Vec::new(),
        definition: Definition::Unsaid,
    };
    Card::new(&approval, &call, &assessment, &lineage, Redacts::Secrets)
}

fn order(what: Subject) -> Order {
    Order {
        what,
        key: format!("{ID}:telegram"),
        to: Destination::Usual,
        since: UnixMillis(0),
        attempt: Attempt::First,
        is_opened: false,
        closing: None,
        is_crisis: false,
        aftermath: Aftermath::default(),
        callees: Vec::new(),
        seal: Seal::new([1; 32]),
    }
}

fn painted(order: &Order) -> Painted {
    let canvas = Canvas {
        tenant: "700000001",
        place: "-1001234567890",
    };
    paint(order, canvas)
}

/// Returns a message as people see it: its text with what is set apart between signs, and its buttons.
fn shown(painted: &Painted) -> String {
    let mut all: Vec<u16> = Vec::new();
    let text: Vec<u16> = painted.text.text().encode_utf16().collect();
    let entities = serde_json::to_value(painted.text.entities()).unwrap();
    let number =
        |entity: &Value, key: &str| usize::try_from(entity[key].as_u64().unwrap()).unwrap();
    for (at, unit) in text.iter().chain([&0]).enumerate() {
        for entity in entities.as_array().unwrap() {
            let (offset, length) = (number(entity, "offset"), number(entity, "length"));
            let kind = entity["type"].as_str().unwrap();
            if at == offset {
                all.extend(format!("⟦{kind} ").encode_utf16());
            }
            if at == offset + length {
                all.extend("⟧".encode_utf16());
            }
        }
        if at < text.len() {
            all.push(*unit);
        }
    }
    let mut shown = String::from_utf16(&all).unwrap();
    for row in painted.keyboard["inline_keyboard"].as_array().unwrap() {
        let row = row.as_array().unwrap().iter();
        let names: Vec<&str> = row.map(|button| button["text"].as_str().unwrap()).collect();
        let _infallible = write!(shown, "\n[ {} ]", names.join(" | "));
    }
    shown
}

#[test]
fn a_card_that_waits() {
    let order = order(Subject::Card(Box::new(terminal("rm -rf /srv/www"))));
    insta::assert_snapshot!(shown(&painted(&order)));
}

#[test]
fn a_card_that_was_answered_keeps_the_command_and_loses_the_buttons() {
    let mut card = terminal("rm -rf /srv/www");
    card.settle("Denied by @ana · 14:02 UTC");
    let order = Order {
        closing: Some(Closing::Denied),
        aftermath: Aftermath {
            note: Some("see /pending and ask ops".to_owned()),
            ..Aftermath::default()
        },
        ..order(Subject::Card(Box::new(card)))
    };
    insta::assert_snapshot!(shown(&painted(&order)));
}

#[test]
fn a_question_of_the_agent() {
    let inquiry = Inquiry {
        id: "clar_01jabcdefghjkmnpqrstvwxyz0".to_owned(),
        question: "Which branch? See https://e.example".to_owned(),
        choices: vec!["main".to_owned(), "x".repeat(60)],
        expires_at: UnixMillis(1_786_000_300_000),
        outcome: None,
    };
    let order = order(Subject::Question(Box::new(inquiry)));
    insta::assert_snapshot!(shown(&painted(&order)));
}

#[test]
fn every_message_fits_and_what_is_cut_is_not_offered_to_be_allowed() {
    for letter in ["x", "é", "🙂", "\u{202e}", "` "] {
        for count in [10, 1000, 2000, 3500, 4096, 80_000] {
            let command = format!("echo {}; rm -rf /srv/www", letter.repeat(count));
            let order = order(Subject::Card(Box::new(terminal(&command))));
            let painted = painted(&order);
            assert!(units(painted.text.text()) <= UNITS_MAX, "{letter} {count}");
            let allows = shown(&painted).contains("Allow Once");
            assert_eq!(allows, painted.shown == Shown::Whole, "{letter} {count}");
            for row in painted.keyboard["inline_keyboard"].as_array().unwrap() {
                for button in row.as_array().unwrap() {
                    let data = button["callback_data"].as_str().unwrap();
                    assert!((1..=64).contains(&data.len()), "{data}");
                }
            }
        }
    }
}

#[test]
fn a_long_question_is_shortened_and_can_be_answered() {
    let inquiry = Inquiry {
        id: "clar_01jabcdefghjkmnpqrstvwxyz0".to_owned(),
        question: "🙂".repeat(5000),
        choices: vec!["🙂".repeat(200); 9],
        expires_at: UnixMillis(0),
        outcome: None,
    };
    let order = order(Subject::Question(Box::new(inquiry)));
    let painted = painted(&order);
    assert!(units(painted.text.text()) <= UNITS_MAX);
    assert!(shown(&painted).contains("Other…"));
}

#[test]
fn what_a_shared_secret_can_forge_proves_less() {
    let bot = |callback_url: Option<&str>| {
        let settings = TelegramSettings {
            name: "telegram".to_owned(),
            url: "https://api.telegram.org".to_owned(),
            token: "123456789:AAF-token_of_tests".to_owned(),
            channel: None,
            callback_url: callback_url.map(str::to_owned),
            secret: callback_url.map(|_| "s3cret_of_the_webhook".to_owned()),
            commands: true,
            talk: true,
            accounts: Vec::new(),
        };
        Telegram::new(settings).unwrap()
    };
    let clicker = || Clicker {
        account: "1001".to_owned(),
        standing: Standing::Person,
    };
    let rows = [
        (None, Tier::T3),
        (Some("https://gateway.example"), Tier::T1),
    ];
    for (callback_url, expected) in rows {
        let bot = bot(callback_url);
        assert_eq!(bot.separation(), expected, "{callback_url:?}");
        assert_eq!(bot.click(clicker()).tier, expected, "{callback_url:?}");
    }
}
