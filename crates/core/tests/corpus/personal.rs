//! Personal data is told from order numbers, versions, digests and the mailboxes of offices.

#![expect(clippy::disallowed_methods, reason = "tests read data")]

use countersign_core::content::personal::scan;
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    id: String,
    text: String,
    label: String,
    kind: String,
}

#[test]
fn personal_data_is_found_and_other_numbers_are_not() {
    for file in ["pii_open.jsonl", "pii_more.jsonl"] {
        let path = format!("{}/../../corpus/{file}", env!("CARGO_MANIFEST_DIR"));
        let (mut hits, mut personal, mut alarms, mut clean) = (0, 0, 0, 0);
        let mut wrong = Vec::new();
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let row: Row = serde_json::from_str(line).unwrap();
            let found = scan(&row.text);
            let is_personal = row.label == "pii";
            if is_personal {
                personal += 1;
                hits += usize::from(!found.is_empty());
            } else {
                clean += 1;
                alarms += usize::from(!found.is_empty());
            }
            if is_personal == found.is_empty() {
                wrong.push(format!(
                    "{} {} {}: {} {found:?}",
                    row.id, row.label, row.kind, row.text
                ));
            }
        }
        println!(
            "{file}: found {hits} of {personal}, false alarms {alarms} of {clean}: {wrong:#?}"
        );
        assert!(personal > 0 && clean > 0, "{file}: nothing was measured");
        assert!(
            hits * 1000 >= personal * 900,
            "{file}: {hits} of {personal}: {wrong:#?}"
        );
        assert!(
            alarms * 1000 <= clean * 30,
            "{file}: {alarms} of {clean}: {wrong:#?}"
        );
    }
}

proptest! {
    #[test]
    fn any_text_gets_an_answer_and_always_the_same(text in "\\PC{0,200}") {
        let found = scan(&text);
        prop_assert_eq!(&found, &scan(&text));
        prop_assert!(found.iter().all(|find| find.span.0 <= find.span.1 && find.span.1 <= text.len()));
    }

    #[test]
    fn any_digits_get_an_answer(text in "[A-Z0-9 .:+@-]{0,80}") {
        prop_assert!(scan(&text).iter().all(|find| find.span.1 <= text.len()));
    }
}
