//! Brace expansion: `{a,b}` and `{1..3}`.
//!
//! The braces of a word are read once, into a tree; how much the tree would expand to is counted
//! while it is read. So what is too much is refused before any of it is made.

use std::borrow::Cow;

use crate::shell::syntax::Part;

/// Most words one word may expand to; more is not followed.
const BRACE_WORDS_MAX: usize = 128;

/// How many braces inside braces are read.
const DEPTH_MAX: usize = 24;

/// What each piece of a word is taken to cost beside its bytes.
const PIECE_BYTES: usize = 16;

/// A piece of a word that braces have made.
#[derive(Clone, Debug)]
pub(super) enum Piece<'w> {
    /// Plain text.
    Text(Cow<'w, str>),
    /// Something in which no brace counts.
    Part(&'w Part),
}

/// What the braces of a word make of it.
#[derive(Debug)]
pub(super) enum Braces<'w> {
    /// There is nothing to expand.
    None,
    /// They make these words, which count as so many bytes.
    Words {
        words: Vec<Vec<Piece<'w>>>,
        bytes: usize,
    },
    /// They cannot be followed, and why.
    TooMuch(&'static str),
}

/// Returns what the braces in `parts` make of them, unless that takes more than `bytes_max` bytes.
pub(super) fn expand(parts: &[Part], bytes_max: usize) -> Braces<'_> {
    let mut tree = Tree::default();
    for part in parts {
        let Part::Plain(text) = part else {
            tree.push(Node::Piece(Piece::Part(part)));
            continue;
        };
        let mut from = 0;
        for (at, byte) in text.bytes().enumerate() {
            if !matches!(byte, b'{' | b'}' | b',') {
                continue;
            }
            let (before, sign) = (text.get(from..at), text.get(at..=at));
            tree.text(before.unwrap_or_default());
            from = at + 1;
            let sign = sign.unwrap_or_default();
            match byte {
                b'{' if tree.open.len() >= DEPTH_MAX => {
                    return Braces::TooMuch("a word has too many braces to be expanded");
                }
                b'{' => tree.open.push(Open::new(sign)),
                b'}' => tree.close(sign),
                _ => tree.comma(sign),
            }
        }
        tree.text(text.get(from..).unwrap_or_default());
    }
    while let Some(open) = tree.open.pop() {
        tree.append(open.into_written());
    }
    let whole = tree.whole;
    if whole.count <= 1 && !tree.any {
        Braces::None
    } else if whole.count > BRACE_WORDS_MAX || whole.bytes > bytes_max {
        Braces::TooMuch("braces expand to too many words")
    } else {
        Braces::Words {
            words: whole.words(),
            bytes: whole.bytes,
        }
    }
}

/// The tree while it is read.
#[derive(Default)]
struct Tree<'w> {
    whole: Sequence<'w>,
    open: Vec<Open<'w>>,
    /// Whether a brace expression was found.
    any: bool,
}

impl<'w> Tree<'w> {
    fn current(&mut self) -> &mut Sequence<'w> {
        match self.open.last_mut() {
            Some(open) => &mut open.last,
            None => &mut self.whole,
        }
    }

    fn push(&mut self, node: Node<'w>) {
        self.current().push(node);
    }

    fn append(&mut self, nodes: Vec<Node<'w>>) {
        let current = self.current();
        for node in nodes {
            current.push(node);
        }
    }

    fn text(&mut self, text: &'w str) {
        if !text.is_empty() {
            self.push(Node::Piece(Piece::Text(Cow::Borrowed(text))));
        }
    }

    fn comma(&mut self, sign: &'w str) {
        match self.open.last_mut() {
            Some(open) => {
                let ended = std::mem::take(&mut open.last);
                open.before.push((ended, sign));
            }
            None => self.text(sign),
        }
    }

    fn close(&mut self, sign: &'w str) {
        let Some(open) = self.open.pop() else {
            return self.text(sign);
        };
        if !open.before.is_empty() {
            let before = open.before.into_iter().map(|(sequence, _)| sequence);
            self.any = true;
            self.push(Node::Choice(before.chain([open.last]).collect()));
        } else if let Some(range) = open.range() {
            self.any = true;
            self.push(Node::Range(range));
        } else {
            // `{a}`: nothing to choose from, so the braces are letters.
            self.append(open.into_written());
            self.text(sign);
        }
    }
}

