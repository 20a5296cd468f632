//! Commands that print what credentials are kept in: environments of containers, processes and
//! services, and states of infrastructure.
//!
//! Whatever a command prints is given to a model. Where all variables of an environment come out of a
//! pipeline, a person is asked; a name, a count or variables that hold no credentials are no question.

use super::Line;
use super::options::Hit;
use crate::act::Act;
use crate::follow::value::Arg;
use crate::follow::walk::Walk;
use crate::knowledge::Effect;
use crate::knowledge::names::{
    ENTERING, ENVIRONMENT_FIELDS, LINE_OPTIONS, SECRET_VARIABLE_WORDS, SERVICE_HOSTS,
};
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
        } else if line.name == "systemctl" && line.args.iter().any(is_show_environment) {
            "prints the environment of a service manager"
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

/// Whether of all variables only names, a count, or some that hold no credentials get through.
pub(super) fn narrows(line: &Line<'_>) -> bool {
    if !line.stdin.taint.variables {
        return false;
    }
    let words: Vec<&str> = line.args.iter().map(|arg| arg.text.as_str()).collect();
    match line.name {
        "wc" | "gwc" | "md5sum" | "sha256sum" | "cksum" => true,
        "cut" => matches!(words.concat().as_str(), "-d=-f1" | "-f1-d="),
        "awk" | "gawk" | "mawk" => words.concat().replace(' ', "") == "-F={print$1}",
        "sed" | "gsed" => matches!(
            words.as_slice(),
            ["s/=.*//" | "s/=.*$//" | "s/=.*/=/" | "s/=.*/=***/"]
        ),
        "grep" | "egrep" | "fgrep" | "rg" | "ggrep" => {
            let quiet = ["-q", "-c", "--quiet", "--count"];
            // Other options show more than the lines in which the pattern is: what stands around them.
            let plain = |hit: &Hit| LINE_OPTIONS.contains(hit.name);
            line.read.has(&quiet)
                || line.read.unknown.is_none()
                    && line.read.hits.iter().all(plain)
                    && patterns(line).all(is_plain_name)
        }
        _ => false,
    }
}

/// Returns what a command that looks for lines looks for.
fn patterns<'a>(line: &'a Line<'_>) -> impl Iterator<Item = &'a str> {
    let given = line.read.hits.iter();
    let given = given.filter(|hit| matches!(hit.name, "-e" | "--regexp"));
    let mut given = given.filter_map(|hit| hit.value.as_ref()).peekable();
    let first = given.peek().is_none();
    let first = line.read.operands.first().filter(|_| first);
    given
        .map(|arg| arg.text.as_str())
        .chain(first.map(|arg| arg.text.as_str()))
}

/// Whether a pattern picks variables whose names say that they hold no credential.
fn is_plain_name(pattern: &str) -> bool {
    const LETTERS_MIN: usize = 3;
    let pattern = pattern.replace("\\|", "|").replace("\\b", "");
    pattern.split(['|', '\n']).all(|part| {
        let name = part.trim_matches(['^', '$', '(', ')', '=', '.', '*', '+', '\\', '"']);
        let upper = name.to_ascii_uppercase();
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let names_service = || {
            let head = upper.split('_').next().unwrap_or("");
            SERVICE_HOSTS.iter().any(|(name, _)| *name == head)
        };
        let is_secret = || {
            let plain = upper.trim_matches('_');
            let is_part = |sign: &&str| upper.contains(*sign) || sign.contains(plain);
            SECRET_VARIABLE_WORDS.iter().any(|sign| is_part(&sign)) || plain == "AUTH"
        };
        name.len() >= LETTERS_MIN && name.chars().all(is_name) && !is_secret() && !names_service()
    })
}

/// Whether it prints all variables of the shell or the process.
pub(super) fn prints_all_variables(line: &Line<'_>) -> bool {
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

fn is_show_environment(arg: &Arg) -> bool {
    arg.text == "show-environment"
}

/// Whether `terraform show` prints the whole state with all that is marked as sensitive.
fn shows_state(line: &Line<'_>) -> bool {
    line.row.name.starts_with("terraform")
        && line.read.has(&["-json"])
        && line.read.operands.is_empty()
}
