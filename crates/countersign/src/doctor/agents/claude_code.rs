//! Claude Code: `~/.claude/settings.json`.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::model::Call;
use super::super::settings::{self, Dialect, Entry};
use super::place::{Late, Place, Setup};
use super::{Agent, PROMPT, Scene, Stage, Start};
use crate::init::agents::claude_code::KNOWS_ON_FAILURE;

/// How long it waits for a hook whose entry does not say.
const USUAL_SECONDS: f64 = 600.0;

pub(super) const AGENT: Agent = Agent {
    name: "claude-code",
    setup,
    stage: Some(Stage {
        calls: |command| {
            let args = json!({ "command": command, "description": "test the firewall" });
            vec![Call::new("Bash", args)]
        },
        start,
        limit: Duration::from_secs(90),
    }),
};

fn setup(place: &Place<'_>) -> Setup {
    let file = place.file.clone();
    let values = match settings::read(&file, Dialect::Strict) {
        Ok(values) => values.unwrap_or_default(),
        // Claude Code ignores a file with a comment or a comma too many, and every hook in it.
        Err(why) => return place.unreadable(&why),
    };
    let entries = settings::grouped(&values, "PreToolUse", place.adapter.name);
    let covers_all = |entry: &&Entry<'_>| settings::matches_all(entry);
    let Some(entry) = entries.iter().find(covers_all).or(entries.first()) else {
        return Setup::missing(&file);
    };
    let mut lines = place.starts(&file, &entry.invocation);
    if !settings::matches_all(entry) {
        let found = "its hook is asked about some tools only (matcher)";
        lines.push(place.fail(found, place.init()));
    }
    lines.push(fails_closed(place, entry));
    let seconds = entry.value["timeout"].as_f64().unwrap_or(USUAL_SECONDS);
    let late = if blocks(entry) {
        Late::IsDenied
    } else {
        Late::Runs
    };
    lines.extend(place.patience(entry, seconds, late));
    if settings::grouped(&values, "UserPromptSubmit", place.adapter.name).is_empty() {
        let found = "the hook is not told what you write, so a person in crisis is not recognised";
        lines.push(place.warn(found, place.init()));
    }
    if let Some(switch) = switch(&values) {
        lines.push(place.off(&file, switch));
    }
    let project = [".claude/settings.json", ".claude/settings.local.json"];
    lines.extend(place.switched_off(&project, Dialect::Strict, switch));
    Setup::There(lines)
}

fn fails_closed(place: &Place<'_>, entry: &Entry<'_>) -> super::Line {
    let is_old = place.version.is_some_and(|it| it < KNOWS_ON_FAILURE);
    match (blocks(entry), entry.invocation.is_guarded) {
        (true, _) if is_old => place.warn(
            format!("this version ignores \"onFailure\": a hook that is too slow lets the call run (needs {KNOWS_ON_FAILURE})"),
            "update Claude Code",
        ),
        (true, _) => place.ok("a hook that fails denies the call (onFailure: block)"),
        (false, true) => place.warn(
            "a hook that is too slow lets the call run (no \"onFailure\": \"block\")",
            place.init(),
        ),
        (false, false) => place.fail(
            "a hook that crashes, is missing or too slow lets the call run (no \"onFailure\": \"block\")",
            place.init(),
        ),
    }
}

fn blocks(entry: &Entry<'_>) -> bool {
    entry.value["onFailure"] == "block"
}

fn switch(values: &Value) -> Option<&'static str> {
    (values["disableAllHooks"] == true).then_some("\"disableAllHooks\": true")
}

fn start(scene: &Scene<'_>) -> Start {
    // An `env` block in the person's settings wins over the environment, and this over both.
    let settings = json!({ "env": {
        "ANTHROPIC_BASE_URL": scene.url,
        "ANTHROPIC_AUTH_TOKEN": "canary",
        "ANTHROPIC_API_KEY": "",
        "CLAUDE_CODE_USE_BEDROCK": "",
        "CLAUDE_CODE_USE_VERTEX": "",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
    }});
    let args = [
        "-p",
        PROMPT,
        "--output-format",
        "json",
        "--no-session-persistence",
        "--strict-mcp-config",
        "--settings",
        &settings.to_string(),
        "--allowedTools",
        "Bash",
    ];
    Start {
        args: args.map(str::to_owned).into(),
        set: vec![
            ("ANTHROPIC_BASE_URL", scene.url.to_owned()),
            ("ANTHROPIC_AUTH_TOKEN", "canary".to_owned()),
        ],
        // A doctor that Claude Code itself runs must not look like a session inside a session.
        unset: &["ANTHROPIC_API_KEY", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"],
        ..Start::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Machine;
    use super::*;
    use crate::init::find::Version;

    const FILE: &str = "ana/.claude/settings.json";

    fn settings(entry: &Value) -> String {
        json!({
            "hooks": {
                "PreToolUse": [
                    { "matcher": "Bash", "hooks": [{ "type": "command", "command": "their-linter" }] },
                    { "matcher": "*", "hooks": [entry] },
                ],
                "UserPromptSubmit": [{ "hooks": [entry] }],
            },
        })
        .to_string()
    }

    fn good() -> Value {
        json!({
            "type": "command",
            "command": "ROOT/bin/countersign hook claude-code || { echo no >&2; exit 2; }",
            "timeout": 3600,
            "onFailure": "block",
        })
    }

    #[test]
    fn a_good_set_up() {
        let machine = Machine::new("claude-code");
        machine.write(FILE, &settings(&good()));
        insta::assert_snapshot!(machine.setup(setup), @r#"
        ✓ ok   claude-code   its hook in ROOT/ana/.claude/settings.json starts this program
        ✓ ok   claude-code   a hook that fails denies the call (onFailure: block)
        "#);
    }

    #[test]
    fn each_defect() {
        let mut machine = Machine::new("claude-code");
        assert_eq!(
            machine.setup(setup),
            "missing: its hook is not in ROOT/ana/.claude/settings.json\n"
        );
        machine.write(FILE, "{} // mine");
        let mut shown = machine.setup(setup);
        machine.version = Some(Version(2, 1, 197));
        machine.write(FILE, &settings(&good()));
        shown += &machine.setup(setup);
        let mut short = good();
        short["timeout"] = json!(60);
        machine.write(FILE, &settings(&short));
        shown += &machine.setup(setup);
        let entry = json!({ "type": "command", "command": "ROOT/bin/gone hook claude-code", "timeout": 60 });
        machine.write(FILE, &settings(&entry));
        machine.write(
            "project/.claude/settings.json",
            r#"{"disableAllHooks": true}"#,
        );
        shown += &machine.setup(setup);
        machine.write("bin/old", "");
        let entry = json!({ "command": "countersign hook claude-code --home /elsewhere" });
        let values = json!({ "disableAllHooks": true, "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [entry] }] } });
        machine.write(FILE, &values.to_string());
        shown += &machine.setup(setup);
        insta::assert_snapshot!(shown);
    }

    #[test]
    fn another_place_for_the_settings_is_honoured() {
        let mut machine = Machine::new("claude-code");
        machine.set("CLAUDE_CONFIG_DIR", "moved");
        machine.write("moved/settings.json", &settings(&good()));
        assert!(machine.setup(setup).contains("ROOT/moved/settings.json"));
    }
}
