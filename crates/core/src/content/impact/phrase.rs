//! Phrase families: a keyword search selects the expressions to run.

use crate::content::keywords::Keywords;
use crate::content::quick::{Match, Program};
use regex::bytes::{Regex, RegexBuilder};
use std::sync::OnceLock;

/// Most finds of one family in one text.
const FINDS_MAX: usize = 16;

/// Phrases that mean the same kind of thing.
#[derive(Debug)]
pub(crate) struct Family {
    /// Its name.
    pub(crate) code: &'static str,
    /// How much it weighs, in per mille.
    pub(crate) weight: u16,
    /// A further condition, by name; empty for none.
    pub(crate) check: &'static str,
    pattern: &'static str,
    /// The same for short texts.
    program: Program,
    compiled: OnceLock<Option<Regex>>,
}

impl Family {
    pub(crate) const fn new(
        code: &'static str,
        weight: u16,
        check: &'static str,
        pattern: &'static str,
        program: Program,
    ) -> Self {
        Self {
            code,
            weight,
            check,
            pattern,
            program,
            compiled: OnceLock::new(),
        }
    }

    /// Calls `found` with every match, at most [`FINDS_MAX`].
    fn each(&self, text: &[u8], mut found: impl FnMut(usize, usize)) {
        if self.compiled.get().is_none()
            && let Some(matches) = self.program.find_all(text, FINDS_MAX)
        {
            for (start, end) in matches.into_iter().map(Match::meant) {
                found(start, end);
            }
            return;
        }
        let Some(regex) = self.regex() else {
            return;
        };
        for captures in regex.captures_iter(text).take(FINDS_MAX) {
            if let Some(hit) = captures.get(1).or_else(|| captures.get(0)) {
                found(hit.start(), hit.end());
            }
        }
    }

    /// Returns the expression; upper and lower case are the same unless it says `(?-i)`.
    pub(crate) fn regex(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| {
                RegexBuilder::new(self.pattern)
                    .unicode(false)
                    .case_insensitive(true)
                    .multi_line(true)
                    .build()
                    .ok()
            })
            .as_ref()
    }
}

/// A list of families and the search for their keywords.
#[derive(Debug)]
pub(crate) struct Families {
    /// The families in the order of the table.
    pub(crate) rows: &'static [Family],
    keywords: &'static Keywords,
    /// Rows that have no keyword and need a digit instead.
    on_digit: &'static [u16],
}

impl Families {
    pub(crate) const fn new(
        rows: &'static [Family],
        keywords: &'static Keywords,
        on_digit: &'static [u16],
    ) -> Self {
        Self {
            rows,
            keywords,
            on_digit,
        }
    }

    /// Calls `found` with every phrase in `text`: its family and where it stands. When an expression has a
    /// group, the group is the find.
    pub(crate) fn scan(&self, text: &[u8], mut found: impl FnMut(&Family, usize, usize)) {
        let mut wanted = vec![false; self.rows.len()];
        let mut want = |row: u16| {
            if let Some(flag) = wanted.get_mut(usize::from(row)) {
                *flag = true;
            }
        };
        if text.iter().any(u8::is_ascii_digit) {
            self.on_digit.iter().copied().for_each(&mut want);
        }
        self.keywords.each_asking(text, want);
        for (family, _) in self.rows.iter().zip(wanted).filter(|(_, wanted)| *wanted) {
            family.each(text, |start, end| found(family, start, end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::damage::{Numbers, damaged};
    use crate::content::tables::{CLAIMS, IMPACT, PERSONAL};

    /// The program of a row and its expression say the same, on what it matches, in other words and case.
    #[test]
    fn programs_find_what_the_expressions_find() {
        use proptest::strategy::{Strategy, ValueTree};
        use proptest::test_runner::TestRunner;
        const SAMPLES: usize = 48;

        let mut runner = TestRunner::deterministic();
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        let (mut without, mut found) = (0, 0);
        for family in [&PERSONAL, &IMPACT, &CLAIMS]
            .into_iter()
            .flat_map(|table| table.rows)
        {
            let shape = [r"\b", "(?-i:", "^|", "$|", "^", "$"]
                .into_iter()
                .fold(family.pattern.to_owned(), |shape, from| {
                    shape.replace(from, if from == "(?-i:" { "(?:" } else { "" })
                });
            let shape = shape
                .replace("[^.!?\\n]", "[a-z ,]")
                .replace(r"\w", "[a-z0-9]");
            let Ok(strategy) = proptest::string::bytes_regex(&shape) else {
                continue;
            };
            for number in 0..SAMPLES {
                let sample = strategy.new_tree(&mut runner).unwrap().current();
                let mut text = [
                    b"so ",
                    sample.as_slice(),
                    b", yes.\n",
                    sample.as_slice(),
                    b" ",
                ]
                .concat();
                if number % 2 == 1 {
                    text.make_ascii_uppercase();
                }
                // Most of these match nothing, or something shorter than it seems at first.
                if number % 4 >= 2 {
                    text = damaged(&text, &mut numbers);
                }
                let Some(by_program) = family.program.find_all(&text, FINDS_MAX) else {
                    without += 1;
                    continue;
                };
                let by_program: Vec<_> = by_program.into_iter().map(Match::meant).collect();
                let captures = family.regex().unwrap().captures_iter(&text).take(FINDS_MAX);
                let by_regex: Vec<_> = captures
                    .filter_map(|captures| captures.get(1).or_else(|| captures.get(0)))
                    .map(|hit| (hit.start(), hit.end()))
                    .collect();
                found += by_regex.len();
                assert_eq!(
                    by_program,
                    by_regex,
                    "{}: {}",
                    family.code,
                    String::from_utf8_lossy(&text)
                );
            }
        }
        assert!(found > 1000 && without < found / 10, "{found} {without}");
    }
}
