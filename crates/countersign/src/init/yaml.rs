//! Adds a word to a list in YAML, or takes it out, and keeps the rest of the text.
//!
//! The list stands below one key and is written in either style. The result is read back: where that
//! is not what was meant, the text is in a form that is not edited.

use serde_json::{Value, json};

use crate::config::edit;

/// A list in YAML text: `outer.inner`.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    /// The key at the beginning of a line.
    pub(super) outer: &'static str,
    /// The key of the list below it.
    pub(super) inner: &'static str,
}

/// Why a text was not edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum YamlError {
    /// It cannot be read; the line, if that is known.
    Unreadable(Option<u64>),
    /// The list is written in a form that is not edited.
    OtherForm,
}

impl List {
    /// Returns `text` with `word` in the list.
    pub(super) fn with(self, text: &str, word: &str) -> Result<String, YamlError> {
        let before = read(text)?;
        let mut wanted = before.clone();
        let mut words = self.words(&before)?;
        if words.contains(&json!(word)) {
            return Ok(text.to_owned());
        }
        words.push(json!(word));
        if !wanted.is_object() {
            wanted = json!({});
        }
        self.put(&mut wanted, words)?;
        let path = format!("{}.{}", self.outer, self.inner);
        let tried = self.added(text, word);
        let tried = tried.or_else(|| edit::set(text, &path, &format!("[{word}]")));
        checked(tried, &wanted)
    }

    /// Returns `text` without `word` in the list.
    pub(super) fn without(self, text: &str, word: &str) -> Result<String, YamlError> {
        let before = read(text)?;
        let mut wanted = before.clone();
        let mut words = self.words(&before)?;
        if !words.contains(&json!(word)) {
            return Ok(text.to_owned());
        }
        words.retain(|it| it != word);
        self.put(&mut wanted, words)?;
        checked(self.removed(text, word), &wanted)
    }

    fn words(self, values: &Value) -> Result<Vec<Value>, YamlError> {
        let list = values.get(self.outer).and_then(|it| it.get(self.inner));
        match list.unwrap_or(&Value::Null) {
            Value::Null => Ok(Vec::new()),
            Value::Array(words) => Ok(words.clone()),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                Err(YamlError::OtherForm)
            }
        }
    }

    fn put(self, values: &mut Value, words: Vec<Value>) -> Result<(), YamlError> {
        let values = values.as_object_mut().ok_or(YamlError::OtherForm)?;
        let outer = values.entry(self.outer).or_insert(Value::Null);
        if outer.is_null() {
            *outer = json!({});
        }
        let outer = outer.as_object_mut().ok_or(YamlError::OtherForm)?;
        outer.insert(self.inner.to_owned(), words.into());
        Ok(())
    }

    /// Returns the number of the line with the inner key.
    fn line(self, lines: &[&str]) -> Option<usize> {
        let is_key =
            |line: &str, key: &str| line.split_once(':').is_some_and(|(name, _)| name == key);
        let outer = lines.iter().position(|line| is_key(line, self.outer))?;
        let below = lines.iter().enumerate().skip(outer + 1);
        let mut inside =
            below.take_while(|(_, line)| line.trim().is_empty() || line.starts_with([' ', '#']));
        let found = inside.find(|(_, line)| is_key(line.trim_start(), self.inner));
        found.map(|(at, _)| at)
    }

    fn added(self, text: &str, word: &str) -> Option<String> {
        let mut lines: Vec<&str> = text.lines().collect();
        let at = self.line(&lines)?;
        let (head, tail) = lines.get(at)?.split_once(':')?;
        if let Some(open) = tail.trim_end().strip_suffix(']') {
            let comma = if open.trim() == "[" { "" } else { ", " };
            let line = format!("{head}:{open}{comma}{word}]");
            *lines.get_mut(at)? = &line;
            return Some(joined(&lines));
        }
        let items = items(&lines, at);
        let last = *items.last()?;
        let item = lines.get(last)?;
        let indent = item.len() - item.trim_start().len();
        let line = format!("{}- {word}", " ".repeat(indent));
        lines.insert(last + 1, &line);
        Some(joined(&lines))
    }

    fn removed(self, text: &str, word: &str) -> Option<String> {
        let mut lines: Vec<&str> = text.lines().collect();
        let at = self.line(&lines)?;
        let (head, tail) = lines.get(at)?.split_once(':')?;
        let inner = tail
            .trim()
            .strip_prefix('[')
            .and_then(|it| it.strip_suffix(']'));
        if let Some(inner) = inner {
            let kept = inner
                .split(',')
                .map(str::trim)
                .filter(|it| bare(it) != word);
            let line = format!("{head}: [{}]", kept.collect::<Vec<_>>().join(", "));
            *lines.get_mut(at)? = &line;
            return Some(joined(&lines));
        }
        let items = items(&lines, at);
        let is_ours = |at: &&usize| {
            lines
                .get(**at)
                .is_some_and(|it| bare(it.trim_start().trim_start_matches("- ")) == word)
        };
        let ours = *items.iter().find(is_ours)?;
        lines.remove(ours);
        let emptied = format!("{head}: []");
        if items.len() == 1 {
            *lines.get_mut(at)? = &emptied;
        }
        Some(joined(&lines))
    }
}

