//! Discord's dialect of Markdown: code that text cannot leave, and texts in pieces that fit.
//!
//! Discord ends a code block at the first three backticks, however many began it, so a longer fence does
//! not help. Backticks that would end code are written out as ⟨U+0060⟩, as hidden characters are.

use crate::text::{inert as inert_elsewhere, longest_run, tamed};

/// A backtick that is written out.
const WRITTEN_OUT: &str = "⟨U+0060⟩";
/// Begins and ends a code block.
const FENCE: &str = "```";
/// Stands for nothing.
const NOTHING: &str = "—";

/// Returns `text` as a code block it cannot leave.
pub(super) fn fenced(text: &str) -> String {
    if text.trim().is_empty() {
        return NOTHING.to_owned();
    }
    let text = broken(text);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{FENCE}\n{text}{end}{FENCE}")
}

/// Returns `text` as a code span it cannot leave. Line breaks become spaces.
pub(super) fn code(text: &str) -> String {
    if text.trim().is_empty() {
        return NOTHING.to_owned();
    }
    let flat = text.replace('\n', " ");
    match longest_run(&flat) {
        0 => format!("`{flat}`"),
        // Two hold what has one; a backtick at either end would lengthen them.
        1 if flat.starts_with('`') || flat.ends_with('`') => format!("`` {flat} ``"),
        1 => format!("``{flat}``"),
        // Three would begin a block.
        _ => format!("`{}`", flat.replace('`', WRITTEN_OUT)),
    }
}

/// Returns `text` as it is if it is nothing but words, and as code otherwise.
pub(super) fn inert(text: &str) -> String {
    if inert_elsewhere(text) == text {
        text.to_owned()
    } else {
        code(text)
    }
}

/// Returns what the agent says to a person: nobody is mentioned, and addresses are shown, not linked.
pub(super) fn spoken(text: &str) -> String {
    translated(&tamed(text))
}

/// Returns a text so that Discord shows each of its characters.
pub(super) fn literal(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        let begins = line.trim_start();
        let digits = begins.trim_start_matches(|it: char| it.is_ascii_digit());
        let is_numbered = digits.len() < begins.len() && digits.starts_with(['.', ')']);
        let mark = line.len() - if is_numbered { digits } else { begins }.len();
        for (at, letter) in line.char_indices() {
            let begins_something = at == mark && (is_numbered || "#>-+".contains(letter));
            if begins_something || "\\*_~`|<[]:@".contains(letter) {
                written.push('\\');
            }
            written.push(letter);
        }
    }
    written
}

/// Returns Markdown as `text` writes it in Discord's dialect: code blocks of three backticks, code spans
/// of one or two. Everything outside of code stays as it is.
pub(super) fn translated(text: &str) -> String {
    let mut all = String::with_capacity(text.len() + 16);
    let mut open: Option<usize> = None;
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            all.push('\n');
        }
        let behind = line.trim_start().trim_start_matches('`');
        let run = line.trim_start().len() - behind.len();
        match open {
            Some(fence) if run >= fence && behind.trim().is_empty() => {
                open = None;
                all.push_str(FENCE);
            }
            Some(_) => all.push_str(&broken(line)),
            None if run >= FENCE.len() && !behind.contains('`') => {
                open = Some(run);
                all.push_str(FENCE);
                let word = behind.trim();
                if word.chars().all(|it| it.is_ascii_alphanumeric()) {
                    all.push_str(word);
                }
            }
            None => spans(line, &mut all),
        }
    }
    if open.is_some() {
        all.push('\n');
        all.push_str(FENCE);
    }
    all
}

/// Writes the code spans of a line with one or two backticks each.
fn spans(line: &str, all: &mut String) {
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let (before, from) = rest.split_at(start);
        all.push_str(before);
        // Two backslashes are one that is shown.
        let slashes = before.len() - before.trim_end_matches('\\').len();
        if slashes % 2 == 1 {
            all.push('`');
            rest = from.get(1..).unwrap_or_default();
            continue;
        }
        let inside = from.trim_start_matches('`');
        let run = from.len() - inside.len();
        if let Some(end) = closing(inside, run) {
            let content = inside.get(..end).unwrap_or_default();
            // The room that keeps a backtick from the fence is not needed any more.
            let content = match content
                .strip_prefix(' ')
                .and_then(|it| it.strip_suffix(' '))
            {
                Some(inner) if inner.contains('`') => inner,
                Some(_) | None => content,
            };
            all.push_str(&code(content));
            rest = inside.get(end + run..).unwrap_or_default();
        } else {
            all.push_str(&"\\`".repeat(run));
            rest = inside;
        }
    }
    all.push_str(rest);
}

/// Returns where a span that began with `run` backticks ends: at a run of exactly so many.
fn closing(inside: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        let start = at + inside.get(at..)?.find('`')?;
        let found = inside.get(start..)?;
        let length = found.len() - found.trim_start_matches('`').len();
        if length == run {
            return Some(start);
        }
        at = start + length;
    }
}

/// Returns `text` without three backticks in a row.
fn broken(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut run = 0;
    for letter in text.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        if run == FENCE.len() {
            whole.push_str(WRITTEN_OUT);
            run = 0;
        } else {
            whole.push(letter);
        }
    }
    whole
}

