//! `Rich`: text with entities, for chats that take a text and say apart what is code in it.
//!
//! Nothing has to be escaped, because nothing is parsed; where a platform wants markup, it is made of
//! the runs. But clients find mentions, commands, links and numbers in plain text by themselves, and a
//! tapped `/approve` is sent as if it had been typed. They find nothing in code, so whatever they could
//! act on is put in code.

pub(crate) mod card;

use serde::Serialize;

/// Most entities of a message; Telegram, which takes them, ignores those behind the hundredth.
const ENTITIES_MAX: usize = 90;

/// How a part of a text is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Style {
    Bold,
    Code,
    Pre,
    TextMention,
}

/// A part of a text, counted in UTF-16 code units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Entity {
    #[serde(rename = "type")]
    style: Style,
    offset: usize,
    length: usize,
    /// Who is mentioned.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<Mentioned>,
}

/// An account by its id; names change hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Mentioned {
    id: i64,
    is_bot: bool,
    first_name: String,
}

/// Text with entities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rich {
    text: String,
    entities: Vec<Entity>,
    /// How long it is, in UTF-16 code units.
    units: usize,
}

impl Rich {
    /// Adds words of ours, in which there is nothing to act on.
    pub(crate) fn plain(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self.units += units(text);
        self
    }

    /// Adds a text that is set in one style.
    pub(crate) fn styled(&mut self, style: Style, text: &str) -> &mut Self {
        self.marked(style, text, None)
    }

    /// Adds words that mention somebody.
    pub(crate) fn mention(&mut self, text: &str, id: i64) -> &mut Self {
        let user = Mentioned {
            id,
            is_bot: false,
            first_name: text.to_owned(),
        };
        self.marked(Style::TextMention, text, Some(user))
    }

    fn marked(&mut self, style: Style, text: &str, user: Option<Mentioned>) -> &mut Self {
        let length = units(text);
        if length > 0 {
            self.entities.push(Entity {
                style,
                offset: self.units,
                length,
                user,
            });
        }
        self.plain(text)
    }

    /// Adds words of somebody: those that a client could act on in code.
    pub(crate) fn words(&mut self, text: &str) -> &mut Self {
        let mut rest = text;
        while !rest.is_empty() {
            let word_ends = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(word_ends);
            if is_quiet(word) {
                self.plain(word);
            } else {
                self.styled(Style::Code, word);
            }
            let room = behind.len() - behind.trim_start().len();
            let (room, behind) = behind.split_at(room);
            self.plain(room);
            rest = behind;
        }
        self
    }

    /// Adds text in which code stands between backticks, as the agent and our own replies write it.
    pub(crate) fn markdown(&mut self, text: &str) -> &mut Self {
        let mut block: Option<(usize, Vec<&str>)> = None;
        for (number, line) in text.split('\n').enumerate() {
            let run = leading_ticks(line.trim_start());
            let behind = line.trim_start().trim_start_matches('`').trim();
            match &mut block {
                Some((open, lines)) if run >= *open && behind.is_empty() => {
                    let inside = lines.join("\n");
                    self.styled(Style::Pre, &inside);
                    block = None;
                }
                Some((_, lines)) => lines.push(line),
                None => {
                    if number > 0 {
                        self.plain("\n");
                    }
                    if run >= 3 {
                        block = Some((run, Vec::new()));
                    } else {
                        self.line(line);
                    }
                }
            }
        }
        if let Some((_, lines)) = block {
            let inside = lines.join("\n");
            self.styled(Style::Pre, &inside);
        }
        self
    }

    /// Adds a line in which there may be code.
    fn line(&mut self, line: &str) {
        let mut rest = line;
        while let Some(at) = rest.find('`') {
            let (before, ticks) = rest.split_at(at);
            let run = leading_ticks(ticks);
            let (fence, behind) = ticks.split_at(run);
            let Some(end) = closing(behind, run) else {
                break;
            };
            self.words(before);
            let (inside, behind) = behind.split_at(end);
            self.styled(Style::Code, inside.trim_matches(' '));
            rest = behind.strip_prefix(fence).unwrap_or(behind);
        }
        self.words(rest);
    }

