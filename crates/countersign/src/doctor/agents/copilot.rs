//! Copilot CLI: the files of `~/.copilot/hooks`.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::model::{Call, NAME};
use super::super::settings::{self, Dialect};
use super::place::{Late, Place, Setup};
use super::{Agent, PROMPT, Scene, Stage, Start};

/// How long it waits for a hook whose entry does not say.
const USUAL_SECONDS: f64 = 30.0;

pub(super) const AGENT: Agent = Agent {
    name: "copilot",
    setup,
    stage: Some(Stage {
        calls: |command| {
            let args = json!({ "command": command, "description": "test the firewall" });
            vec![Call::new("bash", args)]
        },
        start,
        // A new version unpacks itself at its first start.
        limit: Duration::from_mins(3),
    }),
};

fn setup(place: &Place<'_>) -> Setup {
    let folder = place.machine.folder("COPILOT_HOME", ".copilot");
    let own = place.file.clone();
    let mut files: Vec<PathBuf> = vec![own.clone()];
    let others = std::fs::read_dir(folder.join("hooks"));
    files.extend(others.into_iter().flatten().flatten().map(|it| it.path()));
    for file in files {
        if file.extension().is_none_or(|end| end != "json") {
            continue;
        }
        let values = match settings::read(&file, Dialect::Strict) {
            Ok(Some(values)) => values,
            // Copilot CLI leaves a file out that it cannot read. One that is not ours is not ours.
            Err(why) if file == own => return place.unreadable(&why),
            Ok(None) | Err(_) => continue,
        };
        let entries = settings::flat(&values, "preToolUse", place.adapter.name);
        let Some(entry) = entries.first() else {
            continue;
        };
        let mut lines = place.starts(&file, &entry.invocation);
        // A hook that crashes or is missing is a deny for Copilot CLI by itself.
        lines.push(if entry.invocation.is_guarded {
            place.ok("a hook that fails denies the call")
        } else {
            place.warn("a hook that says nothing lets the call run", place.init())
        });
        let keys = ["timeoutSec", "timeout"];
        let seconds = keys.iter().find_map(|key| entry.value[key].as_f64());
        lines.extend(place.patience(entry, seconds.unwrap_or(USUAL_SECONDS), Late::Runs));
        if settings::flat(&values, "userPromptSubmitted", place.adapter.name).is_empty() {
            let found =
                "the hook is not told what you write, so a person in crisis is not recognised";
            lines.push(place.warn(found, place.init()));
        }
        let project = [
            ".github/copilot/settings.json",
            ".github/copilot/settings.local.json",
            ".claude/settings.json",
        ];
        lines.extend(place.switched_off(&project, Dialect::Strict, switch));
        return Setup::There(lines);
    }
    Setup::missing(&own)
}

fn switch(values: &Value) -> Option<&'static str> {
    (values["disableAllHooks"] == true).then_some("\"disableAllHooks\": true")
}

fn start(scene: &Scene<'_>) -> Start {
    let args = ["-p", PROMPT, "--allow-all-tools", "--allow-all-paths"];
    Start {
        args: args.map(str::to_owned).into(),
        set: vec![
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", scene.url)),
            ("COPILOT_PROVIDER_API_KEY", "canary".to_owned()),
            ("COPILOT_MODEL", NAME.to_owned()),
        ],
        ..Start::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Machine;
    use super::*;

    const FILE: &str = "ana/.copilot/hooks/countersign.json";

    fn values(command: &str, seconds: u64) -> Value {
        let entry = json!({ "type": "command", "bash": command, "timeoutSec": seconds });
        json!({ "version": 1, "hooks": { "preToolUse": [entry], "userPromptSubmitted": [entry] } })
    }

    #[test]
    fn a_good_set_up() {
        let machine = Machine::new("copilot");
        let command = "o=$(ROOT/bin/countersign hook copilot) || exit 2";
        machine.write(FILE, &values(command, 86_400).to_string());
        insta::assert_snapshot!(machine.setup(setup), @r"
        ✓ ok   copilot       its hook in ROOT/ana/.copilot/hooks/countersign.json starts this program
        ✓ ok   copilot       a hook that fails denies the call
        ");
    }

    #[test]
    fn each_defect() {
        let machine = Machine::new("copilot");
        assert_eq!(
            machine.setup(setup),
            "missing: its hook is not in ROOT/ana/.copilot/hooks/countersign.json\n"
        );
        machine.write(FILE, "{} // mine");
        let mut shown = machine.setup(setup);
        let command = "ROOT/bin/countersign hook copilot";
        machine.write(FILE, &values(command, 0).to_string());
        let off = r#"{"disableAllHooks": true}"#;
        machine.write("project/.github/copilot/settings.json", off);
        shown += &machine.setup(setup);
        insta::assert_snapshot!(shown);
    }
}
