//! The model as it is meant, part by part and without remembering anything: what the fast way is held against.

use std::ops::Range;

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

use crate::text::{is_of_word, windows};
use crate::weights::{CHANNELS, EMBEDDED, HIDDEN, Layer, WEIGHTS};
use crate::{LOOKED_AT_MAX, pieces, together};

fn fold(text: &str) -> String {
    let invisible = |it: &char| matches!(it, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{307}');
    let letters = text.nfkc().flat_map(char::to_lowercase);
    letters.filter(|it| !invisible(it)).nfc().collect()
}

fn parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = windows(text);
    if text.len() <= 2048 && parts.len() > 1 {
        parts.push(0..text.len());
    }
    parts
}

fn score(text: &str) -> i32 {
    let mut scored: Vec<(i32, Range<usize>)> = parts(text)
        .into_iter()
        .filter_map(|part| Some((linear(&fold(text.get(part.clone())?))?, part)))
        .collect();
    if scored.len() > LOOKED_AT_MAX {
        scored.sort_by_key(|(linear, part)| (std::cmp::Reverse(*linear), part.start));
        scored.truncate(LOOKED_AT_MAX);
    }
    let both = |(linear, part): (i32, Range<usize>)| {
        let part = text.get(part).unwrap();
        together(part, linear, network(&fold(part)))
    };
    scored.into_iter().map(both).max().unwrap_or(i32::MIN)
}

fn linear(folded: &str) -> Option<i32> {
    let (mut letters, mut words) = (Vec::new(), Vec::new());
    let mut before: Option<&str> = None;
    let runs = folded.split(|letter| !is_of_word(letter));
    for word in runs.filter(|word| !word.is_empty()) {
        let bounded: Vec<char> = format!(" {word} ").chars().collect();
        for count in 2..=5 {
            let groups = bounded.windows(count);
            letters.extend(groups.map(|group| hash(START, &String::from_iter(group))));
        }
        words.push(hash(START ^ 1, word));
        words.extend(before.map(|before| hash(hash(START ^ 2, before), word)));
        before = Some(word);
    }
    before?;
    let linear = &WEIGHTS.linear;
    let sum = vote(letters, linear.letters) + vote(words, linear.words) + linear.bias;
    Some(i32::try_from(sum).unwrap())
}

const START: u32 = 0x811c_9dc5;

fn hash(start: u32, text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(step(start, 0xff), step)
}

fn vote(mut hashes: Vec<u32>, weights: &[u8]) -> i64 {
    for hash in &mut hashes {
        let mixed = (*hash ^ (*hash >> 15)).wrapping_mul(0x2c1b_3c6d);
        *hash = (mixed ^ (mixed >> 12)) % u32::try_from(weights.len()).unwrap();
    }
    hashes.sort_unstable();
    hashes.dedup();
    let weight = |place: &u32| i64::from(weights[*place as usize].cast_signed());
    let sum: i64 = hashes.iter().map(weight).sum();
    let root = ((hashes.len() as u64) << 20).isqrt().cast_signed();
    (sum * WEIGHTS.linear.scale).checked_div(root).unwrap_or(0)
}

fn network(folded: &str) -> i32 {
    let mut ids = pieces::ids(folded);
    ids.truncate(512);
    let mut embedded = vec![vec![0_i16; EMBEDDED]];
    for id in &ids {
        let row = *id as usize;
        let factor = i16::from(WEIGHTS.factors[row]);
        let packed = &WEIGHTS.embedding[row * EMBEDDED / 2..(row + 1) * EMBEDDED / 2];
        let values = packed.iter().flat_map(|byte| [byte & 15, byte >> 4]);
        embedded.push(values.map(|it| (i16::from(it) - 8) * factor).collect());
    }
    embedded.push(vec![0; EMBEDDED]);
    let network = &WEIGHTS.network;
    let near = convolve(&embedded, &network.near);
    let wide = convolve(&near, &network.wide);
    let most = |rows: &[Vec<i16>], channel: usize| rows.iter().map(|it| it[channel]).max();
    let mean = |channel: usize| {
        let sum: i32 = wide.iter().map(|row| i32::from(row[channel])).sum();
        i16::try_from(sum / i32::try_from(ids.len().max(1)).unwrap()).unwrap()
    };
    let mut seen: Vec<i16> = Vec::new();
    seen.extend((0..CHANNELS).map(|it| most(&near, it).unwrap()));
    seen.extend((0..CHANNELS).map(|it| most(&wide, it).unwrap()));
    seen.extend((0..CHANNELS).map(mean));
    let weighed = network.last.iter().zip(0..HIDDEN).map(|(weight, row)| {
        let value = answer(&network.hidden, row, &seen);
        i64::from(i16::from_le_bytes(*weight)) * i64::from(value)
    });
    i32::try_from((weighed.sum::<i64>() + network.last_bias) >> network.last_shift).unwrap()
}

