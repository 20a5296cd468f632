//! Tests for rendered posts: accepted by real servers, and hostile text stays inert.

use countersign_core::approval::{Approval, Choice, State};
use countersign_core::call::ToolCall;
use countersign_core::card::{Card, Definition, Lineage, Redacts};
use countersign_core::command::TABLE;
use countersign_core::digest::Digest;
use countersign_core::id::ApprovalId;
use countersign_core::judge::consider;
use countersign_core::policy::Policy;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use serde_json::{Value, json};

use super::callback::{dialog, respond};
use super::paint::{CARD_CHARS_MAX, Canvas, paint};
use super::{KEY_PROP, Mattermost, MattermostSettings};
use crate::chat::{Response, Route};
use crate::face::presses;
use crate::order::{
    Aftermath, Attempt, Closing, Delivered, Destination, Inquiry, Order, Shown, Subject,
};
use crate::press::Press;
use crate::seal::Seal;
use crate::text::longest_run;
use crate::wording::wording;

const CHANNEL: &str = "j6j53p28k6urx15fpcgsr20psq";
const POST: &str = "gqrnh3675jfxzftnjyjfe4udeh";

fn chat() -> Mattermost {
    Mattermost::new(MattermostSettings {
        name: "mattermost".to_owned(),
        url: "https://chat.example.org".to_owned(),
        token: "a token".to_owned(),
        team: Some("ops".to_owned()),
        channel: Some("approvals".to_owned()),
        callback_url: Some("https://gate.example.org/base/".to_owned()),
        commands: true,
        command_prefix: "cs-".to_owned(),
        talk: true,
        mention: true,
        accounts: vec!["mattermost".to_owned()],
    })
    .unwrap()
}

fn card_of(call: &ToolCall, agent: &str, explanation: &str) -> Card {
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
        agent: Some(agent.to_owned()),
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
    card_of(&call, "build-bot", "It frees space.")
}

