//! Methods and attributes: which of them act on files, send, or lead to other code.

use super::effects;
use super::lexer::Token;
use super::values::{Made, Range};
use super::{COMPUTED, FOREIGN_CODE, NOT_UNDERSTOOD, Reader};
use crate::knowledge::languages::Call;
use crate::knowledge::{CallReader, Role, Syntax};

impl Reader<'_> {
    /// Checks names chained to the value at `at`; the last may act on a file the value stands for.
    pub(super) fn check_chain(&mut self, members: &[String], at: usize, end: usize) {
        let Some((last, before)) = members.split_last() else {
            return;
        };
        match self.script.members.get(last) {
            Some(call) if self.follows() => {
                self.check_members(before, end);
                self.acts(call, (at, end.saturating_sub(2)), end);
            }
            _ => self.check_members(members, end),
        }
    }

    /// Whether values of this language are followed.
    fn follows(&self) -> bool {
        matches!(self.script.syntax, Syntax::Python | Syntax::JavaScript)
    }

    /// Judges a method with effects that is called at `end` on the value in `receiver`.
    fn acts(&mut self, call: &'static Call, receiver: Range, end: usize) {
        if !self.is_call(end) {
            // Whoever gets the method calls it.
            self.reading.hide(COMPUTED);
            return;
        }
        let arguments = self.arguments(end);
        // `Image.open("a.png")`: the object is a library, which is given the file.
        let library = match self.tokens.get(receiver.0) {
            Some(Token::Name(name)) => self.paths.get(name),
            _ => None,
        };
        let is_path = |path: &String| path.starts_with("pathlib");
        if library.is_some_and(|path| !is_path(path) && call.reader == Some(CallReader::Open)) {
            effects::apply(call, &arguments, &mut self.reading);
            return;
        }
        let made = self.values.of(receiver);
        // A statement is one only where there is a database, or where it says so itself.
        let no_statement = call.takes(Role::Sql) && !self.speaks_sql();
        if no_statement {
            self.reading.wonder(NOT_UNDERSTOOD);
            effects::spelt_statement(&arguments, &mut self.reading);
            return;
        }
        // Columns are renamed by a table of names, or by name of the argument.
        if effects::moves(call) && !arguments.names_one_file() {
            self.reading.wonder(NOT_UNDERSTOOD);
            return;
        }
        effects::apply_to(call, &made, &arguments, &mut self.reading);
    }

    fn speaks_sql(&self) -> bool {
        self.reading.imports.iter().any(|module| {
            let first = module.split('.').next().unwrap_or(module);
            self.script.databases.contains(first)
        })
    }

    /// Whether the path is an allowed attribute of a module, with members behind it.
    pub(super) fn is_listed(&mut self, parts: &[String], end: usize) -> bool {
        for split in 1..parts.len() {
            let (Some(module), Some(attribute)) = (parts.get(..split), parts.get(split)) else {
                continue;
            };
            let module = module.join(".");
            let listed = self.script.attributes.allow(&module, attribute)
                || (self.script.versioned.contains(module.as_str())
                    && matches!(
                        attribute.as_str(),
                        "__version__" | "VERSION" | "version" | "__file__"
                    ));
            if listed {
                self.check_members(parts.get(split + 1..).unwrap_or_default(), end);
                return true;
            }
        }
        false
    }

    /// Whether a local name may be called: JavaScript values can be makers of code.
    pub(super) fn may_call(&self, name: &str, end: usize) -> bool {
        self.script.syntax != Syntax::JavaScript
            || !self.is_mark(end, "(")
            || self.script.functions.contains(name)
            || self.bindings.functions.contains(name)
    }

    pub(super) fn member(&mut self, at: usize, name: &str) {
        let called = self.is_call(at + 1);
        if self.script.carried.contains(name) {
            self.reading.hide(NOT_UNDERSTOOD);
            return;
        }
        if let (true, Some(call)) = (self.follows(), self.script.members.get(name)) {
            let receiver = (self.receiver(at), at.saturating_sub(1));
            self.acts(call, receiver, at + 1);
            return;
        }
        if let Some(call) = self.script.members.get(name) {
            // `File.new("x").delete` names its file right before the dot.
            let receiver = at
                .checked_sub(5)
                .and_then(|start| self.tokens.get(start..at - 1));
            match receiver {
                Some([Token::Name(_), open, Token::Text(Some(text)), close])
                    if open.is_mark("(") && close.is_mark(")") =>
                {
                    let made = Made::exact(text.clone());
                    let arguments = self.arguments(at + 1);
                    effects::apply_to(call, &made, &arguments, &mut self.reading);
                }
                _ => self.reading.hide(COMPUTED),
            }
            return;
        }
        self.check_member(name, called, at + 1);
        if called {
            self.check_callbacks(name, at + 1);
            self.check_statement(name, at + 1);
        }
    }

    /// Where the value begins to which the member at `at` belongs.
    fn receiver(&self, at: usize) -> usize {
        const RECEIVER_TOKENS_MAX: usize = 256;
        let mut depth = 0_usize;
        let mut start = at;
        // The dot, then operands and what joins them.
        for back in 2..RECEIVER_TOKENS_MAX {
            let Some(place) = at.checked_sub(back) else {
                break;
            };
            let next = self.token(place + 1);
            match self.token(place) {
                Some(Token::Mark(")" | "]" | "}")) => depth += 1,
                Some(Token::Mark("(" | "[" | "{")) if depth > 0 => depth -= 1,
                _ if depth > 0 => {}
                Some(Token::Mark("." | "?.")) => {}
                Some(Token::Name(name)) => {
                    let joins = matches!(next, Some(Token::Mark("." | "?." | "(" | "[")));
                    if !joins || self.script.functions.contains(name) && is_word(name) {
                        break;
                    }
                }
                Some(Token::Text(_)) if matches!(next, Some(Token::Mark("."))) => {}
                _ => break,
            }
            start = place;
        }
        start
    }

    /// Whether a call at `end` has as many arguments as texts take to be replaced, and paths do not.
    fn replaces_text(&self, end: usize) -> bool {
        self.is_mark(end, "(") && self.arguments(end).ranges.len() >= 2
    }

    /// Checks names chained to a value; the last of them may be called at `end`.
    pub(super) fn check_members(&mut self, members: &[String], end: usize) {
        for (place, member) in members.iter().enumerate() {
            let called = place + 1 == members.len() && self.is_call(end);
            self.check_member(member, called, end);
            if called {
                self.check_callbacks(member, end);
                self.check_statement(member, end);
            }
        }
    }

    /// Judges a statement that is spelt out, where the method at `end` may be one that takes it.
    fn check_statement(&mut self, method: &str, end: usize) {
        // Patterns have a method of that name, too.
        let may_take = method != "exec" || self.speaks_sql();
        if may_take && self.script.statements.contains(method) {
            let arguments = self.arguments(end);
            // A word or two may be anything.
            let text = arguments.text(0).unwrap_or_default();
            if text.split_whitespace().nth(2).is_some() {
                effects::spelt_statement(&arguments, &mut self.reading);
            }
        }
        if !self.script.methods.contains(method) {
            self.check_library(method, end);
        }
    }

    /// A function handed to a method must be visible as one: a value fetched by a computed key
    /// could be a maker of code.
    fn check_callbacks(&mut self, method: &str, end: usize) {
        if !self.script.callers.contains(method) {
            return;
        }
        let arguments = self.arguments(end).ranges;
        let suspicious = arguments.iter().enumerate().any(|(place, (from, to))| {
            let argument = self.tokens.get(*from..*to).unwrap_or_default();
            let takes_value = place == 0 && matches!(method, "from" | "replace" | "replaceAll")
                || place > 0 && matches!(method, "reduce" | "reduceRight");
            !takes_value && !self.is_visible_function(argument)
        });
        if suspicious {
            self.reading.hide(FOREIGN_CODE);
        }
    }

    fn is_visible_function(&self, argument: &[Token]) -> bool {
        match argument {
            [Token::Name(name)] => {
                self.script.functions.contains(name.as_str())
                    || self.bindings.functions.contains(name)
            }
            [Token::Name(first), ..] if first == "function" || first == "async" => true,
            [Token::Text(_) | Token::Number] | [Token::Name(_), Token::Mark("=>"), ..] => true,
            // Parameters of an arrow function, or a known function of a known object.
            [Token::Mark("("), ..] => argument.iter().any(|token| token.is_mark("=>")),
            [Token::Name(object), Token::Mark("."), Token::Name(_)] => {
                self.script.functions.contains(object.as_str())
            }
            _ => false,
        }
    }

    pub(super) fn check_member(&mut self, name: &str, called: bool, end: usize) {
        let known = self.script.methods.contains(name);
        let free_property = self.script.syntax == Syntax::JavaScript
            && !called
            && !matches!(
                name,
                "constructor" | "__proto__" | "prototype" | "mainModule" | "binding"
            );
        // The method of a string is also the one that moves a file of `pathlib`.
        let moves_file = self.script.syntax == Syntax::Python
            && name == "replace"
            && self.bindings.modules.contains("pathlib")
            && !(called && self.replaces_text(end));
        let is_class = name == "__class__" && self.asks_name(end);
        if moves_file {
            self.reading.hide(NOT_UNDERSTOOD);
        } else if !known && !free_property && !is_class {
            if self.is_ordinary_method(name, called, end) {
                self.reading.wonder(NOT_UNDERSTOOD);
            } else {
                self.reading.hide(NOT_UNDERSTOOD);
            }
        }
    }

    /// Whether the class before `end`, or its name behind it, is only asked what it is called.
    fn asks_name(&self, end: usize) -> bool {
        let asks = |at: usize| {
            self.is_mark(at, ".")
                && self
                    .token(at + 1)
                    .is_some_and(|token| token.is_name("__name__"))
        };
        let ends = end
            .checked_sub(1)
            .and_then(|at| self.token(at))
            .is_some_and(|token| token.is_name("__name__"));
        asks(end) || ends
    }

    /// Whether a method that is not known may be an ordinary one. Many send or change something only
    /// in libraries that reach out, and end only what the script itself started.
    fn is_ordinary_method(&self, name: &str, called: bool, end: usize) -> bool {
        let script = self.script;
        if self.maps_rows && called && script.row_methods.contains(name) {
            return false;
        }
        if script.sending_methods.contains(name) {
            return script.has_ordinary_names() && (!called || !self.reaches_out());
        }
        let alone = self.is_mark(end, "(") && self.is_mark(end + 1, ")");
        let own = matches!(name, "kill" | "terminate" | "eval") && alone && !self.reaches_out();
        own || script.is_ordinary_method(name)
    }

    /// Whether a library is loaded whose objects reach out.
    fn reaches_out(&self) -> bool {
        self.reading.imports.iter().any(|module| {
            let first = module.split(['.', '/']).next().unwrap_or(module);
            !self.script.quiet.contains(first) && !self.script.is_ordinary(module)
        })
    }
}

/// Whether a name is a word of the language, which no value ends with.
fn is_word(name: &str) -> bool {
    const WORDS: [&str; 16] = [
        "return", "in", "and", "or", "not", "if", "else", "await", "yield", "print", "assert",
        "is", "new", "typeof", "throw", "raise",
    ];
    WORDS.contains(&name)
}
