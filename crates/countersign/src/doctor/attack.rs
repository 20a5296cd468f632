//! `countersign doctor --as-agent`: tries the attacks of an agent that wants to answer for itself, as
//! the user it runs under, and measures how well the firewall is separated from it.
//!
//! Nothing is harmed: files are opened and not written, signal 0 is sent, the approval that is
//! answered does not exist. Run it as the user, and inside the sandbox, that the agent has.

mod socket;
mod tier;

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::{Method, StatusCode};
use rustix::fs::{Access, access};
use rustix::process::{Pid, getuid, test_kill_process};
use serde_json::{Value, json};
use tokio::process::Command;

use super::canary::Folder;
use super::{agents, child, home};
use crate::client::{Client, Reach};
use crate::complaint::Complaint;
use crate::config::{self, Home, settings};
use crate::gateway::user_name;
use socket::Gateway;
pub(crate) use tier::Measured;

/// The approval that is answered. There is none of this name.
const NOBODY_S: &str = "/v1/approvals/appr_doctor_probe/resolve";
/// Where the socket of a gateway with a user of its own usually is.
const SHARED_SOCKET: &str = "/run/countersign/agent.sock";
/// Why something about the gateway's process is not known.
const NO_GATEWAY: &str = "no gateway answers at the agents' socket";
/// How long `sudo` may take to say no.
const SUDO_LIMIT: Duration = Duration::from_secs(10);
/// The socket of a service whose users are as good as root.
const CONTAINERS: &str = "/var/run/docker.sock";

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It works.
    Can,
    /// It does not, and why.
    Cannot(String),
    /// It could not be tried, and why.
    Unknown(String),
}

/// What somebody gains by an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gain {
    /// The role that asks answers: the gateway itself is broken.
    Breaks,
    /// Answers in a person's name, or makes answers unnecessary.
    Answers,
    /// Stops or replaces the gateway.
    Stops,
    /// Takes an agent's own hook away. The tier says who answers, so this does not count for it.
    Bypasses,
}

/// One attack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// What was tried, after "can" or "cannot".
    pub(crate) what: String,
    pub(crate) gain: Gain,
    pub(crate) outcome: Outcome,
}

impl Attempt {
    fn new(gain: Gain, what: impl Into<String>, outcome: Outcome) -> Self {
        Self {
            what: what.into(),
            gain,
            outcome,
        }
    }
}

/// Tries everything and measures the tier.
pub(crate) fn measure(reach: &Reach) -> Result<Measured, Complaint> {
    let home = Home::new(reach.home.clone())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| Complaint::failed(format!("cannot start: {error}"), ""))?;
    let gateway = runtime.block_on(Gateway::find(sockets(&home)));
    let owner = std::fs::metadata(home.directory()).map(|it| it.uid());
    // A home of the agent's own says nothing about the gateway's.
    let is_foreign = gateway
        .as_ref()
        .is_some_and(|gateway| owner.is_ok_and(|owner| owner != gateway.uid));
    let mut attempts = if is_foreign {
        vec![Attempt::new(
            Gain::Answers,
            "reach the files of the gateway's home",
            Outcome::Unknown("name that home with --home".to_owned()),
        )]
    } else {
        files(&home)
    };
    attempts.extend(process(gateway.as_ref()));
    attempts.push(over_http(reach, &home));
    let answer = match &gateway {
        Some(gateway) => runtime.block_on(socket::post(&gateway.socket, NOBODY_S)),
        None => Err(NO_GATEWAY.to_owned()),
    };
    attempts.push(over_socket(&answer));
    attempts.push(sudo(&runtime));
    attempts.push(Attempt::new(
        Gain::Answers,
        format!("use {CONTAINERS}, which makes anybody root"),
        writable(Path::new(CONTAINERS)),
    ));
    attempts.extend(programs());
    attempts.extend(hooks(&home));
    let uid = getuid().as_raw();
    Ok(Measured::new(
        uid,
        user_name(),
        gateway.map(|gateway| gateway.uid),
        attempts,
    ))
}

/// Tries the settings that start the agents' hooks.
fn hooks(home: &Home) -> Vec<Attempt> {
    let files = match agents::settings_files(home) {
        Ok(files) => files,
        Err(complaint) => {
            let what = "change its settings, and so take its own hook away";
            let outcome = Outcome::Unknown(complaint.in_one_line());
            return vec![Attempt::new(Gain::Bypasses, what, outcome)];
        }
    };
    let attempts = files.into_iter().map(|file| {
        let what = format!("change {}, and so take its own hook away", file.display());
        Attempt::new(Gain::Bypasses, what, writable(&file))
    });
    attempts.collect()
}

