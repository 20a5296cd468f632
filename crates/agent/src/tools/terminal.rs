//! The terminal tool: a fixed shell, a clean environment, limits, and no leftover processes.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use countersign_gate::calls::permit::Permit;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use super::process::{Output, Processes, end_group, read_all};
use super::{Around, Outcome, Tool, checked, place, understood};
use crate::BoxFuture;
use crate::model::ToolSchema;

/// How long a command may take if nothing was said, in seconds, and at most.
const SECONDS_DEFAULT: u64 = 120;
const SECONDS_MAX: u64 = 3600;
/// How long a command in the background is watched before the agent goes on.
const FIRST_LOOK: Duration = Duration::from_secs(1);
/// How long is waited for the last output of what has ended.
const LAST_OUTPUT: Duration = Duration::from_millis(500);
/// What a command may know of our environment. Keys and tokens are in none of these.
const ENVIRONMENT: &[&str] = &[
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "TERM", "TMPDIR", "TZ", "USER",
];
/// Where a shell is looked for, and the program that cuts it off from our own terminal.
const SHELLS: &[&str] = &["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
const SETSIDS: &[&str] = &["/usr/bin/setsid", "/bin/setsid"];

/// Runs commands in a shell.
#[derive(Clone, Debug)]
pub struct Terminal {
    shell: PathBuf,
    setsid: Option<PathBuf>,
    environment: Vec<(&'static str, String)>,
    processes: Arc<Processes>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Running {
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    background: Option<bool>,
}

impl Terminal {
    /// Returns the tool, with the shell and the environment as they are now; or why there is none.
    /// What it starts in the background is kept in `processes`.
    pub fn new(processes: Arc<Processes>) -> Result<Self, String> {
        let first = |paths: &[&str]| {
            let mut paths = paths.iter().map(PathBuf::from);
            paths.find(|path| path.is_file())
        };
        let known = |name: &&'static str| Some((*name, std::env::var(name).ok()?));
        Ok(Self {
            shell: first(SHELLS).ok_or("there is no bash on this machine")?,
            setsid: first(SETSIDS),
            environment: ENVIRONMENT.iter().filter_map(known).collect(),
            processes,
        })
    }

    /// Starts `command`, its output and errors in one stream.
    fn start(&self, command: &str, cwd: &Path) -> std::io::Result<(Child, std::io::PipeReader)> {
        let (reader, writer) = std::io::pipe()?;
        let mut starting = Command::new(self.setsid.as_ref().unwrap_or(&self.shell));
        // A session of its own has no terminal, so nothing is typed into ours or painted over what
        // a person is asked there. Without that program it is at least a group of its own.
        if self.setsid.is_some() {
            starting.arg(&self.shell);
        } else {
            starting.process_group(0);
        }
        let child = starting
            .args(["--noprofile", "--norc", "-c", command])
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(cwd)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .kill_on_drop(true)
            .spawn()?;
        Ok((child, reader))
    }
}

impl Tool for Terminal {
    fn schema(&self) -> ToolSchema {
        ToolSchema {
            name: "terminal".to_owned(),
            description: "Runs a command in bash. Nothing can be typed into it. `timeout` is in \
                          seconds. With `background` it goes on while you do something else; look \
                          after it with `process`."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string"},
                    "cwd": {"type": "string"},
                    "timeout": {"type": "integer", "minimum": 1, "maximum": SECONDS_MAX},
                    "background": {"type": "boolean"},
                },
                "required": ["command"],
                "additionalProperties": false,
            }),
        }
    }

    fn resolved(&self, args: Value) -> Result<Value, String> {
        checked::<Running>(&args)
    }

    fn run<'a>(&'a self, permit: Permit, around: &'a Around) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let from = around.directory(&permit);
            match understood::<Running>(permit.args()) {
                Ok(args) => self.outcome(&args, &from, around).await,
                Err(why) => Outcome::failed(why),
            }
        })
    }
}

impl Terminal {
    async fn outcome(&self, args: &Running, from: &Path, around: &Around) -> Outcome {
        if args.command.contains('\0') {
            return Outcome::failed("the command has a zero byte in it");
        }
        let cwd = match place::directory(from, args.cwd.as_deref().unwrap_or(".")) {
            Ok(cwd) => cwd,
            Err(why) => return Outcome::failed(why),
        };
        let in_background = args.background.unwrap_or(false);
        if in_background && let Err(why) = self.processes.check_room() {
            return Outcome::failed(why);
        }
        let started = self.start(&args.command, &cwd);
        let (child, reader) = match started {
            Ok(started) => started,
            Err(error) => return Outcome::failed(format!("it could not be started: {error}")),
        };
        let output = Output::default();
        let reading = tokio::spawn(read_all(reader, output.clone()));
        if in_background {
            let command = &args.command;
            let id = self
                .processes
                .watch(&around.session, command, child, output);
            return self.processes.first_look(&id, FIRST_LOOK).await;
        }
        let seconds = args.timeout.unwrap_or(SECONDS_DEFAULT);
        let limit = Duration::from_secs(seconds.clamp(1, SECONDS_MAX));
        let ended = foreground(child, limit, around).await;
        // What a command leaves running in its group has been ended; what has left the group and
        // holds the pipe is not waited for.
        if tokio::time::timeout(LAST_OUTPUT, reading).await.is_err() {
            tracing::debug!("a process outside its group still holds the output");
        }
        let text = output.text();
        match ended {
            Ok(status) => Outcome {
                text: format!("{text}\n({})", super::process::status(status)),
                failed: !status.success(),
                exit_code: status.code(),
            },
            Err(why) => Outcome::failed(format!("{text}\n({why})")),
        }
    }
}

/// Waits for a command to end, and ends all that it started.
async fn foreground(
    mut child: Child,
    limit: Duration,
    around: &Around,
) -> Result<ExitStatus, String> {
    let group = child.id();
    let ended = tokio::select! {
        ended = child.wait() => ended.map_err(|error| error.to_string()),
        () = tokio::time::sleep(limit) => {
            Err(format!("ended after {} seconds", limit.as_secs()))
        }
        () = around.stopped() => Err("the run was stopped".to_owned()),
    };
    end_group(group);
    ended
}
