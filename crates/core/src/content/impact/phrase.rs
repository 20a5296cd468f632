//! Phrase families: a keyword search selects the expressions to run, each compiled on first use.

use aho_corasick::AhoCorasick;
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
    compiled: OnceLock<Option<Regex>>,
}

impl Family {
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
    pub(crate) rows: Vec<Family>,
    prefilter: Option<AhoCorasick>,
    /// For each keyword, the row it belongs to.
    owners: Vec<usize>,
    /// Rows that have no keyword and need a digit instead.
    on_digit: Vec<usize>,
}

impl Families {
    /// Reads a table with the columns code, weight, keywords (separated by `,`; `#` stands for any
    /// digit), check (`-` for none) and expression. Lines that start with `#` are comments.
    pub(crate) fn read(table: &'static str) -> Self {
        let rows = table
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| {
                let mut columns = line.splitn(5, '\t');
                let code = columns.next()?;
                let weight = columns.next()?.parse().ok()?;
                let keywords = columns.next()?;
                let check = columns.next()?.trim_matches('-');
                let pattern = columns.next()?;
                Some((
                    Family {
                        code,
                        weight,
                        check,
                        pattern,
                        compiled: OnceLock::new(),
                    },
                    keywords,
                ))
            });
        let mut families = Self {
            rows: Vec::new(),
            prefilter: None,
            owners: Vec::new(),
            on_digit: Vec::new(),
        };
        let mut words = Vec::new();
        for (index, (family, keywords)) in rows.enumerate() {
            families.rows.push(family);
            for keyword in keywords.split(',') {
                if keyword == "#" {
                    families.on_digit.push(index);
                } else {
                    words.push(keyword);
                    families.owners.push(index);
                }
            }
        }
        families.prefilter = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(words)
            .ok();
        families
    }

    /// Calls `found` with every phrase in `text`: its family and where it stands. When an expression has a
    /// group, the group is the find.
    pub(crate) fn scan(&self, text: &[u8], mut found: impl FnMut(&Family, usize, usize)) {
        let mut wanted = vec![false; self.rows.len()];
        let mut want = |row: usize| {
            if let Some(flag) = wanted.get_mut(row) {
                *flag = true;
            }
        };
        if text.iter().any(u8::is_ascii_digit) {
            self.on_digit.iter().copied().for_each(&mut want);
        }
        if let Some(prefilter) = &self.prefilter {
            for hit in prefilter.find_overlapping_iter(text) {
                self.owners
                    .get(hit.pattern().as_usize())
                    .copied()
                    .into_iter()
                    .for_each(&mut want);
            }
        }
        for (family, _) in self.rows.iter().zip(wanted).filter(|(_, wanted)| *wanted) {
            let Some(regex) = family.regex() else {
                continue;
            };
            for captures in regex.captures_iter(text).take(FINDS_MAX) {
                if let Some(hit) = captures.get(1).or_else(|| captures.get(0)) {
                    found(family, hit.start(), hit.end());
                }
            }
        }
    }
}
