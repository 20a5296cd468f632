//! The key that signs is exchanged, and what it signed lives to its end.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::policy::Policy;
use countersign_core::token::PublicKey;
use countersign_gate::base::clock::Clock;
use countersign_gate::base::settings::{OnePolicy, Settings};
use countersign_gate::base::signer::Signer;
use countersign_gate::{Gate, Parts};
use countersign_store::Database;

use crate::support::START;

#[tokio::test]
async fn the_key_before_is_published_until_its_tokens_are_over() {
    let (clock, home) = (Clock::manual(START), tempfile::tempdir().unwrap());
    let file = home.path().join("signing.key");
    let before = Signer::load_or_create(&file).unwrap().public();
    let signer = Signer::rotate(&file, clock.machine()).unwrap();
    let current = signer.public();
    let store = Database::sqlite(&home.path().join("countersign.db"))
        .await
        .unwrap();
    let gate = Gate::open(Parts {
        store,
        clock: clock.clone(),
        signer,
        policies: Arc::new(OnePolicy::new(Policy::default())),
        settings: Settings::default(),
        channels: Vec::new(),
    })
    .await
    .unwrap();
    let published = async || -> Vec<PublicKey> { gate.public_keys().await.unwrap() };
    assert_eq!(published().await, [current.clone(), before]);
    clock.advance(Duration::from_mins(10));
    assert_eq!(published().await, [current]);
}
