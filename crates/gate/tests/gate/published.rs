//! Gateways that share a database know each other's keys.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::approval::Choice;
use countersign_core::policy::Policy;
use countersign_core::token::PublicKey;
use countersign_gate::base::settings::{OnePolicy, Settings};
use countersign_gate::base::signer::Signer;
use countersign_gate::{Gate, GateError, Parts};
use countersign_store::Database;

use crate::support::{DANGEROUS, World, ask, command, reply, world};
use crate::told;

/// Opens another gate on the database of `world`, with a key of its own.
async fn replica(world: &World, seed: u8) -> Gate {
    let file = world.home.path().join("countersign.db");
    Gate::open(Parts {
        store: Database::sqlite(&file).await.unwrap(),
        clock: world.clock.clone(),
        signer: Signer::from_seed([seed; 32]),
        policies: Arc::new(OnePolicy::new(Policy::default())),
        settings: Settings::default(),
        channels: Vec::new(),
    })
    .await
    .unwrap()
}

async fn keys(gate: &Gate) -> Vec<PublicKey> {
    gate.public_keys().await.unwrap()
}

/// Has a call allowed at `gate` and returns its token.
async fn token(world: &World, gate: &Gate) -> String {
    let (call, approval) = ask(world, command(DANGEROUS)).await;
    let yes = reply(&approval, Choice::Once);
    gate.answer(&world.ana, yes).await.unwrap();
    let call = gate.call(&world.agent, &call.call_id, Duration::ZERO).await;
    call.unwrap().token.unwrap()
}

#[tokio::test]
async fn law_5_a_token_of_one_gateway_is_used_once_at_all_of_them() {
    let world = world().await;
    let other = replica(&world, 9).await;
    let token = token(&world, &world.gate).await;
    other.consume(&world.agent, &token).await.unwrap();
    for gate in [&world.gate, &other] {
        let again = gate.consume(&world.agent, &token).await;
        assert!(matches!(again, Err(GateError::TokenUsed)), "{again:?}");
    }
}

#[tokio::test]
async fn a_key_is_told_of_once_and_believed_for_ten_minutes_after_it_was_last_heard_of() {
    let world = world().await;
    let other = replica(&world, 9).await;
    let (ours, theirs) = (
        Signer::from_seed([7; 32]).public(),
        Signer::from_seed([9; 32]).public(),
    );
    assert_eq!(keys(&world.gate).await, [ours.clone(), theirs.clone()]);
    assert_eq!(keys(&other).await, [theirs.clone(), ours.clone()]);
    drop(other);
    world.clock.advance(Duration::from_secs(599));
    assert_eq!(keys(&world.gate).await, [ours.clone(), theirs.clone()]);
    world.clock.advance(Duration::from_secs(2));
    assert_eq!(keys(&world.gate).await, std::slice::from_ref(&ours), "gone");
    let other = replica(&world, 9).await;
    assert_eq!(keys(&world.gate).await, [ours, theirs.clone()], "back");
    drop(other);
    let published = told(&world.gate, "key.published").await;
    assert_eq!(published.len(), 2, "each of them once: {published:?}");
    assert_eq!(published[1]["kid"], *theirs.kid);
}

#[tokio::test]
async fn a_token_of_a_gateway_that_never_said_its_key_opens_nothing() {
    let world = world().await;
    let other = replica(&world, 9).await;
    let token = token(&world, &other).await;
    let database = rusqlite::Connection::open(world.home.path().join("countersign.db")).unwrap();
    let theirs = Signer::from_seed([9; 32]).public().kid;
    let forgotten = database.execute("DELETE FROM records WHERE id = ?1", [&theirs]);
    assert_eq!(forgotten.unwrap(), 1);
    let refused = world.gate.consume(&world.agent, &token).await;
    assert!(matches!(refused, Err(GateError::TokenInvalid)));
}
