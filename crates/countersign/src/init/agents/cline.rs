//! Cline: two hook files and a plugin, in `~/Documents/Cline`.
//!
//! Cline runs the tool whatever becomes of a hook file. The plugin lets through only calls that the
//! hook file has answered. See the files in `integrations/cline`. They are not in `~/.cline`, because
//! a project's `.env` can move that folder.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Agent, File, PROGRAM, Practice, Texts};
use super::{filled, settings_file, text};
use crate::complaint::Complaint;
use crate::init::Place;
use crate::init::command::quoted;

const NAME: &str = "cline";
const BEFORE: &str = include_str!("../../../../../integrations/cline/PreToolUse");
const AFTER: &str = include_str!("../../../../../integrations/cline/PostToolUse");
const PLUGIN: &str = include_str!("../../../../../integrations/cline/countersign.js");
/// Stands in all of them.
const SIGN: &str = "Countersign for Cline";
/// Ends of the names under which Cline runs a hook file. It runs all that exist, so that those of
/// others stay.
const ENDS: &[&str] = &["", ".sh", ".bash", ".zsh"];

pub(super) const AGENT: Agent = Agent {
    name: NAME,
    title: "Cline",
    programs: &["cline"],
    variables: &["CLINE_DIR"],
    has_key: true,
    known_by_folder: None,
    files,
    with,
    without: |_, texts| {
        let others = |text: &String| !text.contains(SIGN);
        Ok(texts.iter().cloned().map(|it| it.filter(others)).collect())
    },
    command: |place, texts| {
        text(texts, 0).filter(|text| text.contains(SIGN))?;
        let file = files(place).into_iter().next()?;
        Some(quoted(file.path.to_str()?))
    },
    practice: Some(practice),
    warnings: |_, _, _| Vec::new(),
    stays_open: &[
        "a project's .env sets Cline's own variables, by which a hostile project runs code in Cline without any tool call",
        "a plugin that does not load leaves a hook that is killed, or later than Cline's fixed 120 s, open",
        "Cline's VS Code extension reads the same hook files, untried",
    ],
};

fn with(place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
    let foreign = |text: &Option<String>| text.as_ref().is_some_and(|it| !it.contains(SIGN));
    if let Some((_, file)) = texts
        .iter()
        .zip(files(place))
        .take(2)
        .find(|(text, _)| foreign(text))
    {
        return Err(Complaint::failed(
            format!(
                "{} and its other names belong to other hooks",
                file.path.display()
            ),
            "remove or rename one of them",
        ));
    }
    let ours = [BEFORE, AFTER, PLUGIN].map(|text| Some(filled(place, text)));
    Ok(ours.to_vec())
}

fn files(place: &Place) -> Vec<File> {
    let folder = place.user.join("Documents/Cline");
    let hook = |event: &str| File {
        path: free(&folder.join("Hooks"), event),
        mode: PROGRAM,
    };
    vec![
        hook("PreToolUse"),
        hook("PostToolUse"),
        settings_file(folder.join("Plugins/countersign.js")),
    ]
}

/// Returns our hook file for `event`, or a name that nobody uses, or, if there is none, the first.
fn free(hooks: &Path, event: &str) -> PathBuf {
    let mut paths = ENDS.iter().map(|end| hooks.join(format!("{event}{end}")));
    let is_free = |path: &PathBuf| match std::fs::read_to_string(path) {
        Ok(text) => text.contains(SIGN),
        Err(_) => !path.exists(),
    };
    let free = paths.find(is_free);
    free.unwrap_or_else(|| hooks.join(event))
}

fn practice(practice: &Practice<'_>) -> Value {
    json!({
        "hookName": "tool_call",
        "taskId": practice.session,
        "sessionContext": { "rootSessionId": practice.session },
        "workspaceRoots": [practice.cwd],
        "agent_id": practice.session,
        "parent_agent_id": null,
        "tool_call": {
            "id": practice.session,
            "name": "run_commands",
            "input": { "commands": [practice.command] },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{AGENT, ENDS, files};
    use crate::init::Place;

    #[test]
    fn hooks_of_others_are_never_overwritten() {
        let user = tempfile::tempdir().unwrap();
        let place = Place::made_up(user.path(), "/usr/bin/countersign");
        let hooks = user.path().join("Documents/Cline/Hooks");
        std::fs::create_dir_all(&hooks).unwrap();
        for (number, end) in ENDS.iter().enumerate() {
            let first = files(&place).remove(0).path;
            assert_eq!(
                first,
                hooks.join(format!("PreToolUse{end}")),
                "{number} taken"
            );
            std::fs::write(first, "#!/bin/sh\nexec guard\n").unwrap();
        }
        let text = Some("#!/bin/sh\nexec guard\n".to_owned());
        let refused = (AGENT.with)(&place, &vec![text, None, None]);
        let refused = refused.unwrap_err();
        assert!(refused.message().contains("belong to other hooks"));
    }
}
