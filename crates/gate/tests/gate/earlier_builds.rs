//! A database that the build before typed states has left: every entry is a typed event, and what
//! waits there can be answered. The HTTP tests open the whole home; here the clock stands still.

use std::path::Path;

use countersign_core::approval::Choice;
use countersign_core::id::KeyId;
use countersign_core::time::UnixMillis;
use countersign_gate::Gate;
use countersign_gate::base::clock::Clock;
use countersign_gate::base::principal::{Principal, Role};
use countersign_gate::clarifications::Clarified;
use countersign_gate::records::event::Event;
use serde_json::Value;

use crate::ledger;
use crate::support::{Wishes, in_session, open, reply};

const HOME: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../countersign/tests/http/home_before_types"
);

/// Opens a copy a second after it was left, and returns what is expected of it.
async fn opened() -> (Gate, Value, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let database = home.path().join("countersign.db");
    std::fs::copy(Path::new(HOME).join("countersign.db"), database).unwrap();
    let expected = std::fs::read_to_string(Path::new(HOME).join("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let clock = Clock::manual(UnixMillis(
        expected["made_at"].as_i64().unwrap() * 1000 + 1000,
    ));
    let gate = open(home.path(), &clock, Wishes::default()).await;
    (gate, expected, home)
}

async fn known(gate: &Gate, name: &str, role: Role) -> Principal {
    let admin = Principal {
        key: KeyId("key_of_nobody".to_owned()),
        name: "admin".to_owned(),
        role: Role::Admin,
        via: "api".to_owned(),
        tier: countersign_core::tier::Tier::T0,
    };
    let keys = gate.keys(&admin).await.unwrap().items;
    let key = keys.into_iter().find(|key| key.name == name).unwrap();
    Principal {
        key: KeyId(key.id),
        name: name.to_owned(),
        role,
        ..admin
    }
}

#[tokio::test]
async fn what_an_earlier_build_left_waiting_can_be_answered() {
    let (gate, expected, _home) = opened().await;
    let ana = known(&gate, "ana", Role::Approver).await;
    let waiting = expected["waiting"].as_str().unwrap();
    let answered = gate.answer(&ana, reply(waiting, Choice::Once)).await;
    assert_eq!(answered.unwrap().status.word(), "approved");
    let bot = known(&gate, "bot", Role::Agent).await;
    let call = expected["waiting_call"].as_str().unwrap();
    let call = gate.call(&bot, call, std::time::Duration::ZERO).await;
    assert!(call.unwrap().token.is_some(), "its asker gets the token");
    let question = expected["clarification"].as_str().unwrap();
    let answered = gate.clarify(&ana, question, Clarified::Choice(1)).await;
    assert_eq!(answered.unwrap().status.word(), "answered");
}

#[tokio::test]
async fn an_honest_retry_of_a_call_of_an_earlier_build_is_recognised() {
    let (gate, expected, _home) = opened().await;
    let bot = known(&gate, "bot", Role::Agent).await;
    let retry = |command: &str| {
        let mut submission = in_session("s9", command);
        submission.call = submission.call.from_directory("/srv/app");
        submission.idempotency_key = Some("retry-1".to_owned());
        submission
    };
    let again = gate.submit(&bot, retry("rm -rf /srv/waiting")).await;
    assert_eq!(again.unwrap().call_id, expected["waiting_call"]);
    let other = gate.submit(&bot, retry("rm -rf /srv/other")).await;
    assert!(
        matches!(&other, Err(countersign_gate::GateError::Invalid { code, .. }) if *code == "idempotency_key_reused"),
        "{other:?}"
    );
}

#[tokio::test]
async fn what_an_earlier_build_wrote_into_the_ledger_is_what_typed_events_write() {
    let (gate, _expected, _home) = opened().await;
    let mut kinds = std::collections::BTreeSet::new();
    for entry in ledger(&gate).await {
        let event: Event = serde_json::from_str(&entry.draft.body).expect(&entry.draft.body);
        assert_eq!(event.name(), entry.draft.event);
        if kinds.insert(entry.draft.event) {
            let written = serde_json::to_string(&event).unwrap();
            assert_eq!(written, entry.draft.body);
        }
    }
    assert!(kinds.len() > 35, "{kinds:?}");
}
