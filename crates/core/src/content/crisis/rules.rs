//! Phrase rules of the crisis detector: words to find, idioms to ignore.
//!
//! Each pattern demands certain stems (see `stems`); only where one of them occurs is it tried, so an
//! ordinary message costs one pass over the stems. Masks work the same way and run first: what they
//! match is blanked, nothing else. `knowledge/crisis_rules.tsv` tells how the tables are written; the
//! build script compiles them, so that the first message of a process waits for nothing.

use std::ops::ControlFlow;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use super::opening::{NamedPart, blank, named_parts, opened};
use super::{Flag, Flags, Level};
use crate::content::quick::Program;
use crate::content::tables::{CRISIS_ALWAYS, CRISIS_ENTRIES, CRISIS_MASKS, CRISIS_STEMS};

/// A place in a view where a rule matched.
pub(super) struct Hit {
    pub(super) id: &'static str,
    pub(super) level: Level,
    pub(super) flags: Flags,
    /// Whether its words name the thing and no person.
    pub(super) is_noun: bool,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Tries all rules on one view, in the order of the table, until `found` says stop.
pub(super) fn each_hit(
    text: &str,
    mut found: impl FnMut(Hit) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let wanted = entries_to_try(text);
    let (masks, rules) = wanted.split_at_checked(CRISIS_MASKS).unwrap_or_default();
    if !rules.contains(&true) {
        return ControlFlow::Continue(());
    }
    let (mask_entries, rule_entries) = CRISIS_ENTRIES
        .split_at_checked(CRISIS_MASKS)
        .unwrap_or_default();
    let mut blanked = text.as_bytes().to_vec();
    for mask in wanted_of(mask_entries, masks) {
        for (start, end) in mask.find(text.as_bytes(), usize::MAX) {
            if let Some(words) = blanked.get_mut(start..end) {
                words.fill(BLANK);
            }
        }
    }
    wanted_of(rule_entries, rules).try_for_each(|rule| {
        let Some((start, end)) = rule.find(&blanked, 1).first().copied() else {
            return ControlFlow::Continue(());
        };
        let (level, flags) = read_sign(rule.sign);
        found(Hit {
            id: rule.id,
            level,
            flags,
            is_noun: rule.sign.split('+').any(|part| part == "noun"),
            start,
            end,
        })
    })
}

/// Stands where a mask matched; no rule matches it.
const BLANK: u8 = b'#';

/// Tells for each entry whether a stem of it occurs.
fn entries_to_try(text: &str) -> Vec<bool> {
    let mut wanted = vec![false; CRISIS_ENTRIES.len()];
    let mut want = |entry: u16| {
        if let Some(flag) = wanted.get_mut(usize::from(entry)) {
            *flag = true;
        }
    };
    CRISIS_ALWAYS.iter().copied().for_each(&mut want);
    CRISIS_STEMS.each_asking(text.as_bytes(), want);
    wanted
}

fn wanted_of<'a>(entries: &'a [Entry], wanted: &'a [bool]) -> impl Iterator<Item = &'a Entry> {
    let pairs = entries.iter().zip(wanted);
    pairs.filter(|(_, wanted)| **wanted).map(|(entry, _)| entry)
}

/// One alternative of a pattern. A rule's alternatives are kept apart, so that only those are
/// tried whose words occur.
#[derive(Debug)]
pub(crate) struct Entry {
    id: &'static str,
    sign: &'static str,
    /// The pattern with its letters folded; names are still names.
    folded: &'static str,
    is_mask: bool,
    /// The same for short texts.
    program: Program,
    compiled: OnceLock<Option<Regex>>,
}

impl Entry {
    pub(crate) const fn new(
        id: &'static str,
        sign: &'static str,
        folded: &'static str,
        is_mask: bool,
        program: Program,
    ) -> Self {
        Self {
            id,
            sign,
            folded,
            is_mask,
            program,
            compiled: OnceLock::new(),
        }
    }

    /// Returns where the pattern matches, one place behind the other, at most `limit`.
    fn find(&self, text: &[u8], limit: usize) -> Vec<(usize, usize)> {
        if self.compiled.get().is_none()
            && let Some(found) = self.program.find_all(text, limit)
        {
            return found.into_iter().map(|found| found.whole).collect();
        }
        let places = self
            .regex()
            .into_iter()
            .flat_map(|regex| regex.find_iter(text));
        let places = places.take(limit);
        places.map(|place| (place.start(), place.end())).collect()
    }

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
        opened(self.folded, &NAMED_PARTS, blank(self.is_mask))
    }
}

