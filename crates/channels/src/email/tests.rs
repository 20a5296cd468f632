//! Tests for letters: as people read them, and a thousand at once.

use std::time::Duration;

use countersign_core::approval::{Approval, Choice, State};
use countersign_core::call::ToolCall;
use countersign_core::card::{Card, Lineage, Redacts};
use countersign_core::digest::Digest;
use countersign_core::id::ApprovalId;
use countersign_core::judge::consider;
use countersign_core::policy::Policy;
use countersign_core::time::UnixMillis;
use countersign_testkit::smtp::{Letter as Kept, Smtp as Server};
use futures_util::future::join_all;
use mail_parser::MessageParser;

use super::{Email, EmailSettings, Pace};
use crate::order::{Aftermath, Attempt, Closing, Destination, Order, Subject};
use crate::seal::Seal;
use crate::smtp::{SmtpSettings, SmtpTls};
use crate::{Channel as _, Delivered, DeliveryError, Shows};

const PAGE: &str = "https://gate.example.org";

fn settings(port: u16) -> EmailSettings {
    EmailSettings {
        name: "mail".to_owned(),
        smtp: SmtpSettings {
            host: "127.0.0.1".to_owned(),
            port,
            username: None,
            password: None,
            from: "Countersign <gate@example.org>".to_owned(),
            tls: SmtpTls::None,
        },
        page_url: PAGE.to_owned(),
        shows: Shows::What,
        follow_up: true,
        pace: Pace {
            alone: 5,
            every: Duration::from_secs(3),
        },
        accounts: vec!["mail".to_owned()],
    }
}

fn order(number: usize, command: &str) -> Order {
    let call = ToolCall::command(command).from_directory("/home/dev/project");
    let (assessment, _) = consider(&Policy::default(), &call);
    let approval = Approval {
        id: ApprovalId(format!("appr_{number:026}")),
        digest: Digest([7; 32]),
        asked_at: UnixMillis(1_786_000_000_000),
        expires_at: UnixMillis(1_786_000_300_000),
        choices: vec![Choice::Once, Choice::Deny],
        extended_millis: 0,
        undo_millis: 0,
        state: State::Waiting,
    };
    let lineage = Lineage {
        key_name: "build".to_owned(),
        agent: Some("build-bot".to_owned()),
        explanation: Some("It frees space.".to_owned()),
        ..Lineage::default()
    };
    let card = Card::new(&approval, &call, &assessment, &lineage, Redacts::Secrets);
    Order {
        key: format!("{}:mail:person:ana@example.org", card.approval_id),
        what: Subject::Card(Box::new(card)),
        to: Destination::Person("ana@example.org".to_owned()),
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

/// Returns the order as it is once somebody denied it.
fn denied(mut order: Order) -> Order {
    if let Subject::Card(card) = &mut order.what {
        card.settle("Denied by ana · 14:02 UTC");
    }
    order.closing = Some(Closing::Denied);
    order
}

fn written(kept: &[Kept]) -> String {
    let parts = kept.iter().map(|it| {
        let letter = MessageParser::default().parse(it.data.as_bytes()).unwrap();
        let (text, html) = (letter.body_text(0).unwrap(), letter.body_html(0).unwrap());
        let subject = letter.subject().unwrap();
        format!("Subject: {subject}\n\n{text}\n{html}").replace('\r', "")
    });
    parts.collect::<Vec<_>>().join("\n=====\n")
}

#[tokio::test]
async fn a_letter_and_its_end() {
    let server = Server::start().unwrap();
    let email = Email::new(settings(server.port())).unwrap();
    let order = order(1, "rm -rf /srv/www");
    let delivered = email.deliver(&order).await.unwrap();
    email.repaint(&delivered, &denied(order)).await.unwrap();
    insta::assert_snapshot!(written(&server.letters()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_cards_are_a_few_letters_and_each_is_listed_once() {
    let server = Server::start().unwrap();
    let email = Email::new(settings(server.port())).unwrap();
    let orders: Vec<Order> = (0..1000)
        .map(|number| order(number, &format!("rm -rf /srv/burst{number}")))
        .collect();
    let delivered = join_all(orders.iter().map(|order| email.deliver(order))).await;
    let delivered: Vec<Delivered> = delivered.into_iter().collect::<Result<_, _>>().unwrap();
    let kept = server.letters();
    assert!(kept.len() <= 7, "{} letters", kept.len());
    let links = |kept: &[Kept]| {
        let text = written(kept);
        let count = |order: &Order| {
            let link = format!("\n   {PAGE}/#/approvals/{}\n", order.what.id());
            let alone = format!("Open the card: {PAGE}/#/approvals/{}\n", order.what.id());
            text.matches(&link).count() + text.matches(&alone).count()
        };
        orders.iter().map(count).collect::<Vec<_>>()
    };
    assert_eq!(links(&kept), vec![1; 1000]);
    // Their ends are told in the threads of the letters that listed them.
    let ends: Vec<Order> = orders.iter().cloned().map(denied).collect();
    let told = ends.iter().zip(&delivered);
    let told = join_all(told.map(|(order, delivered)| email.repaint(delivered, order))).await;
    assert!(told.iter().all(Result::is_ok), "{told:?}");
    let all = server.letters();
    let ends = all.get(kept.len()..).unwrap();
    assert!(ends.len() <= 7, "{} letters", ends.len());
    let digest = MessageParser::default()
        .parse(ends.last().unwrap().data.as_bytes())
        .unwrap();
    let follows = digest.header_raw("References").unwrap();
    assert!(
        follows.contains(&delivered.last().unwrap().reference),
        "{follows}"
    );
}

#[tokio::test]
async fn what_cannot_be_a_letter_is_refused() {
    let server = Server::start().unwrap();
    let email = Email::new(settings(server.port())).unwrap();
    let addresses = [
        "",
        "ana",
        "a@b@c",
        "ana@example.org\r\nBcc: eve@example.org",
        "a b@example.org",
    ];
    for address in addresses {
        let order = Order {
            to: Destination::Person(address.to_owned()),
            ..order(1, "rm -rf /srv/www")
        };
        let refused = email.deliver(&order).await;
        assert!(
            matches!(refused, Err(DeliveryError::Never { .. })),
            "{address:?}: {refused:?}"
        );
    }
    assert_eq!(server.letters(), []);
    assert!(
        !email.has_usual_place(),
        "there is no address for everybody"
    );
}

#[test]
fn settings_that_would_leak_or_lead_nowhere_are_refused() {
    let rows = [
        (
            "no page",
            EmailSettings {
                page_url: String::new(),
                ..settings(25)
            },
        ),
        (
            "plain http elsewhere",
            EmailSettings {
                page_url: "http://gate.lan".to_owned(),
                ..settings(25)
            },
        ),
    ];
    for (name, settings) in rows {
        assert!(Email::new(settings).is_err(), "{name}");
    }
    let mut leaking = settings(25);
    leaking.smtp.host = "mail.example.org".to_owned();
    leaking.smtp.username = Some("gate".to_owned());
    leaking.smtp.password = Some("hunter2".to_owned());
    let shown = format!("{leaking:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    let why = Email::new(leaking).unwrap_err();
    assert!(why.contains("unprotected"), "{why}");
}
