//! Every agent, from every start: what is written, that it is written once, and the way back.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::Place;
use super::agents::{AGENTS, Agent, named};
use super::plan::{self, State};
use crate::complaint::Complaint;
use crate::hook::adapter::ADAPTERS;

const PROGRAM: &str = "/usr/local/bin/countersign";
const NEWER: &str = "/opt/it's new/countersign";

/// Settings of somebody who uses hooks of their own, for each agent: paths and texts.
const FOREIGN: &[(&str, &[(&str, &str)])] = &[
    (
        "claude-code",
        &[(
            ".claude/settings.json",
            "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"guard hook claude-code\"}]}\n        ],\n        \"Stop\": []\n    }\n}",
        )],
    ),
    (
        "codex",
        &[
            (
                ".codex/hooks.json",
                "{\"description\": \"mine\",\n \"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard\"}]}]}}\n",
            ),
            (
                ".codex/config.toml",
                "# mine\nmodel = \"x\" # the model\n\n[features]\nunified_exec_tty = true # I like it\n\n[hooks.state.\"/elsewhere/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:00\"\n\n[projects.\"/a\"]\ntrust_level = \"trusted\"\n",
            ),
        ],
    ),
    (
        "gemini",
        &[(
            ".gemini/settings.json",
            "// mine\n{\n\t\"theme\": \"x\", // dark\n\t\"hooks\": {\n\t\t/* a guard */\n\t\t\"BeforeTool\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"guard\" }] }]\n\t}\n}\n",
        )],
    ),
    (
        "opencode",
        &[(
            ".config/opencode/opencode.jsonc",
            "{\n  // mine\n  \"permission\": {\n    \"edit\": \"ask\", // always\n  },\n  \"theme\": \"x\",\n}\n",
        )],
    ),
    (
        "copilot",
        &[(
            ".copilot/hooks/countersign.json",
            "{\"version\": 1, \"hooks\": {\"preToolUse\": [{\"type\": \"command\", \"bash\": \"guard\"}]}}\n",
        )],
    ),
    (
        "cline",
        &[(
            "Documents/Cline/Hooks/PreToolUse",
            "#!/bin/sh\nexec guard\n",
        )],
    ),
    (
        "cursor",
        &[(
            ".cursor/hooks.json",
            "{\n  \"version\": 1,\n  \"hooks\": {\n    \"preToolUse\": [{ \"command\": \"guard\" }],\n    \"stop\": []\n  }\n}\n",
        )],
    ),
    (
        "hermes",
        &[(
            ".hermes/config.yaml",
            "# mine\nmodel: x # the model\nplugins:\n  enabled:\n    - other # first\n\nterminal: {backend: local}\n",
        )],
    ),
];

/// A home directory with an agent's files in it.
struct Scene {
    folder: TempDir,
    agent: &'static Agent,
}

/// Files below the home directory, with mode and content.
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

impl Scene {
    fn new(agent: &'static Agent) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // With a key there is no need for a store.
        let keys = folder.path().join(".countersign/hooks");
        std::fs::create_dir_all(&keys).unwrap();
        std::fs::write(keys.join(format!("{}.key", agent.name)), "key").unwrap();
        Self { folder, agent }
    }

    fn foreign(agent: &'static Agent) -> Self {
        let scene = Self::new(agent);
        let (_, files) = FOREIGN
            .iter()
            .find(|(name, _)| *name == agent.name)
            .unwrap();
        for (path, text) in *files {
            scene.write(path, text);
        }
        scene
    }

