//! Effects of a short script for an interpreter (`python -c`, `node -e`, `perl -ne` …).
//!
//! Nobody can say what any program does, so only a small subset is understood: every name, call,
//! attribute and import must be on the list of the language ([`Script`]). Well-known calls with
//! literal arguments become deeds. Anything else stays hidden, and a person is asked.

mod bindings;
mod constants;
mod effects;
mod lexer;
mod literals;

use std::collections::HashMap;

pub use crate::knowledge::Lang;

pub(crate) use self::lexer::Token;

use self::bindings::Bindings;
use super::{CODE_BYTES_MAX, Deed, ENVIRONMENT, MAKES_CODE, Reading, TOO_LONG};
use crate::knowledge::languages::Script;
use crate::knowledge::{CallReader, Feature, Role, Syntax};

const NOT_UNDERSTOOD: &str = "code that is not in the proven-harmless subset";
const UNPARSED: &str = "code that cannot be split into words";
const FOREIGN_CODE: &str = "code that loads or computes other code";
const COMPUTED: &str = "code that computes what it opens, runs or deletes";

/// Reads a snippet of `lang`.
pub fn read(lang: Lang, code: &str) -> Reading {
    if code.len() > CODE_BYTES_MAX {
        return Reading::hidden(TOO_LONG);
    }
    let Some(script) = lang.script() else {
        return Reading::hidden(NOT_UNDERSTOOD);
    };
    let Some(tokens) = lexer::tokens(script, code) else {
        return Reading::hidden(UNPARSED);
    };
    let tokens = constants::fill(script, tokens);
    let bindings = Bindings::collect(script, &tokens);
    let mut reader = Reader {
        script,
        tokens: &tokens,
        bindings,
        reading: Reading::default(),
    };
    reader.walk();
    reader.reaches_by_literals();
    reader.reading
}

/// The tokens of JavaScript without line ends, for readers that judge them by rules of their own;
/// `None` when it cannot be split for certain.
pub(crate) fn javascript_tokens(code: &str) -> Option<Vec<Token>> {
    let mut tokens = lexer::tokens(Lang::JAVASCRIPT.script()?, code)?;
    tokens.retain(|token| *token != Token::Newline);
    Some(tokens)
}

struct Reader<'a> {
    script: &'static Script,
    tokens: &'a [Token],
    bindings: Bindings,
    reading: Reading,
}

impl<'a> Reader<'a> {
    fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    fn before(&self, at: usize) -> Option<&Token> {
        at.checked_sub(1).and_then(|at| self.tokens.get(at))
    }

    fn is_mark(&self, at: usize, mark: &str) -> bool {
        self.token(at).is_some_and(|token| token.is_mark(mark))
    }

    fn walk(&mut self) {
        if let Some(why) = self.bindings.refused {
            self.reading.hide(why);
        }
        if self.bindings.unfamiliar {
            self.reading.wonder(NOT_UNDERSTOOD);
        }
        self.reading.imports = std::mem::take(&mut self.bindings.imports);
        let mut at = 0;
        while let Some(token) = self.tokens.get(at) {
            if self.bindings.understood.contains(&at) {
                at += 1;
                continue;
            }
            at = match token {
                Token::Name(name) => self.name(at, name),
                Token::Variable(name) => {
                    self.variable(at, name);
                    at + 1
                }
                Token::Symbol(name) => {
                    // `&:name` calls the method of that name, and so do some methods.
                    let reaches = self.script.forbidden.contains(name.as_str())
                        || self.script.calls.contains(name.as_str());
                    if reaches {
                        self.reading.hide(NOT_UNDERSTOOD);
                    }
                    if self.before(at).is_some_and(|token| token.is_mark("&"))
                        && !self.script.methods.contains(name.as_str())
                    {
                        self.reading.hide(NOT_UNDERSTOOD);
                    }
                    at + 1
                }
                Token::Command(command) => {
                    match command {
                        Some(command) => self.reading.see(Deed::Shell(command.clone())),
                        None => self.reading.hide(COMPUTED),
                    }
                    at + 1
                }
                Token::Mark(mark) => {
                    self.mark(at, mark);
                    at + 1
                }
                Token::Text(text) => {
                    self.text(text.as_deref());
                    at + 1
                }
                Token::Number | Token::Newline => at + 1,
            };
        }
    }

