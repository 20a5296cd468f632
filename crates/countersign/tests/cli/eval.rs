//! `countersign eval`: figures per source, misses, bad lines.

use crate::support::Sandbox;

const ROWS: &str = r#"{"command":"rm -rf /srv/www","label":"dangerous","source":"hand one"}
{"command":"ls -la","label":"dangerous","source":"hand two","must_gate":true}
{"command":"ls -la","label":"safe","source":"hand"}
{"command":"rm -rf /srv/www","label":"safe","source":"other"}
{"command":"rm notes.txt","label":"ask","source":"other"}
{"tool":"terminal","args":{"command":"cat notes.txt"},"label":"unlabelled","source":"other"}
"#;

fn rows(text: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.project().join("rows.jsonl"), text).unwrap();
    sandbox
}

/// Times differ from run to run.
fn without_times(text: &str) -> String {
    text.lines()
        .filter(|line| !line.contains("µs"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn figures_come_per_source_with_the_misses() {
    let ran = rows(ROWS).run(&["eval", "rows.jsonl", "--misses"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("6 rows, "), "{}", ran.stdout);
    insta::assert_snapshot!(without_times(&ran.stdout));
}

#[test]
fn figures_come_as_json() {
    let ran = rows(ROWS).run(&["eval", "--json", "rows.jsonl"]);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["sources"]["hand"]["recall"], 0.5);
    assert_eq!(value["sources"]["other"]["false_alarms"], 1.0);
    assert_eq!(value["total"]["must_gate"]["rows"], 1);
    assert_eq!(value["rows"], 6);
    assert!(value["micros"]["p99"].as_f64().unwrap() > 0.0);
}

#[test]
fn bad_lines_are_counted_and_the_rest_goes_on() {
    let text =
        format!("{{\n{ROWS}{{\"command\":\"ls\"}}\n{{\"command\":\"ls\",\"label\":\"fine\"}}\n");
    let ran = rows(&text).run(&["eval", "rows.jsonl"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("6 rows, "), "{}", ran.stdout);
    insta::assert_snapshot!(ran.stderr);
}

#[test]
fn a_missing_file_is_named() {
    let ran = Sandbox::new().run(&["eval", "nowhere.jsonl"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    insta::assert_snapshot!(ran.stderr);
}
