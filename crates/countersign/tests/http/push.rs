//! Devices are told that something waits and that it is settled: those of people who may answer,
//! once, encrypted, and never at an address of this machine's network.

use std::time::Duration;

use countersign_testkit::model::Reply;
use countersign_testkit::ntfy::NtfyServer;
use countersign_testkit::push::{Instead, Message, PushService, Subscribed};
use serde_json::{Value, json};

use crate::scene::Scene;
use crate::support::{Gateway, RISKY, Said, said};

/// A push service on this machine is for tests, and has to be allowed.
const LOCAL: &str = "push: { loopback: true }\n";

fn subscription(gateway: &Gateway, service: &PushService, name: &str) -> Subscribed {
    let push = gateway.get(&gateway.admin(), "/v1/push");
    let key = push.body["public_key"].as_str().unwrap();
    service.subscribe(name, key).unwrap()
}

fn add(gateway: &Gateway, key: &str, name: &str, it: &Subscribed) -> Said {
    let body = json!({
        "name": name, "endpoint": it.endpoint, "p256dh": it.p256dh, "auth": it.auth,
    });
    gateway.post(key, "/v1/devices", &body)
}

/// Turns notifications on for a device of `key` and returns its id.
fn device(gateway: &Gateway, service: &PushService, key: &str, name: &str) -> String {
    let added = add(gateway, key, name, &subscription(gateway, service, name));
    assert_eq!(added.status, 201, "{added:?}");
    added.body["id"].as_str().unwrap().to_owned()
}

fn remove(gateway: &Gateway, key: &str, id: &str) -> Said {
    let path = format!("/v1/devices/{id}");
    said(gateway.request("DELETE", &path).bearer_auth(key))
}

fn devices(gateway: &Gateway, key: &str) -> Vec<Value> {
    let listed = gateway.get(key, "/v1/devices");
    listed.body["devices"].as_array().unwrap().clone()
}

/// Waits until so many messages have arrived.
fn messages(service: &PushService, count: usize) -> Vec<Message> {
    let arrived = service.until(|it| it.len() >= count);
    let arrived = arrived.unwrap_or_else(|| panic!("refused: {:?}", service.refused()));
    assert_eq!(arrived.len(), count, "{arrived:?}");
    arrived
}

#[test]
fn a_device_is_told_that_something_waits_and_that_it_is_answered() {
    let gateway =
        Gateway::configured("push: { loopback: true, contact: 'mailto:ana@example.org' }\n");
    let service = PushService::start().unwrap();
    let (admin, agent) = (gateway.admin(), gateway.key("agent"));
    device(&gateway, &service, &admin, "phone");
    let approval = gateway.ask(&agent, RISKY);
    let asked = messages(&service, 1).remove(0);
    // That something waits, and nothing of what it is.
    assert_eq!(asked.text, json!({ "type": "waiting", "id": approval }));
    assert!((200..=300).contains(&asked.ttl), "{asked:?}");
    assert_eq!(asked.urgency, "high", "it is critical");
    assert_eq!(asked.contact.as_deref(), Some("mailto:ana@example.org"));
    gateway.resolve(&admin, &approval, "deny");
    let settled = messages(&service, 2).remove(1);
    assert_eq!(settled.text, json!({ "type": "closed", "id": approval }));
    assert_eq!(settled.topic, asked.topic, "it replaces the question");
    assert_eq!(service.refused(), Vec::<String>::new());
    let deliveries = format!("/v1/approvals/{approval}/deliveries");
    let deliveries = gateway.get(&admin, &deliveries).body["deliveries"].clone();
    assert_eq!(deliveries[0]["channel"], "web push", "{deliveries}");
}

#[test]
fn what_waits_is_told_only_if_the_owner_wants_it() {
    let gateway = Gateway::configured("push: { loopback: true, show: what }\n");
    let service = PushService::start().unwrap();
    let (admin, agent) = (gateway.admin(), gateway.key("agent"));
    device(&gateway, &service, &admin, "phone");
    let approval = gateway.ask(&agent, RISKY);
    let card = gateway.get(&admin, &format!("/v1/approvals/{approval}"));
    let card = &card.body["card"];
    let asked = messages(&service, 1).remove(0);
    assert_eq!(asked.text["text"], RISKY, "{asked:?}");
    assert_eq!(asked.text["title"], card["title"], "{asked:?}");
}

