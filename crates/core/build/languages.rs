//! Compiles `knowledge/languages/`: the names and calls of every language that is read.
//!
//! It is apart from the other tables because its output is a file of its own, which
//! `src/knowledge/languages.rs` includes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::flags::{flag_list, operand_list};
use crate::grammar;
use crate::index::shape;
use crate::slots::bits;
use crate::vocabulary::{CallReader, Effect, Feature, Lang, Role, Syntax};

/// The scripting languages, in the order of their places.
static SCRIPTS: OnceLock<Vec<String>> = OnceLock::new();

/// One language, as its file describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LanguageRow {
    name: String,
    /// The role of its code, where that is not the language's name.
    #[serde(default)]
    role: Option<String>,
    /// Programs that run it, the usual one first.
    #[serde(default)]
    interpreters: String,
    /// Names tools give it.
    #[serde(default)]
    called: String,
    /// What its files' names end in, without the dot.
    #[serde(default)]
    extensions: String,
    /// Options with which its interpreters only check a file.
    #[serde(default)]
    checks: String,
    /// For a scripting language: its own syntax, or `plain`.
    #[serde(default)]
    syntax: Option<String>,
    #[serde(default)]
    features: String,
    /// Lists of names; what each is for is up to the language's reader.
    #[serde(default)]
    names: BTreeMap<String, String>,
    /// What may be taken from each module.
    #[serde(default)]
    attributes: BTreeMap<String, String>,
    /// Other names of each name.
    #[serde(default)]
    aliases: BTreeMap<String, String>,
    #[serde(default)]
    call: Vec<CallRow>,
}

/// Functions, methods or commands of a language that do the same.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallRow {
    names: String,
    /// The list it is in, where a language has several.
    #[serde(default)]
    list: Option<String>,
    does: String,
    #[serde(default)]
    takes: String,
    #[serde(default)]
    reader: Option<String>,
    /// Words that change what it does, written like the flags of a program.
    #[serde(default)]
    flags: Vec<String>,
    #[serde(rename = "match")]
    matches: Vec<String>,
}

/// The list of calls a row belongs to that names none.
const CALLS: &str = "calls";

/// Notes which languages are scripting languages, so that roles can name them.
pub(crate) fn name_scripts(languages: &[LanguageRow]) {
    let scripts = languages.iter().filter(|row| row.syntax.is_some());
    let names = scripts.map(|row| row.name.clone()).collect();
    SCRIPTS.set(names).expect("the languages are named once");
}

/// Returns the role that tables call `word`.
pub(crate) fn role(word: &str) -> Option<Role> {
    let scripts = SCRIPTS.get().expect("the languages were named");
    match scripts.iter().position(|name| name == word) {
        Some(place) => u8::try_from(place)
            .ok()
            .map(|place| Role::Snippet(Lang(place))),
        None => Role::from_word(word),
    }
}

/// Returns the Rust source of the role that tables call `word`.
pub(crate) fn role_code(word: &str) -> Option<String> {
    role(word).map(|role| format!("Role::{role:?}"))
}

/// Returns the Rust source of all languages.
pub(crate) fn generate(languages: &[LanguageRow]) -> Result<String, String> {
    let mut code = String::new();
    write_registry(languages, &mut code)?;
    let mut rows = String::new();
    for language in languages {
        let name = &language.name;
        for (list, words) in &language.names {
            let words = sorted(name, list, words)?;
            let what = format!("The `{list}` of {name}.");
            write_static(&mut code, &what, name, list, "Names", &words);
        }
        if !language.attributes.is_empty() {
            let mut modules = String::new();
            for (module, words) in &language.attributes {
                let words = sorted(name, module, words)?;
                write!(modules, "({module:?}, {words}),").unwrap();
            }
            let what = format!("What code of {name} may take from modules.");
            write_static(
                &mut code,
                &what,
                name,
                "attributes",
                "Attributes",
                &format!("Attributes(&[{modules}])"),
            );
        }
        if !language.aliases.is_empty() {
            let aliases = aliases(language)?;
            let what = format!("Other names of what {name} calls.");
            write_static(
                &mut code,
                &what,
                name,
                "aliases",
                "Aliases",
                &format!("Aliases(&{aliases:?})"),
            );
        }
        write_calls(language, &mut code, &mut rows)?;
    }
    writeln!(code, "/// Every row of calls, with its language.\npub static CALL_ROWS: &[(&str, &Call)] = &[{rows}];").unwrap();
    Ok(code)
}