/// A brace that has been opened and not closed.
struct Open<'w> {
    brace: &'w str,
    /// The alternatives before the last one, each with the comma behind it.
    before: Vec<(Sequence<'w>, &'w str)>,
    last: Sequence<'w>,
}

impl<'w> Open<'w> {
    fn new(brace: &'w str) -> Self {
        Self {
            brace,
            before: Vec::new(),
            last: Sequence::default(),
        }
    }

    /// Returns it as the letters it was written with.
    fn into_written(self) -> Vec<Node<'w>> {
        let mut nodes = vec![Node::Piece(Piece::Text(Cow::Borrowed(self.brace)))];
        for (sequence, comma) in self.before {
            nodes.extend(sequence.nodes);
            nodes.push(Node::Piece(Piece::Text(Cow::Borrowed(comma))));
        }
        nodes.extend(self.last.nodes);
        nodes
    }

    /// Returns the range that stands in it, if nothing else does.
    fn range(&self) -> Option<Range> {
        match self.last.nodes.as_slice() {
            [Node::Piece(Piece::Text(text))] => Range::read(text),
            _ => None,
        }
    }
}

#[derive(Debug)]
enum Node<'w> {
    Piece(Piece<'w>),
    Choice(Vec<Sequence<'w>>),
    Range(Range),
}

/// Nodes one behind the other, with how many words they make and how many bytes those take.
#[derive(Debug)]
struct Sequence<'w> {
    nodes: Vec<Node<'w>>,
    count: usize,
    bytes: usize,
}

impl Default for Sequence<'_> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            count: 1,
            bytes: 0,
        }
    }
}

impl<'w> Sequence<'w> {
    fn push(&mut self, node: Node<'w>) {
        let (count, bytes) = match &node {
            Node::Piece(piece) => (1, PIECE_BYTES.saturating_add(piece.len())),
            Node::Range(range) => {
                let count = range.count();
                (count, count.saturating_mul(2 * PIECE_BYTES))
            }
            Node::Choice(alternatives) => {
                alternatives
                    .iter()
                    .fold((0, 0), |sum: (usize, usize), next| {
                        (
                            sum.0.saturating_add(next.count),
                            sum.1.saturating_add(next.bytes),
                        )
                    })
            }
        };
        // Every word so far stands before every word of the node.
        self.bytes = self
            .bytes
            .saturating_mul(count)
            .saturating_add(bytes.saturating_mul(self.count));
        self.count = self.count.saturating_mul(count);
        self.nodes.push(node);
    }

    fn words(&self) -> Vec<Vec<Piece<'w>>> {
        let mut words = vec![Vec::new()];
        for node in &self.nodes {
            let ends: Vec<Vec<Piece<'w>>> = match node {
                Node::Piece(piece) => {
                    for word in &mut words {
                        add(word, piece);
                    }
                    continue;
                }
                Node::Range(range) => range.words().map(|word| vec![word]).collect(),
                Node::Choice(alternatives) => {
                    alternatives.iter().flat_map(Sequence::words).collect()
                }
            };
            let joined = |word: &Vec<Piece<'w>>, end: &Vec<Piece<'w>>| {
                let mut whole = word.clone();
                for piece in end {
                    add(&mut whole, piece);
                }
                whole
            };
            let all = words
                .iter()
                .flat_map(|word| ends.iter().map(|end| joined(word, end)));
            words = all.collect();
        }
        words
    }
}

/// Adds a piece to a word; texts that stand together become one.
fn add<'w>(word: &mut Vec<Piece<'w>>, piece: &Piece<'w>) {
    match (word.last_mut(), piece) {
        (Some(Piece::Text(before)), Piece::Text(text)) => before.to_mut().push_str(text),
        (_, piece) => word.push(piece.clone()),
    }
}

impl Piece<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Part(Part::Plain(text) | Part::Quoted(text)) => text.len(),
            Self::Part(_) => 0,
        }
    }
}

