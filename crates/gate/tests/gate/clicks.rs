//! What a person does with a card in a chat: what is checked, in which order, and what is said.

use std::sync::Arc;
use std::time::Duration;

use countersign_channels::Recorder;
use countersign_channels::press::{Click, Clicker, Press, Proof, Standing, Untrusted};
use countersign_channels::seal::Bound;
use countersign_core::approval::Choice;
use countersign_core::digest::Digest;
use countersign_core::tier::Tier;
use countersign_gate::base::principal::Role;
use countersign_gate::chats::click::{Outcome, Refusal};
use countersign_gate::people::PersonView;
use countersign_gate::records::request::Submission;
use countersign_store::Query;

use crate::support::{
    DANGEROUS, Wishes, World, ask, command, in_session, open, principal, reply, world_with,
};

const ONCE: Press = Press::Choose(Choice::Once);

/// A gate with one chat, in which Ana has an account.
async fn chat() -> (World, Recorder) {
    let recorder = Recorder::new("chat");
    let world = world_with(Wishes {
        channels: vec![Arc::new(recorder.clone())],
        ..Wishes::default()
    })
    .await;
    list(&world, "ana", &["approver"], "a1").await;
    (world, recorder)
}

async fn list(world: &World, name: &str, roles: &[&str], account: &str) {
    let admin = principal(&world.gate, "root", Role::Admin).await;
    let person = PersonView {
        name: name.to_owned(),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        accounts: [("chat".to_owned(), account.to_owned())].into(),
    };
    world.gate.put_person(&admin, person).await.unwrap();
}

/// Asks and waits until the card is there and known to be.
async fn asked(world: &World, recorder: &Recorder, submission: Submission) -> String {
    let (_, approval) = ask(world, submission).await;
    let key = format!("{approval}:chat");
    let there = recorder.until(|said| said.iter().any(|it| is_card(it, &key)));
    tokio::time::timeout(Duration::from_mins(1), there)
        .await
        .expect("it is given in time");
    approval
}

fn is_card(said: &countersign_channels::Said, key: &str) -> bool {
    matches!(said, countersign_channels::Said::Card(given, _) if given == key)
}

/// Returns the click of Ana on a card, as a chat would tell it.
async fn click(world: &World, approval: &str, press: Press) -> Click {
    let view = world.gate.approval(&world.ana, approval).await.unwrap();
    let digest = Digest::parse(&view.card.digest).unwrap();
    let bound = Bound {
        platform: "test",
        tenant: "server",
        place: "room",
        subject: approval,
        press,
        digest,
        holder: None,
    };
    Click {
        channel: "chat".to_owned(),
        platform: "test".to_owned(),
        tenant: "server".to_owned(),
        transport: Ok(()),
        ticket: None,
        proof: Proof::Button {
            code: world.gate.seal().code(&bound),
        },
        subject: approval.to_owned(),
        press,
        digest: Some(digest),
        place: "room".to_owned(),
        reference: format!("{approval}:chat"),
        clicker: Clicker {
            account: "a1".to_owned(),
            standing: Standing::Person,
        },
        tier: Tier::T3,
        text: None,
    }
}

/// Returns how often the ledger tells of a click that was refused for this reason.
async fn told(world: &World, reason: &str) -> usize {
    let entries = world.gate.store().entries(0, 10_000).await.unwrap();
    let needle = format!("\"reason\":\"{reason}\"");
    let refused = entries
        .iter()
        .filter(|it| it.draft.event == "click.refused");
    refused.filter(|it| it.draft.body.contains(&needle)).count()
}

/// Breaks one thing about a click.
type Break = fn(&mut Click);

/// What can be wrong with a click, in the order in which it is looked at.
const WRONGS: &[(&str, Break)] = &[
    ("wrong_signature", |it| {
        it.transport = Err(Untrusted::WrongSignature);
    }),
    ("forged", |it| {
        it.proof = Proof::Button {
            code: "AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
        };
    }),
    ("other_card", |it| "elsewhere".clone_into(&mut it.reference)),
    ("bot", |it| it.clicker.standing = Standing::Bot),
];

