//! What the gate adds to an allowed tool call inside a run, against what the disk alone takes for the
//! commits it needs.
//!
//!     cargo bench -p countersign-agent --bench overhead [CALLS]
//!
//! A scripted model asks for a tool that does nothing, again and again. Between the model's answer
//! and the next question to it lies only the gate: the call is judged, written down, begun, reported
//! and put into the conversation. The model and its HTTP are measured alone and taken off.
#![expect(clippy::unwrap_used, reason = "a measurement that fails may panic")]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use countersign_agent::message::Message;
use countersign_agent::model::{ChatRequest, Client, Endpoint, Limits, ToolSchema};
use countersign_agent::toolbox::Toolbox;
use countersign_agent::tools::{Around, Outcome, Tool};
use countersign_agent::{Agent, AgentParts, BoxFuture, RunLimits, RunRequest};
use countersign_core::id::KeyId;
use countersign_core::policy::Policy;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use countersign_gate::base::clock::Clock;
use countersign_gate::base::principal::{Principal, Role};
use countersign_gate::base::settings::{OnePolicy, Settings};
use countersign_gate::base::signer::Signer;
use countersign_gate::calls::permit::Permit;
use countersign_gate::{Gate, Parts};
use countersign_store::{Database, Expect, Kind, Put, Record};
use countersign_testkit::model::{Call, MODEL, ModelServer, Reply};
use serde_json::json;

const CALLS: usize = 300;

/// Does nothing, and remembers when.
#[derive(Debug, Default)]
struct Nothing(Mutex<Vec<Instant>>);

impl Tool for Nothing {
    fn schema(&self) -> ToolSchema {
        ToolSchema {
            name: "read_file".to_owned(),
            description: "Reads a file.".to_owned(),
            parameters: json!({ "type": "object" }),
        }
    }

    fn run<'a>(&'a self, _permit: Permit, _around: &'a Around) -> BoxFuture<'a, Outcome> {
        self.0.lock().unwrap().push(Instant::now());
        Box::pin(async { Outcome::done("nothing") })
    }
}

#[tokio::main]
async fn main() {
    // `cargo test --benches` asks a bench only to start.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let calls = std::env::args().find_map(|argument| argument.parse().ok());
    let calls: usize = calls.unwrap_or(CALLS);
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = Database::sqlite(&home.path().join("countersign.db"))
        .await
        .unwrap();
    let disk = commits(&store, calls).await;
    let gate = Gate::open(Parts {
        store,
        clock: Clock::system(UnixMillis(0)),
        signer: Signer::from_seed([7; 32]),
        policies: Arc::new(OnePolicy::new(Policy::default())),
        settings: Settings::default(),
        channels: Vec::new(),
    })
    .await
    .unwrap();
    let thinking = alone(calls).await;
    let (asked, model) = model(calls);
    let endpoint = Endpoint {
        base_url: model.url(),
        model: MODEL.to_owned(),
        api_key: None,
    };
    let tool = Arc::new(Nothing::default());
    let agent = Agent::new(AgentParts {
        gate: gate.clone(),
        models: Arc::new(Some(Client::new(endpoint, Limits::default()).unwrap())),
        tools: Toolbox::new([Arc::clone(&tool) as Arc<dyn Tool>]),
        limits: RunLimits {
            steps: u32::MAX,
            tokens: u64::MAX,
            ..RunLimits::default()
        },
        cwd: home.path().to_owned(),
        crisis_notices: countersign_agent::CrisisNotices::default(),
    });
    let key = gate
        .create_key("bench", "ana", Role::Approver)
        .await
        .unwrap();
    let ana = Principal {
        key: KeyId(key.id),
        name: "ana".to_owned(),
        role: Role::Approver,
        via: "api".to_owned(),
        tier: Tier::T0,
    };
    let request = RunRequest {
        input: vec![Message::User {
            content: "go".to_owned(),
        }],
        ..RunRequest::default()
    };
    let run = agent.start(&ana, request).await.unwrap();
    let mut last = gate.store().tail().last();
    while !gate
        .run_of(&ana, &run.run_id)
        .await
        .unwrap()
        .status
        .is_final()
    {
        last.changed().await.unwrap();
    }
    // From the question that led to a call to its being run, and from there to the next question.
    let (asked, ran) = (
        asked.lock().unwrap().clone(),
        tool.0.lock().unwrap().clone(),
    );
    let before = spans(&asked, &ran);
    let after = spans(&ran, asked.get(1..).unwrap());
    tell(disk, thinking, &before, &after);
}

