//! Compiles the tables in `knowledge/` into static Rust data.
//!
//! Reading TOML at start would cost more than judging a thousand commands, so it happens here. A
//! misspelt word, a doubled name or a flag that cannot be read stops the build with the row's name.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    clippy::format_collect,
    reason = "a build script reads files, and stopping the build is how it complains"
)]

#[path = "src/knowledge/vocabulary.rs"]
#[expect(
    dead_code,
    unreachable_pub,
    reason = "the build uses the parsing half of the vocabulary"
)]
mod vocabulary;

#[path = "src/knowledge/grammar.rs"]
#[expect(unreachable_pub, reason = "the core publishes it")]
mod grammar;

#[path = "src/content/crisis/folding.rs"]
#[expect(dead_code, reason = "the build folds patterns, not texts")]
mod folding;
#[path = "src/knowledge/index.rs"]
#[expect(dead_code, reason = "the core searches what the build lays out")]
mod index;
#[path = "src/content/crisis/opening.rs"]
mod opening;
#[path = "src/content/operations.rs"]
mod operations;
#[path = "src/content/crisis/stems.rs"]
mod stems;

#[path = "build/flags.rs"]
mod flags;
#[path = "build/keywords.rs"]
mod keywords;
#[path = "build/languages.rs"]
mod languages;
#[path = "build/letters.rs"]
mod letters;
#[path = "build/names.rs"]
mod names;
#[path = "build/paths.rs"]
mod paths;
#[path = "build/phrases.rs"]
mod phrases;
#[path = "build/programs.rs"]
mod programs;
#[path = "build/rows.rs"]
mod rows;
#[path = "build/slots.rs"]
mod slots;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use flags::{flag_list, operand_list};
use grammar::{Columns, with_everywhere};
use languages::{role, role_code};
use rows::Tables;
use vocabulary::{Effect, Reader};

fn main() {
    println!("cargo::rerun-if-changed=knowledge");
    println!("cargo::rerun-if-changed=src/knowledge/grammar.rs");
    println!("cargo::rerun-if-changed=src/knowledge/index.rs");
    println!("cargo::rerun-if-changed=src/knowledge/vocabulary.rs");
    for shared in ["folding", "opening", "stems"] {
        println!("cargo::rerun-if-changed=src/content/crisis/{shared}.rs");
    }
    println!("cargo::rerun-if-changed=src/content/operations.rs");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let tables = or_stop(read_tables());
    languages::name_scripts(&tables.language);
    let files = [
        ("knowledge.rs", or_stop(generate(&tables))),
        (
            "languages.rs",
            or_stop(languages::generate(&tables.language)),
        ),
    ];
    let (phrases, programs) = or_stop(phrases::generate());
    std::fs::write(Path::new(&out).join("phrases.bin"), programs).expect("OUT_DIR is writable");
    std::fs::write(Path::new(&out).join("phrases.rs"), phrases).expect("OUT_DIR is writable");
    for (name, code) in files {
        std::fs::write(Path::new(&out).join(name), code).expect("OUT_DIR is writable");
    }
}

/// What the folding of letters asks of the compiled tables, which are not there yet.
mod knowledge {
    use std::sync::LazyLock;

    use crate::letters::{LookAlikes, read};

    /// A letter in another style.
    pub(crate) struct LookAlike {
        pub(crate) sign: char,
        pub(crate) styled: bool,
    }

    static LOOK_ALIKES: LazyLock<LookAlikes> = LazyLock::new(|| crate::or_stop(read()));

    /// Returns what `character` looks like.
    pub(crate) fn look_alike(character: char) -> Option<LookAlike> {
        let (sign, says) = *LOOK_ALIKES.get(&character)?;
        let [_, styled, _] = says;
        Some(LookAlike { sign, styled })
    }
}

/// Returns what was made, or stops the build with the error.
fn or_stop<T>(made: Result<T, String>) -> T {
    made.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        std::process::exit(1);
    })
}

