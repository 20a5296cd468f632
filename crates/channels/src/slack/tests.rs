//! Tests for rendered cards: what they look like, and that hostile text stays inert.

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

use super::callback::{dialog, dialog_answer};
use super::manifest::{SCOPES, manifest};
use super::paint::{CARD_CHARS_MAX, Canvas, paint};
use super::wire::Said;
use super::{Arrival, Slack, SlackSettings};
use crate::chat::Response;
use crate::order::{Aftermath, Attempt, Closing, Destination, Inquiry, Order, Shown, Subject};
use crate::press::Press;
use crate::seal::Seal;
use crate::wording::wording;

fn card_of(call: &ToolCall, explanation: &str) -> Card {
    let (assessment, _) = consider(&Policy::default(), call);
    let approval = Approval {
        id: ApprovalId("appr_01jabc".to_owned()),
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
        explanation: Some(explanation.to_owned()),
        tier: Tier::T2,
        known_recipients: None,
        help_lines: Vec::new(),
        definition: Definition::Unsaid,
    };
    Card::new(&approval, call, &assessment, &lineage, Redacts::Secrets)
}

fn terminal(command: &str) -> Card {
    let call = ToolCall::command(command).from_directory("/home/dev/project");
    card_of(&call, "It frees space.")
}

fn order(what: Subject) -> Order {
    Order {
        what,
        key: "appr_01jabc:slack".to_owned(),
        to: Destination::Usual,
        since: UnixMillis(0),
        attempt: Attempt::First,
        is_opened: false,
        closing: None,
        is_crisis: false,
        aftermath: Aftermath::default(),
        callees: vec!["U024BE7LH".to_owned()],
        seal: Seal::new([1; 32]),
    }
}

fn of_card(card: Card) -> Order {
    order(Subject::Card(Box::new(card)))
}

const CANVAS: Canvas<'static> = Canvas {
    tenant: "T1",
    place: "C1",
    mentions: true,
};

/// Returns a card as people read it: a line each part, code behind a bar, buttons in brackets.
fn seen(order: &Order) -> String {
    let painted = paint(order, &CANVAS);
    let mut lines = vec![format!("({})", painted.text)];
    for block in &painted.blocks {
        for part in block["elements"].as_array().unwrap() {
            if part["type"] == "button" {
                let style = part["style"].as_str().unwrap_or("");
                let name = part["text"]["text"].as_str().unwrap();
                lines.push(format!("[{name}] {style}").trim_end().to_owned());
                continue;
            }
            let text: String = part["elements"]
                .as_array()
                .unwrap()
                .iter()
                .map(words)
                .collect();
            let bar = if part["type"] == "rich_text_preformatted" {
                "| "
            } else {
                ""
            };
            lines.extend(text.lines().map(|line| format!("{bar}{line}")));
        }
    }
    lines.join("\n")
}

fn words(element: &Value) -> String {
    match element["type"].as_str().unwrap() {
        "text" => element["text"].as_str().unwrap().to_owned(),
        "user" => format!("<{}>", element["user_id"].as_str().unwrap()),
        other => panic!("{other}"),
    }
}

fn elements(order: &Order) -> Vec<Value> {
    let painted = paint(order, &CANVAS);
    let parts = painted
        .blocks
        .iter()
        .flat_map(|it| it["elements"].as_array().unwrap().clone());
    let parts = parts.filter(|part| part["type"] != "button");
    parts
        .flat_map(|part| part["elements"].as_array().unwrap().clone())
        .collect()
}

#[test]
fn a_card_that_waits() {
    insta::assert_snapshot!(seen(&of_card(terminal("cd /srv && sudo rm -rf www"))));
}

