//! Places with programs that somebody made on purpose: virtual environments that this session made, and the
//! folders into which programs are installed.
//!
//! A virtual environment outside the workspace holds what its maker put there. It is known by the file that
//! says so, which is remembered as built by the command that makes one: a file of that name that anybody
//! else writes has another content.

use super::Line;
use super::resolve::find_program;
use super::roles::operand_roles;
use crate::follow::value::{Arg, Stream};
use crate::follow::walk::Walk;
use crate::knowledge::Role;
use crate::knowledge::names::{ENVIRONMENT_MAKERS, INSTALL_FOLDERS};
use crate::place::{HOLE, Place};
use crate::written::{Content, Wanted, name, parent};

/// The file that makes a directory a virtual environment.
const MARK: &str = "pyvenv.cfg";

impl Walk<'_> {
    /// Remembers the virtual environment that a command makes outside the workspace.
    pub(super) fn remember_environment(&mut self, line: &Line<'_>) {
        // With `--help` nothing is made, whatever else is said.
        let asks = line
            .read
            .hits
            .iter()
            .any(|hit| matches!(hit.name, "-h" | "--help" | "--version"));
        if !ENVIRONMENT_MAKERS.contains(line.row.name) || line.read.others > 0 || asks {
            return;
        }
        let roles = operand_roles(line.row, line.read);
        for (operand, role) in line.read.operands.iter().zip(roles) {
            let place = self.ground.place(&operand.text);
            let outside = place.inside == Some(false) && !place.vague && !operand.glob;
            if role == Some(Role::Create) && outside {
                self.memory.build(format!("{}/{MARK}", place.path));
            }
        }
    }

    /// Whether the program that a word names lies in a virtual environment that this session made, and
    /// nothing else has put it there.
    pub(super) fn is_of_environment(&mut self, program: &Arg) -> bool {
        if program.vague() || program.glob {
            return false;
        }
        let place = self.place(&program.text);
        self.lies_in_environment(&place)
    }

    /// Runs a program of a virtual environment, which is known by its name.
    pub(super) fn run_tool(&mut self, first: &Arg, rest: &[Arg], stdin: &Stream) -> Stream {
        let base = first.text.rsplit(['/', '\\']).next().unwrap_or("");
        match find_program(base) {
            Some((program, name)) => self.known_program(program, &name, first, rest, stdin),
            None => self.unknown_program(base, first, rest).telling(),
        }
    }

    /// The same for a place.
    pub(super) fn lies_in_environment(&mut self, place: &Place) -> bool {
        let programs = parent(&place.path);
        let environment = parent(programs);
        let usual = matches!(name(programs), "bin" | "Scripts");
        let outside = place.inside == Some(false) && !place.vague;
        if !usual || !outside || !self.knows.trusts_workspace || self.memory.has_lost_files() {
            return false;
        }
        let own = self.memory.behind_link(&place.path).is_none()
            && [&place.path, programs, environment]
                .iter()
                .all(|path| self.may_hold(path).is_empty());
        own && self.is_settled(&place.path) && self.is_environment(environment)
    }

    /// Whether this session made the virtual environment at `path`.
    fn is_environment(&mut self, path: &str) -> bool {
        let mark = format!("{path}/{MARK}");
        let now = self.memory.is_built(&mark);
        let before: Vec<&Content> = self.knows.written.at(&mark).collect();
        let known = now.is_some() || !before.is_empty();
        let made = before.iter().all(|content| **content == Content::Built);
        self.memory.want(Wanted::File(mark.clone()));
        known && made && now.unwrap_or(true)
    }

    /// Whether a directory belongs to a folder into which programs are installed, and this session has put
    /// nothing there. Whoever writes there is asked about it.
    pub(super) fn is_install_folder(&mut self, directory: &str) -> bool {
        let place = self.place(directory);
        let path = place.path.replace('\\', "/");
        let below = |folder: &&str| {
            let front = path.get(..folder.len());
            let rest = path.get(folder.len()..).unwrap_or("");
            front.is_some_and(|front| front.eq_ignore_ascii_case(folder))
                && rest
                    .strip_prefix('/')
                    .is_some_and(|rest| rest.contains('/'))
        };
        let on_drive = |folder: &&str| {
            let (drive, rest) = path.split_once('/').unwrap_or((&path, ""));
            let (drive, rest) = if drive.is_empty() {
                rest.split_once('/').unwrap_or((rest, ""))
            } else {
                (drive, rest)
            };
            let letter = drive.trim_end_matches(':');
            let is_drive = letter.len() == 1 && letter.bytes().all(|it| it.is_ascii_alphabetic());
            let name = folder.strip_prefix("*:/").unwrap_or("\0");
            let front = rest.get(..name.len());
            let behind = rest.get(name.len()..).unwrap_or("");
            is_drive
                && front.is_some_and(|front| front.eq_ignore_ascii_case(name))
                && behind.len() > 1
                && behind.starts_with('/')
        };
        let installed = INSTALL_FOLDERS
            .iter()
            .any(|folder| below(&folder) || on_drive(&folder));
        installed
            && place.inside != Some(true)
            && !place.vague
            && !directory.contains(HOLE)
            && !directory.contains("..")
            && self.is_settled(&format!("{path}/x"))
    }
}
