//! `countersign init`: puts the firewall in front of agents, or takes it away again.

mod clients;
mod practice;
pub(super) mod show;

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::Init;
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::init::Place;
use crate::init::agents::{AGENTS, Agent, EDITORS};
use crate::init::find::{self, Found};
use crate::init::mcp;
use crate::init::plan::{self, Plan, State};
use crate::init::service::{self, First};
use crate::show::{print, print_json};

/// How long a service takes until its gateway answers.
const START_TIME_MAX: Duration = Duration::from_secs(5);
/// How often it is looked whether it does.
const PAUSE: Duration = Duration::from_millis(100);

/// Sets agents up, or undoes that.
pub(crate) fn run(args: &Init, reach: &Reach) -> Result<ExitCode, Complaint> {
    if reach.url.is_some() || reach.key_file.is_some() {
        return Err(Complaint::usage(
            "`init` connects agents to the gateway of this home; --url and --key-file do not apply",
            "name another home with --home DIR",
        ));
    }
    if args.client.is_some() && !clients::are_meant(args) {
        let hint = "`countersign init mcp CLIENT` is for MCP clients";
        return Err(Complaint::usage("this agent has no clients", hint));
    }
    let place = Place::here(reach.home.clone())?;
    if args.service && !args.undo {
        service::available(&place)?;
    }
    let report = Report {
        args,
        place: &place,
    };
    let (mut plans, absent) = if clients::are_meant(args) {
        let (plans, left_out) = clients::plans(args, &place)?;
        report.say(&left_out)?;
        (plans, Vec::new())
    } else {
        plans(args, &place)?
    };
    if plans.iter().all(Plan::is_done) {
        return report.nothing_to_do(&plans, &absent);
    }
    report.say(&show::listed(&plans, &absent, args.undo))?;
    report.say(&show::planned(&plans, &place))?;
    if let Some(code) = report.consent(&plans, &absent)? {
        return Ok(code);
    }
    let mut left = Vec::new();
    for plan in plans.iter_mut().filter(|plan| !plan.is_done()) {
        left.extend(carry_out(plan, args, &place)?);
    }
    report.say(&show::done(&plans, &left, args.undo))?;
    report.finish(&plans, &absent, &left)
}

/// Returns what is to be done for each agent, and the agents that are not installed.
fn plans(args: &Init, place: &Place) -> Result<(Vec<Plan>, Vec<&'static Agent>), Complaint> {
    let agents: Vec<&'static Agent> = match args.agent {
        Some(agent) => vec![agent],
        None if args.undo => AGENTS.iter().chain([&EDITORS]).collect(),
        None => AGENTS.iter().collect(),
    };
    let (mut plans, mut absent) = (Vec::new(), Vec::new());
    if args.undo {
        let clients = mcp::ROWS.iter().map(|row| &row.agent);
        let clients = clients.filter(|_| args.agent.is_none());
        for agent in agents.into_iter().chain(clients) {
            let plan = plan::undo(place, agent)?;
            if args.agent.is_some() || !plan.is_done() {
                plans.push(plan);
            }
        }
        if args.service {
            plans.push(plan::undo(place, &service::SERVICE)?);
        }
        return Ok((plans, absent));
    }
    for (agent, found) in agents.iter().zip(found(place, &agents)) {
        let by_folder = agent.known_by_folder.map(|folder| place.user.join(folder));
        let is_known = found.is_some() || by_folder.is_some_and(|folder| folder.is_dir());
        if is_known || args.agent.is_some() {
            plans.push(plan::set_up(place, agent, found)?);
        } else {
            absent.push(*agent);
        }
    }
    if args.service {
        plans.push(plan::set_up(place, &service::SERVICE, None)?);
    }
    Ok((plans, absent))
}

/// Looks for all agents at once: some take a second to say their version.
fn found(place: &Place, agents: &[&'static Agent]) -> Vec<Option<Found>> {
    std::thread::scope(|scope| {
        let looking: Vec<_> = agents
            .iter()
            .map(|agent| scope.spawn(move || find::program(place, agent.programs)))
            .collect();
        let found = looking.into_iter().map(|it| it.join().ok().flatten());
        found.collect()
    })
}

/// Does one plan. The service manager is told before and after its file changes.
fn carry_out(plan: &mut Plan, args: &Init, place: &Place) -> Result<Vec<String>, Complaint> {
    if plan.agent.name != service::SERVICE.name {
        return plan.carry_out(place);
    }
    let mut left = Vec::new();
    let mut note = |done: Result<(), Complaint>| {
        if let Err(complaint) = done {
            left.push(complaint.in_one_line());
        }
    };
    if args.undo {
        note(service::stop());
        plan.carry_out(place)?;
        note(service::forget());
        return Ok(left);
    }
    plan.carry_out(place)?;
    let first = match gateway(place) {
        Ok(_) => First::NextLogin,
        Err(_) => First::Now,
    };
    service::start(first).map(|line| vec![line])
}

/// Returns the gateway that runs in the home.
fn gateway(place: &Place) -> Result<Client, Complaint> {
    let reach = Reach {
        home: Some(place.home.directory().to_owned()),
        ..Reach::default()
    };
    let client = Client::new(&reach)?;
    client.get("/v1/whoami")?;
    Ok(client)
}

/// Tells the person, or the script, what happens.
#[derive(Debug)]
struct Report<'a> {
    args: &'a Init,
    place: &'a Place,
}