#[tokio::test]
async fn the_first_thing_that_is_wrong_is_what_is_said_whatever_else_is_wrong() {
    let (world, recorder) = chat().await;
    let approval = asked(&world, &recorder, command(DANGEROUS)).await;
    for (at, (first, _)) in WRONGS.iter().enumerate() {
        let mut wrong = click(&world, &approval, ONCE).await;
        for (_, break_it) in WRONGS.iter().skip(at) {
            break_it(&mut wrong);
        }
        let refusal = world.gate.click(&wrong).await.unwrap_err();
        assert_eq!(
            refusal.code(),
            *first,
            "everything from {first} on is wrong"
        );
        assert_eq!(told(&world, first).await, 1, "{first}");
    }
    let view = world.gate.approval(&world.ana, &approval).await.unwrap();
    assert_eq!(view.status.word(), "waiting");
}

#[tokio::test]
async fn a_reaction_that_was_refused_does_not_count_when_the_chat_is_read_again() {
    let (world, recorder) = chat().await;
    let approval = asked(&world, &recorder, command(DANGEROUS)).await;
    let mut reaction = click(&world, &approval, ONCE).await;
    reaction.proof = Proof::OnCard;
    reaction.ticket = Some("reaction:1".to_owned());
    reaction.clicker.account = "e1".to_owned();
    let refusal = world.gate.click(&reaction).await.unwrap_err();
    assert_eq!(refusal, Refusal::Stranger);
    list(&world, "eve", &["approver"], "e1").await;
    let again = world.gate.click(&reaction).await.unwrap_err();
    assert_eq!(again, Refusal::Untrusted(Untrusted::Replayed));
    assert_eq!(told(&world, "replayed").await, 0, "nobody did anything");
    reaction.ticket = Some("reaction:2".to_owned());
    let done = world.gate.click(&reaction).await.unwrap();
    assert_eq!(done.outcome, Outcome::Answered);
}

#[tokio::test]
async fn law_10_a_card_in_a_chat_says_what_a_standing_permission_covers() {
    let (world, recorder) = chat().await;
    let approval = asked(&world, &recorder, command("git push --force origin main")).await;
    let view = world.gate.approval(&world.ana, &approval).await.unwrap();
    assert!(view.choices.contains(&Choice::Always));
    let words = &view.scopes.first().unwrap().words;
    let said = recorder.said();
    let Some(countersign_channels::Said::Card(_, card)) = said.first() else {
        panic!("a card comes first: {said:?}")
    };
    let fields = &card.lineage;
    assert!(
        fields.iter().any(|field| field.text == *words),
        "{fields:?}"
    );
}

#[tokio::test]
async fn each_thing_that_is_wrong_is_refused_for_itself() {
    let (world, recorder) = chat().await;
    list(&world, "eve", &[], "e1").await;
    let approval = asked(&world, &recorder, command(DANGEROUS)).await;
    let rows: &[(&str, Break)] = &[
        ("stale", |it| it.transport = Err(Untrusted::Stale)),
        ("forged", |it| it.platform = "other".to_owned()),
        ("forged", |it| it.tenant = "other".to_owned()),
        ("forged", |it| it.place = "other".to_owned()),
        ("forged", |it| it.press = Press::Choose(Choice::Always)),
        ("forged", |it| it.digest = Some(Digest([1; 32]))),
        ("forged", |it| it.subject = "appr_0".to_owned()),
        ("other_card", |it| it.reference = String::new()),
        ("bot", |it| it.clicker.standing = Standing::Bot),
        ("account_closed", |it| {
            it.clicker.standing = Standing::Closed;
        }),
        ("foreign", |it| it.clicker.standing = Standing::Foreign),
        ("unverified", |it| it.clicker.standing = Standing::Unknown),
        ("stranger", |it| it.clicker.account = "b1".to_owned()),
        ("stranger", |it| it.clicker.account = "e1".to_owned()),
        ("unknown", |it| {
            it.proof = Proof::Typed;
            it.digest = None;
            it.subject = "appr_0".to_owned();
        }),
        ("not_offered", |it| {
            it.proof = Proof::Typed;
            it.press = Press::Answer(1);
        }),
    ];
    for (number, (reason, break_it)) in rows.iter().enumerate() {
        let mut wrong = click(&world, &approval, ONCE).await;
        break_it(&mut wrong);
        let refusal = world.gate.click(&wrong).await.unwrap_err();
        assert_eq!(refusal.code(), *reason, "row {number}");
        assert!(!refusal.words().is_empty(), "row {number}");
        let view = world.gate.approval(&world.ana, &approval).await.unwrap();
        assert_eq!(view.status.word(), "waiting", "row {number}");
    }
    let done = world
        .gate
        .click(&click(&world, &approval, ONCE).await)
        .await;
    assert_eq!(done.unwrap().outcome, Outcome::Answered);
    let view = world.gate.approval(&world.ana, &approval).await.unwrap();
    let decision = view.decision.unwrap();
    assert_eq!(
        (decision.by.as_deref(), decision.via.as_deref()),
        (Some("ana"), Some("chat"))
    );
    let late = world
        .gate
        .click(&click(&world, &approval, ONCE).await)
        .await;
    let Err(Refusal::Answered(how)) = late else {
        panic!("it counted twice: {late:?}");
    };
    assert!(how.contains("Approved once by ana"), "{how}");
}

