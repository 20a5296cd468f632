//! The other half: two convolutions over word pieces, the strongest answers, and two small layers.
//!
//! All numbers are whole. A layer adds up products in 32 bits and brings the sum back to sixteen
//! with a fixed-point factor, so the order of additions cannot change a score.
//!
//! Parts of a text overlap, and a convolution sees three rows at a time. So its answers are kept by what it
//! saw: the same three neighbours are convolved once in a text, however many parts they stand in.

use std::collections::HashMap;

use crate::weights::{CHANNELS, EMBEDDED, HIDDEN, Layer, WEIGHTS};

/// Longest window the network reads, in pieces.
const PIECES_MAX: usize = 512;
/// Neighbours a convolution sees: one piece before, itself, one behind.
const SEES: usize = 3;
/// Rows that are convolved at once, so that each weight is loaded once for all of them.
const ROWS: usize = 4;
/// Rows whose values are laid out together before they are convolved.
const BATCH: usize = 32;
/// Bits behind the point of a layer's factors.
const FACTOR_BITS: u32 = 24;
/// Largest value between layers.
const VALUE_MAX: i64 = 4095;
/// What stands before the first piece and behind the last.
const NO_PIECE: u32 = u32::MAX;

/// The network as it reads one text.
#[derive(Default)]
pub(crate) struct Network {
    near: Answers,
    wide: Answers,
}

/// Answers of a convolution, by the numbers of the three rows it saw.
struct Answers {
    places: HashMap<[u32; SEES], u32>,
    /// Rows of [`CHANNELS`] values. The first is empty and stands before the beginning and behind the end.
    rows: Vec<i16>,
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            places: HashMap::new(),
            rows: vec![0; CHANNELS],
        }
    }
}

impl Network {
    /// Returns the network's answer to these pieces.
    pub(crate) fn score(&mut self, ids: &[u32]) -> i32 {
        let ids = ids.get(..PIECES_MAX).unwrap_or(ids);
        let network = &WEIGHTS.network;
        let near = self.near.of(ids, NO_PIECE, &network.near, embed);
        let rows = &self.near.rows;
        let row = |at: u32, into: &mut Vec<i16>| into.extend_from_slice(row(rows, at));
        let wide = self.wide.of(&near, 0, &network.wide, row);
        let mut seen = strongest(&self.near.rows, &near);
        seen.extend(strongest(&self.wide.rows, &wide));
        seen.extend(mean(&self.wide.rows, &wide));
        let mut weights = Vec::new();
        let hidden: Vec<i16> = (0..HIDDEN)
            .map(|row| {
                network.hidden.widen(row, &mut weights);
                network.hidden.answer(row, dot(&weights, &seen))
            })
            .collect();
        let answer: i64 = network
            .last
            .iter()
            .zip(&hidden)
            .map(|(weight, value)| i64::from(i16::from_le_bytes(*weight)) * i64::from(*value))
            .sum();
        i32::try_from((answer + network.last_bias) >> network.last_shift).unwrap_or(0)
    }
}

impl Answers {
    /// Slides `layer` over the rows of these numbers, with a row of number `edge` at each end, and returns where its
    /// answers stand. `write` appends a row of a number.
    fn of(
        &mut self,
        numbers: &[u32],
        edge: u32,
        layer: &Layer,
        write: impl Fn(u32, &mut Vec<i16>),
    ) -> Vec<u32> {
        let at = |index: usize| numbers.get(index).copied().unwrap_or(edge);
        let before = |index: usize| index.checked_sub(1).map_or(edge, at);
        let seen = |index: usize| [before(index), at(index), at(index + 1)];
        let mut fresh: Vec<[u32; SEES]> = Vec::new();
        let mut places = Vec::with_capacity(numbers.len());
        for index in 0..numbers.len() {
            let next = u32::try_from(self.places.len() + 1).unwrap_or(0);
            let place = *self.places.entry(seen(index)).or_insert_with(|| {
                fresh.push(seen(index));
                next
            });
            places.push(place);
        }
        let mut values = Vec::with_capacity(BATCH * layer.width);
        for fresh in fresh.chunks(BATCH) {
            values.clear();
            for number in fresh.iter().flatten() {
                write(*number, &mut values);
            }
            self.add(&values, fresh.len(), layer);
        }
        places
    }
}

