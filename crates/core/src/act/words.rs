//! Normalises the words of a command, so different spellings compare equal.
//!
//! Separate because the follower writes them into an act, and `deed` compares them much later.

use crate::place::{Ground, display, mark_home, normalise};

/// The words of one simple command, in one spelling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The directory it is run from, as people read it.
    pub cwd: String,
    /// The words that are not options.
    pub operands: Vec<String>,
    /// Options with a value.
    pub options: Vec<(String, String)>,
    /// What it reads, where that is known.
    pub input: Option<String>,
}

/// Returns a word in one spelling: a path as seen from where it is used, an address with its host
/// in small letters, a text with its white space collapsed.
pub(crate) fn spelled(ground: &Ground, word: &str) -> String {
    let word = collapsed(word);
    if let Some((scheme, rest)) = word.split_once("://") {
        let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let path = path.replace("/./", "/");
        let path = path.trim_end_matches('/');
        return format!("{}://{}{path}", scheme.to_lowercase(), host.to_lowercase());
    }
    let is_path = word.contains('/') || word.starts_with(['.', '~']);
    if !is_path || word.starts_with('-') || word.contains(' ') {
        return word;
    }
    let path = display(&normalise(&ground.resolve(&mark_home(&word))));
    let cwd = ground.cwd.as_deref().map(display).unwrap_or_default();
    match path.strip_prefix(&cwd).map(|rest| rest.strip_prefix('/')) {
        Some(Some(inside)) if !cwd.is_empty() => inside.to_owned(),
        Some(_) | None => path,
    }
}

/// Returns a text without what nobody sees: white space collapsed, invisible characters gone.
pub(crate) fn collapsed(text: &str) -> String {
    let seen = |letter: &char| {
        !matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
            && (letter.is_whitespace() || !letter.is_control())
    };
    let visible: String = text.chars().filter(seen).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}
