//! Keys, people and browsers that are signed in.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use countersign_core::digest::Digest;
use countersign_core::id::KeyId;
use countersign_gate::GateError;
use countersign_gate::base::principal::Role;
use countersign_gate::people::PersonView;

use crate::support::{Wishes, World, open, principal, world};
use crate::{everybody, ledger, told};

#[tokio::test]
async fn a_key_is_whose_secret_it_is_and_nothing_else_is_a_key() {
    let World { gate, .. } = world().await;
    for role in Role::ALL {
        let key = gate.create_key("root", "Åsa Ek", role).await.unwrap();
        let prefix = format!("cs_{}_", role.word());
        let random = key.key.strip_prefix(&prefix).unwrap();
        assert_eq!(random.len(), 43, "{}", key.key);
        for _ in 0..2 {
            let who = gate.authenticate(&key.key).await.unwrap();
            assert_eq!((who.key.0.as_str(), who.role), (key.id.as_str(), role));
            assert_eq!((who.name.as_str(), who.via.as_str()), ("Åsa Ek", "api"));
        }
        let wrong = [
            ("empty", String::new()),
            ("without its prefix", random.to_owned()),
            ("shorter", key.key.chars().skip(1).collect()),
            ("longer", format!("{}A", key.key)),
            ("another role", key.key.replace(&prefix, "cs_root_")),
            ("its own hash", Digest::of(key.key.as_bytes()).hex()),
            ("endless", "x".repeat(1 << 20)),
        ];
        for (name, secret) in wrong {
            assert!(not_found(gate.authenticate(&secret).await), "{name}");
        }
    }
}

#[tokio::test]
async fn neither_a_secret_nor_its_hash_is_told_and_no_secret_is_kept() {
    let World {
        gate, ana, home, ..
    } = world().await;
    let key = gate.create_key("root", "bo", Role::Admin).await.unwrap();
    let code = gate.login_code(&KeyId(key.id.clone())).await.unwrap();
    let login = gate.redeem_login_code(&code).await.unwrap();
    let listed = serde_json::to_string(&gate.keys(&ana).await.unwrap().items).unwrap();
    let entries = format!("{:?}", ledger(&gate).await);
    gate.store().close().await;
    for secret in [&key.key, &code, &login.secret] {
        let hash = Digest::of(secret.as_bytes()).hex();
        for text in [&listed, &entries] {
            assert!(!text.contains(secret.as_str()) && !text.contains(&hash));
        }
        for file in std::fs::read_dir(home.path()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            let found = bytes
                .windows(secret.len())
                .any(|window| window == secret.as_bytes());
            assert!(!found);
        }
    }
    assert!(entries.contains(&key.id), "but who made which key is told");
}

#[tokio::test]
async fn a_revoked_key_is_useless_at_once_and_stays_so() {
    let World { gate, .. } = world().await;
    let admin = principal(&gate, "root", Role::Admin).await;
    let key = gate.create_key("root", "bo", Role::Agent).await.unwrap();
    gate.authenticate(&key.key).await.unwrap();
    let first = gate.revoke_key(&admin, &key.id).await.unwrap();
    assert!(first.revoked_at.is_some());
    assert!(not_found(gate.authenticate(&key.key).await));
    let second = gate.revoke_key(&admin, &key.id).await.unwrap();
    assert_eq!(second.revoked_at, first.revoked_at);
    assert_eq!(told(&gate, "key.revoked").await.len(), 1);
    assert!(not_found(gate.revoke_key(&admin, "key_none").await));
}

