//! Phrase rules of the crisis detector: words to find, idioms to ignore.
//!
//! Each pattern demands certain stems (see `stems`); only where one of them occurs is it compiled
//! and tried, so an ordinary message costs one pass over the stems. Masks work the same way and
//! run first: what they match is blanked, nothing else. `knowledge/crisis_rules.tsv` tells how the
//! tables are written.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};

use super::normalise::fold_pattern;
use super::stems::{Names, demand, stems};
use super::{Flag, Flags, Level};

/// A place in a view where a rule matched.
pub(super) struct Hit {
    pub(super) id: &'static str,
    pub(super) level: Level,
    pub(super) flags: Flags,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Tries all rules on one view, in the order of the table.
pub(super) fn hits(text: &str) -> Vec<Hit> {
    let book = &*BOOK;
    let wanted = book.entries_to_try(text);
    let first_rule = wanted.partition_point(|&entry| entry < book.masks);
    let (masks, rules) = wanted.split_at_checked(first_rule).unwrap_or_default();
    if rules.is_empty() {
        return Vec::new();
    }
    let mut blanked = text.as_bytes().to_vec();
    for regex in book.get(masks).filter_map(Entry::regex) {
        for place in regex.find_iter(text.as_bytes()) {
            if let Some(words) = blanked.get_mut(place.range()) {
                words.fill(BLANK);
            }
        }
    }
    book.get(rules)
        .filter_map(|rule| {
            let place = rule.regex()?.find(&blanked)?;
            let (level, flags) = (rule.level, rule.flags);
            Some(Hit {
                id: rule.id,
                level,
                flags,
                start: place.start(),
                end: place.end(),
            })
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
    fn get<'a>(&'a self, numbers: &'a [usize]) -> impl Iterator<Item = &'a Entry> {
        numbers
            .iter()
            .filter_map(|&number| self.entries.get(number))
    }

    /// The numbers of the entries of which a stem occurs, in order.
    fn entries_to_try(&self, text: &str) -> Vec<usize> {
        let Some(stems) = &self.stems else {
            return (0..self.entries.len()).collect();
        };
        let mut wanted = self.always.clone();
        for stem in stems.find_overlapping_iter(text) {
            let asking = self.entries_of_stem.get(stem.pattern().as_usize());
            wanted.extend(asking.into_iter().flatten());
        }
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }
}

/// One alternative of a pattern. A rule's alternatives are kept apart, so that only those are
/// compiled and tried whose words occur.
struct Entry {
    id: &'static str,
    level: Level,
    flags: Flags,
    /// The pattern with its letters folded; names are still names.
    folded: String,
    /// What a blank in the pattern matches.
    blank: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Entry {
    /// The compiled pattern. A test makes sure that each one compiles.
    fn regex(&self) -> Option<&Regex> {
        let compile = || {
            let pattern = self.opened_pattern();
            RegexBuilder::new(&pattern)
                .unicode(!pattern.is_ascii())
                .build()
                .ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }

    fn opened_pattern(&self) -> String {
        let opened = NAMED_PARTS
            .iter()
            .rev()
            .fold(self.folded.clone(), |opened, (name, part)| {
                opened.replace(&format!("<{name}>"), &format!("(?:{part})"))
            });
        let opened = opened.replace(' ', self.blank);
        // Patterns of Latin letters begin and end at the edge of a word, or in a gap.
        if opened.is_ascii() {
            format!("{WORD_BEGIN}(?:{opened}){WORD_END}")
        } else {
            opened
        }
    }
}

const RULES: &str = include_str!("../../../knowledge/crisis_rules.tsv");
const MASKS: &str = include_str!("../../../knowledge/crisis_masks.tsv");

static BOOK: LazyLock<Book> = LazyLock::new(|| {
    let names = demands_of_names();
    let masks: Vec<Row> = MASKS.lines().filter_map(Row::parse).collect();
    let rules: Vec<Row> = RULES.lines().filter_map(Row::parse).collect();
    // Rules may match across a line break ("i / want / to / die"), masks may not: text added on
    // another line must never help to hide a sign.
    let masks: Vec<Entry> = masks.iter().flat_map(|row| row.entries(" ")).collect();
    let rules = rules.iter().flat_map(|row| row.entries(r"(?:,?[ \n])"));
    let number_of_masks = masks.len();
    let entries: Vec<Entry> = masks.into_iter().chain(rules).collect();

    let mut all_stems: Vec<String> = Vec::new();
    let mut number_of: HashMap<String, usize> = HashMap::new();
    let mut entries_of_stem: Vec<Vec<usize>> = Vec::new();
    let mut always = Vec::new();
    for (entry, of) in entries.iter().enumerate() {
        let Some(demanded) = stems(&of.folded, &names) else {
            always.push(entry);
            continue;
        };
        for stem in demanded {
            let number = *number_of.entry(stem.clone()).or_insert_with(|| {
                all_stems.push(stem);
                entries_of_stem.push(Vec::new());
                all_stems.len() - 1
            });
            if let Some(asking) = entries_of_stem.get_mut(number) {
                asking.push(entry);
            }
        }
    }
    let stems = AhoCorasick::new(&all_stems).ok();
    Book {
        entries,
        masks: number_of_masks,
        stems,
        entries_of_stem,
        always,
    }
});

/// The names for parts of patterns, with what they stand for: lines that begin with `@`. A part
/// may use names of lines above it.
static NAMED_PARTS: LazyLock<Vec<(&'static str, String)>> = LazyLock::new(|| {
    let lines = RULES
        .lines()
        .filter_map(|line| line.strip_prefix('@')?.split_once('\t'));
    lines
        .map(|(name, part)| (name, fold_pattern(part)))
        .collect()
});

fn demands_of_names() -> Names {
    let mut demands = Names::new();
    for (name, part) in NAMED_PARTS.iter() {
        let of_part = demand(part, &demands);
        demands.insert(name, of_part);
    }
    demands
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

    fn entries(&self, blank: &'static str) -> Vec<Entry> {
        let (level, flags) = read_sign(self.sign);
        let id = self.id;
        alternatives(self.pattern)
            .into_iter()
            .map(|pattern| Entry {
                id,
                level,
                flags,
                folded: fold_pattern(pattern),
                blank,
                compiled: OnceLock::new(),
            })
            .collect()
    }
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
            assert!(
                fine || line.split('\t').count() == 5,
                "not five columns: {line}"
            );
        }
    }

    #[test]
    fn every_pattern_compiles_and_names_are_known() {
        for entry in &BOOK.entries {
            assert!(entry.regex().is_some(), "{}: does not compile", entry.id);
            assert!(
                !entry.opened_pattern().contains('<'),
                "{}: unknown name",
                entry.id
            );
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
                wrong.push(format!(
                    "{} lets through: {} {rules:?}",
                    row.id, row.matching
                ));
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
        const SAMPLES: usize = 8;

        let names = demands_of_names();
        let mut runner = TestRunner::deterministic();
        let mut wrong = std::collections::BTreeSet::new();
        for entry in &BOOK.entries {
            let needs = stems(&entry.folded, &names).unwrap_or_default();
            assert!(!needs.is_empty(), "{}: tried on every text", entry.id);
            // The sampler knows no anchors, and a wide gap would drown the words in noise.
            let mut shape = entry.opened_pattern();
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
                panic!("{}: {error}: {shape}", entry.id);
            });
            for _ in 0..SAMPLES {
                let sample = strategy.new_tree(&mut runner).unwrap().current();
                let sample = String::from_utf8_lossy(&sample).replace(['\n', ','], " ");
                let sample = sample.split_whitespace().collect::<Vec<_>>().join(" ");
                if !needs.iter().any(|stem| sample.contains(stem.as_str())) {
                    wrong.insert(format!("{}: {sample}", entry.id));
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