#[test]
fn only_devices_of_people_who_may_answer_are_told() {
    let gateway = Gateway::configured(LOCAL);
    let service = PushService::start().unwrap();
    let (admin, agent) = (gateway.admin(), gateway.key("agent"));
    let (ben, eve) = (
        gateway.named_key("ben", "approver"),
        gateway.named_key("eve", "approver"),
    );
    let viewer = gateway.key("viewer");
    for key in [&agent, &viewer] {
        let refused = add(
            &gateway,
            key,
            "x",
            &subscription(&gateway, &service, "stranger"),
        );
        assert_eq!(refused.status, 403, "{refused:?}");
        assert_eq!(gateway.get(key, "/v1/devices").status, 403);
    }
    device(&gateway, &service, &ben, "ben");
    let of_eve = device(&gateway, &service, &eve, "eve");
    // Nobody sees or removes the device of somebody else; the admin may.
    assert_eq!(devices(&gateway, &ben).len(), 1);
    assert_eq!(devices(&gateway, &admin).len(), 2);
    assert_eq!(remove(&gateway, &ben, &of_eve).status, 404);
    let test = format!("/v1/devices/{of_eve}/test");
    assert_eq!(gateway.post(&ben, &test, &json!({})).status, 404);
    // Who loses the key is told nothing any more.
    let keys = gateway.get(&admin, "/v1/keys").body["keys"].clone();
    let keys = keys.as_array().unwrap();
    let id = keys.iter().find(|it| it["name"] == "eve").unwrap()["id"].clone();
    let path = format!("/v1/keys/{}", id.as_str().unwrap());
    said(gateway.request("DELETE", &path).bearer_auth(&admin));
    let approval = gateway.ask(&agent, RISKY);
    messages(&service, 1);
    gateway.resolve(&admin, &approval, "deny");
    let told = messages(&service, 2);
    assert!(told.iter().all(|it| it.browser == "ben"), "{told:?}");
}

#[test]
fn the_draft_for_a_person_in_crisis_is_told_to_others_and_says_nothing() {
    let reply = Reply::text(["Zebra words that nobody has looked at."]);
    let config = "push: { loopback: true, show: what }\n";
    let scene = Scene::configured(vec![reply], config);
    let service = PushService::start().unwrap();
    let (gateway, admin) = (&scene.gateway, scene.gateway.admin());
    let ben = gateway.named_key("ben", "approver");
    device(gateway, &service, &admin, "own");
    device(gateway, &service, &ben, "ben");
    scene.start("I want to kill myself tonight.");
    let asked = scene.asked(&ben);
    let id = asked["approval_id"].as_str().unwrap();
    messages(&service, 1);
    gateway.resolve(&ben, id, "deny");
    let told = messages(&service, 2);
    assert!(told.iter().all(|it| it.browser == "ben"), "{told:?}");
    assert_eq!(told[0].text, json!({ "type": "waiting", "id": id }));
}

#[test]
fn a_device_that_its_browser_gave_up_is_removed() {
    let gateway = Gateway::configured(LOCAL);
    let service = PushService::start().unwrap();
    let (admin, agent) = (gateway.admin(), gateway.key("agent"));
    let gone = Instead {
        status: 410,
        retry_after: None,
    };
    device(&gateway, &service, &admin, "old");
    service.answer_instead("old", &[gone]);
    device(&gateway, &service, &admin, "new");
    let mut events = gateway.events(&admin, "/v1/events", None);
    gateway.ask(&agent, RISKY);
    let (_, removed) = events.named("device.removed");
    assert_eq!(removed["by"], "push service", "{removed}");
    messages(&service, 1);
    let left = devices(&gateway, &admin);
    assert_eq!((left.len(), &left[0]["name"]), (1, &json!("new")));
}

#[test]
fn a_service_that_asks_to_wait_is_waited_for() {
    let gateway = Gateway::configured(LOCAL);
    let service = PushService::start().unwrap();
    let (admin, agent) = (gateway.admin(), gateway.key("agent"));
    device(&gateway, &service, &admin, "phone");
    let busy = Instead {
        status: 429,
        retry_after: Some(2),
    };
    service.answer_instead("phone", &[busy]);
    let since = std::time::Instant::now();
    gateway.ask(&agent, RISKY);
    let told = messages(&service, 1).remove(0);
    assert!(told.at - since >= Duration::from_secs(2), "{told:?}");
}

