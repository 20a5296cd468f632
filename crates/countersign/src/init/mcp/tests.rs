//! Files of clients before and after, and back to the byte.

use std::fmt::Write as _;
use std::path::Path;

use super::*;
use crate::init::plan;

const PROGRAM: &str = "/opt/countersign";

struct Scene {
    folder: tempfile::TempDir,
    row: &'static Row,
}

impl Scene {
    fn new(client: &str) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            row: named(client).unwrap(),
        }
    }

    fn place(&self, program: &str) -> Place {
        Place::made_up(self.folder.path(), program)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).unwrap()
    }

    fn set_up(&self, program: &str) -> plan::State {
        let place = self.place(program);
        let mut plan = plan::set_up(&place, &self.row.agent, None).unwrap();
        let state = plan.state;
        plan.carry_out(&place).unwrap();
        state
    }

    fn undo(&self) {
        let place = self.place(PROGRAM);
        let mut plan = plan::undo(&place, &self.row.agent).unwrap();
        plan.carry_out(&place).unwrap();
    }

    /// Returns what differs between the files before and after, without what differs from run to run.
    fn changes(&self, path: &str, before: &str) -> String {
        let after = self.read(path);
        let diff = similar::TextDiff::from_lines(before, after.as_str());
        let shown = diff.unified_diff().context_radius(0).to_string();
        shown.replace(self.folder.path().to_str().unwrap(), "~")
    }
}

/// A file of each form, with what must stay as it is.
const FILES: &[(&str, &str, &str)] = &[
    (
        "cursor",
        ".cursor/mcp.json",
        r#"{
  // mine
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@mcp/github"], // pinned
      "env": { "GITHUB_TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ012345" },
    },
    "bare": { "command": "/usr/bin/bare" },
    "far": { "url": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer x" } },
    "approvals": { "command": "/opt/countersign", "args": ["mcp", "serve"] },
    "odd": { "command": { "path": "x" } },
  },
}
"#,
    ),
    (
        "claude-code",
        ".claude.json",
        r#"{
  "numStartups": 3,
  "projects": { "/home/ana/a": { "mcpServers": { "db": { "type": "stdio", "command": "uvx", "args": ["mcp-db", "--", "x"] } } } },
  "mcpServers": { "db": { "type": "stdio", "command": "uvx", "args": [] } }
}"#,
    ),
    (
        "vscode",
        "project/.vscode/mcp.json",
        "{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"fs\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"node\",\n\t\t\t\"args\": [\n\t\t\t\t\"${workspaceFolder}/fs.js\"\n\t\t\t]\n\t\t}\n\t}\n}\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        r#"{ "mcp": { "my db": { "type": "local", "command": ["npx", "db"], "environment": { "A": "1" } }, "web": { "type": "remote", "url": "http://127.0.0.1/mcp" } } }"#,
    ),
    (
        "codex",
        ".codex/config.toml",
        r#"model = "m" # best

[mcp_servers.docs]
command = "npx" # node
args = [
    "-y", # yes
    "docs",
]
env = { "K" = "v" }

[mcp_servers.bare]
command = "bare"

[mcp_servers.far]
url = "https://mcp.example.org"
"#,
    ),
];

#[test]
fn every_server_that_is_started_is_started_through_countersign_and_back_to_the_byte() {
    let mut shown = String::new();
    for (client, path, before) in FILES {
        let scene = Scene::new(client);
        scene.write(path, before);
        assert_eq!(scene.set_up(PROGRAM), plan::State::NotSetUp, "{client}");
        let changes = scene.changes(path, before);
        writeln!(shown, "{client}: {path}\n{changes}").unwrap();
        let wrapped = scene.read(path);
        assert_eq!(scene.set_up(PROGRAM), plan::State::SetUp, "{client}");
        assert_eq!(scene.read(path), wrapped, "{client}: a second time");
        scene.undo();
        assert_eq!(scene.read(path), *before, "{client}: undone");
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_program_that_moved_is_updated_and_what_others_changed_since_stays() {
    for (client, path, before) in FILES {
        let scene = Scene::new(client);
        scene.write(path, before);
        scene.set_up("/old/countersign");
        assert_eq!(scene.set_up(PROGRAM), plan::State::Outdated, "{client}");
        let text = scene.read(path);
        assert!(!text.contains("/old/"), "{client}: {text}");
        scene.undo();
        assert_eq!(scene.read(path), *before, "{client}: undone after two");

        scene.set_up(PROGRAM);
        let place = scene.place(PROGRAM);
        let wrapped = scene.row.servers(&place).unwrap();
        assert!(
            wrapped.iter().any(|it| it.state == State::Wrapped),
            "{client}"
        );
        assert!(
            wrapped.iter().all(|it| it.state != State::Direct),
            "{client}"
        );
        let text = format!("{}\n", scene.read(path));
        scene.write(path, &text);
        scene.undo();
        let left = scene.row.servers(&place).unwrap();
        assert!(left.iter().all(|it| it.state != State::Wrapped), "{client}");
        assert!(left.iter().any(|it| it.state == State::Direct), "{client}");
        assert!(!scene.read(path).contains("--key-file"), "{client}");
    }
}

#[test]
fn no_secret_gets_into_a_command_line() {
    let (client, path, before) = FILES[0];
    let scene = Scene::new(client);
    scene.write(path, before);
    scene.set_up(PROGRAM);
    let text = scene.read(path);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("ghp_")).collect();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("\"env\""), "{text}");
    assert!(
        text.contains("\"headers\": { \"Authorization\": \"Bearer x\" }"),
        "{text}"
    );
}

#[test]
fn a_file_that_cannot_be_read_stops_it_before_the_first_change() {
    for (client, path, text) in [
        ("cursor", ".cursor/mcp.json", "{ \"mcpServers\": "),
        ("codex", ".codex/config.toml", "[mcp_servers"),
    ] {
        let scene = Scene::new(client);
        scene.write(path, text);
        let place = scene.place(PROGRAM);
        assert!(
            plan::set_up(&place, &scene.row.agent, None).is_err(),
            "{client}"
        );
        assert!(scene.row.servers(&place).is_err(), "{client}");
    }
}

#[test]
fn the_guide_names_every_client_and_its_files() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp-clients.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    for row in ROWS {
        let command = format!("`countersign init mcp {}`", row.name());
        assert!(
            guide.contains(&command),
            "docs/mcp-clients.md does not say {command}"
        );
        for spot in row.client.files {
            assert!(
                guide.contains(spot.path),
                "docs/mcp-clients.md does not say {}",
                spot.path
            );
        }
    }
}
