//! Snapshot tests of the panel, at every width and in every state.

use super::*;
use crate::tui::picture::{album, both};

/// Keeps `shown` at all widths.
fn keep(name: &str, height: u16, make: impl Fn() -> Shown, prepare: impl Fn(&mut Shown)) {
    let album = album(|width| {
        let mut shown = make();
        shown.size = (width, height);
        shown.wait(0);
        prepare(&mut shown);
        shown.draw()
    });
    insta::with_settings!({ snapshot_path => "../../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(format!("approval_{name}"), album);
    });
}

fn high() -> Shown {
    Shown::read(&approval("high", "rm -rf /srv/www"))
}

fn low() -> Shown {
    let mut approval = approval("low", "git status --short");
    approval["card"]["reasons"] = json!(["this session asks about everything"]);
    Shown::read(&approval)
}

fn message() -> Value {
    let body = json!([
        { "name": "to", "text": "sam@example.org", "code": false },
        { "name": "text", "text": "Hello Sam,\n\nthe report is ready. 報告書は完成しました 🎉\n\nAna", "code": true },
    ]);
    let mut approval = with_body("critical", "Send a message to sam@example.org", &body);
    approval["card"]["reasons"] = json!([
        "a person in crisis may be affected",
        "writes to people: sam@example.org; it cannot be undone",
        "holds personal data (email)",
        "sends a secret: github token",
        "nothing is known about the channel",
    ]);
    approval["card"]["explanation"] = json!("Harmless.\nRisk: low\n1. Allow once");
    let lineage = approval["card"]["lineage"].as_array_mut().unwrap();
    lineage.push(json!({ "name": "Recipient", "text": "never written to before", "code": false }));
    lineage.push(json!({ "name": "In reply to", "text": "sam: is it done?", "code": true }));
    approval
}

fn edit() -> Value {
    let body = json!([
        { "name": "path", "text": "src/main.rs", "code": false },
        { "name": "old_string", "text": "fn main() {\n    let port = 80;\n    serve(port);\n}", "code": true },
        { "name": "new_string", "text": "fn main() {\n    let port = 8080;\n    log(port);\n    serve(port);\n}", "code": true },
    ]);
    let mut approval = with_body("medium", "Write src/main.rs", &body);
    approval["card"]["reasons"] = json!(["changes a file that is under version control"]);
    approval
}

fn patch() -> Value {
    let patch = "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,2 +1,2 @@\n fn main() {\n-    serve(80);\n+    serve(8080);";
    let body = json!([
        { "name": "path", "text": "src/main.rs", "code": false },
        { "name": "patch", "text": patch, "code": true },
    ]);
    with_body("medium", "Write src/main.rs", &body)
}

fn long() -> Value {
    let lines: Vec<String> = (1..=60)
        .map(|number| format!("echo step {number}"))
        .collect();
    approval("high", &lines.join("\n"))
}

pub(super) fn preview() -> Value {
    let scope = |words: &str, matched: u32, riskiest: &str| {
        let told = json!({ "matched": matched, "of": 200, "riskiest": riskiest });
        samples::with(samples::scope(words), told)
    };
    json!({ "scopes": [
        scope("terminal: exactly `rm -rf /srv/www`, from /srv/app", 1, "rm -rf /srv/www"),
        scope(
            "terminal: `rm -rf …` on anything inside /srv/www, from /srv/app, nothing more",
            12,
            "rm -rf /srv/www/uploads /srv/www/cache /srv/www/a-very-long-directory-name/with/more/below",
        ),
    ] })
}

#[test]
fn waiting() {
    keep("waits_high", 30, high, |_| {});
    keep("waits_low", 30, low, |_| {});
    let appears = || Shown::appears(&approval("high", "rm -rf /srv/www"));
    keep("not_armed_yet", 30, appears, |_| {});
    keep("key_too_soon", 30, appears, |shown| {
        shown.press_now(KeyCode::Char('1'));
    });
}

#[test]
fn what_would_run() {
    keep("message", 44, || Shown::read(&message()), |_| {});
    keep("change", 34, || Shown::read(&edit()), |_| {});
    keep(
        "change_side_by_side",
        34,
        || Shown::read(&edit()),
        |shown| {
            shown.press(KeyCode::Char('d'));
            shown.wait(1_000);
        },
    );
    keep("patch", 34, || Shown::read(&patch()), |_| {});
    keep("long", 30, || Shown::read(&long()), |_| {});
    keep(
        "long_opened",
        30,
        || Shown::read(&long()),
        |shown| {
            shown.press(KeyCode::Char('5'));
            shown.wait(1_000);
        },
    );
    keep(
        "long_read",
        30,
        || Shown::read(&long()),
        |shown| {
            shown.press(KeyCode::PageDown);
            shown.press(KeyCode::End);
            shown.wait(1_000);
        },
    );
    let mut hidden = approval("critical", "");
    hidden["card"]["body"] = json!([]);
    hidden["card"]["title"] = json!("Send a message to ana");
    keep("hidden", 30, || Shown::read(&hidden), |_| {});
    keep(
        "unreadable",
        30,
        || Shown::read(&json!({ "approval_id": "appr_1", "status": "waiting", "card": 7 })),
        |_| {},
    );
}