#[tokio::test]
async fn what_another_process_does_to_keys_counts_here_within_a_second() {
    let World {
        gate, clock, home, ..
    } = world().await;
    let other = open(home.path(), &clock, Wishes::default()).await;
    let admin = principal(&other, "root", Role::Admin).await;
    let key = other.create_key("root", "bo", Role::Agent).await.unwrap();
    gate.authenticate(&key.key).await.unwrap();
    other.revoke_key(&admin, &key.id).await.unwrap();
    let revoked = Instant::now();
    while gate.authenticate(&key.key).await.is_ok() {
        assert!(revoked.elapsed() < Duration::from_millis(1500));
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn names_are_what_they_look_like() {
    let World { gate, .. } = world().await;
    let admin = principal(&gate, "root", Role::Admin).await;
    let rows = [
        ("one letter", "a".to_owned(), true),
        ("two words", "Ana María".to_owned(), true),
        ("sixty-four", "é".repeat(64), true),
        ("sixty-five", "e".repeat(65), false),
        ("nothing", String::new(), false),
        ("a blank", " ".to_owned(), false),
        ("a blank at its end", "ana ".to_owned(), false),
        ("a line break", "ana\nbo".to_owned(), false),
        ("an escape", "ana\u{1b}[1m".to_owned(), false),
        ("turned around", "ana\u{202e}".to_owned(), false),
        ("no width", "a\u{200b}na".to_owned(), false),
    ];
    for (row, name, fits) in rows {
        let key = gate.create_key("root", &name, Role::Agent).await;
        assert_eq!(key.is_ok(), fits, "{row}");
        let person = PersonView {
            name,
            ..PersonView::default()
        };
        let person = gate.put_person(&admin, person).await;
        assert_eq!(person.is_ok(), fits, "{row}");
    }
}

#[tokio::test]
async fn law_7_only_an_admin_changes_keys_and_people_and_an_agent_sees_neither() {
    let World { gate, .. } = world().await;
    for who in everybody(&gate).await {
        let (role, admin) = (who.role, who.role.administers());
        let spare = principal(&gate, "spare", Role::Viewer).await;
        let revoked = gate.revoke_key(&who, spare.key.as_str()).await;
        assert_eq!(revoked.is_ok(), admin, "{role:?}");
        let changed = gate.put_person(&who, person("bo", &[], &[])).await;
        assert_eq!(changed.is_ok(), admin, "{role:?}");
        let removed = gate.remove_person(&who, "bo").await;
        assert_eq!(removed.is_ok(), admin, "{role:?}");
        assert_eq!(gate.keys(&who).await.is_ok(), role.answers(), "{role:?}");
        assert_eq!(gate.people(&who).await.is_ok(), role.answers(), "{role:?}");
        let code = gate.login_code(&who.key).await;
        assert_eq!(code.is_ok(), role != Role::Agent, "{role:?}");
    }
}

#[tokio::test]
async fn the_name_of_an_approvers_key_is_a_person_and_removing_the_person_ends_the_key() {
    let World { gate, .. } = world().await;
    let root = principal(&gate, "root", Role::Admin).await;
    let key = gate.create_key("root", "bo", Role::Approver).await.unwrap();
    let agent = gate.create_key("root", "bo", Role::Agent).await.unwrap();
    let people = gate.people(&root).await.unwrap().items;
    let bo = people.iter().find(|person| person.name == "bo").unwrap();
    assert_eq!(bo.roles, ["approver"]);
    let code = gate.login_code(&KeyId(key.id.clone())).await.unwrap();
    let login = gate.redeem_login_code(&code).await.unwrap();
    let open_code = gate.login_code(&KeyId(key.id.clone())).await.unwrap();
    gate.authenticate_login(&login.secret).await.unwrap();
    gate.remove_person(&root, "bo").await.unwrap();
    assert!(not_found(gate.authenticate(&key.key).await));
    assert!(not_found(gate.authenticate_login(&login.secret).await));
    assert!(not_found(gate.redeem_login_code(&open_code).await));
    assert!(
        gate.authenticate(&agent.key).await.is_ok(),
        "programs go on"
    );
    assert!(not_found(gate.remove_person(&root, "bo").await));
    // A new key brings the person back, with nothing of what was known before.
    gate.create_key("root", "bo", Role::Admin).await.unwrap();
    let people = gate.people(&root).await.unwrap().items;
    let bo = people.iter().find(|person| person.name == "bo").unwrap();
    assert_eq!(bo.roles, ["admin"]);
}

#[tokio::test]
async fn keys_made_and_people_removed_at_once_leave_no_key_without_its_person() {
    let World { gate, .. } = world().await;
    let root = principal(&gate, "root", Role::Admin).await;
    for _ in 0..10 {
        gate.put_person(&root, person("bo", &["approver"], &[]))
            .await
            .unwrap();
        let (made, removed) = tokio::join!(
            gate.create_key("root", "bo", Role::Approver),
            gate.remove_person(&root, "bo"),
        );
        removed.unwrap();
        let people = gate.people(&root).await.unwrap().items;
        let is_there = people.iter().any(|person| person.name == "bo");
        let works = gate.authenticate(&made.unwrap().key).await.is_ok();
        assert_eq!(works, is_there);
    }
}

#[tokio::test]
async fn people_have_roles_of_people_and_accounts_of_their_own() {
    let World { gate, .. } = world().await;
    let root = principal(&gate, "root", Role::Admin).await;
    let first = person("bo", &["approver"], &[("telegram", "12345")]);
    assert_eq!(gate.put_person(&root, first.clone()).await.unwrap(), first);
    gate.put_person(&root, first)
        .await
        .expect("the same again is no clash");
    let rows = [
        ("a program", person("cy", &["agent"], &[])),
        ("no such role", person("cy", &["king"], &[])),
        (
            "taken",
            person("cy", &["approver"], &[("telegram", "12345")]),
        ),
        ("empty", person("cy", &["approver"], &[("telegram", "")])),
        ("hidden", person("cy", &[], &[("telegram", "1\u{200b}")])),
    ];
    for (row, person) in rows {
        let refused = gate.put_person(&root, person).await;
        assert!(matches!(refused, Err(GateError::Invalid { .. })), "{row}");
    }
}

#[tokio::test]
async fn there_is_an_approver_while_a_key_or_a_reachable_person_may_answer() {
    let home = tempfile::tempdir().unwrap();
    let clock = countersign_gate::base::clock::Clock::manual(crate::support::START);
    let gate = open(home.path(), &clock, Wishes::default()).await;
    assert!(!gate.has_approver().await.unwrap(), "nobody at all");
    principal(&gate, "claude", Role::Agent).await;
    principal(&gate, "auditor", Role::Viewer).await;
    assert!(!gate.has_approver().await.unwrap(), "nobody who answers");
    let root = principal(&gate, "root", Role::Admin).await;
    assert!(gate.has_approver().await.unwrap(), "an admin's key");
    gate.revoke_key(&root, root.key.as_str()).await.unwrap();
    assert!(!gate.has_approver().await.unwrap(), "it was revoked");
    let rows = [
        (person("bo", &["approver"], &[]), false),
        (person("bo", &["viewer"], &[("matrix", "@bo")]), false),
        (person("bo", &["approver"], &[("matrix", "@bo")]), true),
    ];
    for (bo, answers) in rows {
        gate.put_person(&root, bo.clone()).await.unwrap();
        assert_eq!(gate.has_approver().await.unwrap(), answers, "{bo:?}");
    }
    gate.remove_person(&root, "bo").await.unwrap();
    assert!(!gate.has_approver().await.unwrap(), "nobody again");
}

#[tokio::test]
async fn a_login_code_works_once_for_ten_minutes() {
    let World {
        gate, ana, clock, ..
    } = world().await;
    let code = gate.login_code(&ana.key).await.unwrap();
    assert_eq!(code.len(), 43);
    let tries = (0..8).map(|_| {
        let (gate, code) = (gate.clone(), code.clone());
        tokio::spawn(async move { gate.redeem_login_code(&code).await })
    });
    let mut won = Vec::new();
    for outcome in tries.collect::<Vec<_>>() {
        match outcome.await.unwrap() {
            Ok(login) => won.push(login),
            Err(error) => assert!(matches!(error, GateError::NotFound { .. }), "{error}"),
        }
    }
    assert_eq!(won.len(), 1);
    let who = gate.authenticate_login(&won[0].secret).await.unwrap();
    assert_eq!((&who.key, who.via.as_str()), (&ana.key, "page"));
    let late = gate.login_code(&ana.key).await.unwrap();
    clock.advance(Duration::from_mins(10));
    assert!(not_found(gate.redeem_login_code(&late).await));
    let in_time = gate.login_code(&ana.key).await.unwrap();
    clock.advance(Duration::from_secs(599));
    assert!(gate.redeem_login_code(&in_time).await.is_ok());
}

#[tokio::test]
async fn a_browser_stays_signed_in_for_twelve_hours_or_until_it_is_signed_out() {
    let World {
        gate,
        ana,
        agent,
        clock,
        ..
    } = world().await;
    let root = principal(&gate, "root", Role::Admin).await;
    let mut cookies = Vec::new();
    for who in [&ana, &ana, &root] {
        let code = gate.login_code(&who.key).await.unwrap();
        cookies.push(gate.redeem_login_code(&code).await.unwrap().secret);
        // The oldest is listed first.
        clock.advance(Duration::from_millis(1));
    }
    let own = gate.logins(&ana).await.unwrap().items;
    assert_eq!(own.len(), 2);
    assert_eq!(gate.logins(&root).await.unwrap().items.len(), 3);
    gate.authenticate_login(&cookies[0]).await.unwrap();
    assert!(
        not_found(gate.authenticate(&cookies[0]).await),
        "no key, though"
    );
    assert!(not_found(gate.revoke_login(&agent, &own[0].id).await));
    gate.revoke_login(&ana, &own[0].id).await.unwrap();
    assert!(not_found(gate.authenticate_login(&cookies[0]).await));
    clock.advance(Duration::from_secs(12 * 3600 - 2));
    gate.authenticate_login(&cookies[1]).await.unwrap();
    clock.advance(Duration::from_secs(2));
    assert!(not_found(gate.authenticate_login(&cookies[1]).await));
    assert!(gate.logins(&root).await.unwrap().items.is_empty());
}

fn person(name: &str, roles: &[&str], accounts: &[(&str, &str)]) -> PersonView {
    PersonView {
        name: name.to_owned(),
        roles: roles.iter().map(|&role| role.to_owned()).collect(),
        accounts: accounts
            .iter()
            .map(|&(channel, account)| (channel.to_owned(), account.to_owned()))
            .collect::<BTreeMap<_, _>>(),
    }
}

fn not_found<T>(outcome: Result<T, GateError>) -> bool {
    outcome.is_err_and(|error| matches!(error, GateError::NotFound { .. }))
}
