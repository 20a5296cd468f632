//! Judges what a script assigns and defines: variables, functions, aliases.
//!
//! The names themselves are kept in [`crate::follow::scope`].

use std::rc::Rc;

use super::forks::is_fork_bomb;
use super::{Walk, combine, is_evaluated_name, is_secret_name};
use crate::act::Act;
use crate::follow::program::{names_production, says_output};
use crate::follow::scope::Function;
use crate::follow::value::{Arg, NOBODY, Stream, Taint, Value};
use crate::knowledge::Effect;
use crate::knowledge::names::{GENERIC_CREDENTIALS, SERVICE_HOSTS};
use crate::language::is_name_of_secret;
use crate::place::{HOLE, HOME, JOB};
use crate::shell::syntax::{AssignedValue, Assignment, Command, Span};

/// Arrays of bash and zsh whose elements are the text that runs in place of a word.
const ALIAS_ARRAYS: &[&str] = &[
    "BASH_ALIASES",
    "aliases",
    "galiases",
    "saliases",
    "functions",
];
/// Arrays of bash and zsh whose elements are the file that runs in place of a word.
const COMMAND_ARRAYS: &[&str] = &["BASH_CMDS", "commands"];

/// Builtins after which `$1` and its kin are other words than before.
const MOVING_PARAMETERS: &[&str] = &["shift", "getopts"];

/// A variable that lasts for one command, and what it held before.
pub(crate) type Lent = (String, Option<Value>);

