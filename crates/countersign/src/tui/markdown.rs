//! Draws the Markdown that models write: bold, italic, code, headings and lists instead of their signs.
//!
//! Only what an agent says is drawn so, never a call on a card, which is shown as it would run. Links, images
//! and tables stay the text they are. The marks are those of the page (`web/src/markdown.ts`). Linear in the
//! length of the text.

use std::ops::Range;

/// How a part of a text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Strong,
    Emphasis,
    Code,
}

/// A text without its signs, and how its parts look, in bytes and in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawn {
    pub(crate) text: String,
    pub(crate) looks: Vec<(Range<usize>, Look)>,
}

/// What opens and closes a part of a line, the longer first.
const MARKS: &[(&str, Look)] = &[
    ("**", Look::Strong),
    ("__", Look::Strong),
    ("*", Look::Emphasis),
    ("_", Look::Emphasis),
];
/// Before each line of a block of code.
const CODE_INDENT: &str = "    ";
/// Longest row of backticks that opens code in a line.
const TICKS_MAX: usize = 8;

/// Draws a text that is safe to show. Every word of it is kept.
pub(crate) fn drawn(text: &str) -> Drawn {
    let mut out = Drawn::default();
    let mut fence: Option<&str> = None;
    let mut is_first = true;
    for line in text.split('\n') {
        match fence {
            Some(open) if closes(line, open) => {
                fence = None;
                continue;
            }
            None if opening(line).is_some() => {
                fence = opening(line);
                continue;
            }
            Some(_) | None => {}
        }
        if !std::mem::take(&mut is_first) {
            out.text.push('\n');
        }
        if fence.is_some() {
            out.text.push_str(CODE_INDENT);
            out.push(line, Some(Look::Code));
        } else {
            out.line(line);
        }
    }
    out
}

impl Drawn {
    fn push(&mut self, text: &str, look: Option<Look>) {
        let start = self.text.len();
        self.text.push_str(text);
        if let Some(look) = look
            && !text.is_empty()
        {
            self.looks.push((start..self.text.len(), look));
        }
    }

    fn line(&mut self, line: &str) {
        let bare = line.trim_start_matches(' ');
        let indent = line.get(..line.len() - bare.len()).unwrap_or_default();
        if let Some(heading) = heading(bare) {
            self.push(heading, Some(Look::Strong));
        } else if let Some(item) = bullet(bare) {
            self.push(indent, None);
            self.push("• ", None);
            self.inlines(item);
        } else {
            self.inlines(line);
        }
    }

    fn inlines(&mut self, text: &str) {
        // Marks without a partner further on have none anywhere behind.
        let mut alone: Vec<&str> = Vec::new();
        let mut rest = text;
        let mut before: Option<char> = None;
        while let Some(letter) = rest.chars().next() {
            let found = part(rest, before, &alone);
            match found {
                Found::Part { inside, look, end } => {
                    self.push(inside, Some(look));
                    before = rest.get(..end).and_then(|it| it.chars().next_back());
                    rest = rest.get(end..).unwrap_or_default();
                }
                Found::Sign { sign, is_alone } => {
                    if is_alone {
                        alone.push(sign);
                    }
                    self.push(sign, None);
                    before = sign.chars().next_back();
                    rest = rest.get(sign.len()..).unwrap_or_default();
                }
                Found::Letter => {
                    self.text.push(letter);
                    before = Some(letter);
                    rest = rest.get(letter.len_utf8()..).unwrap_or_default();
                }
            }
        }
    }
}

/// What stands at the beginning of a text.
enum Found<'a> {
    /// A part with its marks, which end at `end`.
    Part {
        inside: &'a str,
        look: Look,
        end: usize,
    },
    /// A mark that opens nothing; `is_alone` if no other follows at all.
    Sign {
        sign: &'a str,
        is_alone: bool,
    },
    Letter,
}

