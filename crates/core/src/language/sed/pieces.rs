//! What a `sed` script puts into the text it edits.
//!
//! Separate from the reader: that one says what a script does besides editing, this one what the edited
//! file holds afterwards, for when that file runs.

use super::{Brackets, FRAGMENT_BYTES_MAX, Parser};
use crate::language::cursor::continues_name;

/// One change of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// What is replaced, where that is one text and no pattern; empty where nothing is.
    old: Option<String>,
    /// What takes its place.
    pub(crate) new: String,
    /// Whether each occurrence in a line is replaced.
    all: bool,
}

/// Returns what `script` puts into a text, in order; `None` if that depends on more than the script.
pub(crate) fn changes(script: &str) -> Option<Vec<Change>> {
    if script.len() > FRAGMENT_BYTES_MAX {
        return None;
    }
    let read = |brackets: Brackets| {
        let mut parser = Parser::new(script, brackets);
        parser.commands()?;
        parser.puts
    };
    let plain = read(Brackets::Plain)?;
    (read(Brackets::Shield).as_ref() == Some(&plain)).then_some(plain)
}

impl Change {
    /// A line that is put in.
    pub(super) fn line(text: &str) -> Self {
        let new = text.trim_start_matches(['\n', ' ', '\t']).to_owned();
        Self {
            old: Some(String::new()),
            new,
            all: false,
        }
    }

    /// A change of the lines there are, by which nothing is put in.
    pub(super) const fn of_lines() -> Self {
        Self {
            old: None,
            new: String::new(),
            all: false,
        }
    }

    /// The same, of which nobody knows where it takes place.
    pub(super) fn somewhere(self) -> Self {
        Self { old: None, ..self }
    }

    /// `s/pattern/replacement/`; `None` where the replacement spells a word together with what was there.
    pub(super) fn of(pattern: &str, replacement: &str, delimiter: char, all: bool) -> Option<Self> {
        Some(Self {
            old: literal(pattern, delimiter),
            new: replaced(replacement, delimiter)?,
            all,
        })
    }

    /// Returns the text that is replaced; nothing where that is a pattern.
    pub(crate) fn old(&self) -> &str {
        self.old.as_deref().unwrap_or_default()
    }

    /// Returns `text` after the change; `None` if it is not known which part is replaced.
    pub(crate) fn apply(&self, text: &str) -> Option<String> {
        let old = self.old.as_deref().filter(|old| !old.is_empty())?;
        let line = |line: &str| {
            let count = if self.all { usize::MAX } else { 1 };
            line.replacen(old, &self.new, count)
        };
        Some(text.split_inclusive('\n').map(line).collect())
    }
}

/// Returns the only text that a pattern finds.
fn literal(pattern: &str, delimiter: char) -> Option<String> {
    let mut text = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        let c = match c {
            '\\' => chars.next().filter(|c| {
                *c == delimiter || matches!(c, '.' | '/' | '*' | '[' | ']' | '$' | '^' | '\\')
            })?,
            '.' | '*' | '[' | '^' | '$' | '+' | '?' | '(' | ')' | '{' | '}' | '|' => return None,
            c => c,
        };
        text.push(c);
    }
    (!text.is_empty()).then_some(text)
}

/// Returns what a replacement puts in. A name stands for what was there before.
fn replaced(replacement: &str, delimiter: char) -> Option<String> {
    const BEFORE: &str = "_";
    let mut text = String::new();
    let mut chars = replacement.chars().peekable();
    let mut ends_before = false;
    while let Some(c) = chars.next() {
        let (c, is_before) = match c {
            '&' => (' ', true),
            '\\' => match chars.next()? {
                '0'..='9' => (' ', true),
                'n' | '\n' => ('\n', false),
                't' => ('\t', false),
                c if c == delimiter || !c.is_alphanumeric() => (c, false),
                // Letters change the case, or stand for signs by their number.
                _ => return None,
            },
            c => (c, false),
        };
        let joins = |c: char| continues_name(c) || matches!(c, '.' | '-' | '/' | '~' | '\\');
        if is_before {
            // What was there and what is put in must not make one word.
            if ends_before || text.chars().next_back().is_some_and(joins) {
                return None;
            }
            text.push_str(BEFORE);
        } else {
            if ends_before && joins(c) {
                return None;
            }
            text.push(c);
        }
        ends_before = is_before;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_puts_in_is_known_unless_it_depends_on_the_text() {
        let rows: &[(&str, Option<&[&str]>)] = &[
            ("s/a/b/", Some(&["b"])),
            ("s|http://a|http://b|g; 3d", Some(&["http://b", ""])),
            ("/x/s/a(\\(.*\\))/b(\\1)/", Some(&["b(_)"])),
            ("1i import os", Some(&["import os"])),
            ("s/a/x\\ny/", Some(&["x\ny"])),
            ("s/\\(re\\)/os.\\1move/", None),
            ("s/x/&y/", None),
            ("s/a/\\U&/", None),
            ("r other.py", None),
            ("y/abc/xyz/", None),
            ("/a/{h;d};G", None),
        ];
        for (script, want) in rows {
            let found = changes(script);
            let found: Option<Vec<&str>> = found
                .as_ref()
                .map(|changes| changes.iter().map(|change| change.new.as_str()).collect());
            assert_eq!(found, want.map(<[&str]>::to_vec), "{script}");
        }
    }

    #[test]
    fn a_text_is_replaced_where_no_pattern_looks_for_it() {
        let change = |script: &str| changes(script).unwrap_or_default().remove(0);
        assert_eq!(change("s/X//").apply("rXmX\nX"), Some("rmX\n".to_owned()));
        assert_eq!(change("s/X//g").apply("rXmX"), Some("rm".to_owned()));
        for script in ["s/X*//g", "s/X//2", "2s/X//", "1d", "s/x//I"] {
            assert_eq!(change(script).apply("rXm"), None, "{script}");
        }
    }
}
