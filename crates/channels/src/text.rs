//! Escapes text for chats that render Markdown.
//!
//! What an agent wrote stands in a code block or a code span whose backticks are more than any run
//! inside, so nothing in it can end it. In code nobody is mentioned, nothing is linked, no address is
//! looked up and no picture is loaded.

use countersign_core::display::unfenced;

/// Stands behind `@` so that nobody is mentioned; it has no width.
const WORD_JOINER: char = '\u{2060}';
/// Shortest fence.
const FENCE_MIN: usize = 3;

/// Returns `text` as a code block it cannot leave.
pub fn fenced(text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(FENCE_MIN));
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}")
}

/// Returns `text` as a code span it cannot leave. Line breaks become spaces, as they would in one.
pub fn code(text: &str) -> String {
    let flat: String = text
        .chars()
        .map(|letter| if letter == '\n' { ' ' } else { letter })
        .collect();
    if flat.trim().is_empty() {
        return "—".to_owned();
    }
    let fence = "`".repeat(longest_run(&flat) + 1);
    // A backtick at either end would lengthen the fence.
    let room = if flat.starts_with('`') || flat.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{room}{flat}{room}{fence}")
}

/// Returns `text` as it is if no chat would see anything but words in it, and as code otherwise.
pub fn inert(text: &str) -> String {
    let plain = |letter: char| {
        letter.is_alphanumeric()
            || matches!(
                letter,
                ' ' | ',' | ';' | '.' | '\'' | '"' | '/' | '-' | '%' | '·' | '(' | ')'
            )
    };
    // A colon may begin an emoji or an address, unless it ends a word or stands in a time of day.
    let (mut last, mut is_quiet) = (' ', true);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        let is_time = last.is_ascii_digit() && next.is_ascii_digit();
        is_quiet &= letter != ':' || next == ' ' || is_time;
        last = letter;
    }
    let begins_as_words = text.starts_with(|letter: char| letter.is_alphabetic() || letter == '/');
    let is_plain = begins_as_words
        && is_quiet
        && text.chars().all(|letter| plain(letter) || letter == ':')
        && !text.to_ascii_lowercase().contains("www.")
        && !text.contains("  ");
    if is_plain {
        text.to_owned()
    } else {
        code(text)
    }
}

/// Returns what the agent says to a person: its Markdown is kept, but nobody is mentioned, no
/// picture is loaded, and addresses are shown instead of linked, because a chat looks up what is
/// linked, and an address can carry anything away.
pub fn tamed(text: &str) -> String {
    quiet(&unfenced(text))
}

/// Returns the same of text in which hidden characters are written out already, as in what a card
/// shows: writing them out twice would show something else than what runs.
pub fn quiet(shown: &str) -> String {
    let mut tame = String::with_capacity(shown.len() + 32);
    let mut block: Option<Block<'_>> = None;
    for (number, line) in shown.split('\n').enumerate() {
        let behind = line.trim_start().trim_start_matches('`');
        let run = line.trim_start().len() - behind.len();
        let word = behind.trim();
        match &mut block {
            Some(open) if run >= open.run && word.is_empty() => {
                open.write(&mut tame);
                block = None;
            }
            Some(open) => open.lines.push(line),
            None => {
                if number > 0 {
                    tame.push('\n');
                }
                if run >= FENCE_MIN {
                    // Only a word may stand behind it.
                    let is_word = word.chars().all(|letter| letter.is_ascii_alphanumeric());
                    block = Some(Block {
                        run,
                        word: if is_word { word } else { "" },
                        lines: Vec::new(),
                    });
                } else {
                    tame_line(line, &mut tame);
                }
            }
        }
    }
    if let Some(open) = block {
        open.write(&mut tame);
    }
    tame
}

/// A code block of what the agent says.
struct Block<'a> {
    /// How many backticks end it.
    run: usize,
    word: &'a str,
    lines: Vec<&'a str>,
}

