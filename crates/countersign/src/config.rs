//! Finds and reads the configuration, and reports its errors.
//!
//! `config.yaml` in the home directory is the owner's; `.countersign.yaml` in a project comes with
//! the project, so it may only tighten. Files are read only where they exist, so a machine without
//! any pays nothing for them.

pub(crate) mod borrowed;
pub(crate) mod edit;
pub(crate) mod entries;
#[cfg(test)]
mod fuzz;
mod lines;
pub(crate) mod policies;
mod programs;
pub(crate) mod read;
pub(crate) mod schema;
pub(crate) mod settings;

use std::path::{Path, PathBuf};

use countersign_core::policy::Policy;
use serde_json::Value;

use crate::complaint::Complaint;

/// Longest configuration that is read.
const CONFIG_BYTES_MAX: u64 = 1024 * 1024;
/// Parents that are searched for a project's file.
const PARENTS_MAX: usize = 64;
/// Name of a project's file.
pub(crate) const PROJECT_FILE: &str = ".countersign.yaml";

/// The home of the configuration.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    directory: PathBuf,
}

impl Home {
    /// Returns the home named on the command line, in the environment, or the usual one.
    pub(crate) fn new(named: Option<PathBuf>) -> Result<Self, Complaint> {
        Self::named_or_usual(named.or_else(|| {
            std::env::var_os("COUNTERSIGN_HOME")
                .filter(|it| !it.is_empty())
                .map(PathBuf::from)
        }))
    }

    /// Returns the home named on the command line, or the usual one.
    pub(crate) fn named_or_usual(named: Option<PathBuf>) -> Result<Self, Complaint> {
        let directory = named.or_else(|| user_home().map(|home| home.join(".countersign")));
        directory
            .map(|directory| Self { directory })
            .ok_or_else(|| {
                let hint = "set COUNTERSIGN_HOME, or use --home DIR or --no-config";
                Complaint::usage(
                    "there is no home directory to read the configuration from",
                    hint,
                )
            })
    }

    /// Returns the directory itself.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns where the owner's file is, whether or not it exists.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.join("config.yaml")
    }

    /// Returns where the agents' socket is, unless the configuration says otherwise.
    pub(crate) fn agent_socket(&self) -> PathBuf {
        self.directory.join("agent.sock")
    }

    /// Whether a gateway has run in it: the first start leaves the key of the command line.
    pub(crate) fn has_begun(&self) -> bool {
        self.command_line_key_file().exists()
    }

    /// Returns the file with the key of the command line.
    pub(crate) fn command_line_key_file(&self) -> PathBuf {
        self.directory.join("cli.key")
    }
}

/// Returns the policy of the owner's file.
pub(crate) fn load(home: &Home) -> Result<Policy, Complaint> {
    let file = home.file();
    policy_of(values(&file)?.as_ref(), &file)
}

/// Returns the policy of the owner's `file`, which holds `values`.
fn policy_of(values: Option<&Value>, file: &Path) -> Result<Policy, Complaint> {
    let Some(values) = values else {
        return Ok(Policy::default());
    };
    let changes = read::changes(values).map_err(|problem| problem.in_file(file))?;
    Ok(Policy::default().with(changes))
}

/// Returns the policy for a call from `cwd`, for a process that judges alone. `None` where it cannot
/// know everything that counts: programs of the owner have a say, or the home is closed to it.
pub(crate) fn whole_policy(home: &Home, cwd: Option<&str>) -> Result<Option<Policy>, Complaint> {
    let file = home.file();
    let is_closed = std::fs::File::open(&file)
        .is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied);
    if is_closed {
        return Ok(None);
    }
    let values = values(&file)?;
    if values.as_ref().is_some_and(settings::has_assessors) {
        return Ok(None);
    }
    let policy = policy_of(values.as_ref(), &file)?;
    match cwd.and_then(|cwd| project_file(Path::new(cwd), home)) {
        None => Ok(Some(policy)),
        Some(file) => tighten(&policy, &file).map(Some),
    }
}

/// Returns `policy` with what the project's `file` tightens.
pub(crate) fn tighten(policy: &Policy, file: &Path) -> Result<Policy, Complaint> {
    let Some(values) = values(file)? else {
        return Ok(policy.clone());
    };
    let changes = read::project_changes(&values).map_err(|problem| problem.in_file(file))?;
    policy.clone().tightened(changes).map_err(|error| {
        let hint = format!(
            "remove `{}` from {}; it belongs in the owner's config.yaml",
            error.key,
            file.display()
        );
        Complaint::usage(format!("{}: {error}", file.display()), hint)
    })
}

/// Returns the project's file that holds for `directory`: its own or the nearest parent's, up to
/// the user's home.
pub(crate) fn project_file(directory: &Path, home: &Home) -> Option<PathBuf> {
    if !directory.is_absolute() {
        return None;
    }
    let stop = user_home();
    for parent in directory.ancestors().take(PARENTS_MAX) {
        if stop.as_deref() == Some(parent) || parent == home.directory {
            return None;
        }
        let file = parent.join(PROJECT_FILE);
        if file.is_file() {
            return Some(file);
        }
    }
    None
}

/// Reads and checks `file`; `None` if there is none.
pub(crate) fn values(file: &Path) -> Result<Option<Value>, Complaint> {
    let metadata = match std::fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(file, &error.to_string())),
    };
    if metadata.len() > CONFIG_BYTES_MAX {
        return Err(unreadable(file, "it is longer than 1 MiB"));
    }
    let text =
        std::fs::read_to_string(file).map_err(|error| unreadable(file, &error.to_string()))?;
    let values = parse(&text).map_err(|problem| problem.in_file(file))?;
    Ok(Some(values))
}

/// Parses `text` and checks it against the schema.
pub(crate) fn parse(text: &str) -> Result<Value, schema::Problem> {
    let values: Value = serde_saphyr::from_str(text).map_err(|error| {
        let place = error
            .location()
            .map(|at| format!(" at line {}, column {}", at.line(), at.column()));
        let message = error.without_snippet().to_string();
        // The parser's advice to programmers and its own account of the place are of no use here.
        let message = message.lines().next().unwrap_or("it cannot be parsed");
        let message = message.split(" at line ").next().unwrap_or(message);
        let message = message.split(", set ").next().unwrap_or(message);
        schema::Problem::new(
            "",
            format!("it is not YAML{}: {message}", place.unwrap_or_default()),
            "",
        )
    })?;
    let values = if values.is_null() {
        Value::Object(serde_json::Map::new())
    } else {
        values
    };
    schema::check(&values)?;
    Ok(values)
}

fn unreadable(file: &Path, why: &str) -> Complaint {
    let hint = "fix the file, or use --no-config to judge without it";
    Complaint::usage(format!("cannot read {}: {why}", file.display()), hint)
}

fn user_home() -> Option<PathBuf> {
    std::env::var_os("HOME")
        .filter(|home| !home.is_empty())
        .map(PathBuf::from)
}
