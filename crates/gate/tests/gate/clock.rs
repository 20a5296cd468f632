//! A machine whose clock is set a year ahead or back: what has ended stays ended, what is new
//! works, and nobody has to restart anything.

use std::time::Duration;

use countersign_core::approval::Choice;
use countersign_core::time::UnixMillis;
use countersign_core::token::{Arguments, Expected, verify};
use countersign_gate::GateError;
use countersign_gate::records::request::GrantRequest;
use serde_json::json;

use crate::support::{START, World, ask, command, reply, world};

const YEAR: i64 = 365 * 24 * 3600 * 1000;
const NOW: Duration = Duration::ZERO;
const WAITED: &str = "rm -rf /srv/waited";
const ALLOWED: &str = "rm -rf /srv/allowed";
const GRANTED: &str = "git push --force origin main";

/// What there is before the clock is set: a question, a token, a grant for an hour.
struct Before {
    waiting: String,
    token: String,
}

async fn before(world: &World) -> Before {
    let (waiting, _) = ask(world, command(WAITED)).await;
    let (granted, approval) = ask(world, command(GRANTED)).await;
    let mut answer = reply(&approval, Choice::Always);
    answer.grant = Some(GrantRequest {
        lasts_millis: Some(3600 * 1000),
        ..GrantRequest::default()
    });
    world.gate.answer(&world.ana, answer).await.unwrap();
    // The call that was asked about takes its own yes, so that the next ones need the grant.
    use_up(world, &token_of(world, &granted.call_id).await)
        .await
        .unwrap();
    assert_eq!(submitted(world, GRANTED).await, "allowed");
    let token = approved(world, ALLOWED).await;
    Before {
        waiting: waiting.call_id,
        token,
    }
}

/// Has `text` asked about and allowed once, and returns its token.
async fn approved(world: &World, text: &str) -> String {
    let (call, approval) = ask(world, command(text)).await;
    let yes = reply(&approval, Choice::Once);
    world.gate.answer(&world.ana, yes).await.unwrap();
    token_of(world, &call.call_id).await
}

async fn token_of(world: &World, call: &str) -> String {
    let call = world.call(call).await;
    call.token.unwrap()
}

async fn use_up(world: &World, token: &str) -> Result<(), GateError> {
    world.gate.consume(&world.agent, token).await.map(drop)
}

async fn submitted(world: &World, text: &str) -> String {
    let call = world.gate.submit(&world.agent, command(text)).await;
    call.unwrap().status.to_string()
}

async fn status(world: &World, call: &str) -> String {
    let call = world.gate.call(&world.agent, call, NOW).await;
    call.unwrap().status.to_string()
}

fn set(world: &World, millis: i64) {
    world.clock.set_machine(UnixMillis(START.0 + millis));
}

/// Holds that what is asked now can be answered, proven by the machine's clock, used once, and
/// runs out of time.
async fn new_calls_work(world: &World, name: &str) {
    let text = format!("rm -rf /srv/{name}");
    let token = approved(world, &text).await;
    let args = json!({ "command": text });
    let expected = Expected {
        audience: "tool:terminal",
        tool: "terminal",
        session: "s1",
        agent: Some(world.agent.key.as_str()),
        arguments: Arguments::Json(&args),
        cwd: Some("/home/dev/project"),
        attachments: &[],
    };
    let keys = world.gate.public_keys().await.unwrap();
    let machine = world.clock.machine().seconds();
    assert!(verify(&token, &keys, machine, expected).is_ok(), "{name}");
    use_up(world, &token).await.unwrap();
    let again = use_up(world, &token).await;
    assert!(matches!(again, Err(GateError::TokenUsed)), "{name}");
    let (unanswered, _) = ask(world, command(&format!("{text}/more"))).await;
    world.clock.advance(Duration::from_secs(299));
    assert_eq!(status(world, &unanswered.call_id).await, "waiting");
    world.clock.advance(Duration::from_secs(2));
    assert_eq!(status(world, &unanswered.call_id).await, "expired");
}

/// Holds that nothing of before can be used any more.
async fn all_of_it_has_ended(world: &World, before: &Before, name: &str) {
    assert_eq!(status(world, &before.waiting).await, "expired", "{name}");
    let used = use_up(world, &before.token).await;
    assert!(matches!(used, Err(GateError::TokenExpired)), "{name}");
    let call = world.gate.submit(&world.agent, command(GRANTED)).await;
    let call = call.unwrap();
    assert_eq!(call.status.word(), "waiting", "{name}: the grant is over");
    world
        .gate
        .withdraw(&world.agent, &call.call_id, None)
        .await
        .unwrap();
}

#[tokio::test]
async fn law_6_a_clock_set_a_year_ahead_ends_everything_and_setting_it_back_revives_nothing() {
    let world = world().await;
    let before = before(&world).await;
    set(&world, YEAR);
    all_of_it_has_ended(&world, &before, "a year ahead").await;
    new_calls_work(&world, "ahead").await;
    let ahead = approved(&world, "rm -rf /srv/left").await;
    set(&world, 0);
    all_of_it_has_ended(&world, &before, "back again").await;
    let early = use_up(&world, &ahead).await;
    let is_refused = matches!(early, Err(GateError::TokenInvalid));
    assert!(is_refused, "a token of the time ahead is not valid yet");
    new_calls_work(&world, "back").await;
}

#[tokio::test]
async fn law_6_a_clock_set_a_year_back_lengthens_nothing_and_stops_nothing() {
    let world = world().await;
    let before = before(&world).await;
    set(&world, -YEAR);
    assert_eq!(status(&world, &before.waiting).await, "waiting");
    assert_eq!(submitted(&world, GRANTED).await, "allowed");
    let early = use_up(&world, &before.token).await;
    let is_refused = matches!(early, Err(GateError::TokenInvalid));
    assert!(is_refused, "by this machine's clock it is not valid yet");
    new_calls_work(&world, "past").await;
    // A question lives its five minutes, a grant its hour, whatever the machine says.
    assert_eq!(status(&world, &before.waiting).await, "expired");
    world.clock.advance(Duration::from_hours(1));
    set(&world, 3600 * 1000);
    all_of_it_has_ended(&world, &before, "set right").await;
    new_calls_work(&world, "right").await;
}