impl Block<'_> {
    /// Writes it with more backticks than any run inside: some clients end a block at the end of any
    /// line.
    fn write(&self, tame: &mut String) {
        let inside = self.lines.join("\n");
        let fence = "`".repeat((longest_run(&inside) + 1).max(self.run));
        let end = if self.lines.is_empty() { "" } else { "\n" };
        tame.push_str(&fence);
        tame.push_str(self.word);
        tame.push('\n');
        tame.push_str(&inside);
        tame.push_str(end);
        tame.push_str(&fence);
    }
}

/// Takes from one line what a chat would act on. Code spans stay as they are.
fn tame_line(line: &str, tame: &mut String) {
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let (before, from) = rest.split_at(start);
        tame_words(before, tame);
        let run: String = from.chars().take_while(|it| *it == '`').collect();
        let inside = from.get(run.len()..).unwrap_or_default();
        if let Some(end) = closing(inside, run.len()) {
            let span = run.len() + end + run.len();
            tame.push_str(from.get(..span).unwrap_or_default());
            rest = from.get(span..).unwrap_or_default();
        } else {
            tame.push_str(&"\\`".repeat(run.len()));
            rest = inside;
        }
    }
    tame_words(rest, tame);
}

/// Returns where a code span that began with `run` backticks ends: at a run of exactly so many.
fn closing(inside: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = inside.get(at..)?;
        let start = at + rest.find('`')?;
        let found = inside.get(start..)?;
        let length = found.chars().take_while(|it| *it == '`').count();
        if length == run && start > 0 {
            return Some(start);
        }
        at = start + length;
    }
}

/// Takes from words outside of code what a chat would act on.
fn tame_words(words: &str, tame: &mut String) {
    for (at, word) in words.split(' ').enumerate() {
        if at > 0 {
            tame.push(' ');
        }
        let lower = word.to_ascii_lowercase();
        let is_address = lower.contains("://") || lower.contains("www.") || lower.contains("](");
        if is_address || lower.contains("mailto:") {
            tame.push_str(&code(word));
            continue;
        }
        let is_alone = word.chars().count() == 1;
        for letter in word.chars() {
            match letter {
                // A backslash before what is escaped here would take the escape away.
                '\\' | '[' | ']' | '<' | '!' => {
                    tame.push('\\');
                    tame.push(letter);
                }
                '@' | '~' | '#' if !is_alone => {
                    tame.push(letter);
                    tame.push(WORD_JOINER);
                }
                other => tame.push(other),
            }
        }
    }
}

/// Returns `text` in pieces of at most `chars` characters, cut at line ends where there are any.
pub fn pieces(text: &str, chars: usize) -> Vec<String> {
    let chars = chars.max(1);
    let mut all = Vec::new();
    let mut piece = String::new();
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        let count = line.chars().count();
        if length + count > chars && length > 0 {
            all.push(std::mem::take(&mut piece));
            length = 0;
        }
        if count <= chars {
            piece.push_str(line);
            length += count;
            continue;
        }
        for letter in line.chars() {
            if length == chars {
                all.push(std::mem::take(&mut piece));
                length = 0;
            }
            piece.push(letter);
            length += 1;
        }
    }
    if !piece.is_empty() {
        all.push(piece);
    }
    all
}

