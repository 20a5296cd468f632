//! Matches phrases in short texts by programs made at build time.
//!
//! Building a regular expression takes far longer than trying it on a message, and most messages are short. The
//! programs here say the same as the expressions (first match, first alternative first) and need no building. They
//! try alternatives one after the other, so the work is counted; what takes too long, and every long text, is left
//! to the expression itself, which takes linear time.

use super::operations as op;
use super::tables::{LETTERS, SETS};

/// Longest text that is tried by a program.
const TEXT_BYTES_MAX: usize = 4096;
/// How much work is done before the expression is built instead: about a tenth of what building it takes, and some
/// for each byte. Once it is built it is used, so that no text can have this done again and again.
const STEPS: usize = 20_000;
const STEPS_PER_BYTE: usize = 16;

static CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/phrases.bin"));

/// The program of one expression.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    start: usize,
    /// The set of bytes a match can begin with.
    first: u16,
}

/// A match: the whole, and the first group where the expression has one that took part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) whole: (usize, usize),
    pub(crate) group: Option<(usize, usize)>,
}

impl Match {
    /// The part of the text that is meant.
    pub(crate) fn meant(self) -> (usize, usize) {
        self.group.unwrap_or(self.whole)
    }
}

/// What is tried when the current way fails.
enum Other {
    /// Goes on at a place of the program with a place of the text.
    At { pc: usize, at: usize },
    /// Takes one byte less of a run that reaches from `least` to `at`.
    Fewer { pc: usize, least: usize, at: usize },
    /// Takes one letter less.
    FewerLetters { pc: usize, least: usize, at: usize },
    /// Takes one byte more of a set, up to `most`.
    More {
        pc: usize,
        at: usize,
        most: usize,
        set: u16,
    },
    /// Forgets what was remembered of the group.
    Forget { slot: u8, was: usize },
}

impl Program {
    /// Stands for an expression that no program can say.
    pub(crate) const NONE: Self = Self::new(usize::MAX, 0);

    pub(crate) const fn new(start: usize, first: u16) -> Self {
        Self { start, first }
    }

    /// Returns all matches, one behind the other, at most `limit`; nothing when the expression must be asked.
    pub(crate) fn find_all(self, text: &[u8], limit: usize) -> Option<Vec<Match>> {
        if self.start == usize::MAX || text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let first = SETS.get(usize::from(self.first))?;
        let mut machine = Machine {
            text,
            group: [usize::MAX; 2],
            others: Vec::new(),
            steps: STEPS + STEPS_PER_BYTE * text.len(),
        };
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(byte) = text.get(from) {
            if !holds(first, *byte) {
                from += 1;
                continue;
            }
            match machine.run(self.start, from)? {
                Some(end) => {
                    let [start_of_group, end_of_group] = machine.group;
                    let group =
                        (end_of_group != usize::MAX).then_some((start_of_group, end_of_group));
                    found.push(Match {
                        whole: (from, end),
                        group,
                    });
                    if found.len() >= limit {
                        break;
                    }
                    // No program matches nothing at all, so this goes on.
                    from = end.max(from + 1);
                }
                None => from += 1,
            }
        }
        Some(found)
    }
}

struct Machine<'a> {
    text: &'a [u8],
    group: [usize; 2],
    others: Vec<Other>,
    steps: usize,
}

