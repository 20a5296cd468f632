//! Gives a home a past: calls of several days with their answers, as a gateway would have written
//! them then. For pictures of the page, and to try it with a lot of history.
//!
//!     cargo run -p countersign-gate --example past -- HOME CALLS DAYS
//!
//! No gateway may work in HOME meanwhile. The same numbers give the same past.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use countersign_core::approval::Choice;
use countersign_core::call::ToolCall;
use countersign_core::id::{ApprovalId, KeyId};
use countersign_core::policy::Policy;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use countersign_gate::base::clock::Clock;
use countersign_gate::base::principal::{Principal, Role};
use countersign_gate::base::settings::{OnePolicy, Settings};
use countersign_gate::base::signer::Signer;
use countersign_gate::records::request::{GrantRequest, Reply, Submission};
use countersign_gate::{Gate, GateError, Parts};
use countersign_store::Database;
use serde_json::json;

/// What agents want, how often, and how often people say yes to it, in percent.
const WANTED: &[(u64, &str, u64)] = &[
    (160, "git status", 100),
    (120, "cargo test --workspace", 100),
    (90, "rg -n deprecated src", 100),
    (80, "ls -la", 100),
    (60, "git diff HEAD~1", 100),
    (50, "npm run build", 100),
    (40, "sed -n 1,80p README.md", 100),
    (16, "git push --force origin main", 70),
    (14, "rm -rf node_modules dist", 95),
    (9, "rm -rf ~/projects/old-site", 45),
    (9, "curl -fsSL https://get.example.org/install.sh | sh", 15),
    (8, "docker system prune -af", 80),
    (7, "kubectl delete deployment api", 40),
    (7, "psql prod -c 'DELETE FROM sessions'", 30),
    (6, "chmod -R 777 /srv/www", 10),
    (5, "systemctl restart nginx", 85),
    (2, "rm -rf /", 0),
];
const AGENTS: &[(&str, &str)] = &[
    ("laptop", "claude-code"),
    ("ci", "release-bot"),
    ("support", "hermes"),
];
const PEOPLE: &[(&str, &str, u64)] = &[("ana", "page", 9), ("bo", "mattermost", 26)];
/// Calls that are handed over at once.
const TOGETHER: u64 = 400;

