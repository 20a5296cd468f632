//! The practice card at the end of `init`: it comes through the hook, as the agent runs it.
//!
//! The command line is read from the agent's settings and started by a shell, as the agent does it.
//! Nothing runs, whatever the answer is: there is no agent behind it.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use countersign_core::status::Status;
use countersign_gate::records::view::ApprovalView;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use super::Report;
use crate::client::{Client, segment};
use crate::complaint::Complaint;
use crate::init::agents::Practice;
use crate::init::plan::Plan;
use crate::show::maybe;
use crate::wire::lists::ApprovalList;
use crate::wire::practice::{COMMAND, EXPLANATION};

/// How often it is looked whether there is a card, and whether it is answered.
const PAUSE: Duration = Duration::from_millis(250);
/// How long the hook takes to ask, and to tell the agent the answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Puts a practice card through the hook of the first agent that has one, and waits for the answer.
pub(super) fn put(
    report: &Report<'_>,
    plans: &[Plan],
    client: &Client,
) -> Result<Option<Value>, Complaint> {
    let place = report.place;
    let usable = plans.iter().find_map(|plan| {
        let texts = plan.current_texts(place).ok()?;
        let command = (plan.agent.command)(place, &texts)?;
        Some((plan.agent, command, plan.agent.practice?))
    });
    let Some((agent, command, input)) = usable else {
        return Ok(None);
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let session = format!("practice-{}", now.unwrap_or_default().as_millis());
    let cwd = place.user.to_string_lossy().into_owned();
    let input = input(&Practice {
        session: &session,
        cwd: &cwd,
        command: COMMAND,
        explanation: EXPLANATION,
    });
    let mut hook = Hook::start(&command, &input)?;
    let Some(card) = hook.card(client, &session)? else {
        return Err(hook.failed(agent.title));
    };
    report.say(&format!(
        "\nA practice card came through the hook of {}: {COMMAND}\n\
         Nothing runs, whatever you answer. Answer it in the browser, or in another terminal:\n\n  \
         countersign answer {} once\n\n",
        agent.title,
        maybe(Some(&card.approval_id))
    ))?;
    let limit = Duration::from_secs(report.args.wait.into());
    let answered = hook.answer(client, &card.approval_id, limit)?;
    let by = answered.decision.as_ref().and_then(|it| it.by.as_deref());
    let by = maybe(by);
    let line = match answered.status {
        Status::Approved | Status::Allowed => {
            format!("Approved by {by}. {} would now run exactly that, once.\n", agent.title)
        }
        Status::Denied | Status::Refused => {
            format!("Denied by {by}. {} was told so and would not run it.\n", agent.title)
        }
        Status::Waiting | Status::Expired | Status::Withdrawn => {
            "Nobody answered in time, so it would not have run. `countersign init` shows the card again.\n".to_owned()
        }
    };
    report.say(&line)?;
    Ok(Some(json!({
        "agent": agent.name,
        "approval_id": card.approval_id,
        "status": answered.status.word(),
        "by": answered.decision.and_then(|it| it.by),
    })))
}

/// The hook, as an agent starts it.
#[derive(Debug)]
struct Hook {
    child: Child,
}

impl Hook {
    fn start(command: &str, input: &Value) -> Result<Self, Complaint> {
        let failed = |error: std::io::Error| {
            let hint = "try the command of the hook in the agent's settings by hand";
            Complaint::failed(format!("the hook cannot be started: {error}"), hint)
        };
        let mut child = Command::new("/bin/sh")
            .args(["-c", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A hook that ends without reading is told of below.
            let _read = stdin.write_all(input.to_string().as_bytes());
        }
        Ok(Self { child })
    }

    /// Waits for the card of `session`; `None` if the hook ends without one.
    fn card(&mut self, client: &Client, session: &str) -> Result<Option<ApprovalView>, Complaint> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            let has_ended = self.has_ended();
            // Answered ones, too: somebody may be quick.
            let cards: ApprovalList = client.get("/v1/approvals")?.read()?;
            let mut cards = cards.approvals.into_iter();
            if let Some(card) = cards.find(|card| card.session_id == session) {
                return Ok(Some(card));
            }
            if has_ended {
                return Ok(None);
            }
            std::thread::sleep(PAUSE);
        }
        Ok(None)
    }

    /// Waits until the card is answered and the hook has told its agent. At the end of `limit` the
    /// hook is stopped, as an agent stops it, and withdraws its question.
    fn answer(
        &mut self,
        client: &Client,
        id: &str,
        limit: Duration,
    ) -> Result<ApprovalView, Complaint> {
        let path = format!("/v1/approvals/{}", segment(id));
        let started = Instant::now();
        let mut is_stopped = false;
        loop {
            let has_ended = self.has_ended();
            let card: ApprovalView = client.get(&path)?.read()?;
            if card.status != Status::Waiting || has_ended {
                return Ok(card);
            }
            if started.elapsed() > limit && !is_stopped {
                is_stopped = true;
                self.stop(Signal::TERM);
            }
            if started.elapsed() > limit + PATIENCE {
                return Ok(card);
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn has_ended(&mut self) -> bool {
        // Whatever cannot be asked any more has ended.
        self.child.try_wait().map_or(true, |ended| ended.is_some())
    }

    fn stop(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(id) = id {
            // A group that is gone has stopped.
            let _stopped = kill_process_group(id, signal);
        }
    }

    /// Returns why there was no card.
    fn failed(mut self, title: &str) -> Complaint {
        self.stop(Signal::TERM);
        let started = Instant::now();
        while !self.has_ended() && started.elapsed() < PATIENCE {
            std::thread::sleep(PAUSE);
        }
        let said = self.said();
        Complaint::failed(
            format!("the hook of {title} put no card in front of people: {said}"),
            "`countersign doctor` says what is wrong",
        )
    }

    fn said(&mut self) -> String {
        use std::io::Read as _;
        if !self.has_ended() {
            return "it gave no answer".to_owned();
        }
        let mut said = String::new();
        let streams = [
            self.child
                .stderr
                .take()
                .map(|it| Box::new(it) as Box<dyn std::io::Read>),
            self.child
                .stdout
                .take()
                .map(|it| Box::new(it) as Box<dyn std::io::Read>),
        ];
        for stream in streams.into_iter().flatten() {
            // What is not text is of no use here.
            let _read = stream.take(4096).read_to_string(&mut said);
            if !said.trim().is_empty() {
                break;
            }
        }
        countersign_core::display::inline(said.trim())
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        if !self.has_ended() {
            self.stop(Signal::KILL);
        }
        let _reaped = self.child.wait();
    }
}
