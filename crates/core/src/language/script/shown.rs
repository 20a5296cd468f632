//! Variables of the environment that a script prints: `print(os.environ)`, `console.log(process.env.API_KEY)`.
//!
//! Whatever is printed is given to a model. A script that prints all variables, or one whose name says that
//! it holds a credential, is judged like `env` and `echo $API_KEY` in a shell. To use a variable, to ask
//! whether it is set and to print the names of all is no question.

use std::collections::HashSet;

use super::lexer::Token;
use crate::knowledge::names::{
    CREDENTIAL_ENDS, ENVIRONMENT_NAMES_ONLY, ENVIRONMENT_QUESTIONS, ENVIRONMENT_TESTS,
    PASSING_CALLS, SHOWING_CALLS,
};
use crate::language::{ALL_VARIABLES, is_name_of_secret, is_secret_variable};

/// How many tokens around a variable are looked at for the names that its value is given.
const NEARBY: usize = 16;

/// Names of settings that are looked at.
const SETTINGS_MAX: usize = 32;

/// What the code takes from the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Taken {
    /// The variable of this name.
    One(String),
    /// The variable whose name is computed.
    Computed,
    /// All variables, with their values.
    All,
    /// Only names.
    Names,
}

/// What code shows of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Revealed {
    /// What of it holds credentials.
    pub(super) secrets: Vec<String>,
    /// Whether it shows a variable whose name it computes or is given.
    pub(super) computed: bool,
}

/// Returns what the tokens show of the environment. `printed` says that the value of the code itself is shown.
pub(super) fn revealed(tokens: &[Token], printed: bool) -> Revealed {
    let code = Code { tokens };
    let settings = code.settings(printed);
    if !tokens.iter().any(is_environment) {
        return Revealed {
            secrets: settings,
            computed: false,
        };
    }
    let held = code.held();
    let may_name_secret = code.may_name_secret();
    // A text of Perl into which something is put may name any of them.
    let goes_through = tokens
        .iter()
        .any(|token| matches!(token, Token::Variable(name) if name == "%ENV"));
    let mut found = settings;
    let mut computed = false;
    code.visit(printed, |at, shown| {
        if matches!(tokens.get(at), Some(Token::Text(None))) {
            let all = ALL_VARIABLES.to_owned();
            if shown && goes_through && !found.contains(&all) {
                found.push(all);
            }
            return;
        }
        let taken = match code.taken(at) {
            Some((taken, end)) if !code.is_tested(at, end) => taken,
            Some(_) => return,
            None => match code.name(at) {
                Some(name) if held.contains(name) && !code.is_tested(at, at + 1) => Taken::All,
                Some(_) | None => return,
            },
        };
        computed |= shown && taken == Taken::Computed;
        let what = match taken {
            Taken::One(name) if is_secret_variable(&name) => name,
            Taken::Computed if may_name_secret => ALL_VARIABLES.to_owned(),
            Taken::All => ALL_VARIABLES.to_owned(),
            Taken::One(_) | Taken::Computed | Taken::Names => return,
        };
        if shown && !found.contains(&what) {
            found.push(what);
        }
    });
    Revealed {
        secrets: found,
        computed,
    }
}

/// Whether a token is a name by which languages reach the environment.
fn is_environment(token: &Token) -> bool {
    match token {
        Token::Name(name) => matches!(
            name.as_str(),
            "environ" | "env" | "ENV" | "getenv" | "toObject"
        ),
        Token::Variable(name) => matches!(name.as_str(), "$ENV" | "%ENV" | "$_ENV" | "$_SERVER"),
        Token::Symbol(_)
        | Token::Text(_)
        | Token::Command(_)
        | Token::Number
        | Token::Mark(_)
        | Token::Newline => false,
    }
}

/// Whether a name is that of a setting which holds a credential: written in capitals, and its last words say so.
fn is_credential(name: &str) -> bool {
    is_name_of_secret(name) && CREDENTIAL_ENDS.iter().any(|end| name.ends_with(end))
}

