//! Texts of authors who have not seen the rules: that they are sound, and what the rules make of them.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot read its data should fail"
)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use countersign_core::call::Turn;
use countersign_core::content::crisis::{Reading, read, read_by_rules, scan, scan_conversation};
use serde_json::Value;

const LANGUAGES: [&str; 15] = [
    "ar", "de", "en", "es", "fr", "hi", "it", "ja", "ko", "nl", "pl", "pt", "ru", "tr", "zh",
];

#[expect(clippy::disallowed_methods, reason = "tests read data sets")]
fn rows(of_talks: bool) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/crisis");
    let files = std::fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    names.sort();
    let is_wanted = |path: &Path| {
        let name = path
            .file_name()
            .and_then(|it| it.to_str())
            .unwrap_or_default();
        let is_corpus = path.extension().is_some_and(|it| it == "jsonl");
        is_corpus && name.starts_with("talks") == of_talks
    };
    let wanted = names.into_iter().filter(|path| is_wanted(path));
    let texts = wanted.map(|path| std::fs::read_to_string(path).expect("a text"));
    let texts: Vec<String> = texts.collect();
    let lines = texts.iter().flat_map(|text| text.lines());
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn word<'r>(row: &'r Value, key: &str) -> &'r str {
    row[key].as_str().unwrap_or_default()
}

