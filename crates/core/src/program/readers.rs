//! Readers for programs whose words a table of options cannot describe.

mod containers;
mod git;
mod interpreters;
mod shells;
mod system;
mod transfer;

use super::Line;
use crate::knowledge::Reader;
use crate::shell::value::Stream;
use crate::shell::walk::Walk;

impl Walk<'_> {
    /// Lets a reader judge the command line. `None`: the table says the rest.
    pub(crate) fn read_specially(&mut self, reader: Reader, line: &Line<'_>) -> Option<Stream> {
        match reader {
            Reader::Alias => self.read_alias(line),
            Reader::Api => self.read_api(line),
            Reader::Cd => self.read_cd(line),
            Reader::Chmod => self.read_chmod(line),
            Reader::Crontab => self.read_crontab(line),
            Reader::Curl => self.read_curl(line),
            Reader::Dd => self.read_dd(line),
            Reader::Declare => self.read_declare(line),
            Reader::Container => self.read_container(line),
            Reader::Eval => self.read_eval(line),
            Reader::Find => self.read_find(line),
            Reader::GitCheckout => self.read_git_checkout(line),
            Reader::GitConfig => self.read_git_config(line),
            Reader::GitPush => self.read_git_push(line),
            Reader::Httpie => self.read_httpie(line),
            Reader::Interpreter => self.read_interpreter(line),
            Reader::Kill => self.read_kill(line),
            Reader::Printf => self.read_printf(line),
            Reader::Rm => self.read_rm(line),
            Reader::Rsync => self.read_rsync(line),
            Reader::Scp => self.read_scp(line),
            Reader::Set => self.read_set(line),
            Reader::Unset => self.read_unset(line),
            Reader::Shell => self.read_shell(line),
            Reader::Source => self.read_source(line),
            Reader::Ssh => self.read_ssh(line),
            Reader::Systemctl => self.read_systemctl(line),
            Reader::Tar => self.read_tar(line),
            Reader::Trap => self.read_trap(line),
            Reader::Xargs => self.read_xargs(line),
        }
    }
}
