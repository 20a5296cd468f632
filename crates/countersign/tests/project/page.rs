//! The page's sources: what agents wrote is text there, nothing comes from elsewhere, and files say
//! what they are for.

use crate::{files, root};
use countersign_core::assessment::SideEffect;

/// Longest source file of the page.
const LINES_MAX: usize = 500;
/// Ways to turn text into markup or code, and to load something from elsewhere.
const FORBIDDEN: &[&str] = &[
    "dangerouslySetInnerHTML",
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "DOMParser",
    "createContextualFragment",
    "srcdoc",
    "eval(",
    "new Function",
    "import(",
    "trustedTypes",
    "https://",
];

fn sources() -> Vec<std::path::PathBuf> {
    let folder = root().join("web/src");
    let mut all = Vec::new();
    for ending in [".ts", ".tsx", ".css", ".html"] {
        all.extend(files(&folder, ending));
    }
    assert!(all.len() > 20, "the page's sources are not where they were");
    all
}

/// Returns the rows of the table `name` in `text`.
fn table<'t>(text: &'t str, name: &str) -> Vec<(&'t str, &'t str)> {
    let table = text.split(&format!("const {name}:")).nth(1).unwrap();
    let table = table.split("};").next().unwrap();
    table
        .lines()
        .filter_map(|line| line.trim().strip_suffix("\",")?.split_once(": \""))
        .collect()
}

#[test]
fn the_page_calls_side_effects_what_the_core_calls_them() {
    let text = std::fs::read_to_string(root().join("web/src/words.ts")).unwrap();
    let wanted = SideEffect::ALL.map(|it| (it.word(), it.phrase()));
    assert_eq!(table(&text, "SIDE_EFFECTS"), wanted);
}

#[test]
fn the_page_calls_factors_what_everybody_calls_them() {
    let text = std::fs::read_to_string(root().join("web/src/words.ts")).unwrap();
    let rows = table(&text, "FACTORS");
    assert_eq!(rows.len(), 5, "{rows:?}");
    for (name, words) in rows {
        let wanted = countersign_core::assessment::factor_words(name);
        assert_ne!(wanted, name, "nobody knows this factor");
        assert_eq!(words.to_lowercase(), wanted);
    }
}

#[test]
fn no_source_of_the_page_makes_markup_of_text_or_loads_from_elsewhere() {
    for path in sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        // Another script is loaded only by its literal name, from the page's own files.
        let text = text.replace("import(\"./views/", "");
        for word in FORBIDDEN {
            // One file names the worker's script, and its policy can return nothing else.
            let is_told = *word == "trustedTypes" && path.ends_with("web/src/install.ts");
            assert!(
                is_told || !text.contains(word),
                "{} says `{word}`",
                path.display()
            );
        }
    }
}

#[test]
fn the_one_policy_for_scripts_returns_the_worker_and_nothing_else() {
    let text = std::fs::read_to_string(root().join("web/src/install.ts")).unwrap();
    assert_eq!(text.matches("createPolicy(\"").count(), 1);
    assert!(
        text.contains("createPolicy(\"countersign-worker\", { createScriptURL: () => WORKER })")
    );
    assert!(text.contains("const WORKER = \"/worker.js\";"));
}

#[test]
fn every_source_of_the_page_says_what_it_is_for_and_is_short() {
    for path in sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.display();
        let is_script = name.to_string().contains(".ts");
        assert!(
            !is_script || text.starts_with("// "),
            "{name} does not say what it is for"
        );
        // Style is one file on purpose, and nobody writes what is generated.
        let is_style = path.extension().is_some_and(|it| it == "css");
        let is_generated = name.to_string().contains(".gen.");
        assert!(
            is_style || is_generated || text.lines().count() <= LINES_MAX,
            "{name} is too long"
        );
    }
}

#[test]
fn every_package_of_the_page_is_pinned() {
    let text = std::fs::read_to_string(root().join("web/package.json")).unwrap();
    let package: serde_json::Value = serde_json::from_str(&text).unwrap();
    for group in ["dependencies", "devDependencies"] {
        for (name, version) in package[group].as_object().unwrap() {
            let version = version.as_str().unwrap();
            let is_exact = version.split('.').all(|part| part.parse::<u32>().is_ok());
            assert!(is_exact, "{name} is not pinned: {version}");
        }
    }
    let lock = std::fs::read_to_string(root().join("web/package-lock.json")).unwrap();
    assert!(!lock.contains("\"resolved\""), "the lock names a registry");
}
