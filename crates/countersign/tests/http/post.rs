//! A mail server for tests: aiosmtpd where it is installed, a small one of our own elsewhere.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use countersign_testkit::smtp::Smtp;

use crate::support::PATIENCE;

/// How often the directory of letters is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A mail server and where its letters are.
pub(crate) enum Post {
    /// Our own.
    Small(Smtp),
    /// aiosmtpd, a program of its own that keeps letters in a directory.
    Real(Child, u16, tempfile::TempDir),
}

impl Post {
    /// `./test` says in `COUNTERSIGN_TEST_AIOSMTPD` which Python has aiosmtpd.
    pub(crate) fn open() -> Self {
        let Ok(python) = std::env::var("COUNTERSIGN_TEST_AIOSMTPD") else {
            countersign_testkit::skipped("no aiosmtpd; letters go to the testkit's small server");
            return Self::Small(Smtp::start().unwrap());
        };
        let letters = tempfile::tempdir().unwrap();
        // Somebody may take the port before the server does; then it says so and the test fails.
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut server = Command::new(root.join(python))
            .args(["-u", "-m", "aiosmtpd", "-n", "-d", "-l"])
            .arg(format!("127.0.0.1:{port}"))
            .args(["-c", "aiosmtpd.handlers.Mailbox"])
            .arg(letters.path().join("box"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(server.stderr.take().unwrap()).lines();
        let mut said = Vec::new();
        let is_up = log.any(|line| {
            said.push(line.unwrap());
            said.last()
                .is_some_and(|line| line.contains("Server is listening"))
        });
        assert!(is_up, "aiosmtpd did not start: {said:?}");
        std::thread::spawn(move || log.count());
        Self::Real(server, port, letters)
    }

    pub(crate) fn port(&self) -> u16 {
        match self {
            Self::Small(server) => server.port(),
            Self::Real(_, port, _) => *port,
        }
    }

    pub(crate) fn letters(&self) -> Vec<String> {
        match self {
            Self::Small(server) => server.letters().into_iter().map(|it| it.data).collect(),
            Self::Real(_, _, letters) => {
                let Ok(new) = std::fs::read_dir(letters.path().join("box/new")) else {
                    return Vec::new();
                };
                let mut files: Vec<_> = new.map(|file| file.unwrap()).collect();
                files.sort_by_key(|file| file.metadata().unwrap().modified().unwrap());
                files
                    .iter()
                    .map(|file| std::fs::read_to_string(file.path()).unwrap())
                    .collect()
            }
        }
    }
}

impl Post {
    /// Returns where the real server keeps its files.
    pub(crate) fn directory(&self) -> &Path {
        match self {
            Self::Small(_) => Path::new(""),
            Self::Real(_, _, letters) => letters.path(),
        }
    }

    /// Waits for so many letters.
    pub(crate) fn until(&self, count: usize) -> Vec<String> {
        let since = Instant::now();
        loop {
            let letters = self.letters();
            if letters.len() >= count {
                return letters;
            }
            assert!(since.elapsed() < PATIENCE, "only {letters:#?}");
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        if let Self::Real(server, ..) = self {
            server.kill().unwrap();
            server.wait().unwrap();
        }
    }
}