    fn empty(agent: &'static Agent) -> Self {
        let scene = Self::new(agent);
        for file in (agent.files)(&scene.place(PROGRAM)) {
            std::fs::create_dir_all(file.path.parent().unwrap()).unwrap();
            std::fs::write(file.path, "").unwrap();
        }
        scene
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn place(&self, program: &str) -> Place {
        Place::made_up(self.folder.path(), program)
    }

    fn set_up(&self, program: &str) -> Result<(), Complaint> {
        let place = self.place(program);
        let mut plan = plan::set_up(&place, self.agent, None)?;
        plan.carry_out(&place).map(|_| ())
    }

    /// Undoes it and returns what people are told.
    fn undo(&self) -> Result<Vec<String>, Complaint> {
        let place = self.place(PROGRAM);
        let mut plan = plan::undo(&place, self.agent)?;
        plan.carry_out(&place)?;
        Ok(plan.notes)
    }

    fn state(&self, program: &str) -> State {
        let plan = plan::set_up(&self.place(program), self.agent, None).unwrap();
        plan.state
    }

    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        let mut left = vec![self.folder.path().to_owned()];
        while let Some(folder) = left.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.ends_with(".countersign") {
                    continue;
                }
                let relative = path.strip_prefix(self.folder.path()).unwrap().to_owned();
                let mode = path.metadata().unwrap().permissions().mode() & 0o777;
                if path.is_dir() {
                    tree.insert(relative, (mode, Vec::new()));
                    left.push(path);
                } else {
                    tree.insert(relative, (mode, std::fs::read(path).unwrap()));
                }
            }
        }
        tree
    }

    /// Returns the files as text, without what differs from run to run; of our own plugins only the
    /// names.
    fn shown(&self) -> String {
        let mut out = String::new();
        for (path, (mode, bytes)) in self.tree() {
            if self.folder.path().join(&path).is_dir() {
                continue;
            }
            let text = String::from_utf8(bytes).unwrap();
            let _infallible = writeln!(out, "=== {} {mode:o}", path.display());
            let is_plugin = [".js", ".py", "plugin.yaml"]
                .iter()
                .any(|end| path.to_string_lossy().ends_with(end));
            if is_plugin && !text.is_empty() {
                out.push_str("(ours)\n");
            } else {
                out.push_str(&text);
            }
        }
        let out = out.replace(&*self.folder.path().to_string_lossy(), "[USER]");
        let salted = out.split("\"countersign-").enumerate().map(|(at, part)| {
            if at == 0 {
                part.to_owned()
            } else {
                format!("\"countersign-[SALT]{}", part.get(8..).unwrap())
            }
        });
        salted.collect()
    }
}

fn starts(agent: &'static Agent) -> [(&'static str, Scene); 3] {
    [
        ("no file", Scene::new(agent)),
        ("empty files", Scene::empty(agent)),
        ("foreign entries", Scene::foreign(agent)),
    ]
}

#[test]
fn what_is_written_for_each_agent() {
    for agent in AGENTS {
        let mut shown = String::new();
        for (name, scene) in starts(agent) {
            scene.set_up(PROGRAM).unwrap();
            let _infallible = writeln!(shown, "##### {name}\n{}", scene.shown());
        }
        insta::assert_snapshot!(format!("written_{}", agent.name), shown);
    }
}

#[test]
fn a_second_time_changes_nothing_and_undo_puts_every_byte_back() {
    for agent in AGENTS {
        for (name, scene) in starts(agent) {
            let name = format!("{}, {name}", agent.name);
            let before = scene.tree();
            assert_eq!(scene.state(PROGRAM), State::NotSetUp, "{name}");
            scene.set_up(PROGRAM).unwrap();
            let written = scene.tree();
            assert_ne!(before, written, "{name}");
            assert_eq!(scene.state(PROGRAM), State::SetUp, "{name}");
            scene.set_up(PROGRAM).unwrap();
            assert_eq!(scene.tree(), written, "{name}: twice");
            let notes = scene.undo().unwrap();
            assert_eq!(scene.tree(), before, "{name}: undone");
            let key = "was not created by this command";
            assert!(
                notes.iter().all(|note| note.contains(key)),
                "{name}: {notes:?}"
            );
            assert_eq!(scene.state(PROGRAM), State::NotSetUp, "{name}: undone");
        }
    }
}

#[test]
fn another_program_replaces_the_entry_in_place() {
    for agent in AGENTS {
        for ((name, scene), (_, fresh)) in starts(agent).into_iter().zip(starts(agent)) {
            let name = format!("{}, {name}", agent.name);
            let before = scene.tree();
            scene.set_up(PROGRAM).unwrap();
            scene.set_up(NEWER).unwrap();
            fresh.set_up(NEWER).unwrap();
            assert_eq!(scene.shown(), fresh.shown(), "{name}");
            scene.undo().unwrap();
            assert_eq!(scene.tree(), before, "{name}: undone");
        }
    }
}

