//! Effects of a script for an interpreter (`python -c`, `node -e`, `perl -ne` …).
//!
//! Nobody can say what any program does. Two ways to read one are used, by what the tables of its
//! language ([`Script`]) hold. In a language with a list of what reaches beyond the program, well-known
//! calls become deeds, everything else is the project's own code, and only ways to an effect that
//! are not seen stay hidden. In the others every name, call and import must be on a list.

mod bindings;
mod browsers;
mod commands;
mod effects;
mod inner;
mod lexer;
mod literals;
mod members;
mod processes;
mod shown;
mod spelling;
mod surroundings;
mod values;

use std::collections::HashMap;

pub use crate::knowledge::Lang;

pub(crate) use self::lexer::Token;

use self::bindings::Bindings;
use self::effects::Arguments;
use self::values::{Range, Values};
use super::{CODE_BYTES_MAX, Deed, ENVIRONMENT, MAKES_CODE, Reading, TOO_LONG};
use crate::knowledge::languages::Script;
use crate::knowledge::{Feature, Syntax};

const NOT_UNDERSTOOD: &str = "code that is not in the proven-harmless subset";
const UNPARSED: &str = "code that cannot be split into words";
const FOREIGN_CODE: &str = "code that loads or computes other code";
const COMPUTED: &str = "code that computes what it opens, runs or deletes";
const CONCEALED: &str = "code that spells in parts what it opens, runs or deletes";

/// Reads a snippet of `lang` that is run with words nobody knows.
pub fn read(lang: Lang, code: &str) -> Reading {
    read_with(lang, code, None)
}

/// Reads a snippet of `lang` that is run with the words `arguments`, where they are known.
pub(crate) fn read_with(lang: Lang, code: &str, arguments: Option<&[String]>) -> Reading {
    let Some(script) = lang.script() else {
        return Reading::hidden(NOT_UNDERSTOOD);
    };
    // Files of JavaScript are often written in a dialect of it; those of Python are not.
    let unread = |why: &'static str| Reading {
        conceals: script.syntax == Syntax::Python,
        ..Reading::hidden(why)
    };
    if code.len() > CODE_BYTES_MAX {
        return unread(TOO_LONG);
    }
    let Some((tokens, indents)) = lexer::tokens(script, code).filter(|_| spelling::is_plain(code))
    else {
        return unread(UNPARSED);
    };
    let mut bindings = Bindings::collect(script, &tokens);
    let paths = std::mem::take(&mut bindings.paths);
    let values = Values::new(script, &tokens, &indents, &paths, arguments);
    // `{env} = process` binds what it takes, not where it takes it from.
    let bound = values.names().filter(|name| script.is_ordinary(name));
    bindings.locals.extend(bound.map(str::to_owned));
    let is_mapper =
        |token: &Token| matches!(token, Token::Name(name) if script.mappers.contains(name));
    let mut pairs = tokens.iter().zip(tokens.iter().skip(1));
    let mut reader = Reader {
        script,
        maps_rows: pairs.any(|(dot, name)| dot.is_mark(".") && is_mapper(name)),
        holds_commands: tokens.iter().any(commands::begins_command),
        tokens: &tokens,
        bindings,
        values: &values,
        paths: &paths,
        reading: Reading::default(),
    };
    reader.walk();
    reader.surroundings();
    reader.browses();
    reader.reaches_by_literals();
    let revealed = shown::revealed(&tokens, false);
    let secrets = revealed.secrets.into_iter().map(Deed::Reveal);
    reader.reading.deeds.extend(secrets);
    reader.reading.reveals_computed = revealed.computed;
    reader.reading
}

/// Reads what a snippet shows of the environment whose value the interpreter prints: `node -p`.
pub(crate) fn printed(lang: Lang, code: &str) -> Reading {
    let tokens = lang
        .script()
        .filter(|_| code.len() <= CODE_BYTES_MAX)
        .and_then(|script| lexer::tokens(script, code));
    let revealed = tokens.map(|(tokens, _)| shown::revealed(&tokens, true));
    let revealed = revealed.unwrap_or_default();
    Reading {
        deeds: revealed.secrets.into_iter().map(Deed::Reveal).collect(),
        reveals_computed: revealed.computed,
        ..Reading::default()
    }
}

