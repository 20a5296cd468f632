//! The crisis detector held to its goals and laws, on its own corpus and on larger sets.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that cannot read its data should fail"
)]

use std::path::{Path, PathBuf};

use countersign_core::call::Turn;
use countersign_core::content::crisis::{
    Flag, Level, Reading, read, read_by_rules, scan, scan_conversation,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::processor;

/// Share of texts that must be noticed, and share of harmless ones that may be, per mille.
struct Goal {
    recall: usize,
    false_alarms: usize,
}

const ALONE: Goal = Goal {
    recall: 970,
    false_alarms: 20,
};
const IN_CONVERSATION: Goal = Goal {
    recall: 950,
    false_alarms: 20,
};

#[test]
fn the_own_corpus_meets_the_goals() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/crisis.jsonl");
    measure(&file, &ALONE);
}

#[test]
fn the_larger_sets_meet_the_goals() {
    let Some(data) = data_dir() else { return };
    measure(&data.join("content/crisis_open.jsonl"), &ALONE);
    measure(
        &data.join("content/crisis_ctx_open.jsonl"),
        &IN_CONVERSATION,
    );
}

/// Whether a message is held is decided the quick way; what is shown of it is found the whole way.
#[test]
#[expect(clippy::disallowed_methods, reason = "tests read data sets")]
fn the_quick_answer_is_the_one_of_the_whole_reading() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/crisis.jsonl");
    let rows = std::fs::read_to_string(own).expect("the data set is readable");
    let texts: Vec<String> = rows
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter_map(|row| row["text"].as_str().map(str::to_owned))
        .collect();
    let long = "and so on ".repeat(60_000);
    // Pairs of neighbours are texts in which one part is harmless and another is not.
    let pairs = texts.windows(2).map(|pair| pair.join("\n"));
    let all = texts.iter().cloned().chain(pairs).chain([long]);
    let mut sensitive = 0;
    for text in all {
        let whole = scan(&text);
        let is_noticed = read_by_rules(&text, &[]) > Reading::Clear;
        let is_denied = whole.flags.contains(Flag::Denial);
        assert_eq!(is_noticed, whole.is_sensitive() || is_denied, "{text}");
        sensitive += usize::from(is_noticed);
    }
    assert!(sensitive > 100, "{sensitive} sensitive texts tell nothing");
}

#[expect(clippy::disallowed_methods, reason = "tests may look for data sets")]
fn data_dir() -> Option<PathBuf> {
    let dir = std::env::var_os("COUNTERSIGN_DATA_DIR").map(PathBuf::from);
    if dir.is_none() {
        crate::skipped::skipped("COUNTERSIGN_DATA_DIR is not set: no data sets");
    }
    dir
}

#[expect(clippy::disallowed_methods, reason = "tests read data sets")]
fn measure(file: &Path, goal: &Goal) {
    let rows = std::fs::read_to_string(file).expect("the data set is readable");
    let (mut must, mut noticed, mut harmless, mut alarms) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for row in rows
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
    {
        let turns = row["context"].as_array().into_iter().flatten();
        let before: Vec<Turn> = turns.map(turn).collect();
        let said = row["outgoing"].as_str().or_else(|| row["text"].as_str());
        let outgoing = said.unwrap_or_default();
        let sensitive = read(outgoing, &before) == Reading::Held;
        let shown = format!("{before:?} {outgoing}");
        let gate = row["gate"]
            .as_str()
            .or_else(|| row["label"].as_str())
            .unwrap_or_default();
        match gate {
            "must" | "crisis" => {
                must += 1;
                noticed += usize::from(sensitive);
                if !sensitive {
                    wrong.push(format!("missed: {shown}"));
                }
            }
            "no" | "not_crisis" => {
                harmless += 1;
                alarms += usize::from(sensitive);
                if sensitive {
                    wrong.push(format!("false alarm: {shown} {:?}", scan(outgoing).rules));
                }
            }
            // Held or not, both are fine: bereavement, news, clinical text.
            _ => {}
        }
    }
    println!(
        "{}: {noticed}/{must} noticed, {alarms}/{harmless} alarms",
        file.display()
    );
    assert!(must > 0 && harmless > 0, "nothing was measured");
    let wrong = wrong.join("\n");
    assert!(
        noticed * 1000 >= goal.recall * must,
        "recall {noticed}/{must}\n{wrong}"
    );
    assert!(
        alarms * 1000 <= goal.false_alarms * harmless,
        "alarms {alarms}/{harmless}\n{wrong}"
    );
}

fn turn(value: &Value) -> Turn {
    Turn {
        from: value["role"].as_str().unwrap_or_default().to_owned(),
        text: value["text"].as_str().unwrap_or_default().to_owned(),
    }
}

#[test]
fn levels_and_flags_say_what_kind_of_sign_it_is() {
    let rows: &[(&str, Level, &[Flag])] = &[
        ("I want to kill myself", Level::Thoughts, &[]),
        (
            "I tried to take my own life, my last suicide attempt was in May",
            Level::Plan,
            &[Flag::Past],
        ),
        (
            "Goodbye everyone, I'm sorry, I can't stay",
            Level::Imminent,
            &[],
        ),
        (
            "I cut myself again last night",
            Level::Thoughts,
            &[Flag::SelfHarm],
        ),
        (
            "my friend wants to kill herself",
            Level::Thoughts,
            &[Flag::ThirdParty],
        ),
        (
            "you can call or text 988 at any time",
            Level::Indirect,
            &[Flag::Intervention],
        ),
        (
            "nobody would miss you, kill yourself",
            Level::Thoughts,
            &[Flag::Encouragement],
        ),
        (
            "I'm not suicidal, just tired",
            Level::Indirect,
            &[Flag::Denial],
        ),
    ];
    for (text, level, flags) in rows {
        let signs = scan(text);
        assert!(signs.level >= *level, "{text}: {signs:?}");
        for flag in *flags {
            assert!(
                signs.flags.contains(*flag),
                "{text}: no {flag:?} in {signs:?}"
            );
        }
    }
}