/// Returns the Rust source of all tables but the languages.
fn generate(tables: &Tables) -> Result<String, String> {
    let mut code = String::new();
    write_verbs(tables, &mut code)?;
    write_programs(tables, &mut code)?;
    paths::write(&tables.path, &mut code)?;
    paths::write_shared(&mut code)?;
    write_hosts(tables, &mut code)?;
    write_routes(tables, &mut code)?;
    write_trees(tables, &mut code)?;
    let answers = tables.answer.iter().flat_map(|row| &row.programs);
    let answers = languages::names(answers.map(String::as_str));
    writeln!(code, "use languages::Names;\n/// Commands whose answer is no data of this machine.\npub static ANSWERS: Names = {answers};").unwrap();
    write_variables(tables, &mut code)?;
    write_tools(tables, &mut code)?;
    write_handles(tables, &mut code);
    names::write(&tables.names, &mut code)?;
    letters::write(&mut code)?;
    Ok(code)
}

fn read_tables() -> Result<Tables, String> {
    let mut files = Vec::new();
    for folder in [
        "knowledge",
        "knowledge/languages",
        "knowledge/names",
        "knowledge/programs",
    ] {
        let entries = std::fs::read_dir(folder).map_err(|error| format!("{folder}: {error}"))?;
        for entry in entries {
            let path = entry.map_err(|error| format!("{folder}: {error}"))?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut tables = Tables::default();
    for file in files {
        let text = std::fs::read_to_string(&file)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        // Tables that another module compiles for itself keep their own extension or top key.
        if text.starts_with("# own reader") {
            continue;
        }
        let part: Tables =
            toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        let of_system = match part.origin.as_deref() {
            None => false,
            Some("system") => true,
            Some(other) => return Err(format!("{}: unknown origin `{other}`", file.display())),
        };
        let rows = part.program.into_iter();
        tables
            .program
            .extend(rows.map(|row| rows::ProgramRow { of_system, ..row }));
        tables.sub.extend(part.sub);
        tables.verbs.extend(part.verbs);
        tables.path.extend(part.path);
        tables.host.extend(part.host);
        tables.route.extend(part.route);
        tables.tree.extend(part.tree);
        tables.answer.extend(part.answer);
        tables.variable.extend(part.variable);
        tables.tool.extend(part.tool);
        tables.handle.extend(part.handle);
        tables.language.extend(part.language);
        tables.names.extend(part.names);
    }
    Ok(tables)
}

/// Returns the row of each program by its names.
fn program_owners(tables: &Tables) -> Result<BTreeMap<&str, usize>, String> {
    let mut owner: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, program) in tables.program.iter().enumerate() {
        for name in &program.names {
            if owner.insert(name, index).is_some() {
                return Err(format!("program `{name}` has two rows"));
            }
        }
    }
    Ok(owner)
}

/// For the row of a program, the rows of its subcommands by name.
type Subcommands<'t> = BTreeMap<usize, BTreeMap<&'t str, usize>>;

/// Returns the subcommands of every program.
fn subcommands<'t>(
    tables: &'t Tables,
    owner: &BTreeMap<&str, usize>,
) -> Result<Subcommands<'t>, String> {
    let mut subs = Subcommands::new();
    for (index, sub) in tables.sub.iter().enumerate() {
        for of in &sub.of {
            let program = *owner.get(of.as_str()).ok_or_else(|| {
                format!("sub `{}` of unknown program `{of}`", sub.names.join(", "))
            })?;
            if !tables.program[program].subs {
                return Err(format!(
                    "program `{of}` has subcommand rows but not `subs = true`"
                ));
            }
            for name in &sub.names {
                let known = subs.entry(program).or_default().insert(name, index);
                if known.is_some_and(|other| other != index) {
                    return Err(format!("`{of} {name}` has two rows"));
                }
            }
        }
    }
    Ok(subs)
}

