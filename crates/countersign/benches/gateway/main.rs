//! What the gateway costs, measured against what cannot be done without: allowed calls against a
//! server that only parses the same body, answers against the disk, waiting calls in memory.
//!
//!     cargo bench -p countersign --bench gateway [calls] [answers] [crowd]
//!
//! starts the gateway in a home of its own below `target/` and prints a table; it ends with a
//! failure when a goal is missed. Both servers are processes of their own and are asked in turn, in
//! short slices, so that whatever else the machine does falls on both.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a measurement that fails may panic"
)]
#![expect(
    clippy::cast_precision_loss,
    reason = "counts and times are small enough to print"
)]

mod line;
mod servers;

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::routing::post;
use axum::serve::ListenerExt as _;
use axum::{Json, Router};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use line::{Asked, Line};
use servers::{Gateway, SLICE, Server};

/// Allowed calls per second over requests per second of the bare server, at least.
const CALLS_RATIO_MIN: f64 = 0.5;
/// From an answer being sent to the waiting call returning, in milliseconds, at most.
const WAKE_P99_MAX: f64 = 25.0;
/// Memory with everybody waiting, in MiB, at most.
const CROWD_MIB_MAX: f64 = 150.0;

/// Connections that ask at the same time.
const CONNECTIONS: usize = 32;
/// How often each server has its turn.
const SLICES: usize = 8;

/// Questions of one key that may wait at the same time.
const OF_ONE_KEY: usize = 20;
/// Calls that wait while one after the other is answered, and how often they gather.
const WAITERS: usize = 200;
const GATHERINGS: usize = 5;

/// Calls that wait in the crowd, and readers of events beside them.
const CROWD: usize = 10_000;
const READERS: usize = 1_000;
/// How many of the crowd are answered.
const ANSWERED: usize = 100;
/// How long the crowd is left alone, and then looked at.
const SETTLE: Duration = Duration::from_secs(10);

/// The argument that makes this program the bare server.
const BARE: &str = "--bare";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_given = |name: &str| arguments.iter().any(|argument| argument == name);
    // `cargo test --benches` asks a bench only to start.
    if is_given("--test") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if is_given(BARE) {
        return runtime.block_on(bare());
    }
    raise_open_files();
    let names = ["calls", "answers", "crowd"];
    let all = !names.iter().any(|name| is_given(name));
    let mut missed = Vec::new();
    for name in names.into_iter().filter(|name| all || is_given(name)) {
        let met = match name {
            "calls" => runtime.block_on(calls()),
            "answers" => runtime.block_on(answers()),
            _ => runtime.block_on(crowd()),
        };
        if !met {
            missed.push(name);
        }
    }
    if !missed.is_empty() {
        println!("\ngoals missed: {}", missed.join(", "));
        std::process::exit(1);
    }
}

