//! Displays untrusted text so that what a person sees is what would run.
//!
//! Nothing is stripped and nothing is interpreted: whatever a terminal, browser or chat would act on or
//! hide is written out as `⟨U+202E⟩`. Every line carries a fence that the text cannot produce at a line's
//! start, so no drawn frame or fake menu can leave it. The brackets `⟨` and `⟩` are this module's own
//! voice; in the text itself they are escaped like everything else that could be mistaken.

pub(crate) mod address;
pub(crate) mod claims;
pub(crate) mod encoded;
pub(crate) mod glyph;
pub mod shell;

pub use shell::is_deceptive_for_shell;

use glyph::Treatment;
use std::fmt::Write as _;

use crate::digest::Digest;
use crate::knowledge::names::TELLING_NAMES;

/// The prefix of every line of untrusted text.
pub const FENCE: &str = "│ ";
/// Longest text shown whole, in characters; beyond it head and tail are shown.
pub(crate) const TEXT_CHARS_MAX: usize = 3000;
/// How much of a long text is shown from its start and from its end, in characters.
pub(crate) const HEAD_CHARS: usize = 1600;
/// See [`HEAD_CHARS`].
pub(crate) const TAIL_CHARS: usize = 1000;
/// Longest run of blanks, and of empty lines, shown as it is.
const BLANKS_MAX: usize = 40;
const EMPTY_LINES_MAX: usize = 5;
/// Most lines of a text before it counts as long.
const LINES_MAX: usize = 200;
/// Most notes added to one text.
const NOTES_MAX: usize = 16;
/// Most deceptions of one code that are listed.
const DECEPTIONS_PER_CODE_MAX: usize = 16;

/// How much a deception weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth a mark on the card: it also occurs in honest text.
    Low,
    /// Honest text does not do this: a person must look.
    High,
}

/// A place where a text shows something else than it is, or claims what it cannot know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deception {
    /// A stable name: `bidi`, `zero_width`, `approval_claim`, …
    pub code: &'static str,
    /// Byte offsets in the text.
    pub span: (usize, usize),
    /// How much it weighs.
    pub severity: Severity,
}

/// Returns `text` as fenced lines that are safe on every surface, with head, tail, length and digest when
/// it is long, and notes on what addresses and encodings really say.
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + text.len() / 8 + FENCE.len());
    let length = text.chars().count();
    if length <= TEXT_CHARS_MAX {
        fenced(text, &mut shown);
    } else {
        let head_end = text
            .char_indices()
            .nth(HEAD_CHARS)
            .map_or(text.len(), |(at, _)| at);
        let tail_start = text
            .char_indices()
            .nth_back(TAIL_CHARS - 1)
            .map_or(0, |(at, _)| at);
        fenced(text.get(..head_end).unwrap_or_default(), &mut shown);
        let hidden = length - HEAD_CHARS - TAIL_CHARS;
        let _infallible = write!(
            shown,
            "\n⟨{hidden} of {length} characters not shown here; {} bytes, sha256 {}⟩\n",
            text.len(),
            Digest::of(text.as_bytes()).hex()
        );
        for pair in telling_pairs(text.get(head_end..tail_start).unwrap_or_default()) {
            let _infallible = writeln!(shown, "⟨not shown here, among the rest: {}⟩", inline(pair));
        }
        fenced(text.get(tail_start..).unwrap_or_default(), &mut shown);
    }
    for note in notes(text) {
        let _infallible = write!(shown, "\n⟨{note}⟩");
    }
    shown
}

/// Most such values shown, and the longest of them in bytes.
const TELLING_PAIRS_MAX: usize = 8;
const TELLING_VALUE_BYTES_MAX: usize = 80;

/// Returns the `"name": value` pairs of JSON in `hidden` whose name is telling.
fn telling_pairs(hidden: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in hidden.match_indices("\":") {
        let name = hidden
            .get(..at)
            .unwrap_or_default()
            .rsplit('"')
            .next()
            .unwrap_or_default();
        if !TELLING_NAMES.contains(name.to_ascii_lowercase().as_str()) {
            continue;
        }
        let rest = hidden.get(at + 2..).unwrap_or_default();
        let end = rest
            .char_indices()
            .find(|(end, character)| {
                matches!(character, ',' | '}' | ']' | '\n') || *end > TELLING_VALUE_BYTES_MAX
            })
            .map_or(rest.len(), |(end, _)| end);
        found.extend(hidden.get(at - name.len() - 1..at + 2 + end));
        if found.len() >= TELLING_PAIRS_MAX {
            break;
        }
    }
    found
}

