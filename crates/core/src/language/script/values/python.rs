//! Goes through Python statement by statement, for what it binds.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "tokens of all other kinds bind nothing"
)]

use super::calls::Function;
use super::gather::{Block, Gathered, statement_end, value_end};
use super::texts::{changes_list, is_update};
use super::{Bound, Range};
use crate::language::script::lexer::{Indents, Token};

/// Finds what a script binds its names to.
pub(super) fn gather<'a>(tokens: &'a [Token], indents: &Indents) -> Gathered<'a> {
    let mut reader = Python {
        tokens,
        gathered: Gathered::default(),
        functions: Vec::new(),
        blocks: Vec::new(),
        indent: 0,
        start: 0,
        depth: 0,
        in_import: false,
        decorated: false,
        kept: Vec::new(),
        is_kept: true,
    };
    let mut indents = indents.iter().peekable();
    for (at, token) in tokens.iter().enumerate() {
        while let Some((place, blanks)) = indents.next_if(|(place, _)| *place <= at) {
            if reader.depth == 0 && *place == at && *token != Token::Newline {
                reader.indent = *blanks;
                reader.blocks.retain(|block| block.indent < *blanks);
            }
        }
        match token {
            Token::Mark(mark) => reader.mark(at, mark),
            Token::Newline => reader.ends(at),
            Token::Name(word) => reader.word(at, word),
            Token::Variable(_)
            | Token::Symbol(_)
            | Token::Text(_)
            | Token::Command(_)
            | Token::Number => {}
        }
    }
    let mut gathered = reader.gathered;
    // Whoever writes a decorator of that name decides what it does.
    if KEEPING.iter().any(|name| gathered.own.contains(name)) {
        gathered.decorated.extend(reader.kept);
    }
    gathered.calls(tokens, &reader.functions);
    gathered.share(tokens);
    gathered
}

/// The place in a script, and what was found up to it.
#[derive(Debug)]
struct Python<'a> {
    tokens: &'a [Token],
    gathered: Gathered<'a>,
    functions: Vec<Function<'a>>,
    /// Functions and classes whose bodies the line may belong to.
    blocks: Vec<Block<'a>>,
    indent: usize,
    /// Where the statement begins.
    start: usize,
    /// Open brackets.
    depth: usize,
    in_import: bool,
    decorated: bool,
    /// Functions whose decorators return what the functions return.
    kept: Vec<&'a str>,
    /// Whether all decorators of the next function are such.
    is_kept: bool,
}