fn convolve(rows: &[Vec<i16>], layer: &Layer) -> Vec<Vec<i16>> {
    let mut answers = vec![vec![0; CHANNELS]];
    let answered = rows.windows(3).map(|seen| {
        let seen = seen.concat();
        (0..CHANNELS).map(|row| answer(layer, row, &seen)).collect()
    });
    answers.extend(answered);
    answers.push(vec![0; CHANNELS]);
    answers
}

fn answer(layer: &Layer, row: usize, seen: &[i16]) -> i16 {
    let weights = &layer.weights[row * layer.width..(row + 1) * layer.width];
    let pairs = weights.iter().zip(seen);
    let sum: i32 = pairs
        .map(|(w, v)| i32::from(w.cast_signed()) * i32::from(*v))
        .sum();
    let factor = i64::from(i32::from_le_bytes(layer.factors[row]));
    let value = (i64::from(sum) * factor + i64::from_le_bytes(layer.biases[row])) >> 24;
    i16::try_from(value.clamp(0, 4095)).unwrap()
}

#[test]
fn long_texts_and_odd_borders_have_the_score_they_are_meant_to_have() {
    let sentence = "I have been thinking about what you said on Monday. ";
    let mixed: Vec<String> = (0..80)
        .map(|it| format!("Note {it}: ich bin müde. 我累了。"))
        .collect();
    let mixed = mixed.concat();
    let texts = [
        sentence.repeat(60),
        mixed,
        "愛".repeat(3_000),
        "x".repeat(5_000),
        "a.\u{307}b. c.\u{301}d. e\u{200b}.\u{200b}\u{301}f. ".repeat(9),
        "각.\u{11a8}나.\u{1161} ｶ.ﾞ ".repeat(5),
        "ends without a word. :-) … !!".to_owned(),
        format!("{}\u{307}{}", "c".repeat(1_200), "c".repeat(1_200)),
        "i\u{307}.İ.I\u{307}.ſ\u{307}. ".repeat(4),
    ];
    for text in &texts {
        assert_eq!(crate::score(text).value(), score(text), "{text}");
        assert_eq!(crate::parts(text), parts(text), "{text}");
    }
}

#[test]
fn each_script_has_its_limit_and_a_mixed_text_the_loosest_of_its_own() {
    let added = |text| together(text, 0, 0);
    let [latin, _, _, _, han, ..] = WEIGHTS.scripts;
    assert!(latin < han);
    assert_eq!(added("tired of it all"), latin);
    assert_eq!(added("我累了"), han);
    assert_eq!(added("tired of it 我累了"), han);
    assert_eq!(added("tired of it all and of the word 累"), latin);
    assert_eq!(added("κουρασμένος"), 0);
    assert_eq!(added("1 2 3"), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_score_is_what_it_is_meant_to_be(
        text in "(\\PC{0,30}[.!?。\n]?){0,12}|([a-zäé]{1,8}[ .!?]{1,2}){0,60}|([a-z.\u{300}-\u{308}\u{200b}가-각ᆨᅡ]{1,3}){0,40}",
    ) {
        prop_assert_eq!(crate::score(&text).value(), score(&text));
        prop_assert_eq!(crate::parts(&text), parts(&text));
        let folded = crate::text::fold(&text);
        prop_assert_eq!(&folded, &fold(&text));
    }
}
