//! Environment variables that make programs run, load or contact something.

use super::network::is_local_or_registry;
use super::resolve::{is_program_files, is_tool_place};
use crate::act::Act;
use crate::follow::value::Arg;
use crate::follow::walk::{Walk, Writing};
use crate::knowledge::names::{LOADING_OPTION_WORDS, TOOL_DIRECTORIES, TOOLCHAIN_DIRECTORIES};
use crate::knowledge::{
    Effect, PathKind, Role, VARIABLE_EXACT, VARIABLE_STARRED, VARIABLES, VariableRow,
};
use crate::place::{HOLE, HOME};
use crate::shell::syntax::Span;
use crate::written::Wanted;

impl Walk<'_> {
    /// Judges setting `name` to `value`.
    pub(crate) fn variable_effect(&mut self, name: &str, value: &Arg) {
        let secret = self.names_secret(value);
        self.variable_effect_of(name, value, secret);
    }

    /// The same for a value of which is known whether it names a place with secrets.
    pub(crate) fn variable_effect_of(&mut self, name: &str, value: &Arg, secret: bool) {
        if secret {
            self.memory.name(value.clone());
        }
        let Some(row) = find(name) else { return };
        let text = value.text.as_str();
        if text.is_empty() {
            return;
        }
        if matches!(row.value, Role::Shell | Role::Program) {
            let ((), heard) = self.listening(|walk| walk.hook(value, row.what));
            if heard.is_noticeable() {
                let why = "sets a variable that makes programs run something";
                self.note_variable(Effect::Exec, why, name, value, row);
            }
        } else if row.value == Role::Config {
            if LOADING_OPTION_WORDS.iter().any(|word| text.contains(word)) {
                self.note_variable(Effect::Exec, LOADS_CODE, name, value, row);
            }
        } else if row.value == Role::Expanded {
            self.expanded_text(text, value.span);
        } else if row.value == Role::Toolchain {
            if self.is_strange_toolchain(text) {
                self.note_variable(Effect::Exec, LOADS_CODE, name, value, row);
            }
        } else if row.value == Role::Script {
            // A search path inside the project only finds what the project brings.
            for part in text.split(':').filter(|part| !part.is_empty()) {
                let place = self.place(part);
                let foreign =
                    place.inside == Some(false) && place.kind != PathKind::System && !place.vague;
                // Settings that the same agent wrote are obeyed under whatever name it chose.
                let written = place.inside == Some(true) && !self.may_hold(&place.path).is_empty();
                if foreign || written || place.kind == PathKind::Temp {
                    self.note_variable(Effect::Exec, LOADS_CODE, name, value, row);
                }
            }
        } else if matches!(
            row.value,
            Role::Cwd | Role::Password | Role::Text | Role::Name
        ) || extends_itself(name, text)
            || name == "PATH" && self.is_own_path(text)
        {
            if name == "PATH" && self.finds_written(text) {
                self.note_variable(Effect::Exec, FINDS_WRITTEN, name, value, row);
            }
            // Nothing runs or loads by it.
        } else if row.value == Role::Context {
            self.turns_to(value, row.what);
        } else if row.value == Role::Load {
            self.loads(value, row.what);
            self.writes(value, row.what, Writing::Create);
        } else if row.value == Role::Read {
            self.reads(value, row.what);
        } else if matches!(row.value, Role::Write | Role::Edit | Role::Create) {
            self.writes(value, row.what, Writing::Create);
        } else if row.value == Role::Url {
            if !is_local_or_registry(text) {
                let why = "changes where programs get trusted data";
                self.note_variable(Effect::Privilege, why, name, value, row);
            }
        } else {
            self.note_variable(Effect::Exec, LOADS_CODE, name, value, row);
        }
    }

    /// Whether a table says what setting `name` does.
    pub(crate) fn is_described(name: &str) -> bool {
        find(name).is_some()
    }

    /// Judges code that reads a file whose name it computes: variables may hold the name, and the
    /// directory the file.
    pub(super) fn reads_named(&mut self, program: &str, span: Span) {
        for value in self.memory.named() {
            self.reads(&value, program);
        }
        self.may_read(&Arg::literal("./x", span), program);
    }

    /// Whether a toolchain lies where none is installed. A name without a slash is one that is.
    fn is_strange_toolchain(&mut self, text: &str) -> bool {
        if !text.contains(['/', '\\', HOME]) {
            return false;
        }
        let place = self.place(text);
        let usual = TOOLCHAIN_DIRECTORIES
            .iter()
            .any(|start| place.path.starts_with(start));
        let foreign = place.inside == Some(false) && !usual && !self.is_install_folder(text);
        place.kind == PathKind::Temp || foreign && !place.vague
    }

    /// Whether a search path only gains directories that package managers fill, or those of a trusted
    /// workspace: what lies there may run anyway. The rest of the path has to be the path as it was.
    fn is_own_path(&mut self, text: &str) -> bool {
        let trusts = self.knows.trusts_workspace;
        text.split(':').all(|part| {
            let place = self.place(part);
            extends_itself("PATH", part)
                || is_filled_by_managers(&self.ground.resolve(part))
                || self.is_install_folder(part)
                || self.lies_in_environment(&self.ground.place(&format!("{part}/python")))
                || trusts && !part.is_empty() && place.inside == Some(true) && !place.vague
        })
    }

    /// Whether this session wrote a file right into a directory of a search path: it would run under
    /// the name of any program.
    fn finds_written(&mut self, text: &str) -> bool {
        if text.split(':').nth(PATH_PARTS_MAX).is_some() {
            return true;
        }
        text.split(':').any(|part| {
            let place = self.place(part);
            if part.is_empty() || place.vague {
                return false;
            }
            self.memory.want(Wanted::Directory(place.path.clone()));
            let is_here = |path: &str| {
                let rest = path.strip_prefix(place.path.as_str());
                let name = rest.and_then(|rest| rest.strip_prefix('/'));
                name.is_some_and(|name| !name.contains('/') && may_run(name))
            };
            let earlier = self.knows.written.within(&place.path);
            self.memory.is_filled(&place.path)
                || self.memory.paths().any(is_here)
                || earlier.map(|(path, _)| path).any(is_here)
        })
    }

    fn note_variable(
        &mut self,
        effect: Effect,
        why: &'static str,
        name: &str,
        value: &Arg,
        row: &'static VariableRow,
    ) {
        let act = Act::new(effect, name.to_owned(), self.here(value.span)).because(why);
        self.note(act.on(format!("{name} ({})", row.what)));
    }
}