impl<'a> Python<'a> {
    fn before(&self, at: usize) -> Option<&'a Token> {
        at.checked_sub(1).and_then(|at| self.tokens.get(at))
    }

    /// A statement ends, unless a bracket is open.
    fn ends(&mut self, at: usize) {
        if self.depth == 0 {
            self.start = at + 1;
            self.in_import = false;
        }
    }

    fn mark(&mut self, at: usize, mark: &str) {
        match mark {
            "(" | "[" | "{" => self.depth += 1,
            ")" | "]" | "}" => self.depth = self.depth.saturating_sub(1),
            ";" => self.ends(at),
            ":" if self.depth == 0 && opens_block(self.tokens.get(self.start)) => {
                self.start = at + 1;
            }
            "@" if at == self.start => {
                self.decorated = true;
                self.is_kept &= self.keeps(at);
            }
            // What is given by name may become a parameter or a field.
            "=" if self.depth > 0 => {
                let value = (at + 1, value_end(self.tokens, at + 1));
                self.gathered.before(self.tokens, at, value);
                if let Some(Token::Name(name)) = self.before(at) {
                    self.gathered.bind_attribute(name, Bound::Value(value));
                }
            }
            "=" => {
                let value = (at + 1, statement_end(self.tokens, at + 1));
                self.gathered.targets(self.tokens, self.start, at, value);
                if self.blocks.last().is_some_and(|block| block.is_class) {
                    self.fields(at, value);
                }
                // `a = b = …` binds both to the same.
                self.start = at + 1;
            }
            ":=" => {
                let value = (at + 1, value_end(self.tokens, at + 1));
                self.gathered.before(self.tokens, at, value);
            }
            mark if self.depth == 0 && is_update(mark) => {
                self.gathered.before_anything(self.tokens, at);
            }
            _ => {}
        }
    }

    /// Whether the decorator at `at` leaves alone what a function returns.
    fn keeps(&self, at: usize) -> bool {
        let names = self.tokens.get(at + 1..).unwrap_or_default();
        let mut names = names
            .iter()
            .take_while(|token| !token.is_mark("(") && **token != Token::Newline);
        let last = names.by_ref().filter_map(|token| match token {
            Token::Name(name) => Some(name.as_str()),
            _ => None,
        });
        last.last().is_some_and(|name| KEEPING.contains(&name))
    }

    /// A field is also set by whoever makes an object of the class.
    fn fields(&mut self, at: usize, value: Range) {
        for token in self.tokens.get(self.start..at).unwrap_or_default() {
            match token {
                Token::Name(name) => {
                    self.gathered.assigned.push((name, value));
                    self.gathered.computes_texts |= computes(name);
                    self.gathered.bind_attribute(name, Bound::Element(value));
                    self.gathered.bind_attribute(name, Bound::Value(value));
                }
                Token::Mark(":") => {
                    if let Some(Token::Name(name)) = self.tokens.get(self.start) {
                        self.gathered.bind_attribute(name, Bound::Anything);
                    }
                }
                _ => {}
            }
        }
    }

    fn word(&mut self, at: usize, word: &str) {
        let tokens = self.tokens;
        match word {
            "import" | "from" if self.depth == 0 => self.in_import = true,
            "for" => self.gathered.loop_targets(tokens, at),
            "as" if !self.in_import => self.gathered.context(tokens, at),
            "def" | "class" => self.defines(at, word == "class"),
            "case" if at == self.start => self.gathered.captures(tokens, at),
            "setattr" => self.gathered.set_attribute(tokens, at),
            "lambda" => {
                self.gathered.lambda(tokens, at);
                self.named_lambda(at);
            }
            "return" | "yield" => {
                let function = self.blocks.iter().rev().find(|block| !block.is_class);
                if let Some(function) = function {
                    // What a generator yields is not followed.
                    let to = if word == "yield" {
                        at + 1
                    } else {
                        statement_end(tokens, at + 1)
                    };
                    let returned = self.gathered.returned.entry(function.name);
                    returned.or_default().push((at + 1, to));
                }
            }
            "del" if at == self.start => self.gathered.deletes(tokens, at),
            "setitem" | "iconcat" | "iadd" => self.gathered.changes_first(tokens, at),
            word if changes_list(word) => {
                self.gathered.mutates(tokens, at);
                let of_class = |at: usize| {
                    tokens.get(at).is_some_and(|token| {
                        ["dict", "list", "set"]
                            .iter()
                            .any(|name| token.is_name(name))
                    })
                };
                if at.checked_sub(2).is_some_and(of_class) {
                    self.gathered.changes_first(tokens, at);
                }
            }
            _ => {}
        }
    }

    /// `f = lambda a: …` is a function called `f`.
    fn named_lambda(&mut self, at: usize) {
        let before = |back: usize| at.checked_sub(back).and_then(|at| self.tokens.get(at));
        let (Some(Token::Mark("=")), Some(Token::Name(name))) = (before(1), before(2)) else {
            return;
        };
        let names = self.tokens.get(at + 1..).unwrap_or_default();
        let names = names
            .iter()
            .take_while(|token| !token.is_mark(":"))
            .take(64);
        let parameters = names.filter_map(|token| match token {
            Token::Name(name) => Some(name.as_str()),
            _ => None,
        });
        self.functions.push(Function {
            called: name,
            parameters: parameters.collect(),
            is_method: false,
            called_by_others: false,
        });
    }

    fn defines(&mut self, at: usize, is_class: bool) {
        let Some(Token::Name(name)) = self.tokens.get(at + 1) else {
            return;
        };
        let class = self.blocks.last().filter(|block| block.is_class);
        let called = match class {
            Some(class) if name == "__init__" => class.name,
            _ => name.as_str(),
        };
        self.gathered.own.insert(name);
        if !is_class {
            let mut function = self.gathered.function(self.tokens, at + 2, called);
            let by_language = name.starts_with("__") && name != "__init__";
            function.called_by_others = self.decorated || by_language;
            self.functions.push(function);
            self.gathered.computes_attributes |= matches!(
                name.as_str(),
                "__getattr__" | "__getattribute__" | "__get__"
            );
        }
        if self.is_kept {
            self.kept.push(name);
        } else {
            self.gathered.decorated.insert(name);
        }
        self.is_kept = true;
        self.gathered.computes_texts |= computes(name);
        self.decorated = false;
        self.blocks.push(Block {
            indent: self.indent,
            name,
            is_class,
        });
    }
}

/// Decorators that leave alone what a function returns.
const KEEPING: [&str; 10] = [
    "staticmethod",
    "classmethod",
    "property",
    "cache",
    "lru_cache",
    "cached_property",
    "abstractmethod",
    "override",
    "final",
    "dataclass",
];

/// Whether a method of this name says what an object is when it is added to a text or shown in one.
fn computes(name: &str) -> bool {
    let operates = |start: &str| {
        name.strip_prefix(start).is_some_and(|rest| {
            ["add__", "truediv__", "mod__", "mul__", "matmul__"].contains(&rest)
        })
    };
    matches!(
        name,
        "__str__" | "__format__" | "__fspath__" | "__repr__" | "__getitem__" | "__missing__"
    ) || operates("__")
        || operates("__r")
        || operates("__i")
}

/// Whether a statement that begins so has a body behind a colon.
fn opens_block(first: Option<&Token>) -> bool {
    const WORDS: [&str; 14] = [
        "if", "elif", "else", "for", "while", "try", "except", "finally", "with", "def", "class",
        "async", "match", "case",
    ];
    matches!(first, Some(Token::Name(word)) if WORDS.contains(&word.as_str()))
}
