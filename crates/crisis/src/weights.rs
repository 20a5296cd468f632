//! Reads the weights where they lie in the binary. All of it happens at compile time.
//!
//! The layout is written by `training/crisis/pack.py`; a file of another shape does not compile.

use crate::scripts::SCRIPTS;

/// Values of a word piece.
pub(crate) const EMBEDDED: usize = 96;
/// Answers of a convolution.
pub(crate) const CHANNELS: usize = 128;
/// Answers of the small layer behind them.
pub(crate) const HIDDEN: usize = 128;
/// Numbers at the beginning of the file.
const NUMBERS: usize = 32 + SCRIPTS;
/// Numbers for weighing conversations.
const TALK: usize = 12;

static BYTES: &[u8] = include_bytes!("../weights.bin");

/// All weights of the model.
pub(crate) static WEIGHTS: Weights = Weights::read(BYTES);

/// The weights of the model.
pub(crate) struct Weights {
    pub(crate) limits: Limits,
    pub(crate) talk: [i32; TALK],
    /// What is added to the score of a text in each script.
    pub(crate) scripts: [i32; SCRIPTS],
    pub(crate) network: Network,
    /// A factor for each word piece.
    pub(crate) factors: &'static [u8],
    /// Two values of four bits a byte.
    pub(crate) embedding: &'static [u8],
    pub(crate) first_pieces: Pieces,
    pub(crate) later_pieces: Pieces,
    pub(crate) linear: Linear,
}

/// What scores mean, and how much the halves count.
pub(crate) struct Limits {
    pub(crate) holds: i32,
    pub(crate) unsure: i32,
    pub(crate) supports: i32,
    pub(crate) shares: [i32; 2],
}

/// The linear half.
pub(crate) struct Linear {
    pub(crate) letters: &'static [u8],
    pub(crate) words: &'static [u8],
    pub(crate) scale: i64,
    pub(crate) bias: i64,
}

/// The other half.
pub(crate) struct Network {
    pub(crate) near: Layer,
    pub(crate) wide: Layer,
    pub(crate) hidden: Layer,
    pub(crate) last: &'static [[u8; 2]],
    pub(crate) last_bias: i64,
    pub(crate) last_shift: u32,
}

/// A layer: rows of weights, and for each row a factor and a bias.
pub(crate) struct Layer {
    pub(crate) width: usize,
    pub(crate) weights: &'static [u8],
    pub(crate) factors: &'static [[u8; 4]],
    pub(crate) biases: &'static [[u8; 8]],
}

/// Word pieces in the order of their bytes.
pub(crate) struct Pieces {
    /// The number of the first one.
    first: u32,
    /// Where each ends in `text`.
    ends: &'static [[u8; 4]],
    text: &'static [u8],
}

impl Pieces {
    /// Returns the last piece that does not stand behind `text` in the order, and its number.
    pub(crate) fn last_up_to(&self, text: &[u8]) -> Option<(u32, &[u8])> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.at(middle)? <= text {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let index = low.checked_sub(1)?;
        Some((self.first + u32::try_from(index).ok()?, self.at(index)?))
    }

    fn at(&self, index: usize) -> Option<&[u8]> {
        let end = |index: usize| {
            let end = u32::from_le_bytes(*self.ends.get(index)?);
            usize::try_from(end).ok()
        };
        let start = index.checked_sub(1).map_or(Some(0), end)?;
        self.text.get(start..end(index)?)
    }
}

/// What is left of the file.
struct Rest(&'static [u8]);

impl Rest {
    const fn take(&mut self, count: usize) -> &'static [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    const fn take_chunks<const N: usize>(&mut self, count: usize) -> &'static [[u8; N]] {
        let (chunks, rest) = self.take(count * N).as_chunks::<N>();
        assert!(rest.is_empty(), "whole chunks were taken");
        chunks
    }

    const fn layer(&mut self, rows: usize, width: usize) -> Layer {
        Layer {
            width,
            weights: self.take(rows * width),
            factors: self.take_chunks(rows),
            biases: self.take_chunks(rows),
        }
    }

    const fn pieces(&mut self, first: u32, count: usize, bytes: usize) -> Pieces {
        Pieces {
            first,
            ends: self.take_chunks(count),
            text: self.take(bytes),
        }
    }
}

impl Weights {
    #[expect(
        clippy::cast_sign_loss,
        clippy::indexing_slicing,
        reason = "it runs at compile time, where a number out of place stops the build"
    )]
    const fn read(bytes: &'static [u8]) -> Self {
        let mut rest = Rest(bytes);
        let numbers = rest.take_chunks::<4>(NUMBERS);
        let mut number = [0; NUMBERS];
        let mut at = 0;
        while at < NUMBERS {
            number[at] = i32::from_le_bytes(numbers[at]);
            at += 1;
        }
        let [
            magic,
            rows,
            first_count,
            first_bytes,
            _,
            later_count,
            later_bytes,
            _,
            letters,
            words,
            scale,
            bias,
            of_linear,
            of_network,
            holds,
            unsure,
            supports,
            last_shift,
            last_bias,
            _,
            more @ ..,
        ] = number;
        assert!(magic == 0x3249_5243, "the file begins with CRI2");
        let (mut talk, mut scripts) = ([0; TALK], [0; SCRIPTS]);
        talk.copy_from_slice(more.split_at(TALK).0);
        scripts.copy_from_slice(more.split_at(TALK).1);
        let network = Network {
            near: rest.layer(CHANNELS, 3 * EMBEDDED),
            wide: rest.layer(CHANNELS, 3 * CHANNELS),
            hidden: rest.layer(HIDDEN, 3 * CHANNELS),
            last: rest.take_chunks(HIDDEN),
            last_bias: last_bias as i64,
            last_shift: last_shift as u32,
        };
        let factors = rest.take(rows as usize);
        let embedding = rest.take(rows as usize * EMBEDDED / 2);
        let first_pieces = rest.pieces(1, first_count as usize, first_bytes as usize);
        let later_pieces = rest.pieces(
            1 + first_count as u32,
            later_count as usize,
            later_bytes as usize,
        );
        let linear = Linear {
            letters: rest.take(letters as usize),
            words: rest.take(words as usize),
            scale: scale as i64,
            bias: bias as i64,
        };
        assert!(rest.0.is_empty(), "nothing is left over");
        Self {
            limits: Limits {
                holds,
                unsure,
                supports,
                shares: [of_linear, of_network],
            },
            talk,
            scripts,
            network,
            factors,
            embedding,
            first_pieces,
            later_pieces,
            linear,
        }
    }
}
