//! Cline: the programs of `~/Documents/Cline/Hooks`, and a plugin that lets only answered calls
//! through. `~/.cline` is read, too, but the `.env` file of a project can move it.

use std::time::Duration;

use serde_json::json;

use super::super::model::{Call, NAME};
use super::super::settings;
use super::place::{Place, Setup};
use super::{Agent, PROMPT, Scene, Stage, Start};

/// Ends of the names under which Cline runs a shell script as its hook.
const ENDS: [&str; 4] = ["", ".sh", ".bash", ".zsh"];

pub(super) const AGENT: Agent = Agent {
    name: "cline",
    setup,
    stage: Some(Stage {
        calls: |command| vec![Call::new("run_commands", json!({ "commands": [command] }))],
        start,
        limit: Duration::from_mins(2),
    }),
};

fn setup(place: &Place<'_>) -> Setup {
    let steady = place.machine.user.join("Documents/Cline");
    let movable = place.machine.folder("CLINE_DIR", ".cline");
    let folders = [steady.join("Hooks"), movable.join("hooks")];
    let files = folders
        .iter()
        .flat_map(|folder| ENDS.map(|end| folder.join(format!("PreToolUse{end}"))));
    let mut unreadable = None;
    for file in files {
        let text = match settings::text(&file) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(why) => {
                unreadable = Some(why);
                continue;
            }
        };
        let commands = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'));
        let invocation = commands
            .into_iter()
            .find_map(|line| settings::invocation(line, place.adapter.name));
        let Some(invocation) = invocation else {
            continue;
        };
        let mut lines = place.starts(&file, &invocation);
        if !file.starts_with(&steady) {
            let found = "the .env file of a project can take its hook away (it is not in ~/Documents/Cline/Hooks)";
            lines.push(place.warn(found, place.init()));
        }
        let plugins = [steady.join("Plugins"), movable.join("plugins")];
        let has_plugin = plugins.iter().any(|it| it.join("countersign.js").exists());
        lines.push(match (has_plugin, text.contains("\"cancel\":true")) {
            (true, _) => place.ok("a call that the hook did not answer is denied (plugin)"),
            (false, true) => place.warn(
                "a hook that is killed or too slow lets the call run (no plugin)",
                place.init(),
            ),
            (false, false) => place.fail(
                "a hook that crashes or is missing lets the call run",
                place.init(),
            ),
        });
        return Setup::There(lines);
    }
    match unreadable {
        Some(why) => place.unreadable(&why),
        None => Setup::missing(&place.file),
    }
}

fn start(scene: &Scene<'_>) -> Start {
    // Providers are kept with the data, so the run gets data of its own; hooks and plugins stay.
    let data = scene.folder.join("data").display().to_string();
    let providers = json!({
        "version": 1,
        "lastUsedProvider": "openai-compatible",
        "modes": {},
        "providers": { "openai-compatible": { "settings": {
            "provider": "openai-compatible",
            "apiKey": "canary",
            "model": NAME,
            "baseUrl": format!("{}/v1", scene.url),
        }, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual" }},
    });
    let args = ["--data-dir", &data, "--json", PROMPT];
    Start {
        args: args.map(str::to_owned).into(),
        files: vec![("data/settings/providers.json", providers.to_string())],
        ..Start::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Machine;
    use super::*;

    const HOOK: &str = "ana/Documents/Cline/Hooks/PreToolUse";
    const SCRIPT: &str = "#!/bin/sh\n# asks countersign hook cline\nif ! answer=$('ROOT/bin/countersign' hook cline --home 'ROOT/ana/.countersign'); then\n    answer='{\"cancel\":true}'\nfi\n";

    #[test]
    fn a_good_set_up_and_each_defect() {
        let machine = Machine::new("cline");
        let mut shown = machine.setup(setup);
        machine.write(HOOK, SCRIPT);
        shown += &machine.setup(setup);
        machine.write("ana/Documents/Cline/Plugins/countersign.js", "");
        shown += &machine.setup(setup);
        std::fs::remove_file(machine.path(HOOK)).unwrap();
        machine.write("ana/.cline/hooks/PreToolUse", SCRIPT);
        shown += &machine.setup(setup);
        insta::assert_snapshot!(shown);
    }
}
