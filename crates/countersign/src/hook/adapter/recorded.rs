//! What real agents sent to their hooks is understood as what it was.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::{ADAPTERS, Answer, Event};

/// Agents whose inputs nobody here could record.
const NOT_RECORDED: &[&str] = &["cursor"];

#[test]
fn inputs_of_real_agents_are_understood() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks/recorded");
    let mut seen = String::new();
    for adapter in ADAPTERS {
        let file = folder.join(format!("{}.jsonl", adapter.name));
        let Ok(text) = std::fs::read_to_string(&file) else {
            assert!(
                NOT_RECORDED.contains(&adapter.name),
                "no {}",
                file.display()
            );
            continue;
        };
        for line in text.lines() {
            let Ok(Value::Object(input)) = serde_json::from_str(line) else {
                panic!("{}: {line}", adapter.name);
            };
            let event = (adapter.read)(input);
            let event = event.unwrap_or_else(|why| panic!("{}: {why}: {line}", adapter.name));
            let _infallible = writeln!(seen, "{} {}", adapter.name, told(&event));
        }
    }
    insta::assert_snapshot!(seen);
}

fn told(event: &Event) -> String {
    match event {
        Event::Call(wish) => {
            let part = wish.part.as_deref().unwrap_or("-");
            let args = wish
                .args
                .as_object()
                .map(|args| args.keys().cloned().collect::<Vec<_>>());
            format!(
                "calls {} {:?} part={part} cwd={:?}",
                wish.tool,
                args.unwrap_or_default(),
                wish.cwd
            )
        }
        Event::Said { text, .. } => format!("said {text:?}"),
        Event::Ran(ran) => format!("ran failed={} exit={:?}", ran.failed, ran.exit_code),
        Event::Other => "other".to_owned(),
    }
}

#[test]
fn a_deny_has_a_reason_in_one_line_and_an_allow_is_no_deny() {
    for adapter in ADAPTERS {
        let wish = super::Wish {
            tool: "Bash".to_owned(),
            args: serde_json::json!({ "command": "ls" }),
            id: Some("t1".to_owned()),
            session: "s1".to_owned(),
            ..super::Wish::default()
        };
        for reason in ["", " \n ", "two\nlines", "\u{202e}back"] {
            let deny = adapter.output(&Answer::Deny(reason.to_owned()), Some(&wish));
            let said = format!("{}{}", deny.stdout, deny.stderr);
            assert!(said.trim().len() > 20, "{}: {said}", adapter.name);
            assert!(!said.contains('\u{202e}'), "{}: {said}", adapter.name);
            assert!(deny.stderr.lines().count() <= 1, "{}: {said}", adapter.name);
        }
        let allow = adapter.output(&Answer::Allow, Some(&wish));
        assert_eq!(
            (allow.code, allow.stderr.as_str()),
            (0, ""),
            "{}",
            adapter.name
        );
        // Nothing is allowed that nobody could read.
        let unknown = adapter.output(&Answer::Allow, None);
        assert_ne!(unknown, allow, "{}", adapter.name);
        let denied = adapter.output(&Answer::Deny(String::new()), None);
        assert_eq!(unknown, denied, "{}", adapter.name);
    }
}