fn write_programs(tables: &Tables, code: &mut String) -> Result<(), String> {
    let owner = program_owners(tables)?;
    let subs = subcommands(tables, &owner)?;
    for (index, sub) in tables.sub.iter().enumerate() {
        let name = format!("{} {}", sub.of[0], sub.names[0]);
        let programs: BTreeSet<usize> = sub.of.iter().map(|of| owner[of.as_str()]).collect();
        let everywhere = programs
            .into_iter()
            .flat_map(|program| &tables.program[program].everywhere);
        let flags = with_everywhere(&sub.flags, everywhere);
        let columns = Columns {
            does: &sub.does,
            options: sub.options.as_deref().unwrap_or_default(),
            manual: sub.manual.as_deref().unwrap_or_default(),
            style: sub.style.as_deref().unwrap_or_default(),
            flags: &flags,
            operands: &sub.operands,
        };
        let examples = [sub.matches.as_slice(), &sub.not_match];
        let row = row(&name, &columns, sub.reader.as_deref(), examples)?;
        writeln!(code, "static SUB_{index}: Row = {row};").unwrap();
    }
    writeln!(
        code,
        "/// Every known program.\npub static PROGRAMS: &[Program] = &["
    )
    .unwrap();
    for (index, program) in tables.program.iter().enumerate() {
        let name = &program.names[0];
        let unsaid = if program.subs { "unknown" } else { "" };
        let flags = with_everywhere(&program.flags, &program.everywhere);
        let columns = Columns {
            does: program.does.as_deref().unwrap_or(unsaid),
            options: program.options.as_deref().unwrap_or_default(),
            manual: program.manual.as_deref().unwrap_or_default(),
            style: program.style.as_deref().unwrap_or_default(),
            flags: &flags,
            operands: &program.operands,
        };
        let examples = [program.matches.as_slice(), &program.not_match];
        let row = row(name, &columns, program.reader.as_deref(), examples)?;
        let sub_list = subs
            .get(&index)
            .map(|names| {
                names
                    .iter()
                    .map(|(name, sub)| format!("({name:?}, &SUB_{sub}),"))
                    .collect::<String>()
            })
            .unwrap_or_default();
        let verbs = match &program.verbs {
            None => "None".to_owned(),
            Some(verbs) => {
                let at = tables
                    .verbs
                    .iter()
                    .position(|row| row.name == *verbs)
                    .ok_or_else(|| format!("program `{name}`: no verb table `{verbs}`"))?;
                format!("Some(&VERBS_{at})")
            }
        };
        writeln!(code, "Program {{ row: {row}, has_subs: {}, subs: &[{sub_list}], verbs: {verbs}, verb_words: {}, of_system: {} }},", program.subs, program.verb_words.unwrap_or(1), program.of_system).unwrap();
    }
    writeln!(code, "];\n/// Name of each program and its place in [`PROGRAMS`], sorted by name.\npub static PROGRAM_NAMES: &[(&str, u16)] = &[").unwrap();
    for (name, index) in &owner {
        writeln!(code, "({name:?}, {index}),").unwrap();
    }
    writeln!(code, "];").unwrap();
    slots::write("PROGRAM", owner.keys().copied(), code);
    Ok(())
}

/// Returns the Rust source of a row.
fn row(
    name: &str,
    columns: &Columns<'_>,
    reader: Option<&str>,
    [matches, not_match]: [&[String]; 2],
) -> Result<String, String> {
    let read =
        grammar::read(columns, &role).map_err(|wrong| format!("`{name}`: {}", wrong.what))?;
    let reader = match reader {
        None => "None".to_owned(),
        Some(word) => format!(
            "Some(Reader::{:?})",
            Reader::from_word(word)
                .ok_or_else(|| format!("`{name}`: no reader is called `{word}`"))?
        ),
    };
    let manual = columns.manual;
    let flags = flag_list(&read.flags);
    let operands = operand_list(&read.operands);
    Ok(format!(
        "Row {{ name: {name:?}, does: Effect::{:?}, closed: {}, manual: {manual:?}, style: Style::{:?}, flags: &[{flags}], operands: &[{operands}], reader: {reader}, owned: false, matches: &{matches:?}, not_match: &{not_match:?} }}",
        read.does, read.closed, read.style
    ))
}