    /// Returns it in parts of at most `most` units, cut at line ends where there are any.
    pub(crate) fn split(&self, most: usize) -> Vec<Self> {
        let mut parts = Vec::new();
        let mut rest = self.text.as_str();
        let mut from = 0;
        while !rest.is_empty() {
            let head = head(rest, most);
            let length = units(head);
            let entities = self.entities.iter().filter_map(|entity| {
                let begin = entity.offset.max(from);
                let end = (entity.offset + entity.length).min(from + length);
                (begin < end).then(|| Entity {
                    offset: begin - from,
                    length: end - begin,
                    ..entity.clone()
                })
            });
            parts.push(Self {
                text: head.to_owned(),
                entities: entities.collect(),
                units: length,
            });
            from += length;
            rest = rest.get(head.len()..).unwrap_or_default();
        }
        parts.retain(|part| !part.text.trim().is_empty());
        parts
    }

    /// Returns the text without blanks at its end, which a server would take away.
    pub(crate) fn text(&self) -> &str {
        self.text.trim_end()
    }

    /// Returns the entities.
    pub(crate) fn entities(&self) -> Vec<Entity> {
        let most = units(self.text());
        let cut = |entity: &Entity| {
            let length = entity.length.min(most.saturating_sub(entity.offset));
            (length > 0).then(|| Entity {
                length,
                ..entity.clone()
            })
        };
        let entities: Vec<Entity> = self.entities.iter().filter_map(cut).collect();
        if entities.len() <= ENTITIES_MAX {
            return entities;
        }
        // What would be left out of them could be acted on.
        vec![Entity {
            style: Style::Pre,
            offset: 0,
            length: most,
            user: None,
        }]
    }

    /// Returns it as runs of one style each, in order.
    pub(crate) fn runs(&self) -> Vec<(Option<Style>, &str)> {
        let mut runs = Vec::new();
        let (mut rest, mut at) = (self.text(), 0);
        for entity in &self.entities {
            let (before, behind) = split_units(rest, entity.offset.saturating_sub(at));
            let (inside, behind) = split_units(behind, entity.length);
            runs.push((None, before));
            runs.push((Some(entity.style), inside));
            rest = behind;
            at = entity.offset + entity.length;
        }
        runs.push((None, rest));
        runs.retain(|(_, text)| !text.is_empty());
        runs
    }

    /// Returns how long it is, in UTF-16 code units.
    pub(crate) const fn units(&self) -> usize {
        self.units
    }
}

/// Cuts a text behind its first `count` units.
fn split_units(text: &str, count: usize) -> (&str, &str) {
    let mut length = 0;
    for (at, letter) in text.char_indices() {
        if length >= count {
            return text.split_at(at);
        }
        length += letter.len_utf16();
    }
    (text, "")
}

/// Returns how long `text` is, in UTF-16 code units.
pub(crate) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns as much of `text` as fits into `most` units: whole lines if there are any.
fn head(text: &str, most: usize) -> &str {
    let (mut length, mut line_end) = (0, None);
    for (at, letter) in text.char_indices() {
        length += letter.len_utf16();
        if length > most {
            let end = line_end.unwrap_or(at);
            return text.get(..end).unwrap_or(text);
        }
        if letter == '\n' {
            line_end = Some(at + 1);
        }
    }
    text
}

fn leading_ticks(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// Returns where the run of exactly `run` backticks begins that ends a span.
fn closing(text: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        let behind = text.get(at..)?;
        at += behind.find('`')?;
        let found = leading_ticks(text.get(at..)?);
        if found == run {
            return Some(at);
        }
        at += found;
    }
}