#[tokio::test]
async fn what_is_over_cannot_be_answered_and_says_how_it_ended() {
    let (world, recorder) = chat().await;
    let expired = asked(&world, &recorder, command(DANGEROUS)).await;
    let late = click(&world, &expired, ONCE).await;
    world.clock.advance(Duration::from_secs(301));
    let refusal = world.gate.click(&late).await.unwrap_err();
    assert_eq!(refusal, Refusal::Expired);
    let submission = in_session("s2", DANGEROUS);
    let (call, withdrawn) = ask(&world, submission).await;
    let late = click(&world, &withdrawn, ONCE).await;
    let gone = world.gate.withdraw(&world.agent, &call.call_id, None).await;
    gone.unwrap();
    assert_eq!(
        world.gate.click(&late).await.unwrap_err(),
        Refusal::Withdrawn
    );
}

#[tokio::test]
async fn what_the_chat_names_once_counts_once_also_after_a_restart() {
    let (world, recorder) = chat().await;
    let approval = asked(&world, &recorder, command(DANGEROUS)).await;
    let mut first = click(&world, &approval, Press::View).await;
    first.ticket = Some("t1".to_owned());
    world.gate.click(&first).await.unwrap();
    let wishes = Wishes {
        channels: vec![Arc::new(recorder.clone())],
        ..Wishes::default()
    };
    let again = open(world.home.path(), &world.clock, wishes).await;
    let replayed = again.click(&first).await.unwrap_err();
    assert_eq!(replayed, Refusal::Untrusted(Untrusted::Replayed));
    first.ticket = Some("t2".to_owned());
    assert!(
        again.click(&first).await.is_ok(),
        "the key of buttons is the same"
    );
}

#[tokio::test]
async fn what_is_shown_in_parts_is_allowed_only_by_who_has_opened_it() {
    let (world, recorder) = chat().await;
    list(&world, "ben", &["approver"], "b1").await;
    recorder.cuts();
    let approval = asked(&world, &recorder, command(DANGEROUS)).await;
    let refusal = world
        .gate
        .click(&click(&world, &approval, ONCE).await)
        .await;
    assert_eq!(refusal.unwrap_err(), Refusal::NotSeen);
    let opened = world
        .gate
        .click(&click(&world, &approval, Press::View).await)
        .await;
    assert_eq!(opened.unwrap().outcome, Outcome::Opened);
    let mut bens = click(&world, &approval, ONCE).await;
    bens.clicker.account = "b1".to_owned();
    assert_eq!(
        world.gate.click(&bens).await.unwrap_err(),
        Refusal::NotSeen,
        "ben has not"
    );
    let done = world
        .gate
        .click(&click(&world, &approval, ONCE).await)
        .await;
    assert_eq!(done.unwrap().outcome, Outcome::Answered);
    let denied = asked(&world, &recorder, in_session("s2", DANGEROUS)).await;
    let deny = Press::Choose(Choice::Deny);
    let done = world.gate.click(&click(&world, &denied, deny).await).await;
    assert!(done.is_ok(), "anything can be denied");
}

