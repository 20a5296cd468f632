//! The rows of the crisis tables, and how their patterns become regular expressions. Shared with the build script,
//! which compiles them.

use super::folding::fold_pattern;

pub(super) const WORD_BEGIN: &str = r"\b{start-half}";
pub(super) const WORD_END: &str = r"(?:\b{end-half}|\b{start})";

/// The columns of a line, as written.
pub(super) struct Row {
    pub(super) id: &'static str,
    pub(super) sign: &'static str,
    pub(super) pattern: &'static str,
    #[cfg(test)]
    pub(super) matching: &'static str,
    #[cfg(test)]
    pub(super) not_matching: &'static str,
}

impl Row {
    pub(super) fn parse(line: &'static str) -> Option<Self> {
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
}

/// Splits a pattern at the bars outside all brackets.
pub(super) fn alternatives(pattern: &str) -> Vec<&str> {
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

/// A name for a part of patterns, and what it stands for.
pub(super) type NamedPart = (&'static str, String);

/// Returns the names for parts of patterns: lines that begin with `@`. A part may use names of lines above it.
pub(super) fn named_parts(rules: &'static str) -> Vec<NamedPart> {
    let lines = rules
        .lines()
        .filter_map(|line| line.strip_prefix('@')?.split_once('\t'));
    lines
        .map(|(name, part)| (name, fold_pattern(part)))
        .collect()
}

/// Returns what a blank in a pattern matches. Rules may match across a line break ("i / want / to / die"), masks
/// may not: text added on another line must never help to hide a sign.
pub(super) const fn blank(is_mask: bool) -> &'static str {
    if is_mask { " " } else { r"(?:,?[ \n])" }
}

/// Returns a folded pattern as a regular expression.
pub(super) fn opened(folded: &str, parts: &[NamedPart], blank: &str) -> String {
    let opened = parts
        .iter()
        .rev()
        .fold(folded.to_owned(), |opened, (name, part)| {
            opened.replace(&format!("<{name}>"), &format!("(?:{part})"))
        });
    let opened = opened.replace(' ', blank);
    // Patterns of Latin letters begin and end at the edge of a word, or in a gap.
    if opened.is_ascii() {
        format!("{WORD_BEGIN}(?:{opened}){WORD_END}")
    } else {
        opened
    }
}
