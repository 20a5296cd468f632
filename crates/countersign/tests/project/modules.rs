//! The modules of a crate import each other in one direction.
//!
//! Directions between crates are in `architecture`; cargo does not check those between modules.

use std::collections::{BTreeMap, BTreeSet};

use crate::{files, root};

/// Crates in which no two top-level modules import each other, however far around.
const WITHOUT_CYCLES: &[&str] = &["core", "store", "channels", "gate", "agent", "countersign"];

/// Each top-level module of a crate, with the modules it imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

fn imports(name: &str) -> Imports {
    let source = root().join("crates").join(name).join("src");
    let mut imports = Imports::new();
    for path in files(&source, ".rs") {
        let relative = path.strip_prefix(&source).unwrap();
        let first = relative.components().next().unwrap().as_os_str();
        let module = first.to_str().unwrap().trim_end_matches(".rs").to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let used = imported(&code(&text));
        imports.entry(module).or_default().extend(used);
    }
    let modules: BTreeSet<String> = imports.keys().cloned().collect();
    for (module, used) in &mut imports {
        used.retain(|used| used != module && modules.contains(used));
    }
    // The root names every module.
    imports.retain(|module, _| !matches!(module.as_str(), "lib" | "main"));
    imports
}

/// Returns the lines of a file that are neither comments nor tests.
fn code(text: &str) -> String {
    text.lines()
        .take_while(|line| !line.starts_with("#[cfg(test)]"))
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the names that follow `crate::` in `code`, inside braces as well.
fn imported(code: &str) -> BTreeSet<String> {
    let name = |text: &str| -> String {
        let is_name = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
        text.trim_start().chars().take_while(is_name).collect()
    };
    let mut found = BTreeSet::new();
    for (at, before) in code.match_indices("crate::") {
        let after = code.get(at + before.len()..).unwrap_or_default();
        let Some(group) = after.strip_prefix('{') else {
            found.insert(name(after));
            continue;
        };
        found.insert(name(group));
        let mut depth = 1;
        for (at, letter) in group.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => {
                    found.insert(name(group.get(at + 1..).unwrap_or_default()));
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    found
}

/// Returns the modules that lie on a cycle, or between two cycles.
fn in_cycles(imports: &Imports) -> BTreeSet<&str> {
    let mut left: BTreeSet<&str> = imports.keys().map(String::as_str).collect();
    loop {
        let free: Vec<&str> = left
            .iter()
            .copied()
            .filter(|module| {
                let imports_none = !imports[*module].iter().any(|it| left.contains(it.as_str()));
                let imported_by_none = !left.iter().any(|it| imports[*it].contains(*module));
                imports_none || imported_by_none
            })
            .collect();
        if free.is_empty() {
            return left;
        }
        left.retain(|module| !free.contains(module));
    }
}

#[test]
fn no_modules_import_each_other() {
    for name in WITHOUT_CYCLES {
        let imports = imports(name);
        assert!(imports.len() > 2, "{name}: hardly any modules were found");
        let cycles = in_cycles(&imports);
        assert!(cycles.is_empty(), "{name}: a cycle through {cycles:?}");
    }
}

#[test]
fn a_module_of_the_core_imports_only_its_own_layer_and_lower_ones() {
    let text = std::fs::read_to_string(root().join("crates/core/src/lib.rs")).unwrap();
    let mut layers: BTreeMap<&str, usize> = BTreeMap::new();
    for (layer, group) in text.split("\n\n").enumerate() {
        let declared = group
            .lines()
            .map(|line| line.strip_prefix("pub ").unwrap_or(line))
            .filter_map(|line| line.strip_prefix("mod "));
        layers.extend(declared.map(|module| (module.trim_end_matches(';'), layer)));
    }
    for (module, used) in imports("core") {
        for used in used {
            assert!(
                layers[used.as_str()] <= layers[module.as_str()],
                "{module} imports {used}, which is in a higher layer of lib.rs"
            );
        }
    }
}

#[test]
fn a_room_of_the_gate_uses_only_rooms_above_it_in_the_table() {
    let text = std::fs::read_to_string(root().join("crates/gate/src/lib.rs")).unwrap();
    let table = text
        .lines()
        .filter_map(|line| line.strip_prefix("//! | [`"));
    let rooms: Vec<&str> = table.filter_map(|row| row.split('`').next()).collect();
    let place = |room: &str| rooms.iter().position(|it| *it == room);
    for (room, used) in imports("gate") {
        assert!(place(&room).is_some(), "{room} is missing in lib.rs");
        for used in used {
            assert!(place(&used) < place(&room), "{room} uses {used}");
        }
    }
}

#[test]
fn no_room_of_the_gate_knows_the_gate() {
    let source = root().join("crates/gate/src");
    for path in files(&source, ".rs") {
        let relative = path.strip_prefix(&source).unwrap().to_str().unwrap();
        let used = imported(&code(&std::fs::read_to_string(&path).unwrap()));
        let is_front = relative == "gate.rs" || relative.starts_with("gate/");
        let knows = used.contains("Gate") || used.contains("gate");
        assert!(is_front || !knows, "{relative} imports `Gate`");
    }
}

#[test]
fn a_cycle_would_be_found() {
    let module = |name: &str, code: &str| (name.to_owned(), imported(code));
    let circle = Imports::from([
        module("a", "use crate::b::B;"),
        module("b", "use crate::{d, c::{C, X}};"),
        module("c", "fn f() { crate::a::f() }"),
        module("d", ""),
    ]);
    assert_eq!(in_cycles(&circle), BTreeSet::from(["a", "b", "c"]));
}
