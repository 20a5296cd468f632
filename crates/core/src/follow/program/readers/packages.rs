//! System package managers: installing packages by name from the configured sources.

use super::Line;
use crate::act::Act;
use crate::follow::program::options::Hit;
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::Walk;
use crate::knowledge::names::OPENING_PACKAGES;
use crate::knowledge::{Effect, Lifts, Role};
use crate::score::Score;

/// Options of `pacman` that add packages and do nothing else.
const ADDING: &[&str] = &["-S", "--sync", "--needed", "--noconfirm", "-q", "--quiet"];

impl Walk<'_> {
    /// Judges adding packages. `None`: it is more than that, and the table says what.
    ///
    /// A package of the distribution is signed, comes from where the machine's owner said, and can
    /// be taken away again. In a trusted workspace it is what a build needs before it can begin.
    pub(super) fn read_packages(&mut self, line: &Line<'_>) -> Option<Stream> {
        let trusted = self.ground.workspace.is_some() && self.knows.trusts_workspace;
        let read = line.read;
        let flags_add = match line.name {
            "pacman" => {
                read.has(&["-S", "--sync"])
                    && read.hits.iter().all(|hit| ADDING.contains(&hit.name))
            }
            _ => line.does == Effect::System && read.hits.iter().all(is_plain_option),
        };
        let by_option = read.value(&["--id"]);
        let mut words = read.operands.iter().copied().chain(by_option).peekable();
        let by_name = words.peek().is_some() && words.all(is_package);
        if !trusted || !flags_add || !by_name || read.unknown.is_some() || read.others > 0 {
            return None;
        }
        let act = Act::new(Effect::Install, line.row.name, line.span).reversal(Score::new(100));
        self.note(act);
        Some(Stream::unknown(Taint::default()))
    }
}

/// Whether an option changes neither what is trusted nor where packages go.
fn is_plain_option(hit: &Hit) -> bool {
    let plain = hit
        .meaning()
        .is_none_or(|(role, value)| role == Role::Text && !value.vague());
    hit.flag.effects.is_empty() && hit.flag.lifts == Lifts::Nothing && plain
}

/// Whether a word is the name of a package, with a version or an architecture perhaps: no file, no
/// address, no `name-`, which takes the package away.
fn is_package(arg: &Arg) -> bool {
    let name = arg.text.as_str();
    let base = name
        .split(['=', ':', '<', '>', '~', '@'])
        .next()
        .unwrap_or("");
    let file = [".deb", ".rpm", ".apk", ".txz", ".zst", ".xz"];
    base.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-._=:~".contains(&byte))
        && !name.ends_with('-')
        && !file.iter().any(|ending| name.ends_with(ending))
        && !name.contains("..")
        && !base.ends_with("-server")
        && !OPENING_PACKAGES.contains(base)
        && !arg.glob
}
