//! Commands: lists, pipelines, compound commands, redirections.

use super::{Parsed, Parser, PendingHereDocument, is_meta, is_name, is_name_start};
use crate::shell::syntax::{
    AssignedValue, Assignment, Block, Command, Join, Part, Redirect, RedirectKind, Simple, Word,
};

/// Words that end a block where a command could begin.
const CLOSERS: &[&str] = &["then", "do", "done", "fi", "elif", "else", "esac", "}"];

impl Parser<'_> {
    /// Reads commands up to the end, a closing parenthesis or brace, `;;` or a closing word.
    pub(super) fn block(&mut self) -> Parsed<Block> {
        self.commands(usize::MAX)
    }

    /// Reads a block, but not more of it than `most` commands.
    pub(super) fn commands(&mut self, most: usize) -> Parsed<Block> {
        let mut block = Vec::new();
        loop {
            self.skip_lines()?;
            if block.len() >= most {
                return Ok(block);
            }
            match self.peek() {
                None | Some(b')') => return Ok(block),
                Some(b';') if matches!(self.peek_at(1), Some(b';' | b'&')) => return Ok(block),
                Some(_) if self.at_closer() => return Ok(block),
                Some(_) => {}
            }
            let command = self.and_or()?;
            self.skip_blanks();
            match self.peek() {
                Some(b';') if !matches!(self.peek_at(1), Some(b';' | b'&')) => self.at += 1,
                Some(b'&') if self.peek_at(1) != Some(b'&') => {
                    self.at += 1;
                    // zsh: `&!` and `&|` disown.
                    if matches!(self.peek(), Some(b'!' | b'|')) {
                        self.at += 1;
                    }
                    block.push(Command::Background(Box::new(command)));
                    continue;
                }
                None | Some(b'\n' | b')' | b';') => {}
                Some(_) if self.at_closer() => {}
                Some(_) => return Err(self.error("two commands are not separated")),
            }
            block.push(command);
        }
    }

    pub(super) fn at_closer(&self) -> bool {
        let word = self.bare_word();
        CLOSERS.contains(&word)
    }

    /// Returns the unquoted word at the cursor, up to the first character that could quote.
    pub(super) fn bare_word(&self) -> &str {
        let end = self
            .rest()
            .bytes()
            .position(|byte| is_meta(byte) || matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`'));
        match end {
            None => self.rest(),
            Some(end) if self.bytes.get(self.at + end).copied().is_some_and(is_meta) => {
                self.rest().get(..end).unwrap_or("")
            }
            Some(_) => "",
        }
    }

    /// Takes `word` if it stands at the cursor as a word of its own.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        if self.bare_word() == word {
            self.at += word.len();
            return true;
        }
        false
    }

    pub(super) fn expect_word(&mut self, word: &'static str, missing: &'static str) -> Parsed<()> {
        self.skip_lines()?;
        if self.take_word(word) {
            Ok(())
        } else {
            Err(self.error(missing))
        }
    }

    fn and_or(&mut self) -> Parsed<Command> {
        let first = self.pipeline()?;
        let mut all = vec![first];
        let mut joins = Vec::new();
        loop {
            self.skip_blanks();
            let join = match (self.peek(), self.peek_at(1)) {
                (Some(b'&'), Some(b'&')) => Join::And,
                (Some(b'|'), Some(b'|')) => Join::Or,
                _ => break,
            };
            self.at += 2;
            self.skip_lines()?;
            all.push(self.pipeline()?);
            joins.push(join);
        }
        Ok(match all.pop() {
            Some(only) if all.is_empty() => only,
            Some(last) => {
                all.push(last);
                Command::AndOr(all, joins)
            }
            None => Command::AndOr(all, joins),
        })
    }

    fn pipeline(&mut self) -> Parsed<Command> {
        self.burn()?;
        self.skip_blanks();
        let mut negated = false;
        loop {
            // `time` measures, which changes nothing. `!` says that what follows `&&` runs because this failed.
            if self.peek() == Some(b'!') && self.peek_at(1).is_none_or(is_meta) {
                self.at += 1;
                negated = true;
                self.skip_blanks();
            } else if self.bare_word() == "time" {
                self.at += "time".len();
                self.skip_blanks();
                while self.take_word("-p") || self.take_word("--") {
                    self.skip_blanks();
                }
                if matches!(self.peek(), None | Some(b'\n' | b';' | b')' | b'&' | b'|')) {
                    return Ok(Command::Simple(Simple::default()));
                }
            } else {
                break;
            }
        }
        let first = self.command()?;
        let mut all = vec![first];
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'|') || self.peek_at(1) == Some(b'|') {
                break;
            }
            self.at += 1;
            if self.peek() == Some(b'&') {
                self.at += 1;
            }
            self.skip_lines()?;
            all.push(self.command()?);
        }
        let whole = if all.len() == 1 {
            all.remove(0)
        } else {
            Command::Pipeline(all)
        };
        Ok(if negated {
            Command::Not(Box::new(whole))
        } else {
            whole
        })
    }

    pub(super) fn command(&mut self) -> Parsed<Command> {
        self.burn()?;
        self.skip_blanks();
        match (self.peek(), self.peek_at(1)) {
            (Some(b'('), Some(b'(')) => return self.nested(Self::arithmetic_command),
            (Some(b'('), _) => return self.nested(Self::subshell),
            _ => {}
        }
        match self.bare_word() {
            "{" => self.nested(Self::brace_group),
            "if" => self.nested(Self::if_command),
            "while" | "until" => self.nested(Self::while_command),
            "for" | "select" | "foreach" => self.nested(Self::for_command),
            "case" => self.nested(Self::case_command),
            "[[" => self.nested(Self::test_command),
            "function" => self.nested(Self::function_keyword),
            "coproc" => self.nested(Self::coproc),
            "then" | "do" | "done" | "fi" | "elif" | "else" | "esac" | "}" | "]]" => {
                Err(self.error("a closing word stands where a command should begin"))
            }
            _ => self.simple(),
        }
    }

    fn simple(&mut self) -> Parsed<Command> {
        let start = self.at;
        let mut simple = Simple::default();
        let mut end = self.at;
        loop {
            self.burn()?;
            self.skip_blanks();
            let Some(byte) = self.peek() else { break };
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
            } else if matches!(byte, b'\n' | b';' | b'&' | b'|' | b')') {
                break;
            } else if byte == b'(' {
                if let Some(function) = self.function_definition(&simple, start)? {
                    return Ok(function);
                }
                return Err(self.error("a parenthesis stands where no command can begin"));
            } else if let Some(assignment) = self.assignment(&simple)? {
                simple.assignments.push(assignment);
            } else {
                simple.words.push(self.word()?);
            }
            end = self.at;
        }
        simple.span = self.span(start, end);
        if simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty() {
            return Err(self.error("a command is missing"));
        }
        Ok(Command::Simple(simple))
    }

    /// Reads `() body` after a word that stands alone.
    fn function_definition(&mut self, so_far: &Simple, start: usize) -> Parsed<Option<Command>> {
        let [name] = so_far.words.as_slice() else {
            return Ok(None);
        };
        if !so_far.assignments.is_empty() {
            return Ok(None);
        }
        let [Part::Plain(name)] = name.parts.as_slice() else {
            return Ok(None);
        };
        let before = self.at;
        self.at += 1;
        self.skip_blanks();
        if self.peek() != Some(b')') {
            self.at = before;
            return Ok(None);
        }
        self.at += 1;
        let name = name.clone();
        self.nested(|parser| {
            parser.skip_lines()?;
            let body = Box::new(parser.command()?);
            Ok(Some(Command::Function {
                name,
                body,
                span: parser.span(start, parser.at),
            }))
        })
    }

    /// Reads `NAME=value` in front of a command, or anywhere after `export` and its kin.
    fn assignment(&mut self, so_far: &Simple) -> Parsed<Option<Assignment>> {
        const DECLARERS: &[&str] = &[
            "export", "declare", "typeset", "local", "readonly", "alias", "integer", "float",
        ];
        let declares = so_far.words.first().is_some_and(|word| {
            matches!(word.parts.as_slice(), [Part::Plain(name)] if DECLARERS.contains(&name.as_str()))
        });
        if !so_far.words.is_empty() && !declares {
            return Ok(None);
        }
        if !self.peek().is_some_and(is_name_start) {
            return Ok(None);
        }
        let start = self.at;
        let length = self
            .rest()
            .bytes()
            .take_while(|byte| is_name(*byte))
            .count();
        let name = self.text(start, start + length).to_owned();
        self.at += length;
        let index = if self.peek() == Some(b'[') {
            self.subscript()?
        } else {
            None
        };
        let append = self.peek() == Some(b'+') && self.peek_at(1) == Some(b'=');
        if append {
            self.at += 1;
        }
        if self.peek() != Some(b'=') {
            self.at = start;
            return Ok(None);
        }
        // `export X=(…)` is an array; `alias x=…` is not an assignment but a word.
        if declares && self.peek_at(1) != Some(b'(') {
            self.at = start;
            return Ok(None);
        }
        self.at += 1;
        let value = if self.peek() == Some(b'(') {
            self.at += 1;
            AssignedValue::Array(self.nested(Self::array_words)?)
        } else {
            AssignedValue::One(self.optional_word()?)
        };
        Ok(Some(Assignment {
            name,
            append,
            index,
            value,
            span: self.span(start, self.at),
        }))
    }

    fn array_words(&mut self) -> Parsed<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            match self.peek() {
                None => return Err(self.error("an array is not closed")),
                Some(b')') => {
                    self.at += 1;
                    return Ok(words);
                }
                Some(_) => words.push(self.word()?),
            }
        }
    }

    pub(super) fn redirects(&mut self) -> Parsed<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        let start = self.at;
        let descriptor = self.descriptor();
        let rest = self.rest();
        let operator = [
            "<<<", "<<-", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">|", ">&", ">",
        ]
        .into_iter()
        .find(|operator| rest.starts_with(operator));
        // `<(` and `>(` begin a word.
        let process = matches!(operator, Some("<" | ">")) && self.peek_at(1) == Some(b'(');
        let Some(operator) = operator.filter(|_| !process) else {
            self.at = start;
            return Ok(None);
        };
        self.at += operator.len();
        if operator == ">" && self.peek() == Some(b'!') && self.peek_at(1) == Some(b' ') {
            self.at += 1; // zsh: `>!` overwrites.
        }
        self.skip_blanks();
        if matches!(operator, "<<" | "<<-") {
            return self
                .here_document_start(operator == "<<-", descriptor)
                .map(Some);
        }
        if !self
            .peek()
            .is_some_and(|byte| !is_meta(byte) || matches!(byte, b'<' | b'>'))
        {
            return Err(self.error("a redirection has no target"));
        }
        let target = self.word()?;
        let names_descriptor = matches!(target.parts.as_slice(), [Part::Plain(text)]
            if text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit()));
        let kind = match operator {
            "<<<" => RedirectKind::HereString,
            "<>" => RedirectKind::ReadWrite,
            "<&" | ">&" if names_descriptor => RedirectKind::Duplicate,
            "<" | "<&" => RedirectKind::Read,
            ">>" | "&>>" => RedirectKind::Append,
            _ => RedirectKind::Write,
        };
        Ok(Some(Redirect {
            kind,
            target,
            descriptor,
        }))
    }

    /// Takes `2` of `2>` and `{fd}` of `{fd}>`.
    fn descriptor(&mut self) -> Option<u32> {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let is_operator = |at: usize| matches!(rest.as_bytes().get(at), Some(b'<' | b'>'));
        if digits > 0 && is_operator(digits) {
            self.at += digits;
            return rest.get(..digits)?.parse().ok();
        }
        if rest.starts_with('{') {
            let close = rest
                .bytes()
                .position(|byte| byte == b'}' || is_meta(byte))?;
            let name = rest.get(1..close)?;
            if !name.is_empty() && name.bytes().all(is_name) && is_operator(close + 1) {
                self.at += close + 1;
                return Some(u32::MAX);
            }
        }
        None
    }

    fn here_document_start(
        &mut self,
        strips_tabs: bool,
        descriptor: Option<u32>,
    ) -> Parsed<Redirect> {
        let start = self.at;
        let (delimiter, expands) = self.delimiter()?;
        let slot = self.documents.len();
        self.documents.push(Word::default());
        self.pending.push(PendingHereDocument {
            delimiter,
            expands,
            strips_tabs,
            slot,
        });
        let target = Word {
            parts: Vec::new(),
            span: self.span(start, self.at),
        };
        Ok(Redirect {
            kind: RedirectKind::HereDocument(slot),
            target,
            descriptor,
        })
    }

    /// Reads the delimiter of a here-document, and whether nothing in it was quoted.
    fn delimiter(&mut self) -> Parsed<(String, bool)> {
        let mut delimiter = String::new();
        let mut expands = true;
        let start = self.at;
        while let Some(byte) = self.peek() {
            self.burn()?;
            match byte {
                b'\\' => {
                    expands = false;
                    self.at += 1;
                    let next = self.rest().chars().next();
                    self.at += next.map_or(0, char::len_utf8);
                    delimiter.extend(next);
                }
                b'\'' | b'"' => {
                    expands = false;
                    let quote_at = self.at + 1;
                    let Some(length) =
                        memchr::memchr(byte, self.bytes.get(quote_at..).unwrap_or(&[]))
                    else {
                        return Err(self.error("a quote is not closed"));
                    };
                    delimiter.push_str(self.text(quote_at, quote_at + length));
                    self.at = quote_at + length + 1;
                }
                b'$' if matches!(self.peek_at(1), Some(b'\'' | b'"')) => self.at += 1,
                byte if is_meta(byte) => break,
                _ => {
                    let next = self.rest().chars().next();
                    self.at += next.map_or(1, char::len_utf8);
                    delimiter.extend(next);
                }
            }
        }
        if self.at == start {
            return Err(self.error("a here-document has no delimiter"));
        }
        Ok((delimiter, expands))
    }
}
