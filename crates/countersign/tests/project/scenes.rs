//! The list of chat scenes in the documentation is the list of those there are.

use crate::{files, root};

#[test]
fn every_chat_scene_is_in_the_documentation_and_no_other() {
    let folder = root().join("crates/countersign/tests/mattermost");
    let mut scenes: Vec<String> = Vec::new();
    for path in files(&folder, ".rs") {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line == "#[test]" {
                let name = lines.next().unwrap().trim_start_matches("fn ");
                let name = name.split('(').next().unwrap();
                scenes.push(name.replace('_', " "));
            }
        }
    }
    let page = std::fs::read_to_string(root().join("docs/mattermost.md")).unwrap();
    let (_, page) = page.split_once("## Tried on a real server").unwrap();
    let listed = page.lines().filter_map(|line| line.strip_prefix("- "));
    // What was written since the last run there is marked, so that nothing is claimed of it.
    let (untried, tried): (Vec<&str>, Vec<&str>) = listed.partition(|it| it.ends_with(" (new)"));
    let passed = format!("All {} passed", tried.len());
    let mut listed: Vec<String> = untried
        .iter()
        .chain(&tried)
        .map(|line| {
            line.trim_end_matches(" (own)")
                .trim_end_matches(" (new)")
                .to_owned()
        })
        .collect();
    scenes.sort();
    listed.sort();
    assert_eq!(listed, scenes);
    assert!(page.contains(&passed), "{passed}");
}
