//! Gemini CLI: `~/.gemini/settings.json`, and an extension for folders that are not trusted.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::model::Call;
use super::super::settings::{self, Dialect};
use super::place::{Late, Place, Setup};
use super::{Agent, PROMPT, Scene, Stage, Start};

/// How long it waits for a hook whose entry does not say, in milliseconds.
const USUAL_MILLIS: f64 = 60_000.0;
/// A longer time runs out at once.
const MILLIS_MAX: f64 = 2_147_483_647.0;

pub(super) const AGENT: Agent = Agent {
    name: "gemini",
    setup,
    stage: Some(Stage {
        calls: |command| {
            let args = json!({ "command": command, "description": "test the firewall" });
            vec![Call::new("run_shell_command", args)]
        },
        start,
        limit: Duration::from_secs(90),
    }),
};

fn setup(place: &Place<'_>) -> Setup {
    let folder = place.machine.user.join(".gemini");
    let file = place.file.clone();
    let values = match settings::read(&file, Dialect::Comments) {
        Ok(values) => values.unwrap_or_default(),
        // Gemini CLI does not start with such a file, so nothing runs.
        Err(why) => return place.unreadable(&why),
    };
    let entries = settings::grouped(&values, "BeforeTool", place.adapter.name);
    let Some(entry) = entries.first() else {
        return Setup::missing(&file);
    };
    let mut lines = place.starts(&file, &entry.invocation);
    if !settings::matches_all(entry) {
        let found = "its hook is asked about some tools only (matcher)";
        lines.push(place.fail(found, place.init()));
    }
    lines.push(place.guarded(entry));
    let millis = entry.value["timeout"].as_f64().unwrap_or(USUAL_MILLIS);
    if millis > MILLIS_MAX {
        let found = "it gives its hook more time than it can count, so the time is over at once";
        lines.push(place.fail(found, place.init()));
    } else {
        lines.extend(place.patience(entry, millis / 1000.0, Late::Runs));
    }
    let extension = folder.join("extensions/countersign/hooks/hooks.json");
    if !extension.exists() {
        let found = "in a folder you do not trust its hook is not asked (no extension)";
        lines.push(place.warn(found, place.init()));
    }
    if settings::grouped(&values, "BeforeAgent", place.adapter.name).is_empty() {
        let found = "the hook is not told what you write, so a person in crisis is not recognised";
        lines.push(place.warn(found, place.init()));
    }
    if let Some(switch) = switch(&values) {
        lines.push(place.off(&file, switch));
    }
    let project = [".gemini/settings.json"];
    lines.extend(place.switched_off(&project, Dialect::Comments, project_switch));
    Setup::There(lines)
}

fn switch(values: &Value) -> Option<&'static str> {
    let config = &values["hooksConfig"];
    if config["enabled"] == false {
        return Some("\"hooksConfig\": {\"enabled\": false}");
    }
    let disabled = config["disabled"].as_array().into_iter().flatten();
    let names_us = |name: &Value| name.as_str().is_some_and(|it| it.contains("countersign"));
    disabled
        .into_iter()
        .any(names_us)
        .then_some("our hook in \"hooksConfig\": {\"disabled\"}")
}

fn project_switch(values: &Value) -> Option<&'static str> {
    let is_null = values.get("hooks").is_some_and(Value::is_null);
    switch(values).or_else(|| is_null.then_some("\"hooks\": null"))
}

fn start(scene: &Scene<'_>) -> Start {
    // The folder's settings win over the person's way to sign in; the person's hooks stay.
    let settings = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } } });
    let args = [
        "-m",
        "gemini-2.5-flash",
        "-p",
        PROMPT,
        "--approval-mode",
        "yolo",
    ];
    Start {
        args: args.map(str::to_owned).into(),
        set: vec![
            ("GEMINI_API_KEY", "canary".to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", scene.url.to_owned()),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
        ],
        unset: &[
            "GOOGLE_API_KEY",
            "GOOGLE_GENAI_USE_VERTEXAI",
            "GOOGLE_GENAI_USE_GCA",
        ],
        files: vec![(".gemini/settings.json", settings.to_string())],
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Machine;
    use super::*;

    const FILE: &str = "ana/.gemini/settings.json";
    const COMMAND: &str = "o=$(ROOT/bin/countersign hook gemini) && [ -n \"$o\" ] && printf '%s' \"$o\" || { echo no >&2; exit 2; }";

    fn values(timeout: u64) -> Value {
        let entry = json!({ "type": "command", "name": "countersign", "command": COMMAND, "timeout": timeout });
        json!({ "hooks": {
            "BeforeTool": [{ "matcher": "*", "hooks": [entry] }],
            "BeforeAgent": [{ "hooks": [entry] }],
        }})
    }

    #[test]
    fn a_good_set_up() {
        let machine = Machine::new("gemini");
        machine.write(FILE, &format!("// mine\n{}", values(86_400_000)));
        machine.write("ana/.gemini/extensions/countersign/hooks/hooks.json", "{}");
        insta::assert_snapshot!(machine.setup(setup), @r"
        ✓ ok   gemini        its hook in ROOT/ana/.gemini/settings.json starts this program
        ✓ ok   gemini        a hook that fails denies the call
        ");
    }

    #[test]
    fn each_defect() {
        let machine = Machine::new("gemini");
        assert_eq!(
            machine.setup(setup),
            "missing: its hook is not in ROOT/ana/.gemini/settings.json\n"
        );
        let mut values = values(60_000);
        values["hooksConfig"] = json!({ "disabled": ["countersign"] });
        values["hooks"]["BeforeAgent"] = json!([]);
        machine.write(FILE, &values.to_string());
        machine.write("project/.gemini/settings.json", r#"{"hooks": null}"#);
        let mut shown = machine.setup(setup);
        values["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"] = json!(2_147_483_648_u64);
        values["hooks"]["BeforeTool"][0]["matcher"] = json!("write_file");
        values["hooksConfig"] = json!({ "enabled": false });
        machine.write(FILE, &values.to_string());
        machine.write("project/.gemini/settings.json", "{}");
        shown += &machine.setup(setup);
        insta::assert_snapshot!(shown);
    }
}
