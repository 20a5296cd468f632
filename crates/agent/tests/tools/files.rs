//! Reading, writing, changing and searching files.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use countersign_agent::tools::{Patch, ReadFile, SearchFiles, Tool, WriteFile};
use serde_json::json;

use crate::support::world;

#[tokio::test]
async fn a_file_is_written_read_and_patched() {
    let world = world().await;
    let wrote = world
        .run(
            &WriteFile,
            json!({"path": "src/deep/a.txt", "content": "one\ntwo\n"}),
        )
        .await;
    assert!(!wrote.failed, "{}", wrote.text);
    assert_eq!(world.read("src/deep/a.txt"), "one\ntwo\n");
    let patched = world
        .run(
            &Patch,
            json!({"path": "src/deep/a.txt", "old_string": "two", "new_string": "three"}),
        )
        .await;
    assert!(!patched.failed, "{}", patched.text);
    let read = world
        .run(&ReadFile, json!({"path": "./src/../src/deep/a.txt"}))
        .await;
    assert_eq!((read.text.as_str(), read.failed), ("one\nthree\n", false));
}

#[tokio::test]
async fn a_patch_must_say_which_place_it_means() {
    let world = world().await;
    world.write("a.txt", "x = 1\nx = 1\n");
    let patch = |old: &str, all: Option<bool>| json!({"path": "a.txt", "old_string": old, "new_string": "y", "replace_all": all});
    let rows = [
        ("twice", patch("x", None), "occurs 2 times"),
        ("never", patch("z", None), "does not occur"),
        ("nothing", patch("", None), "is empty"),
    ];
    for (name, args, expected) in rows {
        let outcome = world.run(&Patch, args).await;
        assert!(
            outcome.failed && outcome.text.contains(expected),
            "{name}: {}",
            outcome.text
        );
    }
    assert_eq!(world.read("a.txt"), "x = 1\nx = 1\n");
    let outcome = world.run(&Patch, patch("x", Some(true))).await;
    assert!(!outcome.failed, "{}", outcome.text);
    assert_eq!(world.read("a.txt"), "y = 1\ny = 1\n");
}

#[tokio::test]
async fn a_long_file_is_given_in_parts_and_a_binary_one_not_at_all() {
    let world = world().await;
    let lines: Vec<String> = (1..=3000).map(|number| format!("line {number}")).collect();
    world.write("long.txt", &lines.join("\n"));
    let first = world.run(&ReadFile, json!({"path": "long.txt"})).await.text;
    assert!(first.ends_with("line 2000\n\n(lines 1 to 2000 of 3000)"));
    let part = world
        .run(
            &ReadFile,
            json!({"path": "long.txt", "offset": 2999, "limit": 5}),
        )
        .await
        .text;
    assert_eq!(part, "line 2999\nline 3000\n(lines 2999 to 3000 of 3000)");
    std::fs::write(world.project.join("b.bin"), b"\x7fELF\0\0").unwrap();
    let binary = world.run(&ReadFile, json!({"path": "b.bin"})).await;
    assert!(binary.failed && binary.text.contains("is not a text but 6 bytes"));
}

#[tokio::test]
async fn law_8_a_link_is_not_followed_but_named() {
    let world = world().await;
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().canonicalize().unwrap();
    std::fs::write(outside.join("secret.txt"), "secret").unwrap();
    symlink(&outside, world.project.join("notes")).unwrap();
    symlink(outside.join("secret.txt"), world.project.join("readme.txt")).unwrap();
    let tools: [(&str, &dyn Tool, _); 5] = [
        ("read", &ReadFile, json!({"path": "readme.txt"})),
        ("read below", &ReadFile, json!({"path": "notes/secret.txt"})),
        (
            "search",
            &SearchFiles,
            json!({"pattern": "s", "path": "notes"}),
        ),
        (
            "write",
            &WriteFile,
            json!({"path": "notes/secret.txt", "content": "x"}),
        ),
        (
            "write over",
            &WriteFile,
            json!({"path": "readme.txt", "content": "x"}),
        ),
    ];
    for (name, tool, args) in tools {
        let outcome = world.run(tool, args).await;
        let real = outside.to_string_lossy();
        assert!(outcome.failed, "{name}");
        assert!(
            outcome.text.contains("is a link to") && outcome.text.contains(real.as_ref()),
            "{name}: {}",
            outcome.text
        );
    }
    let found = world.run(&SearchFiles, json!({"pattern": "secret"})).await;
    assert!(found.text.contains("nothing was found"), "{}", found.text);
    assert_eq!(
        std::fs::read_to_string(outside.join("secret.txt")).unwrap(),
        "secret"
    );
}

#[tokio::test]
async fn law_3_an_argument_that_nobody_judged_is_refused() {
    let rows: [(&str, &dyn Tool, _); 5] = [
        (
            "unknown",
            &WriteFile,
            json!({"path": "a", "content": "x", "mode": "777"}),
        ),
        (
            "another spelling",
            &WriteFile,
            json!({"file_path": "a", "content": "x"}),
        ),
        ("a list", &ReadFile, json!({"path": ["a", "b"]})),
        (
            "a number",
            &Patch,
            json!({"path": 7, "old_string": "a", "new_string": "b"}),
        ),
        ("no object", &ReadFile, json!("a")),
    ];
    for (name, tool, args) in rows {
        assert!(tool.resolved(args).is_err(), "{name}");
    }
}

#[tokio::test]
async fn a_search_leaves_out_what_is_ignored_hidden_or_secret() {
    let world = world().await;
    world.write(".gitignore", "built\n");
    for directory in ["built", "src", ".hidden"] {
        std::fs::create_dir(world.project.join(directory)).unwrap();
    }
    for name in [
        "built/a.rs",
        "src/a.rs",
        "src/b.txt",
        ".hidden/a.rs",
        ".env",
        "id_rsa",
    ] {
        world.write(name, "needle\nhay\nneedle\n");
    }
    let all = world
        .run(&SearchFiles, json!({"pattern": "^need.e$"}))
        .await;
    assert_eq!(
        all.text,
        "src/a.rs:1:needle\nsrc/a.rs:3:needle\nsrc/b.txt:1:needle\nsrc/b.txt:3:needle\n\
         (1 files that may hold secrets left out)\n"
    );
    let some = world
        .run(
            &SearchFiles,
            json!({"pattern": "needle", "glob": "*.rs", "limit": 1}),
        )
        .await;
    assert_eq!(
        some.text,
        "src/a.rs:1:needle\n(the search ended after 1 hits)"
    );
    let wrong = world.run(&SearchFiles, json!({"pattern": "("})).await;
    assert!(wrong.failed && wrong.text.contains("`pattern` cannot be used"));
}

#[tokio::test]
async fn a_file_that_is_replaced_keeps_its_mode() {
    let world = world().await;
    world.write("run.sh", "echo 1\n");
    let path = world.project.join("run.sh");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    let outcome = world
        .run(
            &Patch,
            json!({"path": "run.sh", "old_string": "1", "new_string": "2"}),
        )
        .await;
    assert!(!outcome.failed, "{}", outcome.text);
    let mode = path.metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode, world.read("run.sh").as_str()), (0o750, "echo 2\n"));
}