/// Returns a text without what does not tell it from another: case, spaces, signs.
fn bare(text: &str) -> String {
    let letters = text.chars().filter(|it| it.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[test]
fn every_row_is_sound_and_no_text_stands_twice() {
    let (mut ids, mut texts) = (BTreeSet::new(), BTreeSet::new());
    let mut pairs: HashMap<String, Vec<String>> = HashMap::new();
    let rows = rows(false);
    for row in &rows {
        let id = word(row, "id");
        assert!(ids.insert(id.to_owned()), "{id} stands twice");
        let key = (word(row, "lang").to_owned(), bare(word(row, "text")));
        assert!(!key.1.is_empty() && texts.insert(key), "{id}: again");
        assert!(LANGUAGES.contains(&word(row, "lang")), "{id}");
        assert!(id.starts_with(word(row, "author")), "{id}");
        assert!(!word(row, "family").is_empty(), "{id}");
        assert!(
            ["crisis", "not_crisis"].contains(&word(row, "label")),
            "{id}"
        );
        if let Some(pair) = row["pair"].as_str() {
            let labels = pairs.entry(pair.to_owned()).or_default();
            labels.push(word(row, "label").to_owned());
        }
    }
    for (pair, mut labels) in pairs {
        labels.sort();
        assert_eq!(labels, ["crisis", "not_crisis"], "{pair}");
    }
    let talks = self::rows(true);
    for row in &talks {
        let turns = row["context"].as_array().map_or(0, Vec::len);
        assert!(turns > 0 && !word(row, "outgoing").is_empty(), "{row}");
        assert!(ids.insert(word(row, "id").to_owned()), "{row}");
        assert!(LANGUAGES.contains(&word(row, "lang")), "{row}");
        assert!(word(row, "id").starts_with(word(row, "author")), "{row}");
    }
    println!("{} texts, {} conversations", rows.len(), talks.len());
}

/// Letters of a shingle.
const SHINGLE: usize = 8;
/// Share of shingles in common from which two texts are one, in hundredths.
const ALIKE: usize = 70;

/// What is measured by leaving one author out is worth nothing if two authors wrote the same.
#[test]
fn no_author_has_nearly_a_text_of_another() {
    let rows = rows(false);
    let texts: Vec<BTreeSet<u64>> = rows.iter().map(|row| shingles(word(row, "text"))).collect();
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut alike = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let mut common: HashMap<usize, usize> = HashMap::new();
        for shingle in text {
            for other in holders.get(shingle).into_iter().flatten() {
                *common.entry(*other).or_default() += 1;
            }
        }
        for (other, common) in common {
            let all = text.len() + texts[other].len() - common;
            let is_of_another = rows[index]["author"] != rows[other]["author"];
            if is_of_another && common * 100 >= ALIKE * all {
                alike.push(format!(
                    "{} {}",
                    word(&rows[index], "id"),
                    word(&rows[other], "id")
                ));
            }
        }
        for shingle in text {
            holders.entry(*shingle).or_default().push(index);
        }
    }
    assert!(alike.is_empty(), "{}", alike.join("\n"));
}

fn shingles(text: &str) -> BTreeSet<u64> {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let letters: Vec<char> = bare(text).chars().collect();
    let windows = letters.windows(SHINGLE.min(letters.len()).max(1));
    let hash = |window: &[char]| {
        let mut hasher = DefaultHasher::new();
        window.hash(&mut hasher);
        hasher.finish()
    };
    windows.map(hash).collect()
}

/// What the rules alone reach on authors they were not written from, in thousandths. The limits may
/// only be moved in the right direction.
///
/// The authors who came last are plainer than the others and closer to them in their near-misses, which moved both.
const RECALL_MIN: usize = 168;
const ALARMS_MAX: usize = 56;
const TALKS_RECALL_MIN: usize = 83;
const TALKS_ALARMS_MAX: usize = 57;

/// The same of what the product holds by rules: where they name no person and no act, only with support of the model.
const HELD_RECALL_MIN: usize = 168;
const HELD_ALARMS_MAX: usize = 28;

#[test]
fn the_rules_do_no_worse_on_authors_who_have_not_seen_them() {
    let texts = rows(false);
    let told = |row: &Value| scan(word(row, "text")).is_sensitive();
    measure(&texts, told, RECALL_MIN, ALARMS_MAX);
    let held = |row: &Value| read_by_rules(word(row, "text"), &[]) == Reading::Held;
    measure(&texts, held, HELD_RECALL_MIN, HELD_ALARMS_MAX);
    let talks = rows(true);
    let told = |row: &Value| {
        let turns = row["context"].as_array().into_iter().flatten();
        let before = turns.filter_map(|turn| turn["text"].as_str());
        scan_conversation(word(row, "outgoing"), before).is_sensitive()
    };
    measure(&talks, told, TALKS_RECALL_MIN, TALKS_ALARMS_MAX);
}

/// What rules and model together reach as the product reads, on texts that the model was made from: not what it does with
/// unknown authors (docs/crisis.md says that), but what must not get lost on the way from training to product. In
/// thousandths; far below what was measured, because new weights move it.
const TOGETHER_RECALL_MIN: usize = 450;
const TOGETHER_ALARMS_MAX: usize = 50;
const TOGETHER_TALKS_RECALL_MIN: usize = 400;
const TOGETHER_TALKS_ALARMS_MAX: usize = 90;

#[test]
fn rules_and_model_together_hold_what_the_product_holds() {
    let texts = every(&rows(false), 10);
    let told = |row: &Value| read(word(row, "text"), &[]) == Reading::Held;
    measure(&texts, told, TOGETHER_RECALL_MIN, TOGETHER_ALARMS_MAX);
    let talks = every(&rows(true), 3);
    let told = |row: &Value| read(word(row, "outgoing"), &turns(row)) == Reading::Held;
    measure(
        &talks,
        told,
        TOGETHER_TALKS_RECALL_MIN,
        TOGETHER_TALKS_ALARMS_MAX,
    );
    // A head that knows who said what adds to the rules and takes nothing from them.
    for row in &talks {
        let before = turns(row);
        let by_rules = read_by_rules(word(row, "outgoing"), &before);
        assert!(read(word(row, "outgoing"), &before) >= by_rules, "{row}");
    }
}

/// Returns every so many rows: all of them take minutes.
fn every(rows: &[Value], step: usize) -> Vec<Value> {
    rows.iter().step_by(step).cloned().collect()
}

fn turns(row: &Value) -> Vec<Turn> {
    let turns = row["context"].as_array().into_iter().flatten();
    turns
        .map(|turn| Turn {
            from: word(turn, "role").to_owned(),
            text: word(turn, "text").to_owned(),
        })
        .collect()
}

fn measure(rows: &[Value], told: impl Fn(&Value) -> bool, recall_min: usize, alarms_max: usize) {
    // Of each author: crises, noticed, others, alarms.
    let mut counts: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for row in rows {
        let is_told = usize::from(told(row));
        let first = if word(row, "label") == "crisis" { 0 } else { 2 };
        for name in [word(row, "author"), "together"] {
            let count = counts.entry(name).or_default();
            count[first] += 1;
            count[first + 1] += is_told;
        }
    }
    for (author, [crises, noticed, others, alarms]) in &counts {
        println!("{author}: {noticed}/{crises} noticed, {alarms}/{others} alarms");
    }
    let [crises, noticed, others, alarms] = counts["together"];
    assert!(noticed * 1000 >= recall_min * crises, "{noticed}/{crises}");
    assert!(alarms * 1000 <= alarms_max * others, "{alarms}/{others}");
}
