//! A character cursor over a code fragment.
//!
//! Every reader shares this cursor, so that none of them indexes into text: a step past the end
//! is `None`, never a panic.

/// A position in a fragment. Moving forward is the only movement, which keeps readers linear.
#[derive(Debug)]
pub(crate) struct Cursor {
    chars: Vec<char>,
    at: usize,
}

impl Cursor {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            chars: text.chars().collect(),
            at: 0,
        }
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    /// The character `ahead` places after the current one.
    pub(crate) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at.saturating_add(ahead)).copied()
    }

    /// The character before the current one.
    pub(crate) fn before(&self) -> Option<char> {
        self.at
            .checked_sub(1)
            .and_then(|at| self.chars.get(at))
            .copied()
    }

    pub(crate) fn bump(&mut self) -> Option<char> {
        let next = self.peek();
        if next.is_some() {
            self.at += 1;
        }
        next
    }

    pub(crate) fn skip(&mut self, count: usize) {
        self.at = self.at.saturating_add(count).min(self.chars.len());
    }

    pub(crate) fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += 1;
        }
        found
    }

    pub(crate) fn looking_at(&self, text: &str) -> bool {
        text.chars()
            .enumerate()
            .all(|(ahead, c)| self.peek_at(ahead) == Some(c))
    }

    pub(crate) fn eat_text(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.skip(text.chars().count());
        }
        found
    }

    pub(crate) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(c) = self.peek().filter(|&c| wanted(c)) {
            taken.push(c);
            self.at += 1;
        }
        taken
    }

    /// What is left of the current line; the line end is not taken.
    pub(crate) fn rest_of_line(&mut self) -> String {
        self.take_while(|c| c != '\n')
    }

    /// Moves behind the next `end` and returns what stood before it; `None` if there is none.
    pub(crate) fn take_until(&mut self, end: &str) -> Option<String> {
        let mut taken = String::new();
        while self.peek().is_some() {
            if self.eat_text(end) {
                return Some(taken);
            }
            taken.extend(self.bump());
        }
        None
    }
}

/// Whether `c` can start a name in most languages.
pub(crate) fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether `c` can continue a name in most languages.
pub(crate) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
