//! Puts the firewall in front of an agent: writes the hook into its settings, and takes it out again.
//!
//! [`agents`] knows each agent's files and is text in, text out. [`plan`] compares these texts with
//! the disk, [`files`] writes them, and [`record`] keeps the originals for the way back.

pub(crate) mod agents;
pub(crate) mod command;
pub(crate) mod files;
pub(crate) mod find;
mod json;
pub(crate) mod mcp;
pub(crate) mod plan;
mod record;
pub(crate) mod service;
#[cfg(test)]
mod tests;
mod yaml;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::complaint::Complaint;
use crate::config::Home;

/// Where things are on this machine.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The person's home directory.
    pub(crate) user: PathBuf,
    /// This program.
    pub(crate) program: String,
    /// The home of the configuration and the keys.
    pub(crate) home: Home,
    /// The same as an absolute path.
    pub(crate) directory: String,
    /// Where programs are looked for.
    pub(crate) search: OsString,
    /// The directory in which this runs, whose settings count where a project has its own.
    pub(crate) project: PathBuf,
    /// Folders that variables such as `CODEX_HOME` name.
    named: Vec<(String, PathBuf)>,
}

impl Place {
    /// Returns this machine as the running process sees it.
    pub(crate) fn here(home: Option<PathBuf>) -> Result<Self, Complaint> {
        let program = std::env::current_exe().map_err(|error| {
            let hint = "start it by its absolute path";
            Complaint::failed(
                format!("cannot find out where this program is: {error}"),
                hint,
            )
        })?;
        let user = std::env::var_os("HOME").filter(|home| !home.is_empty());
        let user = user.map(PathBuf::from).ok_or_else(|| {
            Complaint::usage(
                "HOME is not set, so the agents' settings cannot be found",
                "set HOME",
            )
        })?;
        let home = Home::new(home)?;
        let directory = std::path::absolute(home.directory())
            .map_err(|error| Complaint::failed(format!("cannot find the home: {error}"), ""))?;
        let clients = mcp::ROWS.iter().map(|row| &row.agent);
        let variables = agents::AGENTS
            .iter()
            .chain(clients)
            .flat_map(|agent| agent.variables);
        let named = variables.filter_map(|name| {
            let folder = std::env::var_os(name).filter(|it| !it.is_empty())?;
            Some(((*name).to_owned(), PathBuf::from(folder)))
        });
        Ok(Self {
            user,
            program: text(&program)?,
            directory: text(&directory)?,
            home: Home::new(Some(directory))?,
            search: std::env::var_os("PATH").unwrap_or_default(),
            project: std::env::current_dir().unwrap_or_default(),
            named: named.collect(),
        })
    }

    /// Returns the folder that the variable `name` names, otherwise `usual` below the home directory.
    pub(crate) fn folder(&self, name: &str, usual: &str) -> PathBuf {
        self.named(name).unwrap_or_else(|| self.user.join(usual))
    }

    /// Returns the folder that the variable `name` names.
    pub(crate) fn named(&self, name: &str) -> Option<PathBuf> {
        let found = self.named.iter().find(|(it, _)| it == name);
        found.map(|(_, folder)| folder.clone())
    }

    /// Whether the home is where every command looks for it without being told.
    pub(crate) fn is_usual_home(&self) -> bool {
        Path::new(&self.directory) == self.user.join(".countersign")
    }

    #[cfg(test)]
    pub(crate) fn set(&mut self, variable: &str, folder: PathBuf) {
        self.named.push((variable.to_owned(), folder));
    }

    #[cfg(test)]
    pub(crate) fn made_up(user: &Path, program: &str) -> Self {
        let directory = user.join(".countersign");
        Self {
            user: user.to_owned(),
            program: program.to_owned(),
            directory: directory.to_str().unwrap().to_owned(),
            home: Home::new(Some(directory)).unwrap(),
            search: user.join("bin").into_os_string(),
            project: user.join("project"),
            named: Vec::new(),
        }
    }
}

fn text(path: &Path) -> Result<String, Complaint> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Complaint::failed(
            format!(
                "{} is not valid UTF-8 and cannot stand in settings",
                path.display()
            ),
            "move it to a path that is",
        )
    })
}
