//! Codex: `~/.codex/hooks.json`, and the trust in each entry in `~/.codex/config.toml`.
//!
//! Codex runs a hook only if the configuration holds the hash of its entry, and says nothing when it
//! does not.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::super::model::Call;
use super::super::report::Line;
use super::super::settings::{self, Dialect, Entry};
use super::place::{Late, Place, Setup};
use super::{Agent, PROMPT, Scene, Stage, Start};
use crate::init::agents::codex::hash_of;

pub(super) const AGENT: Agent = Agent {
    name: "codex",
    setup,
    stage: Some(Stage {
        calls: |command| {
            vec![
                Call::new("exec_command", json!({ "cmd": command })),
                Call::new("shell_command", json!({ "command": command })),
                Call::new("shell", json!({ "command": ["bash", "-lc", command] })),
            ]
        },
        start,
        limit: Duration::from_secs(90),
    }),
};

fn setup(place: &Place<'_>) -> Setup {
    let folder = place.machine.folder("CODEX_HOME", ".codex");
    let file = place.file.clone();
    let values = match settings::read(&file, Dialect::Strict) {
        Ok(values) => values.unwrap_or_default(),
        Err(why) => return place.unreadable(&why),
    };
    let entries = settings::grouped(&values, "PreToolUse", place.adapter.name);
    let Some(entry) = entries.first() else {
        return Setup::missing(&file);
    };
    let mut lines = place.starts(&file, &entry.invocation);
    let keys = values.as_object().into_iter().flat_map(|it| it.keys());
    let unknown = |key: &&String| !matches!(key.as_str(), "hooks" | "description");
    if let Some(key) = keys.into_iter().find(unknown) {
        lines.push(place.fail(
            format!(
                "Codex ignores {} because of its key `{key}`",
                file.display()
            ),
            "remove that key",
        ));
    }
    if !settings::matches_all(entry) {
        let found = "its hook is asked about some tools only (matcher)";
        lines.push(place.fail(found, place.init()));
    }
    lines.push(place.guarded(entry));
    let seconds = entry.value["timeout"].as_f64().unwrap_or(600.0);
    lines.extend(place.patience(entry, seconds, Late::Runs));
    lines.extend(configuration(place, &folder, &file, entry));
    if settings::grouped(&values, "UserPromptSubmit", place.adapter.name).is_empty() {
        let found = "the hook is not told what you write, so a person in crisis is not recognised";
        lines.push(place.warn(found, place.init()));
    }
    Setup::There(lines)
}

/// Checks that Codex trusts the entry, and that nothing goes around the hook.
fn configuration(place: &Place<'_>, folder: &Path, file: &Path, entry: &Entry<'_>) -> Vec<Line> {
    let path = folder.join("config.toml");
    let text = match settings::text(&path) {
        Ok(text) => text.unwrap_or_default(),
        Err(why) => return vec![place.fail(why, "make it readable for you")],
    };
    let values: toml::Table = match toml::from_str(&text) {
        Ok(values) => values,
        Err(error) => {
            let why = error.message();
            let found = format!("{} cannot be read: {why}", path.display());
            return vec![place.fail(found, "repair it by hand")];
        }
    };
    let at = |names: &[&str]| {
        let mut value = values.get(*names.first()?)?;
        for name in names.iter().skip(1) {
            value = value.get(name)?;
        }
        Some(value.clone())
    };
    let (group, handler) = entry.place;
    let key = format!("{}:pre_tool_use:{group}:{handler}", file.display());
    let trusted = at(&["hooks", "state", &key, "trusted_hash"]);
    let trusted = trusted.as_ref().and_then(toml::Value::as_str);
    let mut lines = Vec::new();
    if trusted == Some(&hash_of("pre_tool_use", entry.group, entry.value)) {
        lines.push(place.ok("Codex trusts the hook"));
    } else {
        let found = match trusted {
            Some(_) => "Codex does not run its hook: the entry changed since it was trusted",
            None => "Codex does not run its hook: it is not trusted",
        };
        lines.push(place.fail(found, place.init()));
    }
    let is = |names: &[&str], wanted: bool| at(names).and_then(|it| it.as_bool()) == Some(wanted);
    if is(&["features", "hooks"], false) {
        lines.push(place.off(&path, "`features.hooks = false`"));
    }
    if !is(&["features", "unified_exec_tty"], false) {
        let found = "what the agent types into a program that already runs is not seen by the hook";
        let fix = format!(
            "set `unified_exec_tty = false` in [features] of {}",
            path.display()
        );
        lines.push(place.warn(found, fix));
    }
    lines
}

