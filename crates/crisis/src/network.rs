//! The other half: two convolutions over word pieces, the strongest answers, and two small layers.
//!
//! All numbers are whole. A layer adds up products in 32 bits and brings the sum back to sixteen
//! with a fixed-point factor, so the order of additions cannot change a score.

use crate::pieces;
use crate::weights::{CHANNELS, EMBEDDED, HIDDEN, Layer, WEIGHTS};

/// Longest window the network reads, in pieces.
const PIECES_MAX: usize = 512;
/// Neighbours a convolution sees: one piece before, itself, one behind.
const SEES: usize = 3;
/// Bits behind the point of a layer's factors.
const FACTOR_BITS: u32 = 24;
/// Largest value between layers.
const VALUE_MAX: i64 = 4095;

/// Returns the network's answer to a folded text.
pub(crate) fn score(folded: &str) -> i32 {
    let mut ids = pieces::ids(folded);
    ids.truncate(PIECES_MAX);
    let network = &WEIGHTS.network;
    let embedded = embed(&ids);
    let near = convolve(&embedded, EMBEDDED, &network.near);
    let wide = convolve(&near, CHANNELS, &network.wide);
    let mut seen = strongest(&near);
    seen.extend(strongest(&wide));
    seen.extend(mean(&wide, ids.len()));
    let hidden: Vec<i16> = (0..HIDDEN)
        .map(|row| network.hidden.answer(row, &seen))
        .collect();
    let answer: i64 = network
        .last
        .iter()
        .zip(&hidden)
        .map(|(weight, value)| i64::from(i16::from_le_bytes(*weight)) * i64::from(*value))
        .sum();
    i32::try_from((answer + network.last_bias) >> network.last_shift).unwrap_or(0)
}

/// Returns the rows of the pieces, with an empty row before and behind.
fn embed(ids: &[u32]) -> Vec<i16> {
    let mut values = vec![0; EMBEDDED];
    values.reserve(EMBEDDED * (ids.len() + 1));
    for id in ids {
        let row = usize::try_from(*id).unwrap_or_default();
        let factor = WEIGHTS.factors.get(row).copied().map_or(0, i16::from);
        let half = EMBEDDED / 2;
        let packed = WEIGHTS.embedding.get(row * half..(row + 1) * half);
        for byte in packed.unwrap_or_default() {
            // Two values of four bits each, around eight.
            values.push((i16::from(byte & 15) - 8) * factor);
            values.push((i16::from(byte >> 4) - 8) * factor);
        }
    }
    values.resize(EMBEDDED * (ids.len() + 2), 0);
    values
}

/// Slides a layer over rows of `width` values; the result again has an empty row at each end.
fn convolve(rows: &[i16], width: usize, layer: &Layer) -> Vec<i16> {
    let mut answers = vec![0; CHANNELS];
    for seen in rows.windows(SEES * width).step_by(width) {
        answers.extend((0..CHANNELS).map(|row| layer.answer(row, seen)));
    }
    answers.resize(answers.len() + CHANNELS, 0);
    answers
}

/// Returns the strongest answer of each channel.
fn strongest(rows: &[i16]) -> Vec<i16> {
    let mut most = vec![0; CHANNELS];
    for row in rows.chunks_exact(CHANNELS) {
        for (most, value) in most.iter_mut().zip(row) {
            *most = (*most).max(*value);
        }
    }
    most
}

/// Returns the mean answer of each channel over `count` pieces.
fn mean(rows: &[i16], count: usize) -> Vec<i16> {
    let mut sums = vec![0_i32; CHANNELS];
    for row in rows.chunks_exact(CHANNELS) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += i32::from(*value);
        }
    }
    let count = i32::try_from(count.max(1)).unwrap_or(i32::MAX);
    let means = sums.into_iter().map(|sum| sum / count);
    means
        .map(|mean| i16::try_from(mean).unwrap_or(i16::MAX))
        .collect()
}

impl Layer {
    /// Returns the answer of one row to what it sees; nothing below zero.
    fn answer(&self, row: usize, seen: &[i16]) -> i16 {
        let weights = self.weights.get(row * self.width..(row + 1) * self.width);
        let products = weights.unwrap_or_default().iter().zip(seen);
        // Written so that the compiler multiplies eight pairs at once.
        let sum: i32 = products
            .map(|(weight, value)| i32::from(i16::from(weight.cast_signed())) * i32::from(*value))
            .sum();
        let factor = self
            .factors
            .get(row)
            .map_or(0, |it| i64::from(i32::from_le_bytes(*it)));
        let bias = self.biases.get(row).map_or(0, |it| i64::from_le_bytes(*it));
        let value = (i64::from(sum) * factor + bias) >> FACTOR_BITS;
        i16::try_from(value.clamp(0, VALUE_MAX)).unwrap_or_default()
    }
}