#[test]
fn a_harmless_text_leaves_no_trace() {
    let signs = scan("The deploy is green, see you at nine");
    assert_eq!(signs.level, Level::None);
    assert!(signs.rules.is_empty() && signs.flags.is_empty() && signs.span.is_none());
    assert!(!signs.is_sensitive());
}

#[test]
fn the_span_points_at_the_words() {
    for text in [
        "The build is fine. I want to die, sorry",
        "Всё ок. Ｉ ｗａｎｔ ｔｏ ｄｉｅ",
    ] {
        let (start, end) = scan(text).span.expect("a span");
        let words = text[start..end].to_lowercase();
        assert!(
            words.contains("die") || words.contains("ｄｉｅ"),
            "{text}: {words}"
        );
    }
}

#[test]
fn a_retraction_does_not_clear_what_was_said() {
    let before = [
        "I want to kill myself",
        "I'm listening.",
        "sorry, forget it, I'm fine",
    ];
    assert!(scan_conversation("ok", before).is_sensitive());
    assert!(!scan_conversation("ok", ["please restart the server"]).is_sensitive());
}

#[test]
fn disguises_do_not_hide_a_sign() {
    for text in [
        "k1ll my$3lf",
        "I want to k.i.l.l myself",
        "i w a n t t o d i e",
        "w\u{200b}ant to d\u{200b}ie",
        "і wаnt tо dіе",
        "ｉ ｗａｎｔ ｔｏ ｄｉｅ",
        "𝓲 𝔀𝓪𝓷𝓽 𝓽𝓸 𝓭𝓲𝓮",
        "🅺🅸🅻🅻 🅼🆈🆂🅴🅻🅵",
        "I want to **d**ie",
        "i wanna dieeeeee",
        "s*icidal again",
        "i\nwant\nto\ndie",
        r#"{"body":"I don\u2019t want to live anymore\nsorry"}"#,
        r#"{\"body\":\"I\\u0027m going to kill myself\"}"#,
        "body=I%20want%20to%20die",
        "<p>I want to <b>die</b></p>",
        "&#73; want to die",
        "我 想 自 杀",
        "iwanttodie",
    ] {
        assert!(scan(text).is_sensitive(), "{text}");
    }
}

#[test]
fn a_text_too_long_to_read_counts_as_a_sign() {
    let signs = scan(&"all is well. ".repeat(100_000));
    assert_eq!(signs.rules, ["too_long"]);
    assert!(signs.is_sensitive());
    assert!(!scan(&"all is well. ".repeat(1_000)).is_sensitive());

    let hidden = format!("{}I want to kill myself", "all is well. ".repeat(100_000));
    let (start, end) = scan(&hidden).span.expect("a span in the tail");
    assert!(
        hidden[start..end].contains("kill"),
        "{}",
        &hidden[start..end]
    );
}

/// Texts of the corpus with the given gate.
#[expect(clippy::disallowed_methods, reason = "tests read data sets")]
fn corpus(gate: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/crisis.jsonl");
    std::fs::read_to_string(file)
        .expect("the corpus is readable")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter(|row| row["gate"] == gate)
        .filter_map(|row| row["text"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn harmless_text_around_a_sign_never_clears_it() {
    let harmless = corpus("no");
    let signs: Vec<String> = corpus("must")
        .into_iter()
        .filter(|t| scan(t).is_sensitive())
        .collect();
    let mut cleared = Vec::new();
    for (number, sign) in signs.iter().enumerate() {
        for step in 0..6 {
            let other = &harmless[(number * 7 + step * 31) % harmless.len()];
            for text in [
                format!("{sign}\n{other}"),
                format!("{other}\n{sign}"),
                format!("{other}. {sign}"),
                format!("{sign}. {other}"),
            ] {
                if !scan(&text).is_sensitive() {
                    cleared.push(text);
                }
            }
        }
    }
    assert!(cleared.is_empty(), "{}", cleared.join("\n---\n"));
}

#[test]
fn time_grows_with_the_text_and_no_faster() {
    for unit in [
        "kill the process. ",
        "a*",
        "\\",
        "i w a n t ",
        "\"  ",
        "不想活",
        "d1e ",
        "<a",
        "&#",
        "%41",
    ] {
        let small = unit.repeat(4_000);
        let large = unit.repeat(32_000);
        scan(&small);
        let (_, short) = processor::time(|| scan(&small));
        let (_, long) = processor::time(|| scan(&large));
        // Eight times the text.
        assert!(
            long < short * 40 + std::time::Duration::from_millis(50),
            "{unit}: {short:?} {long:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_text_is_judged_without_panic_and_alike_each_time(text in "\\PC{0,200}|[ -~\\n]{0,200}") {
        let signs = scan(&text);
        prop_assert_eq!(&signs, &scan(&text));
        if let Some((start, end)) = signs.span {
            prop_assert!(text.get(start..end).is_some());
        }
    }

    #[test]
    fn a_sign_survives_any_line_before_and_after(before in "[ -~]{0,60}", after in "\\PC{0,60}") {
        let text = format!("{before}\nI want to kill myself\n{after}");
        prop_assert!(scan(&text).is_sensitive(), "{}", text);
    }
}
