//! Names that the judge knows stand in the tables of `crates/core/knowledge`, not in Rust.
//!
//! Separate because it keeps the exceptions: a list that stays in Rust has its reason here.

use crate::{files, root};

/// A list may hold this many texts before it counts as knowledge.
const TEXTS_MAX: usize = 8;

/// Lists that stay in Rust: the end of the file's path, the name of the list, and why.
const STAY: &[(&str, &str, &str)] = &[
    (
        "content/damage.rs",
        "PIECES",
        "what tests put into texts to damage them",
    ),
    ("language/awk.rs", "OPERATORS", "grammar"),
    ("language/awk.rs", "SINGLE", "grammar"),
    (
        "language/find.rs",
        "PRIMARIES",
        "grammar: how many words belong to each, and whether it narrows the search",
    ),
    (
        "language/powershell.rs",
        "MARKS",
        "marks by which PowerShell is told from other shells",
    ),
    ("lexer/javascript.rs", "VALUE_FOLLOWS", "grammar"),
    ("script/lexer.rs", "TEXT_PREFIXES", "grammar"),
    ("script/members.rs", "WORDS", "grammar"),
    (
        "values/python.rs",
        "KEEPING",
        "what decorators of the language do, as the evaluation needs it",
    ),
    ("values/evaluate.rs", "WORDS", "grammar"),
    ("values/evaluate.rs", "COMPARED", "grammar"),
    ("values/python.rs", "WORDS", "grammar"),
    ("script/lexer.rs", "STARTERS", "grammar"),
    ("script/lexer.rs", "MARKS", "grammar"),
    (
        "language/sql.rs",
        "OPENINGS",
        "grammar: pairs of words by which a statement is told from a command line",
    ),
    (
        "sql/statement.rs",
        "OWN",
        "verbs with a grammar of their own, each with its function",
    ),
    (
        "command.rs",
        "TABLE",
        "the commands that people type to us, with their help",
    ),
    (
        "personal/check.rs",
        "NUMBERS",
        "names of checks, each with its function",
    ),
    (
        "secrets/forms.rs",
        "FORMS",
        "regular expressions with their limits",
    ),
    (
        "secrets/shape.rs",
        "CLASSES",
        "character classes of the expressions in secrets.tsv",
    ),
];

/// Returns the constants and statics of `code` with more texts than a list may hold: the name of each,
/// and how many there are.
fn lists(code: &str) -> Vec<(String, usize)> {
    let starts = code
        .match_indices("const ")
        .chain(code.match_indices("static "));
    let items = starts.filter_map(|(at, word)| {
        let item = code.get(at + word.len()..)?;
        let name: String = item
            .chars()
            .take_while(|letter| letter.is_ascii_uppercase() || matches!(letter, '_' | '0'..='9'))
            .collect();
        let value = item
            .get(name.len()..)?
            .strip_prefix(':')
            .filter(|_| name.len() > 1)?;
        let count = texts(value);
        (count > TEXTS_MAX).then_some((name, count))
    });
    items.collect()
}

/// Counts the texts up to the semicolon that ends an item.
fn texts(item: &str) -> usize {
    let (mut count, mut depth) = (0, 0_i32);
    let mut letters = item.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                count += 1;
                while let Some(inside) = letters.next().filter(|inside| *inside != '"') {
                    if inside == '\\' {
                        letters.next();
                    }
                }
            }
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            ';' if depth == 0 => return count,
            _ => {}
        }
    }
    count
}

/// Returns the code of a file without its comments and its tests.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]").next().unwrap_or_default();
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn lists_of_names_stand_in_the_tables() {
    let source = root().join("crates/core/src");
    let mut left = Vec::new();
    let mut needed = vec![false; STAY.len()];
    for path in files(&source, ".rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        for (name, count) in lists(&code(&text)) {
            let list = format!("{}: {name} has {count} texts", path.display());
            let stays = |(end, list, _): &(&str, &str, &str)| path.ends_with(end) && *list == name;
            match STAY.iter().position(stays) {
                Some(at) => needed[at] = true,
                None => left.push(list),
            }
        }
    }
    let unused = STAY.iter().zip(needed).filter(|(_, needed)| !needed);
    let unused: Vec<_> = unused.map(|(stays, _)| stays).collect();
    assert!(
        left.is_empty(),
        "move these lists to crates/core/knowledge, or say in `STAY` why they stay:\n{}",
        left.join("\n")
    );
    assert!(
        unused.is_empty(),
        "these lists are gone, so they need no exception: {unused:?}"
    );
}

#[test]
fn a_list_is_counted_whatever_stands_in_it() {
    let nine = r#"const NAMES: &[(&str, u8)] = &[("a", 1), ("b;", 2), ("\"", 3), ("d", 4), ("e", 5),
        ("f", 6), ("g", 7), ("h", 8), ("i", 9)];"#;
    assert_eq!(lists(nine), [("NAMES".to_owned(), 9)]);
    assert_eq!(lists(&nine.replace(r#", ("i", 9)"#, "")), []);
    assert_eq!(
        lists(&format!(
            "fn f() {{\n    {}\n}}",
            nine.replace("const", "static")
        ))
        .len(),
        1
    );
}
