//! The gateway killed at any moment: nothing acknowledged is lost, nothing runs twice, every
//! waiting card works afterwards.
//!
//! Fifty rounds; `COUNTERSIGN_SOAK` makes it a thousand. What was acknowledged is kept by the test;
//! what was under way when the gateway died may have happened or not, and the gateway must say
//! which, the same every time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::blocking::Client;
use serde_json::{Value, json};

use crate::ours::ours;
use crate::support::{client, command, first_line};

/// Agents that work at the same time.
const AGENTS: usize = 3;
/// Longest life of a gateway after its first acknowledgement.
const LIFE_MILLIS_MAX: u64 = 250;

/// How far one call has come, as far as anybody was told.
#[derive(Clone, Debug, Default)]
struct Known {
    agent: usize,
    call: String,
    approval: String,
    answered: Option<String>,
    token: Option<String>,
    /// Uses that were acknowledged: what would have run.
    runs: u32,
}

/// What all agents were told, and the keys they use.
#[derive(Default)]
struct Book {
    known: Mutex<Vec<Known>>,
}

struct Reach {
    url: String,
    http: Client,
    keys: Vec<String>,
    admin: String,
}

impl Reach {
    /// Returns status and body, or `None` if nobody answers any more.
    fn post(&self, key: &str, path: &str, body: &Value) -> Option<(u16, Value)> {
        let request = self.http.post(format!("{}{path}", self.url));
        let response = request.bearer_auth(key).json(body).send().ok()?;
        let status = response.status().as_u16();
        Some((status, response.json().ok()?))
    }

    fn get(&self, key: &str, path: &str) -> Option<(u16, Value)> {
        let request = self.http.get(format!("{}{path}", self.url));
        let response = request.bearer_auth(key).send().ok()?;
        let status = response.status().as_u16();
        Some((status, response.json().ok()?))
    }

    fn key(&self, agent: usize) -> &str {
        &self.keys[agent]
    }
}

#[test]
fn law_12_killed_at_any_moment_nothing_acknowledged_is_lost_and_nothing_runs_twice() {
    let rounds = if std::env::var_os("COUNTERSIGN_SOAK").is_some() {
        1000
    } else {
        50
    };
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let book = Arc::new(Book::default());
    let mut keys = Vec::new();
    // Every call is looked at in the two rounds after its own.
    let (mut looked_at, mut known_before) = (0, 0);
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    for round in 0..rounds {
        let mut child = command(&home, &["--json"]).spawn().unwrap();
        let said: Value = serde_json::from_str(&first_line(&mut child)).unwrap();
        let mut stderr = child.stderr.take().unwrap();
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let admin = std::fs::read_to_string(home.join("cli.key")).unwrap();
        let mut reach = Reach {
            url: said["url"].as_str().unwrap().to_owned(),
            http: client(),
            keys: keys.clone(),
            admin: admin.trim().to_owned(),
        };
        while reach.keys.len() < AGENTS {
            let body = json!({"name": format!("agent {}", reach.keys.len()), "role": "agent"});
            let (_, made) = reach.post(&reach.admin, "/v1/keys", &body).unwrap();
            reach.keys.push(made["key"].as_str().unwrap().to_owned());
        }
        keys.clone_from(&reach.keys);
        settle(&reach, &book, round, looked_at);
        looked_at = known_before;
        known_before = book.known.lock().unwrap().len();
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let life = Duration::from_millis((random >> 33) % LIFE_MILLIS_MAX);
        work_until_killed(reach, &book, round, life, &mut child);
        if rounds > 100 && round % 50 == 0 {
            eprintln!("kill: round {round} of {rounds}");
        }
    }
    let known = book.known.lock().unwrap();
    let runs: u32 = known.iter().map(|it| it.runs).sum();
    assert!(runs > 0, "no round was long enough to run anything");
    assert!(known.iter().all(|it| it.runs <= 1), "something ran twice");
    let verified = ours(&home).args(["ledger", "verify"]).output().unwrap();
    assert!(verified.status.success(), "{verified:?}");
}

/// Lets every agent work until the gateway dies.
fn work_until_killed(
    reach: Reach,
    book: &Arc<Book>,
    round: u32,
    life: Duration,
    child: &mut std::process::Child,
) {
    let (reach, started) = (Arc::new(reach), Arc::new(AtomicBool::new(false)));
    let workers: Vec<_> = (0..AGENTS)
        .map(|agent| {
            let (reach, book, started) =
                (Arc::clone(&reach), Arc::clone(book), Arc::clone(&started));
            std::thread::spawn(move || {
                for number in 0.. {
                    let name = format!("{round}-{agent}-{number}");
                    if one_call(&reach, &book, agent, &name, &started).is_none() {
                        return;
                    }
                }
            })
        })
        .collect();
    while !started.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    // Not a wait for something to happen: it is when the gateway dies that is drawn here.
    std::thread::sleep(life);
    child.kill().unwrap();
    child.wait().unwrap();
    for worker in workers {
        worker.join().unwrap();
    }
}

