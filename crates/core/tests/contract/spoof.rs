//! Texts made to fool the person who approves are shown as what they are; honest text is shown unchanged.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests read data and may fail loudly"
)]

use countersign_core::display::{self, Severity, deceptions, is_deceptive_for_shell, plain};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    id: String,
    text: String,
    flags: Vec<String>,
    must_show: Vec<String>,
    must_not: Vec<String>,
    prop: String,
}

/// The rows call some things by other names than the code does.
fn codes_for(flag: &str) -> &[&str] {
    match flag {
        "control_char" => &["control"],
        "invisible" => &["zero_width", "tag_block", "bidi"],
        "tag_chars" => &["tag_block"],
        "elided" => &["long_text"],
        "zalgo" => &["combining_marks"],
        "ansi_escape" => &["ansi_escape"],
        "bidi" => &["bidi"],
        "homoglyph" => &["homoglyph", "mixed_script"],
        "unusual_space" => &["unusual_space"],
        "many_lines" => &["many_lines"],
        "long_whitespace" => &["long_whitespace"],
        "ui_forgery" => &["ui_forgery"],
        "link_mismatch" => &["link_mismatch"],
        "header_injection" => &["header_injection"],
        "extension_mismatch" => &["extension_mismatch"],
        "url_userinfo" => &["url_userinfo"],
        "url_lookalike" => &["url_lookalike"],
        "display_name_mismatch" => &["display_name_mismatch"],
        "markup" => &["markup"],
        "remote_image" => &["remote_image"],
        "mass_mention" => &["mass_mention"],
        "hidden_style" => &["hidden_style"],
        "approval_claim" => &["approval_claim"],
        "command_bait" => &["command_bait"],
        "prompt_injection" => &["prompt_injection"],
        "encoded_payload" => &["encoded_payload"],
        other => panic!("no code for {other}"),
    }
}