/// Returns the whole of `text` as fenced lines, however long, without notes: the full view.
pub fn full(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + text.len() / 8 + FENCE.len());
    fenced(text, &mut shown);
    shown
}

/// Returns the whole of `text` with its line breaks but without the fence, for surfaces that draw a
/// frame of their own around every line.
pub fn unfenced(text: &str) -> String {
    without_fence(&full(text))
}

/// Returns `text` as [`plain`] shows it, without the fence.
pub(crate) fn unfenced_plain(text: &str) -> String {
    without_fence(&plain(text))
}

/// Takes the fence from every line that has one.
fn without_fence(shown: &str) -> String {
    let bare = |line: &str| {
        let bare = line
            .strip_prefix(FENCE)
            .or(line.strip_prefix(FENCE.trim_end()));
        bare.unwrap_or(line).to_owned()
    };
    shown.split('\n').map(bare).collect::<Vec<_>>().join("\n")
}

/// Returns the whole of `text` on one line, however long.
pub fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 16);
    one_line(text, &mut shown);
    shown
}

/// Returns `text` on one line: line breaks are written out too, and there is no fence.
pub fn inline(text: &str) -> String {
    shortened_with(text, line)
}

/// Returns a line that has been shown already, only its head and tail if it is long.
pub fn shortened(shown: &str) -> String {
    shortened_with(shown, str::to_owned)
}

fn shortened_with(text: &str, show: fn(&str) -> String) -> String {
    let length = text.chars().count();
    if length <= INLINE_CHARS_MAX {
        return show(text);
    }
    let head_end = text
        .char_indices()
        .nth(INLINE_CHARS_MAX / 2)
        .map_or(text.len(), |(at, _)| at);
    let tail_start = text
        .char_indices()
        .nth_back(INLINE_CHARS_MAX / 4)
        .map_or(0, |(at, _)| at);
    let head = text.get(..head_end).unwrap_or_default();
    let tail = text.get(tail_start..).unwrap_or_default();
    let hidden = length - head.chars().count() - tail.chars().count();
    format!(
        "{}⟨{hidden} characters, sha256 {}⟩{}",
        show(head),
        Digest::of(text.as_bytes()).hex(),
        show(tail)
    )
}

/// Longest text that [`inline`] shows whole, in characters.
pub(crate) const INLINE_CHARS_MAX: usize = 240;

/// Returns named values as a person must see them: every name, and under it the value as [`plain`] shows
/// it. A summary written by the agent is one value among the others and can stand for none of them.
pub fn fields<'a>(named: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    named
        .into_iter()
        .map(|(name, value)| format!("{}\n{}", inline(name), plain(value)))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns everything in `text` that could mislead the person who reads it, in the order of its place.
