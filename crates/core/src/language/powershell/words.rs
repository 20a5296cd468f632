//! Splits PowerShell text into commands and words.
//!
//! Commands in parentheses and blocks stand before the command that contains them, in the order in
//! which they would run; the outer command keeps a word in their place.

use crate::encoding::base64;
use crate::language::cursor::{Cursor, continues_name};

/// One word of a command.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one independent fact about a word"
)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether any of it stood in quotes.
    pub(super) is_quoted: bool,
    /// Whether any of it stood outside quotes.
    pub(super) is_bare: bool,
    /// Whether an opening parenthesis follows directly: a method is called.
    pub(super) is_invoked: bool,
    /// Whether it is assigned to.
    pub(super) is_assigned: bool,
    /// Whether a comma follows: the next word belongs to the same list.
    pub(super) joins: bool,
    /// Where in the text variables begin that are put in.
    pub(super) variables: Vec<usize>,
    /// Whether the result of code is part of it.
    pub(super) has_code: bool,
    /// The group whose commands make its value, or the arguments of the method it calls.
    pub(super) group: Option<usize>,
}

impl Word {
    /// Whether its text is known only when the command runs.
    pub(super) fn is_computed(&self) -> bool {
        self.has_code || !self.variables.is_empty() && !self.is_constant()
    }

    pub(super) fn is_constant(&self) -> bool {
        matches!(
            self.text.to_ascii_lowercase().as_str(),
            "$true" | "$false" | "$null"
        )
    }

    /// Whether it is one string in quotes and nothing else, without anything put in.
    pub(super) fn is_literal(&self) -> bool {
        let is_number = || !self.text.is_empty() && self.text.bytes().all(|b| b.is_ascii_digit());
        !self.is_computed() && (self.is_quoted && !self.is_bare || is_number())
    }

    pub(super) fn is_parameter(&self) -> bool {
        !self.is_quoted
            && self
                .text
                .strip_prefix('-')
                .is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic()))
    }

    fn placed(group: usize) -> Self {
        Self {
            text: "$()".to_owned(),
            is_bare: true,
            has_code: true,
            group: Some(group),
            ..Self::default()
        }
    }

    fn sign(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_bare: true,
            ..Self::default()
        }
    }
}

/// One command: what stands between pipes, semicolons and brackets.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one independent fact about a command"
)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    /// Files output is sent to; `None` when the name is missing.
    pub(super) redirects: Vec<Option<Word>>,
    /// Whether `&` or `.` stands before it.
    pub(super) is_called: bool,
    /// Whether that is the dot, which keeps what the command sets.
    pub(super) is_sourced: bool,
    /// The group it stands in.
    pub(super) group: usize,
    /// Whether a pipe leads into it.
    pub(super) is_piped: bool,
    /// Whether a pipe leads out of it.
    pub(super) pipes: bool,
}

impl Command {
    /// The command's name and its arguments, behind an assignment if there is one.
    pub(super) fn name_and_rest(&self) -> Option<(&Word, &[Word])> {
        let words = match self.words.as_slice() {
            [_, equals, rest @ ..]
                if matches!(equals.text.as_str(), "=" | "+=") && !equals.is_quoted =>
            {
                rest
            }
            // `foreach ($x in command)`
            [variable, within, rest @ ..]
                if variable.text.starts_with('$')
                    && within.text.eq_ignore_ascii_case("in")
                    && !within.is_quoted =>
            {
                rest
            }
            words => words,
        };
        words.split_first()
    }

    /// The command's name, in lower case; empty where it has none.
    pub(super) fn name(&self) -> String {
        let name = self.name_and_rest().map(|(name, _)| name);
        name.filter(|name| !name.is_quoted || self.is_called)
            .map(|name| name.text.to_ascii_lowercase())
            .unwrap_or_default()
    }
}

/// What a pair of brackets is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Brackets {
    /// The text itself, which has none.
    None,
    /// `(…)`, `$(…)` and `@(…)`.
    Value,
    /// The arguments of a method or of an attribute.
    Method,
    /// A block of commands.
    Block,
    /// `@{key = value}`.
    Table,
}

/// A pair of brackets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) brackets: Brackets,
    /// The group it stands in.
    pub(super) outer: usize,
}

/// A text cut into commands.
#[derive(Debug, Default)]
pub(super) struct Split {
    pub(super) commands: Vec<Command>,
    pub(super) groups: Vec<Group>,
    /// Code inside strings, `"$(…)"`.
    pub(super) embedded: Vec<String>,
}

impl Split {
    pub(super) fn brackets(&self, group: usize) -> Brackets {
        self.groups
            .get(group)
            .map_or(Brackets::None, |group| group.brackets)
    }
}

