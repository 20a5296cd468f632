//! Splits normalised text into words and undoes contractions, slang, misspellings and disguises.
//!
//! A text yields one to three views, and every view goes through the same rules:
//! - the plain reading, always;
//! - with look-alike letters and digits read as letters ("k1ll", Cyrillic "а"), when words of the
//!   rules appear that way;
//! - with spelt-out letters joined ("k.i.l.l"), when there are such runs.
//!
//! In a view, words are separated by one blank (`\n` where the text broke the line), sentence
//! marks have become `.`, commas stay, other symbols are gone.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::folding::View;
use crate::content::tables::LOW_LETTERS;
use crate::knowledge;

/// The readings of a folded text that the rules are tried on, each made when it is asked for.
pub(super) fn views(folded: &View) -> impl Iterator<Item = View> {
    const MAKERS: [fn(&View) -> Option<View>; 3] = [
        |folded| Some(read_words(folded)),
        |folded| undisguise(folded).map(|undisguised| read_words(&undisguised)),
        |folded| join_spelt_out(folded).map(|joined| read_words(&joined)),
    ];
    MAKERS.into_iter().filter_map(|make| make(folded))
}

/// What the words of the rules are, and what people write instead.
struct Vocabulary {
    /// A short form or frequent misspelling, and what it stands for.
    meanings: HashMap<&'static str, &'static str>,
    /// For each first letter the lengths of its short forms, one bit each.
    meaning_lengths: [u32; 128],
    /// Words that are recognised with one letter wrong.
    near_words: Vec<&'static str>,
    /// Real words that are one letter away from a near word.
    not_near: HashSet<&'static str>,
    /// Words recognised in disguise, by themselves.
    words: HashSet<&'static str>,
    /// The same, by their shape when letters that look alike count as one.
    by_shape: HashMap<String, &'static str>,
    /// For each first letter of a shape the lengths of such shapes, one bit each.
    shape_lengths: [u64; 128],
    /// The same, by their letters without repeats.
    by_squeezed: HashMap<String, &'static str>,
    /// Length in bytes of the longest of `words`.
    longest_word: usize,
}

impl Vocabulary {
    /// Returns the word that has the shape of `word`.
    fn of_shape(&self, word: &str) -> Option<&'static str> {
        let first = word.chars().next().map(shape_of)?;
        let lengths = self.shape_lengths.get(first as usize)?;
        let possible = lengths >> word.len().min(63) & 1 == 1;
        if possible {
            self.by_shape.get(&shape(word)).copied()
        } else {
            None
        }
    }

    fn meaning(&self, word: &str) -> Option<&'static str> {
        // Most words can be told from all short forms by their first letter and length.
        let lengths = self
            .meaning_lengths
            .get(usize::from(*word.as_bytes().first()?))?;
        let possible = lengths
            .checked_shr(u32::try_from(word.len()).ok()?)
            .unwrap_or(0)
            & 1
            == 1;
        if possible {
            self.meanings.get(word).copied()
        } else {
            None
        }
    }
}

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    let mut vocabulary = Vocabulary {
        meanings: HashMap::new(),
        meaning_lengths: [0; 128],
        near_words: Vec::new(),
        not_near: HashSet::new(),
        words: HashSet::new(),
        by_shape: HashMap::new(),
        shape_lengths: [0; 128],
        by_squeezed: HashMap::new(),
        longest_word: 0,
    };
    for line in include_str!("../../../knowledge/crisis_words.tsv").lines() {
        let mut columns = line.split('\t');
        let (Some(kind), Some(words), meaning) = (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        for word in words.split(' ') {
            match (kind, meaning) {
                ("means", Some(meaning)) => {
                    vocabulary.meanings.insert(word, meaning);
                    let first = word.as_bytes().first().copied().unwrap_or(0);
                    if let Some(lengths) = vocabulary.meaning_lengths.get_mut(usize::from(first)) {
                        *lengths |= 1 << word.len().min(31);
                    }
                }
                ("near", None) => vocabulary.near_words.push(word),
                ("not-near", None) => {
                    vocabulary.not_near.insert(word);
                }
                ("word", None) => {
                    vocabulary.words.insert(word);
                    vocabulary.longest_word = vocabulary.longest_word.max(word.len());
                    let seen = shape(word);
                    let first = seen.as_bytes().first().copied().unwrap_or(0);
                    if let Some(lengths) = vocabulary.shape_lengths.get_mut(usize::from(first)) {
                        *lengths |= 1 << seen.len().min(63);
                    }
                    vocabulary.by_shape.entry(seen).or_insert(word);
                    vocabulary.by_squeezed.entry(squeezed(word)).or_insert(word);
                }
                _ => {}
            }
        }
    }
    vocabulary
});

