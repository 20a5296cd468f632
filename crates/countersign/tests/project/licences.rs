//! Everything the project is built from has a licence that `deny.toml` allows.
//!
//! cargo-deny checks more (advisories, sources) where it is installed; this needs nothing but
//! cargo, so it runs everywhere.

use crate::{metadata, root};

/// Returns the licences that `deny.toml` allows.
fn allowed() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let (_, list) = text.split_once("allow = [").unwrap();
    let (list, _) = list.split_once(']').unwrap();
    list.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Whether an SPDX expression can be satisfied by `allowed`. `AND` binds stronger than `OR`, and
/// the parentheses in use only group alternatives.
fn satisfied(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace(" / ", " OR ").replace('/', " OR ");
    let one = |name: &str| {
        allowed
            .iter()
            .any(|it| it == name.trim_matches(['(', ')', ' ']))
    };
    if expression.contains('(') {
        return expression
            .split(" AND ")
            .all(|part| part.split(" OR ").any(one));
    }
    expression
        .split(" OR ")
        .any(|part| part.split(" AND ").all(one))
}

#[test]
fn every_licence_is_allowed() {
    let allowed = allowed();
    let metadata = metadata();
    for package in metadata["packages"].as_array().unwrap() {
        let (name, licence) = (
            &package["name"],
            package["license"].as_str().unwrap_or("none"),
        );
        assert!(
            satisfied(licence, &allowed),
            "{name} is under {licence}, which deny.toml does not allow"
        );
    }
}

#[test]
fn everything_comes_from_the_registry_or_from_here() {
    let metadata = metadata();
    for package in metadata["packages"].as_array().unwrap() {
        let source = package["source"].as_str().unwrap_or("");
        let known = source.is_empty()
            || source.starts_with("registry+https://github.com/rust-lang/crates.io-index");
        assert!(known, "{} comes from {source}", package["name"]);
    }
}

#[test]
fn expressions_are_read_as_they_are_meant() {
    let allowed = ["MIT".to_owned(), "Unicode-3.0".to_owned()];
    let rows = [
        ("MIT OR GPL-3.0", true),
        ("GPL-3.0", false),
        ("MIT/Apache-2.0", true),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("(MIT OR Apache-2.0) AND BSD-3-Clause", false),
        ("MIT AND GPL-3.0", false),
    ];
    for (expression, expected) in rows {
        assert_eq!(satisfied(expression, &allowed), expected, "{expression}");
    }
}
