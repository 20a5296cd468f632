//! Nested calls: bridges to other tools, and batches.

use serde_json::Value;

use super::gather::{Gathered, Inner, one_call};
use crate::follow::walk::Knows;
use crate::knowledge::names::{ARGUMENT_KEYS, TOOL_KEYS};
use crate::knowledge::{ArgumentRole, ToolRow};
use crate::place::Ground;

/// Follows the calls that a call carries.
pub(super) fn nested(
    row: &ToolRow,
    given: &[(&str, ArgumentRole, &Value)],
    call: &Inner<'_>,
    ground: &Ground,
    knows: &Knows,
    gathered: &mut Gathered,
) {
    let with_role = |wanted: ArgumentRole| {
        given
            .iter()
            .filter(move |(_, role, _)| *role == wanted)
            .map(|(_, _, value)| *value)
    };
    let mut follow = |tool: &Value, args: &Value| match tool.as_str() {
        Some(tool) => one_call(
            &Inner {
                tool: tool.strip_prefix("functions.").unwrap_or(tool),
                args,
                depth: call.depth + 1,
            },
            ground,
            knows,
            gathered,
        ),
        None => gathered.unreadable("tool_call", "the tool that is called cannot be read"),
    };
    let nothing = Value::Null;
    if row.args.iter().any(|(_, role)| *role == ArgumentRole::Tool) {
        for tool in with_role(ArgumentRole::Tool) {
            let mut carried = with_role(ArgumentRole::Arguments).peekable();
            if carried.peek().is_none() {
                follow(tool, &nothing);
            }
            carried.for_each(|args| follow(tool, args));
        }
        return;
    }
    for calls in with_role(ArgumentRole::Arguments) {
        let parsed = calls
            .as_str()
            .and_then(|text| serde_json::from_str::<Value>(text).ok());
        let calls = parsed.as_ref().unwrap_or(calls);
        let Value::Array(items) = calls else {
            follow(&Value::Null, &nothing);
            continue;
        };
        for item in items {
            let tool = TOOL_KEYS
                .iter()
                .find_map(|key| item.get(key))
                .unwrap_or(&nothing);
            let args = ARGUMENT_KEYS
                .iter()
                .find_map(|key| item.get(key))
                .unwrap_or(&nothing);
            follow(tool, args);
        }
    }
}