/// Returns the numbers of the lines with the items of the list whose key is at `at`.
fn items(lines: &[&str], at: usize) -> Vec<usize> {
    let below = lines.iter().enumerate().skip(at + 1);
    let list = below.take_while(|(_, line)| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with('#') || line.starts_with("- ")
    });
    let items = list.filter(|(_, line)| line.trim_start().starts_with("- "));
    items.map(|(at, _)| at).collect()
}

fn bare(word: &str) -> &str {
    word.trim().trim_matches(['"', '\''])
}

fn joined(lines: &[&str]) -> String {
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

fn read(text: &str) -> Result<Value, YamlError> {
    serde_saphyr::from_str(text)
        .map_err(|error| YamlError::Unreadable(error.location().map(|at| at.line())))
}

fn checked(text: Option<String>, wanted: &Value) -> Result<String, YamlError> {
    let text = text.ok_or(YamlError::OtherForm)?;
    if read(&text)? != *wanted {
        return Err(YamlError::OtherForm);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{List, YamlError};

    const LIST: List = List {
        outer: "plugins",
        inner: "enabled",
    };

    #[test]
    fn a_word_is_added_and_taken_out_and_the_rest_stays() {
        #[rustfmt::skip]
        let rows = [
            ("no file", "", "plugins:\n  enabled: [ours]\n", "plugins:\n  enabled: []\n"),
            ("no such key", "# mine\nmodel: m\n", "# mine\nmodel: m\nplugins:\n  enabled: [ours]\n", "# mine\nmodel: m\nplugins:\n  enabled: []\n"),
            ("no list", "plugins:\n  path: x\n", "plugins:\n  path: x\n  enabled: [ours]\n", "plugins:\n  path: x\n  enabled: []\n"),
            ("a list in a line", "plugins:\n  enabled: [a, 'b']\nz: 1\n", "plugins:\n  enabled: [a, 'b', ours]\nz: 1\n", "plugins:\n  enabled: [a, 'b']\nz: 1\n"),
            ("an empty list", "plugins:\n  enabled: []\n", "plugins:\n  enabled: [ours]\n", "plugins:\n  enabled: []\n"),
            ("a list in lines", "plugins:\n  # which\n  enabled:\n    - a # one\n    - b\n  z: 1\n", "plugins:\n  # which\n  enabled:\n    - a # one\n    - b\n    - ours\n  z: 1\n", "plugins:\n  # which\n  enabled:\n    - a # one\n    - b\n  z: 1\n"),
            ("a list at its key's indent", "plugins:\n  enabled:\n  - a\nz: 1\n", "plugins:\n  enabled:\n  - a\n  - ours\nz: 1\n", "plugins:\n  enabled:\n  - a\nz: 1\n"),
        ];
        for (name, text, with, without) in rows {
            let added = LIST.with(text, "ours");
            assert_eq!(added.as_deref(), Ok(with), "{name}");
            assert_eq!(
                LIST.with(with, "ours").as_deref(),
                Ok(with),
                "{name}: twice"
            );
            assert_eq!(
                LIST.without(with, "ours").as_deref(),
                Ok(without),
                "{name}: out"
            );
        }
    }

    #[test]
    fn what_cannot_be_edited_is_left_alone() {
        let rows = [
            ("plugins: {enabled: [a]}\n", YamlError::OtherForm),
            ("plugins:\n  enabled: some\n", YamlError::OtherForm),
            (
                "plugins:\n  enabled:\n    [a,\n     b]\n",
                YamlError::OtherForm,
            ),
            ("a: 1\nplugins: [\n", YamlError::Unreadable(Some(2))),
        ];
        for (text, expected) in rows {
            assert_eq!(LIST.with(text, "ours"), Err(expected), "{text}");
        }
    }
}
