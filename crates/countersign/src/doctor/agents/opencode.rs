//! `OpenCode`: our plugin in `~/.config/opencode/plugin`, and the key in `opencode.json` that leaves
//! the agent without tools where the plugin does not load.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::model::{Call, NAME};
use super::super::report::Line;
use super::super::settings::{self, Dialect, Invocation};
use super::place::{Place, Setup};
use super::{Agent, PROMPT, Scene, Stage, Start};

/// The permission that denies every tool; the plugin removes it when it loads.
const LOCK: &str = "**";

pub(super) const AGENT: Agent = Agent {
    name: "opencode",
    setup,
    stage: Some(Stage {
        calls: |command| {
            let args = json!({ "command": command, "description": "test the firewall" });
            vec![Call::new("bash", args)]
        },
        start,
        // Its first start takes most of a minute.
        limit: Duration::from_mins(3),
    }),
};

fn setup(place: &Place<'_>) -> Setup {
    let usual = place
        .machine
        .folder("XDG_CONFIG_HOME", ".config")
        .join("opencode");
    let named = place.machine.named("OPENCODE_CONFIG_DIR");
    let folders = [Some(usual.clone()), named];
    let plugins = folders.iter().flatten().flat_map(|folder| {
        ["plugin", "plugins"].map(|name| folder.join(name).join("countersign.js"))
    });
    let plugins: Vec<PathBuf> = plugins.collect();
    let Some(plugin) = plugins.iter().find(|file| file.exists()) else {
        return Setup::missing(&usual.join("plugin/countersign.js"));
    };
    let text = match settings::text(plugin) {
        Ok(text) => text.unwrap_or_default(),
        Err(why) => return place.unreadable(&why),
    };
    let mut lines = if let Some(program) = constant(&text, "PROGRAM") {
        let invocation = Invocation {
            program: program.into(),
            home: constant(&text, "HOME").map(PathBuf::from),
            wait: None,
            is_guarded: true,
        };
        place.starts(plugin, &invocation)
    } else {
        let found = format!("{} names no program", plugin.display());
        vec![place.fail(found, place.init())]
    };
    lines.push(locked(place, &usual));
    Setup::There(lines)
}

/// Returns the text that a line `const NAME = "…"` gives to `name`.
fn constant(script: &str, name: &str) -> Option<String> {
    let start = format!("const {name} = ");
    let value = script.lines().find_map(|line| line.strip_prefix(&start))?;
    serde_json::from_str(value.trim_end_matches(';')).ok()
}

/// Checks that `OpenCode` has no tools where the plugin does not load.
fn locked(place: &Place<'_>, folder: &Path) -> Line {
    // The last of them wins.
    for name in ["opencode.jsonc", "opencode.json"] {
        let file = folder.join(name);
        let values = match settings::read(&file, Dialect::Loose) {
            Ok(Some(values)) => values,
            Ok(None) => continue,
            Err(why) => return place.fail(why, "repair it by hand"),
        };
        let Some(Value::Object(permission)) = values.get("permission") else {
            continue;
        };
        let Some(lock) = permission.get(LOCK) else {
            continue;
        };
        let last = permission.keys().next_back();
        if lock == "deny" && last.is_some_and(|it| it == LOCK) {
            return place.ok("without the plugin OpenCode has no tools (permission \"**\")");
        }
        let found = format!(
            "the key \"**\" in `permission` of {} must be the last and say \"deny\"",
            file.display()
        );
        return place.fail(found, place.init());
    }
    place.fail(
        "if the plugin does not load, calls run unasked (no permission \"**\": \"deny\")",
        place.init(),
    )
}

fn start(scene: &Scene<'_>) -> Start {
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "options": { "baseURL": format!("{}/v1", scene.url), "apiKey": "canary" },
        "models": { NAME: { "tool_call": true } },
    });
    let model = format!("canary/{NAME}");
    let config = json!({
        "provider": { "canary": provider }, "model": model, "small_model": model,
        "autoupdate": false, "share": "disabled",
    });
    let args = ["run", "--model", &model, "--format", "json", PROMPT];
    Start {
        args: args.map(str::to_owned).into(),
        set: vec![
            ("OPENCODE_CONFIG_CONTENT", config.to_string()),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
        ],
        ..Start::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Machine;
    use super::*;

    const PLUGIN: &str = "ana/.config/opencode/plugin/countersign.js";
    const CONFIG: &str = "ana/.config/opencode/opencode.json";

    fn plugin(program: &str) -> String {
        format!(
            "import x from \"x\"\nconst PROGRAM = \"{program}\"\nconst HOME = \"ROOT/ana/.countersign\"\n"
        )
    }

    #[test]
    fn a_good_set_up() {
        let machine = Machine::new("opencode");
        machine.write(PLUGIN, &plugin("ROOT/bin/countersign"));
        machine.write(
            CONFIG,
            "{ /* mine */ \"permission\": {\"bash\": \"ask\", \"**\": \"deny\",} }",
        );
        insta::assert_snapshot!(machine.setup(setup), @r#"
        ✓ ok   opencode      its hook in ROOT/ana/.config/opencode/plugin/countersign.js starts this program
        ✓ ok   opencode      without the plugin OpenCode has no tools (permission "**")
        "#);
    }

    #[test]
    fn each_defect() {
        let machine = Machine::new("opencode");
        let mut shown = machine.setup(setup);
        machine.write(PLUGIN, &plugin("ROOT/bin/gone"));
        shown += &machine.setup(setup);
        machine.write(PLUGIN, "export {}");
        machine.write(CONFIG, r#"{"permission": {"**": "deny", "bash": "allow"}}"#);
        shown += &machine.setup(setup);
        insta::assert_snapshot!(shown);
    }
}