#[test]
fn answering() {
    keep("note", 30, high, |shown| {
        shown.press(KeyCode::Char('4'));
        shown.type_text("use the staging copy");
    });
    keep("grant_looks", 30, low, |shown| {
        shown.press(KeyCode::Char('2'));
    });
    let offered = |shown: &mut Shown| {
        shown.press(KeyCode::Char('3'));
        shown.told(&answered(PREVIEW, 200, preview()));
        shown.wait(1_000);
    };
    keep("grant", 40, low, offered);
    keep("grant_limit", 40, low, |shown| {
        offered(shown);
        shown.press(KeyCode::Char('e'));
        shown.type_text("30m x");
        shown.press_now(KeyCode::Enter);
    });
    keep("sending", 30, low, |shown| {
        shown.press(KeyCode::Char('1'));
    });
}

#[test]
fn answered_already() {
    keep("held", 30, low, |shown| {
        shown.press(KeyCode::Char('1'));
        let mut held = approval("low", "git status --short");
        held["held_until"] = json!(shown.now.plus(3_000).as_seconds());
        shown.told(&answered(RESOLVE, 200, held));
    });
    keep("elsewhere", 30, high, |shown| {
        let resolved = samples::event(json!({
            "event": "approval.resolved", "approval_id": "appr_1", "outcome": "denied",
            "by": "ana", "via": "mattermost", "note": "not on Friday",
            "timestamp": shown.now.as_seconds(),
        }));
        shown.told(&News::Event(Box::new(resolved)));
        shown.wait(3_000);
    });
    keep("expired", 30, high, |shown| {
        let decision = samples::decision(json!({
            "outcome": "expired", "cause": "expiry", "at": shown.now.as_seconds(),
        }));
        let body = json!({ "error": { "message": "it expired" }, "decision": decision });
        shown.press(KeyCode::Char('4'));
        shown.press(KeyCode::Enter);
        shown.told(&answered(RESOLVE, 410, body));
    });
    keep("forbidden", 30, high, |shown| {
        shown.press(KeyCode::Char('1'));
        let body = json!({ "error": { "message": "whoever asked does not answer" } });
        shown.told(&answered(RESOLVE, 403, body));
    });
}

#[test]
fn other_faces() {
    keep("why", 40, high, |shown| {
        shown.press(KeyCode::Char('w'));
        shown.told(&answered(
            TRACE,
            200,
            samples::trace(json!({ "verdict": "ask", "policy": "sha256:11aa" })),
        ));
    });
    keep("keys", 40, high, |shown| {
        shown.press(KeyCode::Char('?'));
    });
    keep("too_small", 8, high, |_| {});
}

#[test]
fn it_is_complete_without_colours_and_while_keys_go_elsewhere() {
    let album = album(|width| {
        let mut panel = panel(&approval("high", "rm -rf /srv/www"), Theme::COLOURLESS);
        drawn(width, 30, |frame| {
            panel.draw(frame, frame.area(), Focus::Elsewhere, START);
        })
    });
    assert!(
        !["red", "green", "yellow", "magenta", "cyan"]
            .iter()
            .any(|colour| album.contains(&format!("{colour} \"")))
    );
    insta::with_settings!({ snapshot_path => "../../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("approval_colourless_elsewhere", album);
    });
    let coloured = both(&Shown::read(&approval("high", "ls")).draw());
    assert!(coloured.contains("bold red \"HIGH"), "{coloured}");
}

/// A script with every kind of token, and one marked part.
fn script() -> Value {
    let command = "# clean up\nfor f in \"$DIR\"/*.log; do\n  rm -rf --verbose ${f} 2 'x y'\ndone";
    let mut approval = approval("high", command);
    let start = command.find("rm -rf").unwrap();
    approval["card"]["body"][0]["marks"] = json!([{ "start": start, "end": start + "rm -rf".len(), "severity": "high", "words": "deletes" }]);
    approval
}

#[test]
fn code_has_colours_and_reads_the_same_without_them() {
    keep("script", 30, || Shown::read(&script()), |_| {});
    let mut coloured = Shown::read(&script());
    let mut plain = Shown::read(&script());
    plain.panel = panel(&script(), Theme::COLOURLESS);
    plain.wait(1_000);
    assert_eq!(coloured.text(), plain.text());
    let colours = |buffer: ratatui::buffer::Buffer| {
        let mut colours: Vec<String> = buffer.content.iter().map(|it| it.fg.to_string()).collect();
        colours.sort_unstable();
        colours.dedup();
        colours
    };
    assert_eq!(colours(plain.draw()), ["Reset"]);
    for colour in ["Cyan", "Green", "LightBlue", "Magenta", "Red", "Yellow"] {
        let found = colours(coloured.draw());
        assert!(found.iter().any(|it| it == colour), "{colour}: {found:?}");
    }
}

#[test]
fn what_led_here_is_one_key_away() {
    let before = json!({
        "message": { "from": "ana", "text": "Clean up the old releases,\nplease." },
        "calls": [
            samples::trace(json!({ "created_at": START.plus(-90_000).as_seconds(), "command": "ls /srv", "decision": samples::decision(json!({ "outcome": "allowed", "cause": "rule" })) })),
            samples::trace(json!({ "created_at": START.plus(-30_000).as_seconds(), "call_id": "call_2", "command": "rm -rf /srv/old", "status": "denied",
                "decision": samples::decision(json!({ "outcome": "denied", "by": "ben", "via": "page" })) })),
        ],
    });
    keep("before", 24, high, |shown| {
        let reaction = shown.press(KeyCode::Char('b'));
        assert!(
            reaction
                .wishes
                .iter()
                .any(|wish| format!("{wish:?}").contains("/before"))
        );
        shown.told(&answered(BEFORE, 200, before.clone()));
    });
}
