//! Two gateways on one PostgreSQL: one winner for each answer, seen on both.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Barrier;

use countersign_testkit::postgres::Server;
use serde_json::json;

use crate::support::Gateway;

/// Answers that race for one approval.
const RACERS: usize = 5;

fn pair() -> Option<(Gateway, Gateway)> {
    let database = Server::shared()?.database().unwrap();
    let config = format!("store: {{ url: \"{database}\" }}\n");
    Some((Gateway::configured(&config), Gateway::configured(&config)))
}

/// Returns how often something races: as often as this, or forty times that in a soak.
fn races(usual: usize) -> usize {
    let is_soak = std::env::var_os("COUNTERSIGN_SOAK").is_some();
    if is_soak { usual * 40 } else { usual }
}

#[test]
fn law_4_of_answers_that_race_on_two_gateways_exactly_one_counts() {
    let Some((a, b)) = pair() else {
        return;
    };
    let races = races(100);
    let (ana, bo) = (
        a.named_key("ana", "approver"),
        a.named_key("bo", "approver"),
    );
    let mut winners: BTreeMap<String, u32> = BTreeMap::new();
    let mut events = a.events(&ana, "/v1/events", None);
    for race in 0..races {
        // A key may have twenty questions waiting; a few keys in turn keep the ledger mixed.
        let agent = a.named_key(&format!("agent {race}"), "agent");
        let approval = b.ask(&agent, &format!("rm -rf /srv/{race}"));
        let won: usize = std::thread::scope(|scope| {
            let answers: Vec<_> = (0..RACERS)
                .map(|racer| {
                    let (gateway, key) = if racer % 2 == 0 {
                        (&a, &ana)
                    } else {
                        (&b, &bo)
                    };
                    let approval = &approval;
                    scope.spawn(move || {
                        let choice = if racer % 3 == 0 { "deny" } else { "once" };
                        let said = gateway.resolve(key, approval, choice);
                        match said.status {
                            200 => 1,
                            409 => {
                                let by = said.body["decision"]["by"].as_str();
                                assert!(matches!(by, Some("ana" | "bo")), "{said:?}");
                                0
                            }
                            other => panic!("{other} {said:?}"),
                        }
                    })
                })
                .collect();
            answers
                .into_iter()
                .map(|answer| answer.join().unwrap())
                .sum()
        });
        assert_eq!(won, 1, "race {race}");
        *winners.entry(approval).or_default() += 1;
        if race % 500 == 499 {
            eprintln!("replicas: race {} of {races}", race + 1);
        }
    }
    // Every answer, wherever it was given, is seen on A, once.
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    while seen.len() < winners.len() {
        let (_, event) = events.named("approval.resolved");
        *seen
            .entry(event["approval_id"].as_str().unwrap().to_owned())
            .or_default() += 1;
    }
    assert_eq!(seen, winners);
}

#[test]
fn equal_calls_that_arrive_on_two_gateways_at_once_join_one_question() {
    let Some((a, b)) = pair() else {
        return;
    };
    let ana = a.named_key("ana", "approver");
    for race in 0..races(40) {
        let agent = a.named_key(&format!("agent {race}"), "agent");
        // Both know the key and the session already, so that nothing but the question is new.
        for gateway in [&a, &b] {
            assert_eq!(gateway.submit(&agent, "ls").body["status"], "allowed");
        }
        let start = Barrier::new(RACERS);
        let approvals: BTreeSet<String> = std::thread::scope(|scope| {
            let asked: Vec<_> = (0..RACERS)
                .map(|racer| {
                    let gateway = if racer % 2 == 0 { &a } else { &b };
                    let (agent, start) = (&agent, &start);
                    scope.spawn(move || {
                        start.wait();
                        gateway.ask(agent, "rm -rf /srv/www")
                    })
                })
                .collect();
            asked.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert_eq!(approvals.len(), 1, "race {race}: {approvals:?}");
        let approval = approvals.first().unwrap();
        assert_eq!(b.resolve(&ana, approval, "deny").status, 200);
        let waiting = a.get(&ana, "/v1/approvals?status=waiting").body;
        assert_eq!(waiting["approvals"], json!([]), "race {race}");
    }
}

#[test]
fn a_call_that_waits_on_one_gateway_is_woken_by_an_answer_on_the_other() {
    let Some((a, b)) = pair() else {
        return;
    };
    let (agent, ana) = (a.key("agent"), a.named_key("ana", "approver"));
    let said = a.submit(&agent, "rm -rf /srv/www");
    let call = said.body["call_id"].as_str().unwrap().to_owned();
    let approval = said.body["approval_id"].as_str().unwrap().to_owned();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| a.get(&agent, &format!("/v1/calls/{call}?wait_seconds=30")));
        assert_eq!(b.resolve(&ana, &approval, "once").status, 200);
        let answered = waiting.join().unwrap();
        assert_eq!(answered.body["status"], "approved", "{answered:?}");
        let token = answered.body["token"].as_str().unwrap();
        // The other gateway knows this one's key and uses the token up.
        let body = json!({ "token": token });
        assert_eq!(b.post(&agent, "/v1/tokens/consume", &body).status, 200);
        assert_eq!(
            a.post(&agent, "/v1/tokens/consume", &body).code(),
            "token_used"
        );
    });
}

#[test]
fn a_grant_revoked_on_one_gateway_covers_nothing_on_the_other() {
    let Some((a, b)) = pair() else {
        return;
    };
    let (agent, ana) = (a.key("agent"), a.named_key("ana", "approver"));
    let first = a.submit(&agent, "rm -rf /srv/www").body;
    let approval = first["approval_id"].as_str().unwrap();
    assert_eq!(a.resolve(&ana, approval, "always").status, 200);
    // The call that was asked about takes its own yes, so that the next ones need the grant.
    let path = format!("/v1/calls/{}", first["call_id"].as_str().unwrap());
    let body = json!({ "token": a.get(&agent, &path).body["token"] });
    assert_eq!(b.post(&agent, "/v1/tokens/consume", &body).status, 200);
    let again = b.submit(&agent, "rm -rf /srv/www");
    assert_eq!(again.body["status"], "allowed", "{again:?}");
    let grants = a.get(&ana, "/v1/grants");
    let grant = grants.body["grants"][0]["grant_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let request = a.request("DELETE", &format!("/v1/grants/{grant}"));
    assert_eq!(crate::support::said(request.bearer_auth(&ana)).status, 200);
    let after = b.submit(&agent, "rm -rf /srv/www");
    assert_eq!(after.body["status"], "waiting", "{after:?}");
}