/// Directories of a search path that are looked at; a longer path is put to a person.
const PATH_PARTS_MAX: usize = 16;

/// Whether programs are called by such a name: `ls`, `python3.11`. One with an ending of letters is data
/// or source.
fn may_run(name: &str) -> bool {
    name.rsplit_once('.').is_none_or(|(_, ending)| {
        matches!(ending, "sh" | "py" | "exe")
            || !ending.bytes().all(|byte| byte.is_ascii_lowercase())
    })
}

/// Whether a directory is one that package managers of the machine or its user fill.
fn is_filled_by_managers(directory: &str) -> bool {
    let of_home = directory.strip_prefix(HOME).unwrap_or("");
    let of_home = of_home.strip_prefix('/').unwrap_or("");
    is_tool_place(directory) || is_program_files(directory) || TOOL_DIRECTORIES.contains(of_home)
}

/// Why a search path is a question although its directories are the project's own.
const FINDS_WRITTEN: &str = "finds programs in a directory that this session wrote to";

/// Why a variable that names code is a question.
const LOADS_CODE: &str = "sets a variable that makes programs load code";

fn find(name: &str) -> Option<&'static VariableRow> {
    let row = match VARIABLE_EXACT.binary_search_by(|(known, _)| (*known).cmp(name)) {
        Ok(at) => VARIABLE_EXACT.get(at).map(|(_, row)| *row),
        Err(_) => VARIABLE_STARRED
            .iter()
            .find(|(start, end, _)| {
                name.len() >= start.len() + end.len()
                    && name.starts_with(start)
                    && name.ends_with(end)
            })
            .map(|(_, _, row)| *row),
    };
    VARIABLES.get(usize::from(row?))
}

/// Whether a search path only gains directories that are the project's or the system's own.
fn extends_itself(name: &str, value: &str) -> bool {
    if !matches!(
        name,
        "PATH"
            | "LD_LIBRARY_PATH"
            | "PYTHONPATH"
            | "NODE_PATH"
            | "DYLD_LIBRARY_PATH"
            | "CLASSPATH"
            | "RUBYLIB"
            | "PERL5LIB"
    ) {
        return false;
    }
    let separator = if value.contains(';') { ';' } else { ':' };
    value.split(separator).all(|part| {
        let part = part.trim();
        let plain = part.replace([HOLE, HOME], "");
        let standard = part.is_empty()
            || plain.is_empty()
            || ["/usr/", "/bin", "/sbin", "/opt/homebrew", "/snap/bin"]
                .iter()
                .any(|prefix| part.starts_with(prefix))
            || part.ends_with("/bin") && part.starts_with(HOME);
        if name == "PATH" {
            standard || part.ends_with("node_modules/.bin") || part.ends_with("venv/bin")
        } else {
            standard || !part.starts_with('/') && !part.starts_with("..")
        }
    })
}