fn start(scene: &Scene<'_>) -> Start {
    let provider = format!(
        "model_providers.countersign_canary={{name=\"canary\",base_url=\"{}/v1\",wire_api=\"responses\",supports_websockets=false}}",
        scene.url
    );
    let args = [
        "exec",
        "--json",
        "--ephemeral",
        "--skip-git-repo-check",
        // Codex's own sandbox would keep the call from leaving a trace, hook or no hook.
        "--sandbox",
        "danger-full-access",
        "-c",
        "model=\"countersign-canary\"",
        "-c",
        "model_provider=\"countersign_canary\"",
        "-c",
        &provider,
        PROMPT,
    ];
    Start {
        args: args.map(str::to_owned).into(),
        ..Start::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Machine;
    use super::*;
    use serde_json::Value;

    const HOOKS: &str = "ana/.codex/hooks.json";
    const CONFIG: &str = "ana/.codex/config.toml";

    fn hooks(command: &str) -> Value {
        let entry = json!({ "type": "command", "command": command, "timeout": 3600 });
        json!({ "hooks": {
            "PreToolUse": [{ "matcher": "*", "hooks": [entry] }],
            "UserPromptSubmit": [{ "hooks": [entry] }],
        }})
    }

    fn trust(machine: &Machine, values: &Value) -> String {
        let values = values.to_string().replace("ROOT", &machine.root());
        let values: Value = serde_json::from_str(&values).unwrap();
        let entries = settings::grouped(&values, "PreToolUse", "codex");
        let hash = hash_of("pre_tool_use", entries[0].group, entries[0].value);
        format!("[hooks.state.\"ROOT/{HOOKS}:pre_tool_use:0:0\"]\ntrusted_hash = \"{hash}\"\n")
    }

    const SAFE: &str = "[features]\nunified_exec_tty = false\n";
    const COMMAND: &str = "ROOT/bin/countersign hook codex || { echo no >&2; exit 2; }";

    #[test]
    fn a_good_set_up() {
        let machine = Machine::new("codex");
        let values = hooks(COMMAND);
        machine.write(HOOKS, &values.to_string());
        machine.write(CONFIG, &format!("{SAFE}{}", trust(&machine, &values)));
        insta::assert_snapshot!(machine.setup(setup), @r"
        ✓ ok   codex         its hook in ROOT/ana/.codex/hooks.json starts this program
        ✓ ok   codex         a hook that fails denies the call
        ✓ ok   codex         Codex trusts the hook
        ");
    }

    #[test]
    fn each_defect() {
        let machine = Machine::new("codex");
        assert_eq!(
            machine.setup(setup),
            "missing: its hook is not in ROOT/ana/.codex/hooks.json\n"
        );
        let mut values = hooks(COMMAND);
        machine.write(HOOKS, &values.to_string());
        let mut shown = machine.setup(setup);
        let trust = trust(&machine, &values);
        values["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = json!(60);
        values["version"] = json!(1);
        machine.write(HOOKS, &values.to_string());
        machine.write(CONFIG, &format!("[features]\nhooks = false\n{trust}"));
        shown += &machine.setup(setup);
        machine.write(HOOKS, &hooks("ROOT/bin/countersign hook codex").to_string());
        machine.write(CONFIG, "features = ");
        shown += &machine.setup(setup);
        machine.write(HOOKS, "{ // mine\n}");
        shown += &machine.setup(setup);
        insta::assert_snapshot!(shown);
    }
}
