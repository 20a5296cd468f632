//! Custom parsers for programs that a table of options cannot describe.

mod containers;
mod curl;
mod debugger;
mod git;
mod interpreters;
mod packages;
mod perl;
mod shells;
pub(super) mod system;
mod transfer;

pub(super) use shells::joined_command;

use super::Line;
use crate::follow::value::Stream;
use crate::follow::walk::Walk;
use crate::knowledge::Reader;

impl Walk<'_> {
    /// Lets a reader judge the command line. `None`: the table says the rest.
    pub(crate) fn read_specially(&mut self, reader: Reader, line: &Line<'_>) -> Option<Stream> {
        match reader {
            Reader::Alias => Some(self.read_alias(line)),
            Reader::Api => Some(self.read_api(line)),
            Reader::Cd => Some(self.read_cd(line)),
            Reader::Chmod => self.read_chmod(line),
            Reader::Console => self.read_console(line),
            Reader::Crontab => Some(self.read_crontab(line)),
            Reader::Curl => Some(self.read_curl(line)),
            Reader::Dd => Some(self.read_dd(line)),
            Reader::Declare => Some(self.read_declare(line)),
            Reader::Container => self.read_container(line),
            Reader::Eval => self.read_eval(line),
            Reader::Find => Some(self.read_find(line)),
            Reader::Debugger => self.read_debugger(line),
            Reader::Fuser => self.read_fuser(line),
            Reader::GitCheckout => Some(self.read_git_checkout(line)),
            Reader::GitConfig => Some(self.read_git_config(line)),
            Reader::GitPush => self.read_git_push(line),
            Reader::Httpie => self.read_httpie(line),
            Reader::Interpreter => self.read_interpreter(line),
            Reader::Kill => Some(self.read_kill(line)),
            Reader::Packages => self.read_packages(line),
            Reader::PythonRunner => self.read_python_runner(line),
            Reader::Printf => Some(self.read_printf(line)),
            Reader::Rm => Some(self.read_rm(line)),
            Reader::Rsync => self.read_rsync(line),
            Reader::Scp => self.read_scp(line),
            Reader::Set => Some(self.read_set(line)),
            Reader::Unset => Some(self.read_unset(line)),
            Reader::Shell => Some(self.read_shell(line)),
            Reader::Source => self.read_source(line),
            Reader::Ssh => Some(self.read_ssh(line)),
            Reader::Systemctl => Some(self.read_systemctl(line)),
            Reader::Tar => Some(self.read_tar(line)),
            Reader::Trap => Some(self.read_trap(line)),
            Reader::Xargs => Some(self.read_xargs(line)),
        }
    }
}
