//! Environment variables that make programs run, load or reach something.

use crate::act::Act;
use crate::knowledge::{Effect, Role, VARIABLE_EXACT, VARIABLE_STARRED, VARIABLES, VariableRow};
use crate::shell::value::Arg;
use crate::shell::walk::Walk;

impl Walk<'_> {
    /// Judges setting `name` to `value`.
    pub(crate) fn variable_effect(&mut self, name: &str, value: &Arg) {
        let Some(row) = find(name) else { return };
        let text = value.text.as_str();
        if text.is_empty() {
            return;
        }
        match row.value {
            Role::Shell | Role::Program => {
                let before = self.acts.len();
                self.hook(value, row.what);
                let worst = self
                    .acts
                    .get(before..)
                    .unwrap_or(&[])
                    .iter()
                    .map(Act::risk)
                    .max()
                    .unwrap_or_default();
                if worst >= crate::score::Score::new(250) {
                    let act = Act::new(Effect::Exec, name.to_owned(), self.here(value.span));
                    self.note(
                        act.because("sets a variable that makes programs run something")
                            .on(format!("{name} ({})", row.what)),
                    );
                }
            }
            Role::Cwd | Role::Password | Role::Text | Role::Name => {}
            Role::Config => {
                if LOADING_WORDS.iter().any(|word| text.contains(word)) {
                    let act = Act::new(Effect::Exec, name.to_owned(), self.here(value.span));
                    self.note(
                        act.because("sets a variable that makes programs load code")
                            .on(format!("{name} ({})", row.what)),
                    );
                }
            }
            Role::Script => {
                // A search path inside the project only finds what the project brings.
                for part in text.split(':').filter(|part| !part.is_empty()) {
                    let place = self.place(part);
                    if place.inside == Some(false)
                        && place.kind != crate::knowledge::PathKind::System
                        && !place.vague
                        || place.kind == crate::knowledge::PathKind::Temp
                    {
                        let act = Act::new(Effect::Exec, name.to_owned(), self.here(value.span));
                        self.note(
                            act.because("sets a variable that makes programs load code")
                                .on(format!("{name} ({})", row.what)),
                        );
                    }
                }
            }
            _ if extends_itself(name, text) => {}
            Role::Url => {
                let act = Act::new(Effect::Privilege, name.to_owned(), self.here(value.span));
                if !self.is_local_or_registry(text) {
                    self.note(
                        act.because("sends programs elsewhere for what they trust")
                            .on(format!("{name} ({})", row.what)),
                    );
                }
            }
            _ => {
                let act = Act::new(Effect::Exec, name.to_owned(), self.here(value.span));
                self.note(
                    act.because("sets a variable that makes programs load code")
                        .on(format!("{name} ({})", row.what)),
                );
            }
        }
    }
}

/// Words in compiler, interpreter and build options that load or run something.
const LOADING_WORDS: &[&str] = &[
    "-fplugin",
    "-wrapper",
    "-specs",
    "linker",
    "-toolexec",
    "-exec",
    "javaagent",
    "agentpath",
    "agentlib",
    "bootclasspath",
    "--require",
    "-r ",
    "--import",
    "--eval",
    "-e ",
    "--loader",
    "runner",
    "wrapper",
    "--init-script",
    "-p ",
    "@",
    "-B",
    "plugin",
    "load",
    "SHELL=",
    "--to-command",
    "checkpoint-action",
    "use-compress-program",
    "!",
    "|",
    "`",
    "$(",
];

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
        let plain = part
            .replace(crate::place::HOLE, "")
            .replace(crate::place::HOME, "");
        let standard = part.is_empty()
            || plain.is_empty()
            || ["/usr/", "/bin", "/sbin", "/opt/homebrew", "/snap/bin"]
                .iter()
                .any(|prefix| part.starts_with(prefix))
            || part.ends_with("/bin") && part.starts_with(crate::place::HOME);
        if name == "PATH" {
            standard || part.ends_with("node_modules/.bin") || part.ends_with("venv/bin")
        } else {
            standard || !part.starts_with('/') && !part.starts_with("..")
        }
    })
}
