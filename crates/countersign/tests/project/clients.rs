//! The terminal and the commands speak to the gateway like any other program, and read typed answers.

use std::path::PathBuf;

use crate::{files, root};

/// What belongs to the clients, under `crates/countersign/src`.
const CLIENTS: &[&str] = &[
    "acp", "acp.rs", "tui", "cmd", "mcp", "mcp.rs", "slash.rs", "words.rs", "show.rs",
];

/// How a field is picked out of JSON by its name.
const BY_NAME: &[&str] = &["[\"", ".get(\"", ".pointer(", "config::read::at"];

/// Files that look up a name in JSON that is not an answer of the gateway, with the reason.
const BY_NAME_FOR_A_REASON: &[(&str, &str)] = &[
    ("cmd/check/human.rs", "the arguments of a tool"),
    ("acp/permission.rs", "a message of an agent"),
    ("acp/relay.rs", "a message of an editor or an agent"),
    ("cmd/eval.rs", "the arguments of a tool"),
    ("cmd/eval/sessions.rs", "labels that people wrote"),
    ("cmd/eval/sessions/sample.rs", "the arguments of a tool"),
    ("cmd/mcp/serve.rs", "a message of a client"),
    ("cmd/serve.rs", "the configuration"),
    ("cmd/teach.rs", "the configuration"),
    ("mcp/call.rs", "a message of a client"),
    ("mcp/configured.rs", "the configuration"),
    ("mcp/definitions.rs", "what a server says of its tools"),
    ("mcp/http/mirror.rs", "a message of a client"),
    ("mcp/http/remote.rs", "an answer of a server"),
    ("mcp/http/spoken.rs", "a message of a server"),
    ("mcp/message.rs", "a message of a client or a server"),
];

/// What only the gateway itself and commands on its home may use, with who may.
const GATEWAY_ALONE: &[(&str, &[&str])] = &[
    ("crate::server", &["cmd/serve.rs"]),
    (
        "crate::gateway",
        &["cmd/serve.rs", "cmd/keys.rs", "cmd/ledger.rs"],
    ),
];

/// Returns the clients' files with their code: no comments, no tests.
fn clients() -> Vec<(String, String)> {
    let source = root().join("crates/countersign/src");
    let all = CLIENTS.iter().flat_map(|name| -> Vec<PathBuf> {
        let path = source.join(name);
        if path.is_dir() {
            files(&path, ".rs")
        } else {
            vec![path]
        }
    });
    let shown = |path: &PathBuf| {
        let path = path.strip_prefix(&source).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let is_test = |name: &str| name.contains("/tests/") || name.ends_with("/tests.rs");
    all.filter(|path| !is_test(&shown(path)))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text
                .lines()
                .take_while(|line| !line.starts_with("mod tests {"))
                .filter(|line| !line.trim_start().starts_with("//"));
            (shown(&path), code.collect::<Vec<_>>().join("\n"))
        })
        .collect()
}

#[test]
fn answers_are_read_as_types_and_not_by_name() {
    let clients = clients();
    assert!(clients.len() > 40, "hardly any files were found");
    for (name, code) in &clients {
        let is_excepted = BY_NAME_FOR_A_REASON.iter().any(|(file, _)| file == name);
        let found = code
            .lines()
            .find(|line| BY_NAME.iter().any(|way| indexes(line, way)));
        match found {
            Some(line) => assert!(is_excepted, "{name} picks a field by name: {line}"),
            None => assert!(!is_excepted, "{name} needs no exception any more"),
        }
    }
}

/// Whether `line` uses `way` on a value. A list of texts (`&["a"]`, `vec!["a"]`) and a request
/// (`get("/v1/…")`) begin the same.
fn indexes(line: &str, way: &str) -> bool {
    line.match_indices(way).any(|(at, _)| {
        let before = line.get(..at).and_then(|it| it.chars().next_back());
        let is_value = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | ')' | ']');
        match way {
            "[\"" => before.is_some_and(is_value),
            ".get(\"" => !line
                .get(at + way.len()..)
                .is_some_and(|it| it.starts_with('/')),
            _ => true,
        }
    })
}

#[test]
fn a_field_that_is_picked_by_name_would_be_found() {
    for line in [
        "body[\"id\"]",
        "call.args.get(\"command\")",
        "x.pointer(path)",
    ] {
        assert!(BY_NAME.iter().any(|way| indexes(line, way)), "{line}");
    }
    for line in [
        "&[\"a\", \"b\"]",
        "vec![\"ls\"]",
        "client.get(\"/v1/keys\")",
    ] {
        assert!(!BY_NAME.iter().any(|way| indexes(line, way)), "{line}");
    }
}

#[test]
fn clients_reach_the_gateway_over_http_alone() {
    for (name, code) in clients() {
        for (module, may) in GATEWAY_ALONE {
            let uses = code.contains(&format!("{module}::"));
            assert!(
                !uses || may.contains(&name.as_str()),
                "{name} uses {module}"
            );
        }
    }
}