fn tell(disk: Vec<Duration>, thinking: Vec<Duration>, before: &[Duration], after: &[Duration]) {
    print("one commit to this disk", disk.clone());
    print(
        "the model alone, until its answer is read",
        thinking.clone(),
    );
    print("the same in a run, until the tool runs", before.to_vec());
    print("tool's end to next question", after.to_vec());
    let model = median(thinking);
    let whole = before.iter().zip(after);
    let whole: Vec<Duration> = whole
        .map(|(a, b)| (*a + *b).saturating_sub(model))
        .collect();
    let ratio = median(whole.clone()).as_secs_f64() / median(disk).as_secs_f64();
    print(
        "both without the model: what the gate and the run's record add",
        whole,
    );
    println!("as many as {ratio:.1} commits");
}

/// How long the model takes where nothing else happens: from its being asked to its answer being
/// read.
async fn alone(calls: usize) -> Vec<Duration> {
    let (asked, server) = model(calls);
    let endpoint = Endpoint {
        base_url: server.url(),
        model: MODEL.to_owned(),
        api_key: None,
    };
    let client = Client::new(endpoint, Limits::default()).unwrap();
    let request = ChatRequest {
        messages: vec![Message::User {
            content: "go".to_owned(),
        }],
        ..ChatRequest::default()
    };
    let mut read = Vec::new();
    for _ in 0..calls {
        client.complete(&request, &mut |_| {}).await.unwrap();
        read.push(Instant::now());
    }
    let asked = asked.lock().unwrap().clone();
    spans(&asked, &read)
}

/// A model that asks for the tool `calls` times, and when it was asked.
fn model(calls: usize) -> (Arc<Mutex<Vec<Instant>>>, ModelServer) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let times = Arc::clone(&asked);
    let server = ModelServer::answering(move |_| {
        let mut times = times.lock().unwrap();
        times.push(Instant::now());
        if times.len() > calls {
            return Reply::text(["Done."]);
        }
        let args = json!({ "path": format!("notes-{}.txt", times.len()) });
        Reply::calls(
            [],
            &[Call::new(&format!("c{}", times.len()), "read_file", &args)],
        )
    });
    (asked, server.unwrap())
}

/// How long the store takes for `count` small durable changes, one after the other.
async fn commits(store: &Database, count: usize) -> Vec<Duration> {
    let mut times = Vec::new();
    for number in 0..count {
        let record = Record {
            kind: Kind::Recipient,
            id: format!("bench-{number}"),
            version: 0,
            status: String::new(),
            owner: String::new(),
            session: String::new(),
            run: String::new(),
            link: String::new(),
            at: 0,
            due_at: None,
            body: "{}".to_owned(),
        };
        let change = countersign_store::Change {
            puts: vec![Put {
                record,
                expect: Expect::Absent,
            }],
            entries: Vec::new(),
        };
        let started = Instant::now();
        store.commit(change).await.unwrap();
        times.push(started.elapsed());
    }
    times
}

fn spans(from: &[Instant], to: &[Instant]) -> Vec<Duration> {
    from.iter()
        .zip(to)
        .map(|(from, to)| to.duration_since(*from))
        .collect()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap()
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| {
        times
            .get((times.len() * share / 100).min(times.len() - 1))
            .unwrap()
    };
    println!("{what}: p50 {:.2?}, p99 {:.2?}", at(50), at(99));
}
