//! Checks of the home: who may read it, and whether its configuration can be used.

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::report::Line;
use crate::config::{self, Home, read, schema};
use crate::hook;

const GROUP: &str = "home";
const CONFIGURATION: &str = "configuration";
/// Permission bits of anybody but the owner.
const OTHERS: u32 = 0o077;

/// Files of a home that hold a secret or the state, with what each is.
const PRIVATE: &[(&str, &str)] = &[
    ("cli.key", "the key of the command line"),
    ("signing.key", "the signing key"),
    ("countersign.db", "the database"),
    ("countersign.db-wal", "the database's journal"),
    ("hooks", "the hooks' folder"),
];

/// Checks that the home exists and that nobody else can read what is in it.
pub(super) fn check(home: &Home) -> Vec<Line> {
    let directory = home.directory();
    let shown = directory.display();
    let metadata = match std::fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => metadata,
        Ok(_) => {
            let fix = "remove it, or name another home with --home";
            return vec![Line::fail(GROUP, format!("{shown} is not a folder"), fix)];
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let fix = "`countersign serve` creates it; --home names another";
            return vec![Line::fail(GROUP, format!("there is no {shown}"), fix)];
        }
        Err(error) => {
            let fix = "run this as the user the home belongs to";
            return vec![Line::fail(
                GROUP,
                format!("cannot look at {shown}: {error}"),
                fix,
            )];
        }
    };
    let mut lines = Vec::new();
    let ours = rustix::process::getuid().as_raw();
    if metadata.uid() != ours {
        lines.push(Line::warn(
            GROUP,
            format!("{shown} belongs to uid {}, you are {ours}", metadata.uid()),
            "run this as that user; `doctor --as-agent` is meant for others",
        ));
    }
    lines.extend(open_to_others(directory, &metadata));
    for (file, what) in files(home) {
        match std::fs::metadata(&file) {
            Ok(metadata) => lines.extend(open_to_others(&file, &metadata)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => lines.push(Line::warn(
                GROUP,
                format!("cannot look at {what} {}: {error}", file.display()),
                "run this as the user the home belongs to",
            )),
        }
    }
    lines.extend(missing(home));
    if lines.is_empty() {
        lines.push(Line::ok(
            GROUP,
            format!("{shown} and its keys can be read by you alone"),
        ));
    }
    lines
}

/// Returns every file that must be private, with what it is.
fn files(home: &Home) -> Vec<(PathBuf, &'static str)> {
    let named = PRIVATE
        .iter()
        .map(|(name, what)| (home.directory().join(name), *what));
    let mut files: Vec<_> = named.collect();
    files.extend(
        hook_keys(home)
            .into_iter()
            .map(|file| (file, "a hook's key")),
    );
    files
}

/// Returns the key files of the hooks of `home`, in order.
pub(super) fn hook_keys(home: &Home) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(hook::directory(home));
    let files = entries.into_iter().flatten().flatten().map(|it| it.path());
    let is_key = |file: &PathBuf| file.extension().is_some_and(|end| end == "key");
    let mut keys: Vec<PathBuf> = files.filter(is_key).collect();
    keys.sort();
    keys
}

fn open_to_others(file: &Path, metadata: &Metadata) -> Option<Line> {
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & OTHERS == 0 {
        return None;
    }
    let wanted = if metadata.is_dir() { "700" } else { "600" };
    let shown = file.display();
    Some(Line::fail(
        GROUP,
        format!("other users can reach {shown} (mode {mode:04o})"),
        format!("chmod {wanted} {shown}"),
    ))
}

/// Files that the first start of a gateway makes.
fn missing(home: &Home) -> Option<Line> {
    let names = ["cli.key", "signing.key"];
    let gone = names.iter().filter(|name| {
        let file = home.directory().join(name);
        std::fs::metadata(file).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    });
    let gone: Vec<&str> = gone.copied().collect();
    (!gone.is_empty()).then(|| {
        Line::warn(
            GROUP,
            format!("there is no {}", gone.join(" and no ")),
            "`countersign serve` creates what is missing at its first start",
        )
    })
}

/// Checks that the configuration can be read, and that it does not switch the firewall off.
pub(super) fn check_configuration(home: &Home) -> Vec<Line> {
    let file = home.file();
    let values = match config::load(home).and_then(|_| config::values(&file)) {
        Ok(values) => values,
        Err(complaint) => {
            return vec![Line::fail(
                CONFIGURATION,
                complaint.message(),
                complaint.hint(),
            )];
        }
    };
    let mut lines = Vec::new();
    match &values {
        None => lines.push(Line::ok(
            CONFIGURATION,
            format!("there is no {}; defaults apply", file.display()),
        )),
        Some(values) => {
            let is = |key: &str, word: &str| schema::word(read::at(values, key)) == Some(word);
            if is("firewall.mode", "observe") {
                lines.push(Line::warn(
                    CONFIGURATION,
                    "firewall.mode is observe: most calls run without a question",
                    "countersign config set firewall.mode enforce",
                ));
            }
            if is("approvals.mode", "off") {
                lines.push(Line::warn(
                    CONFIGURATION,
                    "approvals.mode is off: most calls run without a question",
                    "countersign config set approvals.mode manual",
                ));
            }
            if lines.is_empty() {
                lines.push(Line::ok(
                    CONFIGURATION,
                    format!("{} is valid", file.display()),
                ));
            }
        }
    }
    lines.extend(project(home));
    lines
}

