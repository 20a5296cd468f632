//! How patterns of the crisis tables become regular expressions. Shared with the build script, which compiles them.

use super::folding::fold_pattern;

pub(super) const WORD_BEGIN: &str = r"\b{start-half}";
pub(super) const WORD_END: &str = r"(?:\b{end-half}|\b{start})";

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
