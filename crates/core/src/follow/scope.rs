//! Names that a script has defined: variables, functions, aliases, parameters.
//!
//! Separate from the walk so that looking a name up cannot note an act. What defining one means
//! is judged in `walk/variables.rs`.

use std::cell::Cell;
use std::rc::Rc;

use super::value::{Arg, Taint, Value};
use crate::shell::syntax::{Command, Part, Word};

/// Variables that may be other names of variables.
const REFERENCES_MAX: usize = 64;
/// How many names for names are followed.
const REFERENCE_STEPS_MAX: usize = 4;
/// Variables of one text that may say where output goes.
const OUTPUTS_MAX: usize = 64;
/// How many functions that call functions are followed.
const CALLS_MAX: usize = 16;

/// What the names of a script stand for at this moment.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(super) variables: Variables,
    functions: Vec<(String, Rc<Function>)>,
    aliases: Vec<(String, String)>,
    /// Variables that are other names of variables.
    references: Vec<(String, String)>,
    pub(super) positional: Option<Vec<Arg>>,
    /// Whether the function at hand moves its parameters on, so that `$1` is one after the other.
    pub(super) shifts: bool,
    /// The here-documents of the text at hand.
    pub(super) documents: Rc<Vec<Word>>,
    /// Functions being followed, so that one that calls itself is not followed for ever.
    calls: Vec<String>,
    /// Whether a command that fails ends the script: `set -e`.
    pub(super) ends_on_failure: bool,
    /// Texts in variables that run a command when they are evaluated as a number.
    pub(super) loaded: Vec<String>,
    /// Variables in front of the command at hand that say where its output goes.
    pub(super) given: Vec<(String, Arg)>,
    /// Variables of this text that say where output goes.
    outputs: Vec<(String, Arg)>,
    /// What the project's files have brought into this shell.
    pub(super) brought: Brought,
    /// Where the command at hand acts, by its own words and those of the commands that start it.
    pub(super) reach: Reach,
    /// How far the variables of this text reach into production.
    pub(super) live: Live,
    /// Whether what is read here comes out as names alone.
    pub(super) names: Names,
    /// Whether a variable of this text is the address of a database elsewhere.
    pub(super) foreign_database: bool,
}

/// Whether commands that read settings let out nothing but the names of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Names {
    /// The command at hand does.
    pub(super) only: bool,
    /// The pipeline does in which the next command stands.
    pub(super) piped: bool,
}

/// Where a command acts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reach {
    /// How far it reaches into production.
    pub(super) live: Live,
    /// Inside a container that is running.
    pub(super) entered: bool,
    /// On a database file outside the workspace.
    pub(super) foreign_database: bool,
    /// On a database that may lie on another machine.
    pub(super) far_database: bool,
}

/// How far a command reaches into production, from not at all to its services.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Live {
    /// Nothing names production.
    #[default]
    No,
    /// It is built or run as in production.
    Mode,
    /// It uses the settings or the data of production.
    Data,
    /// An option says that it acts there.
    Services,
}

/// Variables with what they hold, in the order they were first set.
pub(super) type Variables = Vec<(String, Value)>;

/// What files of the project have brought into a shell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Brought {
    /// The command at hand was given the variables of a file that holds secrets.
    pub(super) variables: bool,
    /// A script of the workspace was loaded, which may define functions.
    pub(super) functions: bool,
}

/// A function that the script defines.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) body: Command,
    pub(super) documents: Rc<Vec<Word>>,
    /// Whether a command of the script calls it by its name, so that its words are known there.
    called: Cell<bool>,
}

impl Function {
    /// Remembers that a call of it was followed.
    pub(super) fn is_called(&self) {
        self.called.set(true);
    }
}

impl Scope {
    /// Whether this text has given commands of its own to any names.
    pub(super) fn has_own_commands(&self) -> bool {
        !self.functions.is_empty() || !self.aliases.is_empty()
    }

