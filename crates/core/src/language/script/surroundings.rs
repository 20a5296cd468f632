//! The surroundings of a script that it changes for what it runs later: variables of the environment,
//! the directory it is in. Lines of notebooks stand here too, because they are no code of the language.

use super::lexer::Token;
use super::values::Range;
use super::{COMPUTED, FOREIGN_CODE, Reader};
use crate::knowledge::Syntax;
use crate::language::{Deed, ENVIRONMENT};
use crate::place::HOLE;

impl Reader<'_> {
    /// Judges what concerns the script as a whole.
    pub(super) fn surroundings(&mut self) {
        if self.script.syntax == Syntax::Python && self.has_commands() {
            self.reading.hide(FOREIGN_CODE);
        }
        self.enters_first();
    }

    /// Whether a line is none of Python but one of a notebook: `!ls`, `a = !ls`, `%%bash`.
    fn has_commands(&self) -> bool {
        let mut depth = 0_usize;
        let mut before: Option<&Token> = None;
        for token in self.tokens {
            let begins = depth == 0 && matches!(before, None | Some(Token::Newline));
            let assigns = before.is_some_and(|token| token.is_mark("="));
            match token {
                Token::Mark("!") => return true,
                Token::Mark("%" | "/" | "," | ";" | "%=" | "//") if begins => return true,
                Token::Mark("%") if assigns => return true,
                Token::Mark("(" | "[" | "{") => depth += 1,
                Token::Mark(")" | "]" | "}") => depth = depth.saturating_sub(1),
                Token::Mark(_)
                | Token::Name(_)
                | Token::Variable(_)
                | Token::Symbol(_)
                | Token::Text(_)
                | Token::Command(_)
                | Token::Number
                | Token::Newline => {}
            }
            before = Some(token);
        }
        false
    }

    /// Whether the name at `at`, which nothing binds, begins a line of Python. A notebook runs the
    /// program of that name: `rm -rf a`.
    pub(super) fn is_command_line(&self, at: usize) -> bool {
        self.script.syntax == Syntax::Python
            && matches!(
                self.before(at),
                None | Some(Token::Newline | Token::Mark(";"))
            )
            && !self.ends_value(at + 1)
    }

    /// A function may be called after the directory is left in which it was written down, so what
    /// stands before the change may happen behind it.
    fn enters_first(&mut self) {
        let is_entry = |deed: &Deed| matches!(deed, Deed::Enter { .. });
        let starts = |token: &Token| {
            token.is_mark("=>")
                || ["def", "lambda", "function", "while", "for"]
                    .iter()
                    .any(|word| token.is_name(word))
        };
        let Some(first) = self.reading.deeds.iter().position(is_entry) else {
            return;
        };
        if !self.tokens.iter().any(starts) {
            return;
        }
        let entry = self.reading.deeds.remove(first);
        let leads_elsewhere = |deed: &Deed| is_entry(deed) && *deed != entry;
        if self.reading.deeds.iter().any(leads_elsewhere) {
            self.reading.hide(COMPUTED);
        }
        self.reading.deeds.insert(0, entry);
    }

    /// The environment: which variables are read is looked at, and what is done with their values.
    pub(super) fn is_environment(
        &mut self,
        path: &str,
        parts: &[String],
        (at, end): Range,
    ) -> bool {
        let is_whole = matches!(path, "os.environ" | "process.env" | "ENV");
        let reads = path == "os.getenv"
            || is_whole
            || path.starts_with("os.environ.")
            || path.starts_with("process.env.")
            || path.starts_with("ENV.");
        if !reads {
            return false;
        }
        self.reading.see(Deed::ReadFile(ENVIRONMENT.to_owned()));
        let depth = if self.script.syntax == Syntax::Ruby {
            1
        } else {
            2
        };
        let members = parts.get(depth..).unwrap_or_default();
        let follows = matches!(self.script.syntax, Syntax::Python | Syntax::JavaScript);
        if follows && is_whole {
            self.whole_environment((at, end));
        } else if let (true, [member]) = (follows, members) {
            self.one_variable(member, end);
        }
        self.check_members(members, end);
        true
    }

    /// `os.environ["A"] = "b"`, and names by which it can be changed without being seen.
    fn whole_environment(&mut self, (at, end): Range) {
        if self.is_mark(end, "[") {
            let close = self.values.closing(end);
            match self.tokens.get(end + 1..close) {
                Some([Token::Text(Some(name))]) => {
                    let name = name.clone();
                    self.sets(&name, close + 1);
                }
                _ if self.changes(close + 1) => self.reading.hide(COMPUTED),
                _ => {}
            }
            return;
        }
        let before = self.before(at);
        let target = at.checked_sub(2).and_then(|at| self.token(at));
        let names_it = before.is_some_and(|token| token.is_mark("="))
            && !target.is_some_and(|token| token.is_mark("}") || token.is_name("env"));
        let is_merged = before.is_some_and(|token| token.is_mark("("))
            && target.is_some_and(|token| token.is_name("assign"));
        if self.changes(end) || names_it || is_merged {
            self.reading.hide(COMPUTED);
        }
    }

    /// `os.environ.update(…)`, `process.env.A = "b"`
    fn one_variable(&mut self, member: &str, end: usize) {
        if self.script.syntax == Syntax::JavaScript {
            self.sets(member, end);
            return;
        }
        let arguments = self.arguments(end).ranges;
        let text = |range: &Range| match self.tokens.get(range.0..range.1) {
            Some([Token::Text(Some(text))]) => Some(text.clone()),
            _ => None,
        };
        match (member, arguments.as_slice()) {
            ("setdefault", [name, value]) => match text(name) {
                Some(name) => self.set_to(&name, *value),
                None => self.reading.hide(COMPUTED),
            },
            ("get" | "copy" | "items" | "keys" | "values" | "pop", _) => {}
            _ => self.reading.hide(COMPUTED),
        }
    }

    /// Whether what stands before `end` is changed there.
    fn changes(&self, end: usize) -> bool {
        matches!(self.token(end), Some(Token::Mark(mark)) if mark.ends_with('=')
            && !matches!(*mark, "==" | "===" | "!=" | "!==" | "<=" | ">="))
    }

    /// Notes that the variable `name` is set where a sign stands at `sign`.
    fn sets(&mut self, name: &str, sign: usize) {
        if self.is_mark(sign, "=") {
            let range = (sign + 1, self.values.value_end(sign + 1));
            self.set_to(name, range);
        } else if self.changes(sign) {
            self.reading
                .see(Deed::SetVariable(name.to_owned(), HOLE.to_string()));
        }
    }

    fn set_to(&mut self, name: &str, value: Range) {
        for text in self.values.of(value).shapes() {
            self.reading.see(Deed::SetVariable(name.to_owned(), text));
        }
    }
}