#[test]
fn nobody_is_told_twice_across_a_restart() {
    let gateway = Gateway::configured(LOCAL);
    let service = PushService::start().unwrap();
    let (admin, agent) = (gateway.admin(), gateway.key("agent"));
    device(&gateway, &service, &admin, "phone");
    let approval = gateway.ask(&agent, RISKY);
    let mut events = gateway.events(&admin, "/v1/events", Some(0));
    events.named("card.delivered");
    let gateway = gateway.killed_and_restarted();
    gateway.resolve(&admin, &approval, "deny");
    let told = messages(&service, 2);
    assert_eq!(told[1].text["type"], "closed", "{told:?}");
}

#[test]
fn a_test_notification_says_whether_the_service_took_it() {
    let gateway = Gateway::configured(LOCAL);
    let service = PushService::start().unwrap();
    let admin = gateway.admin();
    let id = device(&gateway, &service, &admin, "phone");
    let test = |id: &str| gateway.post(&admin, &format!("/v1/devices/{id}/test"), &json!({}));
    assert_eq!(test(&id).body, json!({ "delivered": true, "why": null }));
    assert_eq!(messages(&service, 1)[0].text, json!({ "type": "test" }));
    let broken = Instead {
        status: 307,
        retry_after: None,
    };
    service.answer_instead("phone", &[broken]);
    let failed = test(&id).body;
    assert_eq!(failed["delivered"], false);
    assert!(failed["why"].as_str().unwrap().contains("307"), "{failed}");
    assert_eq!(remove(&gateway, &admin, &id).status, 204);
    assert_eq!(test(&id).status, 404);
    assert_eq!(devices(&gateway, &admin), Vec::<Value>::new());
}

#[test]
fn endpoints_in_private_networks_are_refused() {
    let gateway = Gateway::start();
    let service = PushService::start().unwrap();
    let admin = gateway.admin();
    let good = subscription(&gateway, &service, "phone");
    for endpoint in [
        good.endpoint.as_str(),
        "https://127.0.0.1/x",
        "https://192.168.0.1/x",
        "https://169.254.169.254/latest/meta-data",
        "https://[fd00::1]/x",
        "https://localhost/x",
        "http://push.example.org/x",
    ] {
        let subscribed = Subscribed {
            endpoint: endpoint.to_owned(),
            ..good.clone()
        };
        let refused = add(&gateway, &admin, "phone", &subscribed);
        assert_eq!(
            (refused.status, refused.code()),
            (422, "invalid_subscription"),
            "{endpoint}"
        );
    }
    // What opens that to tests is not for the network to set.
    let body = json!({ "key": "push.loopback", "value": "true" });
    let refused = gateway.post(&admin, "/v1/config", &body);
    assert_eq!((refused.status, refused.code()), (422, "file_only"));
}

#[test]
fn the_key_of_the_gateway_survives_a_restart() {
    let gateway = Gateway::start();
    let key =
        |gateway: &Gateway| gateway.get(&gateway.admin(), "/v1/push").body["public_key"].clone();
    let before = key(&gateway);
    let gateway = gateway.restarted();
    assert_eq!(key(&gateway), before);
}

#[test]
fn a_question_that_every_channel_refuses_waits_while_a_device_is_told() {
    // Its server knows another token, so it refuses every card.
    let server = NtfyServer::start("another").unwrap();
    let config = format!(
        "{LOCAL}channels:\n  phone: {{ type: ntfy, url: '{}', topic: t, page_url: 'https://gate.example.org' }}\n",
        server.url()
    );
    let gateway = Gateway::configured(&config);
    let service = PushService::start().unwrap();
    let (admin, agent) = (gateway.admin(), gateway.key("agent"));
    let settled = |command: &str, wait: u32| {
        let call = gateway.submit(&agent, command).body["call_id"].clone();
        let path = format!("/v1/calls/{}?wait_seconds={wait}", call.as_str().unwrap());
        gateway.get(&agent, &path).body
    };
    let alone = settled(RISKY, 30);
    assert_eq!(alone["decision"]["cause"], "undeliverable", "{alone}");
    device(&gateway, &service, &admin, "laptop");
    let told = settled("rm -rf /srv/other", 2);
    assert_eq!(told["status"], "waiting", "{told}");
    messages(&service, 1);
    assert_eq!(server.refused().len(), 2);
}
