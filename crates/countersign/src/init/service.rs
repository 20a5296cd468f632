//! The gateway as a service of this user: a systemd unit, or a launchd agent on macOS.
//!
//! The launchd file follows Apple's documentation and has not been tried.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::Place;
use super::agents::{Agent, File};
use super::find;
use crate::complaint::Complaint;

/// The name of the unit.
const UNIT: &str = "countersign.service";
/// The mode of both files; they hold no secrets.
const MODE: u32 = 0o644;

/// The service, which is set up and undone like an agent.
pub(crate) const SERVICE: Agent = Agent {
    name: "service",
    title: "Gateway service",
    programs: &[],
    variables: &["XDG_CONFIG_HOME"],
    has_key: false,
    known_by_folder: None,
    files,
    with: |place, _| Ok(vec![Some(text(place))]),
    without: |_, _| Ok(vec![None]),
    command: |_, _| None,
    practice: None,
    warnings: |_, _, _| Vec::new(),
    stays_open: &[],
};

const IS_MACOS: bool = cfg!(target_os = "macos");

fn files(place: &Place) -> Vec<File> {
    let path: PathBuf = if IS_MACOS {
        place
            .user
            .join("Library/LaunchAgents/dev.countersign.gateway.plist")
    } else {
        let folder = place.folder("XDG_CONFIG_HOME", ".config");
        folder.join("systemd/user").join(UNIT)
    };
    vec![File { path, mode: MODE }]
}

fn text(place: &Place) -> String {
    if IS_MACOS { plist(place) } else { unit(place) }
}

fn unit(place: &Place) -> String {
    let word = |it: &str| {
        let it = it.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{}\"", it.replace('%', "%%").replace('$', "$$"))
    };
    format!(
        "[Unit]\n\
         Description=Countersign gateway\n\n\
         [Service]\n\
         ExecStart={} serve --home {}\n\
         Restart=on-failure\n\
         RestartSec=2\n\
         UMask=0077\n\n\
         [Install]\n\
         WantedBy=default.target\n",
        word(&place.program),
        word(&place.directory)
    )
}

fn plist(place: &Place) -> String {
    let text = |it: &str| {
        let it = it.replace('&', "&amp;").replace('<', "&lt;");
        format!("    <string>{it}</string>\n")
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!-- Written by countersign init. Untried: nobody has run it on macOS yet. -->\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n  \
         <key>Label</key>\n  <string>dev.countersign.gateway</string>\n  \
         <key>ProgramArguments</key>\n  <array>\n{}{}{}{}  </array>\n  \
         <key>RunAtLoad</key>\n  <true/>\n  \
         <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n\
         </dict>\n</plist>\n",
        text(&place.program),
        text("serve"),
        text("--home"),
        text(&place.directory)
    )
}

/// Returns the error for a machine on which there is nothing that would run the service.
pub(crate) fn available(place: &Place) -> Result<(), Complaint> {
    if IS_MACOS {
        return Ok(());
    }
    let has_manager = find::program_only(place, "systemctl").is_some()
        && systemctl(&["show-environment"]).is_ok();
    if has_manager {
        return Ok(());
    }
    Err(Complaint::failed(
        "there is no systemd for this user, so there is nothing that could run the service",
        format!(
            "start the gateway from your own start-up script: {} serve --home {}",
            super::command::quoted(&place.program),
            super::command::quoted(&place.directory)
        ),
    ))
}

/// When the service is started first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// Now.
    Now,
    /// At the next login, because a gateway that somebody started runs in its place.
    NextLogin,
}

/// Starts the service at every login. Returns what was done, for people.
pub(crate) fn start(first: First) -> Result<String, Complaint> {
    if IS_MACOS {
        let next = "`launchctl load -w ~/Library/LaunchAgents/dev.countersign.gateway.plist`";
        return Ok(format!(
            "The service file is written. Start it with {next}."
        ));
    }
    systemctl(&["daemon-reload"])?;
    if first == First::NextLogin {
        systemctl(&["enable", UNIT])?;
        return Ok(
            "A gateway runs here already. The service takes its place at the next login, or when you stop it and say `systemctl --user start countersign`."
                .to_owned(),
        );
    }
    systemctl(&["enable", "--now", UNIT])?;
    Ok(
        "The gateway runs as a service of this user: `systemctl --user status countersign`."
            .to_owned(),
    )
}

/// Stops the service. Its file is still there.
pub(crate) fn stop() -> Result<(), Complaint> {
    if IS_MACOS {
        return Ok(());
    }
    systemctl(&["disable", "--now", UNIT])
}

/// Makes the service manager forget the file that is gone.
pub(crate) fn forget() -> Result<(), Complaint> {
    if IS_MACOS {
        return Ok(());
    }
    systemctl(&["daemon-reload"])
}

fn systemctl(arguments: &[&str]) -> Result<(), Complaint> {
    let failed = |why: &str| {
        let command = arguments.join(" ");
        let hint =
            "`systemctl --user status countersign` and `journalctl --user -u countersign` say more";
        Complaint::failed(format!("`systemctl --user {command}` failed: {why}"), hint)
    };
    let ran = Command::new("systemctl")
        .arg("--user")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(&error.to_string()))?;
    if ran.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ran.stderr);
    Err(failed(&countersign_core::display::inline(said.trim())))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_unit_and_the_launchd_file_name_program_and_home() {
        let place = Place::made_up(
            Path::new("/home/dev"),
            "/opt/my \"tools\" & 100%/countersign",
        );
        insta::assert_snapshot!(unit(&place));
        insta::assert_snapshot!(plist(&place));
    }
}
