//! Compiles regular expressions to the small programs that `src/content/quick.rs` runs.
//!
//! Building an expression takes a hundred times as long as trying it on a message, so a message would pay
//! for it once in every process. What the small machine cannot express gets no program and is built at first use.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use crate::operations as op;

/// Longest program of one expression, in bytes. Beyond it the table would cost more than it saves.
const PROGRAM_BYTES_MAX: usize = 16 * 1024;

/// How an expression is to be read; the same switches as those of the builder in the core.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) unicode: bool,
    pub(crate) ignores_case: bool,
    pub(crate) multi_line: bool,
}

/// All programs, and the sets of bytes and letters they name.
#[derive(Default)]
pub(crate) struct Programs {
    code: Vec<u8>,
    sets: BTreeMap<[u64; 4], u16>,
    letters: BTreeMap<Vec<(u32, u32)>, u16>,
}

impl Programs {
    /// Adds an expression; returns the Rust value that names its program.
    pub(crate) fn add(&mut self, pattern: &str, reading: Reading) -> Result<String, String> {
        let hir = ParserBuilder::new()
            .unicode(reading.unicode)
            .utf8(false)
            .case_insensitive(reading.ignores_case)
            .multi_line(reading.multi_line)
            .build()
            .parse(pattern)
            .map_err(|error| format!("{pattern}: {error}"))?;
        let start = self.code.len();
        let (first, may_be_empty) = first(&hir);
        let fits = !may_be_empty && self.compile(&hir).is_some();
        self.code.push(op::MATCH);
        if !fits || self.code.len() - start > PROGRAM_BYTES_MAX {
            self.code.truncate(start);
            return Ok("Program::NONE".to_owned());
        }
        let set = self.set(first);
        Ok(format!("Program::new({start}, {set})"))
    }

    /// Writes the sets as Rust, and returns the code.
    pub(crate) fn finish(self, code: &mut String) -> Vec<u8> {
        let mut sets: Vec<_> = self.sets.into_iter().collect();
        sets.sort_by_key(|(_, number)| *number);
        writeln!(
            code,
            "/// Sets of bytes that programs name.\npub(super) static SETS: &[[u64; 4]] = &["
        )
        .unwrap();
        for (set, _) in sets {
            writeln!(code, "{set:?},").unwrap();
        }
        let mut letters: Vec<_> = self.letters.into_iter().collect();
        letters.sort_by_key(|(_, number)| *number);
        writeln!(code, "];\n/// Sets of letters that programs name: the first and last of each range.\npub(super) static LETTERS: &[&[(u32, u32)]] = &[").unwrap();
        for (ranges, _) in letters {
            writeln!(code, "&{ranges:?},").unwrap();
        }
        writeln!(code, "];").unwrap();
        self.code
    }

    fn set(&mut self, set: [u64; 4]) -> u16 {
        let next = u16::try_from(self.sets.len()).expect("few sets");
        *self.sets.entry(set).or_insert(next)
    }