fn order(what: Subject) -> Order {
    Order {
        what,
        key: "appr_01jabc:mattermost".to_owned(),
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

fn painted(order: &Order) -> Value {
    let chat = chat();
    let action_url = chat.route_url("action");
    let canvas = Canvas {
        tenant: "https://chat.example.org",
        place: CHANNEL,
        action_url: action_url.as_deref(),
        mentions: "",
        commands: Some("/edit edits it, /before shows what led here".to_owned()),
    };
    let painted = paint(order, &canvas);
    json!({ "message": painted.message, "props": { "attachments": painted.attachments } })
}

fn shown(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

#[test]
fn a_card_that_waits() {
    let order = order(Subject::Card(Box::new(terminal("rm -rf /srv/www"))));
    insta::assert_snapshot!(shown(&painted(&order)));
}

#[test]
fn a_card_that_was_answered_keeps_the_command_and_loses_the_buttons() {
    let mut card = terminal("rm -rf /srv/www");
    card.settle("Approved once by ana · 14:02 UTC · mattermost");
    let painted = painted(&Order {
        closing: Some(Closing::Approved),
        ..order(Subject::Card(Box::new(card)))
    });
    assert!(!painted.to_string().contains("integration"));
    insta::assert_snapshot!(shown(&painted));
}

#[test]
fn a_question_of_the_agent() {
    let inquiry = Inquiry {
        id: "clar_01jabc".to_owned(),
        question: "Which branch? ```\n@all".to_owned(),
        choices: vec!["main".to_owned(), "[next](http://e.example)".to_owned()],
        expires_at: UnixMillis(1_786_000_300_000),
        outcome: None,
    };
    let order = order(Subject::Question(Box::new(inquiry)));
    insta::assert_snapshot!(shown(&painted(&order)));
}

#[test]
fn allow_is_there_only_if_all_of_it_is() {
    for length in [10, CARD_CHARS_MAX / 2, CARD_CHARS_MAX, 100_000] {
        let card = terminal(&format!("rm -rf /srv/{}", "x".repeat(length)));
        let fits = card.plain_text().chars().count() <= CARD_CHARS_MAX;
        let order = order(Subject::Card(Box::new(card)));
        let painted = painted(&order);
        let text = painted["props"]["attachments"][0]["text"].as_str().unwrap();
        let is_there = text.contains(&"x".repeat(length));
        let allows = painted.to_string().contains("\"id\":\"once\"");
        assert_eq!(allows, fits, "{length}");
        assert!(is_there || !allows, "{length}: allowed unseen");
    }
}

#[test]
fn who_has_opened_all_of_it_is_offered_to_allow() {
    let card = Subject::Card(Box::new(terminal("rm -rf /srv/www")));
    let has_once = |shown, is_opened| {
        let order = Order {
            is_opened,
            ..order(card.clone())
        };
        presses(&order, shown).contains(&Press::Choose(Choice::Once))
    };
    assert!(has_once(Shown::Whole, false));
    assert!(!has_once(Shown::Cut, false));
    assert!(has_once(Shown::Cut, true));
}

#[test]
fn hostile_text_stays_in_its_code_and_brings_no_link_no_mention_and_no_button() {
    let mut seen = 0;
    for file in ["spoof.jsonl", "spoof_more.jsonl"] {
        let path = format!("{}/../../corpus/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        for row in text.lines() {
            let row: Value = serde_json::from_str(row).unwrap();
            let hostile = row["text"].as_str().unwrap();
            let call = ToolCall {
                tool: "send_message".to_owned(),
                args: json!({ "to": hostile, "text": hostile }),
                cwd: Some(hostile.to_owned()),
                ..ToolCall::default()
            };
            let card = card_of(&call, hostile, hostile);
            let painted = painted(&order(Subject::Card(Box::new(card))));
            for attachment in painted["props"]["attachments"].as_array().unwrap() {
                let text = attachment["text"].as_str().unwrap();
                assert!(is_one_block(text), "{}: {text}", row["id"]);
                let title = attachment["title"].as_str().unwrap();
                let mut values = vec![title];
                let fields = attachment["fields"].as_array();
                for field in fields.into_iter().flatten() {
                    values.push(field["title"].as_str().unwrap());
                    values.push(field["value"].as_str().unwrap());
                }
                for value in values {
                    assert!(is_inert(value), "{}: {value}", row["id"]);
                }
            }
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

/// Whether a text is one fenced block and nothing else.
fn is_one_block(text: &str) -> bool {
    let fence: String = text.chars().take_while(|it| *it == '`').collect();
    let inside = text
        .strip_prefix(&fence)
        .and_then(|it| it.strip_suffix(&fence));
    fence.len() >= 3 && inside.is_some_and(|it| longest_run(it) < fence.len())
}

/// Whether a text is a code span, or has nothing in it a chat acts on.
fn is_inert(text: &str) -> bool {
    let ticks = text.chars().take_while(|it| *it == '`').count();
    if ticks > 0 {
        let count = text.chars().count();
        let inside: String = text.chars().skip(ticks).take(count - 2 * ticks).collect();
        return text.ends_with(&"`".repeat(ticks)) && longest_run(&inside) < ticks;
    }
    !text.contains([
        '@', '[', ']', '<', '>', '*', '_', '#', '~', '|', '!', '\\', '\n',
    ]) && !text.contains("://")
}

#[test]
fn what_is_sent_is_what_servers_accept() {
    let Some(specs) = std::env::var_os("COUNTERSIGN_SPECS_DIR") else {
        countersign_testkit::skipped("COUNTERSIGN_SPECS_DIR is not set: no schemas");
        return;
    };
    let folder = std::path::Path::new(&specs).join("mattermost");
    let schema = |name: &str| -> Value {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let chat = chat();
    let mut card = terminal("rm -rf /srv/www");
    card.settle("Denied by ana");
    let counted = Response::Counted {
        order: Box::new(order(Subject::Card(Box::new(card)))),
        delivered: Box::new(Delivered {
            channel: "mattermost".to_owned(),
            reference: format!("{CHANNEL}/{POST}"),
            shown: Shown::Whole,
        }),
        words: "Denied.".to_owned(),
    };
    let answer = respond(&chat, Route::Action, &counted);
    assert!(
        answer["update"]["props"][KEY_PROP].is_string(),
        "props are set"
    );
    for response in [counted, Response::Words("no".to_owned()), Response::Nothing] {
        let answer = respond(&chat, Route::Action, &response);
        fits(&schema("action-response.schema.json"), &answer, "answer");
    }
    for row in TABLE {
        let wanted = chat.wanted("5xxzt146eax4tul69409opqjlf", row.name, row);
        fits(
            &schema("command-create.schema.json"),
            &json!(wanted),
            row.name,
        );
    }
    for press in [Press::DenyNote, Press::Other, Press::Choose(Choice::Always)] {
        let url = chat.route_url("dialog");
        let order = order(Subject::Card(Box::new(terminal("rm -rf /srv/www"))));
        let dialog = dialog(press, &wording(&order, press), "state");
        let body = json!({ "trigger_id": "x", "url": url, "dialog": dialog });
        fits(&schema("dialog-open.schema.json"), &body, press.word());
    }
}

/// Fails unless `value` is as `schema` says, as far as our own schemas say anything.
fn fits(schema: &Value, value: &Value, path: &str) {
    if let Some(kind) = schema.get("type") {
        let several = kind.as_array().into_iter().flatten();
        let kinds: Vec<&str> = several.chain([kind]).filter_map(Value::as_str).collect();
        let is_kind = kinds.iter().any(|kind| match *kind {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "null" => value.is_null(),
            other => panic!("{path}: unknown type {other}"),
        });
        assert!(is_kind, "{path}: {value} is not {kinds:?}");
    }
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{path}: {value}");
    }
    if let (Some(most), Some(text)) = (schema["maxLength"].as_u64(), value.as_str()) {
        assert!(text.chars().count() as u64 <= most, "{path}: {text}");
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(
            value.get(name.as_str().unwrap()).is_some(),
            "{path}: {name}"
        );
    }
    if let Some(properties) = schema["properties"].as_object() {
        for (name, inner) in value.as_object().into_iter().flatten() {
            let known = properties.get(name);
            let known = known.unwrap_or_else(|| panic!("{path}.{name} is not known"));
            fits(known, inner, &format!("{path}.{name}"));
        }
    }
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        fits(&schema["items"], item, &format!("{path}[{at}]"));
    }
}

/// Makes settings different.
type Change = fn(&mut MattermostSettings);

#[test]
fn settings_that_would_leak_are_refused() {
    let good = chat().inner.settings.clone();
    let with = |change: Change| {
        let mut settings = good.clone();
        change(&mut settings);
        Mattermost::new(settings)
    };
    assert!(with(|_| {}).is_ok());
    let rows: [(&str, Change); 5] = [
        ("plain http elsewhere", |it| {
            "http://chat.example.org".clone_into(&mut it.url);
        }),
        ("a password", |it| {
            "https://a:b@chat.example.org".clone_into(&mut it.url);
        }),
        ("no address", |it| "chat".clone_into(&mut it.url)),
        ("no token", |it| " ".clone_into(&mut it.token)),
        ("a question mark", |it| {
            it.callback_url = Some("https://gate.example.org/?key=1".to_owned());
        }),
    ];
    for (name, change) in rows {
        assert!(with(change).is_err(), "{name}");
    }
    assert!(!format!("{:?}", chat()).contains("a token"));
}
