//! The agents: whether each is installed, whether its settings start our hook, and a canary.
//!
//! One row of [`AGENTS`] and one file for each agent: how its settings are read, and how it is run
//! once against a scripted model with the settings of the person who runs this.

mod claude_code;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod opencode;
mod place;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;
use tokio::runtime::Runtime;

use super::model::Call;
use super::report::{Line, Report, State};
use super::{Canary, canary, child};
use crate::client::Client;
use crate::complaint::Complaint;
use crate::config::Home;
use crate::hook::adapter::{Adapter, named};
use crate::init;
use crate::init::find::{Version, program_only};
use place::{Place, Setup};

/// How long an agent may take to say its version. Some unpack themselves first.
const VERSION_LIMIT: Duration = Duration::from_secs(30);

/// Which agents are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// Each of them.
    All,
    /// This one.
    Only(&'static Adapter),
}

/// How an agent is examined.
#[derive(Debug)]
pub(super) struct Agent {
    /// The name of its adapter.
    name: &'static str,
    /// Reads its settings.
    setup: fn(&Place<'_>) -> Setup,
    /// How it is run once; `None` where it cannot be without an account.
    stage: Option<Stage>,
}

/// How an agent is run once against the scripted model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    /// The shell call in the agent's own words, for each tool it may have for that.
    pub(super) calls: fn(&str) -> Vec<Call>,
    /// How it is started.
    pub(super) start: fn(&Scene<'_>) -> Start,
    /// How long it may take.
    pub(super) limit: Duration,
}

/// Where the run takes place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scene<'a> {
    /// The scripted model, without a path.
    pub(super) url: &'a str,
    /// The folder it is started in, removed afterwards.
    pub(super) folder: &'a Path,
}

/// The command line and the environment of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Start {
    /// The arguments.
    pub(super) args: Vec<String>,
    /// Variables that are set besides those of this process.
    pub(super) set: Vec<(&'static str, String)>,
    /// Variables that are taken away.
    pub(super) unset: &'static [&'static str],
    /// Files that are written in the folder first.
    pub(super) files: Vec<(&'static str, String)>,
}

/// Every agent, in the order of the adapters.
const AGENTS: &[Agent] = &[
    claude_code::AGENT,
    codex::AGENT,
    gemini::AGENT,
    opencode::AGENT,
    copilot::AGENT,
    cline::AGENT,
    cursor::AGENT,
];

/// What is asked of an agent in a run. The scripted model does not read it; a real one that is
/// reached by mistake does nothing.
pub(super) const PROMPT: &str =
    "This is a test by `countersign doctor`. Reply with the word done and use no tools.";

/// Checks the agents that are wanted.
pub(super) fn check(
    home: &Home,
    client: Option<&Client>,
    wanted: Wanted,
    canary: Canary,
    report: &mut Report,
) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            report.add(Line::fail("agents", format!("cannot start: {error}"), ""));
            return;
        }
    };
    let machine = match init::Place::here(Some(home.directory().to_owned())) {
        Ok(machine) => machine,
        Err(complaint) => {
            report.add(Line::fail("agents", complaint.message(), complaint.hint()));
            return;
        }
    };
    for agent in AGENTS {
        let is_wanted = match wanted {
            Wanted::All => true,
            Wanted::Only(adapter) => adapter.name == agent.name,
        };
        let (Some(adapter), Some(known), true) = (
            named(agent.name),
            init::agents::named(agent.name),
            is_wanted,
        ) else {
            continue;
        };
        let patient = Patient {
            agent,
            adapter,
            known,
            runtime: &runtime,
            machine: &machine,
        };
        let may_run = patient.check(wanted, report);
        if let (Some(program), Canary::Runs) = (may_run, canary) {
            patient.canary(&program, home, client, report);
        }
        if child::is_interrupted() {
            let fix = "run `countersign doctor` again";
            report.add(Line::fail("agents", "interrupted", fix));
            return;
        }
    }
}

/// Returns the settings files of agents that are on this machine: whoever can change one takes the
/// hook away.
pub(super) fn settings_files(home: &Home) -> Result<Vec<PathBuf>, Complaint> {
    let machine = init::Place::here(Some(home.directory().to_owned()))?;
    let agents = AGENTS
        .iter()
        .filter_map(|agent| init::agents::named(agent.name));
    let files = agents.flat_map(|agent| (agent.files)(&machine));
    Ok(files
        .map(|file| file.path)
        .filter(|it| it.exists())
        .collect())
}

