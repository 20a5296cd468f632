//! Where agents keep their settings on this machine, and checks that all of them share.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::super::gateway::OURS;
use super::super::report::Line;
use super::super::settings::{self, Dialect, Entry, Invocation};
use crate::hook::adapter::Adapter;
use crate::init;
use crate::init::find::{Version, is_program};

/// How much longer than its hook an agent must wait, at least.
const MARGIN: Duration = Duration::from_secs(5);
/// One agent on this machine.
pub(super) struct Place<'a> {
    pub(super) adapter: &'static Adapter,
    /// Where things are.
    pub(super) machine: &'a init::Place,
    /// The current folder.
    pub(super) here: &'a Path,
    /// The file of its settings that starts our hook.
    pub(super) file: PathBuf,
    /// The agent's version.
    pub(super) version: Option<Version>,
    /// Asks another program of ours for its version.
    pub(super) version_of: &'a dyn Fn(&Path) -> Option<String>,
}

/// What the settings of an agent say about our hook.
#[derive(Clone, Debug)]
pub(super) enum Setup {
    /// It is not there: what was found instead.
    Missing(String),
    /// It is there, and this is how it is.
    There(Vec<Line>),
}

impl Setup {
    /// A file without our hook.
    pub(super) fn missing(file: &Path) -> Self {
        Self::Missing(format!("its hook is not in {}", file.display()))
    }

    pub(super) const fn is_there(&self) -> bool {
        match self {
            Self::Missing(_) => false,
            Self::There(_) => true,
        }
    }
}

/// What the agent does with a call whose hook took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Late {
    /// It runs the call.
    Runs,
    /// It takes that for a deny.
    IsDenied,
}

impl Place<'_> {
    pub(super) fn ok(&self, found: impl AsRef<str>) -> Line {
        Line::ok(self.adapter.name, found)
    }

    pub(super) fn warn(&self, found: impl AsRef<str>, fix: impl AsRef<str>) -> Line {
        Line::warn(self.adapter.name, found, fix)
    }

    pub(super) fn fail(&self, found: impl AsRef<str>, fix: impl AsRef<str>) -> Line {
        Line::fail(self.adapter.name, found, fix)
    }

    /// Returns the command that sets the agent up.
    pub(super) fn init(&self) -> String {
        format!("countersign init {}", self.adapter.name)
    }

    /// A settings file that the agent cannot read, and so ignores with every hook in it.
    pub(super) fn unreadable(&self, why: &str) -> Setup {
        let fix = format!("repair it by hand, then `{}`", self.init());
        Setup::There(vec![self.fail(why, fix)])
    }

    /// Checks the program that the hook in `file` starts, and the home it uses.
    pub(super) fn starts(&self, file: &Path, invocation: &Invocation) -> Vec<Line> {
        let mut lines = vec![self.program(file, &invocation.program)];
        let own = Path::new(&self.machine.directory);
        let usual = || self.machine.user.join(".countersign");
        let named = invocation.home.clone().unwrap_or_else(usual);
        if !is_same(&named, own) {
            lines.push(self.warn(
                format!(
                    "its hook uses the home {}, this is {}",
                    named.display(),
                    own.display()
                ),
                format!("`{}`, or look at that home with --home", self.init()),
            ));
        }
        lines
    }

    fn program(&self, file: &Path, program: &Path) -> Line {
        let (file, shown) = (file.display(), program.display());
        if !program.is_absolute() {
            return self.warn(
                format!("its hook in {file} starts `{shown}`, whatever PATH finds"),
                self.init(),
            );
        }
        if !program.exists() {
            let found = format!("its hook in {file} starts {shown}, which does not exist");
            return self.fail(found, self.init());
        }
        if !is_program(program) {
            let found = format!("its hook in {file} starts {shown}, which is not a program");
            return self.fail(found, self.init());
        }
        if is_same(program, Path::new(&self.machine.program)) {
            return self.ok(format!("its hook in {file} starts this program"));
        }
        let version = (self.version_of)(program);
        match version {
            Some(version) if version == OURS => self.ok(format!(
                "its hook in {file} starts {shown}, also version {OURS}"
            )),
            Some(version) => self.warn(
                format!("its hook in {file} starts {shown}, version {version}; this is {OURS}"),
                self.init(),
            ),
            None => self.fail(
                format!("its hook in {file} starts {shown}, which does not say its version"),
                self.init(),
            ),
        }
    }

    /// Checks that the agent waits longer for its hook than the hook waits for a person. `seconds` is
    /// what the settings say.
    pub(super) fn patience(&self, entry: &Entry<'_>, seconds: f64, late: Late) -> Option<Line> {
        let patience = self.adapter.patience;
        let needed = match entry.invocation.wait {
            Some(wait) => patience.min(Duration::from_secs(wait) + MARGIN),
            None => patience,
        };
        let needed = needed.as_secs_f64();
        if seconds >= needed {
            return None;
        }
        let found = format!("it gives its hook {seconds} s, but the hook waits up to {needed} s");
        Some(match late {
            Late::Runs => self.fail(format!("{found}: then the call runs unasked"), self.init()),
            Late::IsDenied => self.warn(
                format!("{found}: then the call is denied, and the answer comes too late"),
                self.init(),
            ),
        })
    }

    /// Checks that a hook which fails is a deny.
    pub(super) fn guarded(&self, entry: &Entry<'_>) -> Line {
        if entry.invocation.is_guarded {
            return self.ok("a hook that fails denies the call");
        }
        self.fail(
            "a hook that crashes or is missing lets the call run",
            self.init(),
        )
    }

    /// Looks for a switch in the settings of the current folder that takes hooks away.
    pub(super) fn switched_off(
        &self,
        files: &[&str],
        dialect: Dialect,
        is_off: fn(&Value) -> Option<&'static str>,
    ) -> Vec<Line> {
        let mut lines = Vec::new();
        for name in files {
            let file = self.here.join(name);
            let Ok(Some(values)) = settings::read(&file, dialect) else {
                continue;
            };
            if let Some(switch) = is_off(&values) {
                lines.push(self.off(&file, switch));
            }
        }
        lines
    }

    /// A switch that takes the hook away.
    pub(super) fn off(&self, file: &Path, switch: &str) -> Line {
        self.fail(
            format!("{} has {switch}: its hook is not asked", file.display()),
            format!("remove {switch} from that file"),
        )
    }
}

