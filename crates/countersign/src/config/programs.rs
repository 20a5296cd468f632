//! Programs that the owner describes: from checked YAML values to rows, and from an error in a row to
//! its place in the file.

use countersign_core::knowledge::owners::{ProgramText, Programs, RowError, RowText};
use countersign_core::knowledge::{Effect, Role, Style};
use countersign_core::policy::programs::read;
use serde_json::Value;

use super::read::at;
use super::schema::{Problem, nearest};

/// Returns the programs that a file describes. `values` has been checked against the schema.
pub(crate) fn programs(values: &Value) -> Result<Programs, Problem> {
    let listed = at(values, "programs").as_array();
    let texts: Vec<ProgramText> = listed.into_iter().flatten().map(program).collect();
    if texts.is_empty() {
        return Ok(Programs::default());
    }
    read(&texts).map_err(|error| problem(&error, &texts))
}

fn program(value: &Value) -> ProgramText {
    let subs = at(value, "subs").as_array().into_iter().flatten();
    let words = at(value, "verb_words").as_u64().unwrap_or(1);
    ProgramText {
        own: row(value),
        everywhere: lines(value, "everywhere"),
        verbs: text(value, "verbs"),
        verb_words: u8::try_from(words).unwrap_or(u8::MAX),
        subs: subs.map(row).collect(),
    }
}

fn row(value: &Value) -> RowText {
    RowText {
        names: lines(value, "names"),
        does: text(value, "does"),
        options: text(value, "options"),
        manual: text(value, "manual"),
        style: text(value, "style"),
        flags: lines(value, "flags"),
        operands: text(value, "operands"),
        matches: lines(value, "match"),
        not_match: lines(value, "not_match"),
    }
}

fn text(value: &Value, key: &str) -> String {
    at(value, key).as_str().unwrap_or_default().to_owned()
}

fn lines(value: &Value, key: &str) -> Vec<String> {
    let lines = at(value, key).as_array().into_iter().flatten();
    lines.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn problem(error: &RowError, texts: &[ProgramText]) -> Problem {
    let mut key = format!("programs[{}]", error.program);
    if let Some(sub) = error.sub {
        key = format!("{key}.subs[{sub}]");
    }
    let program = texts.get(error.program);
    let row = program.and_then(|program| match error.sub {
        Some(sub) => program.subs.get(sub),
        None => Some(&program.own),
    });
    let is_there = row.is_some_and(|row| match error.column {
        "does" => !row.does.is_empty(),
        "manual" => !row.manual.is_empty(),
        "flags" => error.line.is_none_or(|line| line < row.flags.len()),
        _ => true,
    });
    if is_there {
        key = format!("{key}.{}", error.column);
        if let Some(line) = error.line {
            key = format!("{key}[{line}]");
        }
    }
    let hint = row.map_or_else(String::new, |row| hint(error.column, row));
    Problem::new(&key, error.to_string(), hint)
}

/// Returns what to do about an error in a column.
fn hint(column: &str, row: &RowText) -> String {
    let known = |given: &str, words: &[&str]| match nearest(given, words.iter().copied()) {
        Some(near) if !given.is_empty() => format!("did you mean `{near}`?"),
        Some(_) | None => format!("one of: {}", words.join(" ")),
    };
    match column {
        "does" => known(&row.does, Effect::WORDS),
        "style" => known(&row.style, Style::WORDS),
        "operands" => format!("roles are: {}", Role::WORDS.join(" ")),
        "flags" => {
            "write names, then =role or ?role, then !effect: \"-o --output =write\"".to_owned()
        }
        "options" => "`listed`: an option that is not listed asks; `any`: it does not".to_owned(),
        "manual" => {
            "with `options: any`, name the program and version whose manual was read".to_owned()
        }
        "match" | "not_match" => {
            "change the row or the example; `countersign check` shows what a command is found to do"
                .to_owned()
        }
        _ => "see the section on programs in docs/configuration.md".to_owned(),
    }
}