/// Returns where the agents' socket may be, as far as this user can know.
fn sockets(home: &Home) -> Vec<PathBuf> {
    let values = config::values(&home.file()).ok().flatten();
    let api = settings::api(&values.unwrap_or(Value::Null), home.directory());
    let own = Home::named_or_usual(None)
        .ok()
        .map(|own| own.agent_socket());
    let shared = PathBuf::from(SHARED_SOCKET);
    [Some(api.socket), own, Some(shared)]
        .into_iter()
        .flatten()
        .collect()
}

/// Tries the files of the home.
fn files(home: &Home) -> Vec<Attempt> {
    let file = |name: &str| home.directory().join(name);
    let config = home.file();
    let config = match std::fs::symlink_metadata(&config) {
        Err(error) if error.kind() == ErrorKind::NotFound => writable(home.directory()),
        Ok(_) | Err(_) => writable(&config),
    };
    vec![
        Attempt::new(
            Gain::Answers,
            "read cli.key, and answer with it",
            readable(&file("cli.key")),
        ),
        Attempt::new(
            Gain::Answers,
            "read signing.key, and sign tokens with it",
            readable(&file("signing.key")),
        ),
        Attempt::new(
            Gain::Answers,
            "change the database",
            writable(&file("countersign.db")),
        ),
        Attempt::new(Gain::Answers, "change config.yaml", config),
        Attempt::new(
            Gain::Answers,
            "replace files of the home",
            writable(home.directory()),
        ),
    ]
}

fn readable(file: &Path) -> Outcome {
    opened(File::open(file))
}

/// Whether a file could be written, or files be put into a directory. Nothing is.
fn writable(path: &Path) -> Outcome {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            match OpenOptions::new().write(true).open(path) {
                // It is permitted, and only refused because the program runs.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => Outcome::Can,
                result => opened(result),
            }
        }
        Ok(_) => match access(path, Access::WRITE_OK) {
            Ok(()) => Outcome::Can,
            Err(error) => Outcome::Cannot(error.kind().to_string()),
        },
        Err(error) => opened(Err(error)),
    }
}

fn opened(result: std::io::Result<File>) -> Outcome {
    match result {
        Ok(_) => Outcome::Can,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Outcome::Cannot("no such file".to_owned())
        }
        Err(error) => Outcome::Cannot(error.kind().to_string()),
    }
}

/// Tries the process of the gateway.
fn process(gateway: Option<&Gateway>) -> Vec<Attempt> {
    let with = |attempt: &dyn Fn(Pid) -> Outcome| match gateway.and_then(|it| it.pid) {
        Some(pid) => attempt(pid),
        None => Outcome::Unknown(NO_GATEWAY.to_owned()),
    };
    let memory = |pid: Pid| format!("/proc/{}/mem", pid.as_raw_nonzero());
    vec![
        Attempt::new(
            Gain::Answers,
            "read the gateway's memory",
            with(&|pid| readable(Path::new(&memory(pid)))),
        ),
        // The kernel asks the same question before it lets a process be traced.
        Attempt::new(
            Gain::Answers,
            "trace the gateway and change its memory (ptrace)",
            with(&|pid| opened(OpenOptions::new().write(true).open(memory(pid)))),
        ),
        Attempt::new(
            Gain::Stops,
            "stop the gateway (signal 0 arrives)",
            with(&|pid| match test_kill_process(pid) {
                Ok(()) => Outcome::Can,
                Err(error) => Outcome::Cannot(error.kind().to_string()),
            }),
        ),
    ]
}

/// Answers with the key of a hook.
fn over_http(reach: &Reach, home: &Home) -> Attempt {
    let keys = home::hook_keys(home);
    let own = keys.into_iter().find(|file| readable(file) == Outcome::Can);
    let key = reach.key_file.clone().or(own);
    let outcome = match key {
        None => Outcome::Unknown("no key of a hook can be read".to_owned()),
        Some(key) => answered(reach, key),
    };
    let what = "answer over HTTP with the key of an agent";
    Attempt::new(Gain::Breaks, what, outcome)
}

fn answered(reach: &Reach, key: PathBuf) -> Outcome {
    let reach = Reach {
        key_file: Some(key),
        ..reach.clone()
    };
    let body = json!({ "choice": "deny" });
    let sent = Client::new(&reach).and_then(|it| it.ask(Method::POST, NOBODY_S, Some(&body)));
    match sent {
        Ok(answer) => match answer.status() {
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => {
                Outcome::Cannot(answer.refusal().error.message)
            }
            // It looked for the approval: the role would do.
            StatusCode::NOT_FOUND => Outcome::Can,
            status => Outcome::Unknown(format!("the gateway responded with {status}")),
        },
        Err(complaint) => Outcome::Unknown(complaint.message().to_owned()),
    }
}

