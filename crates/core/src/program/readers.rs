//! Readers for programs whose words a table of options cannot describe.

mod containers;
mod git;
mod interpreters;
mod shells;
mod system;
mod transfer;

use super::options::Options;
use crate::knowledge::{Effect, Reader, Row};
use crate::shell::value::{Arg, Stream};
use crate::shell::walk::Walk;

/// A command line on its way through a reader.
pub(crate) struct Line<'a> {
    /// The row it was found by.
    pub(crate) row: &'static Row,
    /// What the row says running it does.
    pub(crate) does: Effect,
    /// The name it was called by.
    pub(crate) name: &'a str,
    /// All words after the program or subcommand.
    pub(crate) args: &'a [Arg],
    /// The same, read by the row's grammar.
    pub(crate) read: &'a Options<'a>,
    /// What it reads.
    pub(crate) stdin: &'a Stream,
}

impl Walk<'_> {
    /// Lets a reader judge the command line. `None`: the table says the rest.
    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of one command line, bundled below"
    )]
    pub(crate) fn read_specially(
        &mut self,
        reader: Reader,
        row: &'static Row,
        does: Effect,
        name: &str,
        args: &[Arg],
        read: &Options<'_>,
        stdin: &Stream,
    ) -> Option<Stream> {
        let line = Line {
            row,
            does,
            name,
            args,
            read,
            stdin,
        };
        match reader {
            Reader::Alias => self.read_alias(&line),
            Reader::Api => self.read_api(&line),
            Reader::Cd => self.read_cd(&line),
            Reader::Chmod => self.read_chmod(&line),
            Reader::Crontab => self.read_crontab(&line),
            Reader::Curl => self.read_curl(&line),
            Reader::Dd => self.read_dd(&line),
            Reader::Declare => self.read_declare(&line),
            Reader::Container => self.read_container(&line),
            Reader::Eval => self.read_eval(&line),
            Reader::Find => self.read_find(&line),
            Reader::GitCheckout => self.read_git_checkout(&line),
            Reader::GitConfig => self.read_git_config(&line),
            Reader::GitPush => self.read_git_push(&line),
            Reader::Httpie => self.read_httpie(&line),
            Reader::Interpreter => self.read_interpreter(&line),
            Reader::Kill => self.read_kill(&line),
            Reader::Printf => self.read_printf(&line),
            Reader::Rm => self.read_rm(&line),
            Reader::Rsync => self.read_rsync(&line),
            Reader::Scp => self.read_scp(&line),
            Reader::Set => self.read_set(&line),
            Reader::Unset => self.read_unset(&line),
            Reader::Shell => self.read_shell(&line),
            Reader::Source => self.read_source(&line),
            Reader::Ssh => self.read_ssh(&line),
            Reader::Systemctl => self.read_systemctl(&line),
            Reader::Tar => self.read_tar(&line),
            Reader::Trap => self.read_trap(&line),
            Reader::Xargs => self.read_xargs(&line),
        }
    }

    /// Judges the line by the table alone.
    pub(crate) fn by_table(&mut self, line: &Line<'_>, does: Effect) -> Stream {
        self.evaluate_read(line.row, does, line.name, line.args, line.read, line.stdin)
    }
}
