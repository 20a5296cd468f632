//! Our binary as tests start it: in a home of its own, with nothing of the person who runs them.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Where no gateway is: nothing listens at the first of all ports. Without it a command in a home
/// whose gateway is gone would ask at the usual port, where somebody's own may be.
const NOWHERE: &str = "http://127.0.0.1:1";

/// Returns where the binary is.
pub(crate) fn binary() -> &'static Path {
    assert_cmd::cargo::cargo_bin!("countersign")
}

/// Returns the binary, to be started in `home`.
pub(crate) fn ours(home: &Path) -> Command {
    in_home(Command::new(binary()), home)
}

/// Lets `command` see `home` and nothing else of this machine.
pub(crate) fn in_home(mut command: Command, home: &Path) -> Command {
    command.env_clear().envs(variables(home));
    command
}

/// Returns all variables a program of ours is started with in `home`.
pub(crate) fn variables(home: &Path) -> Vec<(&'static str, OsString)> {
    let mut variables = vec![("HOME", home.into()), ("COUNTERSIGN_HOME", home.into())];
    // A gateway that works in the home has left its address there.
    if !home.join("gateway.url").exists() {
        variables.push(("COUNTERSIGN_URL", NOWHERE.into()));
    }
    variables
}
