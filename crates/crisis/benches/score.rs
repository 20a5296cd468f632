//! How long the model reads: per message (half of them take less, one in a hundred longer), and 240 KiB of texts that are
//! hard for it. `cargo bench -p countersign-crisis` prints microseconds; it judges nothing, because machines differ.

use std::hint::black_box;
use std::io::BufRead as _;
use std::time::Instant;

use countersign_crisis::score;

/// How often each text is read; the fastest counts.
const TIMES: usize = 3;
/// How many messages are taken from the corpus, evenly.
const MESSAGES: usize = 2000;

#[expect(clippy::print_stdout, reason = "it is a report")]
fn main() {
    let mut took: Vec<f64> = messages().iter().map(|text| micros(text)).collect();
    took.sort_by(f64::total_cmp);
    let at = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a place in a short list"
        )]
        let place = (took.len() as f64 * share) as usize;
        took.get(place).copied().unwrap_or_default()
    };
    println!("message: p50 {:.0} µs, p99 {:.0} µs", at(0.50), at(0.99));
    let words: Vec<String> = (0..40_000_u32)
        .map(|number| format!("{}.", number.wrapping_mul(2_654_435_761)))
        .collect();
    let prose = "I have been thinking about what you said on Monday. ";
    let hard = [
        ("prose", prose.repeat(5_000)),
        ("many sentences", "a. ".repeat(90_000)),
        ("no spaces", "愛".repeat(90_000)),
        ("one word", "x".repeat(250_000)),
        ("marks", "\u{301}".repeat(130_000)),
        ("numbers", words.concat()),
        (
            "numbers without sentences",
            words.concat().replace('.', " "),
        ),
        ("different sentences", messages().join(" ").repeat(2)),
    ];
    for (name, text) in hard {
        let text = text.get(..text.floor_char_boundary(240 * 1024));
        let took = micros(text.unwrap_or_default());
        println!("240 KiB, {name}: {took:.0} µs");
    }
}

fn micros(text: &str) -> f64 {
    let one = || {
        let start = Instant::now();
        black_box(score(black_box(text)));
        start.elapsed().as_secs_f64() * 1e6
    };
    (0..TIMES).map(|_| one()).fold(f64::MAX, f64::min)
}

fn messages() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/crisis");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .collect();
    files.sort();
    let mut texts = Vec::new();
    for file in files
        .iter()
        .filter_map(|file| std::fs::File::open(file).ok())
    {
        for line in std::io::BufReader::new(file).lines().map_while(Result::ok) {
            let row: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            let text = row.get("text").and_then(serde_json::Value::as_str);
            texts.extend(text.map(str::to_owned));
        }
    }
    let step = (texts.len() / MESSAGES).max(1);
    texts.into_iter().step_by(step).collect()
}