fn write_verbs(tables: &Tables, code: &mut String) -> Result<(), String> {
    for (index, row) in tables.verbs.iter().enumerate() {
        let mut words: BTreeMap<&str, Effect> = BTreeMap::new();
        for (effect, list) in &row.words {
            let effect = Effect::from_word(effect)
                .ok_or_else(|| format!("verbs `{}`: no effect is called `{effect}`", row.name))?;
            for word in list {
                if words.insert(word, effect).is_some() {
                    return Err(format!("verbs `{}`: `{word}` is listed twice", row.name));
                }
            }
        }
        let list = |part: fn(&str) -> Option<&str>| -> String {
            let parts = words
                .iter()
                .filter_map(|(word, effect)| Some((part(word)?, effect)));
            parts
                .map(|(word, effect)| format!("({word:?}, Effect::{effect:?}),"))
                .collect()
        };
        let exact = list(|word| (!word.contains('*')).then_some(word));
        let inner = |word: &str| word.len() > 2 && word.starts_with('*') && word.ends_with('*');
        let list_if = |is_infix: bool, part: fn(&str) -> Option<&str>| -> String {
            let parts = words
                .iter()
                .filter(|(word, _)| inner(word) == is_infix)
                .filter_map(|(word, effect)| Some((part(word)?, effect)));
            parts
                .map(|(word, effect)| format!("({word:?}, Effect::{effect:?}),"))
                .collect()
        };
        let prefix = list_if(false, |word| word.strip_suffix('*'));
        let suffix = list_if(false, |word| word.strip_prefix('*'));
        let infix = list_if(true, |word| word.strip_prefix('*')?.strip_suffix('*'));
        writeln!(
            code,
            "static VERBS_{index}: Verbs = Verbs {{ name: {:?}, exact: &[{exact}], prefix: &[{prefix}], suffix: &[{suffix}], infix: &[{infix}] }};",
            row.name
        )
        .unwrap();
    }
    let all: String = (0..tables.verbs.len())
        .map(|index| format!("&VERBS_{index},"))
        .collect();
    writeln!(code, "/// Verbs of command lines that are alike: `get`, `list`, `delete` …\npub static VERBS: &[&Verbs] = &[{all}];").unwrap();
    Ok(())
}

fn write_hosts(tables: &Tables, code: &mut String) -> Result<(), String> {
    const KINDS: &[&str] = &[
        "loopback", "private", "metadata", "firewall", "registry", "drop", "alias",
    ];
    let mut exact: BTreeMap<String, usize> = BTreeMap::new();
    let mut suffix: BTreeMap<String, usize> = BTreeMap::new();
    let mut globs: Vec<(String, usize)> = Vec::new();
    let mut networks: Vec<(String, String, usize)> = Vec::new();
    writeln!(code, "/// What is known about hosts; the first row that matches counts.\npub static HOSTS: &[HostRow] = &[").unwrap();
    for (index, row) in tables.host.iter().enumerate() {
        if !KINDS.contains(&row.kind.as_str()) {
            return Err(format!(
                "host `{}`: no kind is called `{}`",
                row.what, row.kind
            ));
        }
        for like in &row.like {
            let like = like.to_lowercase();
            match like.strip_prefix("*.") {
                Some(rest) if !rest.contains('*') => {
                    suffix.entry(rest.to_owned()).or_insert(index);
                }
                _ => match like.split_once('/') {
                    Some((network, bits)) => {
                        networks.push((network.to_owned(), bits.to_owned(), index));
                    }
                    None if like.contains('*') => globs.push((like, index)),
                    None => {
                        exact.entry(like).or_insert(index);
                    }
                },
            }
        }
        writeln!(code, "HostRow {{ like: &{:?}, what: {:?}, kind: HostKind::{}, matches: &{:?}, not_match: &{:?} }},", row.like, row.what, camel(&row.kind), row.matches, row.not_match).unwrap();
    }
    let list = |pairs: &mut dyn Iterator<Item = (&String, &usize)>| {
        pairs
            .map(|(name, row)| format!("({name:?}, {row}),"))
            .collect::<String>()
    };
    writeln!(code, "];\n/// Whole hosts and their rows, sorted.\npub static HOST_EXACT: &[(&str, u16)] = &[{}];", list(&mut exact.iter())).unwrap();
    writeln!(code, "/// Domains whose subdomains have a row, sorted.\npub static HOST_SUFFIX: &[(&str, u16)] = &[{}];", list(&mut suffix.iter())).unwrap();
    writeln!(code, "/// Patterns with their rows.\npub static HOST_GLOBS: &[(&str, u16)] = &{globs:?};\n/// Networks, by address and length, with their rows.\npub static HOST_NETWORKS: &[(&str, &str, u16)] = &{networks:?};").unwrap();
    Ok(())
}

