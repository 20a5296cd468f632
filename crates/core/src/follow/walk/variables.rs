//! Variables, functions and aliases of a script being followed.

use std::rc::Rc;

use super::{Function, Walk, combine, is_evaluated_name, is_fork_bomb, is_secret_name};
use crate::act::Act;
use crate::follow::program::says_output;
use crate::follow::value::{Arg, Stream, Taint, Value};
use crate::knowledge::Effect;
use crate::place::{HOLE, HOME};
use crate::shell::syntax::{AssignedValue, Assignment, Command, Part, Span, Word};

/// Variables that may be other names of variables.
const REFERENCES_MAX: usize = 64;
/// Variables of one text that may say where output goes.
const OUTPUTS_MAX: usize = 64;
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
/// How many names for names are followed.
const REFERENCE_STEPS_MAX: usize = 4;

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
        let function = Rc::new(Function {
            body: body.clone(),
            documents: Rc::clone(&self.documents),
        });
        self.functions.push((name.to_owned(), function));
        // A function may be called in ways that are not seen here, so its body counts at once.
        let (variables, ground, positional) = (
            self.variables.clone(),
            self.ground.clone(),
            self.positional.take(),
        );
        self.calls.push(name.to_owned());
        self.command(body, &Stream::unknown(Taint::default()));
        self.calls.pop();
        self.variables = variables;
        self.ground = ground;
        self.positional = positional;
    }

    /// Marks every variable that changed since `mark`: the change may not have happened. What it
    /// would hold is still judged, so that a doubt never makes a command look better.
    pub(super) fn forget_since(&mut self, mark: &[(String, Value)]) {
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

    pub(super) fn assignment(&mut self, assignment: &Assignment) -> Taint {
        let index = assignment
            .index
            .as_ref()
            .map(|index| self.expand_one(index));
        if let Some(index) = &index {
            self.subscript(&index.text, index.span);
        }
        let value = match &assignment.value {
            AssignedValue::One(word) => {
                let arg = self.expand_one(word);
                let taint = arg.taint;
                self.variable_effect(&assignment.name, &arg);
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
            self.lookup(&assignment.name, None),
        ) {
            (true, Some(before)) => combine(before, value, assignment),
            _ => value,
        };
        self.assign(&assignment.name, value);
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
            self.alias(key, &value.text);
        } else if COMMAND_ARRAYS.contains(&array) {
            self.shadows_guard(key, value.span);
            self.hook(value, array);
            self.alias(key, &value.text);
        }
    }

    /// Judges `NAME=value` in front of a command: it lasts for that command only.
    pub(super) fn command_variable(&mut self, assignment: &Assignment) {
        match &assignment.value {
            AssignedValue::One(word) => {
                let arg = self.expand_one(word);
                self.variable_effect(&assignment.name, &arg);
                if says_output(&assignment.name, &arg.text) {
                    self.given.push((assignment.name.clone(), arg));
                }
            }
            AssignedValue::Array(words) => {
                let args = self.expand_all(words);
                self.elements(&assignment.name, &args);
            }
        }
    }

    /// Sets a variable.
    pub(crate) fn assign(&mut self, name: &str, value: Value) {
        // However it is set (`read`, `printf -v`, `for`), a variable does what it does.
        let text = value
            .items
            .as_ref()
            .and_then(|items| items.first())
            .cloned();
        let text = text.unwrap_or_else(|| HOLE.to_string());
        let name = self.referred(name).to_owned();
        self.variable_effect(&name, &Arg::literal(text, Span::default()));
        // `x='a[$(id)]'; (( x ))`: whoever uses the variable as a number runs the command.
        let loaded = value.items.iter().flatten();
        let loaded = loaded.filter(|item| is_evaluated_name(item)).cloned();
        self.loaded.extend(loaded);
        if let Some(text) = value.items.as_ref().and_then(|items| items.first())
            && says_output(&name, text)
        {
            let directory = Arg::literal(text.clone(), Span::default());
            self.outputs.retain(|(known, _)| *known != name);
            if self.outputs.len() < OUTPUTS_MAX {
                self.outputs.push((name.clone(), directory));
            } else {
                self.unreadable(
                    "more directories for output than can be followed",
                    Span::default(),
                );
            }
        }
        match self.variables.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.variables.push((name, value)),
        }
    }

    /// Makes `name` another name of the variable `target`: `declare -n`.
    pub(crate) fn refer(&mut self, name: &str, target: &str) {
        if self.references.len() >= REFERENCES_MAX {
            self.unreadable(
                "more names for variables than can be followed",
                Span::default(),
            );
        } else if name != target {
            self.references.push((name.to_owned(), target.to_owned()));
        }
    }

    /// Returns the variable that `name` stands for.
    fn referred<'n>(&'n self, mut name: &'n str) -> &'n str {
        for _ in 0..REFERENCE_STEPS_MAX {
            let Some((_, target)) = self
                .references
                .iter()
                .rev()
                .find(|(known, _)| known == name)
            else {
                break;
            };
            name = target;
        }
        name
    }

    /// Judges a text that is evaluated as a number: it is expanded once more on the way, and so is
    /// what variables hold that it may name.
    pub(crate) fn evaluated(&mut self, text: &str, span: Span) {
        if is_evaluated_name(text) {
            self.expanded_text(text, span);
        }
        for text in std::mem::take(&mut self.loaded) {
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
        let value = self.lookup(name, None).and_then(|value| value.items);
        match value {
            Some(items) => items.into_iter().next().unwrap_or_default(),
            None => String::new(),
        }
    }

    /// Forgets a variable or function.
    pub(crate) fn forget(&mut self, name: &str) {
        self.variables.retain(|(known, _)| known != name);
    }

    /// Returns what a parameter holds, where this text has set it.
    pub(in crate::follow) fn lookup(&self, name: &str, index: Option<&Word>) -> Option<Value> {
        if let Some(positional) = &self.positional {
            match name {
                "@" | "*" => {
                    let taint = positional
                        .iter()
                        .fold(Taint::default(), |taint, arg| taint.and(arg.taint));
                    return Some(Value {
                        items: Some(positional.iter().map(|arg| arg.text.clone()).collect()),
                        taint,
                    });
                }
                _ => {
                    if let Ok(number) = name.parse::<usize>()
                        && number > 0
                    {
                        return Some(positional.get(number - 1).map_or_else(
                            || Value::known(""),
                            |arg| Value {
                                items: Some(vec![arg.text.clone()]),
                                taint: arg.taint,
                            },
                        ));
                    }
                }
            }
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

    pub(super) fn call(
        &mut self,
        name: &str,
        function: &Rc<Function>,
        args: &[Arg],
        stdin: &Stream,
    ) -> Stream {
        if self.calls.iter().any(|call| call == name) || self.calls.len() >= 16 {
            return Stream::unknown(Taint::default());
        }
        self.calls.push(name.to_owned());
        let positional = self
            .positional
            .replace(args.iter().skip(1).cloned().collect());
        let documents = std::mem::replace(&mut self.documents, Rc::clone(&function.documents));
        let out = self.command(&function.body, stdin);
        self.documents = documents;
        self.positional = positional;
        self.calls.pop();
        out
    }

    /// Remembers an alias.
    pub(crate) fn alias(&mut self, name: &str, text: &str) {
        self.aliases.push((name.to_owned(), text.to_owned()));
    }

    /// Sets the positional parameters.
    pub(crate) fn set_positional(&mut self, args: Vec<Arg>) -> Option<Vec<Arg>> {
        self.positional.replace(args)
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
        "RANDOM" | "$" | "#" | "?" | "!" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID" => {
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
            network: false,
            ..Taint::default()
        },
    })
}
