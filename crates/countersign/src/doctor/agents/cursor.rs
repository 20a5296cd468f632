//! Cursor: `~/.cursor/hooks.json`, by its documentation alone.

use super::super::settings::{self, Dialect};
use super::Agent;
use super::place::{Late, Place, Setup};

/// How long it waits for a hook whose entry does not say.
const USUAL_SECONDS: f64 = 60.0;

pub(super) const AGENT: Agent = Agent {
    name: "cursor",
    setup,
    stage: None,
};

fn setup(place: &Place<'_>) -> Setup {
    let file = place.file.clone();
    let values = match settings::read(&file, Dialect::Strict) {
        Ok(values) => values.unwrap_or_default(),
        Err(why) => return place.unreadable(&why),
    };
    let events = ["preToolUse", "beforeShellExecution", "beforeMCPExecution"];
    let found = events.map(|event| settings::flat(&values, event, place.adapter.name));
    let Some(entry) = found.iter().flatten().next() else {
        return Setup::missing(&file);
    };
    let mut lines = place.starts(&file, &entry.invocation);
    let mut entries = found.iter().flatten();
    let late = if entries.all(|entry| entry.value["failClosed"] == true) {
        lines.push(place.ok("a hook that fails denies the call (failClosed)"));
        Late::IsDenied
    } else {
        let found = "a hook that crashes or is missing lets the call run (no \"failClosed\": true)";
        lines.push(place.fail(found, place.init()));
        Late::Runs
    };
    let seconds = entry.value["timeout"].as_f64().unwrap_or(USUAL_SECONDS);
    lines.extend(place.patience(entry, seconds, late));
    Setup::There(lines)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::place::Machine;
    use super::*;

    #[test]
    fn a_good_set_up_and_one_that_is_open() {
        let machine = Machine::new("cursor");
        let file = "ana/.cursor/hooks.json";
        let mut shown = machine.setup(setup);
        for closed in [true, false] {
            let command = "ROOT/bin/countersign hook cursor";
            let entry = json!({ "command": command, "timeout": 3600, "failClosed": closed });
            let values = json!({ "version": 1, "hooks": { "preToolUse": [entry] } });
            machine.write(file, &values.to_string());
            shown += &machine.setup(setup);
        }
        insta::assert_snapshot!(shown, @r#"
        missing: its hook is not in ROOT/ana/.cursor/hooks.json
        ✓ ok   cursor        its hook in ROOT/ana/.cursor/hooks.json starts this program
        ✓ ok   cursor        a hook that fails denies the call (failClosed)
        ✓ ok   cursor        its hook in ROOT/ana/.cursor/hooks.json starts this program
        ✗ FAIL cursor        a hook that crashes or is missing lets the call run (no "failClosed": true) → countersign init cursor
        "#);
    }
}