pub fn deceptions(text: &str) -> Vec<Deception> {
    let mut found = Vec::new();
    if !is_printable_ascii(text) {
        glyph::deceptions(text, &mut found);
    }
    layout(text, &mut found);
    claims::deceptions(text, &mut found);
    address::deceptions(text, &mut found);
    encoded::deceptions(text, &mut found);
    found.sort_by_key(|deception| deception.span);
    let mut counts: Vec<(&'static str, usize)> = Vec::new();
    found.retain(|deception| {
        if let Some(entry) = counts.iter_mut().find(|entry| entry.0 == deception.code) {
            entry.1 += 1;
            return entry.1 <= DECEPTIONS_PER_CODE_MAX;
        }
        counts.push((deception.code, 1));
        true
    });
    found
}

/// Returns whether no character of `text` can deceive: printable ASCII, line feeds and tabs only.
pub(crate) fn is_printable_ascii(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
}

/// Writes the lines of `text`, each behind the fence; long runs of empty lines are counted.
fn fenced(text: &str, shown: &mut String) {
    let mut empty = 0;
    let mut first = true;
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.next() {
        if line.trim_matches([' ', '\t']).is_empty() && lines.peek().is_some() && !first {
            empty += 1;
            continue;
        }
        write_empty_lines(empty, shown);
        empty = 0;
        if !first {
            shown.push('\n');
        }
        first = false;
        shown.push_str(FENCE);
        one_line(line, shown);
    }
    write_empty_lines(empty, shown);
}

fn write_empty_lines(count: usize, shown: &mut String) {
    if count > EMPTY_LINES_MAX {
        let _infallible = write!(shown, "\n{FENCE}⟨{count} empty lines⟩");
        return;
    }
    for _ in 0..count {
        shown.push('\n');
        shown.push_str(FENCE.trim_end());
    }
}

/// Writes `text` with everything escaped that is not plainly visible, line feeds included.
fn one_line(text: &str, shown: &mut String) {
    let mut glyphs = glyph::Glyphs::new(text);
    let mut blanks = 0;
    while let Some(glyph) = glyphs.next() {
        if glyph.character == ' ' || glyph.character == '\t' {
            blanks += 1;
            continue;
        }
        write_blanks(text, glyph.at, blanks, shown);
        blanks = 0;
        match glyph.treatment {
            Treatment::Show => match mention_at(text, glyph.at) {
                Some(_) => write_code(glyph.character, shown),
                None => shown.push(glyph.character),
            },
            Treatment::Escape(_, _) => {
                if let Some(hidden) = glyphs.hidden_run(glyph.at) {
                    let _infallible = write!(
                        shown,
                        "⟨{} hidden characters: {}⟩",
                        hidden.count, hidden.text
                    );
                } else {
                    write_code(glyph.character, shown);
                }
            }
        }
    }
    write_blanks(text, text.len(), blanks, shown);
}

fn write_code(character: char, shown: &mut String) {
    let _infallible = write!(shown, "⟨U+{:04X}⟩", u32::from(character));
}

/// Writes the `count` blanks that end at `end`: as they are, or counted when there are too many.
fn write_blanks(text: &str, end: usize, count: usize, shown: &mut String) {
    let run = text.get(end - count..end).unwrap_or_default();
    let tabs = run.bytes().filter(|byte| *byte == b'\t').count();
    if count > BLANKS_MAX || tabs > TABS_MAX {
        let _infallible = write!(shown, " ⟨{count} blanks⟩ ");
        return;
    }
    for byte in run.bytes() {
        shown.push_str(if byte == b'\t' { "⇥ " } else { " " });
    }
}

/// Most tabs in a row that are shown one by one.
const TABS_MAX: usize = 10;

/// Returns the length of a mention of everybody that starts at `at`, which chats would act on.
fn mention_at(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    for mention in ["<!channel", "<!here", "<!everyone", "<!subteam"] {
        if rest.starts_with(mention) {
            return Some(mention.len());
        }
    }
    let name = rest.strip_prefix('@')?;
    let before = text.get(..at)?.chars().next_back();
    if before.is_some_and(|character| character.is_alphanumeric() || character == '.') {
        return None;
    }
    ["everyone", "channel", "here", "all"]
        .into_iter()
        .find_map(|word| {
            let after = name.strip_prefix(word)?.chars().next();
            let ends = after.is_none_or(|character| {
                !(character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '/'))
            });
            ends.then_some(word.len() + 1)
        })
}

/// Returns sentences on what addresses, encodings and characters of `text` really say.
pub(crate) fn notes(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    address::notes(text, &mut found);
    encoded::notes(text, &mut found);
    glyph::notes(text, &mut found);
    found.dedup();
    found.truncate(NOTES_MAX);
    found.into_iter().map(|note| inline(&note)).collect()
}

/// Adds what the layout of a text hides: long blanks, many lines, sheer length, mentions of everybody.
fn layout(text: &str, found: &mut Vec<Deception>) {
    let mut blanks = 0;
    let mut tabs = 0;
    let mut empty_lines = 0;
    let mut line_is_empty = true;
    let mut lines = 1;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b' ' | b'\t' => {
                blanks += 1;
                tabs += usize::from(byte == b'\t');
                continue;
            }
            b'\n' => {
                lines += 1;
                empty_lines = if line_is_empty { empty_lines + 1 } else { 0 };
                line_is_empty = true;
            }
            _ => {
                if line_is_empty && empty_lines > EMPTY_LINES_MAX {
                    found.push(low("many_lines", at - empty_lines.min(at), at));
                }
                if !line_is_empty && (blanks > BLANKS_MAX || tabs > TABS_MAX)
                    || blanks > 4 * BLANKS_MAX
                {
                    found.push(low("long_whitespace", at - blanks, at));
                }
                line_is_empty = false;
                if byte == b'@' || byte == b'<' {
                    found.extend(
                        mention_at(text, at).map(|length| low("mass_mention", at, at + length)),
                    );
                }
            }
        }
        blanks = 0;
        tabs = 0;
    }
    if lines > LINES_MAX {
        found.push(low("many_lines", 0, text.len()));
    }
    if text.len() > TEXT_CHARS_MAX && text.chars().count() > TEXT_CHARS_MAX {
        found.push(low("long_text", 0, text.len()));
    }
}

fn low(code: &'static str, start: usize, end: usize) -> Deception {
    Deception {
        code,
        span: (start, end),
        severity: Severity::Low,
    }
}

fn high(code: &'static str, start: usize, end: usize) -> Deception {
    Deception {
        code,
        span: (start, end),
        severity: Severity::High,
    }
}
