//! Tests of settings and of what a card becomes.

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

use super::paint::{Canvas, Painted, paint};
use super::settings::{Arrival, DiscordSettings};
use super::{Discord, is_id, is_token};
use crate::order::{Aftermath, Attempt, Destination, Inquiry, Order, Shown, Subject};
use crate::seal::Seal;

fn settings() -> DiscordSettings {
    DiscordSettings {
        name: "discord".to_owned(),
        url: "https://discord.com/api/v10/".to_owned(),
        token: "MTMw.Gab.c-d_e".to_owned(),
        arrival: Arrival::Gateway,
        guild: None,
        channel: None,
        commands: true,
        talk: true,
        mention: true,
        accounts: vec!["discord".to_owned()],
    }
}

#[test]
fn settings_that_cannot_work_are_refused_with_what_to_do() {
    type Break = fn(&mut DiscordSettings);
    let rows: [(&str, &str, Break); 7] = [
        ("a client secret", "Reset Token", |it| {
            "abcdefghijklmnop".clone_into(&mut it.token);
        }),
        ("a token with its kind", "Reset Token", |it| {
            "Bot MTMw.Gab.c".clone_into(&mut it.token);
        }),
        ("a name for a channel", "`channel` must be an id", |it| {
            it.channel = Some("#approvals".to_owned());
        }),
        ("a name for a server", "`guild` must be an id", |it| {
            it.guild = Some("Example".to_owned());
        }),
        ("http", "https", |it| {
            "http://discord.com/api".clone_into(&mut it.url);
        }),
        ("a short key", "64 hexadecimal digits", |it| {
            it.arrival = Arrival::Requests {
                public_key: "abc".to_owned(),
                callback_url: "https://gate.example.org".to_owned(),
            };
        }),
        ("no address", "`callback_url`", |it| {
            it.arrival = Arrival::Requests {
                public_key: "0a".repeat(32),
                callback_url: "gate".to_owned(),
            };
        }),
    ];
    for (name, words, change) in rows {
        let mut settings = settings();
        change(&mut settings);
        let why = Discord::new(settings).unwrap_err();
        assert!(why.contains(words), "{name}: {why}");
    }
    let discord = Discord::new(settings()).unwrap();
    let shown = format!("{discord:?} {:?}", settings());
    assert!(!shown.contains("MTMw"), "{shown}");
}

#[test]
fn ids_and_tokens_are_told_from_other_texts() {
    for id in ["1", "1100000000000000000"] {
        assert!(is_id(id), "{id}");
    }
    for other in ["", "0", "+1", "-1", "1a", "99999999999999999999999"] {
        assert!(!is_id(other), "{other}");
    }
    assert!(is_token("a.b.c"));
    for other in ["", "a.b", "a.b.c.d", "a..c", "a.b.c d"] {
        assert!(!is_token(other), "{other}");
    }
}

fn order(what: Subject) -> Order {
    Order {
        what,
        key: "key".to_owned(),
        to: Destination::Usual,
        since: UnixMillis(0),
        attempt: Attempt::First,
        is_opened: false,
        closing: None,
        is_crisis: false,
        aftermath: Aftermath::default(),
        callees: vec!["1100".to_owned(), "@everyone".to_owned()],
        seal: Seal::new([1; 32]),
    }
}

fn painted(order: &Order, mentions: bool) -> Painted {
    let canvas = Canvas {
        tenant: "1",
        place: "2",
        mentions,
    };
    paint(order, &canvas)
}

fn inquiry(question: &str, choices: &[&str]) -> Subject {
    Subject::Question(Box::new(Inquiry {
        id: format!("clar_{}", "0".repeat(26)),
        question: question.to_owned(),
        choices: choices.iter().map(|it| (*it).to_owned()).collect(),
        expires_at: UnixMillis(1_786_000_000_000),
        outcome: None,
    }))
}

fn lengths(body: &Value) -> usize {
    let embeds = body["embeds"].as_array().unwrap().iter();
    let texts = embeds.flat_map(|it| [&it["description"], &it["footer"]["text"]]);
    let texts = texts.filter_map(Value::as_str);
    texts.map(|it| it.encode_utf16().count()).sum()
}