impl Walk<'_> {
    pub(super) fn define(&mut self, name: &str, body: &Command, span: Span) {
        if is_fork_bomb(name, body) {
            let mut act = Act::new(Effect::Wipe, name.to_owned(), self.here(span))
                .because("starts copies of itself without end");
            act.marks.floor = true;
            self.note(act);
            return;
        }
        self.shadows_guard(name, span);
        self.scope.define(name, body);
    }

    /// Judges the functions from number `from` on that the script defines and does not call by their
    /// names: they may be called in ways that are not seen here, with any words.
    pub(super) fn uncalled(&mut self, from: usize) {
        let mut at = from;
        // A body may define further functions.
        while at < self.scope.defined() {
            if let Some((name, function)) = self.scope.uncalled(at) {
                let state = self.state();
                self.scope.positional = None;
                let documents =
                    std::mem::replace(&mut self.scope.documents, Rc::clone(&function.documents));
                self.scope.enter_definition(&name);
                self.command(&function.body, &Stream::unknown(Taint::default()));
                self.scope.leave();
                self.scope.documents = documents;
                self.restore(state);
            }
            at += 1;
        }
    }

    pub(super) fn assignment(&mut self, assignment: &Assignment) -> Taint {
        let index = assignment
            .index
            .as_ref()
            .map(|index| self.expand_one(index));
        if let Some(index) = &index {
            self.subscript(&index.text, index.span);
        }
        // Whether the value names a place with secrets, where nothing in between can change that.
        let mut secret = None;
        let value = match &assignment.value {
            AssignedValue::One(word) => {
                let arg = self.expand_assigned(word);
                let taint = arg.taint;
                let names_secret = self.names_secret(&arg);
                self.variable_effect_of(&assignment.name, &arg, names_secret);
                let whole = index.is_none() && !assignment.append;
                secret = (whole && !Self::is_described(&assignment.name)).then_some(names_secret);
                if let Some(index) = &index {
                    self.element_effect(&assignment.name, &index.text, &arg);
                }
                Value {
                    items: Some(vec![arg.text]),
                    taint,
                }
            }
            AssignedValue::Array(words) => {
                let args = self.expand_all(words);
                self.elements(&assignment.name, &args);
                let taint = args
                    .iter()
                    .fold(Taint::default(), |taint, arg| taint.and(arg.taint));
                Value {
                    items: Some(args.into_iter().map(|arg| arg.text).collect()),
                    taint,
                }
            }
        };
        let taint = value.taint;
        let value = match (
            assignment.append || assignment.index.is_some(),
            self.scope.lookup(&assignment.name, None),
        ) {
            (true, Some(before)) => combine(before, value, assignment),
            _ => value,
        };
        self.assign_known(&assignment.name, value, secret);
        taint
    }

    /// Judges the elements of `name=([key]=value …)`.
    fn elements(&mut self, name: &str, args: &[Arg]) {
        for arg in args {
            let element = arg.text.strip_prefix('[');
            if let Some((key, _)) = element.and_then(|element| element.split_once("]=")) {
                self.element_effect(name, key, &arg.after(key.len() + 3));
            }
        }
    }

    /// Judges setting an element of an array in which a shell keeps what a word stands for.
    pub(crate) fn element_effect(&mut self, array: &str, key: &str, value: &Arg) {
        if ALIAS_ARRAYS.contains(&array) {
            self.shadows_guard(key, value.span);
            self.text(&value.text, self.here(value.span));
            self.scope.alias(key, &value.text);
        } else if COMMAND_ARRAYS.contains(&array) {
            self.shadows_guard(key, value.span);
            self.hook(value, array);
            self.scope.alias(key, &value.text);
        }
    }

    /// Judges `NAME=value` in front of a command: it lasts for that command only.
    pub(super) fn command_variable(&mut self, assignment: &Assignment) -> Option<Lent> {
        match &assignment.value {
            AssignedValue::One(word) => {
                let arg = self.expand_assigned(word);
                self.heed_variable(&assignment.name, &arg);
                self.variable_effect(&assignment.name, &arg);
                let lent = self.lend(&assignment.name, &arg);
                if says_output(&assignment.name, &arg.text) {
                    self.scope.given.push((assignment.name.clone(), arg));
                }
                lent
            }
            AssignedValue::Array(words) => {
                let args = self.expand_all(words);
                self.elements(&assignment.name, &args);
                None
            }
        }
    }

    /// Whether the script has set a variable.
    pub(crate) fn has_variable(&self, name: &str) -> bool {
        self.scope.lookup(name, None).is_some()
    }

    /// Lets the shell that a command starts see a variable it is given, if the value names a place with
    /// secrets. Other values stay unknown there, which is stricter: `sudo` and `ssh` do not pass them on.
    pub(crate) fn lend(&mut self, name: &str, value: &Arg) -> Option<Lent> {
        if !self.names_secret(value) && !is_name_of_secret(&value.text) {
            return None;
        }
        let before = self.scope.lookup(name, None);
        let held = Value {
            items: Some(vec![value.text.clone()]),
            taint: value.taint,
        };
        self.scope.set(name.to_owned(), held);
        Some((name.to_owned(), before))
    }

    /// Ends what [`Walk::lend`] began.
    pub(crate) fn take_back(&mut self, lent: Option<Lent>) {
        match lent {
            Some((name, Some(before))) => self.scope.set(name, before),
            Some((name, None)) => self.scope.forget(&name),
            None => {}
        }
    }

    /// Sets a variable.
    pub(crate) fn assign(&mut self, name: &str, value: Value) {
        self.assign_known(name, value, None);
    }

    /// The same for a value of which may be known whether it names a place with secrets.
    fn assign_known(&mut self, name: &str, value: Value, secret: Option<bool>) {
        // However it is set (`read`, `printf -v`, `for`), a variable does what it does.
        let text = value
            .items
            .as_ref()
            .and_then(|items| items.first())
            .cloned();
        let text = text.unwrap_or_else(|| HOLE.to_string());
        let name = self.scope.referred(name).to_owned();
        self.heed_assigned(&name, &value);
        let arg = Arg::literal(text, Span::default());
        let secret = secret.unwrap_or_else(|| self.names_secret(&arg));
        self.variable_effect_of(&name, &arg, secret);
        // `x='a[$(id)]'; (( x ))`: whoever uses the variable as a number runs the command.
        let loaded = value.items.iter().flatten();
        let loaded = loaded.filter(|item| is_evaluated_name(item)).cloned();
        self.scope.loaded.extend(loaded);
        if let Some(text) = value.items.as_ref().and_then(|items| items.first())
            && says_output(&name, text)
        {
            let directory = Arg::literal(text.clone(), Span::default());
            if !self.scope.set_output(&name, directory) {
                self.unreadable(
                    "more directories for output than can be followed",
                    Span::default(),
                );
            }
        }
        self.scope.set(name, value);
    }

    /// Makes `name` another name of the variable `target`: `declare -n`.
    pub(crate) fn refer(&mut self, name: &str, target: &str) {
        if !self.scope.refer(name, target) {
            self.unreadable(
                "more names for variables than can be followed",
                Span::default(),
            );
        }
    }

    /// Judges a text that is evaluated as a number: it is expanded once more on the way, and so is
    /// what variables hold that it may name.
    pub(crate) fn evaluated(&mut self, text: &str, span: Span) {
        if is_evaluated_name(text) {
            self.expanded_text(text, span);
        }
        for text in std::mem::take(&mut self.scope.loaded) {
            self.expanded_text(&text, span);
        }
    }

    /// Judges the subscript of an array, which is a number unless it stands for all elements.
    pub(crate) fn subscript(&mut self, text: &str, span: Span) {
        if !matches!(text, "@" | "*") && text.parse::<u64>().is_err() {
            self.evaluated(text, span);
        }
    }

    /// Follows a text that is expanded as between double quotes, substitutions included.
    pub(crate) fn expanded_text(&mut self, text: &str, span: Span) {
        if text.contains(['$', '`', HOLE]) {
            let quoted = format!("echo \"{}\"", text.replace('"', "\\\""));
            self.text(&quoted, self.here(span));
        }
    }

    /// Notes that the name of the firewall's own program is given to something else.
    pub(crate) fn shadows_guard(&mut self, name: &str, span: Span) {
        if name == "countersign" {
            let act = Act::new(Effect::Guard, name.to_owned(), self.here(span));
            self.note(act.because("puts something else in place of the firewall's program"));
        }
    }

    /// Returns the text a plain variable holds; what is not known is a hole.
    pub(crate) fn text_of(&self, name: &str) -> String {
        let value = self.scope.lookup(name, None).and_then(|value| value.items);
        match value {
            Some(items) => items.into_iter().next().unwrap_or_default(),
            None => String::new(),
        }
    }

    pub(super) fn call(
        &mut self,
        name: &str,
        function: &Rc<Function>,
        args: &[Arg],
        stdin: &Stream,
    ) -> Stream {
        if !self.scope.enter(name) {
            return Stream::unknown(Taint::default());
        }
        let shifts = std::mem::take(&mut self.scope.shifts);
        let positional = self
            .scope
            .positional
            .replace(args.iter().skip(1).cloned().collect());
        let documents =
            std::mem::replace(&mut self.scope.documents, Rc::clone(&function.documents));
        let written = self.memory.mark();
        let out = self.command(&function.body, stdin);
        // It may never have been defined where it seems to be.
        self.memory.doubt_since(written);
        self.scope.documents = documents;
        self.scope.positional = positional;
        self.scope.leave();
        if !std::mem::replace(&mut self.scope.shifts, shifts) {
            function.is_called();
        }
        out
    }

    /// Forgets the parameters where a command moves them on: each round of a loop has others.
    pub(crate) fn moves_parameters(&mut self, name: &str) {
        if MOVING_PARAMETERS.contains(&name) {
            self.scope.shifts = true;
            self.scope.positional = None;
        }
    }

    /// Sets the positional parameters.
    pub(crate) fn set_positional(&mut self, args: Vec<Arg>) -> Option<Vec<Arg>> {
        self.scope.positional.replace(args)
    }
}