/// Returns `text` with something that somebody added later.
fn added_to(path: &Path, text: &str) -> Option<String> {
    let name = path.to_string_lossy();
    if name.ends_with(".toml") {
        return Some(format!("{text}\n[later]\nmine = 1\n"));
    }
    if name.ends_with("config.yaml") {
        return Some(format!("{text}later: mine\n"));
    }
    let is_settings = name.ends_with(".json") || name.ends_with(".jsonc");
    let is_ours = name.contains("extensions/countersign");
    (is_settings && !is_ours).then(|| text.replacen('{', "{ \"later\": \"mine\",", 1))
}

#[test]
fn undo_after_somebody_changed_the_files_removes_our_entries_alone() {
    for agent in AGENTS {
        for (name, scene) in starts(agent) {
            let name = format!("{}, {name}", agent.name);
            scene.set_up(PROGRAM).unwrap();
            let mut changed = Vec::new();
            for (path, (_, bytes)) in scene.tree() {
                let text = String::from_utf8(bytes).unwrap();
                if let Some(text) = added_to(&path, &text) {
                    scene.write(path.to_str().unwrap(), &text);
                    changed.push(path);
                }
            }
            let notes = scene.undo().unwrap();
            for path in &changed {
                let text = std::fs::read_to_string(scene.folder.path().join(path));
                let text = text.unwrap_or_default();
                let keeps = agent.name == "copilot" || text.contains("later");
                assert!(keeps, "{name}: {path:?}: {text}");
                let is_told = notes
                    .iter()
                    .any(|note| note.contains(path.to_str().unwrap()));
                assert!(is_told, "{name}: {path:?}: {notes:?}");
            }
            assert!(
                !scene.shown().contains(PROGRAM),
                "{name}: {}",
                scene.shown()
            );
            assert!(
                !scene.shown().contains("(ours)"),
                "{name}: {}",
                scene.shown()
            );
            let foreign = Scene::foreign(agent).shown();
            if name.contains("foreign") && foreign.contains("guard") {
                assert!(scene.shown().contains("guard"), "{name}: {}", scene.shown());
            }
        }
    }
}

#[test]
fn what_somebody_changed_between_two_set_ups_survives_the_undo() {
    let scene = Scene::foreign(named("claude-code").unwrap());
    scene.set_up(PROGRAM).unwrap();
    let file = scene.folder.path().join(".claude/settings.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("opus", "sonnet")).unwrap();
    scene.set_up(NEWER).unwrap();
    scene.undo().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("sonnet") && !text.contains("countersign"),
        "{text}"
    );
}

