//! Secrets are found in every shape the table knows, in messages as people and agents write them, and
//! hashes, references and stand-ins are left alone. No credential is stored here: all are made at run time.

#![expect(clippy::disallowed_methods, reason = "tests read data and run the generator")]

use countersign_core::content::secrets::shape::{CLASSES, Part, SHAPES, parts};
use countersign_core::content::secrets::{View, redact, scan};
use proptest::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A small generator of numbers: tests must give the same answer every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn letters(&mut self, alphabet: &str, count: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..count).map(|_| alphabet[self.roll(alphabet.len())]).collect()
    }
}

const SMALL: &str = "abcdefghijklmnopqrstuvwxyz";
const LARGE: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

fn alphabet(class: &str) -> String {
    match class {
        "an" | "b6" | "pc" => format!("{SMALL}{LARGE}{DIGITS}"),
        "al" => format!("{SMALL}{LARGE}"),
        "lo" => SMALL.to_owned(),
        "up" => LARGE.to_owned(),
        "ld" => format!("{SMALL}{DIGITS}"),
        "ud" => format!("{LARGE}{DIGITS}"),
        "hx" => "0123456789abcdef".to_owned(),
        "dg" => DIGITS.to_owned(),
        "ur" | "az" => format!("{SMALL}{LARGE}{DIGITS}_-"),
        "b3" => format!("{LARGE}234567"),
        "be" => "023456789ACDEFGHJKLMNPQRSTUVWXYZ".to_owned(),
        "bl" => "023456789acdefghjklmnpqrstuvwxyz".to_owned(),
        other => panic!("no alphabet for {other}"),
    }
}

fn uuid(dice: &mut Dice) -> String {
    [8, 4, 4, 4, 12].map(|count| dice.letters("0123456789abcdef", count)).join("-")
}

fn sample(shape: &'static str, dice: &mut Dice) -> String {
    let mut made = String::new();
    for part in parts(shape).unwrap() {
        match part {
            Part::Literal(text) => made.push_str(text),
            Part::Class { name: "uu" | "hu", .. } => made.push_str(&uuid(dice)),
            Part::Class { name, min, .. } => made.push_str(&dice.letters(&alphabet(name), min)),
        }
    }
    made
}

const MESSAGES: &[&str] = &[
    "{}", "Here is the key: {}", "use {} for staging", "can you try {} please?", "<code>{}</code>", "auth={}",
    "- {}\n- ask Ben", "\"{}\", don't share", "curl -H 'X-Api-Key: {}' https://api.example.org", "v1?key={}&page=2",
    r#"{"body":"line one\n{}\nthanks"}"#,
];

#[test]
fn every_row_of_the_table_can_be_read() {
    let rows = include_str!("../knowledge/secrets.tsv").lines().filter(|row| !row.starts_with('#')).count();
    assert_eq!(SHAPES.len(), rows);
    for shape in SHAPES.iter() {
        assert!(shape.regex().is_some(), "{}: {}", shape.kind, shape.text);
        assert!(!shape.keyword.is_empty(), "{}: {}", shape.kind, shape.text);
    }
    assert!(CLASSES.len() > 10);
}

#[test]
fn every_shape_is_found_in_every_kind_of_message() {
    let mut missed = Vec::new();
    let mut dice = Dice(0x5EED_0001);
    let mut total = 0;
    for shape in SHAPES.iter() {
        for message in MESSAGES {
            total += 1;
            let value = sample(shape.text, &mut dice);
            let text = message.replacen("{}", &value, 1);
            if scan(&text).is_empty() {
                missed.push(format!("{}: {} in {message}", shape.kind, shape.text));
            }
        }
    }
    // A random value may look like a stand-in or have too little variety; that is rare.
    assert!(missed.len() * 200 <= total, "{} of {total} missed: {missed:#?}", missed.len());
}

#[derive(Deserialize)]
struct Row {
    id: String,
    text: String,
    label: String,
    kind: String,
    split: String,
}

/// Runs the generator of the corpus into a temporary folder; nothing if there is no Python.
fn generated() -> Option<Vec<Row>> {
    let folder = std::env::temp_dir().join(format!("countersign-secrets-{}", std::process::id()));
    let generator = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/gen_secrets.py");
    let made = std::process::Command::new("python3").arg(generator).arg(&folder).output();
    if !made.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: python3 is not there, the generated credentials were not tried");
        return None;
    }
    let rows = std::fs::read_to_string(folder.join("secrets_all.jsonl")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    Some(rows.lines().map(|row| serde_json_row(row)).collect())
}

fn serde_json_row(row: &str) -> Row {
    serde_json::from_str(row).unwrap()
}

#[test]
fn generated_secrets_are_found_and_hard_negatives_are_not() {
    let Some(rows) = generated() else { return };
    let mut tally: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for row in &rows {
        let found = !scan(&row.text).is_empty();
        let class = if row.kind.starts_with("evasion") { "evasion" } else { row.label.as_str() };
        let entry = tally.entry((class, row.split.as_str())).or_default();
        entry.0 += usize::from(found);
        entry.1 += 1;
        if found != (row.label == "secret") {
            let shown: String = row.text.chars().take(110).collect();
            wrong.push(format!("{} {} {}: {shown}", row.id, row.kind, row.label));
        }
    }
    println!("{tally:#?}\n{wrong:#?}");
    let sum = |class: &str| {
        tally.iter().filter(|((c, _), _)| *c == class).fold((0, 0), |s, (_, n)| (s.0 + n.0, s.1 + n.1))
    };
    let (secret, clean, evasion) = (sum("secret"), sum("clean"), sum("evasion"));
    assert!(secret.0 * 100 >= secret.1 * 98, "recall {secret:?}");
    assert!(clean.0 * 1000 <= clean.1 * 5, "false alarms {clean:?}");
    assert!(evasion.0 >= 55, "evasions {evasion:?}");
}