/// Cuts `text` into commands; `None` when a quote or bracket does not end.
pub(super) fn split(text: &str, is_keyword: fn(&str) -> bool) -> Option<Split> {
    let mut splitter = Splitter {
        cursor: Cursor::new(text),
        split: Split::default(),
        command: Command::default(),
        waiting: Vec::new(),
        is_keyword,
    };
    splitter.split.groups.push(Group {
        brackets: Brackets::None,
        outer: 0,
    });
    splitter.run()?;
    splitter.end(false);
    splitter.waiting.is_empty().then_some(splitter.split)
}

/// Brackets inside each other that are followed.
const OPEN_MAX: usize = 64;

struct Splitter {
    cursor: Cursor,
    split: Split,
    command: Command,
    /// Commands whose brackets are open, the innermost last, with the number of the group.
    waiting: Vec<Command>,
    is_keyword: fn(&str) -> bool,
}

impl Splitter {
    fn end(&mut self, pipes: bool) {
        let next = Command {
            group: self.command.group,
            is_piped: pipes,
            ..Command::default()
        };
        let mut command = std::mem::replace(&mut self.command, next);
        command.pipes = pipes;
        if !command.words.is_empty() || !command.redirects.is_empty() {
            self.split.commands.push(command);
        }
    }

    /// Opens brackets: the command at hand waits until they are closed.
    fn open(&mut self, brackets: Brackets) -> Option<()> {
        let outer = self.command.group;
        let group = self.split.groups.len();
        self.split.groups.push(Group { brackets, outer });
        if brackets != Brackets::Method {
            self.command.words.push(Word::placed(group));
        }
        if self.waiting.len() >= OPEN_MAX {
            return None;
        }
        let inner = Command {
            group,
            ..Command::default()
        };
        self.waiting
            .push(std::mem::replace(&mut self.command, inner));
        Some(())
    }

    /// Closes brackets and goes on with the command that they stand in.
    fn close(&mut self) -> Option<()> {
        self.end(false);
        let closed = self.split.brackets(self.command.group);
        self.command = self.waiting.pop()?;
        // Behind the block of a keyword another command may begin at once.
        let name = self.command.name();
        let is_lone = self.command.words.len() == 1;
        if closed == Brackets::Block && (is_lone || (self.is_keyword)(&name)) {
            self.end(false);
        }
        Some(())
    }

    fn run(&mut self) -> Option<()> {
        while let Some(c) = self.cursor.peek() {
            match c {
                '\n' | '\r' | ';' => {
                    self.cursor.bump();
                    self.end(false);
                }
                '|' => {
                    self.cursor.bump();
                    let is_or = self.cursor.eat('|');
                    self.end(!is_or);
                    // A pipe may be followed by a line end.
                    while self.cursor.peek().is_some_and(char::is_whitespace) {
                        self.cursor.bump();
                    }
                }
                ')' | '}' => {
                    self.cursor.bump();
                    self.close()?;
                }
                '{' => {
                    self.cursor.bump();
                    self.open(Brackets::Block)?;
                }
                '(' => {
                    self.cursor.bump();
                    self.open(Brackets::Value)?;
                }
                _ if c.is_whitespace() => {
                    self.cursor.bump();
                }
                ',' => {
                    self.cursor.bump();
                    if let Some(last) = self.command.words.last_mut() {
                        last.joins = true;
                    }
                    // A list may go on in the next line.
                    while self.cursor.peek().is_some_and(char::is_whitespace) {
                        self.cursor.bump();
                    }
                }
                '#' => {
                    self.cursor.rest_of_line();
                }
                '<' if self.cursor.eat_text("<#") => {
                    self.cursor.take_until("#>")?;
                }
                '`' if matches!(self.cursor.peek_at(1), Some('\n' | '\r')) => self.cursor.skip(2),
                '&' => self.ampersand(),
                '.' if self.command.words.is_empty()
                    && self
                        .cursor
                        .peek_at(1)
                        .is_some_and(|c| c.is_whitespace() || "{($'\"".contains(c)) =>
                {
                    self.cursor.bump();
                    self.command.is_called = true;
                    self.command.is_sourced = true;
                }
                '>' => self.redirect()?,
                '0'..='9' | '*' if self.cursor.peek_at(1) == Some('>') => {
                    self.cursor.bump();
                    self.redirect()?;
                }
                _ => self.word()?,
            }
        }
        Some(())
    }

    fn ampersand(&mut self) {
        self.cursor.bump();
        // `$x = & program` keeps what the program prints.
        let last = self.command.words.last();
        let is_value = last.is_some_and(|word| !word.is_quoted && word.text == "=");
        if self.cursor.eat('&') || !self.command.words.is_empty() && !is_value {
            self.end(false);
        } else {
            self.command.is_called = true;
        }
    }

