//! What is named by its number, its place or its turn is asked about every time.

use countersign_core::call::ToolCall;
use countersign_core::grant::Scope;
use countersign_core::knowledge::{HANDLES, HandleRow};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{asking, covers, offered, shell, tool, widest};

/// Reads an example of a row: a tool with its arguments, or a command.
fn example(text: &str) -> ToolCall {
    match text.split_once(' ') {
        Some((name, args)) if args.starts_with('{') => {
            let args = serde_json::from_str(args);
            tool(name, args.unwrap_or_else(|error| panic!("{text}: {error}")))
        }
        _ => shell(text),
    }
}

#[test]
fn every_row_of_handles_holds_for_its_examples() {
    for HandleRow {
        what,
        matches,
        not_match,
        ..
    } in HANDLES
    {
        assert!(!matches.is_empty() && !not_match.is_empty(), "{what}");
        for text in *matches {
            let scopes = offered(&asking(), &example(text));
            assert_eq!(scopes, [], "{what}: {text}");
        }
        for text in *not_match {
            let scopes = offered(&asking(), &example(text));
            assert_ne!(scopes, [], "{what}: {text}");
        }
    }
}

fn handle_argument() -> impl Strategy<Value = (String, Value)> {
    let names: Vec<&str> = HANDLES
        .iter()
        .flat_map(|row| row.arguments)
        .copied()
        .collect();
    let values: Vec<&str> = HANDLES.iter().flat_map(|row| row.values).copied().collect();
    let by_name = (prop::sample::select(names), 0..9999_u32).prop_map(|(name, value)| {
        let spelt = if value % 2 == 0 {
            name.to_owned()
        } else {
            camel(name)
        };
        (spelt, json!(value))
    });
    let by_value = (prop::sample::select(values), 1..9999_u32).prop_map(|(value, number)| {
        let value = value.replace('#', &number.to_string());
        ("thing".to_owned(), json!(value.to_uppercase()))
    });
    prop_oneof![by_name, by_value]
}

fn camel(name: &str) -> String {
    let mut upper = false;
    let letters = name.chars().filter_map(|letter| {
        let is_gap = letter == '_';
        let said = if upper {
            letter.to_ascii_uppercase()
        } else {
            letter
        };
        upper = is_gap;
        (!is_gap).then_some(said)
    });
    letters.collect()
}

proptest! {
    #[test]
    fn a_handle_among_the_arguments_takes_every_standing_permission_away(
        (name, value) in handle_argument(), depth in 0..3_usize,
        which in prop::sample::select(vec!["mcp__acme__frobnicate", "mcp__web__press", "mcp__acme__remove_thing"]),
    ) {
        let plain = tool(which, json!({"level": 3}));
        let standing: Vec<Scope> = offered(&asking(), &plain);
        prop_assert!(!standing.is_empty());
        let mut inner = json!({ name: value });
        for _ in 0..depth {
            inner = json!([{ "steps": inner }]);
        }
        let call = tool(which, json!({"level": 3, "more": inner}));
        prop_assert_eq!(offered(&asking(), &call), vec![]);
        // A grant that was given before this was known covers it no more.
        prop_assert!(!covers(&widest(&plain), &call));
    }

    #[test]
    fn a_handle_in_a_command_takes_every_standing_permission_away(
        program in prop::sample::select(vec!["kill", "kill -9", "sudo kill", "env A=1 kill", "renice 5", "atrm", "timeout 5 kill"]),
        number in 2..99_999_u32, before in prop::sample::select(vec!["", "cd build && ", "true; "]),
    ) {
        let call = shell(&format!("{before}{program} {number}"));
        prop_assert_eq!(offered(&asking(), &call), vec![]);
    }
}
