//! Commands that only the shells of Windows have, in lines that a Unix shell could read, too.
//!
//! Which shell a tool runs on Windows is often not said. `del src\\a.js` means something to PowerShell and
//! to `cmd`; a Unix shell has no such program, and it would look for another file, because it takes the
//! backslashes away. So these commands are judged as the shells of Windows read them.

use std::borrow::Cow;

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

/// Returns a command with slashes in the directories that it enters: `cd .\\a\\b`. A Unix shell takes the
/// backslashes away and finds no such directory; the shells of Windows enter it, and what follows happens
/// there. The length stays the same, so that places in the text do.
pub(super) fn with_slashes_behind_cd(command: &str, is_windows: bool) -> Cow<'_, str> {
    if !is_windows || !command.contains('\\') {
        return Cow::Borrowed(command);
    }
    let mut spelt = String::with_capacity(command.len());
    // Whether a command begins here, and whether the word before was its name.
    let (mut begins, mut enters) = (true, false);
    for word in command.split_inclusive(|c: char| c.is_whitespace() || ";&|(){}".contains(c)) {
        let bare = word.trim_end_matches(|c: char| c.is_whitespace() || ";&|(){}".contains(c));
        let ends = word.ends_with(['\n', ';', '&', '|', '(', ')', '{', '}']);
        if enters && is_path_of_windows(bare) {
            spelt.push_str(&word.replace('\\', "/"));
        } else {
            spelt.push_str(word);
        }
        if !bare.is_empty() {
            enters = begins && ENTERING.iter().any(|name| bare.eq_ignore_ascii_case(name));
        }
        begins = ends || begins && bare.is_empty();
        enters &= !ends;
    }
    Cow::Owned(spelt)
}

/// Commands that enter a directory, in all shells.
const ENTERING: [&str; 3] = ["cd", "chdir", "pushd"];

/// Whether a word without quotes is a path with backslashes between plain names. `.\\.` is none: to a Unix
/// shell it is the directory above.
fn is_path_of_windows(word: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "._-+@~:/\\".contains(c);
    let leads_up = |word: &str| word.split('/').any(|name| name == "..");
    word.contains('\\') && word.chars().all(is_plain) && !leads_up(&word.replace('\\', ""))
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
