//! Cuts a line of `cmd` into commands and words.

use crate::language::cursor::Cursor;

/// One command of a line.
#[derive(Clone, Debug, Default)]
pub(super) struct Command {
    pub(super) words: Vec<String>,
    /// Files that its output goes to.
    pub(super) writes: Vec<String>,
    /// Files that it is fed from.
    pub(super) reads: Vec<String>,
    /// Whether something is fed into it: a pipe, a file.
    pub(super) is_fed: bool,
}

/// Which file a word names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Word,
    Output,
    Input,
}

/// What stands at the place at hand.
struct Splitter {
    commands: Vec<Command>,
    command: Command,
    next: Next,
    /// How many parentheses are open.
    depth: usize,
    /// How many were open where the last pipe stood, as long as it feeds what follows.
    fed: Option<usize>,
}

impl Splitter {
    fn take(&mut self, word: String) {
        match std::mem::replace(&mut self.next, Next::Word) {
            Next::Word => self.command.words.push(word),
            Next::Output => self.command.writes.push(word),
            Next::Input => self.command.reads.push(word),
        }
    }

    fn end(&mut self) {
        let mut command = std::mem::take(&mut self.command);
        command.is_fed = self.fed.is_some() || !command.reads.is_empty();
        let has_files = !command.writes.is_empty() || !command.reads.is_empty();
        if has_files || !command.words.is_empty() {
            self.commands.push(command);
        }
    }

    /// Ends the command at hand at a sign; everything in parentheses behind a pipe is fed by it.
    fn sign(&mut self, sign: char, is_pipe: bool) {
        self.end();
        match sign {
            '(' => self.depth += 1,
            ')' => {
                self.depth = self.depth.saturating_sub(1);
                self.fed = self.fed.filter(|depth| self.depth >= *depth);
            }
            _ if is_pipe => self.fed = Some(self.fed.unwrap_or(self.depth).min(self.depth)),
            _ => self.fed = self.fed.filter(|depth| self.depth > *depth),
        }
    }
}

/// Cuts a line into commands, with quotes and carets undone.
pub(super) fn split(text: &str) -> Vec<Command> {
    let mut cursor = Cursor::new(text);
    let mut splitter = Splitter {
        commands: Vec::new(),
        command: Command::default(),
        next: Next::Word,
        depth: 0,
        fed: None,
    };
    let mut word: Option<String> = None;
    let mut in_quotes = false;
    loop {
        let c = cursor.bump();
        let ends_word = match c {
            None => true,
            Some(c) => {
                !in_quotes && (c.is_whitespace() || matches!(c, '&' | '|' | '(' | ')' | '>' | '<'))
            }
        };
        if let (true, Some(word)) = (ends_word, word.take_if(|_| ends_word)) {
            splitter.take(word);
        }
        match c {
            None => break,
            Some('"') => {
                in_quotes = !in_quotes;
                word.get_or_insert_default();
            }
            Some('^') if !in_quotes => {
                if let Some(escaped) = cursor.bump().filter(|c| *c != '\n' && *c != '\r') {
                    word.get_or_insert_default().push(escaped);
                }
            }
            Some('>') if !in_quotes => {
                cursor.eat('>');
                splitter.next = Next::Output;
                if cursor.eat('&') {
                    cursor.bump();
                    splitter.next = Next::Word;
                }
                // A number before the sign is a stream, not a word.
                let words = &mut splitter.command.words;
                if words.last().is_some_and(|last| {
                    last.len() == 1 && last.starts_with(|c: char| c.is_ascii_digit())
                }) {
                    words.pop();
                }
            }
            Some('<') if !in_quotes => splitter.next = Next::Input,
            Some(sign @ ('&' | '|' | '(' | ')' | '\n' | '\r')) if !in_quotes => {
                let is_pipe = sign == '|' && !cursor.eat('|');
                splitter.sign(sign, is_pipe);
            }
            Some(_) if ends_word => {}
            Some(c) => word.get_or_insert_default().push(c),
        }
    }
    splitter.end();
    splitter.commands
}
