//! Edits one key in the text of a configuration and keeps the rest, including comments.
//!
//! Only block style is edited: `key:` on a line of its own, values beneath or behind it. What is
//! written as `{ … }` is not taken apart; the caller is told.

/// Returns `text` with `path`, written with dots, set to `value`, which is already YAML; `None` if
/// the key stands in a form that is not edited.
pub(crate) fn set(text: &str, path: &str, value: &str) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let names: Vec<&str> = path.split('.').collect();
    let (mut from, mut to, mut indent) = (0, lines.len(), 0);
    for (depth, name) in names.iter().enumerate() {
        let last = depth + 1 == names.len();
        let Some(at) = find(&lines, from, to, indent, name) else {
            let rest = names.get(depth..)?;
            insert(&mut lines, to, indent, rest, value);
            return Some(joined(&lines));
        };
        let line = lines.get(at)?.clone();
        let (head, tail) = line.split_once(':')?;
        let (old, comment) = split_comment(tail);
        let end = block_end(&lines, at, indent);
        if last {
            if end > at + 1 || matches!(old.chars().next(), Some('|' | '>' | '&' | '*' | '!')) {
                // A value of several lines goes as a whole.
                return None;
            }
            let comment = if comment.is_empty() {
                String::new()
            } else {
                format!(" {comment}")
            };
            *lines.get_mut(at)? = format!("{head}: {value}{comment}");
            return Some(joined(&lines));
        }
        if !old.is_empty() {
            return None;
        }
        let inner = lines.get(at + 1..end)?.iter().find(|line| is_content(line));
        indent = inner.map_or(indent + 2, |line| leading(line));
        (from, to) = (at + 1, end);
    }
    None
}

fn find(lines: &[String], from: usize, to: usize, indent: usize, name: &str) -> Option<usize> {
    (from..to).find(|at| {
        lines.get(*at).is_some_and(|line| {
            let key = line.trim_start().split_once(':').map(|(key, _)| key.trim());
            leading(line) == indent && key.map(|key| key.trim_matches(['"', '\''])) == Some(name)
        })
    })
}

/// Adds `names` as nested keys after the last line of content before `to`.
fn insert(lines: &mut Vec<String>, to: usize, indent: usize, names: &[&str], value: &str) {
    let content = lines.iter().take(to).rposition(|line| is_content(line));
    let at = content.map_or(to, |at| at + 1);
    let last = names.len().saturating_sub(1);
    let new = names.iter().enumerate().map(|(depth, name)| {
        let blanks = " ".repeat(indent + depth * 2);
        if depth == last {
            format!("{blanks}{name}: {value}")
        } else {
            format!("{blanks}{name}:")
        }
    });
    lines.splice(at..at, new.collect::<Vec<_>>());
}

/// Returns where the block under the key at `at` ends: at the next content that is not deeper.
fn block_end(lines: &[String], at: usize, indent: usize) -> usize {
    let below = lines.iter().enumerate().skip(at + 1);
    // A list may stand at its key's own indent.
    let ends = |line: &String| {
        is_content(line) && leading(line) <= indent && !line.trim_start().starts_with("- ")
    };
    let end = below
        .clone()
        .find(|(_, line)| ends(line))
        .map_or(lines.len(), |(end, _)| end);
    // Blank lines and comments before the next key belong to that key.
    let content = lines.iter().take(end).rposition(|line| is_content(line));
    content.map_or(end, |content| content.max(at) + 1)
}

fn is_content(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with('#') && line != "---"
}

fn leading(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Splits what stands behind a colon into the value and its comment.
fn split_comment(tail: &str) -> (&str, &str) {
    let mut quote = None;
    let mut previous = ' ';
    for (at, letter) in tail.char_indices() {
        match (quote, letter) {
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, '#') if previous.is_whitespace() => {
                let (value, comment) = tail.split_at(at);
                return (value.trim(), comment.trim_end());
            }
            (_, _) => {}
        }
        previous = letter;
    }
    (tail.trim(), "")
}

fn joined(lines: &[String]) -> String {
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::set;

    #[test]
    fn one_key_changes_and_all_else_stays() {
        let text = "# ours\napprovals:\n  mode: manual   # who answers\n  thresholds:\n    auto_below: 0.2\n\n# who\npeople: []\n";
        #[rustfmt::skip]
        let rows = [
            ("a value is replaced, its comment stays", "approvals.mode", "smart", text.replace("mode: manual   #", "mode: smart #")),
            ("a nested value", "approvals.thresholds.auto_below", "0.1", text.replace("0.2", "0.1")),
            ("a new key in a block that is there", "approvals.thresholds.ask_above", "0.5", text.replace("0.2\n", "0.2\n    ask_above: 0.5\n")),
            ("a new block at the end", "review.enabled", "true", format!("{text}review:\n  enabled: true\n")),
        ];
        for (name, key, value, expected) in rows {
            assert_eq!(set(text, key, value), Some(expected), "{name}");
        }
    }

    #[test]
    fn a_block_in_braces_is_left_alone() {
        assert_eq!(
            set("approvals: { mode: manual }\n", "approvals.mode", "smart"),
            None
        );
    }

    #[test]
    fn an_empty_file_gets_the_key() {
        assert_eq!(
            set("", "store.url", "sqlite").as_deref(),
            Some("store:\n  url: sqlite\n")
        );
    }
}