/// Reads the words of a folded text into the form the rules are written for.
fn read_words(folded: &View) -> View {
    let mut view = View::with_capacity(
        folded.text.len() + folded.text.len() / 8,
        folded.is_traced(),
    );
    let mut chars = folded.text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let origin = folded.origin_at(at);
        if is_word_char(c) {
            let mut end = at + c.len_utf8();
            let mut censored = false;
            while let Some(&(next_at, next)) = chars.peek() {
                // Apostrophes and asterisks belong to a word when a letter follows.
                let inner = matches!(next, '\'' | '*' | '~' | '`');
                if !(is_word_char(next) || inner && letter_follows(folded, next_at)) {
                    break;
                }
                censored |= inner && next != '\'';
                end = next_at + next.len_utf8();
                chars.next();
            }
            let word = folded.text.get(at..end).unwrap_or_default();
            if view.ends_in(b".,") {
                view.push(' ', origin);
            }
            if censored {
                push_censored(&mut view, word, origin);
            } else if word.is_ascii() {
                push_word(&mut view, word, origin);
            } else {
                push_foreign(&mut view, folded, at, end);
            }
            continue;
        }
        match c {
            '\n' | '\r' => push_gap(&mut view, '\n', origin),
            '.' | '!' | '?' | '。' | '؟' | '।' | '॥' => push_mark(&mut view, '.', origin),
            ',' | ';' | ':' | '،' | '؛' | '、' => push_mark(&mut view, ',', origin),
            '"' if touches_structure(folded, at) => push_mark(&mut view, '.', origin),
            _ => push_gap(&mut view, ' ', origin),
        }
    }
    while view.ends_in(b" \n") {
        view.pop();
    }
    view
}

fn is_word_char(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    // Devanagari vowel signs and the virama are no letters to Unicode, yet parts of words.
    is_letter(c) || matches!(c, '\u{900}'..='\u{963}')
}

/// Whether it is a letter or a digit; of most without a search.
fn is_letter(c: char) -> bool {
    let code = c as usize;
    match LOW_LETTERS.get(code / 64) {
        Some(letters) => letters >> (code % 64) & 1 == 1,
        None => {
            matches!(c,
                '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}'
                | '\u{ac00}'..='\u{d7a3}')
                || c.is_alphanumeric()
        }
    }
}

fn letter_follows(folded: &View, at: usize) -> bool {
    /// Longer rows of marks part words.
    const MARKS_MAX: usize = 4;
    let rest = folded.text.get(at + 1..).unwrap_or_default().chars();
    rest.take(MARKS_MAX)
        .find(|c| !matches!(c, '*' | '~' | '`'))
        .is_some_and(is_word_char)
}

/// Whether the quotation mark is one of a JSON document, and so ends a sentence.
fn touches_structure(folded: &View, at: usize) -> bool {
    let bytes = folded.text.as_bytes();
    let before = bytes
        .get(..at)
        .unwrap_or_default()
        .iter()
        .rev()
        .find(|&&b| b != b' ');
    let after = bytes
        .get(at + 1..)
        .unwrap_or_default()
        .iter()
        .find(|&&b| b != b' ');
    before.is_none_or(|b| b"{[:,".contains(b)) || after.is_none_or(|b| b"}],:".contains(b))
}

fn push_gap(view: &mut View, gap: char, origin: u32) {
    if view.ends_in(b" ") && gap == '\n' {
        view.pop();
    }
    if !(view.text.is_empty() || view.ends_in(b" \n")) {
        view.push(gap, origin);
    }
}

/// Marks stick to the word before them, and one of a kind is enough.
fn push_mark(view: &mut View, mark: char, origin: u32) {
    while view.ends_in(b" ") || mark == '.' && view.ends_in(b",") {
        view.pop();
    }
    if !(view.text.is_empty() || view.ends_in(b".\n") || view.text.ends_with(mark)) {
        view.push(mark, origin);
    }
}

/// Pushes words of other scripts unchanged; blanks between Chinese or Japanese letters go.
fn push_foreign(view: &mut View, folded: &View, start: usize, end: usize) {
    let word = folded.text.get(start..end).unwrap_or_default();
    for (offset, c) in word.char_indices() {
        if is_unspaced_script(c) && view.ends_in(b" ") {
            let before = view.text.chars().rev().nth(1);
            if before.is_some_and(is_unspaced_script) {
                view.pop();
            }
        }
        let c = if c == '\'' { ' ' } else { c };
        view.push(c, folded.origin_at(start + offset));
    }
}

