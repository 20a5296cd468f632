//! What holds for every reader on any text: no panic, the same answer twice, bounded time.

use std::time::Duration;

use countersign_core::language::script::{self, Lang};
use countersign_core::language::sql::{self, Dialect};
use countersign_core::language::{Reading, awk, cmd, find, jq, powershell, sed};
use proptest::prelude::*;

type Reader = fn(&str) -> Reading;

/// Every reader of a text, by name.
const READERS: [(&str, Reader); 17] = [
    ("sed", sed::read),
    ("awk", awk::read),
    ("jq", jq::read),
    ("sql", |text| sql::read(text, Dialect::Generic)),
    ("psql", |text| sql::read(text, Dialect::Psql)),
    ("mysql", |text| sql::read(text, Dialect::Mysql)),
    ("sqlite", |text| sql::read(text, Dialect::Sqlite)),
    ("mongo", sql::mongo),
    ("redis", |text| {
        sql::redis(&text.split(' ').collect::<Vec<_>>())
    }),
    ("python", |text| script::read(Lang::PYTHON, text)),
    ("javascript", |text| script::read(Lang::JAVASCRIPT, text)),
    ("perl", |text| script::read(Lang::PERL, text)),
    ("ruby", |text| script::read(Lang::RUBY, text)),
    ("php", |text| script::read(Lang::PHP, text)),
    ("lua", |text| script::read(Lang::LUA, text)),
    ("powershell", powershell::read),
    ("cmd", cmd::read),
];

/// Pieces that matter to one language or another, to be thrown together.
const PIECES: &[&str] = &[
    "'",
    "\"",
    "`",
    "\\",
    "\n",
    " ",
    ";",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "/",
    "|",
    "&",
    ">",
    "<",
    "=",
    ",",
    ".",
    ":",
    "::",
    "->",
    "=>",
    "$",
    "@",
    "%",
    "#",
    "--",
    "/*",
    "*/",
    "//",
    "<<",
    "${",
    "#{",
    "$(",
    "\\(",
    "s/",
    "y/",
    "q{",
    "qx(",
    "w ",
    "e",
    "'''",
    "f'",
    "{0}",
    "SELECT ",
    "DELETE FROM t ",
    "WHERE ",
    "1=1",
    " OR ",
    "WITH x AS (",
    "EXPLAIN ANALYZE ",
    "COPY ",
    "$$",
    "\\g",
    ".shell ",
    "system",
    "print ",
    "getline ",
    "import os",
    "from a import b",
    "require('fs')",
    "eval",
    "x",
    "é",
    "\u{202e}",
    "\u{0}",
    "0",
    "9~",
    "cmd /c ",
    "powershell -enc ",
    "Remove-Item ",
    "-Recurse",
    "^",
    "@'",
    "\n'@",
    "if ",
    "for ",
    "in ",
    "do ",
    "def ",
    "lambda ",
    "function ",
    "const ",
    "&:",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_reader_panics_and_each_answers_the_same_twice(text in prop_oneof![soup(), any::<String>()]) {
        for (name, read) in READERS {
            prop_assert_eq!(read(&text), read(&text), "{} on {:?}", name, text);
        }
        for looks_like in [sql::looks_like, powershell::looks_like, cmd::looks_like] {
            prop_assert_eq!(looks_like(&text), looks_like(&text));
        }
    }

    #[test]
    fn find_never_panics(words in prop::collection::vec(
        prop_oneof![
            prop::sample::select(vec![
                ".", "/", "-name", "-exec", "rm", "{}", ";", "+", "-delete", "(", ")", "!", "-o",
                "-newermt", "-depth", "2", "-files0-from", "-fprintf", ",", "-f", "-D",
            ]).prop_map(str::to_owned),
            any::<String>(),
        ],
        0..20,
    )) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        prop_assert_eq!(find::read(&words), find::read(&words));
    }

    #[test]
    fn appending_a_danger_never_makes_sql_harmless(text in soup()) {
        let reading = sql::read(&format!("{text}\n;\nDROP TABLE x"), Dialect::Psql);
        prop_assert!(!reading.is_harmless(), "{:?} gives {:?}", text, reading);
    }

    #[test]
    fn python_followed_by_a_danger_is_never_harmless(text in soup()) {
        let reading = script::read(Lang::PYTHON, &format!("{text}\nimport os\nos.system('id')"));
        prop_assert!(!reading.is_harmless() || text.contains(['\'', '"', '\\']), "{:?} gives {:?}", text, reading);
    }
}

#[test]
fn every_reader_takes_little_time_on_long_hostile_text() {
    // Long enough that quadratic work shows, short enough for a build without optimisation.
    const TEXT_BYTES: usize = 12 * 1024;
    const TIME_MAX: Duration = Duration::from_secs(1);
    let mut slow = Vec::new();
    for piece in PIECES.iter().chain(&[
        "(DELETE FROM t ",
        "((1=1)",
        "a.",
        "a=",
        "a,",
        "x => ",
        "fn(",
        "{a|",
        "$a->",
        "import a,",
        "EXPLAIN ANALYZE (",
        "getline x[",
        "f'{a}'",
        "\"\\(",
        "s{",
        "if (",
        "'a'.",
        "@{[",
        "cmd /c (",
        "\"$(",
        "a::",
        ">a",
        "a(b",
        "not (",
        "PREPARE a AS ",
        ", a(",
        "system(\"a\" ",
        "-x ",
        ")(",
    ]) {
        let text = piece.repeat(TEXT_BYTES / piece.len());
        for (name, read) in READERS {
            let (reading, taken) = crate::processor::time(|| read(&text));
            if taken > TIME_MAX {
                slow.push(format!(
                    "{name} took {taken:?} on {piece:?} ({:?})",
                    reading.hidden
                ));
            }
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}

#[test]
fn too_long_fragments_stay_hidden() {
    let text = " ".repeat(64 * 1024 + 1);
    for (name, read) in READERS {
        assert!(read(&text).hidden.is_some(), "{name}");
    }
}
