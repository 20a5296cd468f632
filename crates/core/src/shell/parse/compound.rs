//! Compound commands: groups, branches, loops, functions.

use super::{Parsed, Parser};
use crate::shell::syntax::{Block, Command, Span, Word};

impl Parser<'_> {
    pub(super) fn subshell(&mut self) -> Parsed<Command> {
        self.at += 1;
        let body = self.block()?;
        if self.peek() != Some(b')') {
            return Err(self.error("a parenthesis is not closed"));
        }
        self.at += 1;
        Ok(Command::Group {
            body,
            subshell: true,
            redirects: self.redirects()?,
        })
    }

    pub(super) fn brace_group(&mut self) -> Parsed<Command> {
        self.at += 1;
        let body = self.block()?;
        if !self.take_word("}") {
            return Err(self.error("a brace is not closed"));
        }
        Ok(Command::Group {
            body,
            subshell: false,
            redirects: self.redirects()?,
        })
    }

    pub(super) fn if_command(&mut self) -> Parsed<Command> {
        self.at += "if".len();
        let mut blocks = vec![self.block()?];
        self.expect_word("then", "`if` has no `then`")?;
        blocks.push(self.block()?);
        loop {
            self.burn()?;
            if self.take_word("elif") {
                blocks.push(self.block()?);
                self.expect_word("then", "`elif` has no `then`")?;
                blocks.push(self.block()?);
            } else if self.take_word("else") {
                blocks.push(self.block()?);
            } else if self.take_word("fi") {
                return Ok(Command::Branches {
                    repeats: false,
                    words: Vec::new(),
                    blocks,
                    redirects: self.redirects()?,
                });
            } else {
                return Err(self.error("`if` is not closed by `fi`"));
            }
        }
    }

    pub(super) fn while_command(&mut self) -> Parsed<Command> {
        let repeats = self.rest().starts_with("while");
        self.at += "while".len();
        let condition = self.block()?;
        let body = self.do_group()?;
        Ok(Command::Branches {
            repeats,
            words: Vec::new(),
            blocks: vec![condition, body],
            redirects: self.redirects()?,
        })
    }

    /// Reads `do … done` or, as bash also allows, `{ … }`.
    pub(super) fn do_group(&mut self) -> Parsed<Block> {
        self.skip_lines()?;
        let close = if self.take_word("do") {
            "done"
        } else if self.take_word("{") {
            "}"
        } else {
            return Err(self.error("a loop has no `do`"));
        };
        let body = self.block()?;
        if self.take_word(close) {
            Ok(body)
        } else {
            Err(self.error("a loop is not closed by `done`"))
        }
    }

    pub(super) fn for_command(&mut self) -> Parsed<Command> {
        self.at += self.bare_word().len();
        self.skip_blanks();
        if self.peek() == Some(b'(') && self.peek_at(1) == Some(b'(') {
            self.at += 2;
            let parts = self.arithmetic_parts()?;
            self.skip_blanks();
            if self.peek() == Some(b';') {
                self.at += 1;
            }
            let body = self.do_group()?;
            let words = vec![Word {
                parts,
                span: Span::default(),
            }];
            return Ok(Command::Branches {
                repeats: false,
                words,
                blocks: vec![body],
                redirects: self.redirects()?,
            });
        }
        let name = self.bare_word().to_owned();
        if name.is_empty() {
            return Err(self.error("`for` has no variable"));
        }
        self.at += name.len();
        self.skip_lines()?;
        let words = if self.take_word("in") {
            let mut words = Vec::new();
            loop {
                self.skip_blanks();
                match self.peek() {
                    Some(b';' | b'\n') | None => break,
                    Some(_) => words.push(self.word()?),
                }
            }
            Some(words)
        } else {
            None
        };
        self.skip_blanks();
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        let body = self.do_group()?;
        Ok(Command::Loop {
            name,
            words,
            body,
            redirects: self.redirects()?,
        })
    }

    pub(super) fn case_command(&mut self) -> Parsed<Command> {
        self.at += "case".len();
        self.skip_blanks();
        let mut words = vec![self.word()?];
        self.expect_word("in", "`case` has no `in`")?;
        let mut blocks = Vec::new();
        loop {
            self.burn()?;
            self.skip_lines()?;
            if self.take_word("esac") {
                return Ok(Command::Branches {
                    repeats: false,
                    words,
                    blocks,
                    redirects: self.redirects()?,
                });
            }
            if self.peek() == Some(b'(') {
                self.at += 1;
            }
            loop {
                self.skip_blanks();
                words.push(self.word()?);
                self.skip_blanks();
                match self.peek() {
                    Some(b'|') => self.at += 1,
                    Some(b')') => break,
                    _ => return Err(self.error("a pattern of `case` is not closed")),
                }
            }
            self.at += 1;
            blocks.push(self.block()?);
            if self.peek() == Some(b';') {
                self.at += 1;
                while matches!(self.peek(), Some(b';' | b'&')) {
                    self.at += 1;
                }
            }
        }
    }

    /// Reads `[[ … ]]`: what matters are the words that expand.
    pub(super) fn test_command(&mut self) -> Parsed<Command> {
        self.at += 2;
        let mut words = Vec::new();
        loop {
            self.burn()?;
            self.skip_lines()?;
            match self.peek() {
                None | Some(b';') => return Err(self.error("`[[` is not closed")),
                Some(b'(' | b')' | b'<' | b'>' | b'|' | b'&')
                    if !matches!(
                        (self.peek(), self.peek_at(1)),
                        (Some(b'<' | b'>'), Some(b'('))
                    ) =>
                {
                    self.at += 1;
                }
                Some(_) if self.take_word("]]") => break,
                Some(_) => words.push(self.test_word()?),
            }
        }
        Ok(Command::Test {
            words,
            redirects: self.redirects()?,
        })
    }

    pub(super) fn arithmetic_command(&mut self) -> Parsed<Command> {
        let start = self.at;
        self.at += 2;
        let parts = match self.arithmetic_parts() {
            Ok(parts) => parts,
            Err(error) if self.peek().is_none() || self.fuel == 0 => return Err(error),
            Err(_) => {
                // `((a); (b))` is a subshell in a subshell.
                self.at = start;
                return self.subshell();
            }
        };
        let words = vec![Word {
            parts,
            span: self.span(start, self.at),
        }];
        Ok(Command::Test {
            words,
            redirects: self.redirects()?,
        })
    }

    pub(super) fn function_keyword(&mut self) -> Parsed<Command> {
        let start = self.at;
        self.at += "function".len();
        self.skip_blanks();
        let name = self.bare_word().to_owned();
        if name.is_empty() && self.peek() != Some(b'{') {
            return Err(self.error("`function` has no name"));
        }
        self.at += name.len();
        self.skip_blanks();
        if self.peek() == Some(b'(') && self.peek_at(1) == Some(b')') {
            self.at += 2;
        }
        self.skip_lines()?;
        let body = Box::new(self.command()?);
        Ok(Command::Function {
            name,
            body,
            span: self.span(start, self.at),
        })
    }

    pub(super) fn coproc(&mut self) -> Parsed<Command> {
        self.at += "coproc".len();
        self.skip_blanks();
        // `coproc NAME { … }`: a name only when a compound command follows it.
        let before = self.at;
        let name = self.bare_word().to_owned();
        self.at += name.len();
        self.skip_blanks();
        let compound = matches!(self.peek(), Some(b'(' | b'{'))
            || matches!(
                self.bare_word(),
                "if" | "while" | "until" | "for" | "case" | "[["
            );
        if name.is_empty()
            || !compound
            || matches!(name.as_str(), "{" | "if" | "while" | "for" | "case")
        {
            self.at = before;
        }
        Ok(Command::Background(Box::new(self.command()?)))
    }
}