/// What `{1..5}` and `{a..e}` count through.
#[derive(Clone, Copy, Debug)]
struct Range {
    from: i64,
    to: i64,
    /// Whether the numbers stand for letters.
    letters: bool,
}

impl Range {
    /// Reads `1..5` or `a..e`. A step is left out: more words are judged, not fewer.
    fn read(text: &str) -> Option<Self> {
        let mut ends = text.split("..");
        let (from, to) = (ends.next()?, ends.next()?);
        if let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) {
            let letters = false;
            return Some(Self { from, to, letters });
        }
        let one = |text: &str| match text.as_bytes() {
            [letter] if letter.is_ascii_alphabetic() => Some(i64::from(*letter)),
            _ => None,
        };
        Some(Self {
            from: one(from)?,
            to: one(to)?,
            letters: true,
        })
    }

    /// Returns how many words it stands for.
    fn count(self) -> usize {
        usize::try_from(self.from.abs_diff(self.to))
            .map_or(usize::MAX, |more| more.saturating_add(1))
    }

    fn words<'w>(self) -> impl Iterator<Item = Piece<'w>> {
        let step = if self.to < self.from { -1 } else { 1 };
        let numbers = std::iter::successors(Some(self.from), move |number| {
            (*number != self.to).then(|| number + step)
        });
        numbers.map(move |number| {
            let letter = u8::try_from(number).ok().filter(|_| self.letters);
            let text =
                letter.map_or_else(|| number.to_string(), |letter| char::from(letter).into());
            Piece::Text(Cow::Owned(text))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{BRACE_WORDS_MAX, Braces, Piece, expand};
    use crate::shell::syntax::Part;

    fn words(text: &str) -> Vec<String> {
        let parts = [Part::Plain(text.to_owned())];
        let words = match expand(&parts, 64 * 1024) {
            Braces::Words { words, .. } => words,
            Braces::None => return vec![text.to_owned()],
            Braces::TooMuch(why) => return vec![why.to_owned()],
        };
        let letters = |word: Vec<Piece<'_>>| {
            let each = word.into_iter().map(|piece| match piece {
                Piece::Text(text) => text.into_owned(),
                Piece::Part(_) => "?".to_owned(),
            });
            each.collect::<String>()
        };
        words.into_iter().map(letters).collect()
    }

    #[test]
    fn braces_make_the_words_that_bash_makes() {
        // Each row was printed by bash 5.2.
        for (word, made) in [
            ("a", "a"),
            ("{a,b}", "a b"),
            ("x{a,b}y", "xay xby"),
            ("{a,b}{1,2}", "a1 a2 b1 b2"),
            ("{a,{b,c}d}e", "ae bde cde"),
            ("{a,b", "{a,b"),
            ("a,b}", "a,b}"),
            ("{a}", "{a}"),
            ("{a}{b,c}", "{a}b {a}c"),
            ("{{a,b}}", "{a} {b}"),
            ("{x{a,b}", "{xa {xb"),
            ("{a,{b,c}", "{a,b {a,c"),
            ("{a,b}}", "a} b}"),
            ("{1..4}", "1 2 3 4"),
            ("{3..1}x", "3x 2x 1x"),
            ("{-1..1}", "-1 0 1"),
            ("{a..d}", "a b c d"),
            ("{c..a}", "c b a"),
            ("{1..2}{a,b}", "1a 1b 2a 2b"),
            ("{1..2,9}", "1..2 9"),
            ("{1..a}", "{1..a}"),
        ] {
            assert_eq!(words(word).join(" "), made, "{word}");
        }
    }

    #[test]
    fn what_is_too_much_is_refused_before_it_is_made() {
        for word in [
            "{1..9223372036854775807}".to_owned(),
            format!("{{0..{BRACE_WORDS_MAX}}}"),
            "{a,b}".repeat(64),
            format!("{{{}}}", "{1..99},".repeat(64)),
            format!("{{a,b}}{}", "x".repeat(64 * 1024)),
            "{".repeat(64 * 1024),
        ] {
            let [why] = words(&word).try_into().unwrap_or_default();
            assert!(why.contains("too many"), "{why}");
        }
    }
}