/// Whether a client sees nothing but a word in `word`.
fn is_quiet(word: &str) -> bool {
    const PUNCTUATION: &str = ",;'\"-%·()!?—…*_+=|–«»“”‘’";
    let body = word.trim_end_matches(['.', ':', ',', ';', '!', '?', ')']);
    let mut letters = body.chars().peekable();
    let (mut last, mut digits) = (' ', 0);
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        let is_time = letter == ':' && last.is_ascii_digit() && next.is_ascii_digit();
        let fits = letter.is_alphanumeric()
            || PUNCTUATION.contains(letter)
            || is_time
            // Signs and arrows of our own texts, and emoji.
            || (!letter.is_ascii() && !letter.is_control());
        digits += usize::from(letter.is_ascii_digit());
        if !fits {
            return false;
        }
        last = letter;
    }
    // A long number can be called.
    digits <= 6 || body.contains(':')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entity(style: Style, offset: usize, length: usize) -> Entity {
        Entity {
            style,
            offset,
            length,
            user: None,
        }
    }

    #[test]
    fn what_a_client_would_act_on_is_code() {
        let rows = [
            ("words", "it deletes all of it.", vec![]),
            ("a time", "at 15:02:05 UTC", vec![]),
            (
                "a command",
                "tap /approve now",
                vec![entity(Style::Code, 4, 8)],
            ),
            ("a mention", "hi @ana", vec![entity(Style::Code, 3, 4)]),
            (
                "a link",
                "see evil.example",
                vec![entity(Style::Code, 4, 12)],
            ),
            (
                "an address",
                "https://e.example/x",
                vec![entity(Style::Code, 0, 19)],
            ),
            ("a hashtag", "#now", vec![entity(Style::Code, 0, 4)]),
            ("a cashtag", "$USD", vec![entity(Style::Code, 0, 4)]),
            (
                "a number",
                "+49 1701234567",
                vec![entity(Style::Code, 4, 10)],
            ),
            // An emoji is two units long.
            (
                "behind an emoji",
                "🙂 @ana",
                vec![entity(Style::Code, 3, 4)],
            ),
        ];
        for (name, text, expected) in rows {
            let mut rich = Rich::default();
            rich.words(text);
            assert_eq!(rich.text(), text, "{name}");
            assert_eq!(rich.entities(), expected, "{name}");
        }
    }

    #[test]
    fn more_entities_than_telegram_reads_become_one() {
        for (count, expected) in [(ENTITIES_MAX, ENTITIES_MAX), (ENTITIES_MAX + 1, 1)] {
            let mut rich = Rich::default();
            rich.words(&"/approve ".repeat(count));
            let entities = rich.entities();
            assert_eq!(entities.len(), expected);
            let last = entities.last().unwrap();
            assert_eq!(last.offset + last.length, units(rich.text()));
        }
    }

    #[test]
    fn code_between_backticks_becomes_an_entity() {
        let rows = [
            (
                "`/stop` stops it.",
                "/stop stops it.",
                vec![entity(Style::Code, 0, 5)],
            ),
            (
                "```sh\nls @a\n```\nok",
                "ls @a\nok",
                vec![entity(Style::Pre, 0, 5)],
            ),
            (
                "````\n```\nx\n````",
                "```\nx",
                vec![entity(Style::Pre, 0, 5)],
            ),
            (
                "a ``b ` c`` d",
                "a b ` c d",
                vec![entity(Style::Code, 2, 5)],
            ),
            ("```\nopen", "open", vec![entity(Style::Pre, 0, 4)]),
        ];
        for (text, shown, expected) in rows {
            let mut rich = Rich::default();
            rich.markdown(text);
            assert_eq!(rich.text(), shown, "{text}");
            assert_eq!(rich.entities(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn runs_are_all_of_it_in_order(text in "[`a🙂 @/.\\n]{0,60}") {
            let mut rich = Rich::default();
            rich.markdown(&text);
            let whole: String = rich.runs().into_iter().map(|(_, run)| run).collect();
            prop_assert_eq!(whole, rich.text());
        }

        #[test]
        fn entities_stay_inside_the_text(text in "[`a🙂 @/.\\n]{0,60}") {
            let mut rich = Rich::default();
            rich.markdown(&text);
            let most = units(rich.text());
            for entity in rich.entities() {
                prop_assert!(entity.length > 0 && entity.offset + entity.length <= most);
            }
        }

        #[test]
        fn parts_are_all_of_it_and_none_is_too_long(text in "[`a🙂\\n]{0,80}", most in 2_usize..20) {
            let mut rich = Rich::default();
            rich.markdown(&text);
            let parts = rich.split(most);
            let whole: String = parts.iter().map(|part| part.text.as_str()).collect();
            let bare = |text: &str| text.replace('\n', "");
            prop_assert_eq!(bare(&whole), bare(&rich.text));
            for part in parts {
                prop_assert!(part.units <= most && part.units == units(&part.text));
                let within = |it: &Entity| it.offset + it.length <= part.units;
                prop_assert!(part.entities.iter().all(within));
            }
        }
    }
}
