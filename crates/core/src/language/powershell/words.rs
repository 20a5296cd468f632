//! Splits PowerShell text into commands and words.

use crate::encoding::base64;
use crate::language::cursor::Cursor;

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
    /// Whether an opening parenthesis follows directly: a method is called.
    pub(super) is_invoked: bool,
    /// The string that is the first argument of that method.
    pub(super) argument: Option<String>,
    /// Whether it is assigned to.
    pub(super) is_assigned: bool,
    /// Whether a string with `$` in double quotes is part of it.
    expands: bool,
}

impl Word {
    /// Whether its text is known only when the command runs.
    pub(super) fn is_computed(&self) -> bool {
        self.expands || (!self.is_quoted && self.text.starts_with('$') && !self.is_constant())
    }

    fn is_constant(&self) -> bool {
        matches!(
            self.text.to_ascii_lowercase().as_str(),
            "$true" | "$false" | "$null"
        )
    }

    pub(super) fn is_parameter(&self) -> bool {
        !self.is_quoted
            && self
                .text
                .strip_prefix('-')
                .is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic()))
    }
}

/// One command: what stands between pipes, semicolons and brackets.
#[derive(Debug, Default)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    /// Files output is sent to; `None` when the name is missing.
    pub(super) redirects: Vec<Option<String>>,
    /// Whether `&` or `.` stands before it.
    pub(super) is_called: bool,
    /// Whether it stands in the parentheses of a method.
    pub(super) is_argument: bool,
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
            words => words,
        };
        words.split_first()
    }
}

/// A text cut into commands.
#[derive(Debug, Default)]
pub(super) struct Split {
    pub(super) commands: Vec<Command>,
    /// Code inside strings, `"$(…)"`.
    pub(super) embedded: Vec<String>,
}

/// Cuts `text` into commands; `None` when a quote does not end.
pub(super) fn split(text: &str) -> Option<Split> {
    let mut splitter = Splitter {
        cursor: Cursor::new(text),
        split: Split::default(),
        command: Command::default(),
    };
    splitter.run()?;
    splitter.end();
    Some(splitter.split)
}

struct Splitter {
    cursor: Cursor,
    split: Split,
    command: Command,
}

impl Splitter {
    fn end(&mut self) {
        let command = std::mem::take(&mut self.command);
        if !command.words.is_empty() || !command.redirects.is_empty() {
            self.split.commands.push(command);
        }
    }

