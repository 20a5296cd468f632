//! Command lines of an agent's own tools, given as one text: `open src/main.c 120`.
//!
//! Separate because such a line is neither a shell command nor an object with arguments. Some agents
//! hand the text to a shell that has the tools as functions, so a line counts only if a shell would
//! see one command of plain words in it.

use serde_json::{Map, Value};

use crate::shell::parse::parse;
use crate::shell::syntax::{Command, Part, Word};

/// The editor whose line begins with what it does and to which file.
const EDITOR: &str = "str_replace_editor";
/// What it does.
const EDITOR_COMMANDS: [&str; 5] = ["view", "create", "str_replace", "insert", "undo_edit"];
/// Its options, which all take a value.
const EDITOR_OPTIONS: [&str; 5] = [
    "file_text",
    "old_str",
    "new_str",
    "insert_line",
    "view_range",
];
/// The line that ends the text of a block edit.
const END_OF_EDIT: &str = "end_of_edit";

/// Returns the words behind the tool's own name; `None` if the text is anything else.
pub(super) fn operands(tool: &str, text: &str) -> Option<Vec<String>> {
    let mut words = block_edit(text).or_else(|| one_command(text))?;
    if words.first()? != tool {
        return None;
    }
    words.remove(0);
    Some(words)
}

/// Returns the arguments that a line of an editor stands for: `str_replace_editor view src/main.c`. The
/// text is the only argument then. `None` if it is anything else.
pub(super) fn editor(tool: &str, args: &Map<String, Value>) -> Option<Map<String, Value>> {
    let mut given = args.iter();
    let (Some((key, Value::String(text))), None) = (given.next(), given.next()) else {
        return None;
    };
    if tool != EDITOR || !matches!(key.as_str(), "text" | "command") {
        return None;
    }
    let words = operands(tool, text)?;
    let [command, path, rest @ ..] = words.as_slice() else {
        return None;
    };
    // What a pattern finds is not known, and options come behind the path.
    let is_path = !path.starts_with('-') && !path.contains(['*', '?', '[', '{']);
    if !is_path || !EDITOR_COMMANDS.contains(&command.as_str()) {
        return None;
    }
    let mut found = Map::new();
    let mut add = |key: &str, value: &str| found.insert(key.to_owned(), value.into()).is_none();
    add("command", command);
    add("path", path);
    let mut rest = rest.iter();
    while let Some(option) = rest.next() {
        let name = option.strip_prefix("--")?;
        let value = rest.next()?;
        let listed = EDITOR_OPTIONS.contains(&name) && add(name, value);
        // The second number of a range.
        if name == "view_range" {
            rest.next()?;
        }
        if !listed {
            return None;
        }
    }
    Some(found)
}

/// Reads one command of plain words.
fn one_command(text: &str) -> Option<Vec<String>> {
    let script = parse(text.trim()).ok()?;
    let [Command::Simple(simple)] = script.block.as_slice() else {
        return None;
    };
    if !simple.assignments.is_empty() || !simple.redirects.is_empty() {
        return None;
    }
    simple.words.iter().map(plain).collect()
}

/// Reads `edit 3:9`, the new lines, and `end_of_edit` as the last line: nothing follows it.
fn block_edit(text: &str) -> Option<Vec<String>> {
    let (first, rest) = text.trim().split_once('\n')?;
    let body = rest.strip_suffix(END_OF_EDIT)?;
    let is_end = |line: &str| line.trim() == END_OF_EDIT;
    let whole = body.is_empty() || body.ends_with('\n');
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ':' | ' ' | '_');
    if !whole || body.lines().any(is_end) || !first.trim().chars().all(plain) {
        return None;
    }
    Some(first.split_whitespace().map(str::to_owned).collect())
}

fn plain(word: &Word) -> Option<String> {
    let mut text = String::new();
    for part in &word.parts {
        match part {
            Part::Plain(piece) | Part::Quoted(piece) => text.push_str(piece),
            Part::Parameter { .. }
            | Part::Substitution { .. }
            | Part::Arithmetic(_)
            | Part::Process { .. }
            | Part::Hidden(_) => return None,
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::operands;

    #[test]
    fn only_one_command_of_plain_words_is_read() {
        for (tool, text, want) in [
            ("open", "open a.py 12\n", Some("a.py|12")),
            ("open", "open \"/srv/a b.py\"", Some("/srv/a b.py")),
            ("edit", "edit 4:4\nx = $(y)\nend_of_edit\n", Some("4:4")),
            ("edit", "edit 'a' 'b' False", Some("a|b|False")),
            ("submit", "submit", Some("")),
            ("edit", "edit 4:4\nx\nend_of_edit\nrm -rf ~", None),
            (
                "edit",
                "edit 4:4\nx\nend_of_edit\nrm -rf ~\nend_of_edit",
                None,
            ),
            ("edit", "edit 4:4; rm -rf ~\nx\nend_of_edit", None),
            ("open", "open a.py && rm -rf ~", None),
            ("open", "open a.py\nrm -rf ~", None),
            ("open", "open $(rm -rf ~)", None),
            ("open", "open a.py > ~/.bashrc", None),
            (
                "submit",
                "submit flag{of them all}",
                Some("flag{of|them|all}"),
            ),
            ("open", "rm -rf ~", None),
            ("open", "", None),
        ] {
            let read = operands(tool, text).map(|words| words.join("|"));
            assert_eq!(read.as_deref(), want, "{text}");
        }
    }
}