impl Answers {
    /// Adds the answers of `layer` to so many sights, which stand in `values` one behind the other.
    fn add(&mut self, values: &[i16], count: usize, layer: &Layer) {
        let first = self.rows.len();
        self.rows.resize(first + count * CHANNELS, 0);
        let sights: Vec<&[i16]> = values.chunks_exact(layer.width).collect();
        let (fours, rest) = sights.as_chunks::<ROWS>();
        let mut weights = Vec::new();
        for channel in 0..CHANNELS {
            layer.widen(channel, &mut weights);
            let fours = fours.iter().flat_map(|four| dot_of_four(&weights, *four));
            let rest = rest.iter().map(|sight| dot(&weights, sight));
            let places = self.rows.iter_mut().skip(first + channel);
            for (place, sum) in places.step_by(CHANNELS).zip(fours.chain(rest)) {
                *place = layer.answer(channel, sum);
            }
        }
    }
}

/// Appends the values of a piece.
fn embed(id: u32, into: &mut Vec<i16>) {
    let row = usize::try_from(id).unwrap_or(usize::MAX);
    let half = EMBEDDED / 2;
    let packed = row.checked_mul(half).and_then(|from| {
        let packed = WEIGHTS.embedding.get(from..from.checked_add(half)?)?;
        Some((packed, WEIGHTS.factors.get(row).copied()?))
    });
    let Some((packed, factor)) = packed else {
        into.resize(into.len() + EMBEDDED, 0);
        return;
    };
    let factor = i16::from(factor);
    for byte in packed {
        // Two values of four bits each, around eight.
        into.push((i16::from(byte & 15) - 8) * factor);
        into.push((i16::from(byte >> 4) - 8) * factor);
    }
}

fn row(rows: &[i16], place: u32) -> &[i16] {
    let from = usize::try_from(place).unwrap_or_default() * CHANNELS;
    rows.get(from..from + CHANNELS).unwrap_or_default()
}

/// Returns the strongest answer of each channel.
fn strongest(rows: &[i16], places: &[u32]) -> Vec<i16> {
    let mut most = vec![0; CHANNELS];
    for place in places {
        for (most, value) in most.iter_mut().zip(row(rows, *place)) {
            *most = (*most).max(*value);
        }
    }
    most
}

/// Returns the mean answer of each channel.
fn mean(rows: &[i16], places: &[u32]) -> Vec<i16> {
    let mut sums = vec![0_i32; CHANNELS];
    for place in places {
        for (sum, value) in sums.iter_mut().zip(row(rows, *place)) {
            *sum += i32::from(*value);
        }
    }
    let count = i32::try_from(places.len().max(1)).unwrap_or(i32::MAX);
    let means = sums.into_iter().map(|sum| sum / count);
    means
        .map(|mean| i16::try_from(mean).unwrap_or(i16::MAX))
        .collect()
}

impl Layer {
    /// Writes a row's weights as wide as the values they are multiplied with.
    fn widen(&self, row: usize, into: &mut Vec<i16>) {
        let weights = self.weights.get(row * self.width..(row + 1) * self.width);
        let weights = weights.unwrap_or_default().iter();
        into.clear();
        into.extend(weights.map(|weight| i16::from(weight.cast_signed())));
    }

    /// Returns a row's answer to a sum of products; nothing below zero.
    fn answer(&self, row: usize, sum: i32) -> i16 {
        let factor = self
            .factors
            .get(row)
            .map_or(0, |it| i64::from(i32::from_le_bytes(*it)));
        let bias = self.biases.get(row).map_or(0, |it| i64::from_le_bytes(*it));
        let value = (i64::from(sum) * factor + bias) >> FACTOR_BITS;
        i16::try_from(value.clamp(0, VALUE_MAX)).unwrap_or_default()
    }
}

/// Multiplies weights with values and adds up. Written so that the compiler multiplies eight pairs at once.
fn dot(weights: &[i16], row: &[i16]) -> i32 {
    let products = weights.iter().zip(row);
    products.map(|(w, v)| i32::from(*w) * i32::from(*v)).sum()
}

/// The same for four rows, so that each weight is loaded once for all of them.
fn dot_of_four(weights: &[i16], rows: [&[i16]; ROWS]) -> [i32; ROWS] {
    let [first, second, third, fourth] = rows;
    let mut sums = [0; ROWS];
    let [one, two, three, four] = &mut sums;
    let values = first.iter().zip(second).zip(third).zip(fourth);
    for (weight, (((first, second), third), fourth)) in weights.iter().zip(values) {
        let weight = i32::from(*weight);
        *one += weight * i32::from(*first);
        *two += weight * i32::from(*second);
        *three += weight * i32::from(*third);
        *four += weight * i32::from(*fourth);
    }
    sums
}
