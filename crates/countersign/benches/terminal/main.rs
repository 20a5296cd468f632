//! The inbox in a real terminal, measured: how soon it is there, how fast it is drawn while a thousand
//! calls wait, and what it costs while nothing happens.
//!
//! Nothing is asserted by time: machines differ, and are busy.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a measurement that cannot go on ends"
)]

#[path = "../../tests/shared/ours.rs"]
mod ours;
#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/http/support.rs"]
mod support;
#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/terminal/terminal.rs"]
mod terminal;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use support::Gateway;
use terminal::{Draws, Start, Terminal};

/// Starts of a program that are measured.
const STARTS: usize = 30;
/// Calls that wait.
const WAITING: usize = 1_000;
/// Agents that asked, each in a run of its own every time, so that every call has its row.
const AGENTS: usize = 50;
/// Keys that are pressed among them.
const KEYS: usize = 200;
/// How long it is left alone.
const IDLE: Duration = Duration::from_secs(10);

fn main() {
    // One key stands for many agents; questions outlive the measurement.
    let config = "api: {rate_per_second: 1000000}\napprovals: {timeout: 1h}\n";
    let gateway = Gateway::configured(config);
    let nothing = Path::new("/bin/true");
    let ours = Path::new(env!("CARGO_BIN_EXE_countersign"));

    let bare = median((0..STARTS).map(|_| {
        let started = Instant::now();
        start(&gateway, nothing).ends();
        started.elapsed()
    }));
    println!("a program that does nothing, start to end: {bare:.1?}");
    let first = median((0..STARTS).map(|_| {
        let started = Instant::now();
        start(&gateway, ours).shows("Waiting");
        started.elapsed()
    }));
    println!("the inbox, start to first frame:           {first:.1?}");

    // So many calls of one key may wait at once, and no more.
    let agents: Vec<String> = (0..AGENTS)
        .map(|number| gateway.named_key(&format!("agent {number}"), "agent"))
        .collect();
    for number in 0..WAITING {
        let agent = &agents[number % AGENTS];
        let body = json!({
            "tool": "terminal", "args": { "command": format!("rm -rf /srv/{number}") },
            "session_id": format!("s{number}"),
        });
        let said = gateway.post(agent, "/v1/calls", &body);
        assert_eq!(said.status, 202, "{said:?}");
    }
    let started = Instant::now();
    let mut terminal = start(&gateway, ours);
    terminal.shows(&format!("Waiting {WAITING}"));
    println!(
        "start to all {WAITING} that wait:              {:.1?}",
        started.elapsed()
    );
    let moves = median((0..KEYS).map(|number| {
        let before = terminal.screen();
        let pressed = Instant::now();
        // Down and up again at the ends of the list, so that every key moves.
        terminal.press(if number % 60 < 30 { "j" } else { "k" });
        terminal.wait_for("the pointer moves", |seen| seen.text() != before);
        pressed.elapsed()
    }));
    println!("a key to its frame, {WAITING} waiting:         {moves:.1?}");

    let before = processor_time(&terminal);
    std::thread::sleep(IDLE);
    let used = processor_time(&terminal).saturating_sub(before);
    println!("processor time while idle for {IDLE:.0?}:       {used:.1?}");
}

fn start(gateway: &Gateway, program: &Path) -> Terminal {
    Terminal::start(&Start {
        program,
        home: &gateway.home(),
        args: &[],
        variables: &[],
        columns: 120,
        rows: 40,
        draws: Draws::Frames,
    })
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    times[times.len() / 2]
}

/// Returns the processor time the program has used, as the system counts it: in hundredths of a
/// second.
fn processor_time(terminal: &Terminal) -> Duration {
    let path = format!("/proc/{}/stat", terminal.process());
    let stat = std::fs::read_to_string(path).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks: u64 = [11, 12]
        .iter()
        .map(|at| fields[*at].parse::<u64>().unwrap())
        .sum();
    Duration::from_millis(ticks * 10)
}
