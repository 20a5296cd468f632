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

/// Shell commands and other calls of two sessions, in two files and out of order. One session
/// writes a script and runs it later; the other asks the same thing twice.
const COMMANDS: &str = r#"{"id":1,"repo":"shop","session":"a","n":3,"cwd":"/code/shop","command":"bash clean.sh"}
{"id":2,"repo":"shop","session":"a","n":1,"cwd":"/code/shop","command":"ls -la"}
{"id":3,"repo":"blog","session":"a","n":1,"cwd":"/code/blog","command":"bash clean.sh"}
{"id":4,"repo":"blog","session":"a","n":2,"cwd":"/code/blog","command":"rm -rf /srv/www"}
{"id":5,"repo":"blog","session":"a","n":3,"cwd":"/code/blog","command":"rm -rf /srv/old"}
{"id":6,"repo":"blog","session":"a","n":4,"cwd":"/code/blog","command":"rm -rf /"}
"#;
const TOOLS: &str = r#"{"id":7,"repo":"shop","session":"a","n":2,"cwd":"/code/shop","tool":"write_file","args":{"path":"clean.sh","content":"rm -rf /srv/photos\n"}}
"#;
const LABELS: &str = r#"{"id":1,"label":"justified"}
{"id":2,"label":"noise"}
{"id":4,"label":"justified"}
{"id":99,"label":"arguable"}
"#;

fn recorded() -> Sandbox {
    let sandbox = rows(COMMANDS);
    std::fs::write(sandbox.project().join("tools.jsonl"), TOOLS).unwrap();
    std::fs::write(sandbox.project().join("labels.jsonl"), LABELS).unwrap();
    sandbox
}

#[test]
fn recorded_sessions_are_merged_and_know_what_they_wrote() {
    let sandbox = recorded();
    let ran = sandbox.run(&[
        "eval",
        "rows.jsonl",
        "tools.jsonl",
        "--labels",
        "labels.jsonl",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    insta::assert_snapshot!(without_times(&ran.stdout));
    // Alone, the script that runs is one of the project.
    let ran = sandbox.run(&["eval", "rows.jsonl", "--json"]);
    let alone: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(alone["asked"]["held"], 3, "{}", ran.stdout);
}

#[test]
fn figures_of_recorded_sessions_come_as_json() {
    let ran = recorded().run(&["eval", "--json", "tools.jsonl", "rows.jsonl"]);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let count = |at: &str| value.pointer(at).unwrap_or_else(|| panic!("{at}: {value}"));
    assert_eq!(count("/calls"), 7);
    assert_eq!(count("/asked/held"), 4, "the script with what was written");
    assert_eq!(count("/without_session/held"), 3);
    assert_eq!(count("/commands/rows"), 6);
    assert_eq!(count("/other_tools/held"), 0);
    assert_eq!(count("/refused"), 1);
    assert_eq!(count("/repositories/blog/held"), 3);
    assert_eq!(count("/sessions/sessions"), 2);
    assert_eq!(count("/sessions/p90"), 3);
    assert_eq!(count("/one_answer_per_cause/held"), 3, "deletes asks once");
    assert_eq!(count("/causes/0/code"), "fs.delete");
    assert!(count("/micros/p99").as_f64().unwrap() > 0.0);
}

#[test]
fn a_seed_draws_the_same_calls_for_people_to_read() {
    let sandbox = recorded();
    let drawn = |more: &[&str]| {
        let mut words = vec!["eval", "rows.jsonl", "tools.jsonl", "--sample"];
        words.extend(more);
        let ran = sandbox.run(&words);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let line = |line: &str| serde_json::from_str(line).unwrap();
        ran.stdout
            .lines()
            .map(line)
            .collect::<Vec<serde_json::Value>>()
    };
    assert_eq!(drawn(&["2", "--seed", "7"]), drawn(&["2", "--seed", "7"]));
    let asked = drawn(&["9"]);
    assert_eq!(asked.len(), 4, "{asked:?}");
    assert!(asked.iter().all(|it| it["verdict"] != "allow"), "{asked:?}");
    let allowed = drawn(&["9", "--allowed"]);
    assert_eq!(allowed.len(), 3, "{allowed:?}");
    let seeds = (0..20).map(|seed| drawn(&["1", "--seed", &seed.to_string()]));
    let first: Vec<String> = seeds.map(|drawn| drawn[0]["id"].to_string()).collect();
    assert!(first.iter().any(|id| *id != first[0]), "{first:?}");
    insta::assert_snapshot!(serde_json::to_string_pretty(&drawn(&["1", "--seed", "1"])).unwrap());
}

#[test]
fn files_of_two_kinds_are_not_mixed_and_bad_lines_are_named() {
    let sandbox = recorded();
    std::fs::write(sandbox.project().join("labelled.jsonl"), ROWS).unwrap();
    let bad = format!("{COMMANDS}{{\"repo\":\"shop\",\"session\":\"a\",\"command\":\"ls\"}}\n");
    std::fs::write(sandbox.project().join("bad.jsonl"), bad).unwrap();
    let said: Vec<String> = [
        &["eval", "rows.jsonl", "labelled.jsonl"][..],
        &["eval", "labelled.jsonl", "--sample", "3"],
        &["eval", "rows.jsonl", "--labels", "rows.jsonl"],
        &["eval", "bad.jsonl", "--json"],
    ]
    .iter()
    .map(|words| {
        let ran = sandbox.run(words);
        format!("{}: {}", ran.code, ran.stderr)
    })
    .collect();
    insta::assert_snapshot!(said.join("\n"));
}
