//! Crates depend in one direction, and the core touches nothing outside itself.

use std::collections::BTreeMap;
use std::path::Path;

use crate::{files, metadata, root};

/// What each crate may use of ours.
const OURS: &[(&str, &[&str])] = &[
    ("countersign-crisis", &[]),
    ("countersign-core", &["countersign-crisis"]),
    ("countersign-store", &["countersign-core"]),
    ("countersign-channels", &["countersign-core"]),
    (
        "countersign-gate",
        &[
            "countersign-core",
            "countersign-store",
            "countersign-channels",
        ],
    ),
    (
        "countersign-agent",
        &["countersign-core", "countersign-gate"],
    ),
    (
        "countersign",
        &[
            "countersign-agent",
            "countersign-core",
            "countersign-store",
            "countersign-channels",
            "countersign-gate",
        ],
    ),
    // Used by tests alone.
    ("countersign-testkit", &[]),
    ("countersign-fuzz", &["countersign-core"]),
];

/// What the core may use of others: no clock, no randomness, no network, no runtime.
const CORE_MAY_USE: &[&str] = &[
    "aho-corasick",
    "base64",
    "countersign-crisis",
    "ed25519-dalek",
    "hmac",
    "memchr",
    "regex",
    "ryu-js",
    "serde",
    "serde_json",
    "sha2",
    "thiserror",
    "unicode-normalization",
];

/// What the source of the core must not name, with the reason.
const CORE_NEVER: &[(&str, &str)] = &[
    ("std::fs", "reads files"),
    ("std::env", "reads the environment"),
    ("std::net::Tcp", "uses the network"),
    ("std::net::Udp", "uses the network"),
    ("std::process", "runs programs"),
    ("std::time::SystemTime", "reads the clock"),
    ("std::time::Instant", "reads the clock"),
    ("std::thread", "runs by itself"),
    ("std::io::stdin", "reads input"),
    ("println!", "writes output"),
];

fn used_by(package: &serde_json::Value) -> Vec<&str> {
    let dependencies = package["dependencies"].as_array().unwrap();
    dependencies
        .iter()
        .filter(|it| it["kind"].is_null())
        .map(|it| it["name"].as_str().unwrap())
        .collect()
}

#[test]
fn crates_depend_in_one_direction() {
    let metadata = metadata();
    let rules: BTreeMap<&str, &[&str]> = OURS.iter().copied().collect();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        if !name.starts_with("countersign") {
            continue;
        }
        let allowed = rules
            .get(name)
            .unwrap_or_else(|| panic!("{name} has no row in OURS"));
        for used in used_by(package)
            .into_iter()
            .filter(|used| used.starts_with("countersign"))
        {
            assert!(allowed.contains(&used), "{name} must not depend on {used}");
        }
    }
}

#[test]
fn the_core_depends_on_nothing_that_reaches_outside() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let core = packages
        .iter()
        .find(|it| it["name"] == "countersign-core")
        .unwrap();
    for used in used_by(core) {
        assert!(
            CORE_MAY_USE.contains(&used),
            "the core must not depend on {used} without a row here"
        );
    }
}

#[test]
fn the_core_names_nothing_outside_itself() {
    for path in files(&root().join("crates/core/src"), ".rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let code = line.trim_start();
            if code.starts_with("//") {
                continue;
            }
            // What stands behind the tests of a file may read their data.
            if code.starts_with("mod tests") {
                break;
            }
            for (word, why) in CORE_NEVER {
                assert!(
                    !code.contains(word),
                    "{}:{}: `{word}` {why}",
                    path.display(),
                    number + 1
                );
            }
        }
    }
}

/// A tool runs with a permit, and permits are taken in one place: there is no second way.
#[test]
fn tools_are_run_in_one_place_alone() {
    // What may only stand in one file of the agent and the binary, besides where it is defined.
    let only = [
        (".take_up(", "crates/agent/src/dispatch.rs"),
        (".redeem(", "crates/agent/src/dispatch.rs"),
        (".run(permit", "crates/agent/src/dispatch.rs"),
    ];
    for crate_of_ours in ["crates/agent/src", "crates/countersign/src"] {
        for path in files(&root().join(crate_of_ours), ".rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let shown = path.strip_prefix(root()).unwrap().display().to_string();
            for (word, file) in only {
                let found = text.contains(word);
                assert!(!found || shown == file, "{shown} must not use `{word}`");
                if shown == file {
                    assert!(found, "{file} is where `{word}` was looked for");
                }
            }
        }
    }
}

/// Checks by reading, so a crate that only turns a feature on for another needs a use of its own.
#[test]
fn every_crate_uses_what_it_depends_on() {
    let metadata = metadata();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        if !name.starts_with("countersign") {
            continue;
        }
        let manifest = package["manifest_path"].as_str().unwrap();
        let folder = Path::new(manifest).parent().unwrap();
        for dependency in package["dependencies"].as_array().unwrap() {
            let used = dependency["name"].as_str().unwrap();
            let places: &[&str] = match dependency["kind"].as_str() {
                None => &["src", "fuzz_targets"],
                Some("dev") => &["src", "tests", "benches", "examples"],
                Some("build") => &["build"],
                Some(other) => panic!("{name}: `{other}` is no known kind of dependency"),
            };
            let sources = places
                .iter()
                .flat_map(|place| files(&folder.join(place), ".rs"));
            // The script itself stands outside the folder of its modules, and takes some of the crate.
            let script = folder.join("build.rs");
            let taken = std::fs::read_to_string(&script).unwrap_or_default();
            let taken = taken
                .lines()
                .filter_map(|line| line.strip_prefix("#[path = \"")?.strip_suffix("\"]"))
                .map(|path| folder.join(path));
            let script: Vec<_> = if places == ["build"] {
                taken.chain([script.clone()]).collect()
            } else {
                Vec::new()
            };
            let path = format!("{}::", used.replace('-', "_"));
            assert!(
                sources
                    .chain(script)
                    .filter_map(|file| std::fs::read_to_string(file).ok())
                    .any(|text| text.contains(&path)),
                "{name} depends on {used} and does not use it"
            );
        }
    }
}

/// Files that may name a chat platform outside its own module, with the reason.
const NAMES_A_PLATFORM: &[(&str, &str)] = &[
    ("crates/channels/src/lib.rs", "declares the module"),
    ("crates/channels/src/registry.rs", "holds its row"),
    ("crates/countersign/src/cmd/keys.rs", "an example in a hint"),
    (
        "crates/countersign/src/config/schema.rs",
        "the key of its accounts in `people`",
    ),
    (
        "crates/countersign/src/config/settings.rs",
        "the key of its accounts in `people`",
    ),
];

#[test]
fn a_chat_is_known_to_its_module_and_the_registry_alone() {
    let own = root().join("crates/channels/src/mattermost");
    let mut found = Vec::new();
    for crates in ["agent", "channels", "core", "countersign", "gate", "store"] {
        for path in files(&root().join("crates").join(crates).join("src"), ".rs") {
            let is_own = path.starts_with(&own) || path == own.with_extension("rs");
            let is_test = path.to_string_lossy().contains("/tests");
            let text = std::fs::read_to_string(&path).unwrap().to_lowercase();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let mut lines = code.lines().map(str::trim_start);
            let names = lines.any(|line| !line.starts_with("//") && line.contains("mattermost"));
            if names && !is_own && !is_test {
                let path = path.strip_prefix(root()).unwrap();
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    let allowed: Vec<&str> = NAMES_A_PLATFORM.iter().map(|(path, _)| *path).collect();
    assert_eq!(
        found, allowed,
        "every other file takes what it needs from the registry"
    );
}