const RULES: &str = include_str!("../../../knowledge/crisis_rules.tsv");

static NAMED_PARTS: LazyLock<Vec<NamedPart>> = LazyLock::new(|| named_parts(RULES));

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
    use super::super::opening::{WORD_BEGIN, WORD_END};
    use super::super::scan;
    use super::super::stems::{Names, demand, stems};
    use super::*;
    use crate::content::damage::{Numbers, damaged};

    const MASKS: &str = include_str!("../../../knowledge/crisis_masks.tsv");

    /// A line of a table, as far as the tests need it.
    struct Row {
        id: &'static str,
        matching: &'static str,
        not_matching: &'static str,
    }

    impl Row {
        fn parse(line: &'static str) -> Option<Self> {
            if line.starts_with(['#', '@']) {
                return None;
            }
            let mut columns = line.split('\t');
            let id = columns.next()?;
            Some(Self {
                id,
                matching: columns.nth(2)?,
                not_matching: columns.next()?,
            })
        }
    }

    fn demands_of_names() -> Names {
        let mut demands = Names::new();
        for (name, part) in NAMED_PARTS.iter() {
            let of_part = demand(part, &demands);
            demands.insert(name, of_part);
        }
        demands
    }

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
        for entry in &CRISIS_ENTRIES {
            assert!(entry.regex().is_some(), "{}: does not compile", entry.id);
            assert!(
                !entry.opened_pattern().contains('<'),
                "{}: unknown name",
                entry.id
            );
        }
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
        for entry in &CRISIS_ENTRIES {
            let needs = stems(entry.folded, &names).unwrap_or_default();
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

    /// The program of an entry and its expression say the same, on sentences around it and on what it matches.
    #[test]
    fn programs_find_what_the_expressions_find() {
        use proptest::strategy::{Strategy, ValueTree};
        use proptest::test_runner::TestRunner;
        const SAMPLES: usize = 4;

        let rows: Vec<Row> = RULES
            .lines()
            .chain(MASKS.lines())
            .filter_map(Row::parse)
            .collect();
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        let mut runner = TestRunner::deterministic();
        let (mut without, mut found) = (0, 0);
        for entry in &CRISIS_ENTRIES {
            let of_row = rows.iter().filter(|row| row.id == entry.id);
            let mut texts: Vec<Vec<u8>> = of_row
                .flat_map(|row| [row.matching, row.not_matching])
                .flat_map(|text| {
                    let folded = super::super::normalise::fold(text, true);
                    super::super::spelling::views(&folded).collect::<Vec<_>>()
                })
                .map(|view| view.text.into_bytes())
                .collect();
            let mut shape = entry.opened_pattern();
            for anchor in [WORD_BEGIN, WORD_END, "^", "$"] {
                shape = shape.replace(anchor, "");
            }
            let shape = shape.replace("[.\n]", "[.]").replace("[^.\\n]", "[a-z# ]");
            if let Ok(strategy) = proptest::string::bytes_regex(&shape) {
                for _ in 0..SAMPLES {
                    let sample = strategy.new_tree(&mut runner).unwrap().current();
                    texts.push([b"so ", sample.as_slice(), b", yes. ", sample.as_slice()].concat());
                }
            }
            // What the rules read is always text, so damage may not leave half a letter.
            let broken: Vec<Vec<u8>> = texts
                .iter()
                .map(|text| damaged(text, &mut numbers))
                .map(|text| String::from_utf8_lossy(&text).into_owned().into_bytes())
                .collect();
            texts.extend(broken);
            let regex = entry.regex().unwrap();
            for text in texts.iter().filter(|text| text.len() < 2000) {
                let Some(by_program) = entry.program.find_all(text, usize::MAX) else {
                    without += 1;
                    continue;
                };
                let by_program: Vec<_> = by_program.into_iter().map(|place| place.whole).collect();
                let by_regex: Vec<_> = regex
                    .find_iter(text)
                    .map(|place| (place.start(), place.end()))
                    .collect();
                found += by_regex.len();
                assert_eq!(
                    by_program,
                    by_regex,
                    "{}: {}",
                    entry.id,
                    String::from_utf8_lossy(text)
                );
            }
        }
        assert!(found > 4000 && without < found / 10, "{found} {without}");
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
