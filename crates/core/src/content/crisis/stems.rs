//! Which words a pattern cannot match without: the cheap question asked before the costly one.
//!
//! Read off the pattern itself, so that no list beside it can grow stale. Understood is the part
//! of the regular-expression language the tables use; whatever else occurs counts as "could be
//! anything", which costs time but never a match.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::str::Chars;

/// Words such that every match of the pattern contains at least one of them; `None` if the
/// pattern demands none.
pub(super) fn stems(pattern: &str) -> Option<BTreeSet<String>> {
    let mut parser = Parser { rest: pattern.chars().peekable() };
    let words = parser.alternatives().into_words()?;
    // A word that contains another one of them adds nothing.
    let contains_other =
        |word: &String| words.iter().any(|other| other != word && word.contains(other.as_str()));
    Some(words.iter().filter(|word| !contains_other(word)).cloned().collect())
}

/// More spellings than this of one place in a pattern are not written out.
const SPELLINGS_MAX: usize = 24;

/// What a part of a pattern demands.
enum Demand {
    /// It matches exactly these texts.
    Exactly(BTreeSet<String>),
    /// It contains at least one of these words.
    OneOf(BTreeSet<String>),
    /// It can match without any particular word.
    Nothing,
}

impl Demand {
    fn into_words(self) -> Option<BTreeSet<String>> {
        match self {
            Self::Exactly(texts) => texts.iter().all(|text| !text.is_empty()).then_some(texts),
            Self::OneOf(words) => Some(words),
            Self::Nothing => None,
        }
    }

    fn text(text: &str) -> Self {
        Self::Exactly(BTreeSet::from([text.to_owned()]))
    }
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Parser<'_> {
    fn alternatives(&mut self) -> Demand {
        let mut branches = vec![self.sequence()];
        while self.rest.next_if_eq(&'|').is_some() {
            branches.push(self.sequence());
        }
        let mut all_exact = true;
        let mut words = BTreeSet::new();
        let mut open = false;
        for branch in branches {
            match branch {
                Demand::Exactly(texts) => {
                    open |= texts.contains("");
                    words.extend(texts);
                }
                Demand::OneOf(branch_words) => {
                    all_exact = false;
                    words.extend(branch_words);
                }
                Demand::Nothing => return Demand::Nothing,
            }
        }
        match (all_exact && words.len() <= SPELLINGS_MAX, open) {
            (true, _) => Demand::Exactly(words),
            (false, false) => Demand::OneOf(words),
            (false, true) => Demand::Nothing,
        }
    }

    fn sequence(&mut self) -> Demand {
        let mut run = BTreeSet::from([String::new()]);
        let mut unbroken = true;
        let mut best: Option<BTreeSet<String>> = None;
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
                other => {
                    unbroken = false;
                    best = rarer(best, Some(std::mem::replace(&mut run, BTreeSet::from([String::new()]))));
                    best = rarer(best, other.into_words());
                }
            }
        }
        if unbroken {
            return Demand::Exactly(run);
        }
        rarer(best, Some(run)).map_or(Demand::Nothing, Demand::OneOf)
    }

    fn repeated(&mut self) -> Demand {
        let mut demand = self.atom();
        loop {
            let optional = match self.rest.peek() {
                Some('?' | '*') => true,
                Some('+') => false,
                Some('{') => {
                    let counts: String = self.rest.by_ref().take_while(|&c| c != '}').collect();
                    demand = match demand {
                        _ if counts.starts_with("{0") => Demand::Nothing,
                        Demand::Exactly(texts) => Demand::OneOf(texts),
                        kept @ (Demand::OneOf(_) | Demand::Nothing) => kept,
                    };
                    continue;
                }
                Some(_) | None => return demand,
            };
            let sign = self.rest.next();
            demand = match demand {
                Demand::Exactly(mut texts) if sign == Some('?') => {
                    texts.insert(String::new());
                    Demand::Exactly(texts)
                }
                Demand::Exactly(texts) if !optional => Demand::OneOf(texts),
                kept @ Demand::OneOf(_) if !optional => kept,
                Demand::Exactly(_) | Demand::OneOf(_) | Demand::Nothing => Demand::Nothing,
            };
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
            Some('^' | '$') => Demand::text(""),
            // A blank in a pattern may be a line break in the text.
            Some('.' | ' ') | None => Demand::Nothing,
            Some('\\') => match self.rest.next() {
                Some(c) if !c.is_alphanumeric() => Demand::text(c.encode_utf8(&mut [0; 4])),
                Some(_) | None => Demand::Nothing,
            },
            Some(c) => Demand::text(c.encode_utf8(&mut [0; 4])),
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

/// The one of two demands that fewer texts fulfil.
fn rarer(
    left: Option<BTreeSet<String>>,
    right: Option<BTreeSet<String>>,
) -> Option<BTreeSet<String>> {
    let whole = |words: &BTreeSet<String>| words.iter().all(|word| !word.is_empty());
    let rarity = |words: &BTreeSet<String>| {
        let weakest = words.iter().map(|word| weight(word)).min();
        (weakest, std::cmp::Reverse(words.len()))
    };
    match (left.filter(whole), right.filter(whole)) {
        (Some(left), Some(right)) if rarity(&right) > rarity(&left) => Some(right),
        (Some(left), _) => Some(left),
        (None, right) => right,
    }
}

/// How much it tells that a word occurs: longer ones more, everyday ones next to nothing.
fn weight(word: &str) -> usize {
    const EVERYDAY: &str = " a i the and you your that this with for are was were have has had will would \
        want wants wanted going just not never can could should she her his him they them their \
        our all any about from out how who what when why one more than then too now here there \
        been being please need needs think like make made get got let know see say said tell told \
        try tried take took give gave find found do does did done be am is it me my to of in on at \
        if or so no up by go we us he as an but off over life time day way thing things people \
        und die der das ich ist nicht ein eine mich mir mit von auf que de la el en un una los me \
        se te le les des une pas est pour dans je tu il nous vous ne non per con che di mi si \
        sono het een van ik niet je dat er zijn na nie sie do ze ";
    let everyday = EVERYDAY.split_whitespace().any(|known| known == word);
    if everyday { 1 } else { word.chars().map(char::len_utf8).sum::<usize>().min(7) + 1 }
}
