//! `countersign run`: gives the built-in agent a task and follows it.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use reqwest::Method;
use serde_json::json;

use super::follow::{Ended, Follow, Reads, Shows};
use super::inbox::{Surface, WantsLines};
use crate::cli::Run;
use crate::client::{Client, Reach};
use crate::complaint::Complaint;
use crate::wire::shown::RunStanding;

/// Longest text that is read from standard input, in bytes.
const TEXT_BYTES_MAX: u64 = 1024 * 1024;

/// Starts a run and follows it to its end.
pub(crate) fn run(args: &Run, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?.in_terminal();
    let shows = if args.json {
        Shows::Events
    } else {
        Shows::Progress
    };
    let what = if args.text == "-" {
        standard_input()?
    } else {
        args.text.clone()
    };
    // What was to be done came from there, so no answer can.
    let reads = if args.text == "-" || args.json {
        Reads::Nothing
    } else {
        match Surface::here(WantsLines(false)) {
            Surface::Screen if std::io::stderr().is_terminal() => Reads::keys()?,
            Surface::Screen | Surface::Lines | Surface::Output => Reads::lines(),
        }
    };
    let mut follow = Follow::new(&client, shows, reads);
    let ended = client.block_on(async {
        let task = Task {
            text: &what,
            session: args.session.as_deref(),
            cwd: args.cwd.as_deref(),
            model: args.model.as_deref(),
        };
        let run = start(&client, &task).await?;
        follow.run(&run).await
    })?;
    exit_code(ended)
}

/// A run to be started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    pub(crate) text: &'a str,
    pub(crate) session: Option<&'a str>,
    pub(crate) cwd: Option<&'a Path>,
    pub(crate) model: Option<&'a str>,
}

/// Starts a run and returns its id.
pub(crate) async fn start(client: &Client, task: &Task<'_>) -> Result<String, Complaint> {
    let cwd = directory(task.cwd);
    let (text, session) = (task.text, task.session);
    let body = match task.model {
        None => json!({ "input": text, "session_id": session, "cwd": cwd }),
        Some(model) => {
            json!({ "input": text, "session_id": session, "cwd": cwd, "model": model })
        }
    };
    let answer = client.send(Method::POST, "/v1/runs", Some(&body)).await?;
    let started: RunStanding = answer.read()?;
    Ok(started.run_id)
}

/// Returns the directory a run works in: `cwd` seen from here, or here.
pub(crate) fn directory(cwd: Option<&Path>) -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    match (cwd, here) {
        (Some(cwd), Some(here)) => Some(here.join(cwd)),
        (Some(cwd), None) => Some(cwd.to_owned()),
        (None, here) => here,
    }
}

fn exit_code(ended: Ended) -> Result<ExitCode, Complaint> {
    match ended {
        Ended::Completed => Ok(ExitCode::SUCCESS),
        Ended::Failed(why) => {
            let hint = "`countersign history --run ID` lists its calls";
            Err(Complaint::failed(format!("the run failed: {why}"), hint))
        }
        Ended::Cancelled => Err(Complaint::failed("the run was stopped", "")),
    }
}

fn standard_input() -> Result<String, Complaint> {
    let mut text = String::new();
    let mut input = std::io::stdin().take(TEXT_BYTES_MAX);
    input
        .read_to_string(&mut text)
        .map_err(|error| Complaint::usage(format!("cannot read standard input: {error}"), ""))?;
    Ok(text)
}
