//! Names that others give to tools, sessions, runs, agents and executors: what they may look like.

use crate::GateError;
use crate::approvals::answer::invalid;

/// Longest name, in bytes.
pub const NAME_BYTES_MAX: usize = 256;

/// Checks the name that stands under `param`.
pub fn check(param: &'static str, name: &str) -> Result<(), GateError> {
    let is_good = !name.trim().is_empty()
        && name.len() <= NAME_BYTES_MAX
        && !name.chars().any(char::is_control);
    if is_good {
        return Ok(());
    }
    let message =
        format!("`{param}` must have 1 to {NAME_BYTES_MAX} bytes and no control characters");
    Err(invalid(param, "invalid_name", &message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_be_read_and_is_not_long() {
        let longest = "n".repeat(NAME_BYTES_MAX);
        let too_long = "n".repeat(NAME_BYTES_MAX + 1);
        let rows = [
            ("a name", "s1", true),
            ("in any script", "Übung 3", true),
            ("the longest", longest.as_str(), true),
            ("longer", too_long.as_str(), false),
            ("empty", "", false),
            ("blank", "  ", false),
            ("two lines", "a\nb", false),
        ];
        for (what, name, expected) in rows {
            assert_eq!(check("session_id", name).is_ok(), expected, "{what}");
        }
    }
}