/// The tokens of JavaScript without line ends, for readers that judge them by rules of their own;
/// `None` when it cannot be split for certain.
pub(crate) fn javascript_tokens(code: &str) -> Option<Vec<Token>> {
    let (mut tokens, _) = lexer::tokens(Lang::JAVASCRIPT.script()?, code)?;
    tokens.retain(|token| *token != Token::Newline);
    Some(tokens)
}

struct Reader<'a> {
    script: &'static Script,
    tokens: &'a [Token],
    /// Whether an object mapper is used, so that methods change rows of a database.
    maps_rows: bool,
    /// Whether a text of the script begins like a command line that does something.
    holds_commands: bool,
    bindings: Bindings,
    values: &'a Values<'a>,
    paths: &'a Paths,
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
                let unnamed = |token: &Token| token.is_mark("]") || token.is_mark(")");
                calls
                    && (mark == "]"
                        || mark == "?." && self.before(at).is_some_and(unnamed)
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
            self.reading.conceals |= self.calls_by_key(at);
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
        } else if let Some(path) = self.paths.get(name) {
            parts.splice(..1, path.split('.').map(str::to_owned));
        } else if self.script.forbidden.contains(name) {
            return self.forbidden(at, name);
        }
        parts.retain(|part| part != "promises");
        self.path(&parts, at, end);
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
            // What an argument is given by.
            Syntax::Python => {
                next("=")
                    && self
                        .before(at)
                        .is_some_and(|token| token.is_mark("(") || token.is_mark(","))
                    && !self.script.forbidden.contains(name)
            }
            Syntax::Plain => {
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
        if let (Syntax::Python, "getattr" | "setattr" | "hasattr") = (self.script.syntax, name)
            && self.named_attribute(at)
        {
            return at + 1;
        }
        if !is_block {
            let makes = self.script.makers.contains(name);
            self.reading.conceals |= makes || self.takes_by_name(at, name);
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
            self.path(&parts, at, end);
            return end;
        }
        at + 1
    }

    /// `getattr(a, "b")` is `a.b`; says whether the name is spelt out.
    fn named_attribute(&mut self, at: usize) -> bool {
        let arguments = self.arguments(at + 1);
        let (Some(object), Some(name)) = (arguments.ranges.first(), arguments.ranges.get(1)) else {
            return false;
        };
        let Some([Token::Text(Some(name))]) = self.tokens.get(name.0..name.1) else {
            return false;
        };
        let object = self.tokens.get(object.0..object.1).unwrap_or_default();
        // What a module is asked for by name is asked for to hide it.
        let is_module = object.iter().any(
            |token| matches!(token, Token::Name(name) if self.paths.contains_key(name.as_str())),
        );
        if is_module {
            return false;
        }
        self.check_member(&name.clone(), false, at);
        true
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

    /// Judges a whole dotted path that starts at `at` and ends before `end`.
    fn path(&mut self, parts: &[String], at: usize, end: usize) {
        let path = parts.join(".");
        let script = self.script;
        if let Some(call) = script.calls.get(path.as_str()) {
            if self.is_call(end) {
                let arguments = self.arguments(end);
                effects::apply(call, &arguments, &mut self.reading);
            } else {
                self.reading.hide(COMPUTED);
            }
            return;
        }
        // Whoever replaces a function of a module decides what others call.
        let replaces = self.is_mark(end, "=")
            && parts.len() > 1
            && self
                .bindings
                .modules
                .contains(parts.first().map_or("", String::as_str))
            && (script.is_value(&path) || !script.is_ordinary(&path));
        let replaces_global = script.syntax == Syntax::JavaScript
            && self.is_mark(end, "=")
            && parts.len() > 1
            && (script.is_value(&path) || script.calls.contains(&path));
        if replaces && script.syntax == Syntax::Python || replaces_global {
            self.reading.hide(FOREIGN_CODE);
            return;
        }
        if self.is_environment(&path, parts, (at, end))
            || self.is_search_path(&path, parts, (at, end))
        {
            return;
        }
        let [first, rest @ ..] = parts else {
            return;
        };
        // `glob.os.remove` is `os.remove`: modules hold the modules they load.
        let carried = rest.iter().rposition(|part| script.carried.contains(part));
        if let Some(place) = carried {
            let mut inner = rest.get(place..).unwrap_or_default().to_vec();
            if let Some(module) = inner.first_mut() {
                *module = module.trim_start_matches('_').to_owned();
            }
            self.path(&inner, at, end);
            return;
        }
        if self.is_private(parts) {
            self.reading.hide(NOT_UNDERSTOOD);
            return;
        }
        if self.is_listed(parts, end) {
            return;
        }
        let is_module = self.bindings.modules.contains(first.as_str());
        let is_local = !is_module
            && (self.bindings.locals.contains(first.as_str())
                || script.functions.contains(first.as_str()));
        // What nothing in the code names may be set up by whoever runs it, to do anything.
        let is_loaded = is_module || self.reading.imports.contains(first);
        if !is_local && is_loaded && script.is_ordinary(&path) {
            self.reading.wonder(NOT_UNDERSTOOD);
            if rest.is_empty() {
                self.check_library(path.rsplit('.').next().unwrap_or(&path), end);
            }
            self.check_chain(rest, at, end);
            return;
        }
        // A name that nothing binds stands for nothing, unless it is used.
        let is_unused = !is_loaded && rest.is_empty() && !self.is_mark(end, "(");
        // One by which something is reached is taken to be handed on.
        let is_unused = is_unused && !self.is_command_line(at);
        let stands_for_nothing =
            (is_unused || self.bindings.all_of_one) && script.is_ordinary(&path);
        if !is_local && stands_for_nothing {
            self.reading.wonder(NOT_UNDERSTOOD);
            self.check_chain(rest, at, end);
            return;
        }
        if !is_local || (rest.is_empty() && !self.may_call(first, end)) {
            self.reading.conceals |= self.loads_by_force(&path, end);
            self.reading.hide(NOT_UNDERSTOOD);
            return;
        }
        self.check_chain(rest, at, end);
    }

    /// Where modules are searched decides what a later import runs.
    fn is_search_path(&mut self, path: &str, parts: &[String], (at, end): Range) -> bool {
        // `p = sys.path` lets `p` change it.
        let handed_on = self.before(at).is_some_and(|token| token.is_mark("="));
        let changes =
            path.starts_with("sys.path") && (parts.len() > 2 || handed_on || !self.ends_value(end));
        if changes {
            let adds = matches!(path, "sys.path.insert" | "sys.path.append");
            let leads_away = self.names_elsewhere(end) || self.leads_elsewhere(end);
            if adds && self.is_mark(end, "(") && !leads_away {
                self.reading.wonder(NOT_UNDERSTOOD);
            } else {
                self.reading.hide(FOREIGN_CODE);
            }
        }
        changes
    }

    /// Whether nothing is done with the value before `end` but to hand it on.
    fn ends_value(&self, end: usize) -> bool {
        matches!(
            self.token(end),
            None | Some(Token::Mark(")" | "," | ";" | ":" | "]") | Token::Newline)
        ) || self
            .token(end)
            .is_some_and(|token| token.is_name("if") || token.is_name("for"))
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

    /// The arguments of the call whose arguments start at `end`.
    fn arguments(&self, end: usize) -> Arguments<'a, 'a> {
        Arguments {
            script: self.script,
            tokens: self.tokens,
            values: self.values,
            ranges: self.ranges(end),
        }
    }

    /// Where each argument of the call stands whose arguments start at `end`.
    fn ranges(&self, end: usize) -> Vec<Range> {
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
                    arguments.push((start, at));
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
            arguments.push((start, at));
        }
        let blank = |at: &usize| self.tokens.get(*at) == Some(&Token::Newline);
        for (from, to) in &mut arguments {
            *from += (*from..*to).take_while(blank).count();
            *to -= (*from..*to).rev().take_while(blank).count();
        }
        arguments.retain(|(from, to)| from < to);
        arguments
    }
}

/// Names bound to paths by imports, for all who look them up.
type Paths = HashMap<String, String>;