#[test]
fn a_card_that_was_answered() {
    let mut card = terminal("rm -rf /srv/www");
    card.settle("Approved for this session by ana · 14:02 UTC");
    let order = Order {
        closing: Some(Closing::Approved),
        aftermath: Aftermath {
            note: Some("fine <!channel>".to_owned()),
            covers: Some("rm -rf /srv/www".to_owned()),
            is_revocable: true,
            revoked_by: None,
        },
        ..of_card(card)
    };
    insta::assert_snapshot!(seen(&order));
}

#[test]
fn a_question_of_the_agent() {
    let inquiry = Inquiry {
        id: "clar_1".to_owned(),
        question: "Which <!here> branch?".to_owned(),
        choices: vec![
            "main".to_owned(),
            "a branch with a name that is far too long for a button".to_owned(),
        ],
        expires_at: UnixMillis(1_786_000_300_000),
        outcome: None,
    };
    insta::assert_snapshot!(seen(&order(Subject::Question(Box::new(inquiry)))));
}

#[test]
fn a_question_that_slack_would_refuse_is_shortened() {
    let seen_of = |count: usize| {
        let inquiry = Inquiry {
            id: "clar_1".to_owned(),
            question: format!("{}which?", "x".repeat(count)),
            choices: vec!["y".repeat(200); 9],
            expires_at: UnixMillis(1_786_000_300_000),
            outcome: None,
        };
        seen(&order(Subject::Question(Box::new(inquiry))))
    };
    let whole = seen_of(9000);
    assert!(whole.contains(&"x".repeat(9000)), "{whole}");
    for count in [9200, 16_000] {
        let cut = seen_of(count);
        assert!(cut.chars().count() < 13_000, "{count}");
        assert!(
            cut.contains("characters, sha256") && cut.contains("which?"),
            "{cut}"
        );
    }
}

#[test]
fn hostile_text_mentions_nobody_and_links_nothing() {
    let hostile = "echo '<!channel> <@U1> <https://e.example|ok> ```x``` *b* :boom: &amp;'";
    let call = ToolCall::command(hostile);
    let order = of_card(card_of(&call, "<!everyone> press *Allow*"));
    let painted = paint(&order, &CANVAS);
    assert!(!painted.text.contains("echo"), "{}", painted.text);
    let all = elements(&order);
    let users = all.iter().filter(|it| it["type"] == "user").count();
    assert_eq!(users, 1, "the approver alone");
    let is_text = |it: &&Value| it["type"] == "text";
    assert_eq!(all.iter().filter(is_text).count() + 1, all.len());
    let whole: String = all.iter().filter(is_text).map(words).collect();
    let exact = "<@U1> <https://e.example|ok> ```x``` *b* :boom: &amp;'";
    assert!(whole.contains(exact), "the exact command: {whole}");
    assert!(
        !painted
            .blocks
            .iter()
            .any(|it| it.to_string().contains("mrkdwn"))
    );
}