fn write_routes(tables: &Tables, code: &mut String) -> Result<(), String> {
    writeln!(code, "/// Paths by which approvals are looked up or given; the first row that matches counts.\npub static ROUTES: &[RouteRow] = &[").unwrap();
    for row in &tables.route {
        if !["public", "ours", "answers", "message"].contains(&row.kind.as_str()) {
            return Err(format!(
                "route `{}`: no kind is called `{}`",
                row.what, row.kind
            ));
        }
        writeln!(code, "RouteRow {{ like: &{:?}, what: {:?}, kind: RouteKind::{}, matches: &{:?}, not_match: &{:?} }},", row.like, row.what, camel(&row.kind), row.matches, row.not_match).unwrap();
    }
    writeln!(code, "];").unwrap();
    Ok(())
}

fn write_trees(tables: &Tables, code: &mut String) -> Result<(), String> {
    let mut programs: BTreeMap<&str, usize> = BTreeMap::new();
    let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
    writeln!(
        code,
        "/// Programs and tools that read whole directories.\npub static TREES: &[TreeRow] = &["
    )
    .unwrap();
    for (index, row) in tables.tree.iter().enumerate() {
        for (names, known) in [(&row.programs, &mut programs), (&row.tools, &mut tools)] {
            for name in names {
                if known.insert(name, index).is_some() {
                    return Err(format!("tree `{name}` has two rows"));
                }
            }
        }
        writeln!(code, "TreeRow {{ with: &{:?}, unless: &{:?}, skips_hidden: {:?}, unhides: &{:?}, only: &{:?}, not: &{:?}, here: {:?} }},", row.with, row.unless, row.skips_hidden, row.unhides, row.only, row.not, row.here).unwrap();
    }
    let list = |names: &BTreeMap<&str, usize>| {
        let rows = names
            .iter()
            .map(|(name, row)| format!("({name:?}, {row}),"));
        rows.collect::<String>()
    };
    writeln!(code, "];\n/// Rows of programs that read whole directories, sorted.\npub static TREE_PROGRAMS: &[(&str, u16)] = &[{}];", list(&programs)).unwrap();
    writeln!(code, "/// Tools that read whole directories, sorted.\npub static TREE_TOOLS: &[(&str, u16)] = &[{}];", list(&tools)).unwrap();
    Ok(())
}

fn write_variables(tables: &Tables, code: &mut String) -> Result<(), String> {
    let mut exact: BTreeMap<&str, usize> = BTreeMap::new();
    let mut starred = String::new();
    writeln!(code, "/// Environment variables that make programs run, load or reach something.\npub static VARIABLES: &[VariableRow] = &[").unwrap();
    for (index, row) in tables.variable.iter().enumerate() {
        let role = role_code(&row.value)
            .ok_or_else(|| format!("variable `{}`: no role is called `{}`", row.what, row.value))?;
        for name in &row.names {
            match name.split_once('*') {
                Some((start, end)) => write!(starred, "({start:?}, {end:?}, {index}),").unwrap(),
                None => {
                    exact.entry(name).or_insert(index);
                }
            }
        }
        writeln!(code, "VariableRow {{ names: &{:?}, what: {:?}, value: {role}, matches: &{:?}, not_match: &{:?} }},", row.names, row.what, row.matches, row.not_match).unwrap();
    }
    let exact: String = exact
        .iter()
        .map(|(name, row)| format!("({name:?}, {row}),"))
        .collect();
    writeln!(code, "];\n/// Whole names of variables and their rows, sorted.\npub static VARIABLE_EXACT: &[(&str, u16)] = &[{exact}];").unwrap();
    writeln!(code, "/// Beginnings and ends of names of variables and their rows.\npub static VARIABLE_STARRED: &[(&str, &str, u16)] = &[{starred}];").unwrap();
    Ok(())
}