    fn run(&mut self) -> Option<()> {
        while let Some(c) = self.cursor.peek() {
            match c {
                '\n' | '\r' | ';' | '|' | '}' | ')' | '{' => {
                    self.cursor.bump();
                    self.end();
                }
                _ if c.is_whitespace() => {
                    self.cursor.bump();
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
                    && self.cursor.peek_at(1).is_some_and(char::is_whitespace) =>
                {
                    self.cursor.bump();
                    self.command.is_called = true;
                }
                '(' => {
                    self.cursor.bump();
                    // What is called is computed in the parentheses.
                    if self.command.is_called && self.command.words.is_empty() {
                        self.command.words.push(Word {
                            text: "$()".to_owned(),
                            ..Word::default()
                        });
                    }
                    self.end();
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
        if self.cursor.eat('&') || !self.command.words.is_empty() {
            self.end();
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
        let before = self.command.words.len();
        if self
            .cursor
            .peek()
            .is_some_and(|c| !matches!(c, '\n' | ';' | '|' | ')' | '}'))
        {
            self.word()?;
        }
        let file = if self.command.words.len() > before {
            self.command.words.pop().map(|word| word.text)
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
                '\'' | '\u{2018}' | '\u{2019}' => {
                    self.cursor.bump();
                    word.is_quoted = true;
                    self.single_quoted(&mut word)?;
                }
                '"' | '\u{201C}' | '\u{201D}' => {
                    self.cursor.bump();
                    word.is_quoted = true;
                    self.double_quoted(&mut word)?;
                }
                '@' if matches!(self.cursor.peek_at(1), Some('\'' | '"')) => {
                    let quote = self.cursor.peek_at(1)?;
                    self.cursor.skip(2);
                    let body = self.cursor.take_until(&format!("\n{quote}@"))?;
                    word.is_quoted = true;
                    word.expands |= quote == '"' && body.contains('$');
                    word.text.push_str(&body);
                }
                '`' => {
                    self.cursor.bump();
                    word.text.extend(self.cursor.bump());
                }
                '$' if self.cursor.peek_at(1) == Some('{') => {
                    let name = self.cursor.take_until("}")?;
                    word.text.push('$');
                    word.text.push_str(name.get(2..).unwrap_or_default());
                }
                '$' | '@' if matches!(self.cursor.peek_at(1), Some('(' | '{')) => {
                    self.cursor.bump();
                    word.text.push('$');
                    word.expands = true;
                    break;
                }
                '(' => {
                    // `$x.Method(` and `[Type]::Method(` call; other words do not touch it.
                    word.is_invoked = word.text.contains('.') || word.text.contains("::");
                    break;
                }
                '=' if word.text.starts_with('$') && self.cursor.peek_at(1) != Some('=') => {
                    word.is_assigned = true;
                    break;
                }
                '\n' | '\r' | ';' | '|' | ')' | '{' | '}' | '&' => break,
                '>' if !word.text.starts_with('-') => break,
                _ if c.is_whitespace() => break,
                _ => {
                    word.text.push(c);
                    self.cursor.bump();
                }
            }
        }
        if word.text.starts_with('=') && word.text.len() > 1 && !word.is_quoted {
            // `$x=Get-Item` glues the sign to what is assigned.
            let value = word.text.split_off(1);
            self.command.words.push(word);
            word = Word {
                text: value,
                ..Word::default()
            };
        }
        if word.text.is_empty() && !word.is_quoted {
            // Nothing was taken that makes a word; go on behind it.
            if !matches!(self.cursor.peek(), Some('(' | '{' | '=')) {
                self.cursor.bump();
            } else if self.cursor.peek() == Some('=') {
                self.cursor.bump();
                self.command.words.push(Word {
                    text: "=".to_owned(),
                    ..Word::default()
                });
            }
            return Some(());
        }
        let is_invoked = word.is_invoked;
        self.assignment_sign(&mut word);
        self.command.words.push(word);
        if is_invoked {
            self.method_arguments()?;
        }
        Some(())
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

    /// The first argument of a method, if it is a string; what is left is cut like other text.
    fn method_arguments(&mut self) -> Option<()> {
        self.cursor.bump();
        self.cursor.take_while(|c| c == ' ');
        let argument = match self.cursor.peek() {
            Some(quote @ ('\'' | '"')) => {
                self.cursor.bump();
                let mut word = Word::default();
                if quote == '\'' {
                    self.single_quoted(&mut word)?;
                } else {
                    self.double_quoted(&mut word)?;
                }
                (!word.expands).then_some(word.text)
            }
            _ => None,
        };
        if let Some(word) = self.command.words.last_mut() {
            word.argument = argument;
        }
        self.end();
        self.command.is_argument = true;
        Some(())
    }

    fn single_quoted(&mut self, word: &mut Word) -> Option<()> {
        loop {
            match self.cursor.bump()? {
                '\'' | '\u{2018}' | '\u{2019}' if !self.cursor.eat('\'') => return Some(()),
                c => word.text.push(c),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut Word) -> Option<()> {
        loop {
            match self.cursor.bump()? {
                '"' | '\u{201C}' | '\u{201D}' if !self.cursor.eat('"') => return Some(()),
                '`' => word.text.extend(self.cursor.bump()),
                '$' if self.cursor.eat('(') => {
                    word.expands = true;
                    let code = self.subexpression()?;
                    self.split.embedded.push(code);
                }
                c => {
                    word.expands |= c == '$';
                    word.text.push(c);
                }
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
