//! Damages texts for tests that hold two readers against each other: most texts almost match.

/// Numbers that look random and are the same in every run.
#[derive(Debug)]
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// Returns the next number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % 0xffff_ffff).unwrap_or(0) % end.max(1)
    }
}

/// Pieces that edges of words, classes of letters and lines depend on.
const PIECES: [&[u8]; 12] = [
    b"\n",
    b" ",
    b".",
    b"_",
    b"0",
    b"A",
    b"'",
    b"#",
    b"-",
    "ä".as_bytes(),
    "’".as_bytes(),
    b"\xff",
];

/// Returns `text` with up to four changes: something left out, put in, repeated, or in the other case.
pub(crate) fn damaged(text: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..=numbers.below(4) {
        let from = numbers.below(text.len() + 1);
        let to = (from + numbers.below(4)).min(text.len());
        match numbers.below(5) {
            0 => drop(text.drain(from..to)),
            1 => {
                let piece = PIECES.get(numbers.below(PIECES.len()));
                text.splice(
                    from..from,
                    piece.copied().unwrap_or_default().iter().copied(),
                );
            }
            2 => {
                let part = text.get(from..to).unwrap_or_default().to_vec();
                text.splice(from..from, part);
            }
            3 => text.truncate(from),
            _ => {
                for byte in text.get_mut(from..to).unwrap_or_default() {
                    *byte ^= if byte.is_ascii_alphabetic() { 0x20 } else { 0 };
                }
            }
        }
    }
    text
}
