//! Word stems that a pattern requires: a cheap filter before the expensive match.
//!
//! Read off the pattern itself, so that no list beside it can grow stale. Understood is the part
//! of the regular-expression language the tables use; whatever else occurs counts as "could be
//! anything", which costs time but never a match.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::iter::Peekable;
use std::str::Chars;
use std::sync::LazyLock;

/// Words such that every match of the pattern contains at least one of them; `None` if the
/// pattern demands none.
pub(super) fn stems(pattern: &str, names: &Names) -> Option<BTreeSet<String>> {
    let words = demand(pattern, names).into_words()?.words;
    Some(words.iter().map(|word| beginning(word)).collect())
}

/// What the named parts of patterns demand.
pub(super) type Names = HashMap<&'static str, Demand>;

/// What a pattern demands, for the use of its name in other patterns.
pub(super) fn demand(pattern: &str, names: &Names) -> Demand {
    Parser {
        rest: pattern.chars().peekable(),
        names,
    }
    .alternatives()
}

/// Long words are cut: it saves memory, and whoever writes the beginning is worth a look.
fn beginning(word: &str) -> String {
    const STEM_BYTES_MAX: usize = 9;
    word.get(..word.floor_char_boundary(STEM_BYTES_MAX))
        .unwrap_or(word)
        .to_owned()
}

/// More spellings than this of one place in a pattern are not written out.
const SPELLINGS_MAX: usize = 24;

/// What a part of a pattern demands.
#[derive(Clone)]
pub(super) enum Demand {
    /// It matches exactly these texts.
    Exactly(Vec<String>),
    /// It contains at least one of these words.
    OneOf(Words),
    /// It can match without any particular word.
    Nothing,
}

/// Words, and how often texts contain one of them, roughly.
#[derive(Clone)]
pub(super) struct Words {
    words: Vec<String>,
    frequency: u32,
}

impl Words {
    fn new(words: Vec<String>) -> Option<Self> {
        let frequency = words
            .iter()
            .map(|word| frequency(word))
            .fold(0, u32::saturating_add);
        words
            .iter()
            .all(|word| !word.is_empty())
            .then_some(Self { words, frequency })
    }
}

impl Demand {
    fn into_words(self) -> Option<Words> {
        match self {
            Self::Exactly(texts) => Words::new(texts),
            Self::OneOf(words) => Some(words),
            Self::Nothing => None,
        }
    }

    fn text(text: &str) -> Self {
        Self::Exactly(vec![text.to_owned()])
    }
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
    names: &'a Names,
}