/// Writes the list of languages, and that of the scripting languages.
fn write_registry(languages: &[LanguageRow], code: &mut String) -> Result<(), String> {
    let mut all = String::new();
    let mut scripts = String::new();
    let mut places = String::new();
    for row in languages {
        let name = &row.name;
        let word = row.role.as_ref().unwrap_or(name);
        let role = role_code(word).ok_or_else(|| format!("{name}: no role is called `{word}`"))?;
        let words = |text: &str| format!("&{:?}", text.split_whitespace().collect::<Vec<_>>());
        writeln!(
            all,
            "Language {{ name: {name:?}, role: {role}, interpreters: {}, called: {}, extensions: {}, checks: {} }},",
            words(&row.interpreters),
            words(&row.called),
            words(&row.extensions),
            words(&row.checks),
        )
        .unwrap();
        if let Some(syntax) = &row.syntax {
            let constant = name.to_uppercase();
            let place = scripts.lines().count();
            writeln!(
                places,
                "/// The language `{name}`.\npub const {constant}: Self = Self({place});"
            )
            .unwrap();
            scripts.push_str(&script(row, syntax)?);
        }
    }
    writeln!(
        code,
        "/// Every language that is read.\npub static LANGUAGES: &[Language] = &[{all}];"
    )
    .unwrap();
    writeln!(
        code,
        "/// The scripting languages, each at its place.\nstatic SCRIPTS: &[Script] = &[{scripts}];"
    )
    .unwrap();
    writeln!(code, "impl Lang {{ {places} }}").unwrap();
    Ok(())
}

/// The lists of names that a scripting language may have.
const SCRIPT_LISTS: [&str; 28] = [
    "functions",
    "methods",
    "modules",
    "versioned",
    "forbidden",
    "makers",
    "reaching",
    "reaching_methods",
    "callers",
    "binders",
    "joins",
    "same",
    "plain",
    "listing",
    "scratch",
    "home",
    "here",
    "foreign",
    "decoders",
    "carried",
    "quiet",
    "standard",
    "loaders",
    "statements",
    "databases",
    "sending_methods",
    "mappers",
    "row_methods",
];

/// Returns the descriptor of a scripting language, on one line.
fn script(row: &LanguageRow, syntax: &str) -> Result<String, String> {
    let name = &row.name;
    let own = Syntax::from_word(syntax)
        .ok_or_else(|| format!("{name}: no syntax is called `{syntax}`"))?;
    let mut features = String::new();
    for word in row.features.split_whitespace() {
        let feature = Feature::from_word(word)
            .ok_or_else(|| format!("{name}: no feature is called `{word}`"))?;
        write!(features, "Feature::{feature:?},").unwrap();
    }
    if let Some(list) = row
        .names
        .keys()
        .find(|list| !SCRIPT_LISTS.contains(&list.as_str()))
    {
        return Err(format!("{name}: a scripting language has no list `{list}`"));
    }
    let or_none = |has: bool, list: &str, kind: &str| {
        if has {
            identifier(name, list)
        } else {
            format!("{kind}::NONE")
        }
    };
    let lists: String = SCRIPT_LISTS
        .iter()
        .map(|list| {
            format!(
                "{list}: {},",
                or_none(row.names.contains_key(*list), list, "Names")
            )
        })
        .collect();
    let has = |list: &str| {
        row.call
            .iter()
            .any(|call| call.list.as_deref().unwrap_or(CALLS) == list)
    };
    Ok(format!(
        "Script {{ lang: Lang::{}, syntax: Syntax::{own:?}, features: &[{features}], {lists} attributes: {}, calls: {}, members: {} }},\n",
        name.to_uppercase(),
        or_none(!row.attributes.is_empty(), "attributes", "Attributes"),
        or_none(has(CALLS), CALLS, "Calls"),
        or_none(has("members"), "members", "Calls"),
    ))
}

fn write_static(
    code: &mut String,
    what: &str,
    language: &str,
    list: &str,
    kind: &str,
    value: &str,
) {
    let name = identifier(language, list);
    writeln!(code, "/// {what}\npub static {name}: {kind} = {value};").unwrap();
}

fn identifier(language: &str, list: &str) -> String {
    format!("{language}_{list}").to_uppercase()
}

