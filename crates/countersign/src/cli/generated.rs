//! Completions and manual pages, generated from the grammar.
//!
//! Both read the same grammar as the parser, so they list exactly the commands and options there are.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::Cli;
use crate::complaint::{Complaint, written};

/// Print the completions of a shell.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

/// Write the manual pages.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write one page per command into this directory [default: print the first page]
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl Completions {
    /// Prints them.
    pub(crate) fn run(&self) -> Result<ExitCode, Complaint> {
        let mut command = Cli::command();
        let name = command.get_name().to_owned();
        let mut out = Vec::new();
        clap_complete::generate(self.shell, &mut command, name, &mut out);
        written(std::io::stdout().write_all(&out), ExitCode::SUCCESS)
    }
}

impl Man {
    /// Prints the first page, or writes them all.
    pub(crate) fn run(&self) -> Result<ExitCode, Complaint> {
        let command = Cli::command();
        let Some(directory) = &self.directory else {
            let mut out = Vec::new();
            clap_mangen::Man::new(command)
                .render(&mut out)
                .map_err(|error| Complaint::failed(format!("cannot write a page: {error}"), ""))?;
            return written(std::io::stdout().write_all(&out), ExitCode::SUCCESS);
        };
        write_pages(command, directory).map_err(|error| {
            let hint = "name a directory you may write";
            let directory = directory.display();
            Complaint::failed(format!("cannot write to {directory}: {error}"), hint)
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn write_pages(command: clap::Command, directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    clap_mangen::generate_to(command, directory)
}