struct Code<'a> {
    tokens: &'a [Token],
}

impl<'a> Code<'a> {
    fn name(&self, at: usize) -> Option<&'a str> {
        match self.tokens.get(at)? {
            Token::Name(name) | Token::Variable(name) => Some(name),
            Token::Symbol(_)
            | Token::Text(_)
            | Token::Command(_)
            | Token::Number
            | Token::Mark(_)
            | Token::Newline => None,
        }
    }

    fn is_mark(&self, at: usize, mark: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_mark(mark))
    }

    fn is_name(&self, at: usize, name: &str) -> bool {
        self.name(at) == Some(name)
    }

    /// Returns the settings of the project that are shown and hold credentials: `print(settings.SECRET_KEY)`. A
    /// name that the code itself binds to a text of its own is none of them.
    fn settings(&self, printed: bool) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let holds = |token: &Token| matches!(token, Token::Name(name) if is_credential(name));
        if !self.tokens.iter().any(holds) {
            return found;
        }
        let bound = |name: &str| {
            let binds = |at: usize| {
                self.is_name(at, name)
                    && self.is_mark(at + 1, "=")
                    && matches!(
                        self.tokens.get(at + 2),
                        Some(Token::Text(_) | Token::Number)
                    )
            };
            (0..self.tokens.len()).any(binds)
        };
        let mut left = SETTINGS_MAX;
        self.visit(printed, |at, shown| {
            let Some(Token::Name(name)) = self.tokens.get(at) else {
                return;
            };
            if !shown || left == 0 || !is_credential(name) || found.contains(name) {
                return;
            }
            left -= 1;
            // What comes from the environment is looked at below.
            let owner = at.checked_sub(2).and_then(|owner| self.name(owner));
            if self.is_mark(at.saturating_sub(1), ".") && owner == Some("env") {
                return;
            }
            let keyword = self.is_mark(at + 1, "=") || self.is_name(at.saturating_sub(1), "import");
            if !keyword && !self.is_tested(at, at + 1) && !bound(name) {
                found.push(name.clone());
            }
        });
        found
    }

    /// Calls `look` for every token, with whether a value there is shown.
    fn visit(&self, printed: bool, mut look: impl FnMut(usize, bool)) {
        // For each bracket that is open: whether what stands in it is shown, or what the outer one says.
        let mut open: Vec<Option<bool>> = Vec::new();
        let mut statement = printed;
        for (at, token) in self.tokens.iter().enumerate() {
            match token {
                Token::Mark("(" | "[" | "{") => open.push(self.opened(at)),
                Token::Mark(")" | "]" | "}") => {
                    open.pop();
                }
                Token::Newline | Token::Mark(";") => statement = printed,
                Token::Name(name) if SHOWING_CALLS.contains(name.as_str()) => {
                    let calls = self.is_mark(at + 1, "(") || self.is_mark(at + 1, ".");
                    statement |= !calls && !self.is_mark(at + 1, "=");
                }
                Token::Name(_)
                | Token::Variable(_)
                | Token::Symbol(_)
                | Token::Text(_)
                | Token::Command(_)
                | Token::Number
                | Token::Mark(_) => {}
            }
            if matches!(
                token,
                Token::Name(_) | Token::Variable(_) | Token::Text(None)
            ) {
                // The innermost bracket that decides; only a few are looked at.
                let decides = open.iter().rev().take(NEARBY).find_map(|shows| *shows);
                look(at, decides.unwrap_or(statement));
            }
        }
    }

    /// Whether what stands in the bracket at `at` is shown; `None` where that depends on what is around it.
    fn opened(&self, at: usize) -> Option<bool> {
        let called = at.checked_sub(1).and_then(|before| self.name(before))?;
        if !self.is_mark(at, "(") {
            return None;
        }
        let stream = at.checked_sub(3).and_then(|owner| self.name(owner));
        let writes = called == "write"
            && stream.is_some_and(|name| matches!(name, "stdout" | "stderr" | "STDOUT" | "STDERR"));
        if SHOWING_CALLS.contains(called) || writes {
            return Some(true);
        }
        (!PASSING_CALLS.contains(called)).then_some(false)
    }

    /// Returns what is taken from the environment at `at`, and where the expression ends.
    fn taken(&self, at: usize) -> Option<(Taken, usize)> {
        let name = self.name(at)?;
        let owner = at.checked_sub(2).and_then(|at| self.name(at));
        let of = |owners: &[&str]| {
            self.is_mark(at.saturating_sub(1), ".")
                && owner.is_some_and(|name| owners.contains(&name))
        };
        let is_whole = match name {
            "environ" | "$ENV" | "%ENV" | "$_ENV" | "$_SERVER" | "ENV" => true,
            "env" => of(&["process", "Bun", "Deno"]),
            _ => false,
        };
        if name == "getenv" && self.is_mark(at + 1, "(") {
            return Some(self.argument(at + 1));
        }
        if !is_whole {
            return None;
        }
        Some(match (self.tokens.get(at + 1), self.name(at + 2)) {
            (Some(Token::Mark("[" | "{")), _) => self.argument(at + 1),
            (Some(Token::Mark("." | "?." | "&.")), Some(member)) => match member {
                "get" | "fetch" | "pop" => self.argument(at + 3),
                _ if ENVIRONMENT_NAMES_ONLY.contains(member) => (Taken::Names, at + 3),
                _ if name == "env" && member != "toObject" => {
                    (Taken::One(member.to_owned()), at + 3)
                }
                _ => (Taken::All, at + 3),
            },
            _ => (self.whole(at), at + 1),
        })
    }

    /// Returns what the brackets that open at `at` select.
    fn argument(&self, at: usize) -> (Taken, usize) {
        match (self.tokens.get(at + 1), self.tokens.get(at + 2)) {
            (Some(Token::Text(Some(name)) | Token::Name(name)), Some(Token::Mark(mark)))
                if matches!(*mark, "]" | "}" | ")" | ",")
                    && !(self.is_mark(at, "[") && self.name(at + 1).is_some())
                    && !(self.is_mark(at, "(") && self.name(at + 1).is_some()) =>
            {
                let end = if *mark == "," { at + 4 } else { at + 2 };
                (Taken::One(name.clone()), end + 1)
            }
            _ => (Taken::Computed, at + 3),
        }
    }

    /// Returns what is taken where the environment stands as a whole.
    fn whole(&self, at: usize) -> Taken {
        // `process.env` begins two tokens earlier than its last name.
        let start = match at.checked_sub(2) {
            Some(start) if self.is_mark(at - 1, ".") => start,
            _ => at,
        };
        let before = start.checked_sub(1);
        let asked = before.is_some_and(|at| self.is_name(at, "in") || self.is_name(at, "keys"));
        let called = before
            .filter(|at| self.is_mark(*at, "("))
            .and_then(|at| at.checked_sub(1));
        let names = called
            .and_then(|at| self.name(at))
            .is_some_and(|name| ENVIRONMENT_NAMES_ONLY.contains(name));
        if asked || names {
            Taken::Names
        } else {
            Taken::All
        }
    }

    /// Returns the names that variables with credentials are given, or all variables one after the other.
    fn held(&self) -> HashSet<&'a str> {
        let mut held = HashSet::new();
        for at in 0..self.tokens.len() {
            // `from os import environ as e`
            if self.is_name(at, "environ") && self.is_name(at + 1, "as") {
                held.extend(self.name(at + 2));
            }
            if self.is_name(at, "process")
                && self.is_mark(at.saturating_sub(1), "=")
                && !self.is_mark(at + 1, ".")
            {
                held.insert("env");
            }
            let Some((taken, end)) = self.taken(at) else {
                continue;
            };
            match taken {
                Taken::One(name) if is_secret_variable(&name) => held.extend(self.assigned(at)),
                Taken::All => {
                    held.extend(self.assigned(at));
                    held.extend(self.each(at, end));
                }
                Taken::One(_) | Taken::Computed | Taken::Names => {}
            }
        }
        // What such a name is assigned to holds the same.
        for at in 0..self.tokens.len() {
            if self.name(at).is_some_and(|name| held.contains(name)) {
                held.extend(self.assigned(at));
            }
        }
        held
    }

    /// Returns the name that the value at `at` is assigned to.
    fn assigned(&self, at: usize) -> Option<&'a str> {
        let near = (at.saturating_sub(NEARBY)..at).rev();
        let mut near = near.take_while(|at| {
            !matches!(
                self.tokens.get(*at),
                Some(Token::Newline | Token::Mark(";" | "," | "{" | "**" | "..."))
            )
        });
        let sign = near.find(|at| self.is_mark(*at, "="))?;
        let calls = |at: usize| self.is_mark(at, "(") && self.opened(at) == Some(false);
        if (sign..at).any(calls) || self.is_name(at + 1, "if") {
            return None;
        }
        sign.checked_sub(1)
            .and_then(|at| self.name(at))
            .filter(|name| *name != "env")
    }

    /// Returns the name that the values of all variables get, one after the other: `for k, v in …`,
    /// `each { |k, v| … }`, `forEach(([k, v]) => …)`.
    fn each(&self, at: usize, end: usize) -> Option<&'a str> {
        let near = at.saturating_sub(NEARBY)..at;
        let looped = near
            .rev()
            .find(|at| self.is_name(*at, "in") || self.is_name(*at, "of"));
        let behind = || {
            let mut near = end..end + NEARBY;
            let arrow = near.find(|at| self.is_mark(*at, "=>") || self.is_mark(*at, "|"))?;
            if self.is_mark(arrow, "|") {
                return (arrow + 1..arrow + 6).find(|at| self.is_mark(*at, "|"));
            }
            Some(arrow)
        };
        let end = looped.or_else(behind)?;
        (end.saturating_sub(4)..end)
            .rev()
            .find_map(|at| self.name(at))
    }

    /// Whether the value between `at` and `end` is only asked for, and not shown.
    fn is_tested(&self, at: usize, end: usize) -> bool {
        let start = match at.checked_sub(2) {
            Some(start) if self.is_mark(at.saturating_sub(1), ".") => start,
            _ => at,
        };
        let before = start.checked_sub(1).and_then(|at| self.tokens.get(at));
        let compares = |mark: &str| matches!(mark, "==" | "!=" | "===" | "!==");
        let is_question = match before {
            Some(Token::Name(name)) => ENVIRONMENT_QUESTIONS.contains(name.as_str()),
            Some(Token::Mark(mark)) => *mark == "!" || compares(mark),
            _ => false,
        };
        let is_test = |at: usize| match self.tokens.get(at) {
            Some(Token::Name(name)) => ENVIRONMENT_TESTS.contains(name.as_str()),
            Some(Token::Mark(mark)) => compares(mark) || matches!(*mark, "?" | "&&"),
            _ => false,
        };
        let asks = |at: usize| (self.is_mark(at, ".") || self.is_mark(at, "?.")) && is_test(at + 1);
        is_question || is_test(end) || asks(end)
    }

    /// Whether a text of the code is the name of a variable with a credential, or the code goes through
    /// all names.
    fn may_name_secret(&self) -> bool {
        let is_secret =
            |token: &Token| matches!(token, Token::Text(Some(name)) if is_secret_variable(name));
        let goes_through = |at: usize| {
            matches!(self.taken(at), Some((Taken::Names, _)))
                && (at.saturating_sub(NEARBY)..at).any(|at| self.is_name(at, "for"))
        };
        self.tokens.iter().any(is_secret) || (0..self.tokens.len()).any(goes_through)
    }
}