#[test]
fn a_question_is_painted_with_a_button_for_each_answer() {
    let order = order(inquiry("Which `branch`?", &["main", "@here"]));
    let body = painted(&order, true).body;
    let rows = body["components"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    let buttons = rows[0]["components"].as_array().unwrap();
    let labels: Vec<&str> = buttons
        .iter()
        .map(|it| it["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["1. main", "2. @here", "Other…"]);
    for button in buttons {
        assert!(
            button["custom_id"].as_str().unwrap().len() <= 100,
            "{button}"
        );
    }
    assert_eq!(body["content"], "❓ Clarification Needed <@1100>");
    let mentions = json!({ "parse": [], "users": ["1100"] });
    assert_eq!(body["allowed_mentions"], mentions, "only ids are mentioned");
    assert_eq!(
        body["embeds"][0]["description"],
        "A question from the agent. An answer permits nothing.\n```\nWhich `branch`?\n```\n1\\. `main`\n2\\. `@here`"
    );
    let quiet = painted(&order, false).body;
    assert_eq!(quiet["content"], "❓ Clarification Needed");
    assert_eq!(
        quiet["allowed_mentions"],
        json!({ "parse": [], "users": [] })
    );
}

#[test]
fn ten_answers_take_two_rows_and_a_long_question_is_shortened() {
    let long = "`".repeat(9000);
    let choices = [long.as_str(); 9];
    let body = painted(&order(inquiry(&long, &choices)), false).body;
    let rows = body["components"].as_array().unwrap();
    let counts: Vec<usize> = rows
        .iter()
        .map(|it| it["components"].as_array().unwrap().len())
        .collect();
    assert_eq!(counts, [5, 5]);
    assert!(lengths(&body) <= 6000, "{}", lengths(&body));
}

fn terminal(command: &str) -> Order {
    let call = ToolCall::command(command).from_directory("/home/dev/project");
    let (assessment, _) = consider(&Policy::default(), &call);
    let approval = Approval {
        id: ApprovalId(format!("appr_{}", "0".repeat(26))),
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
        explanation: Some("It frees ``` space.".to_owned()),
        tier: Tier::T2,
        known_recipients: None,
        help_lines: Vec::new(),
        definition: Definition::Unsaid,
    };
    let card = Card::new(&approval, &call, &assessment, &lineage, Redacts::Secrets);
    order(Subject::Card(Box::new(card)))
}

/// Returns a card as Discord gets it: the headline, the embeds, buttons in brackets.
fn seen(order: &Order) -> String {
    let body = painted(order, true).body;
    let mut lines = vec![body["content"].as_str().unwrap().to_owned()];
    for embed in body["embeds"].as_array().unwrap() {
        lines.push(embed["description"].as_str().unwrap().trim_end().to_owned());
        lines.extend(embed["footer"]["text"].as_str().map(str::to_owned));
    }
    for row in body["components"].as_array().unwrap() {
        for button in row["components"].as_array().unwrap() {
            lines.push(format!(
                "[{}] {}",
                button["label"].as_str().unwrap(),
                button["style"]
            ));
        }
    }
    lines.join("\n")
}

#[test]
fn a_card_shows_the_command_the_facts_and_the_buttons() {
    insta::assert_snapshot!(seen(&terminal("cd /srv && sudo rm -rf www")));
}

#[test]
fn a_card_that_does_not_fit_has_no_button_that_allows() {
    let long = terminal(&format!("echo {}; rm -rf /srv", "x".repeat(20_000)));
    let ticks = terminal(&format!("rm -rf /srv '{}'", "```".repeat(600)));
    for (name, order) in [("long", long), ("backticks", ticks)] {
        let painted = painted(&order, true);
        assert_eq!(painted.shown, Shown::Cut, "{name}");
        let length = lengths(&painted.body);
        assert!(length <= 6000, "{name}: {length}");
        let text = seen(&order);
        assert!(!text.contains("Allow"), "{name}: {text}");
        assert!(text.contains("Show full command"), "{name}: {text}");
    }
}
