//! Compares what a file tool would leave in files with what they hold now.
//!
//! Which files may be read for that is decided here and only here: files of the workspace, and none
//! whose place is sensitive to read. Whoever looks at the disk reads those and no others.

use crate::assess::told::told;
use crate::call::ToolCall;
use crate::judge::{files_after, known};
use crate::knowledge::{ArgumentRole, Effect, PathKind};
use crate::place::Ground;
use crate::policy::Policy;
use crate::score::Score;
use crate::written::{Content, Written};

/// Files of one call that are compared.
const FILES_MAX: usize = 8;
/// The sensitivity of reading above which a file is not compared.
const READ_MAX: Score = Score::new(150);

/// Returns the files that `call` would write and that may be shown to whoever answers, each as
/// [`crate::place::Place`] spells it. Only file tools have any: what a command leaves in files
/// depends on more than its words.
pub fn comparable(policy: &Policy, call: &ToolCall, bound: &[String]) -> Vec<String> {
    let Some(told) = told(call) else {
        return Vec::new();
    };
    let writes = told.row.is_some_and(|row| row.does == Effect::Write);
    let runs = [ArgumentRole::Shell, ArgumentRole::Code];
    let runs = runs.iter().any(|role| told.with(*role).next().is_some());
    if !writes || runs || told.is_terminal() {
        return Vec::new();
    }
    let knows = known(policy, call, bound);
    let (cwd, workspace) = (call.cwd.as_deref(), call.workspace.as_deref());
    let ground = if knows.vouched_workspace {
        Ground::vouched(cwd, workspace)
    } else if knows.trusts_workspace {
        Ground::new(cwd, workspace)
    } else {
        return Vec::new();
    };
    let mut paths: Vec<String> = Vec::new();
    for (path, _) in files_after(call, Written::default()).writes {
        if paths.len() < FILES_MAX && !paths.contains(&path) && may_be_shown(&ground, &path) {
            paths.push(path);
        }
    }
    paths
}

/// Returns the content of the file at `path` after `call`, if it holds `now` before it (`None`: there
/// is no such file); `None` if that cannot be said, because the edit does not fit the file.
pub fn content_after(call: &ToolCall, path: &str, now: Option<&str>) -> Option<String> {
    let mut written = Written::default();
    if let Some(now) = now {
        written.set(path, Content::of(now));
    }
    let files = files_after(call, written);
    let mut after = files.writes.into_iter().filter(|(known, _)| known == path);
    match (after.next(), after.next()) {
        (Some((_, Content::Exact(text))), None) => Some(text),
        _ => None,
    }
}

fn may_be_shown(ground: &Ground, path: &str) -> bool {
    let place = ground.place(path);
    let is_open = match place.kind {
        PathKind::Credential
        | PathKind::Environment
        | PathKind::Guard
        | PathKind::History
        | PathKind::Process
        | PathKind::Device
        | PathKind::Sink
        | PathKind::ContainerSocket
        | PathKind::System
        | PathKind::Root
        | PathKind::Home => false,
        PathKind::Temp
        | PathKind::Startup
        | PathKind::Schedule
        | PathKind::Agent
        | PathKind::Instruction
        | PathKind::Ci
        | PathKind::Hook
        | PathKind::Log
        | PathKind::Generated
        | PathKind::Document => true,
    };
    // Some tools expand variables in a path, and then another file is meant.
    is_open
        && !path.contains('$')
        && place.inside == Some(true)
        && !place.vague
        && !place.whole_workspace
        && place.read <= READ_MAX
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, args: serde_json::Value) -> ToolCall {
        ToolCall {
            tool: name.to_owned(),
            args,
            cwd: Some("/w/shop".to_owned()),
            workspace: Some("/w/shop".to_owned()),
            ..ToolCall::default()
        }
    }

    fn paths(call: &ToolCall) -> Vec<String> {
        comparable(&Policy::default(), call, &[])
    }

    #[test]
    fn only_ordinary_files_of_the_workspace_are_compared() {
        let write = |path: &str| tool("write_file", json!({ "path": path, "content": "x" }));
        let rows = [
            ("src/app.py", Some("/w/shop/src/app.py")),
            (
                ".github/workflows/ci.yml",
                Some("/w/shop/.github/workflows/ci.yml"),
            ),
            (".env", None),
            ("id_rsa", None),
            (".ssh/config", None),
            (".countersign.yaml", None),
            ("../other/app.py", None),
            ("/etc/passwd", None),
            ("~/.bashrc", None),
            ("$DIR/app.py", None),
        ];
        for (path, wanted) in rows {
            let wanted: Vec<String> = wanted.into_iter().map(str::to_owned).collect();
            assert_eq!(paths(&write(path)), wanted, "{path}");
        }
        let homeless = ToolCall {
            cwd: Some("/".to_owned()),
            workspace: Some("/".to_owned()),
            ..write("srv/www/index.html")
        };
        assert!(paths(&homeless).is_empty());
        let command = ToolCall::command("echo x > src/app.py").from_directory("/w/shop");
        assert!(paths(&command).is_empty(), "a command is no file tool");
    }

    #[test]
    fn the_content_after_an_edit_follows_from_the_content_before() {
        let path = "/w/shop/src/app.py";
        let edit = |old: &str, new: &str| {
            let args = json!({ "file_path": path, "old_string": old, "new_string": new });
            tool("Edit", args)
        };
        assert_eq!(paths(&edit("a", "b")), [path]);
        let rows = [
            (
                "replaced",
                edit("two", "2"),
                Some("one\ntwo\n"),
                Some("one\n2\n"),
            ),
            (
                "not in the file",
                edit("three", "3"),
                Some("one\ntwo\n"),
                None,
            ),
            (
                "twice in the file",
                edit("o", "0"),
                Some("one\ntwo\n"),
                None,
            ),
            (
                "written whole",
                tool("write_file", json!({ "path": path, "content": "new\n" })),
                Some("old\n"),
                Some("new\n"),
            ),
            (
                "a new file",
                tool("Write", json!({ "file_path": path, "content": "new\n" })),
                None,
                Some("new\n"),
            ),
        ];
        for (name, call, now, wanted) in rows {
            let after = content_after(&call, path, now);
            assert_eq!(after.as_deref(), wanted, "{name}");
        }
    }
}