/// Checks the file of the project this is run in: with a broken one every call from here is denied.
fn project(home: &Home) -> Option<Line> {
    let here = std::env::current_dir().ok()?;
    let file = config::project_file(&here, home)?;
    let policy = config::load(home).ok()?;
    match config::tighten(&policy, &file) {
        Ok(_) => Some(Line::ok(
            CONFIGURATION,
            format!("{} is valid", file.display()),
        )),
        Err(complaint) => Some(Line::fail(
            CONFIGURATION,
            complaint.message(),
            complaint.hint(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::report::plain;

    /// Returns a home as a gateway leaves it.
    fn good() -> (tempfile::TempDir, Home) {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("home");
        std::fs::create_dir_all(home.join("hooks")).unwrap();
        mode(&home, 0o700);
        mode(&home.join("hooks"), 0o700);
        for name in [
            "cli.key",
            "signing.key",
            "countersign.db",
            "hooks/codex.key",
        ] {
            std::fs::write(home.join(name), "secret").unwrap();
            mode(&home.join(name), 0o600);
        }
        let home = Home::new(Some(home)).unwrap();
        (directory, home)
    }

    fn mode(file: &Path, mode: u32) {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Returns the lines with the path of the home left out.
    fn shown(home: &Home, lines: &[Line]) -> String {
        plain(lines).replace(&home.directory().display().to_string(), "HOME")
    }

    #[test]
    fn a_private_home_is_good() {
        let (_kept, home) = good();
        insta::assert_snapshot!(shown(&home, &check(&home)), @"✓ ok   home          HOME and its keys can be read by you alone");
    }

    #[test]
    fn each_file_that_others_can_reach_is_named_with_the_command_that_closes_it() {
        let (_kept, home) = good();
        mode(home.directory(), 0o755);
        mode(&home.directory().join("cli.key"), 0o644);
        mode(&home.directory().join("hooks/codex.key"), 0o640);
        insta::assert_snapshot!(shown(&home, &check(&home)), @r"
        ✗ FAIL home          other users can reach HOME (mode 0755) → chmod 700 HOME
        ✗ FAIL home          other users can reach HOME/cli.key (mode 0644) → chmod 600 HOME/cli.key
        ✗ FAIL home          other users can reach HOME/hooks/codex.key (mode 0640) → chmod 600 HOME/hooks/codex.key
        ");
    }

    #[test]
    fn a_home_that_no_gateway_ever_used_says_what_creates_it() {
        let (_kept, home) = good();
        std::fs::remove_file(home.directory().join("cli.key")).unwrap();
        insta::assert_snapshot!(shown(&home, &check(&home)), @"! warn home          there is no cli.key → `countersign serve` creates what is missing at its first start");
        let nowhere = Home::new(Some(home.directory().join("nowhere"))).unwrap();
        insta::assert_snapshot!(shown(&home, &check(&nowhere)), @"✗ FAIL home          there is no HOME/nowhere → `countersign serve` creates it; --home names another");
        let file = Home::new(Some(home.directory().join("signing.key"))).unwrap();
        insta::assert_snapshot!(shown(&home, &check(&file)), @"✗ FAIL home          HOME/signing.key is not a folder → remove it, or name another home with --home");
    }

    #[test]
    fn the_configuration_is_read_and_a_firewall_that_is_off_is_named() {
        let (_kept, home) = good();
        let rows = [
            ("", "✓ ok   configuration HOME/config.yaml is valid\n"),
            (
                "firewall: { mode: observe }",
                "! warn configuration firewall.mode is observe: most calls run without a question → \
                 countersign config set firewall.mode enforce\n",
            ),
            (
                "approvals: { mode: off }",
                "! warn configuration approvals.mode is off: most calls run without a question → \
                 countersign config set approvals.mode manual\n",
            ),
        ];
        for (text, expected) in rows {
            std::fs::write(home.file(), text).unwrap();
            assert_eq!(
                shown(&home, &check_configuration(&home)),
                expected,
                "{text}"
            );
        }
        std::fs::write(home.file(), "approvals: { mod: off }").unwrap();
        let broken = shown(&home, &check_configuration(&home));
        assert!(
            broken.starts_with("✗ FAIL configuration HOME/config.yaml"),
            "{broken}"
        );
        assert!(broken.contains('→'), "{broken}");
        std::fs::remove_file(home.file()).unwrap();
        assert_eq!(
            shown(&home, &check_configuration(&home)),
            "✓ ok   configuration there is no HOME/config.yaml; defaults apply\n"
        );
    }
}
