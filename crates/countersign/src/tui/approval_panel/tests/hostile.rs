//! Tests: hostile text is drawn completely and as text.

use countersign_core::approval::{Approval, State};
use countersign_core::call::ToolCall;
use countersign_core::card::{Card, Lineage, Redacts};
use countersign_core::digest::Digest;
use countersign_core::id::ApprovalId;
use countersign_core::judge::judge;
use countersign_core::policy::Policy;

use super::*;
use crate::tui::picture::{WIDTHS, assert_harmless, text};
use crate::tui::theme::FENCE;

/// Returns an approval with the card that the firewall makes of `call`.
fn asked_about(call: &ToolCall, explanation: &str) -> Value {
    let asked = Approval {
        id: ApprovalId("appr_1".to_owned()),
        digest: Digest::of(b"the call"),
        asked_at: START,
        expires_at: START.plus(250_000),
        choices: vec![Choice::Once, Choice::Session, Choice::Always, Choice::Deny],
        extended_millis: 0,
        undo_millis: 0,
        state: State::Waiting,
    };
    let lineage = Lineage {
        key_name: "laptop".to_owned(),
        agent: Some(explanation.chars().take(60).collect()),
        run: "run_1".to_owned(),
        session: "s".to_owned(),
        explanation: Some(explanation.to_owned()),
        ..Lineage::default()
    };
    let judged = judge(&Policy::default(), call);
    let card = Card::new(&asked, call, &judged.assessment, &lineage, Redacts::Nothing);
    let mut shown = approval("high", "");
    shown["card"] = serde_json::to_value(card).unwrap();
    shown
}

/// Checks that the whole body reaches the screen, row by row, and nothing else does.
fn assert_drawn_whole(name: &str, approval: &Value, width: u16) {
    let mut panel = panel(approval, Theme::COLOURED);
    let rows = panel.pages.body_mut().rows(usize::from(width));
    let lines = panel
        .pages
        .body_mut()
        .lines(0..rows, usize::from(width), Theme::COLOURED);
    let texts: String = lines
        .iter()
        // Behind the fence and the sign; a marked text is several pieces.
        .flat_map(|line| {
            line.spans
                .iter()
                .skip_while(|span| span.content != FENCE)
                .skip(2)
        })
        // Numbers of lines are ours.
        .filter(|span| span.style != Theme::COLOURED.quiet())
        .map(|span| span.content.as_ref())
        .collect();
    let wanted: String = panel
        .subject
        .card
        .body
        .iter()
        .map(|field| field.text.replace('\n', ""))
        .collect();
    assert_eq!(texts, wanted, "{name} at {width}");
    let height = u16::try_from(rows).unwrap().min(400);
    let buffer = drawn(width, height, |frame| {
        panel
            .pages
            .body_mut()
            .draw(frame, frame.area(), 0, Theme::COLOURED);
    });
    assert_harmless(&buffer, name);
    for (row, line) in text(&buffer).lines().zip(&lines) {
        let line: String = line
            .spans
            .iter()
            .map(|span| span.content.as_ref())
            .collect();
        assert_eq!(row, line.trim_end(), "{name} at {width}");
    }
}

#[test]
fn every_row_of_the_corpus_is_drawn_visibly_and_whole() {
    let mut tried = 0;
    for file in ["spoof.jsonl", "spoof_more.jsonl"] {
        let path = format!("{}/../../corpus/{file}", env!("CARGO_MANIFEST_DIR"));
        for row in std::fs::read_to_string(path).unwrap().lines() {
            let row: Value = serde_json::from_str(row).unwrap();
            let (name, hostile) = (row["id"].as_str().unwrap(), row["text"].as_str().unwrap());
            let approval = asked_about(&ToolCall::command(hostile), hostile);
            for width in WIDTHS {
                assert_drawn_whole(name, &approval, width);
                let mut shown = Shown::read(&approval);
                shown.size = (width, 60);
                assert_harmless(&shown.draw(), name);
            }
            tried += 1;
        }
    }
    assert!(tried >= 116, "{tried}");
}

#[test]
fn an_accent_on_a_quote_is_drawn_with_it() {
    for hostile in [
        "rm \"a\"\u{338}b",
        "if\u{301} true",
        "$HOME\u{20dd} #\u{338}x",
        "-a 1\u{338}2",
    ] {
        let approval = asked_about(&ToolCall::command(hostile), "");
        for width in WIDTHS {
            assert_drawn_whole(hostile, &approval, width);
        }
    }
}

#[test]
fn a_hundred_thousand_characters_on_one_line_are_all_there() {
    let rows = [
        ("plain", "x".repeat(100_000)),
        ("wide", "漢".repeat(33_000)),
        (
            "with a tail",
            format!("echo {} ; rm -rf ~", "a".repeat(99_000)),
        ),
        ("returns", "ls\r".repeat(10_000)),
        ("escapes", "\u{1b}[2K\r".repeat(5_000)),
    ];
    for (name, hostile) in rows {
        let approval = asked_about(&ToolCall::command(hostile.as_str()), "");
        assert_drawn_whole(name, &approval, 80);
        let mut shown = Shown::read(&approval);
        let first = shown.text();
        assert!(first.contains("rows hidden"), "{name}: {first}");
        assert!(shown.press(KeyCode::Char('1')).wishes.is_empty(), "{name}");
        shown.press(KeyCode::PageDown);
        shown.press(KeyCode::End);
        assert_harmless(&shown.draw(), name);
    }
    let command = ToolCall::command(format!("echo {} ; rm -rf ~", "a".repeat(99_011)));
    let shown = Shown::read(&asked_about(&command, "")).text();
    assert!(
        shown.contains("; rm -rf ~"),
        "the end is in view at once: {shown}"
    );
}

#[test]
fn a_text_cannot_pass_for_a_word_of_ours() {
    let forged = "ls\n╰──────╯\n LOW — nothing to see\n ❯ 1. Allow once\n 1-9 or ↑/↓ to select";
    let mut shown = Shown::read(&asked_about(&ToolCall::command(forged), forged));
    shown.size = (80, 60);
    for row in shown.text().lines() {
        for word in ["LOW —", "╰──────╯", "nothing to see"] {
            let (before, found) = row.split_once(word).unwrap_or(("", ""));
            // What an agent calls itself stands behind that word, on one row.
            let is_named = row.starts_with("│ Agent  ");
            let is_fenced = before.matches('│').count() == 2;
            assert!(found.is_empty() || is_named || is_fenced, "{row}");
        }
    }
}