/// One agent that is looked at.
struct Patient<'a> {
    agent: &'static Agent,
    adapter: &'static Adapter,
    /// What setting it up knows about it.
    known: &'static init::agents::Agent,
    runtime: &'a Runtime,
    machine: &'a init::Place,
}

impl Patient<'_> {
    /// Checks what can be seen without running the agent. Returns its program if it is there and is
    /// set up.
    fn check(&self, wanted: Wanted, report: &mut Report) -> Option<PathBuf> {
        let mut names = self.known.programs.iter();
        let program = names.find_map(|name| program_only(self.machine, name));
        let version = program.as_deref().and_then(|it| self.version(it));
        let another = |program: &Path| self.version(program).map(|it| it.to_string());
        let here = std::env::current_dir().unwrap_or_default();
        let setup = (self.agent.setup)(&Place {
            adapter: self.adapter,
            machine: self.machine,
            here: &here,
            file: (self.known.files)(self.machine)
                .first()
                .map(|it| it.path.clone())
                .unwrap_or_default(),
            version,
            version_of: &another,
        });
        let group = self.agent.name;
        let title = self.adapter.title;
        let doubt = match wanted {
            Wanted::All => State::Warn,
            Wanted::Only(_) => State::Fail,
        };
        match (&program, setup.is_there()) {
            (None, false) => {
                let state = match wanted {
                    Wanted::All => State::Ok,
                    Wanted::Only(_) => State::Fail,
                };
                let found = format!(
                    "not installed: no {} in PATH",
                    self.known.programs.join(", ")
                );
                report.add(Line::new(state, group, found, ""));
                return None;
            }
            (None, true) => report.add(Line::warn(
                group,
                format!(
                    "its hook is set up, but there is no {} in PATH",
                    self.known.programs.join(", ")
                ),
                format!("is {title} installed for another user?"),
            )),
            (Some(program), _) => {
                let version =
                    version.map_or_else(|| "of unknown version".to_owned(), |it| it.to_string());
                let found = format!("{title} {version}, {}", program.display());
                report.add(Line::ok(group, found));
            }
        }
        let is_there = setup.is_there();
        match setup {
            Setup::Missing(found) => {
                let fix = format!("countersign init {group}");
                report.add(Line::new(doubt, group, found, fix));
            }
            Setup::There(lines) => report.add_all(lines),
        }
        program.filter(|_| is_there)
    }

    /// Returns what a program says is its version.
    fn version(&self, program: &Path) -> Option<Version> {
        let folder = canary::Folder::new().ok()?;
        let mut command = Command::new(program);
        command.arg("--version").current_dir(folder.path());
        let ended = child::run(command, VERSION_LIMIT, folder.path());
        let ended = self.runtime.block_on(ended).ok()?;
        Version::find(&ended.stdout).or_else(|| Version::find(&ended.stderr))
    }

    fn canary(&self, program: &Path, home: &Home, client: Option<&Client>, report: &mut Report) {
        let group = self.agent.name;
        let Some(stage) = self.agent.stage else {
            let found = format!(
                "canary: {} cannot be run without an account",
                self.adapter.title
            );
            let fix = "not verified; ask it for `touch /etc/countersign-canary` and see that you are asked";
            report.add(Line::warn(group, found, fix));
            return;
        };
        let mut stderr = std::io::stderr().lock();
        if stderr.is_terminal() {
            // Whoever cannot read it waits all the same.
            let _told = write!(stderr, "running {} once …\r", self.adapter.title);
        }
        drop(stderr);
        report.add(canary::check(
            &canary::Subject {
                adapter: self.adapter,
                stage,
                program,
                home,
            },
            client,
            self.runtime,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::adapter::ADAPTERS;

    #[test]
    fn every_adapter_has_its_row() {
        let agents: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
        let adapters: Vec<&str> = ADAPTERS.iter().map(|adapter| adapter.name).collect();
        assert_eq!(agents, adapters);
    }

    #[test]
    fn the_guide_names_every_agent_and_what_switches_its_hook_off() {
        let guide = include_str!("../../../../docs/doctor.md");
        for adapter in ADAPTERS {
            let row = format!("| {} | ", adapter.title);
            assert!(guide.contains(&row), "{}", adapter.title);
        }
    }

    #[test]
    fn every_call_of_a_canary_carries_the_command_whole() {
        let command = canary::command("abc", Path::new("/tmp/it's"));
        for agent in AGENTS {
            let Some(stage) = &agent.stage else { continue };
            for call in (stage.calls)(&command) {
                let whole = serde_json::to_string(&command).unwrap();
                let args = call.args.to_string();
                assert!(args.contains(&whole), "{} {args}", agent.name);
            }
        }
    }
}