/// Returns how long a text is for Discord, counted so that it is never less.
pub(super) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns a text in Discord's dialect in pieces of at most `most`, cut at ends of lines where there are
/// any. A code block that is cut goes on in the next piece.
pub(super) fn pieces(text: &str, most: usize) -> Vec<String> {
    // Room for the end of a block, and for its beginning in the next piece.
    let room = most.saturating_sub(2 * (FENCE.len() + 1)).max(1);
    let mut all = Vec::new();
    let mut piece = String::new();
    let mut is_code = false;
    for line in text.split_inclusive('\n') {
        for part in parts(line, room) {
            if !piece.is_empty() && length(&piece) + length(part) > room {
                if is_code {
                    if !piece.ends_with('\n') {
                        piece.push('\n');
                    }
                    piece.push_str(FENCE);
                }
                all.push(std::mem::take(&mut piece));
                if is_code && part.trim() != FENCE {
                    piece.push_str(FENCE);
                    piece.push('\n');
                } else if is_code {
                    // The block ended with the piece.
                    is_code = false;
                    continue;
                }
            }
            piece.push_str(part);
            if part.starts_with(FENCE) {
                is_code = !is_code;
            }
        }
    }
    if !piece.trim().is_empty() {
        all.push(piece);
    }
    all
}

/// Returns a line in parts of at most `most`.
fn parts(line: &str, most: usize) -> Vec<&str> {
    let mut all = Vec::new();
    let (mut from, mut count) = (0, 0);
    for (at, letter) in line.char_indices() {
        if count + letter.len_utf16() > most {
            all.extend(line.get(from..at));
            (from, count) = (at, 0);
        }
        count += letter.len_utf16();
    }
    all.extend(line.get(from..).filter(|it| !it.is_empty()));
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_cannot_leave_code() {
        let rows = [
            ("ls", "```\nls\n```"),
            ("a\n```\n@everyone", "```\na\n``⟨U+0060⟩\n@everyone\n```"),
            ("````", "```\n``⟨U+0060⟩`\n```"),
            (" \n", "—"),
        ];
        for (text, expected) in rows {
            assert_eq!(fenced(text), expected, "{text}");
        }
        assert_eq!(code("a`b\nc"), "``a`b c``");
        assert_eq!(code("`a`"), "`` `a` ``");
        assert_eq!(code("a``b"), "`a⟨U+0060⟩⟨U+0060⟩b`");
        assert_eq!(code(""), "—");
        assert_eq!(inert("deletes /srv/www"), "deletes /srv/www");
        assert_eq!(inert("@everyone"), "`@everyone`");
    }

    #[test]
    fn longer_fences_become_short_ones() {
        let rows = [
            ("````\na ``` b\n````", "```\na ``⟨U+0060⟩ b\n```"),
            ("```sh\nls\n```", "```sh\nls\n```"),
            ("open\n```\nls", "open\n```\nls\n```"),
            ("`` a`b `` and `c`", "``a`b`` and `c`"),
            ("``` a``b ```", "`a⟨U+0060⟩⟨U+0060⟩b`"),
            ("one ` alone", "one \\` alone"),
            ("an escaped \\` one", "an escaped \\` one"),
            ("shown \\\\`a``b`", "shown \\\\`a⟨U+0060⟩⟨U+0060⟩b`"),
            ("\\\\\\` three", "\\\\\\` three"),
        ];
        for (text, expected) in rows {
            assert_eq!(translated(text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_that_was_allowed_is_shown_letter_by_letter() {
        let rows = [
            ("The okapi is loose.", "The okapi is loose."),
            ("*a* _b_ `c`", "\\*a\\* \\_b\\_ \\`c\\`"),
            ("# no head\n- x", "\\# no head\n\\- x"),
            ("1. a\n 2) b", "1\\. a\n 2\\) b"),
            ("<@123> @here", "\\<\\@123> \\@here"),
        ];
        for (text, expected) in rows {
            assert_eq!(literal(text), expected, "{text}");
        }
    }

    #[test]
    fn a_block_that_is_cut_goes_on_in_the_next_piece() {
        let text = format!("head\n```\n{}```\ntail", "0123456789\n".repeat(6));
        let all = pieces(&text, 40);
        assert!(all.len() > 2, "{all:?}");
        for piece in &all {
            assert!(length(piece) <= 40, "{piece}");
            assert_eq!(piece.matches(FENCE).count() % 2, 0, "{piece}");
        }
        let digits: usize = all.iter().map(|it| it.matches("0123456789").count()).sum();
        assert_eq!(digits, 6);
    }

    proptest! {
        #[test]
        fn nothing_is_longer_than_it_may_be(text in "[a`\n 🙂]{0,200}", most in 20_usize..60) {
            for piece in pieces(&translated(&text), most) {
                prop_assert!(length(&piece) <= most, "{}", piece);
            }
        }

        #[test]
        fn a_block_has_no_fence_inside(text in "[a`\n]{1,40}") {
            let block = fenced(&text);
            if block != NOTHING {
                let inside = block.get(4..block.len() - 3).unwrap();
                prop_assert!(!inside.contains(FENCE), "{}", block);
            }
        }
    }
}