impl Parser<'_> {
    fn alternatives(&mut self) -> Demand {
        let mut branches = vec![self.sequence()];
        while self.rest.next_if_eq(&'|').is_some() {
            branches.push(self.sequence());
        }
        let mut texts = Vec::new();
        for branch in &branches {
            match branch {
                Demand::Exactly(of_branch) => texts.extend_from_slice(of_branch),
                Demand::OneOf(_) | Demand::Nothing => texts.clear(),
            }
        }
        let exact = branches
            .iter()
            .all(|branch| matches!(branch, Demand::Exactly(_)));
        if exact && texts.len() <= SPELLINGS_MAX {
            return Demand::Exactly(texts);
        }
        let mut all = Words {
            words: Vec::new(),
            frequency: 0,
        };
        for branch in branches {
            let Some(words) = branch.into_words() else {
                return Demand::Nothing;
            };
            all.words.extend(words.words);
            all.frequency = all.frequency.saturating_add(words.frequency);
        }
        Demand::OneOf(all)
    }

    fn sequence(&mut self) -> Demand {
        let mut run = vec![String::new()];
        let mut unbroken = true;
        let mut best: Option<Words> = None;
        while let Some(&c) = self.rest.peek() {
            if c == '|' || c == ')' {
                break;
            }
            match self.repeated() {
                Demand::Exactly(texts) if run.len() * texts.len() <= SPELLINGS_MAX => {
                    run = run
                        .iter()
                        .flat_map(|head| texts.iter().map(move |tail| format!("{head}{tail}")))
                        .collect();
                }
                other @ (Demand::Exactly(_) | Demand::OneOf(_) | Demand::Nothing) => {
                    unbroken = false;
                    let ended = std::mem::replace(&mut run, vec![String::new()]);
                    best = rarer(rarer(best, Words::new(ended)), other.into_words());
                }
            }
        }
        if unbroken {
            return Demand::Exactly(run);
        }
        rarer(best, Words::new(run)).map_or(Demand::Nothing, Demand::OneOf)
    }

    fn repeated(&mut self) -> Demand {
        let mut demand = self.atom();
        loop {
            let may_be_absent = match self.rest.peek() {
                Some('?') => {
                    self.rest.next();
                    demand = match demand {
                        Demand::Exactly(mut texts) => {
                            texts.push(String::new());
                            Demand::Exactly(texts)
                        }
                        Demand::OneOf(_) | Demand::Nothing => Demand::Nothing,
                    };
                    continue;
                }
                Some('*') => {
                    self.rest.next();
                    true
                }
                Some('+') => {
                    self.rest.next();
                    false
                }
                Some('{') => {
                    let counts: String = self.rest.by_ref().take_while(|&c| c != '}').collect();
                    counts.starts_with("{0")
                }
                Some(_) | None => return demand,
            };
            let words = demand.into_words().filter(|_| !may_be_absent);
            demand = words.map_or(Demand::Nothing, Demand::OneOf);
        }
    }

    fn atom(&mut self) -> Demand {
        match self.rest.next() {
            Some('(') => {
                if self.rest.next_if_eq(&'?').is_some() {
                    // Flags end with the colon.
                    self.rest.by_ref().find(|&c| c == ':');
                }
                let inner = self.alternatives();
                self.rest.next_if_eq(&')');
                inner
            }
            Some('[') => self.class(),
            Some('<') => {
                let name: String = self.rest.by_ref().take_while(|&c| c != '>').collect();
                self.names
                    .get(name.as_str())
                    .cloned()
                    .unwrap_or(Demand::Nothing)
            }
            Some('^' | '$') => Demand::text(""),
            // A blank in a pattern may be a line break in the text.
            Some('.' | ' ') | None => Demand::Nothing,
            Some('\\') => match self.rest.next() {
                Some(c) if !c.is_alphanumeric() => Demand::text(c.encode_utf8(&mut [0; 4])),
                Some(_) | None => Demand::Nothing,
            },
            Some(c) => self.literal(c),
        }
    }

    /// Reads on as long as letters follow; one with a sign of repetition stands for itself.
    fn literal(&mut self, first: char) -> Demand {
        let mut text = String::from(first);
        loop {
            let mut ahead = self.rest.clone();
            let Some(next) = ahead.next().filter(|next| next.is_alphanumeric()) else {
                return Demand::Exactly(vec![text]);
            };
            if matches!(ahead.peek(), Some('?' | '*' | '+' | '{')) {
                return Demand::Exactly(vec![text]);
            }
            text.push(next);
            self.rest = ahead;
        }
    }

    fn class(&mut self) -> Demand {
        let members: String = self.rest.by_ref().take_while(|&c| c != ']').collect();
        if members.contains(['-', '^', '\\']) {
            return Demand::Nothing;
        }
        Demand::Exactly(members.chars().map(String::from).collect())
    }
}

fn rarer(left: Option<Words>, right: Option<Words>) -> Option<Words> {
    match (left, right) {
        (Some(left), Some(right)) if right.frequency < left.frequency => Some(right),
        (Some(left), _) => Some(left),
        (None, right) => right,
    }
}

/// How many of a hundred thousand ordinary messages contain the word, as a rough guess.
fn frequency(word: &str) -> u32 {
    if EVERYDAY.contains(word) {
        return 8_000;
    }
    match word.len() {
        0..=1 => 90_000,
        2 => 50_000,
        3 => 3_000,
        4 => 600,
        5 => 200,
        6 => 80,
        _ => 30,
    }
}

/// Words so common that they tell nothing.
static EVERYDAY: LazyLock<HashSet<&str>> = LazyLock::new(|| EVERYDAY_WORDS.split(' ').collect());

const EVERYDAY_WORDS: &str = "\
    the and you your that this with for are was were have has had will would want going just not \
    never can could should she her his him they them their our all any about from out how who \
    what when why one more than then too now here there been being please need think like make \
    made get got let know see say said tell try take find off over time day way thing people \
    without after before better everyone anything something nothing today tomorrow next last \
    good right still point end live life les";