    fn redirect(&mut self) -> Option<()> {
        self.cursor.take_while(|c| c == '>');
        if self.cursor.eat('&') {
            self.cursor.bump();
            return Some(());
        }
        self.cursor.take_while(|c| c == ' ' || c == '\t');
        let (before, group) = (self.command.words.len(), self.command.group);
        if self
            .cursor
            .peek()
            .is_some_and(|c| !matches!(c, '\n' | ';' | '|' | ')' | '}'))
        {
            self.word()?;
        }
        let is_here = self.command.group == group && self.command.words.len() > before;
        let file = if is_here {
            self.command.words.pop()
        } else {
            None
        };
        self.command.redirects.push(file);
        Some(())
    }

    /// Takes one word with all its quoted parts.
    fn word(&mut self) -> Option<()> {
        let mut word = Word::default();
        while let Some(c) = self.cursor.peek() {
            match c {
                '\'' | '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' => {
                    self.cursor.bump();
                    word.is_bare |= word.is_quoted;
                    word.is_quoted = true;
                    self.single_quoted(&mut word)?;
                }
                '"' | '\u{201C}' | '\u{201D}' | '\u{201E}' => {
                    self.cursor.bump();
                    word.is_bare |= word.is_quoted;
                    word.is_quoted = true;
                    self.double_quoted(&mut word)?;
                }
                '@' if matches!(self.cursor.peek_at(1), Some('\'' | '"')) => {
                    self.here_string(&mut word)?;
                }
                '`' => {
                    self.cursor.bump();
                    word.is_bare = true;
                    word.text.extend(self.cursor.bump());
                }
                '$' if self.cursor.peek_at(1) == Some('{') => {
                    self.cursor.skip(2);
                    let name = self.cursor.take_until("}")?;
                    word.is_bare = true;
                    word.variables.push(word.text.len());
                    word.text.push('$');
                    word.text.push_str(&name);
                    word.has_code |= !self.is_plain_name(&name);
                }
                '$' | '@' if matches!(self.cursor.peek_at(1), Some('(' | '{')) => break,
                '(' => {
                    // `$x.Method(` and `[Type]::Method(` call; other words do not touch it.
                    word.is_invoked = word.text.contains('.') || word.text.contains("::");
                    break;
                }
                '=' if self.is_assignment(&word) => {
                    word.is_assigned = word.text.starts_with(['$', '[']);
                    break;
                }
                '\n' | '\r' | ';' | '|' | ')' | '{' | '}' | '&' | ',' | '>' => break,
                _ if c.is_whitespace() => break,
                _ => {
                    let next = self.cursor.peek_at(1);
                    if c == '$' && next.is_some_and(|c| continues_name(c) || "?^$:".contains(c)) {
                        word.variables.push(word.text.len());
                    }
                    word.is_bare = true;
                    word.text.push(c);
                    self.cursor.bump();
                }
            }
        }
        self.take_word(word)
    }

    /// Whether a name in braces is read the same without them.
    fn is_plain_name(&self, name: &str) -> bool {
        name.chars().all(|c| continues_name(c) || c == ':')
            && !self
                .cursor
                .peek()
                .is_some_and(|c| continues_name(c) || c == ':')
    }

    /// Whether the sign `=` at hand ends a word: what is left of it is set.
    fn is_assignment(&self, word: &Word) -> bool {
        if self.cursor.peek_at(1) == Some('=') {
            return false;
        }
        let is_key = self.split.brackets(self.command.group) == Brackets::Table
            && self.command.words.is_empty();
        let is_typed = word.text.starts_with(['[', ']']) && word.text.contains(']');
        word.text.starts_with('$') || is_typed || is_key || word.text.is_empty() && !word.is_quoted
    }

    fn take_word(&mut self, mut word: Word) -> Option<()> {
        if !word.text.is_empty() || word.is_quoted {
            let is_invoked = word.is_invoked;
            self.assignment_sign(&mut word);
            let is_attribute =
                word.text.starts_with('[') && !word.text.ends_with(']') && !word.is_quoted;
            self.command.words.push(word);
            if is_invoked {
                self.method_arguments()?;
            } else if is_attribute && self.cursor.eat('(') {
                self.open(Brackets::Method)?;
            }
            return Some(());
        }
        // Nothing was taken that makes a word: brackets or a sign follow.
        match self.cursor.peek() {
            Some('=') => {
                self.cursor.bump();
                self.command.words.push(Word::sign("="));
            }
            Some('$' | '@') => {
                let is_table =
                    self.cursor.peek() == Some('@') && self.cursor.peek_at(1) == Some('{');
                self.cursor.skip(2);
                self.open(if is_table {
                    Brackets::Table
                } else {
                    Brackets::Value
                })?;
            }
            Some('(' | '{' | ')' | '}') => {}
            _ => {
                self.cursor.bump();
            }
        }
        Some(())
    }

