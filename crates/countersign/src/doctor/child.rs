//! Runs a program for a limited time, together with everything it starts.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

/// How long a program that is told to stop may take before it is killed. A hook that waits uses it
/// to withdraw its question.
const GRACE: Duration = Duration::from_secs(3);
/// Bytes of output that are kept: the last ones.
const OUTPUT_BYTES_MAX: u64 = 32 * 1024;

/// Whether a person has interrupted this program.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether a person has interrupted this program while another ran.
pub(super) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// How a program ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Ended {
    /// How it exited; `None` if it was stopped because its time was over.
    pub(super) status: Option<ExitStatus>,
    /// The end of its standard output.
    pub(super) stdout: String,
    /// The end of its standard error.
    pub(super) stderr: String,
}

impl Ended {
    /// Returns the last line of what it said, to be shown to a person.
    pub(super) fn last_words(&self) -> String {
        let last = |text: &str| {
            let mut lines = text.lines().rev().map(str::trim);
            lines.find(|line| !line.is_empty()).map(str::to_owned)
        };
        let line = last(&self.stderr).or_else(|| last(&self.stdout));
        let line = line.unwrap_or_default();
        // Agents that print JSON say it in one of these.
        let object: Value = serde_json::from_str(&line).unwrap_or_default();
        let names = ["result", "message", "error", "text"];
        let text = names.iter().find_map(|name| object.get(name)?.as_str());
        if object.is_object() {
            return text.unwrap_or_default().to_owned();
        }
        line
    }
}

/// Runs `command` until it ends, `limit` has passed or a person interrupts this program. Its output
/// goes to files in `folder`, so that nothing it leaves behind can hold us up.
pub(super) async fn run(
    mut command: Command,
    limit: Duration,
    folder: &Path,
) -> std::io::Result<Ended> {
    let (out, err) = (folder.join("stdout"), folder.join("stderr"));
    // A group of its own: stopping it stops what it started, too.
    let mut child = command
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let status = tokio::select! {
        status = child.wait() => Some(status?),
        () = tokio::time::sleep(limit) => {
            stop(&mut child).await;
            None
        }
        _ = async { tokio::select! { it = interrupted.recv() => it, it = terminated.recv() => it } } => {
            INTERRUPTED.store(true, Ordering::SeqCst);
            stop(&mut child).await;
            return Err(std::io::ErrorKind::Interrupted.into());
        }
    };
    Ok(Ended {
        status,
        stdout: end_of(&out),
        stderr: end_of(&err),
    })
}

/// Stops a program and its group: first asked, then killed.
async fn stop(child: &mut Child) {
    // Not waited for yet, so its number still names it and its group.
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    let Some(group) = id.and_then(Pid::from_raw) else {
        return;
    };
    // Whoever is gone already needs no signal.
    let _gone = kill_process_group(group, Signal::TERM);
    let _late = tokio::time::timeout(GRACE, child.wait()).await;
    let _gone = kill_process_group(group, Signal::KILL);
    let _gone = child.wait().await;
}

fn end_of(file: &Path) -> String {
    let read = || {
        let mut file = File::open(file)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(OUTPUT_BYTES_MAX)))?;
        let mut bytes = Vec::new();
        file.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes)?;
        std::io::Result::Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(script);
        command
    }

    #[tokio::test]
    async fn a_program_that_ends_says_how_and_what() {
        let folder = tempfile::tempdir().unwrap();
        let script = "echo out; echo first >&2; echo last >&2; echo >&2; exit 3";
        let limit = Duration::from_mins(1);
        let ended = run(shell(script), limit, folder.path()).await.unwrap();
        assert_eq!(ended.status.unwrap().code(), Some(3));
        assert_eq!(ended.stdout, "out\n");
        assert_eq!(ended.last_words(), "last");
        let stdout = r#"{"type":"result","result":"blocked by a hook"}"#;
        let ended = Ended {
            stdout: format!("{stdout}\n"),
            ..Ended::default()
        };
        assert_eq!(ended.last_words(), "blocked by a hook");
    }

    #[tokio::test]
    async fn a_program_that_hangs_is_stopped_with_everything_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("inner");
        // Neither it nor its child minds being asked.
        let script = format!(
            "trap '' TERM; sh -c \"trap '' TERM; echo \\$\\$ > {}; sleep 600\" & sleep 600",
            note.display()
        );
        let started = Instant::now();
        let limit = Duration::from_millis(500);
        let ended = run(shell(&script), limit, folder.path()).await.unwrap();
        assert!(ended.status.is_none());
        assert!(started.elapsed() < Duration::from_mins(1));
        let inner: i32 = std::fs::read_to_string(&note)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        let inner = Pid::from_raw(inner).unwrap();
        let is_gone = || {
            // Somebody else's zombie until it is reaped.
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", inner.as_raw_nonzero()));
            stat.map_or(true, |stat| stat.contains(") Z "))
        };
        while !is_gone() {
            assert!(started.elapsed() < Duration::from_mins(1), "it still runs");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