/// Takes one call from asking to running, noting what was acknowledged. `None` when nobody answers.
fn one_call(
    reach: &Reach,
    book: &Book,
    agent: usize,
    name: &str,
    started: &AtomicBool,
) -> Option<()> {
    let body = json!({
        "tool": "terminal",
        "args": {"command": format!("rm -rf /srv/{name}")},
        "session_id": format!("session {agent}"),
    });
    let asked = reach.post(reach.key(agent), "/v1/calls", &body);
    started.store(true, Ordering::SeqCst);
    let (status, call) = asked?;
    assert_eq!(status, 202, "{call}");
    let index = {
        let mut known = book.known.lock().unwrap();
        known.push(Known {
            agent,
            call: call["call_id"].as_str().unwrap().to_owned(),
            approval: call["approval_id"].as_str().unwrap().to_owned(),
            ..Known::default()
        });
        known.len() - 1
    };
    // Every fourth call is left waiting, for the next round to answer.
    if name.ends_with('3') {
        return Some(());
    }
    go_on(
        reach,
        book,
        index,
        if name.ends_with('2') { "deny" } else { "once" },
    )
}

/// Answers a call and, if that allows it, runs it.
fn go_on(reach: &Reach, book: &Book, index: usize, choice: &str) -> Option<()> {
    let mut known = book.known.lock().unwrap()[index].clone();
    if known.answered.is_none() {
        let path = format!("/v1/approvals/{}/resolve", known.approval);
        let (status, answer) = reach.post(&reach.admin, &path, &json!({"choice": choice}))?;
        // An answer that was under way when the gateway died may have counted.
        assert!(status == 200 || status == 409, "{status} {answer}");
        let outcome = answer["decision"]["outcome"].as_str().unwrap().to_owned();
        known.answered = Some(outcome);
        book.known.lock().unwrap()[index] = known.clone();
    }
    if known.answered.as_deref() != Some("approved") || known.runs > 0 {
        return Some(());
    }
    let (_, call) = reach.get(reach.key(known.agent), &format!("/v1/calls/{}", known.call))?;
    assert_eq!(call["status"], "approved", "{call}");
    let Some(token) = call["token"].as_str() else {
        // It was used by somebody whose acknowledgement got lost with the gateway.
        return Some(());
    };
    known.token = Some(token.to_owned());
    book.known.lock().unwrap()[index] = known.clone();
    use_up(reach, book, index)
}

fn use_up(reach: &Reach, book: &Book, index: usize) -> Option<()> {
    let known = book.known.lock().unwrap()[index].clone();
    let Some(token) = known.token else {
        return Some(());
    };
    let (status, body) = reach.post(
        reach.key(known.agent),
        "/v1/tokens/consume",
        &json!({"token": token}),
    )?;
    match status {
        200 => book.known.lock().unwrap()[index].runs += 1,
        409 => assert_eq!(body["error"]["code"], "token_used", "{body}"),
        410 => assert_eq!(body["error"]["code"], "token_expired", "{body}"),
        other => panic!("{other} {body}"),
    }
    Some(())
}

/// Looks at what was acknowledged before, and goes on where it was left.
fn settle(reach: &Reach, book: &Book, round: u32, looked_at: usize) {
    let all = book.known.lock().unwrap().clone();
    for (index, known) in all.iter().enumerate().skip(looked_at) {
        let path = format!("/v1/calls/{}", known.call);
        let (status, call) = reach.get(reach.key(known.agent), &path).unwrap();
        assert!(
            matches!(status, 200 | 202),
            "round {round}: an acknowledged call is lost: {status} {known:?}"
        );
        if let Some(answered) = &known.answered {
            assert_eq!(call["status"], *answered, "round {round}: {known:?}");
        }
        if known.runs > 0 {
            use_up(reach, book, index).unwrap();
        }
        if known.answered.is_none() || known.token.is_some() && known.runs == 0 {
            let choice = if index % 2 == 0 { "once" } else { "deny" };
            go_on(reach, book, index, choice).unwrap();
        }
    }
    // What was asked but not acknowledged waits as well, and its card works.
    let (_, waiting) = reach
        .get(&reach.admin, "/v1/approvals?status=waiting")
        .unwrap();
    for approval in waiting["approvals"].as_array().unwrap() {
        let path = format!(
            "/v1/approvals/{}/resolve",
            approval["approval_id"].as_str().unwrap()
        );
        let (status, said) = reach
            .post(&reach.admin, &path, &json!({"choice": "deny"}))
            .unwrap();
        assert_eq!(status, 200, "round {round}: {said}");
    }
}