/// Returns the length of the longest run of backticks.
pub(crate) fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for letter in text.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_said_stays_said() {
        let rows = [
            ("words", "deletes /srv/www; it cannot be undone", None),
            ("a time", "Approved once by ana · 14:02 UTC", None),
            ("a remark", "deletes /srv (data): all of it", None),
            ("an emoji", "so :x: it", Some("`so :x: it`")),
            ("an emoji at the end", "so :x:", Some("`so :x:`")),
            ("a mention", "tell @all", Some("`tell @all`")),
            (
                "a link",
                "[x](http://e.example)",
                Some("`[x](http://e.example)`"),
            ),
            (
                "an address",
                "see www.e.example",
                Some("`see www.e.example`"),
            ),
            ("backticks", "a `b` c", Some("``a `b` c``")),
            ("backticks at the end", "a `b`", Some("`` a `b` ``")),
            ("a heading", "# big", Some("`# big`")),
            ("a list", "1. one", Some("`1. one`")),
            ("nothing", " ", Some("—")),
            ("lines", "one\ntwo", Some("`one two`")),
        ];
        for (name, text, expected) in rows {
            assert_eq!(inert(text), expected.unwrap_or(text), "{name}");
        }
    }

    #[test]
    fn an_answer_keeps_its_code_and_loses_what_a_chat_would_act_on() {
        let rows = [
            ("a mention", "hi @ana", "hi @\u{2060}ana"),
            ("a mention of all", "hi @all", "hi ⟨U+0040⟩all"),
            (
                "pictures",
                "![x](http://e.example/?k)",
                "`![x](http://e.example/?k)`",
            ),
            (
                "links",
                "go to https://e.example now",
                "go to `https://e.example` now",
            ),
            ("html", "<img src=x>", "\\<img src=x>"),
            ("a code span", "run `ls @ana` now", "run `ls @ana` now"),
            ("an open code span", "a ` @ana", "a \\` @\u{2060}ana"),
            ("a quotation", "> so", "> so"),
            ("code", "```sh\nls @ana\n```", "```sh\nls @ana\n```"),
            ("code that does not end", "```\nx", "```\nx\n```"),
            ("a hashtag", "#x", "#\u{2060}x"),
            (
                "a code span that is none",
                "\\`@ana http://e.example/?k`",
                "\\\\`@ana http://e.example/?k`",
            ),
            (
                "a link whose escape is escaped",
                "\\[a b](http://e.example/?k)",
                "\\\\\\[a `b](http://e.example/?k)`",
            ),
            (
                "an open code span that is escaped",
                "\\` http://e.example b",
                "\\\\\\` `http://e.example` b",
            ),
            (
                "a fence at the end of a line of code",
                "```\nx ```\n![x](http://e.example/?k)\n```",
                "````\nx ```\n![x](http://e.example/?k)\n````",
            ),
        ];
        for (name, text, expected) in rows {
            assert_eq!(tamed(text), expected, "{name}");
        }
    }

    #[test]
    fn what_is_written_out_already_is_not_written_out_again() {
        let shown = fenced("echo ⟨U+202E⟩ ⟨U+0040⟩all");
        assert_eq!(quiet(&shown), shown);
        assert!(tamed(&shown).contains("⟨U+27E8⟩"));
        assert_eq!(quiet("hi @ana"), "hi @\u{2060}ana");
    }

    proptest! {
        #[test]
        fn nothing_leaves_its_code_block(text in "[`~a\\n @]{0,60}") {
            let block = fenced(&text);
            let fence = block.split('\n').next().unwrap_or_default().to_owned();
            prop_assert!(fence.len() >= FENCE_MIN && fence.chars().all(|it| it == '`'));
            let inside = block.strip_prefix(&fence).and_then(|it| it.strip_suffix(&fence)).unwrap();
            prop_assert!(!inside.contains(&fence), "{block}");
            prop_assert!(inside.ends_with('\n'));
        }

        #[test]
        fn nothing_leaves_its_code_span(text in "[`a @]{1,40}") {
            let span = code(&text);
            prop_assume!(span != "—");
            let fence = span.chars().take_while(|it| *it == '`').count();
            let inside: String = span.chars().skip(fence).take(span.chars().count() - 2 * fence).collect();
            prop_assert!(longest_run(&inside) < fence, "{span}");
            prop_assert!(!inside.starts_with('`') && !inside.ends_with('`'), "{span}");
        }

        #[test]
        fn pieces_are_all_of_it_and_none_is_too_long(text in "[a\\n]{0,80}", chars in 1_usize..20) {
            let pieces = pieces(&text, chars);
            prop_assert_eq!(pieces.concat(), text);
            prop_assert!(pieces.iter().all(|piece| piece.chars().count() <= chars));
        }
    }
}