fn write_tools(tables: &Tables, code: &mut String) -> Result<(), String> {
    let mut owner: BTreeMap<String, usize> = BTreeMap::new();
    writeln!(
        code,
        "/// Tools of agents and of common MCP servers.\npub static TOOLS: &[ToolRow] = &["
    )
    .unwrap();
    for (index, row) in tables.tool.iter().enumerate() {
        for name in &row.names {
            if owner.insert(name.to_lowercase(), index).is_some() {
                return Err(format!("tool `{name}` has two rows"));
            }
        }
        let effect = |word: &str| {
            Effect::from_word(word)
                .ok_or_else(|| format!("tool `{}`: no effect is called `{word}`", row.names[0]))
        };
        let does = effect(&row.does)?;
        let class = match row.class.as_deref() {
            None => "None".to_owned(),
            Some(class @ ("read_only" | "local_reversible" | "external" | "critical")) => {
                format!("Some(SideEffect::{})", camel(class))
            }
            Some(other) => {
                return Err(format!(
                    "tool `{}`: no side-effect class is called `{other}`",
                    row.names[0]
                ));
            }
        };
        let mut args = String::new();
        for (key, meaning) in &row.args {
            write!(args, "({key:?}, ArgumentRole::{}),", camel(meaning)).unwrap();
        }
        let mut when = String::new();
        for (key, values) in &row.when {
            for (value, word) in values {
                write!(when, "({key:?}, {value:?}, Effect::{:?}),", effect(word)?).unwrap();
            }
        }
        writeln!(code, "ToolRow {{ names: &{:?}, does: Effect::{does:?}, class: {class}, outbound: {}, builtin: {}, args: &[{args}], when: &[{when}], what: {:?}, matches: &{:?}, not_match: &{:?} }},", row.names, row.outbound, row.builtin, row.what, row.matches, row.not_match).unwrap();
    }
    writeln!(code, "];\n/// Lower-case name of each tool and its place in [`TOOLS`], sorted.\npub static TOOL_NAMES: &[(&str, u16)] = &[").unwrap();
    for (name, index) in &owner {
        writeln!(code, "({name:?}, {index}),").unwrap();
    }
    writeln!(code, "];").unwrap();
    slots::write("TOOL", owner.keys().map(String::as_str), code);
    Ok(())
}

fn write_handles(tables: &Tables, code: &mut String) {
    writeln!(
        code,
        "/// Words that mean something else a moment later.\npub static HANDLES: &[HandleRow] = &["
    )
    .unwrap();
    for row in &tables.handle {
        writeln!(code, "HandleRow {{ what: {:?}, arguments: &{:?}, values: &{:?}, programs: &{:?}, options: &{:?}, words: &{:?}, matches: &{:?}, not_match: &{:?} }},", row.what, row.arguments, row.values, row.programs, row.options, row.words, row.matches, row.not_match).unwrap();
    }
    writeln!(code, "];").unwrap();
}

/// Returns `snake_case` as `CamelCase`.
fn camel(word: &str) -> String {
    word.split('_')
        .map(|part| {
            part.chars()
                .next()
                .map(|first| first.to_uppercase().collect::<String>() + &part[first.len_utf8()..])
                .unwrap_or_default()
        })
        .collect()
}
