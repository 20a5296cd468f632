//! Validates names from outside: tools, sessions, runs, agents, executors.

use crate::base::principal::Principal;
use countersign_core::digest::Digest;

use crate::GateError;
use crate::records::error::invalid;

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

/// Returns the run of calls that name none: one per key and session.
pub(crate) fn run_of(who: &Principal, session: &str) -> String {
    let digest = Digest::of(format!("countersign/v1/run\0{}\0{session}", who.key).as_bytes());
    let hex = digest.hex();
    format!("run_{}", hex.get(..32).unwrap_or(&hex))
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