fn rows(file: &str) -> Vec<Row> {
    let path = format!("{}/../../corpus/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect()
}

fn complaints(row: &Row) -> Vec<String> {
    let mut wrong = Vec::new();
    // What an agent says about a call is one field among the real ones, never instead of them.
    let summary = row.flags == ["summary_mismatch"];
    let shown = if summary {
        display::fields([
            ("to", "all@example.org"),
            ("body", "other text"),
            ("summary", row.text.as_str()),
        ])
    } else {
        plain(&row.text)
    };
    for must in &row.must_show {
        let must = must.replace("<U+", "⟨U+").replace("⟨U+200B>", "⟨U+200B⟩");
        let must = if must.starts_with("⟨U+") {
            must.replace('>', "⟩")
        } else {
            must
        };
        if !shown.contains(&must) {
            wrong.push(format!("{} does not show {must:?}: {shown}", row.id));
        }
    }
    for must_not in &row.must_not {
        if shown.contains(must_not.as_str()) {
            wrong.push(format!("{} shows {must_not:?}", row.id));
        }
    }
    let found = deceptions(&row.text);
    if row.flags.is_empty() {
        let unfenced = shown
            .lines()
            .map(|line| {
                line.strip_prefix("│ ")
                    .unwrap_or(line.trim_start_matches('│'))
            })
            .collect::<Vec<_>>()
            .join("\n");
        if unfenced != row.text {
            wrong.push(format!("{} altered: {shown}", row.id));
        }
        if !found.is_empty() {
            wrong.push(format!("{} flagged: {found:?}", row.id));
        }
    }
    for flag in row.flags.iter().filter(|_| !summary) {
        let codes = codes_for(flag);
        if !found
            .iter()
            .any(|deception| codes.contains(&deception.code))
        {
            wrong.push(format!("{} lacks {flag} ({}): {found:?}", row.id, row.prop));
        }
    }
    wrong
}

#[test]
fn every_row_is_shown_as_it_is() {
    for (file, least) in [("spoof.jsonl", 76), ("spoof_more.jsonl", 40)] {
        let rows = rows(file);
        let wrong: Vec<String> = rows.iter().flat_map(complaints).collect();
        println!("{file}: {} rows, {} complaints", rows.len(), wrong.len());
        assert!(rows.len() >= least, "{file} has {} rows", rows.len());
        assert!(wrong.is_empty(), "{file}: {wrong:#?}");
    }
}

#[derive(Deserialize)]
struct Call {
    command: String,
    label: String,
    #[serde(default)]
    must_gate: bool,
}

#[test]
fn commands_that_look_other_than_they_run_are_told_from_honest_ones() {
    let Ok(folder) = std::env::var("COUNTERSIGN_DATA_DIR") else {
        crate::skipped::skipped("COUNTERSIGN_DATA_DIR is not set: no data sets");
        return;
    };
    let (mut gated, mut missed, mut safe, mut alarms, mut loud) =
        (0, Vec::new(), 0usize, Vec::new(), Vec::new());
    for file in std::fs::read_dir(format!("{folder}/commands")).unwrap() {
        for line in std::fs::read_to_string(file.unwrap().path())
            .unwrap()
            .lines()
        {
            let row: Call = serde_json::from_str(line).unwrap();
            let found = is_deceptive_for_shell(&row.command);
            if row.must_gate {
                gated += 1;
                if found.is_none() {
                    missed.push(row.command.clone());
                }
            } else if row.label == "safe" {
                safe += 1;
                alarms.extend(found.map(|deception| (deception.code, row.command.clone())));
                let claims: Vec<_> = deceptions(&row.command)
                    .into_iter()
                    .filter(|d| d.severity == Severity::High)
                    .map(|d| {
                        (
                            d.code,
                            row.command
                                .get(d.span.0..d.span.1)
                                .unwrap_or_default()
                                .to_owned(),
                        )
                    })
                    .collect();
                if !claims.is_empty() {
                    loud.push((row.command.clone(), claims));
                }
            }
        }
    }
    println!(
        "{gated} deceptive commands, {} missed; {safe} safe, {} alarms: {alarms:#?}",
        missed.len(),
        alarms.len()
    );
    println!("high deceptions in safe commands: {} {loud:#?}", loud.len());
    assert!(gated > 0 && safe > 0, "nothing was measured");
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(alarms.len() * 1000 <= safe, "{} of {safe}", alarms.len());
}

/// Whether a character may stand in what a person is shown, given its neighbours.
fn is_visible(before: Option<char>, character: char) -> bool {
    let invisible = matches!(character,
        '\u{0}'..='\u{9}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'
        | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}');
    // Joiners, selectors and tags are honest only behind a letter that joins, an emoji or a flag.
    let needs_base = matches!(character, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}');
    let base_is_plain = before.is_none_or(|before| {
        before.is_ascii_alphabetic() || before.is_whitespace() || before == '⟩'
    });
    !(invisible || needs_base && base_is_plain)
}

/// Text with a good share of what deceives.
fn hostile_text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        any::<char>().prop_map(String::from),
        "[a-z /.;|\\n\\t\\\\%&#x0-9@:<>\\[\\]()-]{0,12}",
        prop::sample::select(vec![
            "\u{202e}",
            "\u{200b}",
            "\u{200d}",
            "\u{200c}",
            "\u{1b}[2K",
            "\u{9b}",
            "\r",
            "\n",
            "\u{e0061}",
            "\u{e007f}",
            "\u{1f3f4}",
            "\u{fe0f}",
            "\u{e0165}",
            "👩",
            "م",
            "а",
            "a",
            "ｒ",
            "\u{301}",
            "\u{a0}",
            "\u{3000}",
            "中",
            "⟨",
            "⟩",
            "│",
            "https://",
            "@",
            "xn--",
            "%41",
            "\\x41",
            "aGVsbG8gd29ybGQgYWdhaW4=",
            "\0",
            "\u{85}",
            "\u{2028}",
            "‹secret: ",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn what_is_shown_holds_nothing_invisible(text in hostile_text()) {
        for shown in [plain(&text), display::full(&text), display::inline(&text)] {
            let mut before = None;
            for character in shown.chars() {
                prop_assert!(is_visible(before, character), "U+{:04X} in {shown:?} from {text:?}", u32::from(character));
                before = Some(character);
            }
        }
        prop_assert!(!display::inline(&text).contains('\n'));
    }

    #[test]
    fn every_line_is_fenced_or_in_the_firewalls_own_voice(text in hostile_text()) {
        for line in plain(&text).split('\n') {
            prop_assert!(line.starts_with('│') || line.starts_with('⟨') && line.ends_with('⟩'), "{line:?}");
        }
    }

    #[test]
    fn spans_lie_in_the_text_and_the_answer_is_always_the_same(text in hostile_text()) {
        let found = deceptions(&text);
        for deception in &found {
            prop_assert!(deception.span.0 <= deception.span.1 && deception.span.1 <= text.len(), "{deception:?}");
        }
        prop_assert_eq!(&found, &deceptions(&text));
        prop_assert_eq!(plain(&text), plain(&text));
        if let Some(deception) = is_deceptive_for_shell(&text) {
            prop_assert!(text.get(deception.span.0..deception.span.1).is_some());
        }
    }

    #[test]
    fn printable_ascii_has_no_deceptive_character(text in "[ -~\\n\\t]{0,300}") {
        prop_assert!(is_deceptive_for_shell(&text).is_none());
        let character_codes = ["ansi_escape", "control", "bidi", "zero_width", "tag_block", "unusual_space", "mixed_script", "combining_marks"];
        prop_assert!(deceptions(&text).iter().all(|deception| !character_codes.contains(&deception.code)));
    }
}

#[test]
fn long_hostile_text_takes_no_time() {
    let hostile = [
        "a\u{200b}",
        "👩\u{200d}",
        "@all ",
        "](",
        "\\x41",
        "%41",
        "e\u{301}\u{301}",
        "https://a@",
        "[[[[",
        "<a href=",
        "x ",
        "ａ",
    ];
    for piece in hostile {
        let text = piece.repeat(64 * 1024 / piece.len());
        let (shown, taken) =
            crate::processor::time(|| plain(&text).len() + deceptions(&text).len());
        assert!(shown > 0 && taken.as_secs() < 5, "{piece:?} took {taken:?}");
    }
}
