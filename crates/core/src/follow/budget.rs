//! Limits on following one call: how deep, how many commands, how many bytes.
//!
//! Separate so that every limit of the follower stands in one place. What goes beyond a limit is
//! not followed; the caller reports it as unreadable, so that a person is asked.

use crate::shell::parse::COMMANDS_MAX;

/// How many texts inside texts are followed: `bash -c 'bash -c …'`.
const TEXTS_MAX: u32 = 8;
/// How many bytes of text inside text are followed in all.
const INNER_BYTES_MAX: usize = 160 * 1024;
/// How many commands inside commands are followed: `sudo env nice …`, `$( $( … ) )`. Each takes
/// room on the stack, and a stack that runs out takes the process with it.
const DEPTH_MAX: u32 = 80;
/// How many expansions are carried out.
const EXPANSIONS_MAX: u32 = 3_000;
/// How many bytes of words braces may make in all.
const BRACE_BYTES_MAX: usize = 64 * 1024;
/// How many paths are looked up.
const LOOKUPS_MAX: u32 = 512;
/// How many words are looked at for links.
const LINKS_TRIED_MAX: u32 = 256;
/// How many commands are looked for in words that a row of the owner calls plain.
const WORD_COMMANDS_MAX: u32 = 32;
/// How many bytes of files that run are read.
const CODE_BYTES_MAX: usize = 512 * 1024;

/// What following a call has cost so far.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// Texts inside texts at this moment.
    texts: u32,
    inner_bytes: usize,
    /// Commands inside commands at this moment, wrappers included.
    depth: u32,
    commands: u32,
    expansions: u32,
    brace_bytes: usize,
    lookups: u32,
    /// Whether the limit of lookups was reported.
    lookups_ended: bool,
    links_tried: u32,
    word_commands: u32,
    code_bytes: usize,
}

/// Whether a limit allows one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// It does.
    Yes,
    /// It does not, for the first time: the caller reports it.
    NoLonger,
    /// It does not, and that was reported.
    No,
}

impl Allowed {
    fn of(count: u32, limit: u32) -> Self {
        match count.cmp(&limit) {
            std::cmp::Ordering::Less => Self::Yes,
            std::cmp::Ordering::Equal => Self::NoLonger,
            std::cmp::Ordering::Greater => Self::No,
        }
    }
}

impl Budget {
    /// Enters a text of so many bytes inside the text at hand, or says why not.
    pub(super) fn enter_text(&mut self, bytes: usize) -> Result<(), &'static str> {
        if self.texts >= TEXTS_MAX {
            return Err("commands are wrapped too deeply to be followed");
        }
        self.inner_bytes = self.inner_bytes.saturating_add(bytes);
        if self.inner_bytes > INNER_BYTES_MAX {
            return Err("there is too much text inside text to follow");
        }
        self.texts += 1;
        Ok(())
    }

    pub(super) fn leave_text(&mut self) {
        self.texts -= 1;
    }

    /// Goes one command deeper, unless that is too deep.
    pub(super) fn descend(&mut self) -> bool {
        let allowed = self.depth < DEPTH_MAX;
        self.depth += u32::from(allowed);
        allowed
    }

    pub(super) fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// Counts one more command.
    pub(super) fn command(&mut self) -> Allowed {
        self.commands = self.commands.saturating_add(1);
        Allowed::of(self.commands, COMMANDS_MAX + 1)
    }

    /// Whether enough commands are left to go through a loop word by word.
    pub(super) const fn allows_loop(&self) -> bool {
        self.commands < COMMANDS_MAX / 8
    }

    /// Whether the command at hand is the first of all, and not one that another starts.
    pub(super) const fn is_first_command(&self) -> bool {
        // One level is the command's, one the program's.
        self.commands == 1 && self.depth == 2 && self.texts == 0
    }

    /// Counts one more expansion.
    pub(super) fn expansion(&mut self) -> Allowed {
        self.expansions = self.expansions.saturating_add(1);
        Allowed::of(self.expansions, EXPANSIONS_MAX)
    }

    /// Returns how many bytes of words braces may still make.
    pub(super) const fn brace_bytes_left(&self) -> usize {
        BRACE_BYTES_MAX.saturating_sub(self.brace_bytes)
    }

    pub(super) fn spend_brace_bytes(&mut self, bytes: usize) {
        self.brace_bytes = self.brace_bytes.saturating_add(bytes);
    }

    /// Counts one more path that is looked up.
    pub(super) fn lookup(&mut self) {
        self.lookups = self.lookups.saturating_add(1);
    }

    /// Whether another path may be looked up.
    pub(super) fn allows_lookup(&mut self) -> Allowed {
        if self.lookups < LOOKUPS_MAX {
            Allowed::Yes
        } else if std::mem::replace(&mut self.lookups_ended, true) {
            Allowed::No
        } else {
            Allowed::NoLonger
        }
    }

    /// Counts one more word that may be a link; `false` when there are too many.
    pub(super) fn link(&mut self) -> bool {
        let allowed = self.links_tried < LINKS_TRIED_MAX;
        self.links_tried += u32::from(allowed);
        allowed
    }

    /// Counts so many bytes of a file that runs; `false` when there are too many.
    pub(super) fn code(&mut self, bytes: usize) -> bool {
        self.code_bytes = self.code_bytes.saturating_add(bytes);
        self.code_bytes <= CODE_BYTES_MAX
    }

    /// Takes one command that is looked for in plain words.
    pub(crate) const fn word_command(&mut self) -> bool {
        self.word_commands += 1;
        self.word_commands <= WORD_COMMANDS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::{Allowed, Budget, EXPANSIONS_MAX, LOOKUPS_MAX, TEXTS_MAX};

    #[test]
    fn a_limit_is_reported_once() {
        let mut budget = Budget::default();
        let said: Vec<Allowed> = (0..EXPANSIONS_MAX + 2)
            .map(|_| budget.expansion())
            .collect();
        let count = |allowed| said.iter().filter(|said| **said == allowed).count();
        assert_eq!(count(Allowed::NoLonger), 1);
        assert_eq!(said.last(), Some(&Allowed::No));

        (0..LOOKUPS_MAX).for_each(|_| budget.lookup());
        assert_eq!(budget.allows_lookup(), Allowed::NoLonger);
        assert_eq!(budget.allows_lookup(), Allowed::No);
    }

    #[test]
    fn a_text_that_was_left_makes_room_for_another() {
        let mut budget = Budget::default();
        for _ in 0..TEXTS_MAX {
            assert!(budget.enter_text(1).is_ok());
        }
        assert!(budget.enter_text(1).is_err());
        budget.leave_text();
        assert!(budget.enter_text(1).is_ok());
        budget.leave_text();
        assert!(budget.enter_text(usize::MAX).is_err());
    }
}