impl Machine<'_> {
    /// Returns where a match that begins at `from` ends, if there is one; nothing at all when it takes too long.
    #[expect(
        clippy::option_option,
        reason = "the outer one is empty when it is not decided here, which `?` passes on"
    )]
    fn run(&mut self, start: usize, from: usize) -> Option<Option<usize>> {
        self.group = [usize::MAX; 2];
        self.others.clear();
        let (mut pc, mut at) = (start, from);
        loop {
            self.steps = self.steps.checked_sub(1)?;
            let next = match *CODE.get(pc)? {
                op::MATCH => return Some(Some(at)),
                op::LITERAL => {
                    let length = usize::from(*CODE.get(pc + 1)?);
                    let wanted = CODE.get(pc + 2..pc + 2 + length)?;
                    let there = self.text.get(at..).unwrap_or_default();
                    there
                        .starts_with(wanted)
                        .then_some((pc + 2 + length, at + length))
                }
                op::SET => {
                    let set = SETS.get(usize::from(number(pc + 1)?))?;
                    let fits = self.text.get(at).is_some_and(|byte| holds(set, *byte));
                    fits.then_some((pc + 3, at + 1))
                }
                op::LETTER => {
                    let set = LETTERS.get(usize::from(number(pc + 1)?))?;
                    letter(self.text, at, set).map(|length| (pc + 3, at + length))
                }
                op::SET_RUN | op::SET_RUN_LAZY | op::LETTER_RUN => self.run_of(pc, at)?,
                op::SPLIT => {
                    let other = place(pc + 1)?;
                    if self.begins_otherwise(pc + 5, at) {
                        Some((other, at))
                    } else {
                        self.others.push(Other::At { pc: other, at });
                        Some((pc + 5, at))
                    }
                }
                op::SPLIT_LAZY => {
                    self.others.push(Other::At { pc: pc + 5, at });
                    Some((place(pc + 1)?, at))
                }
                op::JUMP => Some((place(pc + 1)?, at)),
                op::SAVE => {
                    let slot = *CODE.get(pc + 1)?;
                    let was = std::mem::replace(self.group.get_mut(usize::from(slot))?, at);
                    self.others.push(Other::Forget { slot, was });
                    Some((pc + 2, at))
                }
                op::LOOK => self.looks(*CODE.get(pc + 1)?, at)?.then_some((pc + 2, at)),
                _ => return None,
            };
            let Some(on) = next.or_else(|| self.other()) else {
                return Some(None);
            };
            (pc, at) = on;
        }
    }

    /// Whether a literal stands at `pc` that cannot begin at `at`: the usual end of an alternative.
    fn begins_otherwise(&self, pc: usize, at: usize) -> bool {
        CODE.get(pc) == Some(&op::LITERAL) && CODE.get(pc + 2) != self.text.get(at)
    }

    #[expect(
        clippy::option_option,
        reason = "the outer one is empty when it is not decided here, which `?` passes on"
    )]
    fn run_of(&mut self, pc: usize, at: usize) -> Option<Option<(usize, usize)>> {
        let operation = *CODE.get(pc)?;
        let which = number(pc + 1)?;
        let (least, most) = (usize::from(number(pc + 3)?), usize::from(number(pc + 5)?));
        let most = if most == usize::from(u16::MAX) {
            usize::MAX
        } else {
            most
        };
        let pc = pc + 7;
        let rest = self.text.get(at..).unwrap_or_default();
        if operation == op::LETTER_RUN {
            let set = LETTERS.get(usize::from(which))?;
            let (mut count, mut end, mut least_end) = (0, at, at);
            while count < most
                && let Some(length) = letter(self.text, end, set)
            {
                count += 1;
                end += length;
                if count == least {
                    least_end = end;
                }
            }
            self.steps = self.steps.checked_sub(count / 4)?;
            if count < least {
                return Some(None);
            }
            if end > least_end {
                self.others.push(Other::FewerLetters {
                    pc,
                    least: least_end,
                    at: end,
                });
            }
            return Some(Some((pc, end)));
        }
        let set = SETS.get(usize::from(which))?;
        let count = rest
            .iter()
            .take(most)
            .take_while(|byte| holds(set, **byte))
            .count();
        self.steps = self.steps.checked_sub(count / 8)?;
        if count < least {
            return Some(None);
        }
        if operation == op::SET_RUN_LAZY {
            if count > least {
                self.others.push(Other::More {
                    pc,
                    at: at + least,
                    most: at + count,
                    set: which,
                });
            }
            return Some(Some((pc, at + least)));
        }
        if count > least {
            self.others.push(Other::Fewer {
                pc,
                least: at + least,
                at: at + count,
            });
        }
        Some(Some((pc, at + count)))
    }

    /// Returns the next way that was left open.
    fn other(&mut self) -> Option<(usize, usize)> {
        loop {
            match self.others.pop()? {
                Other::At { pc, at } => return Some((pc, at)),
                Other::Fewer { pc, least, at } => {
                    let at = at - 1;
                    if at > least {
                        self.others.push(Other::Fewer { pc, least, at });
                    }
                    return Some((pc, at));
                }
                Other::FewerLetters { pc, least, at } => {
                    let head = self.text.get(..at).unwrap_or_default();
                    let back = head
                        .iter()
                        .rev()
                        .take_while(|byte| **byte & 0xc0 == 0x80)
                        .count();
                    let at = at.saturating_sub(back + 1);
                    if at > least {
                        self.others.push(Other::FewerLetters { pc, least, at });
                    }
                    return Some((pc, at));
                }
                Other::More { pc, at, most, set } => {
                    let at = at + 1;
                    if at < most {
                        self.others.push(Other::More { pc, at, most, set });
                    }
                    return Some((pc, at));
                }
                Other::Forget { slot, was } => {
                    if let Some(place) = self.group.get_mut(usize::from(slot)) {
                        *place = was;
                    }
                }
            }
        }
    }

    fn looks(&self, condition: u8, at: usize) -> Option<bool> {
        let before = at.checked_sub(1).and_then(|at| self.text.get(at));
        let after = self.text.get(at);
        let word = |byte: Option<&u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        };
        Some(match condition {
            op::LOOK_START => before.is_none(),
            op::LOOK_END => after.is_none(),
            op::LOOK_LINE_START => before.is_none_or(|byte| *byte == b'\n'),
            op::LOOK_LINE_END => after.is_none_or(|byte| *byte == b'\n'),
            op::LOOK_WORD_EDGE => word(before) != word(after),
            op::LOOK_WORD_START => !word(before) && word(after),
            op::LOOK_NO_WORD_BEFORE => !word(before),
            op::LOOK_NO_WORD_AFTER => !word(after),
            _ => return None,
        })
    }
}

fn holds(set: &[u64; 4], byte: u8) -> bool {
    set.get(usize::from(byte / 64))
        .is_some_and(|part| part >> (byte % 64) & 1 == 1)
}

/// Returns how long the letter at `at` is, when it is one of the set.
fn letter(text: &[u8], at: usize, set: &[(u32, u32)]) -> Option<usize> {
    let lead = *text.get(at)?;
    let length = match lead {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let bytes = text.get(at..at + length)?;
    let letter = std::str::from_utf8(bytes).ok()?.chars().next()?;
    let code = u32::from(letter);
    let behind = set.partition_point(|range| range.0 <= code);
    let range = set.get(behind.checked_sub(1)?)?;
    (code <= range.1).then_some(length)
}

fn number(at: usize) -> Option<u16> {
    let bytes = CODE.get(at..at + 2)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

fn place(at: usize) -> Option<usize> {
    let bytes = CODE.get(at..at + 4)?;
    usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
}