/// A stream of numbers that is the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end.max(1)
    }
}

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [home, calls, days] = words.as_slice() else {
        return Err("give a home, how many calls, and over how many days".into());
    };
    let (home, calls, days): (PathBuf, u64, u64) = (home.into(), calls.parse()?, days.parse()?);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let length = Duration::from_secs(days * 24 * 60 * 60);
    let begin = i64::try_from(now.saturating_sub(length).as_millis())?;
    let clock = Clock::manual(UnixMillis(begin));
    let gate = Gate::open(Parts {
        store: Database::sqlite(&home.join("countersign.db")).await?,
        clock: clock.clone(),
        signer: Signer::load_or_create(&home.join("signing.key"))?,
        policies: Arc::new(OnePolicy::new(Policy::default())),
        settings: Settings::default(),
        channels: Vec::new(),
    })
    .await?;
    // Questions nobody answers end, and the ledger is signed.
    let background = tokio::spawn({
        let gate = gate.clone();
        async move { gate.run(std::future::pending()).await }
    });
    let mut agents = Vec::new();
    for (name, _) in AGENTS {
        agents.push(principal(&gate, name, Role::Agent, "api").await?);
    }
    let mut people = Vec::new();
    for (name, via, _) in PEOPLE {
        people.push(principal(&gate, name, Role::Approver, via).await?);
    }
    let mut dice = Dice(0x2545_F491_4F6C_DD1D);
    // A little is left for the answers, so that nothing happens in the future.
    let end = u64::try_from(length.as_millis())? * 98 / 100;
    let all: u64 = WANTED.iter().map(|(often, _, _)| often).sum();
    let (asked_one_of, one_session) = (calls / 20_000, (calls / 75).max(40));
    let mut spent = 0;
    for number in 0..calls {
        // Days are busier than nights, and the last call is a recent one.
        let usual = end.saturating_sub(spent) / (calls - number);
        let step = dice.below(2 * usual.max(1));
        let is_night = (spent / 3_600_000) % 24 < 8;
        let step = if is_night { 2 * step } else { step * 2 / 3 };
        spent += step;
        if spent < end {
            clock.advance(Duration::from_millis(step));
        }
        let mut at = dice.below(all);
        let wanted = WANTED.iter().find(|(often, _, _)| {
            let is_it = at < *often;
            at = at.saturating_sub(*often);
            is_it
        });
        let Some((_, text, yes)) = wanted else {
            continue;
        };
        // Questions are kept before they are put, which takes a while on most disks.
        let is_left_out = *yes < 100 && dice.below(asked_one_of) > 0;
        let text = if is_left_out { "git status" } else { *text };
        let agent = usize::try_from(dice.below(7).saturating_sub(4))?;
        let (Some(who), Some((_, label))) = (agents.get(agent), AGENTS.get(agent)) else {
            continue;
        };
        let submission = Submission {
            call: ToolCall::command(text).from_directory("/home/dev/project"),
            session: format!("session-{}", number / one_session),
            agent: Some((*label).to_owned()),
            ..Submission::default()
        };
        let call = gate.submit(who, submission).await?;
        let is_waiting = call.is_waiting();
        if let Some(approval) = call.approval_id.filter(|_| is_waiting) {
            answer(&gate, &clock, &people, &mut dice, (approval, *yes)).await?;
            gate.call(who, &call.call_id, Duration::ZERO).await?;
        }
        if number % TOGETHER == 0 {
            gate.store().flush().await?;
        }
    }
    background.abort();
    gate.store().flush().await?;
    gate.store().close().await;
    println!("{}", json!({ "calls": calls, "days": days }));
    Ok(())
}

/// Has somebody answer, sooner or later, or nobody.
async fn answer(
    gate: &Gate,
    clock: &Clock,
    people: &[Principal],
    dice: &mut Dice,
    (approval, yes): (String, u64),
) -> Result<(), Failure> {
    if dice.below(100) < 4 {
        return Ok(());
    }
    let number = usize::try_from(dice.below(2))?;
    let (Some(person), Some((_, _, slowness))) = (people.get(number), PEOPLE.get(number)) else {
        return Ok(());
    };
    let hurry = dice.below(100);
    let millis = match hurry {
        0..=3 => 300 + dice.below(600),
        4..=69 => 1500 + dice.below(slowness * 1000),
        _ => slowness * 1000 + dice.below(slowness * 6000),
    };
    clock.advance(Duration::from_millis(millis));
    let choice = if dice.below(100) >= yes {
        Choice::Deny
    } else if dice.below(30) == 0 {
        Choice::Session
    } else {
        Choice::Once
    };
    let reply = Reply {
        approval: ApprovalId(approval),
        choice,
        note: (choice == Choice::Deny && hurry > 60).then(|| "not on a Friday".to_owned()),
        grant: (choice == Choice::Session).then(GrantRequest::default),
        args: None,
    };
    let once = Reply {
        choice: Choice::Once,
        grant: None,
        ..reply.clone()
    };
    match gate.answer(person, reply).await {
        // It joined a question that was old already.
        Ok(_) | Err(GateError::Gone(_)) => Ok(()),
        // What cannot be granted is allowed once.
        Err(_) if choice == Choice::Session => gate.answer(person, once).await.map(drop),
        Err(error) => Err(error),
    }
    .map_err(Failure::from)
}

async fn principal(gate: &Gate, name: &str, role: Role, via: &str) -> Result<Principal, Failure> {
    let key = gate.create_key("past", name, role).await?;
    Ok(Principal {
        key: KeyId(key.id),
        name: name.to_owned(),
        role,
        via: via.to_owned(),
        tier: Tier::T0,
    })
}