fn over_socket(answer: &Result<String, String>) -> Attempt {
    let outcome = match answer {
        Err(why) => Outcome::Unknown(why.clone()),
        Ok(text) => {
            let status = text.split(' ').nth(1).unwrap_or_default();
            match status {
                "401" | "403" => Outcome::Cannot("the gateway refuses".to_owned()),
                "404" if text.contains("there is no route") => {
                    Outcome::Cannot("it has no route for answers".to_owned())
                }
                "404" => Outcome::Can,
                other => Outcome::Unknown(format!("the gateway responded with {other}")),
            }
        }
    };
    let what = "answer through the agents' socket";
    Attempt::new(Gain::Breaks, what, outcome)
}

/// Asks `sudo` for a program that does nothing. It never asks for a password.
fn sudo(runtime: &tokio::runtime::Runtime) -> Attempt {
    let what = "become root without a password (sudo -n)";
    if getuid().is_root() {
        return Attempt::new(Gain::Answers, "act as root", Outcome::Can);
    }
    let tried = || {
        let folder = Folder::new()?;
        let mut command = Command::new("sudo");
        command.args(["-n", "true"]).current_dir(folder.path());
        runtime.block_on(child::run(command, SUDO_LIMIT, folder.path()))
    };
    let outcome = match tried() {
        Ok(ended) if ended.status.is_some_and(|it| it.success()) => Outcome::Can,
        Ok(_) => Outcome::Cannot("it asks for a password, or refuses".to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Outcome::Cannot("there is no sudo".to_owned())
        }
        Err(error) => Outcome::Unknown(error.to_string()),
    };
    Attempt::new(Gain::Answers, what, outcome)
}

/// Tries the program file and what starts it.
fn programs() -> Vec<Attempt> {
    let mut attempts = Vec::new();
    if let Ok(program) = std::env::current_exe() {
        let outcome = match (writable(&program), program.parent().map(writable)) {
            (Outcome::Can, _) | (_, Some(Outcome::Can)) => Outcome::Can,
            (outcome, _) => outcome,
        };
        let what = format!("replace the program {}", program.display());
        attempts.push(Attempt::new(Gain::Stops, what, outcome));
    }
    let user = std::env::var_os("HOME").map(PathBuf::from);
    let unit = user.map(|it| it.join(".config/systemd/user/countersign.service"));
    if let Some(unit) = unit.filter(|it| it.exists()) {
        let what = format!("change {}, which starts the gateway", unit.display());
        attempts.push(Attempt::new(Gain::Stops, what, writable(&unit)));
    }
    attempts
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn files_are_opened_and_left_as_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(Some(directory.path().to_owned())).unwrap();
        for name in ["cli.key", "signing.key", "countersign.db"] {
            std::fs::write(directory.path().join(name), "kept").unwrap();
        }
        let attempts = files(&home);
        assert!(
            attempts.iter().all(|it| it.outcome == Outcome::Can),
            "{attempts:?}"
        );
        for name in ["cli.key", "signing.key", "countersign.db"] {
            let text = std::fs::read_to_string(directory.path().join(name)).unwrap();
            assert_eq!(text, "kept");
        }
        assert!(!home.file().exists());
    }

    #[test]
    fn what_is_closed_or_absent_is_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("key");
        assert_eq!(readable(&file), Outcome::Cannot("no such file".to_owned()));
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o400)).unwrap();
        assert_eq!(readable(&file), Outcome::Can);
        let expected = if getuid().is_root() {
            Outcome::Can
        } else {
            Outcome::Cannot("permission denied".to_owned())
        };
        assert_eq!(writable(&file), expected);
    }

    #[test]
    fn our_own_process_can_be_reached_and_no_process_is_unknown() {
        let ours = Gateway {
            socket: PathBuf::new(),
            pid: Some(rustix::process::getpid()),
            uid: getuid().as_raw(),
        };
        let attempts = process(Some(&ours));
        assert!(
            attempts.iter().all(|it| it.outcome == Outcome::Can),
            "{attempts:?}"
        );
        for attempt in process(None) {
            assert!(
                matches!(attempt.outcome, Outcome::Unknown(_)),
                "{attempt:?}"
            );
        }
    }

    #[test]
    fn the_socket_s_answer_is_read() {
        let rows = [
            (
                "HTTP/1.1 404 Not Found\r\n\r\nthere is no route `/x`",
                false,
            ),
            ("HTTP/1.1 403 Forbidden\r\n\r\n", false),
            ("HTTP/1.1 404 Not Found\r\n\r\nno such approval", true),
        ];
        for (text, can) in rows {
            let attempt = over_socket(&Ok(text.to_owned()));
            assert_eq!(attempt.outcome == Outcome::Can, can, "{text}");
        }
    }
}
