//! A home and a project of its own for each test, and the binary run in them.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::ours::ours;

/// A home directory, a project in it, and nothing else of the machine.
#[derive(Debug)]
pub(crate) struct Sandbox {
    directory: tempfile::TempDir,
    variables: Vec<(&'static str, &'static str)>,
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("home/.countersign")).unwrap();
        std::fs::create_dir_all(directory.path().join("home/project")).unwrap();
        Self {
            directory,
            variables: Vec::new(),
        }
    }

    /// Sets an environment variable for the runs.
    pub(crate) fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.push((name, value));
        self
    }

    /// Returns the directory the binary runs in.
    pub(crate) fn project(&self) -> PathBuf {
        self.directory.path().join("home/project")
    }

    /// Returns the owner's configuration.
    pub(crate) fn config(&self) -> PathBuf {
        self.directory.path().join("home/.countersign/config.yaml")
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, b"")
    }

    /// Runs it with more variables.
    pub(crate) fn run_in(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied());
        Self::finish(command.spawn().unwrap(), b"")
    }

    pub(crate) fn run_with(&self, arguments: &[&str], input: &[u8]) -> Ran {
        Self::finish(self.spawn(arguments), input)
    }

    fn finish(mut child: Child, input: &[u8]) -> Ran {
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        // A command that needs no input may end before it has been written.
        let _written = writer.join().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran {
            code: output.status.code().unwrap(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = ours(&self.directory.path().join("home"));
        command
            .args(arguments)
            .current_dir(self.project())
            // The usual place below the home is part of what is tested.
            .env_remove("COUNTERSIGN_HOME")
            .envs(self.variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Returns `text` without the parts that differ from run to run.
    pub(crate) fn steady(&self, text: &str) -> String {
        text.replace(&*self.directory.path().to_string_lossy(), "[SANDBOX]")
    }
}

impl Ran {
    /// Returns what a person saw, with the exit code.
    pub(crate) fn shown(&self) -> String {
        format!("{}{}exit {}\n", self.stdout, self.stderr, self.code)
    }
}
