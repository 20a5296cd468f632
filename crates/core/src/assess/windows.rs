//! Commands that only the shells of Windows have, in lines that a Unix shell could read, too.
//!
//! Which shell a tool runs on Windows is often not said. `del src\\a.js` means something to PowerShell and
//! to `cmd`; a Unix shell has no such program, and it would look for another file, because it takes the
//! backslashes away. So these commands are judged as the shells of Windows read them.

use super::gather::Gathered;
use crate::follow::walk::{Knows, Walk};
use crate::knowledge::names::WINDOWS_SHELL_WORDS;
use crate::language::{self, Deed};
use crate::place::Ground;
use crate::shell::syntax::Span;

/// Replaces what a Unix shell would do by commands of Windows by what the shells of Windows do, where
/// both of these are seen completely.
pub(super) fn replace_words(
    command: &str,
    ground: &Ground,
    walk: &mut Walk<'_>,
    knows: &Knows,
    gathered: &mut Gathered,
) {
    let is_word = |program: &str| WINDOWS_SHELL_WORDS.contains(program);
    if !walk.acts.iter().any(|act| is_word(act.program.as_ref())) {
        return;
    }
    let readings = [
        (language::powershell::read(command), "powershell"),
        (language::cmd::read(command), "cmd"),
    ];
    if readings.iter().any(|(reading, _)| reading.hidden.is_some()) {
        return;
    }
    walk.acts.retain(|act| !is_word(act.program.as_ref()));
    for (mut reading, name) in readings {
        reading.deeds.retain(|deed| !is_about_switch(deed));
        let mut other = Walk::new(ground.clone(), knows);
        other.deeds(&reading, name, Span::new(0, command.len()));
        gathered.absorb(other);
    }
}

/// Whether a deed is about a word such as `/s`: to `cmd` a switch, and to PowerShell one word too many,
/// with which none of these commands runs.
fn is_about_switch(deed: &Deed) -> bool {
    if let Deed::ReadFile(path)
    | Deed::WriteFile(path)
    | Deed::DeleteFile(path)
    | Deed::DeleteTree(path) = deed
    {
        return language::cmd::is_switch(path);
    }
    let starts = |words: &[String]| words.first().is_some_and(|it| language::cmd::is_switch(it));
    matches!(deed, Deed::Run(words) if starts(words))
}