/// Returns a list of names in order; a name that is listed twice stops the build.
fn sorted(language: &str, list: &str, words: &str) -> Result<String, String> {
    let mut known = BTreeSet::new();
    for word in words.split_whitespace() {
        if !known.insert(word) {
            return Err(format!("{language}: `{word}` is twice in `{list}`"));
        }
    }
    Ok(names(known))
}

/// Returns the Rust source of a list of names. They keep their order; the places where they begin are
/// in the order of the names.
pub(crate) fn names<'t>(words: impl IntoIterator<Item = &'t str>) -> String {
    let mut text = String::new();
    let mut ends = Vec::new();
    let mut sorted = BTreeMap::new();
    let mut shapes = 0;
    for (number, word) in words.into_iter().enumerate() {
        text.push_str(word);
        ends.push(u16::try_from(text.len()).expect("a list of names is shorter than 64 KiB"));
        sorted.insert(word, number);
        shapes |= shape(word.as_bytes());
    }
    let sorted: Vec<usize> = sorted.into_values().collect();
    let shapes = bits(shapes);
    format!("Names {{ text: {text:?}, ends: &{ends:?}, sorted: &{sorted:?}, shapes: {shapes} }}")
}

fn aliases(language: &LanguageRow) -> Result<Vec<(&str, &str)>, String> {
    let mut known = BTreeMap::new();
    for (full, words) in &language.aliases {
        for alias in words.split_whitespace() {
            if known.insert(alias, full.as_str()).is_some() {
                return Err(format!(
                    "{}: alias `{alias}` is listed twice",
                    language.name
                ));
            }
        }
    }
    Ok(known.into_iter().collect())
}

/// Writes each row once, and for each list the rows by name.
fn write_calls(language: &LanguageRow, code: &mut String, rows: &mut String) -> Result<(), String> {
    let name = &language.name;
    let mut lists: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (index, row) in language.call.iter().enumerate() {
        let list = row.list.as_deref().unwrap_or(CALLS);
        for called in row.names.split_whitespace() {
            let known = lists.entry(list).or_default().insert(called, index);
            if known.is_some() {
                return Err(format!("{name}: `{called}` has two rows in `{list}`"));
            }
        }
        let own = identifier(name, &format!("call_{index}"));
        writeln!(code, "static {own}: Call = {};", call(name, row)?).unwrap();
        write!(rows, "({name:?}, &{own}),").unwrap();
    }
    for (list, by_name) in lists {
        let rows: BTreeSet<usize> = by_name.values().copied().collect();
        let place = |row: &usize| rows.iter().position(|known| known == row);
        let places: Vec<usize> = by_name.values().filter_map(place).collect();
        let calls: String = rows
            .iter()
            .map(|row| format!("&{},", identifier(name, &format!("call_{row}"))))
            .collect();
        let names = names(by_name.keys().copied());
        let what = format!("What the {list} of {name} do.");
        let value = format!("Calls {{ names: {names}, rows: &{places:?}, found: &[{calls}] }}");
        write_static(code, &what, name, list, "Calls", &value);
    }
    Ok(())
}

fn call(language: &str, row: &CallRow) -> Result<String, String> {
    let place = || format!("{language}: `{}`", row.names.trim());
    let does = Effect::from_word(&row.does)
        .ok_or_else(|| format!("{}: no effect is called `{}`", place(), row.does))?;
    let wrong = |wrong: grammar::Misread| format!("{}: {}", place(), wrong.what);
    let takes = operand_list(&grammar::operands(&row.takes, &role).map_err(wrong)?);
    let reader = match &row.reader {
        None => "None".to_owned(),
        Some(word) => {
            let reader = CallReader::from_word(word)
                .ok_or_else(|| format!("{}: no reader is called `{word}`", place()))?;
            format!("Some(CallReader::{reader:?})")
        }
    };
    let flags = flag_list(&grammar::flags(&row.flags, &role).map_err(wrong)?);
    if row.matches.is_empty() {
        return Err(format!("{}: a row needs an example", place()));
    }
    let list = row.list.as_deref().unwrap_or(CALLS);
    let names = sorted(language, list, &row.names)?;
    Ok(format!(
        "Call {{ names: {names}, list: {list:?}, does: Effect::{does:?}, takes: &[{takes}], reader: {reader}, flags: &[{flags}], matches: &{:?} }}",
        row.matches
    ))
}