#[test]
fn a_broken_file_is_named_with_its_line_and_nothing_is_written() {
    let rows = [
        (
            "claude-code",
            ".claude/settings.json",
            "{\n  \"a\": [1,\n}\n",
        ),
        (
            "claude-code",
            ".claude/settings.json",
            "{\n  // mine\n  \"a\": 1\n}\n",
        ),
        ("claude-code", ".claude/settings.json", "[]"),
        ("claude-code", ".claude/settings.json", "{\"hooks\": []}"),
        (
            "claude-code",
            ".claude/settings.json",
            "{\"hooks\": {\"PreToolUse\": {}}}",
        ),
        (
            "claude-code",
            ".claude/settings.json",
            "{\"hooks\": {}, \"hooks\": {}}",
        ),
        ("codex", ".codex/hooks.json", "{\"hooks\": {},}"),
        ("codex", ".codex/config.toml", "a = 1\nb = [\n"),
        ("codex", ".codex/config.toml", "hooks = 1\n"),
        ("gemini", ".gemini/settings.json", "{ \"a\" }"),
        (
            "opencode",
            ".config/opencode/opencode.json",
            "{\n\n  permission: 1 }",
        ),
        (
            "opencode",
            ".config/opencode/opencode.json",
            "{\"permission\": 1}",
        ),
        ("copilot", ".copilot/hooks/countersign.json", "{"),
        ("cursor", ".cursor/hooks.json", "{\"hooks\": {} // mine\n}"),
        ("hermes", ".hermes/config.yaml", "a: 1\nb: [\n"),
        ("hermes", ".hermes/config.yaml", "plugins: {enabled: [a]}\n"),
    ];
    let mut shown = String::new();
    for (agent, path, text) in rows {
        let scene = Scene::new(named(agent).unwrap());
        scene.write(path, text);
        let before = scene.tree();
        let Err(complaint) = scene.set_up(PROGRAM) else {
            panic!("{agent} took {text:?}");
        };
        assert_eq!(scene.tree(), before, "{agent}: {text}");
        let said = complaint.in_one_line();
        let said = said.replace(&*scene.folder.path().to_string_lossy(), "[USER]");
        let _infallible = writeln!(shown, "{text:?}\n  {said}");
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_permission_in_one_word_becomes_a_list_and_one_word_again() {
    let scene = Scene::new(named("opencode").unwrap());
    let file = ".config/opencode/opencode.json";
    scene.write(file, "{ \"permission\": \"ask\" }");
    scene.set_up(PROGRAM).unwrap();
    let text = std::fs::read(scene.folder.path().join(file)).unwrap();
    let settings: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let keys: Vec<&String> = settings["permission"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["*", "**"]);
    assert_eq!(settings["permission"]["*"], "ask");
    scene.undo().unwrap();
    let text = std::fs::read_to_string(scene.folder.path().join(file));
    assert_eq!(text.unwrap(), "{ \"permission\": \"ask\" }");
}

#[test]
fn a_lock_that_is_not_the_last_key_is_moved_behind_the_others() {
    let scene = Scene::new(named("opencode").unwrap());
    let file = ".config/opencode/opencode.json";
    scene.write(
        file,
        "{ \"permission\": { \"**\": \"deny\", \"bash\": \"allow\" } }",
    );
    scene.set_up(PROGRAM).unwrap();
    let text = std::fs::read(scene.folder.path().join(file)).unwrap();
    let settings: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let keys: Vec<&String> = settings["permission"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["bash", "**"]);
}

#[test]
fn a_link_stays_a_link_and_the_mode_stays() {
    let scene = Scene::new(named("claude-code").unwrap());
    scene.write("dotfiles/claude.json", "{}\n");
    scene.write(".claude/other", "");
    let target = scene.folder.path().join("dotfiles/claude.json");
    let link = scene.folder.path().join(".claude/settings.json");
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("../dotfiles/claude.json", &link).unwrap();
    let before = scene.tree();
    scene.set_up(PROGRAM).unwrap();
    assert!(link.is_symlink());
    assert!(std::fs::read_to_string(&target).unwrap().contains(PROGRAM));
    assert_eq!(
        target.metadata().unwrap().permissions().mode() & 0o777,
        0o640
    );
    scene.undo().unwrap();
    assert!(link.is_symlink());
    assert_eq!(scene.tree(), before);
}

#[test]
fn if_one_file_cannot_be_written_none_is() {
    // The folder of the second file is a file.
    let scene = Scene::new(named("gemini").unwrap());
    scene.write(".gemini/extensions", "not a folder");
    let before = scene.tree();
    assert!(scene.set_up(PROGRAM).is_err());
    assert_eq!(scene.tree(), before);
    // A folder that may not be written, which root may.
    let scene = Scene::new(named("codex").unwrap());
    scene.write(".codex/config.toml", "a = 1\n");
    let folder = scene.folder.path().join(".codex");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o500)).unwrap();
    let before = scene.tree();
    let written = scene.set_up(PROGRAM);
    if rustix::process::geteuid().is_root() {
        countersign_testkit::skipped("a read-only folder: root may write everywhere");
    } else {
        assert!(written.unwrap_err().message().contains("cannot write"));
        assert_eq!(scene.tree(), before);
    }
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn the_guide_names_every_agent() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let names = AGENTS.iter().map(|agent| agent.name);
    for name in names.chain(ADAPTERS.iter().map(|adapter| adapter.name)) {
        let command = format!("`countersign init {name}`");
        assert!(
            guide.contains(&command),
            "docs/agents.md does not say {command}"
        );
    }
}
