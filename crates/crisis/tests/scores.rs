//! Scores are the same on every machine, and no text is too odd or too long for the model.

use std::time::Instant;

use countersign_crisis::{Role, Turn, score, talk, telling_words};
use proptest::prelude::*;

/// Texts of our own and their scores by the committed weights. Training again may change them; a
/// machine may not.
const GOLDEN: [(&str, i32); 8] = [
    ("See you on Monday.", -2879),
    ("I want to die.", 5387),
    ("Ich möchte einfach nicht mehr aufwachen.", 5047),
    ("Ya no puedo más, quiero desaparecer para siempre.", 4810),
    ("我不想活了", 8559),
    ("मैं अब जीना नहीं चाहता।", 6116),
    (
        "The server died again. Please restart it. Thank you!",
        -2558,
    ),
    ("", i32::MIN),
];

#[test]
fn scores_are_what_they_were() {
    let found: Vec<_> = GOLDEN
        .iter()
        .map(|(text, _)| (*text, score(text).value()))
        .collect();
    assert_eq!(found, GOLDEN);
}

#[test]
fn limits_lie_in_order() {
    let held = score("I want to die. I cannot go on living like this.");
    assert!(held.holds() && held.is_unsure() && held.supports());
    let clear = score("The train leaves at nine from platform four.");
    assert!(!clear.holds() && !clear.is_unsure());
}

#[test]
fn words_that_speak_for_it_are_words_of_the_text() {
    let text = "The parcel came today. I don't want to live any more, honestly.";
    let words: Vec<&str> = (telling_words(text, 3)
        .into_iter()
        .filter_map(|word| text.get(word)))
    .collect();
    assert!(!words.is_empty() && words.len() <= 3);
    assert!(words.iter().all(|word| text.contains(word)), "{words:?}");
    assert!(telling_words("", 3).is_empty());
}

/// A bound with room, because machines are busy.
#[test]
fn a_long_text_is_read_in_bounded_time() {
    let sentence = "I have been thinking about what you said on Monday. ";
    for unit in [sentence, "a. ", "愛", "x", "\u{301}", "🙂 "] {
        let long = unit.repeat(240 * 1024 / unit.len());
        let start = Instant::now();
        score(&long);
        let took = start.elapsed();
        assert!(took.as_secs() < 10, "{unit:?}: {took:?}");
    }
    let turn = Turn {
        role: Role::Person,
        text: sentence,
    };
    let start = Instant::now();
    talk("ok", &vec![turn; 20_000]);
    assert!(start.elapsed().as_secs() < 10);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_text_is_too_odd(text in "\\PC{0,200}|(\\s|[a-z.!?。]){0,300}", other in "\\PC{0,60}") {
        let alone = score(&text);
        prop_assert_eq!(alone, score(&text));
        telling_words(&text, 2);
        talk(&other, &[Turn { role: Role::Quoted, text: &text }]);
    }

    /// What is said beside it in other sentences does not hide a sign.
    #[test]
    fn harmless_sentences_around_a_sign_do_not_lower_it(count in 2_usize..40) {
        let sign = "I want to die. I cannot go on living like this.";
        let harmless = "The parcel came today. ".repeat(count);
        let around = format!("{harmless}{sign} {harmless}");
        prop_assert!(score(&around).holds());
    }

    /// Nor do sentences in a script with a stricter limit.
    #[test]
    fn harmless_sentences_in_another_script_do_not_lower_it(count in 2_usize..40) {
        let sign = "我不想活了。我真的撑不下去了。";
        let harmless = "The parcel came today. ".repeat(count);
        prop_assert!(score(sign).holds());
        let around = format!("{harmless}{sign}{harmless}");
        prop_assert!(score(&around) >= score(sign));
    }
}