    /// Strings are harmless, except as a way to reach the makers of code in JavaScript.
    fn text(&mut self, text: Option<&str>) {
        let reaches_maker =
            text.is_some_and(|text| text.contains("constructor") || text.contains("__proto__"));
        if self.script.syntax == Syntax::JavaScript && reaches_maker {
            self.reading.hide(FOREIGN_CODE);
        }
    }

    fn mark(&mut self, at: usize, mark: &str) {
        let calls = self.is_mark(at + 1, "(");
        let refused = match self.script.syntax {
            // What is called must have a name; a function written on the spot ends in `}`.
            Syntax::JavaScript => {
                calls
                    && (mark == "]"
                        || (mark == ")"
                            && !self.before(at).is_some_and(|token| token.is_mark("}"))
                            && !self.after_condition(at)))
            }
            Syntax::Perl => {
                let operand_before = self
                    .before(at)
                    .is_some_and(|token| token.ends_operand() && !matches!(token, Token::Name(_)));
                (mark == "->" && !self.is_mark(at + 1, "[") && !self.is_mark(at + 1, "{"))
                    || ((mark == "&" || mark == "*") && !operand_before)
            }
            Syntax::Php => calls && matches!(mark, ")" | "]" | "}") && !self.after_condition(at),
            Syntax::Plain | Syntax::Python | Syntax::Ruby => false,
        };
        if refused {
            self.reading.hide(FOREIGN_CODE);
        }
    }