    /// Sets a variable, or the one it is another name of.
    pub(super) fn set(&mut self, name: String, value: Value) {
        match self.variables.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.variables.push((name, value)),
        }
    }

    /// Forgets a variable.
    pub(super) fn forget(&mut self, name: &str) {
        self.variables.retain(|(known, _)| known != name);
    }

    /// Marks every variable that changed since `mark`: the change may not have happened. What it
    /// would hold is still judged, so that a doubt never makes a command look better.
    pub(super) fn doubt_since(&mut self, mark: &[(String, Value)]) {
        for (name, value) in &mut self.variables {
            let before = mark
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| value);
            if before != Some(value) {
                value.taint.uncertain = true;
            }
        }
    }

    /// Puts back the variables from before a subshell. One that only the subshell has set is kept
    /// as a possibility, so that moving a command behind a pipe never makes it look better.
    pub(super) fn restore(&mut self, before: Variables) {
        let inside = std::mem::replace(&mut self.variables, before);
        for (name, mut value) in inside {
            if !self.variables.iter().any(|(known, _)| *known == name) {
                value.taint.uncertain = true;
                self.variables.push((name, value));
            }
        }
    }

    /// Makes `name` another name of the variable `target`: `declare -n`. `false` when there are
    /// too many such names.
    pub(super) fn refer(&mut self, name: &str, target: &str) -> bool {
        if self.references.len() >= REFERENCES_MAX {
            return false;
        }
        if name != target {
            self.references.push((name.to_owned(), target.to_owned()));
        }
        true
    }

    /// Returns the variable that `name` stands for.
    pub(super) fn referred<'n>(&'n self, mut name: &'n str) -> &'n str {
        for _ in 0..REFERENCE_STEPS_MAX {
            let mut references = self.references.iter().rev();
            let Some((_, target)) = references.find(|(known, _)| known == name) else {
                break;
            };
            name = target;
        }
        name
    }

    /// Returns what a parameter holds, where this text has set it.
    pub(super) fn lookup(&self, name: &str, index: Option<&Word>) -> Option<Value> {
        if let Some(value) = self.parameter(name) {
            return Some(value);
        }
        let name = self.referred(name);
        let (_, value) = self.variables.iter().find(|(known, _)| known == name)?;
        let Some(items) = &value.items else {
            return Some(value.clone());
        };
        match index.map(|index| index.parts.as_slice()) {
            Some([Part::Plain(at)]) if at == "@" || at == "*" => Some(value.clone()),
            Some([Part::Plain(at)]) => match at.parse::<usize>() {
                Ok(at) => Some(Value {
                    items: Some(items.get(at).cloned().into_iter().collect()),
                    taint: value.taint,
                }),
                Err(_) => Some(Value::unknown(value.taint)),
            },
            Some(_) => Some(Value::unknown(value.taint)),
            None => Some(Value {
                items: Some(items.first().cloned().into_iter().collect()),
                taint: value.taint,
            }),
        }
    }

    /// Returns what `$1`, `$@` and the like hold, where that is known.
    fn parameter(&self, name: &str) -> Option<Value> {
        let positional = self.positional.as_ref()?;
        if matches!(name, "@" | "*") {
            let taint = positional
                .iter()
                .fold(Taint::default(), |taint, arg| taint.and(arg.taint));
            return Some(Value {
                items: Some(positional.iter().map(|arg| arg.text.clone()).collect()),
                taint,
            });
        }
        let number = name.parse::<usize>().ok().filter(|number| *number > 0)?;
        Some(positional.get(number - 1).map_or_else(
            || Value::known(""),
            |arg| Value {
                items: Some(vec![arg.text.clone()]),
                taint: arg.taint,
            },
        ))
    }

    /// Defines a function with the here-documents of the text at hand.
    pub(super) fn define(&mut self, name: &str, body: &Command) {
        let function = Function {
            body: body.clone(),
            documents: Rc::clone(&self.documents),
            called: Cell::new(false),
        };
        self.functions.push((name.to_owned(), Rc::new(function)));
    }

    /// Returns how many functions were defined so far.
    pub(super) const fn defined(&self) -> usize {
        self.functions.len()
    }

    /// Returns the function defined at `at`, if no call of it was followed.
    pub(super) fn uncalled(&self, at: usize) -> Option<(String, Rc<Function>)> {
        let (name, function) = self.functions.get(at)?;
        (!function.called.get()).then(|| (name.clone(), Rc::clone(function)))
    }

    /// Whether a name may stand for something else than the program that is called so.
    pub(super) const fn may_rename(&self) -> bool {
        !self.functions.is_empty() || !self.aliases.is_empty() || self.brought.functions
    }

    /// Returns the function of this name.
    pub(super) fn function(&self, name: &str) -> Option<Rc<Function>> {
        let defined = self.functions.iter().rev().find(|(known, _)| known == name);
        defined.map(|(_, function)| Rc::clone(function))
    }

    /// Enters the function `name`, unless it is being followed already.
    pub(super) fn enter(&mut self, name: &str) -> bool {
        let known = self.calls.iter().any(|call| call == name);
        let enters = !known && self.calls.len() < CALLS_MAX;
        if enters {
            self.calls.push(name.to_owned());
        }
        enters
    }

    /// Enters the function `name` while it is defined.
    pub(super) fn enter_definition(&mut self, name: &str) {
        self.calls.push(name.to_owned());
    }

    /// Leaves the function entered last.
    pub(super) fn leave(&mut self) {
        self.calls.pop();
    }

    /// Remembers an alias.
    pub(super) fn alias(&mut self, name: &str, text: &str) {
        self.aliases.push((name.to_owned(), text.to_owned()));
    }

    /// Returns the text that an alias stands for.
    pub(super) fn aliased(&self, name: &str) -> Option<String> {
        let named = self.aliases.iter().rev().find(|(known, _)| known == name);
        named.map(|(_, text)| text.clone())
    }

    /// Forgets an alias, which is not expanded again inside its own text.
    pub(super) fn forget_alias(&mut self, name: &str) {
        self.aliases.retain(|(known, _)| known != name);
    }

    /// Remembers that output goes where the variable `name` says; `false` when there are too many
    /// such variables.
    pub(super) fn set_output(&mut self, name: &str, directory: Arg) -> bool {
        self.outputs.retain(|(known, _)| known != name);
        let allowed = self.outputs.len() < OUTPUTS_MAX;
        if allowed {
            self.outputs.push((name.to_owned(), directory));
        }
        allowed
    }

    /// Takes the variables that say where output goes.
    pub(super) fn take_outputs(&mut self) -> Vec<(String, Arg)> {
        std::mem::take(&mut self.outputs)
    }
}
