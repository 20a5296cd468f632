//! A private PostgreSQL from Debian's packages, one for each test process.
//!
//! It listens on a socket in its own folder and nowhere else. A shell stands beside it that reads
//! a pipe of the test process: when that ends, however it ends, the shell stops the server and
//! removes the folder. PostgreSQL refuses to run as root, so then it runs as another user.

use std::io::{self, BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Makes a server, says where, and ends it when standard input ends. Its folder lies in `/tmp`, not
/// in `TMPDIR`: another user than root must reach it, and a socket's path must stay short.
const SCRIPT: &str = r#"
set -eu
directory=$(mktemp -d /tmp/countersign-pg.XXXXXX)
trap 'rm -rf "$directory"' EXIT
trap '' INT TERM HUP
initdb -D "$directory/data" -U postgres -A trust -E UTF8 --locale=C >"$directory/log" 2>&1 || {
  cat "$directory/log" >&2
  exit 1
}
cat >>"$directory/data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$directory'
max_connections = 200
END
pg_ctl -D "$directory/data" -l "$directory/log" -w start >/dev/null || {
  cat "$directory/log" >&2
  exit 1
}
echo "$directory"
cat >/dev/null
pg_ctl -D "$directory/data" -m immediate -w stop >/dev/null 2>&1 || true
"#;

/// A running server.
#[derive(Debug)]
pub struct Server {
    binaries: PathBuf,
    directory: PathBuf,
    /// Ends the server when its standard input is closed.
    guard: Child,
    databases: AtomicU32,
}

impl Server {
    /// Returns the server of this test process, started when first asked for. Without PostgreSQL's
    /// binaries it reports the first test as skipped, and returns `None`.
    ///
    /// # Panics
    ///
    /// If the binaries are there and the server does not start.
    #[expect(
        clippy::panic,
        reason = "a test that cannot have its server has failed"
    )]
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Server>> = OnceLock::new();
        SHARED
            .get_or_init(|| match Self::start() {
                Ok(server) => Some(server),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    crate::skipped("PostgreSQL is not installed: apt-get install postgresql");
                    None
                }
                Err(error) => panic!("PostgreSQL does not start: {error}"),
            })
            .as_ref()
    }

    /// Starts a server of its own, for a test that stops it.
    pub fn start() -> io::Result<Self> {
        let binaries = binaries().ok_or(io::ErrorKind::NotFound)?;
        let mut guard = command("sh", &binaries)
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let output = guard.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let directory = PathBuf::from(line.trim_end());
        if !directory.is_absolute() {
            return Err(io::Error::other("see above"));
        }
        Ok(Self {
            binaries,
            directory,
            guard,
            databases: AtomicU32::new(0),
        })
    }

    /// Makes an empty database and returns its address.
    pub fn database(&self) -> io::Result<String> {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"))?;
        let socket = self.directory.display().to_string().replace('/', "%2F");
        Ok(format!(
            "postgres://postgres@localhost/{name}?host={socket}"
        ))
    }

    /// Runs a statement in a database, named as in its address.
    pub fn sql(&self, database: &str, statement: &str) -> io::Result<()> {
        let done = command("psql", &self.binaries)
            .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-h"])
            .arg(&self.directory)
            .args(["-d", database, "-c", statement])
            .output()?;
        succeeded(&done)
    }

    /// Stops the server as a power failure would and starts it again.
    pub fn crash_and_restart(&self) -> io::Result<()> {
        self.control(&["-m", "immediate", "restart"])
    }

    /// Stops the server as a power failure would.
    pub fn crash(&self) -> io::Result<()> {
        self.control(&["-m", "immediate", "stop"])
    }

    /// Starts the server after [`Self::crash`].
    pub fn start_again(&self) -> io::Result<()> {
        self.control(&["start"])
    }

    fn control(&self, what: &[&str]) -> io::Result<()> {
        // The server inherits the output of who starts it, which therefore must not be a pipe.
        let done = command("pg_ctl", &self.binaries)
            .arg("-D")
            .arg(self.directory.join("data"))
            .arg("-l")
            .arg(self.directory.join("log"))
            .arg("-w")
            .args(what)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .status()?;
        if done.success() {
            return Ok(());
        }
        Err(io::Error::other(format!("pg_ctl {what:?}: {done}")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        // It has nobody to report to.
        drop(self.guard.wait());
    }
}

fn succeeded(done: &std::process::Output) -> io::Result<()> {
    if done.status.success() {
        return Ok(());
    }
    Err(io::Error::other(
        String::from_utf8_lossy(&done.stderr).into_owned(),
    ))
}

/// Returns the folder of the newest binaries.
fn binaries() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    versions
        .filter_map(|version| {
            let version = version.ok()?;
            let number: u32 = version.file_name().to_str()?.parse().ok()?;
            let folder = version.path().join("bin");
            folder.join("initdb").exists().then_some((number, folder))
        })
        .max()
        .map(|(_, folder)| folder)
}

/// Returns a command that runs as somebody PostgreSQL accepts.
fn command(program: &str, binaries: &Path) -> Command {
    let mut command = Command::new(program);
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .env("PATH", format!("{}:{path}", binaries.display()))
        .env("LC_ALL", "C")
        .env_remove("PGHOST")
        .current_dir("/");
    if rustix::process::geteuid().is_root() {
        let (user, group) = unprivileged();
        command.uid(user).gid(group).env("HOME", "/nonexistent");
    }
    command
}

/// Returns the user and group of Debian's `postgres`, or of nobody.
fn unprivileged() -> (u32, u32) {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let number = |name: &str| {
        let fields: Vec<&str> = users
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>())
            .find(|fields| fields.first() == Some(&name))?;
        Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
    };
    number("postgres")
        .or_else(|| number("nobody"))
        .unwrap_or((65_534, 65_534))
}
