//! Commands that print what credentials are kept in: environments of containers, processes and
//! services, and states of infrastructure.
//!
//! Whatever a command prints is given to a model. The agent's own environment is known to it
//! anyway; that of a container, a service or another process is not.

use super::Line;
use crate::act::Act;
use crate::follow::walk::Walk;
use crate::knowledge::Effect;
use crate::knowledge::names::{ENTERING, ENVIRONMENT_FIELDS};
use crate::score::Score;

/// Letters after which `ps` without dashes takes a value.
const VALUED_LETTERS: [char; 7] = ['o', 'O', 'k', 'p', 'q', 't', 'U'];

impl Walk<'_> {
    /// Judges a command line that prints an environment or a state with credentials in it.
    pub(super) fn discloses(&mut self, line: &Line<'_>) {
        self.scope.reach.entered |= ENTERING.contains(line.row.name);
        let why = if self.scope.reach.entered && prints_all_variables(line) {
            "prints the environment of a container"
        } else if line.name == "ps" && shows_environments(line) {
            "prints the environments of processes"
        } else if line.name == "systemctl" && names_environment(line, &["-p", "--property", "-P"]) {
            "prints the environment of a service"
        } else if line.name.ends_with("inspect") && names_environment(line, &["-f", "--format"]) {
            "prints the environment of a container"
        } else if line.name.ends_with(" show") && shows_state(line) {
            "prints a state that holds credentials"
        } else {
            return;
        };
        let act = Act::new(Effect::Secret, line.row.name, line.span).because(why);
        self.note(act.target(Score::new(300)));
    }
}

/// Whether it prints all variables of the shell or the process.
fn prints_all_variables(line: &Line<'_>) -> bool {
    let lists = || {
        line.args
            .iter()
            .all(|arg| matches!(arg.text.as_str(), "-p" | "-x" | "-px"))
    };
    match line.name {
        "set" => line.args.is_empty(),
        "export" | "declare" | "typeset" => lists(),
        _ => line.prints_environment(),
    }
}

/// Whether `ps` is told to print environments: `ps auxe`, `ps eww`. Only its options without a
/// dash can say so, and those stand before all that take a value.
fn shows_environments(line: &Line<'_>) -> bool {
    let bundles = line
        .read
        .operands
        .iter()
        .map(|operand| operand.text.as_str());
    let is_bundle = |word: &&str| word.bytes().all(|letter| letter.is_ascii_alphabetic());
    for bundle in bundles.take_while(is_bundle) {
        let end = bundle.find(VALUED_LETTERS).unwrap_or(bundle.len());
        if bundle
            .get(..end)
            .is_some_and(|letters| letters.contains('e'))
        {
            return true;
        }
        if end < bundle.len() {
            break;
        }
    }
    false
}

/// Whether the value of an option selects the environment among other fields.
fn names_environment(line: &Line<'_>, options: &[&str]) -> bool {
    let value = |value: &str| ENVIRONMENT_FIELDS.iter().any(|field| value.contains(field));
    let hits = line
        .read
        .hits
        .iter()
        .filter(|hit| options.contains(&hit.name));
    hits.filter_map(|hit| hit.value.as_ref())
        .any(|given| value(&given.text))
}

/// Whether `terraform show` prints the whole state with all that is marked as sensitive.
fn shows_state(line: &Line<'_>) -> bool {
    line.row.name.starts_with("terraform")
        && line.read.has(&["-json"])
        && line.read.operands.is_empty()
}
