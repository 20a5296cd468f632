//! Reading a command takes time in proportion to its words, whatever row it is read by.
//!
//! Times differ from run to run, so that a row counts only when it is slow again and again: sixteen
//! times as many words take sixteen times as long, or 256 times where each word is held against all
//! others. The limit lies between the two.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use countersign_core::assess::assess_command;
use countersign_core::knowledge::{Flag, Lifts, PROGRAMS, Row, Value};

use crate::processor;

/// Words of the short line and of the long one.
const WORDS: [usize; 2] = [32, 512];
/// How much longer the long line may take.
const RATIO_MAX: u32 = 80;
/// What a long line may take in any case: below that a ratio says nothing.
const FLOOR: Duration = Duration::from_millis(4);
/// How often a row must be slow.
const TRIES: usize = 4;
/// Of the rows whose options lift nothing, every such one is tried.
const SAMPLE: usize = 16;

/// A way to write many options of a row.
type Shape = fn(&Row, usize) -> Option<String>;

const SHAPES: &[(&str, Shape)] = &[
    ("bundles of short options", bundles),
    ("every option in turn", every_option),
];

#[test]
fn sixteen_times_the_words_take_no_more_than_their_share() {
    let mut seen = BTreeSet::new();
    let rows = PROGRAMS.iter().flat_map(|program| {
        std::iter::once(&program.row).chain(program.subs.iter().map(|(_, row)| *row))
    });
    let rows = rows.filter(|row| seen.insert(std::ptr::from_ref::<Row>(row)));
    let lifts = |row: &Row| row.flags.iter().any(|flag| flag.lifts != Lifts::Nothing);
    let tried = rows
        .enumerate()
        .filter(|(at, row)| at % SAMPLE == 0 || lifts(row));
    for (_, row) in tried {
        for (name, shape) in SHAPES {
            let lines = WORDS.map(|words| shape(row, words));
            let [Some(short), Some(long)] = lines else {
                continue;
            };
            // The first one ends the test: a slow line takes long.
            assert!(!is_slow(&short, &long), "{}: {name}", row.name);
        }
    }
}

/// Whether the long line takes more than its share each time.
fn is_slow(short: &str, long: &str) -> bool {
    (0..TRIES).all(|_| {
        let took = cost(long);
        took > FLOOR && took > cost(short) * RATIO_MAX
    })
}

fn cost(line: &str) -> Duration {
    processor::time(|| assess_command(line)).1
}

fn line<'a>(row: &Row, words: impl Iterator<Item = &'a str>) -> String {
    words.fold(row.name.to_owned(), |mut line, word| {
        let _ = write!(line, " '{word}'");
        line
    })
}

fn names(row: &Row, wanted: fn(&Flag) -> bool) -> Vec<&'static str> {
    let flags = row.flags.iter().filter(|flag| wanted(flag));
    let names = flags.flat_map(|flag| flag.names.iter().copied());
    names.filter(|name| !name.contains('\'')).collect()
}

fn bundles(row: &Row, words: usize) -> Option<String> {
    let letters: String = names(row, |flag| flag.value == Value::None)
        .iter()
        .filter(|name| name.len() == 2 && name.starts_with('-'))
        .filter_map(|name| name.chars().nth(1))
        .collect();
    let bundle = format!("-{}", letters.repeat(20));
    (!letters.is_empty()).then(|| line(row, std::iter::repeat_n(bundle.as_str(), words / 8)))
}

fn every_option(row: &Row, words: usize) -> Option<String> {
    let names = names(row, |_| true);
    (!names.is_empty()).then(|| line(row, names.iter().copied().cycle().take(words)))
}
