//! The phrase rules: which words are looked for, which idioms are passed over.
//!
//! Each pattern demands certain stems (see `stems`); only where one of them occurs is it compiled
//! and tried, so an ordinary message costs one pass over the stems. Masks work the same way and
//! run first: what they match is blanked, nothing else. `knowledge/crisis_rules.tsv` tells how the
//! tables are written.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};

use super::normalise::fold_pattern;
use super::{Flag, Flags, Level};

/// A place in a view where a rule matched.
pub(super) struct Hit {
    pub(super) id: &'static str,
    pub(super) level: Level,
    pub(super) flags: Flags,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Tries all rules on one view; each yields its first match, in the order of the table.
pub(super) fn hits(text: &str) -> Vec<Hit> {
    let book = &*BOOK;
    let Some(wanted) = book.entries_to_try(text) else {
        return Vec::new();
    };
    let entries = |range: Range<usize>| {
        let wanted = wanted.get(range.clone()).unwrap_or_default();
        let entries = book.entries.get(range).unwrap_or_default();
        entries.iter().zip(wanted).filter_map(|(entry, wanted)| wanted.then_some(entry))
    };
    let mut blanked = text.as_bytes().to_vec();
    for mask in entries(0..book.masks) {
        for place in mask.regex().into_iter().flat_map(|regex| regex.find_iter(text.as_bytes())) {
            if let Some(words) = blanked.get_mut(place.range()) {
                words.fill(BLANK);
            }
        }
    }
    entries(book.masks..book.entries.len())
        .filter_map(|rule| {
            let place = rule.regex()?.find(&blanked)?;
            let (level, flags) = (rule.level, rule.flags);
            Some(Hit { id: rule.id, level, flags, start: place.start(), end: place.end() })
        })
        .collect()
}

/// Stands where a mask matched; no rule matches it.
const BLANK: u8 = b'#';

const WORD_BEGIN: &str = r"\b{start-half}";
const WORD_END: &str = r"(?:\b{end-half}|\b{start})";

/// The tables, read once.
struct Book {
    /// First the masks, then the rules.
    entries: Vec<Entry>,
    /// How many of `entries` are masks.
    masks: usize,
    /// Finds the stems; without it (it failed to build) everything is tried.
    stems: Option<AhoCorasick>,
    /// For each stem the entries that ask for it.
    entries_of_stem: Vec<Vec<usize>>,
    /// Entries that demand no stem.
    always: Vec<usize>,
}

impl Book {
    /// For each entry whether one of its stems occurs; `None` if no rule needs trying.
    fn entries_to_try(&self, text: &str) -> Option<Vec<bool>> {
        let Some(stems) = &self.stems else {
            return Some(vec![true; self.entries.len()]);
        };
        let mut wanted = Vec::new();
        let mut any_rule = false;
        for &entry in &self.always {
            wanted.resize(self.entries.len(), false);
            any_rule |= entry >= self.masks;
            if let Some(slot) = wanted.get_mut(entry) {
                *slot = true;
            }
        }
        for stem in stems.find_overlapping_iter(text) {
            wanted.resize(self.entries.len(), false);
            let asking = self.entries_of_stem.get(stem.pattern().as_usize());
            for &entry in asking.into_iter().flatten() {
                any_rule |= entry >= self.masks;
                if let Some(slot) = wanted.get_mut(entry) {
                    *slot = true;
                }
            }
        }
        any_rule.then_some(wanted)
    }
}

/// One line of the tables.
struct Entry {
    id: &'static str,
    level: Level,
    flags: Flags,
    pattern: String,
    /// The pattern holds letters beyond ASCII, and so needs Unicode classes.
    unicode: bool,
    compiled: OnceLock<Option<Regex>>,
}

impl Entry {
    /// The compiled pattern. A test makes sure that each one compiles.
    fn regex(&self) -> Option<&Regex> {
        let compile = || RegexBuilder::new(&self.pattern).unicode(self.unicode).build().ok();
        self.compiled.get_or_init(compile).as_ref()
    }
}

const RULES: &str = include_str!("../../../knowledge/crisis_rules.tsv");
const MASKS: &str = include_str!("../../../knowledge/crisis_masks.tsv");

static BOOK: LazyLock<Book> = LazyLock::new(|| {
    let names = names();
    let masks: Vec<Row> = MASKS.lines().filter_map(Row::parse).collect();
    let rules: Vec<Row> = RULES.lines().filter_map(Row::parse).collect();
    // Rules may match across a line break ("i / want / to / die"), masks may not: text added on
    // another line must never help to hide a sign.
    let entries = masks
        .iter()
        .map(|row| row.entry(&names, " "))
        .chain(rules.iter().map(|row| row.entry(&names, r"(?:,?[ \n])")))
        .collect();

    let mut stems: Vec<String> = Vec::new();
    let mut number_of: HashMap<String, usize> = HashMap::new();
    let mut entries_of_stem: Vec<Vec<usize>> = Vec::new();
    let mut always = Vec::new();
    for (entry, row) in masks.iter().chain(&rules).enumerate() {
        let Some(demanded) = super::stems::stems(&row.opened(&names)) else {
            always.push(entry);
            continue;
        };
        for stem in demanded {
            let number = *number_of.entry(stem.clone()).or_insert_with(|| {
                stems.push(stem);
                entries_of_stem.push(Vec::new());
                stems.len() - 1
            });
            if let Some(asking) = entries_of_stem.get_mut(number) {
                asking.push(entry);
            }
        }
    }
    let stems = AhoCorasick::new(&stems).ok();
    Book { entries, masks: masks.len(), stems, entries_of_stem, always }
});

/// The names for parts of patterns, with what they stand for: lines that begin with `@`.
fn names() -> Vec<(&'static str, String)> {
    let mut names: Vec<(&'static str, String)> = Vec::new();
    for line in RULES.lines() {
        if let Some((name, part)) = line.strip_prefix('@').and_then(|line| line.split_once('\t')) {
            let part = open_names(part, &names);
            names.push((name, format!("(?:{part})")));
        }
    }
    names
}

fn open_names(pattern: &str, names: &[(&'static str, String)]) -> String {
    names.iter().fold(pattern.to_owned(), |opened, (name, part)| {
        opened.replace(&format!("<{name}>"), part)
    })
}

/// The columns of a line, as written.
struct Row {
    id: &'static str,
    sign: &'static str,
    pattern: &'static str,
    #[cfg(test)]
    matching: &'static str,
    #[cfg(test)]
    not_matching: &'static str,
}

impl Row {
    fn parse(line: &'static str) -> Option<Self> {
        if line.starts_with(['#', '@']) {
            return None;
        }
        let mut columns = line.split('\t');
        Some(Self {
            id: columns.next()?,
            sign: columns.next()?,
            pattern: columns.next()?,
            #[cfg(test)]
            matching: columns.next()?,
            #[cfg(test)]
            not_matching: columns.next()?,
        })
    }

    /// The pattern with names opened and letters folded; blanks are still blanks.
    fn opened(&self, names: &[(&'static str, String)]) -> String {
        fold_pattern(&open_names(self.pattern, names))
    }

    fn entry(&self, names: &[(&'static str, String)], blank: &str) -> Entry {
        let pattern = self.opened(names).replace(' ', blank);
        // Patterns of Latin letters begin and end at the edge of a word, or in a gap.
        let latin = pattern.is_ascii();
        let (before, after) = if latin { (WORD_BEGIN, WORD_END) } else { ("", "") };
        let (level, flags) = read_sign(self.sign);
        Entry {
            id: self.id,
            level,
            flags,
            pattern: format!("{before}(?:{pattern}){after}"),
            unicode: !latin,
            compiled: OnceLock::new(),
        }
    }
}

/// Reads "thoughts+third". An unknown word counts as a sign, so that a slip in the table cannot
/// silence a rule.
fn read_sign(sign: &str) -> (Level, Flags) {
    let mut level = Level::Indirect;
    let mut flags = Flags::default();
    for part in sign.split('+') {
        match part {
            "thoughts" => level = Level::Thoughts,
            "plan" => level = Level::Plan,
            "imminent" => level = Level::Imminent,
            "denial" => {
                level = Level::None;
                flags.insert(Flag::Denial);
            }
            "harm" => flags.insert(Flag::SelfHarm),
            "third" => flags.insert(Flag::ThirdParty),
            "past" => flags.insert(Flag::Past),
            "help" => flags.insert(Flag::Intervention),
            "push" => flags.insert(Flag::Encouragement),
            _ => {}
        }
    }
    (level, flags)
}

#[cfg(test)]
mod tests {
    use super::super::scan;
    use super::*;

    #[test]
    fn every_line_is_a_comment_a_name_or_five_columns() {
        for line in RULES.lines().chain(MASKS.lines()) {
            let fine = line.is_empty() || line.starts_with(['#', '@']);
            assert!(fine || line.split('\t').count() == 5, "not five columns: {line}");
        }
    }

    #[test]
    fn every_pattern_compiles_and_names_are_known() {
        for entry in &BOOK.entries {
            assert!(entry.regex().is_some(), "{}: does not compile: {}", entry.id, entry.pattern);
            assert!(!entry.pattern.contains("(?:<"), "{}: unknown name", entry.id);
        }
        assert!(BOOK.stems.is_some());
    }

    #[test]
    fn every_rule_finds_its_example_and_passes_over_its_counterexample() {
        let mut wrong = Vec::new();
        for row in RULES.lines().filter_map(Row::parse) {
            if !scan(row.matching).rules.contains(&row.id) {
                wrong.push(format!("{} misses: {}", row.id, row.matching));
            }
            if scan(row.not_matching).rules.contains(&row.id) {
                wrong.push(format!("{} takes: {}", row.id, row.not_matching));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_mask_hides_its_example_and_nothing_beside_it() {
        let mut wrong = Vec::new();
        for row in MASKS.lines().filter_map(Row::parse) {
            if scan(row.matching).is_sensitive() {
                let rules = scan(row.matching).rules;
                wrong.push(format!("{} lets through: {} {rules:?}", row.id, row.matching));
            }
            if !scan(row.not_matching).is_sensitive() {
                wrong.push(format!("{} hides: {}", row.id, row.not_matching));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn nothing_a_pattern_can_match_lacks_all_its_stems() {
        use proptest::strategy::{Strategy, ValueTree};
        use proptest::test_runner::TestRunner;
        const SAMPLES: usize = 60;

        let names = names();
        let mut runner = TestRunner::deterministic();
        let mut wrong = std::collections::BTreeSet::new();
        let rows = MASKS.lines().chain(RULES.lines()).filter_map(Row::parse);
        for (row, entry) in rows.zip(&BOOK.entries) {
            let needs = super::super::stems::stems(&row.opened(&names)).unwrap_or_default();
            assert!(!needs.is_empty(), "{}: tried on every text", row.id);
            // The sampler knows no anchors, and a wide gap would drown the words in noise.
            let mut shape = entry.pattern.clone();
            for (from, to) in [
                (WORD_BEGIN, ""),
                (WORD_END, ""),
                ("^", ""),
                ("$", ""),
                ("(?s-u:.){0,90}", " "),
                ("[.\n]{0,50}", " "),
                ("[[:^punct:]]", "[a-z]"),
            ] {
                shape = shape.replace(from, to);
            }
            let shape = shape.replace("[^.\\n]", "[a-z]").replace("(?s:.)", "[a-z]");
            let strategy = proptest::string::bytes_regex(&shape).unwrap_or_else(|error| {
                panic!("{}: {error}: {shape}", row.id);
            });
            for _ in 0..SAMPLES {
                let sample = strategy.new_tree(&mut runner).unwrap().current();
                let sample = String::from_utf8_lossy(&sample).replace(['\n', ','], " ");
                let sample = sample.split_whitespace().collect::<Vec<_>>().join(" ");
                if !needs.iter().any(|stem| sample.contains(stem.as_str())) {
                    wrong.insert(format!("{}: {sample}", row.id));
                }
            }
        }
        let list: Vec<_> = wrong.into_iter().collect();
        assert!(list.is_empty(), "{}", list.join("\n"));
    }

    #[test]
    fn rule_names_are_unique_and_begin_with_a_language() {
        let languages = [
            "any", "en", "es", "fr", "de", "pt", "zh", "ja", "ar", "ru", "hi", "it", "ko", "nl",
            "pl", "tr",
        ];
        let mut seen = std::collections::HashSet::new();
        for row in RULES.lines().chain(MASKS.lines()).filter_map(Row::parse) {
            assert!(seen.insert(row.id), "twice: {}", row.id);
            let language = row.id.split('.').next().unwrap_or_default();
            assert!(languages.contains(&language), "no language: {}", row.id);
        }
    }
}