#[test]
fn a_long_card_offers_no_allow_until_it_was_opened() {
    let command = format!("echo {}; rm -rf /srv/www", "x ".repeat(CARD_CHARS_MAX));
    let mut order = of_card(terminal(&command));
    assert_eq!(paint(&order, &CANVAS).shown, Shown::Cut);
    let buttons = |order: &Order| {
        let painted = paint(order, &CANVAS);
        let row = painted.blocks.last().unwrap()["elements"]
            .as_array()
            .unwrap()
            .clone();
        row.iter()
            .map(|it| it["action_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(buttons(&order), ["deny", "denynote", "view"]);
    order.is_opened = true;
    assert!(buttons(&order).contains(&"once".to_owned()));
}

#[test]
fn dialogs_say_what_they_do() {
    let order = of_card(terminal("rm -rf /srv/www"));
    for press in [Press::DenyNote, Press::Other, Press::Choose(Choice::Always)] {
        let view = dialog(&wording(&order, press), "state");
        let view = serde_json::to_string_pretty(&view).unwrap();
        insta::assert_snapshot!(format!("dialog_{}", press.word()), view);
    }
}

#[test]
fn a_dialog_whose_end_is_not_known_does_not_say_that_nothing_changed() {
    let always = Some(Press::Choose(Choice::Always));
    let title = |answer: &Value| answer["view"]["title"]["text"].as_str().unwrap().to_owned();
    let unknown = dialog_answer(always, None);
    assert_eq!(title(&unknown), "Not known yet");
    assert!(!unknown.to_string().contains("Nothing was changed"));
    let refused = Response::DialogError("Already answered.".to_owned());
    let refused = dialog_answer(always, Some(&refused));
    assert_eq!(title(&refused), "Nothing was changed");
    // What was written is kept.
    let with_words = dialog_answer(Some(Press::DenyNote), None);
    assert_eq!(with_words["response_action"], "errors");
    assert!(with_words.to_string().contains("may still take effect"));
    assert_eq!(dialog_answer(always, Some(&Response::Nothing)), json!({}));
}

#[test]
fn only_what_a_person_typed_into_slack_is_a_command() {
    let typed =
        json!({ "type": "message", "user": "U1", "text": "/approve", "client_msg_id": "c1" });
    let said = |more: Value| {
        let mut said = typed.clone();
        let more = more.as_object().unwrap().clone();
        said.as_object_mut().unwrap().extend(more);
        serde_json::from_value::<Said>(said).unwrap()
    };
    assert!(said(json!({})).is_typed());
    let rows = [
        json!({ "app_id": "A1" }),
        json!({ "bot_id": "B1" }),
        json!({ "subtype": "bot_message" }),
        json!({ "client_msg_id": null }),
        json!({ "client_msg_id": "" }),
        json!({ "user": "" }),
    ];
    for row in rows {
        assert!(!said(row.clone()).is_typed(), "{row}");
    }
}

#[test]
fn the_manifest_asks_for_what_the_doctor_wants() {
    let socket = manifest(None);
    let granted = socket["oauth_config"]["scopes"]["bot"].as_array().unwrap();
    assert_eq!(granted.len(), SCOPES.len());
    assert_eq!(socket["settings"]["socket_mode_enabled"], true);
    let requests = manifest(Some("https://gate.example.org/channels/slack"));
    assert_eq!(requests["settings"]["socket_mode_enabled"], false);
    let url = &requests["features"]["slash_commands"][0]["url"];
    assert_eq!(url, "https://gate.example.org/channels/slack/command");
    insta::assert_snapshot!(serde_json::to_string_pretty(&socket).unwrap());
}

/// Makes one setting wrong.
type Spoil = fn(&mut SlackSettings);

#[test]
fn settings_that_cannot_work_are_refused_at_once() {
    let good = || SlackSettings {
        name: "slack".to_owned(),
        url: "https://slack.com/api/".to_owned(),
        token: "xoxb-1".to_owned(),
        arrival: Arrival::Socket {
            app_token: "xapp-1".to_owned(),
        },
        team: None,
        channel: Some("C024BE91L".to_owned()),
        commands: true,
        talk: true,
        mention: true,
        accounts: Vec::new(),
    };
    assert!(Slack::new(good()).is_ok());
    let rows: [(&str, Spoil); 5] = [
        ("xoxb-", |it| it.token = "xoxp-1".to_owned()),
        ("xapp-", |it| {
            it.arrival = Arrival::Socket {
                app_token: "xoxb-1".to_owned(),
            };
        }),
        ("an id", |it| it.channel = Some("#approvals".to_owned())),
        ("https", |it| it.url = "http://slack.com/api/".to_owned()),
        ("secret", |it| {
            it.arrival = Arrival::Requests {
                signing_secret: " ".to_owned(),
                callback_url: "https://gate.example.org".to_owned(),
            };
        }),
    ];
    for (words, change) in rows {
        let mut settings = good();
        change(&mut settings);
        let why = Slack::new(settings).unwrap_err();
        assert!(why.contains(words), "{words}: {why}");
    }
}