    fn compile(&mut self, hir: &Hir) -> Option<()> {
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => {
                for part in literal.0.chunks(255) {
                    self.code.push(op::LITERAL);
                    self.code.push(u8::try_from(part.len()).ok()?);
                    self.code.extend_from_slice(part);
                }
            }
            HirKind::Class(class) => {
                let (operation, number) = self.class(class)?;
                self.code.push(operation);
                self.code.extend(number.to_le_bytes());
            }
            HirKind::Look(look) => {
                self.code.push(op::LOOK);
                self.code.push(look_code(*look)?);
            }
            HirKind::Repetition(repetition) => self.repetition(repetition)?,
            HirKind::Capture(capture) => {
                // Only the first group is ever asked for.
                if capture.index == 1 {
                    self.code.extend([op::SAVE, 0]);
                }
                self.compile(&capture.sub)?;
                if capture.index == 1 {
                    self.code.extend([op::SAVE, 1]);
                }
            }
            HirKind::Concat(parts) => {
                for part in parts {
                    self.compile(part)?;
                }
            }
            HirKind::Alternation(branches) => {
                let (last, others) = branches.split_last()?;
                let mut ends = Vec::new();
                for branch in others {
                    let other = self.jump(op::SPLIT);
                    self.compile(branch)?;
                    ends.push(self.jump(op::JUMP));
                    self.land(other);
                }
                self.compile(last)?;
                for end in ends {
                    self.land(end);
                }
            }
        }
        (self.code.len() < 4 << 20).then_some(())
    }

    fn repetition(&mut self, repetition: &Repetition) -> Option<()> {
        let Repetition {
            min,
            max,
            greedy,
            sub,
        } = repetition;
        if let HirKind::Class(class) = sub.kind() {
            let (operation, number) = self.class(class)?;
            self.code.push(match (operation, greedy) {
                (op::SET, true) => op::SET_RUN,
                (op::SET, false) => op::SET_RUN_LAZY,
                (_, true) => op::LETTER_RUN,
                (_, false) => return None,
            });
            self.code.extend(number.to_le_bytes());
            self.code.extend(u16::try_from(*min).ok()?.to_le_bytes());
            let max = max.map_or(Some(u16::MAX), |max| u16::try_from(max).ok())?;
            self.code.extend(max.to_le_bytes());
            return Some(());
        }
        // A loop around what may be empty would never end.
        if max.is_none() && sub.properties().minimum_len()? == 0 {
            return None;
        }
        for _ in 0..*min {
            self.compile(sub)?;
        }
        let split = if *greedy { op::SPLIT } else { op::SPLIT_LAZY };
        match max {
            None => {
                let again = self.code.len();
                let out = self.jump(split);
                self.compile(sub)?;
                let back = self.jump(op::JUMP);
                self.set_jump(back, again);
                self.land(out);
            }
            Some(max) => {
                let mut outs = Vec::new();
                for _ in *min..*max {
                    outs.push(self.jump(split));
                    self.compile(sub)?;
                }
                for out in outs {
                    self.land(out);
                }
            }
        }
        Some(())
    }

    fn class(&mut self, class: &Class) -> Option<(u8, u16)> {
        match class {
            Class::Bytes(class) => {
                let ranges = class.ranges().iter();
                let set = set_of(ranges.map(|range| (range.start(), range.end())));
                Some((op::SET, self.set(set)))
            }
            Class::Unicode(class) if class.is_ascii() => {
                let bytes = class.to_byte_class()?;
                let ranges = bytes.ranges().iter();
                let set = set_of(ranges.map(|range| (range.start(), range.end())));
                Some((op::SET, self.set(set)))
            }
            Class::Unicode(class) => {
                let ranges = class.ranges().iter();
                let ranges = ranges.map(|range| (u32::from(range.start()), u32::from(range.end())));
                let next = u16::try_from(self.letters.len()).ok()?;
                Some((
                    op::LETTER,
                    *self.letters.entry(ranges.collect()).or_insert(next),
                ))
            }
        }
    }

    fn jump(&mut self, operation: u8) -> usize {
        self.code.push(operation);
        self.code.extend([0; 4]);
        self.code.len() - 4
    }

    fn land(&mut self, from: usize) {
        self.set_jump(from, self.code.len());
    }

    fn set_jump(&mut self, from: usize, to: usize) {
        let to = u32::try_from(to).expect("programs are small");
        self.code[from..from + 4].copy_from_slice(&to.to_le_bytes());
    }
}

fn set_of(ranges: impl Iterator<Item = (u8, u8)>) -> [u64; 4] {
    let mut set = [0; 4];
    for (from, to) in ranges {
        for byte in from..=to {
            set[usize::from(byte / 64)] |= 1 << (byte % 64);
        }
    }
    set
}

fn look_code(look: Look) -> Option<u8> {
    Some(match look {
        Look::Start => op::LOOK_START,
        Look::End => op::LOOK_END,
        Look::StartLF => op::LOOK_LINE_START,
        Look::EndLF => op::LOOK_LINE_END,
        Look::WordAscii => op::LOOK_WORD_EDGE,
        Look::WordStartAscii => op::LOOK_WORD_START,
        Look::WordStartHalfAscii => op::LOOK_NO_WORD_BEFORE,
        Look::WordEndHalfAscii => op::LOOK_NO_WORD_AFTER,
        Look::StartCRLF
        | Look::EndCRLF
        | Look::WordAsciiNegate
        | Look::WordUnicode
        | Look::WordUnicodeNegate
        | Look::WordEndAscii
        | Look::WordStartUnicode
        | Look::WordEndUnicode
        | Look::WordStartHalfUnicode
        | Look::WordEndHalfUnicode => return None,
    })
}

/// Returns the bytes a match can begin with, and whether it may be empty.
fn first(hir: &Hir) -> ([u64; 4], bool) {
    let mut set = [0; 4];
    let mut add = |other: [u64; 4]| {
        for (to, from) in set.iter_mut().zip(other) {
            *to |= from;
        }
    };
    let may_be_empty = match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => {
            add(set_of(literal.0.iter().take(1).map(|byte| (*byte, *byte))));
            false
        }
        HirKind::Class(Class::Bytes(class)) => {
            let ranges = class.ranges().iter();
            add(set_of(ranges.map(|range| (range.start(), range.end()))));
            false
        }
        HirKind::Class(Class::Unicode(class)) => {
            for range in class.ranges() {
                let byte = |letter: char| {
                    let mut buffer = [0; 4];
                    letter.encode_utf8(&mut buffer).as_bytes()[0]
                };
                add(set_of(std::iter::once((
                    byte(range.start()),
                    byte(range.end()),
                ))));
            }
            false
        }
        HirKind::Repetition(repetition) => {
            let (of_sub, empty) = first(&repetition.sub);
            add(of_sub);
            empty || repetition.min == 0
        }
        HirKind::Capture(capture) => {
            let (of_sub, empty) = first(&capture.sub);
            add(of_sub);
            empty
        }
        HirKind::Concat(parts) => parts.iter().all(|part| {
            let (of_part, empty) = first(part);
            add(of_part);
            empty
        }),
        HirKind::Alternation(branches) => branches.iter().fold(false, |any, branch| {
            let (of_branch, empty) = first(branch);
            add(of_branch);
            any | empty
        }),
    };
    (set, may_be_empty)
}