fn is_unspaced_script(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// "s*icide": each mark stands for one letter, or for none ("k**ill**").
fn push_censored(view: &mut View, word: &str, origin: u32) {
    const MARKS: [char; 3] = ['*', '~', '`'];
    let guess = VOCABULARY.words.iter().filter(|known| {
        known.len() == word.len()
            && known
                .chars()
                .zip(word.chars())
                .all(|(k, w)| k == w || MARKS.contains(&w))
    });
    if let Some(known) = guess.min() {
        view.push_str(known, origin);
        return;
    }
    let bare: String = word.chars().filter(|c| !MARKS.contains(c)).collect();
    push_word(view, &bare, origin);
}

/// Pushes one word, with contractions opened and misspellings repaired.
fn push_word(view: &mut View, word: &str, origin: u32) {
    if let Some(meaning) = VOCABULARY.meaning(word) {
        view.push_str(meaning, origin);
        return;
    }
    if let Some((stem, ending)) = word.rsplit_once('\'') {
        let opened = match ending {
            "t" => stem.strip_suffix('n').map(|stem| (stem, " not")),
            "m" => Some((stem, " am")),
            "ve" => Some((stem, " have")),
            "ll" => Some((stem, " will")),
            "re" => Some((stem, " are")),
            "d" => Some((stem, " would")),
            "s" => Some((stem, " is")),
            _ => None,
        };
        if let Some((stem, ending)) = opened {
            push_word(view, stem, origin);
            view.push_str(ending, origin);
        } else {
            view.push_str(&word.replace('\'', " "), origin);
        }
        return;
    }
    if let Some(repaired) = repair(word) {
        view.push_str(&repaired, origin);
        return;
    }
    view.push_plain(word, origin as usize);
}

/// The word somebody meant, when it is not the one written.
fn repair(word: &str) -> Option<String> {
    /// Longer ones are identifiers or noise.
    const WORD_BYTES_MAX: usize = 40;
    if word.len() < 4 || word.len() > WORD_BYTES_MAX {
        return None;
    }
    if has_long_repeat(word) {
        let short = squeezed(word);
        let known = VOCABULARY.by_squeezed.get(&short).map(ToString::to_string);
        let meant = VOCABULARY
            .meanings
            .get(short.as_str())
            .map(ToString::to_string);
        return known
            .or(meant)
            .or_else(|| near_word(&short))
            .or(Some(short));
    }
    if let Some(near) = near_word(word) {
        return Some(near);
    }
    let fused = [
        "die", "kill", "suicid", "self", "life", "dead", "death", "alive",
    ];
    let is_fused = word.len() >= 7 && fused.iter().any(|part| word.contains(part));
    if is_fused && !VOCABULARY.words.contains(word) {
        split_fused(word)
    } else {
        None
    }
}

fn near_word(word: &str) -> Option<String> {
    if word.len() < 5 || VOCABULARY.near_words.contains(&word) {
        return None;
    }
    let near = VOCABULARY.near_words.iter().find(|known| {
        known.as_bytes().first() == word.as_bytes().first() && one_slip_apart(known, word)
    });
    near.filter(|_| !VOCABULARY.not_near.contains(word))
        .map(ToString::to_string)
}

/// Whether one letter more, less or different, or two neighbours swapped, makes them equal.
fn one_slip_apart(known: &str, word: &str) -> bool {
    let (known, word) = (known.as_bytes(), word.as_bytes());
    if known.len().abs_diff(word.len()) > 1 || known == word {
        return false;
    }
    let same_head = known.iter().zip(word).take_while(|(k, w)| k == w).count();
    let (known, word) = (
        known.get(same_head..).unwrap_or_default(),
        word.get(same_head..).unwrap_or_default(),
    );
    match (known, word) {
        ([], [_]) | ([_], []) => true,
        ([k1, k2, k_rest @ ..], [w1, w2, w_rest @ ..])
            if k1 == w2 && k2 == w1 && k_rest == w_rest =>
        {
            true
        }
        ([_, k_rest @ ..], [_, w_rest @ ..]) => {
            k_rest == w_rest || k_rest == word || known == w_rest
        }
        ([], _) | (_, []) => false,
    }
}

/// "iwanttodie" in words, if it consists of known ones only.
fn split_fused(word: &str) -> Option<String> {
    let mut words = Vec::new();
    let mut rest = word;
    while !rest.is_empty() {
        let longest = VOCABULARY.longest_word.min(rest.len());
        let known = (1..=longest)
            .rev()
            .filter_map(|length| rest.get(..length))
            .find(|head| VOCABULARY.words.contains(head))?;
        words.push(known);
        rest = rest.get(known.len()..)?;
    }
    (words.len() > 1).then(|| words.join(" "))
}

fn has_long_repeat(word: &str) -> bool {
    word.as_bytes()
        .windows(3)
        .any(|three| matches!(three, [a, b, c] if a == b && b == c))
}

/// The letters without repeats: "kiiill" and "kill" are both "kil".
fn squeezed(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    letters.dedup();
    letters.into_iter().collect()
}

/// The word as seen from afar: i, l, 1, ! and | are one stroke, digits are letters.
fn shape(word: &str) -> String {
    word.chars().map(shape_of).collect()
}

fn shape_of(c: char) -> char {
    if c == 'l' {
        'i'
    } else {
        disguised_letter(c).unwrap_or(c)
    }
}

/// The letter a digit or symbol stands for in "k1ll my$3lf".
fn disguised_letter(c: char) -> Option<char> {
    Some(match c {
        '0' => 'o',
        '1' | '!' | '|' | '¡' => 'i',
        '3' | '€' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' | '+' => 't',
        '8' => 'b',
        '6' | '9' => 'g',
        _ => return None,
    })
}

/// The small Latin letter that a letter of another script looks like.
fn look_alike(c: char) -> Option<char> {
    let known = knowledge::look_alike(c).filter(|known| known.sign.is_ascii_alphabetic());
    let known = known.filter(|known| known.deceives || known.resembles);
    known.map(|known| known.sign.to_ascii_lowercase())
}

/// Reads disguised words; `None` when no word of the rules appears in disguise.
fn undisguise(folded: &View) -> Option<View> {
    let text = &folded.text;
    let suspicious = |c: char| disguised_letter(c).is_some() || look_alike(c).is_some();
    let mut before = ' ';
    let mixed = text.chars().any(|c| {
        let pair = (std::mem::replace(&mut before, c), c);
        pair.0.is_ascii_alphabetic() && suspicious(c)
            || suspicious(pair.0) && c.is_ascii_alphabetic()
    });
    if !mixed {
        return None;
    }
    let mut view = View::with_capacity(text.len(), folded.is_traced());
    let mut found = false;
    let mut at = 0;
    for piece in text.split_inclusive(|c: char| !(is_word_char(c) || c == '\'' || suspicious(c))) {
        let word =
            piece.trim_end_matches(|c: char| !(is_word_char(c) || c == '\'' || suspicious(c)));
        let origin = folded.origin_at(at);
        match read_disguised(word) {
            Some(read) => {
                found |= read.len() > 1;
                view.push_str(&read, origin);
            }
            None => view.push_str(word, origin),
        }
        view.push_str(piece.get(word.len()..).unwrap_or_default(), origin);
        at += piece.len();
    }
    found.then_some(view)
}

fn read_disguised(word: &str) -> Option<String> {
    const WORD_BYTES_MAX: usize = 40;
    if word.is_empty() || word.len() > WORD_BYTES_MAX {
        return None;
    }
    if word.len() <= 2 && matches!(word, "1" | "!" | "|" | "і") {
        return Some("i".to_owned());
    }
    let core = word.trim_end_matches(['!', '|', '+']);
    let latin = if core.is_ascii() {
        Cow::Borrowed(core)
    } else {
        let letters = core.chars().map(|c| look_alike(c).unwrap_or(c));
        Cow::Owned(letters.collect::<String>())
    };
    // A letter that looks like a Latin one is both a disguise and a letter.
    let alike = latin != core;
    let disguised = alike || core.chars().any(|c| disguised_letter(c).is_some());
    let has_letter = alike || core.bytes().any(|b| b.is_ascii_alphabetic());
    if !(disguised && has_letter && latin.is_ascii()) {
        return None;
    }
    match VOCABULARY.of_shape(&latin) {
        Some(known) => Some(known.to_owned()),
        // The shape has lost the difference of i and l; an unknown word keeps its letters.
        None if alike => Some(latin.into_owned()),
        None => Some(
            latin
                .chars()
                .map(|c| disguised_letter(c).unwrap_or(c))
                .collect(),
        ),
    }
}

/// Joins runs of single letters; `None` when there are none.
fn join_spelt_out(folded: &View) -> Option<View> {
    /// Fewer single letters in a row are initials or list marks, unless they spell a word.
    const RUN_LETTERS_MIN: usize = 4;
    const WORD_LETTERS_MIN: usize = 3;
    let letters = single_letters(&folded.text);
    let mut view = View::with_capacity(0, folded.is_traced());
    let mut copied = 0;
    let mut found = false;
    for run in letters.chunk_by(|left, right| left.end_of_gap == right.at) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            continue;
        };
        let spelt = || {
            run.iter()
                .filter_map(|one| folded.text.get(one.at..one.end))
                .collect()
        };
        let is_word = |spelt: String| VOCABULARY.words.contains(spelt.as_str());
        if run.len() < WORD_LETTERS_MIN || run.len() < RUN_LETTERS_MIN && !is_word(spelt()) {
            continue;
        }
        found = true;
        copy(folded, copied, first.at, &mut view);
        push_joined(&mut view, folded, run);
        copied = last.end;
    }
    if !found {
        return None;
    }
    copy(folded, copied, folded.text.len(), &mut view);
    Some(view)
}