#[tokio::test]
async fn session_and_always_from_a_chat_leave_the_narrowest_permission_and_say_so() {
    let (world, recorder) = chat().await;
    let approval = asked(&world, &recorder, command(DANGEROUS)).await;
    let view = world.gate.approval(&world.ana, &approval).await.unwrap();
    let narrowest = view.scopes.first().unwrap().words.clone();
    let always = Press::Choose(Choice::Always);
    let mut press = click(&world, &approval, always).await;
    let pressed = world.gate.click(&press).await.unwrap();
    assert_eq!(pressed.outcome, Outcome::WantsWords, "it is critical");
    // Who types it has said it in words.
    press.proof = Proof::Typed;
    let words = world.gate.click(&press).await.unwrap().words;
    assert!(words.contains(&narrowest), "{words}");
    let grants = world.gate.grants(&world.ana, false).await.unwrap().items;
    assert_eq!(grants.first().unwrap().words, narrowest);
}

#[tokio::test]
async fn a_dialog_counts_for_the_person_and_the_time_it_was_opened_for() {
    let (world, recorder) = chat().await;
    list(&world, "ben", &["approver"], "b1").await;
    let approval = asked(&world, &recorder, command(DANGEROUS)).await;
    let button = click(&world, &approval, Press::DenyNote).await;
    let wants = world.gate.click(&button).await.unwrap();
    assert_eq!(wants.outcome, Outcome::WantsWords);
    let now = world.clock.machine().seconds();
    let dialog = |until: i64, account: &str| {
        let bound = Bound {
            platform: "test",
            tenant: "server",
            place: "room",
            subject: &approval,
            press: Press::DenyNote,
            digest: button.digest.unwrap(),
            holder: Some(("a1", until)),
        };
        let mut dialog = button.clone();
        dialog.proof = Proof::Dialog {
            code: world.gate.seal().code(&bound),
            until,
        };
        dialog.clicker.account = account.to_owned();
        dialog.text = Some("ask ops".to_owned());
        dialog
    };
    let rows = [
        ("another person's", dialog(now + 60, "b1"), Refusal::Forged),
        (
            "the dialog expired",
            dialog(now - 1, "a1"),
            Refusal::DialogOver,
        ),
    ];
    for (name, click, expected) in rows {
        assert_eq!(
            world.gate.click(&click).await.unwrap_err(),
            expected,
            "{name}"
        );
    }
    world.gate.click(&dialog(now + 60, "a1")).await.unwrap();
    let view = world.gate.approval(&world.ana, &approval).await.unwrap();
    assert_eq!(view.decision.unwrap().note.as_deref(), Some("ask ops"));
}

#[tokio::test]
async fn two_cards_are_answered_out_of_order_and_after_a_restart() {
    let (world, recorder) = chat().await;
    let first = asked(&world, &recorder, command(DANGEROUS)).await;
    let second = asked(&world, &recorder, in_session("s2", DANGEROUS)).await;
    let (on_first, on_second) = (
        click(&world, &first, Press::Choose(Choice::Deny)).await,
        click(&world, &second, ONCE).await,
    );
    let wishes = Wishes {
        channels: vec![Arc::new(recorder.clone())],
        ..Wishes::default()
    };
    let again = open(world.home.path(), &world.clock, wishes).await;
    again.click(&on_second).await.unwrap();
    again.click(&on_first).await.unwrap();
    for (id, status) in [(&first, "denied"), (&second, "approved")] {
        assert_eq!(
            again.approval(&world.ana, id).await.unwrap().status.word(),
            status
        );
    }
}

#[tokio::test]
async fn the_key_of_buttons_is_random_and_in_the_database_alone() {
    let (world, _) = chat().await;
    let (other, _) = chat().await;
    let bound = Bound {
        platform: "test",
        tenant: "server",
        place: "room",
        subject: "appr_1",
        press: ONCE,
        digest: Digest([0; 32]),
        holder: None,
    };
    assert_ne!(
        world.gate.seal().code(&bound),
        other.gate.seal().code(&bound)
    );
    let keys = Query::of(countersign_store::Kind::ButtonKey);
    assert_eq!(world.gate.store().find(keys).await.unwrap().len(), 1);
    let answer = world
        .gate
        .answer(&world.ana, reply("appr_0", Choice::Once))
        .await;
    assert!(answer.is_err());
}