impl Report<'_> {
    fn say(&self, text: &str) -> Result<(), Complaint> {
        if self.args.json {
            return Ok(());
        }
        written(print(text), ExitCode::SUCCESS).map(|_| ())
    }

    fn nothing_to_do(
        &self,
        plans: &[Plan],
        absent: &[&'static Agent],
    ) -> Result<ExitCode, Complaint> {
        if plans.is_empty() && !self.args.undo {
            if self.args.json {
                print_json(&self.json(plans, absent, Written::No, None)).ok();
            }
            let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
            return Err(Complaint::failed(
                "no agent was found on this machine",
                format!(
                    "is its program on PATH? Name it to set it up anyway: `countersign init AGENT` with one of {}",
                    names.join(", ")
                ),
            ));
        }
        self.say(&show::listed(plans, absent, self.args.undo))?;
        self.say(&show::unchanged(plans, self.args.undo))?;
        if self.args.undo {
            return self.end(plans, absent, Written::No, None);
        }
        let practised = self.practise(plans)?;
        self.end(plans, absent, Written::No, practised.as_ref())
    }

    /// Asks once. Returns an exit code if nothing is to be written.
    fn consent(
        &self,
        plans: &[Plan],
        absent: &[&'static Agent],
    ) -> Result<Option<ExitCode>, Complaint> {
        if self.args.yes {
            return Ok(None);
        }
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if !is_terminal || self.args.json {
            if self.args.json {
                self.end(plans, absent, Written::No, None)?;
            }
            return Err(Complaint::usage(
                "nothing was written: there is nobody to ask",
                "--yes writes these changes without asking",
            ));
        }
        self.say("Write these changes? [y/N] ")?;
        let _flushed = std::io::stdout().flush();
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        if read.is_ok() && matches!(line.trim().to_lowercase().as_str(), "y" | "yes") {
            return Ok(None);
        }
        self.say("Nothing was written.\n")?;
        Ok(Some(ExitCode::FAILURE))
    }

    fn finish(
        &self,
        plans: &[Plan],
        absent: &[&'static Agent],
        left: &[String],
    ) -> Result<ExitCode, Complaint> {
        if self.args.json {
            for line in left {
                let _told = writeln!(std::io::stderr(), "note: {line}");
            }
        }
        let practised = if self.args.undo {
            None
        } else {
            self.practise(plans)?
        };
        self.end(plans, absent, Written::Yes, practised.as_ref())
    }

    /// Puts a practice card through the hook of the first agent, if no agent was named.
    fn practise(&self, plans: &[Plan]) -> Result<Option<Value>, Complaint> {
        let started = Instant::now();
        let mut reached = gateway(self.place);
        while self.args.service && reached.is_err() && started.elapsed() < START_TIME_MAX {
            std::thread::sleep(PAUSE);
            reached = gateway(self.place);
        }
        let Ok(client) = reached else {
            if self.args.service {
                self.say(
                    "The service does not answer yet; see `systemctl --user status countersign`.\n",
                )?;
                return Ok(None);
            }
            let next = "No gateway runs yet, and until one does, whatever needs a person is denied. Start it with\n`countersign serve`, or as a service of yours with `countersign init --service`.\n";
            self.say(next)?;
            return Ok(None);
        };
        if self.args.agent.is_some() || self.args.wait == 0 {
            return Ok(None);
        }
        practice::put(self, plans, &client)
    }

    fn end(
        &self,
        plans: &[Plan],
        absent: &[&'static Agent],
        done: Written,
        practised: Option<&Value>,
    ) -> Result<ExitCode, Complaint> {
        if self.args.json {
            let report = self.json(plans, absent, done, practised);
            return written(print_json(&report), ExitCode::SUCCESS);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn json(
        &self,
        plans: &[Plan],
        absent: &[&'static Agent],
        done: Written,
        practised: Option<&Value>,
    ) -> Value {
        let known = plans.iter().map(|plan| show::json(plan, self.place, done));
        let absent = absent.iter().map(|agent| {
            json!({
                "agent": agent.name,
                "title": agent.title,
                "installed": false,
                "state": State::NotSetUp.words(),
            })
        });
        json!({
            "agents": known.chain(absent).collect::<Vec<_>>(),
            "written": done == Written::Yes,
            "practice": practised,
        })
    }
}

/// Whether the changes were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    Yes,
    No,
}