fn part<'a>(rest: &'a str, before: Option<char>, alone: &[&str]) -> Found<'a> {
    let ticks = rest
        .bytes()
        .take(TICKS_MAX)
        .take_while(|it| *it == b'`')
        .count();
    let (length, look) = if ticks > 0 {
        (ticks, Look::Code)
    } else {
        let mark = MARKS.iter().find(|(sign, _)| rest.starts_with(sign));
        match mark {
            Some((sign, look)) if opens(rest, before, sign) => (sign.len(), *look),
            Some(_) | None => return Found::Letter,
        }
    };
    let (sign, behind) = rest.split_at(length);
    if alone.contains(&sign) {
        return Found::Letter;
    }
    let Some(inside) = behind.find(sign).and_then(|end| behind.get(..end)) else {
        let is_alone = true;
        return Found::Sign { sign, is_alone };
    };
    let is_empty = inside.trim().is_empty();
    if is_empty || (look != Look::Code && inside.ends_with(char::is_whitespace)) {
        let is_alone = false;
        return Found::Sign { sign, is_alone };
    }
    Found::Part {
        inside,
        look,
        end: length + inside.len() + length,
    }
}

/// Whether `sign` can open something here: a word follows, and `snake_case` stays as it is.
fn opens(rest: &str, before: Option<char>, sign: &str) -> bool {
    let next = rest.get(sign.len()..).and_then(|it| it.chars().next());
    next.is_some_and(|it| !it.is_whitespace()) && !before.is_some_and(char::is_alphanumeric)
}

/// Returns the fence that `line` opens.
fn opening(line: &str) -> Option<&str> {
    let bare = line.trim_start_matches(' ');
    let sign = bare.chars().next().filter(|it| matches!(it, '`' | '~'))?;
    let length = bare.chars().take_while(|it| *it == sign).count();
    let indent = line.len() - bare.len();
    (indent <= 3 && length >= 3).then(|| bare.get(..length))?
}

fn closes(line: &str, fence: &str) -> bool {
    let line = line.trim();
    let sign = fence.chars().next();
    line.starts_with(fence) && line.chars().all(|it| Some(it) == sign)
}

fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let is_heading = (1..=6).contains(&level) && text.starts_with(' ');
    is_heading.then(|| text.trim_start())
}

fn bullet(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(['-', '*', '+'])?;
    let text = rest.trim_start_matches(' ');
    (text.len() < rest.len() && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text, how it is drawn, and the looks of its parts.
    type Row = (&'static str, &'static str, &'static [(&'static str, Look)]);

    #[test]
    fn signs_become_looks_and_words_stay() {
        let rows: &[Row] = &[
            ("plain text", "plain text", &[]),
            ("a **b c** d", "a b c d", &[("b c", Look::Strong)]),
            (
                "__b__ and _c_",
                "b and c",
                &[("b", Look::Strong), ("c", Look::Emphasis)],
            ),
            (
                "run `rm -rf *` *now*",
                "run rm -rf * now",
                &[("rm -rf *", Look::Code), ("now", Look::Emphasis)],
            ),
            ("`` a`b ``", " a`b ", &[(" a`b ", Look::Code)]),
            ("snake_case_name", "snake_case_name", &[]),
            ("2 * 3 * 4", "2 * 3 * 4", &[]),
            ("**never closed", "**never closed", &[]),
            ("****", "****", &[]),
            ("## Title", "Title", &[("Title", Look::Strong)]),
            ("#tag", "#tag", &[]),
            ("- one\n  * `two`", "• one\n  • two", &[("two", Look::Code)]),
            ("-5 degrees\n---", "-5 degrees\n---", &[]),
            (
                "a\n```sh\nrm **x**\n```\nb",
                "a\n    rm **x**\nb",
                &[("rm **x**", Look::Code)],
            ),
            (
                "```\nstill written",
                "    still written",
                &[("still written", Look::Code)],
            ),
            (
                "[text](https://example.org) | a |",
                "[text](https://example.org) | a |",
                &[],
            ),
        ];
        for (text, wanted, looks) in rows {
            let drawn = drawn(text);
            let found: Vec<(&str, Look)> = drawn
                .looks
                .iter()
                .map(|(range, look)| (drawn.text.get(range.clone()).unwrap(), *look))
                .collect();
            assert_eq!(
                (drawn.text.as_str(), found.as_slice()),
                (*wanted, *looks),
                "{text:?}"
            );
        }
    }

    #[test]
    fn hostile_texts_are_read_once() {
        let begun = std::time::Instant::now();
        for text in ["*a ", "**a ", "_", "`", "``a", "~~~\n", "é**日本** "] {
            let drawn = drawn(&text.repeat(20_000));
            assert!(
                drawn
                    .looks
                    .iter()
                    .all(|(it, _)| drawn.text.get(it.clone()).is_some())
            );
        }
        // Searching for a partner from every sign again took minutes.
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }
}
