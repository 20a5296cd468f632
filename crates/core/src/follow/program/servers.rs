//! Servers for development that a command ends by what they were started with.
//!
//! Only a pattern counts that can hardly mean anything else: a script by its file, or a known server
//! with words behind it. `pkill -f node` ends what other people's windows run, too.

use super::{GUARDS, Line};
use crate::knowledge::names::{DEVELOPMENT_SERVERS, ENDING_SWITCHES, SERVED_ENDINGS};

/// Options of `pkill` by which the whole command line is compared.
const WHOLE_LINE: &[&str] = &["-f", "--full", "-9f", "-f9"];

impl Line<'_> {
    /// Whether it ends nothing but a server that is started for development and can be started again.
    pub(super) fn ends_development_server(&self) -> bool {
        let [pattern] = self.read.operands.as_slice() else {
            return false;
        };
        let text = pattern.text.as_str();
        let switches = self.args.iter().filter(|arg| arg.text != text);
        let plain = |byte: u8| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b' ' | b'-' | b'_' | b'.' | b'/' | b':' | b'=')
        };
        self.row.name == "pkill"
            && switches
                .clone()
                .any(|arg| WHOLE_LINE.contains(&arg.text.as_str()))
            && switches
                .clone()
                .all(|arg| ENDING_SWITCHES.contains(arg.text.as_str()))
            && switches.count() + 1 == self.args.len()
            && text.bytes().all(plain)
            && !GUARDS.iter().any(|guard| text.contains(guard))
            && names_server(text)
    }
}

/// Whether a pattern is the command line of a server: `vite --port 5173`, `python3 server.py`.
fn names_server(text: &str) -> bool {
    let mut words = text.split(' ');
    let first = words.next().unwrap_or("");
    let file = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or("");
        let end = name.rsplit_once('.').filter(|(stem, _)| stem.len() > 2);
        !word.starts_with(['/', '.', '-'])
            && end.is_some_and(|(_, end)| SERVED_ENDINGS.contains(end))
    };
    let served =
        DEVELOPMENT_SERVERS.contains(first) && words.next().is_some_and(|word| word.len() > 1);
    served || text.split(' ').any(file)
}
