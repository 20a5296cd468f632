//! Tests for rendered messages: as people see them, and within Matrix's limits whatever they say.

use countersign_core::approval::{Approval, Choice, State};
use countersign_core::call::ToolCall;
use countersign_core::card::{Card, Definition, Lineage, Redacts};
use countersign_core::digest::Digest;
use countersign_core::id::ApprovalId;
use countersign_core::judge::consider;
use countersign_core::policy::Policy;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use serde_json::{Value, json};

use super::paint::{CARD, CONTENT_BYTES_MAX, Canvas, Ours, Painted, code, paint, read};
use super::rooms::{Room, people};
use super::split;
use super::wire::is_event_id;
use crate::order::{Aftermath, Attempt, Closing, Destination, Inquiry, Order, Shown, Subject};
use crate::press::Press;
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
        explanation: Some("It frees space; ask @ana:example.org <b>now</b>".to_owned()),
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
        key: format!("{ID}:matrix"),
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
        tenant: "https://matrix.example.org",
        place: "!room:example.org",
    };
    let mentions = order
        .closing
        .is_none()
        .then(|| "@ana:example.org".to_owned());
    paint(order, canvas, mentions.as_slice())
}

/// Returns a message as clients get it: the plain text, and the HTML.
fn shown(painted: &Painted) -> String {
    let text = |key: &str| painted.content[key].as_str().unwrap().to_owned();
    format!(
        "{}\n\n{}\n\n{}",
        text("body"),
        text("formatted_body"),
        painted.content["m.mentions"]
    )
}

#[test]
fn a_card_that_waits() {
    let order = order(Subject::Card(Box::new(terminal("rm -rf /srv/www"))));
    insta::assert_snapshot!(shown(&painted(&order)));
}

#[test]
fn a_card_that_was_answered_keeps_the_command_and_loses_the_legend() {
    let mut card = terminal("rm -rf /srv/www");
    card.settle("Denied by @ana · 14:02 UTC");
    let order = Order {
        closing: Some(Closing::Denied),
        aftermath: Aftermath {
            note: Some("see https://e.example and ask ops".to_owned()),
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
        choices: vec!["main".to_owned(), "React to this message: ✅".to_owned()],
        expires_at: UnixMillis(1_786_000_300_000),
        outcome: None,
    };
    let order = order(Subject::Question(Box::new(inquiry)));
    insta::assert_snapshot!(shown(&painted(&order)));
}

#[test]
fn every_message_fits_also_as_an_edit_and_what_is_cut_is_not_offered_to_be_allowed() {
    for letter in ["x", "é", "🙂", "\u{202e}", "& <", "\"\\"] {
        for count in [10, 1000, 4000, 12_000, 80_000] {
            let command = format!("echo {}; rm -rf /srv/www", letter.repeat(count));
            let order = order(Subject::Card(Box::new(terminal(&command))));
            let painted = painted(&order);
            assert!(
                painted.content.to_string().len() <= CONTENT_BYTES_MAX,
                "{letter} {count}"
            );
            let allows = shown(&painted).contains("✅ Allow Once");
            assert_eq!(allows, painted.shown == Shown::Whole, "{letter} {count}");
        }
    }
}

#[test]
fn a_card_says_itself_what_it_is_about_and_has_a_code_for_what_it_offers() {
    let order = order(Subject::Card(Box::new(terminal("rm -rf /srv/www"))));
    let content = painted(&order).content;
    let subject = ID.to_owned();
    assert_eq!(read(&content), Some(Ours::Card { subject }));
    for choice in [Choice::Once, Choice::Session, Choice::Always, Choice::Deny] {
        assert_eq!(
            code(&content, Press::Choose(choice)).len(),
            22,
            "{choice:?}"
        );
    }
    assert_eq!(code(&content, Press::Answer(1)), "");
    let rows = [
        json!({}),
        json!({ CARD: { "subject": "appr" } }),
        json!({ CARD: "appr_01jabcdefghjkmnpqrstvwxyz0" }),
        json!({ "countersign.prompt": { "subject": ID, "press": "deny" } }),
        Value::Null,
    ];
    for row in rows {
        assert_eq!(read(&row), None, "{row}");
    }
}

#[test]
fn a_reference_is_a_room_and_an_event_whatever_is_in_their_ids() {
    let rows = [
        ("!a:x/$1", ("!a:x", "$1")),
        ("!a:x", ("!a:x", "")),
        ("!a/b:x/$1/2+3", ("!a/b:x", "$1/2+3")),
        ("!v12room/$event", ("!v12room", "$event")),
    ];
    for (text, expected) in rows {
        assert_eq!(split(text), expected, "{text}");
    }
}

#[test]
fn only_what_can_be_an_event_is_asked_about() {
    let longest = format!("${}", "A".repeat(254));
    for id in ["$1", "$old:example.org", "$a-b_c/d+e", longest.as_str()] {
        assert!(is_event_id(id), "{id}");
    }
    let too_long = format!("{longest}A");
    for other in ["", "1", "$a b", "$a\n", "$ä", too_long.as_str()] {
        assert!(!is_event_id(other), "{other}");
    }
}

#[test]
fn nobody_is_overlooked_in_a_room() {
    let member = |key: Value, membership: &str| {
        json!({
            "type": "m.room.member", "state_key": key, "content": { "membership": membership },
            "origin_server_ts": "not a number",
        })
    };
    let pair = [
        member(json!("@bot:x"), "join"),
        member(json!("@ana:x"), "invite"),
        member(json!("@ben:x"), "ban"),
    ];
    let is_for_two = |members: &[Value]| {
        let (people, has_others) = people(members);
        Room {
            people,
            has_others,
            is_encrypted: false,
        }
        .is_for_two()
    };
    assert!(is_for_two(&pair));
    for third in [json!("@eve:x"), json!(7)] {
        let all = [pair.as_slice(), &[member(third, "join")]].concat();
        assert!(!is_for_two(&all), "{all:?}");
    }
}