/// The server that only parses. It ends when whoever started it is gone.
async fn bare() {
    async fn parsed(Json(_body): Json<Value>) -> Json<Value> {
        Json(json!({}))
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(|| {
        let _ended = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    // The gateway does the same with its connections.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let router = Router::new().route("/v1/calls", post(parsed));
    axum::serve(listener, router).await.unwrap();
}

/// Allowed calls against the bare server, in turn.
async fn calls() -> bool {
    let gateway = Gateway::start();
    let bare = Server::bare();
    let keys: Vec<String> = gateway.keys("agent", 8).await;
    println!("\nallowed calls, {CONNECTIONS} connections, {SLICES} slices of {SLICE:?} each");
    // A first slice of both warms up caches and is not counted.
    gateway.server.slice(&keys).await;
    bare.slice(&keys).await;
    let (mut ratios, mut rates, mut cores, mut sent) = (vec![], vec![], vec![], 0);
    for number in 1..=SLICES {
        let ours = gateway.server.slice(&keys).await;
        let theirs = bare.slice(&keys).await;
        let ratio = ours.rate / theirs.rate;
        println!(
            "  {number}: gateway {:>7.0}/s {:>5.1} µs of processor each; bare {:>7.0}/s {:>5.1} µs; \
             ratio {ratio:.2}",
            ours.rate, ours.micros_each, theirs.rate, theirs.micros_each,
        );
        ratios.push(ratio);
        rates.push((ours.rate, theirs.rate));
        cores.push((ours.micros_each, theirs.micros_each));
        sent += ours.requests;
    }
    let median = |numbers: Vec<f64>| sorted(numbers).at(50);
    let ratio = median(ratios);
    println!(
        "  median: gateway {:.0}/s {:.1} µs, bare {:.0}/s {:.1} µs",
        median(rates.iter().map(|it| it.0).collect()),
        median(cores.iter().map(|it| it.0).collect()),
        median(rates.iter().map(|it| it.1).collect()),
        median(cores.iter().map(|it| it.1).collect()),
    );
    let written = gateway.entries().await;
    assert!(
        written >= sent,
        "{sent} calls were allowed, but the ledger has {written} entries"
    );
    verdict(
        "allowed calls over the bare server",
        ratio,
        ">=",
        CALLS_RATIO_MIN,
    )
}

/// Calls that wait, answered one after the other.
async fn answers() -> bool {
    let gateway = Gateway::start();
    let disk = sync_times(gateway.home.path());
    println!(
        "\nanswers: {} calls wait, {GATHERINGS} times; one sync of this disk takes {:.2} ms, p99 {:.2} ms",
        WAITERS,
        disk.at(50),
        disk.at(99)
    );
    let keys = gateway.keys("agent", WAITERS / OF_ONE_KEY).await;
    let approver = gateway.keys("approver", 1).await.remove(0);
    let mut all = Vec::new();
    for gathering in 0..GATHERINGS {
        let mut waiting = JoinSet::new();
        let (said, mut told) = mpsc::unbounded_channel();
        for number in 0..WAITERS {
            let key = keys.get(number / OF_ONE_KEY).unwrap().clone();
            let (address, said) = (gateway.server.address.clone(), said.clone());
            waiting.spawn(async move {
                let mut line = Line::to(&address).await;
                let call = line.ask(&key, gathering * WAITERS + number).await;
                said.send((call.approval.clone(), number)).unwrap();
                drop(said);
                let path = format!("/v1/calls/{}?wait_seconds=60", call.id);
                let answer = line.request("GET", &path, &key, "").await;
                assert!(answer.body.contains(r#""status":"approved""#), "{answer:?}");
                (number, Instant::now())
            });
        }
        drop(said);
        let mut asked = Vec::new();
        while let Some(one) = told.recv().await {
            asked.push(one);
        }
        // What was asked last has hardly begun to wait.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let mut line = Line::to(&gateway.server.address).await;
        let mut began = vec![None; WAITERS];
        for (approval, number) in asked {
            *began.get_mut(number).unwrap() = Some(Instant::now());
            line.resolve(&approver, &approval).await;
            // A person does not answer in the same moment; nobody's time is another's.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        while let Some(done) = waiting.join_next().await {
            let (number, at) = done.unwrap();
            all.push(millis(at - began.get(number).unwrap().unwrap()));
        }
    }
    let times = sorted(all);
    println!(
        "  from the answer to the waiting call's return: p50 {:.2} ms, p90 {:.2} ms, p99 {:.2} ms, max {:.2} ms ({} answers)",
        times.at(50),
        times.at(90),
        times.at(99),
        times.at(100),
        times.0.len(),
    );
    verdict(
        "answer to return, p99 in ms",
        times.at(99),
        "<=",
        WAKE_P99_MAX,
    )
}

/// Many who wait and many who read, and what that takes.
async fn crowd() -> bool {
    let gateway = Gateway::start();
    let server = &gateway.server;
    println!(
        "\ncrowd: {CROWD} calls that wait on a connection each, {READERS} readers of events; \
         {} files may be open",
        getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
    );
    println!("  nobody there: {}", server.memory());
    let keys = gateway.keys("agent", CROWD / OF_ONE_KEY).await;
    let approver = gateway.keys("approver", 1).await.remove(0);
    let started = Instant::now();
    let asked = ask_all(server, &keys).await;
    let seconds = started.elapsed().as_secs_f64();
    println!("  asked within {seconds:.1} s: {}", server.memory());
    let (stop, stopping) = watch::channel(false);
    let mut there = JoinSet::new();
    let read = Arc::new(AtomicUsize::new(0));
    for _ in 0..READERS {
        let mut line = Line::to(&server.address).await;
        line.send("GET", "/v1/events", &approver, "").await;
        let (read, mut stopping) = (Arc::clone(&read), stopping.clone());
        there.spawn(async move {
            tokio::select! {
                () = line.read_events(&read) => {}
                _ = stopping.wait_for(|it| *it) => {}
            }
            None
        });
    }
    tokio::time::sleep(SETTLE).await;
    let alone = verdict(
        "memory with all readers, no call on a connection, in MiB",
        server.mebibytes("VmRSS:"),
        "<=",
        CROWD_MIB_MAX,
    );
    for (number, call) in asked.iter().enumerate() {
        let key = keys.get(number / OF_ONE_KEY).unwrap().clone();
        let line = Line::to(&server.address).await;
        there.spawn(wait(line, key, call.id.clone(), number, stopping.clone()));
    }
    // What was sent has to be read; then it is quiet.
    tokio::time::sleep(SETTLE).await;
    let (before, since) = (server.processor(), Instant::now());
    tokio::time::sleep(SETTLE).await;
    let idle = (server.processor() - before) / since.elapsed().as_secs_f64();
    println!(
        "  each call on a connection of its own: {}, {idle:.2} cores while nothing happens",
        server.memory()
    );
    let held = verdict(
        "memory with all readers, each call on a connection, in MiB",
        server.mebibytes("VmRSS:"),
        "<=",
        CROWD_MIB_MAX,
    );
    let woken = answer_some(server, &asked, &approver, &mut there).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!(
        "  {} answered in the crowd: p50 {:.1} ms, p99 {:.1} ms; readers have {} events; {}",
        woken.0.len(),
        woken.at(50),
        woken.at(99),
        read.load(Ordering::Relaxed),
        server.memory(),
    );
    let _told = stop.send(true);
    while there.join_next().await.is_some() {}
    alone && held
}

/// Waits for the answer to a call, again and again. Returns its number and when the answer came.
async fn wait(
    mut line: Line,
    key: String,
    id: String,
    number: usize,
    mut stopping: watch::Receiver<bool>,
) -> Option<(usize, Instant)> {
    let path = format!("/v1/calls/{id}?wait_seconds=60");
    loop {
        line.send("GET", &path, &key, "").await;
        let answer = tokio::select! {
            answer = line.receive() => answer,
            _ = stopping.wait_for(|it| *it) => return None,
        };
        if answer.body.contains(r#""status":"approved""#) {
            return Some((number, Instant::now()));
        }
        assert_eq!(answer.status, 202, "{answer:?}");
    }
}

/// Answers some of those who wait, and returns how long each took to hear of it.
async fn answer_some(
    server: &Server,
    asked: &[Asked],
    approver: &str,
    there: &mut JoinSet<Option<(usize, Instant)>>,
) -> Sorted {
    let every = CROWD / ANSWERED;
    let mut line = Line::to(&server.address).await;
    let mut began = Vec::new();
    for call in asked.iter().step_by(every) {
        began.push(Instant::now());
        line.resolve(approver, &call.approval).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut woken = Vec::new();
    while woken.len() < began.len() {
        if let Some((number, at)) = there.join_next().await.unwrap().unwrap() {
            woken.push(millis(at - *began.get(number / every).unwrap()));
        }
    }
    sorted(woken)
}

/// Submits what the crowd waits for, a few at a time.
async fn ask_all(server: &Server, keys: &[String]) -> Vec<Asked> {
    let mut asking = JoinSet::new();
    for part in 0..CONNECTIONS {
        let (address, keys) = (server.address.clone(), keys.to_vec());
        asking.spawn(async move {
            let mut line = Line::to(&address).await;
            let mut asked = Vec::new();
            for number in (part..CROWD).step_by(CONNECTIONS) {
                let key = keys.get(number / OF_ONE_KEY).unwrap();
                asked.push((number, line.ask(key, number).await));
            }
            asked
        });
    }
    let mut asked: Vec<(usize, Asked)> = asking.join_all().await.into_iter().flatten().collect();
    asked.sort_by_key(|(number, _)| *number);
    asked.into_iter().map(|(_, call)| call).collect()
}

/// Says what was measured and whether that meets the goal.
fn verdict(what: &str, measured: f64, sign: &str, goal: f64) -> bool {
    let met = match sign {
        ">=" => measured >= goal,
        _ => measured <= goal,
    };
    let word = if met { "met" } else { "MISSED" };
    println!("  {what}: {measured:.2}, goal {sign} {goal}: {word}");
    met
}

/// Measurements in order.
struct Sorted(Vec<f64>);

fn sorted(mut numbers: Vec<f64>) -> Sorted {
    numbers.sort_by(f64::total_cmp);
    Sorted(numbers)
}

impl Sorted {
    fn at(&self, per_cent: usize) -> f64 {
        let last = self.0.len() - 1;
        *self.0.get((last * per_cent).div_ceil(100)).unwrap()
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Returns how long this disk takes to have a little more on it for good.
fn sync_times(directory: &Path) -> Sorted {
    let mut file = File::create(directory.join("sync")).unwrap();
    let times = (0..200).map(|_| {
        let began = Instant::now();
        file.write_all(&[0; 4096]).unwrap();
        file.sync_data().unwrap();
        millis(began.elapsed())
    });
    sorted(times.collect())
}

/// The crowd has a connection each, here and in the gateway.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        },
    );
    if let Err(error) = raised {
        println!("the limit of open files stays: {error}");
    }
}