/// Returns what a variable that every environment has holds.
pub(in crate::follow) fn environment(name: &str) -> Option<Value> {
    let text = match name {
        "HOME" => HOME.to_string(),
        "COUNTERSIGN_HOME" => format!("{HOME}/.countersign"),
        "PWD" | "GITHUB_WORKSPACE" | "CI_PROJECT_DIR" | "BUILD_WORKSPACE_DIRECTORY" => {
            ".".to_owned()
        }
        "MAKE" => "make".to_owned(),
        "TMPDIR" | "TEMP" | "TMP" | "RUNNER_TEMP" => "/tmp".to_owned(),
        // Files through which a step tells the build server something.
        "GITHUB_ENV" | "GITHUB_OUTPUT" | "GITHUB_PATH" | "GITHUB_STEP_SUMMARY" | "GITHUB_STATE" => {
            "/tmp/runner/file_commands".to_owned()
        }
        "IFS" => " ".to_owned(),
        "SHELL" | "BASH" | "0" => "bash".to_owned(),
        "!" => format!("{HOLE}{JOB}"),
        "RANDOM" | "$" | "#" | "?" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID" => {
            HOLE.to_string()
        }
        _ => return None,
    };
    Some(Value::known(text))
}

/// Returns what a parameter holds that this text has not set.
pub(in crate::follow) fn unset_value(name: &str) -> Value {
    let known = environment(name);
    known.unwrap_or_else(|| Value {
        items: Some(vec![HOLE.to_string()]),
        taint: Taint {
            secret: is_secret_name(name),
            service: service_of(name),
            owner: if is_secret_name(name) {
                owner_of(name)
            } else {
                0
            },
            live: names_production(name),
            ..Taint::default()
        },
    })
}

/// Returns the mark of whose credential a variable holds, by how its name begins: `ACME_API_KEY`.
fn owner_of(name: &str) -> u32 {
    let first = name.split('_').next().unwrap_or("").to_ascii_lowercase();
    if first.len() < 3 || GENERIC_CREDENTIALS.contains(first.as_str()) {
        return NOBODY;
    }
    mark_of_name(&first)
}

/// Returns a number by which a short name is known again.
pub(in crate::follow) fn mark_of_name(name: &str) -> u32 {
    let mix = |mark: u32, byte: u8| (mark ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let mark = name.bytes().fold(0x811c_9dc5, mix);
    mark.clamp(1, NOBODY - 1)
}

/// Returns the service that a variable is called after, as [`Taint::service`] counts them.
fn service_of(name: &str) -> u8 {
    let called_after = |(service, _): &(&str, &[&str])| {
        let rest = name.strip_prefix(service);
        rest.is_some_and(|rest| rest.starts_with('_'))
    };
    let at = SERVICE_HOSTS.iter().position(called_after);
    at.and_then(|at| u8::try_from(at + 1).ok()).unwrap_or(0)
}
