//! The scripts of the project can be read by bash, and the release script packs what there is.

use std::process::Command;

use crate::root;

/// Every script people run.
const SCRIPTS: &[&str] = &["test", "soak", "release", "verifiers/test", "web/test"];

#[test]
fn bash_can_read_every_script() {
    for script in SCRIPTS {
        let read = Command::new("bash")
            .args(["-n", script])
            .current_dir(root())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&read.stderr);
        assert!(read.status.success() && said.is_empty(), "{script}: {said}");
    }
}

/// The script reads the version with `sed`; a change of the manifest must not leave it with none.
#[test]
fn the_release_archive_is_named_after_the_version() {
    let script = std::fs::read_to_string(root().join("release")).unwrap();
    let line = script.lines().find(|line| line.starts_with("version="));
    let ran = Command::new("bash")
        .args(["-c", &format!("{}; echo \"$version\"", line.unwrap())])
        .current_dir(root())
        .output()
        .unwrap();
    let version = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(version.trim(), env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_release_script_uses_a_profile_and_files_that_exist() {
    let script = std::fs::read_to_string(root().join("release")).unwrap();
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(script.contains("--profile dist"));
    assert!(manifest.contains("[profile.dist]"));
    let packed = script
        .lines()
        .find_map(|line| line.strip_prefix("install -m 644 "));
    for file in packed
        .unwrap()
        .split(' ')
        .filter(|word| !word.starts_with('"'))
    {
        assert!(root().join(file).is_file(), "{file} is packed");
    }
}