    /// Whether the parenthesis closed at `at` belongs to `if (…)` or its kin.
    fn after_condition(&self, at: usize) -> bool {
        const CONDITION_TOKENS_MAX: usize = 64;
        let mut depth = 0_usize;
        for back in 0..CONDITION_TOKENS_MAX {
            let Some(token) = at.checked_sub(back).and_then(|at| self.tokens.get(at)) else {
                return false;
            };
            if token.is_mark(")") {
                depth += 1;
            } else if token.is_mark("(") {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let word = at.checked_sub(back + 1).and_then(|at| self.tokens.get(at));
                    return word.is_some_and(|word| {
                        ["if", "while", "for", "foreach"]
                            .iter()
                            .any(|known| word.is_name(known))
                    });
                }
            }
        }
        false
    }

    fn variable(&mut self, at: usize, name: &str) {
        if matches!(name, "$ENV" | "%ENV" | "$_ENV" | "$_SERVER") {
            self.reading.see(Deed::ReadFile(ENVIRONMENT.to_owned()));
        }
        let next_assigns = self.is_mark(at + 1, "=");
        let refused = match self.script.syntax {
            Syntax::Php => self.is_mark(at + 1, "("),
            Syntax::Perl => matches!(name, "@ARGV" | "@INC" | "%INC" | "$0") && next_assigns,
            Syntax::Ruby => matches!(name, "$LOAD_PATH" | "$:" | "$0"),
            Syntax::Plain | Syntax::Python | Syntax::JavaScript => false,
        };
        if refused {
            self.reading.hide(COMPUTED);
        }
    }

    /// Judges the name at `at` with all names chained to it; returns where to go on.
    fn name(&mut self, at: usize, name: &str) -> usize {
        if self
            .before(at)
            .is_some_and(|token| self.joins_member(token))
        {
            self.member(at, name);
            return at + 1;
        }
        if self.is_key(at, name) {
            return at + 1;
        }
        let (mut parts, mut end) = self.chain(at, name);
        if let Some((module, after)) = self.required(at, name) {
            parts = module;
            end = after;
        } else if let Some(path) = self.bindings.paths.get(name) {
            parts.splice(..1, path.split('.').map(str::to_owned));
        } else if self.script.forbidden.contains(name) {
            return self.forbidden(at, name);
        }
        parts.retain(|part| part != "promises");
        self.path(&parts, end);
        end
    }

    /// A name before a colon or an arrow, or alone in braces, only labels a value.
    fn is_key(&self, at: usize, name: &str) -> bool {
        let next = |mark: &str| self.is_mark(at + 1, mark);
        match self.script.syntax {
            Syntax::JavaScript => {
                next(":")
                    && !self.script.forbidden.contains(name)
                    && !matches!(name, "constructor" | "__proto__" | "prototype")
                    || self
                        .before(at)
                        .is_some_and(|token| token.is_name("function"))
            }
            Syntax::Perl => {
                next("=>")
                    || (next("}") && self.before(at).is_some_and(|token| token.is_mark("{")))
                    || (name.chars().all(|c| c.is_ascii_uppercase() || c == '_') && !next("("))
                    || (name.len() == 1 && self.before(at).is_some_and(|token| token.is_mark("-")))
            }
            Syntax::Ruby => next(":") || next("=>"),
            Syntax::Php => {
                let lower = name.to_ascii_lowercase();
                let is_word = self.script.forbidden.contains(lower.as_str())
                    || self.script.calls.contains(lower.as_str());
                next("=>")
                    || (!is_word
                        && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
                        && !next("("))
            }
            Syntax::Plain | Syntax::Python => {
                self.script.has(Feature::EqualsKeys)
                    && next("=")
                    && !self.script.forbidden.contains(name)
            }
        }
    }

    fn joins_member(&self, token: &Token) -> bool {
        matches!(token, Token::Mark("." | "?." | "->" | "::" | "&."))
            || (self.script.has(Feature::ColonMembers) && token.is_mark(":"))
    }

    /// The dotted names that start at `at`, and the place behind the last of them.
    fn chain(&self, at: usize, name: &str) -> (Vec<String>, usize) {
        const PARTS_MAX: usize = 16;
        let mut parts = vec![name.to_owned()];
        let mut end = at + 1;
        while parts.len() < PARTS_MAX {
            let joined = self
                .token(end)
                .is_some_and(|token| self.joins_member(token) && !token.is_mark("->"));
            match self.token(end + 1) {
                Some(Token::Name(part)) if joined => parts.push(part.clone()),
                _ => break,
            }
            end += 2;
        }
        (parts, end)
    }

    /// `require('x').a.b`: the module and names chained to it.
    fn required(&mut self, at: usize, name: &str) -> Option<(Vec<String>, usize)> {
        if self.script.syntax != Syntax::JavaScript || name != "require" {
            return None;
        }
        let Some([open, Token::Text(Some(module)), close]) = self.tokens.get(at + 1..at + 4) else {
            return None;
        };
        if !open.is_mark("(") || !close.is_mark(")") {
            return None;
        }
        let module = module.strip_prefix("node:").unwrap_or(module);
        if bindings::is_data(module) {
            self.reading.see(Deed::ReadFile(module.to_owned()));
            return Some((vec!["undefined".to_owned()], at + 4));
        }
        let module = module.strip_suffix("/promises").unwrap_or(module);
        if !self.reading.imports.iter().any(|known| known == module) {
            self.reading.imports.push(module.to_owned());
        }
        let mut parts = vec![module.to_owned()];
        let mut end = at + 4;
        while let (true, Some(Token::Name(part))) = (self.is_mark(end, "."), self.token(end + 1)) {
            parts.push(part.clone());
            end += 2;
        }
        Some((parts, end))
    }

    fn forbidden(&mut self, at: usize, name: &str) -> usize {
        // A block of code in braces is no other code.
        let is_block = self.script.syntax == Syntax::Perl
            && matches!(name, "do" | "eval")
            && self.is_mark(at + 1, "{");
        let allowed_library = self.allowed_library(at, name);
        if allowed_library {
            return at + 2;
        }
        if !is_block {
            let makes = self.script.makers.contains(name);
            self.reading
                .hide(if makes { MAKES_CODE } else { FOREIGN_CODE });
        }
        // What is loaded by name is followed, so that its deeds are seen.
        if let (Syntax::Python, "__import__", Some([_, Token::Text(Some(module)), _])) =
            (self.script.syntax, name, self.tokens.get(at + 1..at + 4))
        {
            let mut parts = vec![module.clone()];
            let mut end = at + 4;
            while let (true, Some(Token::Name(part))) =
                (self.is_mark(end, "."), self.token(end + 1))
            {
                parts.push(part.clone());
                end += 2;
            }
            self.path(&parts, end);
            return end;
        }
        at + 1
    }

    /// `require "json"` of Ruby and `use POSIX` of Perl load what is known to be harmless.
    fn allowed_library(&self, at: usize, name: &str) -> bool {
        match (self.script.syntax, name, self.token(at + 1)) {
            (Syntax::Ruby, "require", Some(Token::Text(Some(library))))
            | (Syntax::Perl, "use" | "no" | "require", Some(Token::Name(library))) => {
                self.script.modules.contains(library.as_str())
            }
            (Syntax::Perl, "use", Some(Token::Number)) => true,
            _ => false,
        }
    }

    /// Judges a whole dotted path that ends before `end`.
    fn path(&mut self, parts: &[String], end: usize) {
        let path = parts.join(".");
        let script = self.script;
        if let Some(call) = script.calls.get(path.as_str()) {
            if self.is_call(end) {
                let arguments = self.arguments(end);
                effects::apply(call, self.script, &arguments, &mut self.reading);
            } else {
                self.reading.hide(COMPUTED);
            }
            return;
        }
        if path == "os.getenv"
            || matches!(path.as_str(), "os.environ" | "process.env" | "ENV")
            || path.starts_with("os.environ.")
            || path.starts_with("process.env.")
            || path.starts_with("ENV.")
        {
            self.reading.see(Deed::ReadFile(ENVIRONMENT.to_owned()));
            let depth = if self.script.syntax == Syntax::Ruby {
                1
            } else {
                2
            };
            self.check_members(parts.get(depth..).unwrap_or_default(), end);
            return;
        }
        // Where modules are searched decides what a later import runs.
        if path.starts_with("sys.path") && (parts.len() > 2 || !self.ends_value(end)) {
            let adds = matches!(path.as_str(), "sys.path.insert" | "sys.path.append");
            if adds && self.is_mark(end, "(") && !self.names_elsewhere(end) {
                self.reading.wonder(NOT_UNDERSTOOD);
            } else {
                self.reading.hide(FOREIGN_CODE);
            }
            return;
        }
        let [first, rest @ ..] = parts else {
            return;
        };
        let is_module = self.bindings.modules.contains(first.as_str());
        if self.is_listed(parts, end) {
            return;
        }
        let is_local = !is_module
            && (self.bindings.locals.contains(first.as_str())
                || script.functions.contains(first.as_str()));
        // What nothing in the code names may be set up by whoever runs it, to do anything.
        let is_loaded = is_module || self.reading.imports.contains(first);
        if !is_local && is_loaded && script.is_ordinary(&path) {
            self.reading.wonder(NOT_UNDERSTOOD);
            self.check_members(rest, end);
            return;
        }
        if !is_local || (rest.is_empty() && !self.may_call(first, end)) {
            self.reading.hide(NOT_UNDERSTOOD);
            return;
        }
        self.check_members(rest, end);
    }

    /// Whether nothing is done with the value before `end` but to hand it on.
    fn ends_value(&self, end: usize) -> bool {
        matches!(
            self.token(end),
            None | Some(Token::Mark(")" | "," | ";" | ":") | Token::Newline)
        )
    }

    /// Whether the path is an allowed attribute of a module, with members behind it.
    fn is_listed(&mut self, parts: &[String], end: usize) -> bool {
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
    fn may_call(&self, name: &str, end: usize) -> bool {
        self.script.syntax != Syntax::JavaScript
            || !self.is_mark(end, "(")
            || self.script.functions.contains(name)
            || self.bindings.functions.contains(name)
    }

    fn member(&mut self, at: usize, name: &str) {
        let called = self.is_call(at + 1);
        if let Some(call) = self.script.members.get(name) {
            // `Path("x").unlink()` names its file right before the dot.
            let receiver = at
                .checked_sub(5)
                .and_then(|start| self.tokens.get(start..at - 1));
            match receiver {
                Some([Token::Name(class), open, text @ Token::Text(Some(_)), close])
                    if open.is_mark("(") && close.is_mark(")") && class.ends_with("Path") =>
                {
                    let receiver: &[Token] = std::slice::from_ref(text);
                    // `Path("x").symlink_to("y")`: where it leads comes first.
                    let argument = self.tokens.get(at + 2..at + 3).unwrap_or(&[]);
                    let both = [argument, receiver];
                    let opened = [receiver, argument];
                    let names_mode = !self.is_mark(at + 2, ")");
                    let places = if call.takes(Role::Link) {
                        both.as_slice()
                    } else if call.reader == Some(CallReader::Open) && names_mode {
                        opened.as_slice()
                    } else {
                        both.get(1..).unwrap_or(&[])
                    };
                    effects::apply(call, self.script, places, &mut self.reading);
                }
                _ => {
                    let mode = self.arguments(at + 1).first().copied();
                    let mode = mode.filter(|_| called);
                    effects::computed(call, self.script, mode, &mut self.reading);
                }
            }
            return;
        }
        self.check_member(name, called, at + 1);
        if called {
            self.check_callbacks(name, at + 1);
        }
    }

    /// Whether a call at `end` has as many arguments as texts take to be replaced, and paths do not.
    fn replaces_text(&self, end: usize) -> bool {
        self.is_mark(end, "(") && self.arguments(end).len() >= 2
    }

    /// Checks names chained to a value; the last of them may be called at `end`.
    fn check_members(&mut self, members: &[String], end: usize) {
        for (place, member) in members.iter().enumerate() {
            let called = place + 1 == members.len() && self.is_call(end);
            self.check_member(member, called, end);
            if called {
                self.check_callbacks(member, end);
            }
        }
    }

    /// A function handed to a method must be visible as one: a value fetched by a computed key
    /// could be a maker of code.
    fn check_callbacks(&mut self, method: &str, end: usize) {
        if !self.script.callers.contains(method) {
            return;
        }
        let arguments = self.arguments(end);
        let suspicious = arguments.iter().enumerate().any(|(place, argument)| {
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

    fn check_member(&mut self, name: &str, called: bool, end: usize) {
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
        if !known && !free_property && self.script.is_ordinary_method(name) {
            self.reading.wonder(NOT_UNDERSTOOD);
        } else if (!known && !free_property) || moves_file {
            self.reading.hide(NOT_UNDERSTOOD);
        }
    }

    /// Whether what stands before `end` is called there.
    fn is_call(&self, end: usize) -> bool {
        let paren = self.is_mark(end, "(");
        let bare = matches!(
            self.token(end),
            Some(
                Token::Text(_)
                    | Token::Variable(_)
                    | Token::Name(_)
                    | Token::Number
                    | Token::Mark("[" | "{")
            )
        );
        paren || bare && self.script.has(Feature::BareCalls)
    }

    /// The arguments of the call whose arguments start at `end`, each as its tokens.
    fn arguments(&self, end: usize) -> Vec<&'a [Token]> {
        const ARGUMENT_TOKENS_MAX: usize = 512;
        let paren = self.is_mark(end, "(");
        let first = if paren { end + 1 } else { end };
        let mut arguments = Vec::new();
        let mut start = first;
        let mut depth = 0_usize;
        let mut at = first;
        while at < first + ARGUMENT_TOKENS_MAX {
            let Some(token) = self.tokens.get(at) else {
                break;
            };
            match token {
                Token::Mark("(" | "[" | "{") => depth += 1,
                Token::Mark(")" | "]" | "}") if depth == 0 => break,
                Token::Mark(")" | "]" | "}") => depth -= 1,
                Token::Mark(",") if depth == 0 => {
                    arguments.extend(self.tokens.get(start..at));
                    start = at + 1;
                }
                Token::Mark(";") | Token::Newline if !paren => break,
                Token::Name(word)
                    if !paren && matches!(word.as_str(), "if" | "unless" | "or" | "and" | "do") =>
                {
                    break;
                }
                Token::Mark(_)
                | Token::Name(_)
                | Token::Newline
                | Token::Text(_)
                | Token::Variable(_)
                | Token::Symbol(_)
                | Token::Command(_)
                | Token::Number => {}
            }
            at += 1;
        }
        if at > start {
            arguments.extend(self.tokens.get(start..at));
        }
        arguments
    }
}

/// Names bound to paths by imports, for all who look them up.
type Paths = HashMap<String, String>;