    /// Takes a text between `@'` and `'@` on lines of their own.
    fn here_string(&mut self, word: &mut Word) -> Option<()> {
        let quote = self.cursor.peek_at(1)?;
        self.cursor.skip(2);
        let body = self.cursor.take_until(&format!("\n{quote}@"))?;
        let body = body.strip_prefix('\r').unwrap_or(&body);
        let body = body.strip_prefix('\n').unwrap_or(body);
        word.is_bare |= word.is_quoted;
        word.is_quoted = true;
        if quote == '\'' {
            word.text.push_str(body);
            return Some(());
        }
        let outer = std::mem::replace(&mut self.cursor, Cursor::new(body));
        let taken = self.expanded(word, |_| false);
        self.cursor = outer;
        taken
    }

    /// Notes that a variable is assigned to when the sign follows after a blank.
    fn assignment_sign(&self, word: &mut Word) {
        let mut ahead = 0;
        while matches!(self.cursor.peek_at(ahead), Some(' ' | '\t')) && ahead < 8 {
            ahead += 1;
        }
        let next = (self.cursor.peek_at(ahead), self.cursor.peek_at(ahead + 1));
        word.is_assigned |= matches!(next, (Some('='), _) | (Some('+'), Some('=')));
    }

    /// Opens the parentheses behind a method; its word keeps the group of its arguments.
    fn method_arguments(&mut self) -> Option<()> {
        self.cursor.bump();
        let group = self.split.groups.len();
        if let Some(word) = self.command.words.last_mut() {
            word.group = Some(group);
        }
        self.open(Brackets::Method)
    }

    fn single_quoted(&mut self, word: &mut Word) -> Option<()> {
        loop {
            match self.cursor.bump()? {
                '\'' | '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}'
                    if !self.cursor.eat('\'') =>
                {
                    return Some(());
                }
                c => word.text.push(c),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut Word) -> Option<()> {
        self.expanded(word, |c| {
            matches!(c, '"' | '\u{201C}' | '\u{201D}' | '\u{201E}')
        })
    }

    /// Takes text into which variables and code are put, up to what `ends` it.
    fn expanded(&mut self, word: &mut Word, ends: fn(char) -> bool) -> Option<()> {
        loop {
            let Some(c) = self.cursor.bump() else {
                // Only a text on lines of its own ends with them.
                return (!ends('"')).then_some(());
            };
            match c {
                c if ends(c) => {
                    if !self.cursor.eat('"') {
                        return Some(());
                    }
                    word.text.push(c);
                }
                '`' => {
                    let escaped = self.cursor.bump();
                    // Some letters stand for characters that cannot be seen.
                    word.has_code |= escaped.is_some_and(|c| "0abefruv".contains(c));
                    word.text.extend(match escaped {
                        Some('n') => Some('\n'),
                        Some('t') => Some('\t'),
                        escaped => escaped,
                    });
                }
                '$' if self.cursor.eat('(') => {
                    word.has_code = true;
                    let code = self.subexpression()?;
                    self.split.embedded.push(code);
                    word.text.push_str("$()");
                }
                '$' if self.cursor.eat('{') => {
                    let name = self.cursor.take_until("}")?;
                    word.variables.push(word.text.len());
                    word.text.push('$');
                    word.text.push_str(&name);
                    word.has_code |= !self.is_plain_name(&name);
                }
                '$' if self
                    .cursor
                    .peek()
                    .is_some_and(|c| continues_name(c) || "?^$".contains(c)) =>
                {
                    word.variables.push(word.text.len());
                    word.text.push('$');
                }
                c => word.text.push(c),
            }
        }
    }

    fn subexpression(&mut self) -> Option<String> {
        let mut code = String::new();
        let mut depth = 0_usize;
        loop {
            let c = self.cursor.bump()?;
            match c {
                '(' => depth += 1,
                ')' if depth == 0 => return Some(code),
                ')' => depth -= 1,
                _ => {}
            }
            code.push(c);
        }
    }
}

/// The text of an encoded command: UTF-16 in base64.
pub(super) fn decode(encoded: &str) -> Option<String> {
    let encoded = encoded.trim().trim_matches(['"', '\'']);
    let bytes = base64(encoded.as_bytes())?;
    let units: Option<Vec<u16>> = bytes
        .chunks(2)
        .map(|pair| match pair {
            [low, high] => Some(u16::from_le_bytes([*low, *high])),
            _ => None,
        })
        .collect();
    String::from_utf16(&units?)
        .ok()
        .filter(|text| !text.is_empty())
}
