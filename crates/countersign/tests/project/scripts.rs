//! The scripts of the project can be read by bash, and the release script packs what there is.

use std::process::Command;

use crate::root;

/// Every script people run.
const SCRIPTS: &[&str] = &["test", "soak", "release", "clients/test", "web/test"];

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

/// A log of a step that failed, and the lines of it that `./test` repeats at its end.
const REPEATED: &[(&str, &str)] = &[
    (
        "test result: ok. 2 passed\ntest gate::a ... ok\ntest gate::b ... FAILED\n\nfailures:\n\n---- gate::b stdout ----\n\
         thread 'gate::b' (7) panicked at src/gate.rs:5:9:\nleft is not right\n\nfailures:\n    gate::b\n",
        "test gate::b ... FAILED\nthread 'gate::b' (7) panicked at src/gate.rs:5:9:\n",
    ),
    (
        "  ✓  1 e2e/a.spec.ts:3:1 › fine (1s)\n  ✘  2 e2e/b.spec.ts:9:1 › a card (1s)\n\n  1) e2e/b.spec.ts:9:1 › a card ───\n\n    \
         \u{1b}[31mError: expect(locator).toBeVisible() failed\u{1b}[39m\n\n    Locator: getByText('x')\n    Expected: visible\n\n  1 failed\n",
        "  1) e2e/b.spec.ts:9:1 › a card ───\n    Error: expect(locator).toBeVisible() failed\n    Locator: getByText('x')\n",
    ),
    (
        "   Compiling x\nerror[E0308]: mismatched types\n --> src/x.rs:1:1\nerror: could not compile `x`\n",
        "error[E0308]: mismatched types\nerror: could not compile `x`\n",
    ),
    (
        "one\ntwo\nno such file\nlast\n",
        "two\nno such file\nlast\n",
    ),
];

#[test]
fn what_failed_is_repeated_at_the_end_of_the_test_script() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("step.log");
    let repeat = |said: &str, lines: u8| {
        std::fs::write(&log, said).unwrap();
        let ran = Command::new("bash")
            .args([
                "-c",
                r#"eval "$(sed -n '/^says=/,/^}/p' test)"; complaints "$@""#,
                "-",
            ])
            .arg(&log)
            .arg(lines.to_string())
            .current_dir(root())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
        String::from_utf8(ran.stdout).unwrap()
    };
    for (said, repeated) in REPEATED {
        assert_eq!(repeat(said, 20), *repeated);
    }
    let many: Vec<_> = (0..50)
        .map(|test| format!("test t{test} ... FAILED"))
        .collect();
    let many = many.join("\n");
    assert_eq!(repeat(&many, 5).lines().count(), 5);
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