/// Whether two paths name the same file, however they are written.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        (Ok(_) | Err(_), Ok(_) | Err(_)) => one == other,
    }
}

/// A made-up machine: the home of a person and this program.
#[cfg(test)]
pub(super) struct Machine {
    directory: tempfile::TempDir,
    place: init::Place,
    adapter: &'static Adapter,
    pub(super) version: Option<Version>,
}

#[cfg(test)]
impl Machine {
    pub(super) fn new(agent: &str) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().to_owned();
        let program = root.join("bin/countersign");
        let place = init::Place::made_up(&root.join("ana"), program.to_str().unwrap());
        let adapter = crate::hook::adapter::named(agent).unwrap();
        let machine = Self {
            directory,
            place,
            adapter,
            version: None,
        };
        machine.write("bin/countersign", "#!/bin/sh\n");
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
        machine
    }

    /// Writes a file. `ROOT` in its text is the root of the machine.
    pub(super) fn write(&self, name: &str, text: &str) {
        let file = self.directory.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text.replace("ROOT", &self.root())).unwrap();
    }

    /// Sets a variable that names a folder of the machine.
    pub(super) fn set(&mut self, variable: &str, folder: &str) {
        let folder = self.path(folder);
        self.place.set(variable, folder);
    }

    pub(super) fn root(&self) -> String {
        self.directory.path().display().to_string()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Returns what `setup` finds, as people see it.
    pub(super) fn setup(&self, setup: fn(&Place<'_>) -> Setup) -> String {
        let agent = init::agents::named(self.adapter.name).unwrap();
        let found = setup(&Place {
            adapter: self.adapter,
            machine: &self.place,
            here: &self.path("project"),
            file: (agent.files)(&self.place).remove(0).path,
            version: self.version,
            version_of: &|_| Some("0.0.9".to_owned()),
        });
        let text = match found {
            Setup::Missing(found) => format!("missing: {found}\n"),
            Setup::There(lines) => super::super::report::plain(&lines),
        };
        text.replace(&self.root(), "ROOT")
    }
}