/// A letter that stands alone, and the gap after it.
struct SingleLetter {
    at: usize,
    end: usize,
    end_of_gap: usize,
}

fn single_letters(text: &str) -> Vec<SingleLetter> {
    let is_separator = |c: char| {
        c.is_whitespace() || matches!(c, '.' | '-' | '_' | '*' | '·' | '•' | '/' | '|' | ',' | '~')
    };
    let mut letters = Vec::new();
    let mut after_separator = true;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if is_separator(c) {
            after_separator = true;
            continue;
        }
        let stands_alone = after_separator
            && (is_letter(c) || matches!(c, '\'' | '!' | '@' | '$'))
            && chars.peek().is_none_or(|&(_, next)| is_separator(next));
        after_separator = false;
        if !stands_alone {
            continue;
        }
        let mut end_of_gap = at + c.len_utf8();
        while let Some(&(gap_at, gap)) = chars.peek() {
            if !is_separator(gap) {
                break;
            }
            end_of_gap = gap_at + gap.len_utf8();
            after_separator = true;
            chars.next();
        }
        letters.push(SingleLetter {
            at,
            end: at + c.len_utf8(),
            end_of_gap,
        });
    }
    letters
}

/// Pushes a run as words: the most frequent gap joins letters, every other gap parts words.
fn push_joined(view: &mut View, folded: &View, run: &[SingleLetter]) {
    let gap = |letter: &SingleLetter| folded.text.get(letter.end..letter.end_of_gap).unwrap_or("");
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for letter in run.iter().rev().skip(1) {
        *counts.entry(gap(letter)).or_default() += 1;
    }
    let joiner = counts
        .iter()
        .max_by_key(|&(gap, count)| (count, gap))
        .map(|(gap, _)| *gap);
    let mut word = String::new();
    let mut origin = None;
    for (number, letter) in run.iter().enumerate() {
        origin = origin.or(Some(folded.origin_at(letter.at)));
        word.push_str(folded.text.get(letter.at..letter.end).unwrap_or_default());
        if Some(gap(letter)) != joiner && number + 1 < run.len() {
            push_joined_word(view, &word, origin.unwrap_or(0));
            view.push_str(gap(letter), origin.unwrap_or(0));
            word.clear();
            origin = None;
        }
    }
    push_joined_word(view, &word, origin.unwrap_or(0));
}

fn push_joined_word(view: &mut View, word: &str, origin: u32) {
    /// A longer run is no phrase.
    const PHRASE_BYTES_MAX: usize = 200;
    let read = read_disguised(word).unwrap_or_else(|| word.to_owned());
    if VOCABULARY.words.contains(read.as_str()) || read.len() > PHRASE_BYTES_MAX {
        view.push_str(&read, origin);
        return;
    }
    view.push_str(&split_fused(&read).unwrap_or(read), origin);
}

fn copy(from: &View, start: usize, end: usize, to: &mut View) {
    let part = from.text.get(start..end).unwrap_or_default();
    if !from.is_traced() {
        to.push_str(part, 0);
        return;
    }
    for (offset, c) in part.char_indices() {
        to.push(c, from.origin_at(start + offset));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_unicode() {
        for c in '\0'..=char::MAX {
            assert_eq!(is_letter(c), c.is_alphanumeric(), "{c:?}");
        }
    }
}
