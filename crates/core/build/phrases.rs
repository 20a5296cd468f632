//! Compiles the tables of phrases: crisis rules, personal data, human impact, claims.

use std::fmt::Write as _;

use crate::folding::fold_pattern;
use crate::keywords;
use crate::letters;
use crate::opening::{blank, named_parts, opened};
use crate::programs::{Programs, Reading};
use crate::stems::{Names, demand, stems};

/// Returns the Rust source of the tables, and the code of the programs.
pub(crate) fn generate() -> Result<(String, Vec<u8>), String> {
    let mut programs = Programs::default();
    let mut code = String::new();
    crisis(&mut programs, &mut code)?;
    families("PERSONAL", "personal", &mut programs, &mut code)?;
    families("IMPACT", "impact", &mut programs, &mut code)?;
    families("CLAIMS", "impact_claims", &mut programs, &mut code)?;
    shapes(&mut code)?;
    letters::write_letters(&mut code);
    let binary = programs.finish(&mut code);
    Ok((code, binary))
}

/// Returns a table for as long as the build runs.
fn table(name: &str) -> Result<&'static str, String> {
    let path = format!("knowledge/{name}.tsv");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    Ok(text.leak())
}

fn crisis(programs: &mut Programs, code: &mut String) -> Result<(), String> {
    let rules = table("crisis_rules")?;
    let masks = table("crisis_masks")?;
    let parts = named_parts(rules);
    let mut names = Names::new();
    for (name, part) in &parts {
        let of_part = demand(part, &names);
        names.insert(name, of_part);
    }
    let mut number: u16 = 0;
    let mut words = Vec::new();
    let mut always = Vec::new();
    let mut number_of_masks = 0;
    let mut entries = String::new();
    for (text, is_mask) in [(masks, true), (rules, false)] {
        for line in text.lines().filter(|line| !line.starts_with(['#', '@'])) {
            let columns: Vec<&str> = line.split('\t').collect();
            let [id, sign, patterns, ..] = columns.as_slice() else {
                return Err(format!("crisis: not five columns: {line}"));
            };
            for pattern in alternatives(patterns) {
                let folded = fold_pattern(pattern);
                match stems(&folded, &names) {
                    Some(demanded) => {
                        words.extend(demanded.into_iter().map(|stem| (stem.into_bytes(), number)));
                    }
                    None => always.push(number),
                }
                let expression = opened(&folded, &parts, blank(is_mask));
                let reading = Reading {
                    unicode: !expression.is_ascii(),
                    ignores_case: false,
                    multi_line: false,
                };
                let program = programs.add(&expression, reading)?;
                writeln!(
                    entries,
                    "Entry::new({id:?}, {sign:?}, {folded:?}, {is_mask}, {program}),"
                )
                .unwrap();
                number += 1;
            }
        }
        if is_mask {
            number_of_masks = number;
        }
    }
    writeln!(code, "/// First the masks, then the rules.\npub(super) static CRISIS_ENTRIES: [Entry; {number}] = [{entries}];").unwrap();
    writeln!(
        code,
        "/// How many of them are masks.\npub(super) const CRISIS_MASKS: usize = {number_of_masks};"
    )
    .unwrap();
    writeln!(
        code,
        "/// Entries that demand no stem.\npub(super) static CRISIS_ALWAYS: &[u16] = &{always:?};"
    )
    .unwrap();
    writeln!(code, "/// The stems that entries demand.").unwrap();
    keywords::write("CRISIS_STEMS", &words, false, code)
}

/// Splits a pattern at the bars outside all brackets.
fn alternatives(pattern: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let mut escaped = false;
    pattern
        .split(|c: char| {
            let plain = !std::mem::take(&mut escaped);
            match c {
                '\\' => escaped = plain,
                '(' | '[' if plain => depth += 1,
                ')' | ']' if plain => depth = depth.saturating_sub(1),
                _ => return c == '|' && plain && depth == 0,
            }
            false
        })
        .collect()
}

/// Compiles a table with the columns code, weight, keywords (separated by `,`; `#` stands for any digit), check
/// (`-` for none) and expression. Lines that start with `#` are comments.
fn families(
    name: &str,
    file: &str,
    programs: &mut Programs,
    code: &mut String,
) -> Result<(), String> {
    let mut words = Vec::new();
    let mut on_digit: Vec<u16> = Vec::new();
    let mut rows = String::new();
    let mut count: u16 = 0;
    let lines = table(file)?.lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let row = count;
        count += 1;
        let columns: Vec<&str> = line.splitn(5, '\t').collect();
        let [kind, weight, asked, check, pattern] = columns.as_slice() else {
            return Err(format!("{file}: not five columns: {line}"));
        };
        let weight: u16 = weight
            .parse()
            .map_err(|error| format!("{file}: {weight}: {error}"))?;
        for keyword in asked.split(',') {
            if keyword == "#" {
                on_digit.push(row);
            } else {
                words.push((keyword.as_bytes().to_vec(), row));
            }
        }
        let reading = Reading {
            unicode: false,
            ignores_case: true,
            multi_line: true,
        };
        let program = programs.add(pattern, reading)?;
        let check = check.trim_matches('-');
        writeln!(
            rows,
            "Family::new({kind:?}, {weight}, {check:?}, {pattern:?}, {program}),"
        )
        .unwrap();
    }
    writeln!(code, "static {name}_ROWS: [Family; {count}] = [{rows}];").unwrap();
    writeln!(code, "/// The table `{file}.tsv`.\npub(crate) static {name}: Families = Families::new(&{name}_ROWS, &{name}_KEYWORDS, &{on_digit:?});").unwrap();
    keywords::write(&format!("{name}_KEYWORDS"), &words, true, code)
}

/// A keyword shorter than this occurs by chance when a text is read backwards.
const REVERSED_KEYWORD_BYTES_MIN: usize = 4;

/// Writes the keywords of the shapes of secrets: of each the longest literal part, the first of several.
fn shapes(code: &mut String) -> Result<(), String> {
    let lines = table("secrets")?
        .lines()
        .filter(|line| !line.starts_with('#'));
    let mut words = Vec::new();
    let mut backwards = Vec::new();
    for (line, row) in lines.zip(0..) {
        let shape = line
            .split('\t')
            .nth(1)
            .ok_or_else(|| format!("secrets: no shape: {line}"))?;
        let literals = shape
            .split('<')
            .map(|piece| piece.split_once('>').map_or(piece, |(_, literal)| literal));
        let keyword = literals.fold("", |longest, literal| {
            if literal.len() > longest.len() {
                literal
            } else {
                longest
            }
        });
        words.push((keyword.as_bytes().to_vec(), row));
        if keyword.len() >= REVERSED_KEYWORD_BYTES_MIN {
            backwards.push((keyword.bytes().rev().collect(), 0));
        }
    }
    writeln!(code, "/// What stands in every secret of a shape.").unwrap();
    keywords::write("SHAPE_KEYWORDS", &words, false, code)?;
    writeln!(code, "/// The same backwards, for text written backwards.").unwrap();
    keywords::write("SHAPES_REVERSED", &backwards, false, code)
}
