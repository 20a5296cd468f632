//! The registry of languages: every row of calls is found by its reader, and every language by all
//! ways to its code.

#![expect(clippy::panic, reason = "a failing test panics")]

use countersign_core::act::Act;
use countersign_core::follow::walk::{Knows, Walk};
use countersign_core::knowledge::languages::{CALL_ROWS, Call, LANGUAGES, Language};
use countersign_core::knowledge::{self, Effect, Lang, Role, Value};
use countersign_core::language::{cmd, powershell, script, sql};
use countersign_core::place::Ground;
use countersign_core::shell::syntax::Span;

use super::*;

/// What a deed is in the vocabulary of the tables.
fn effect(deed: &Deed) -> Effect {
    let makes = |words: &[String]| words.first().is_some_and(|program| program == "mkdir");
    match deed {
        // A directory is made like by the program that does so.
        Deed::Run(words) if makes(words) => Effect::Write,
        Deed::Shell(_)
        | Deed::Run(_)
        | Deed::Give(..)
        | Deed::Feed(_)
        | Deed::Load(_)
        | Deed::MayRun(_) => Effect::Exec,
        Deed::ReadFile(_) | Deed::MayRead(_) => Effect::Read,
        Deed::Enter { .. } | Deed::Leave => Effect::Inspect,
        Deed::SetVariable(..) => Effect::Setting,
        Deed::WriteFile(_) | Deed::MayWrite(_) | Deed::Link(_) | Deed::Download(_) => Effect::Write,
        Deed::DeleteFile(_) | Deed::DeleteTree(_) | Deed::DeleteBuilt(_) => Effect::Delete,
        Deed::Fetch(_) => Effect::NetRead,
        Deed::Send(_) => Effect::NetSend,
        Deed::DbRead => Effect::DbRead,
        Deed::DbWrite(_) => Effect::DbWrite,
        Deed::DbDestroy(_) => Effect::DbDestroy,
        Deed::DbAdmin(_) => Effect::DbAdmin,
        Deed::Halt(_) => Effect::Halt,
        Deed::Control(_) => Effect::Control,
        Deed::Kill(_) => Effect::Kill,
        Deed::Persist(_) => Effect::Persist,
        Deed::Privilege(_) => Effect::Privilege,
        Deed::WipeDisk(_) | Deed::Multiply(_) => Effect::Wipe,
        Deed::Reveal(_) => Effect::Secret,
    }
}

/// Reads code of the language that tables call `name`; commands of a database client stand in a list
/// of their own.
fn reading(name: &str, list: &str, code: &str) -> Reading {
    if name == "cmd" {
        return cmd::read(code);
    }
    let language = LANGUAGES.iter().find(|language| language.name == name);
    match language.map(|language| language.role) {
        Some(Role::Snippet(lang)) => script::read(lang, code),
        Some(Role::PowerShell) => powershell::read(code),
        Some(Role::Sql) => sql::read(code, dialect(list)),
        Some(Role::Mongo) => sql::mongo(code),
        Some(Role::Redis) => sql::redis(&code.split_whitespace().collect::<Vec<_>>()),
        role => panic!("{name}: {role:?} has no reader here"),
    }
}

fn dialect(list: &str) -> sql::Dialect {
    match list {
        "psql" => sql::Dialect::Psql,
        "mysql" => sql::Dialect::Mysql,
        "sqlite" => sql::Dialect::Sqlite,
        _ => sql::Dialect::Generic,
    }
}

#[test]
fn the_example_of_every_call_shows_what_its_row_says() {
    assert!(CALL_ROWS.len() > 150, "{} rows", CALL_ROWS.len());
    for (language, row) in CALL_ROWS {
        for example in row.matches {
            let names = |name: &str| {
                example.to_lowercase().contains(
                    name.to_lowercase()
                        .rsplit(['.', ':'])
                        .next()
                        .unwrap_or(name),
                )
            };
            assert!(
                row.names.iter().any(names),
                "{language}: {example} names no call of its row"
            );
            let reading = reading(language, row.list, example);
            let by_flag = row.flags.iter().flat_map(|flag| flag.effects);
            let wanted: Vec<Effect> = by_flag.copied().chain([row.does]).collect();
            let hides = matches!(
                row.does,
                Effect::Exec | Effect::Interactive | Effect::Unknown
            );
            let seen = reading
                .deeds
                .iter()
                .any(|deed| wanted.contains(&effect(deed)))
                || hides && reading.hidden.is_some()
                || row.does <= Effect::Inspect && reading.is_harmless();
            assert!(
                seen,
                "{language}: {example} is not seen to {}: {reading:?}",
                row.does.word()
            );
        }
    }
}

/// The scripting languages, each with a row of calls that delete.
fn scripts() -> impl Iterator<Item = (Lang, &'static Language, &'static Call)> {
    LANGUAGES.iter().filter_map(|language| {
        let Role::Snippet(lang) = language.role else {
            return None;
        };
        let row = CALL_ROWS
            .iter()
            .find(|(name, row)| *name == language.name && row.does == Effect::Delete);
        let (_, row) = row.unwrap_or_else(|| panic!("{}: no call deletes", language.name));
        Some((lang, language, *row))
    })
}

fn acts(command: &str) -> Vec<Act> {
    let knows = Knows {
        trusts_workspace: true,
        ..Knows::default()
    };
    let mut walk = Walk::new(Ground::new(None, None), &knows);
    walk.text(command, Span::default());
    walk.acts
}

/// The option of an interpreter whose value is code of `lang`.
fn code_option(interpreter: &str, lang: Lang) -> &'static str {
    let program = knowledge::program(interpreter)
        .unwrap_or_else(|| panic!("{interpreter} has no row in programs/"));
    let carries = |value: Value| value == Value::Next(Role::Snippet(lang));
    let flag = program.row.flags.iter().find(|flag| carries(flag.value));
    let names = flag.map_or(&[][..], |flag| flag.names);
    names
        .first()
        .unwrap_or_else(|| panic!("no option of {interpreter} carries its code"))
}

#[test]
fn every_scripting_language_is_reached_by_option_here_document_shebang_and_extension() {
    assert_eq!(Lang::all().count(), scripts().count());
    for (lang, language, row) in scripts() {
        let code = row
            .matches
            .first()
            .unwrap_or_else(|| panic!("{}", language.name));
        let interpreter = language
            .interpreters
            .first()
            .unwrap_or_else(|| panic!("{}", language.name));
        let option = code_option(interpreter, lang);
        let quoted = code.replace('\'', "\"");
        let mut commands = vec![
            format!("{interpreter} {option} '{quoted}'"),
            format!("{interpreter} <<'END'\n{code}\nEND"),
            format!("cat > a <<'END'\n{code}\nEND\n{interpreter} a"),
            format!("cat > a <<'END'\n#!/usr/bin/env {interpreter}\n{code}\nEND\n./a"),
        ];
        for extension in language.extensions {
            commands.push(format!(
                "cat > a.{extension} <<'END'\n{code}\nEND\n./a.{extension}"
            ));
        }
        for command in commands {
            let acts = acts(&command);
            let deletes = acts.iter().any(|act| act.effect == Effect::Delete);
            assert!(deletes, "{command}: {acts:?}");
        }
    }
}

#[test]
fn no_two_languages_claim_the_same_interpreter_extension_or_name() {
    for list in [
        |language: &'static Language| language.interpreters,
        |language: &'static Language| language.extensions,
        |language: &'static Language| language.called,
    ] {
        let mut all: Vec<&str> = LANGUAGES.iter().flat_map(list).copied().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
