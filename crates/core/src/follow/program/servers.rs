//! Servers for development that a command ends by what they were started with, or by their port.
//!
//! Only a pattern counts that can hardly mean anything else: a script by its file, or a known server
//! with words behind it. `pkill -f node` ends what other people's windows run, too. A port counts where
//! people run what they develop, and no database or service of the machine.

use std::ops::RangeInclusive;

use super::{GUARDS, Line};
use crate::follow::value::Arg;
use crate::knowledge::names::{
    DEVELOPMENT_SERVERS, ENDING_SWITCHES, PORT_SWITCHES, SERVED_ENDINGS, SERVICE_PORTS,
};

/// Options of `pkill` by which the whole command line is compared.
const WHOLE_LINE: &[&str] = &["-f", "--full", "-9f", "-f9"];
/// Ports on which people run what they develop, but for those of [`SERVICE_PORTS`].
const DEVELOPMENT_PORTS: &[RangeInclusive<u16>] = &[
    3000..=5999,
    6006..=6009,
    8000..=8999,
    9000..=9009,
    19_000..=19_006,
];

impl Line<'_> {
    /// Whether it ends nothing but a server that is started for development and can be started again.
    pub(super) fn ends_development_server(&self) -> bool {
        if matches!(self.row.name, "fuser" | "kill-port") {
            return self.names_development_ports();
        }
        let [pattern] = self.read.operands.as_slice() else {
            return false;
        };
        let text = pattern.text.as_str();
        let switches = self.args.iter().filter(|arg| arg.text != text);
        let asks = self.row.name == "pgrep";
        if asks
            && switches
                .clone()
                .any(|arg| arg.text != "-f" && arg.text != "--full")
        {
            return false;
        }
        let plain = |byte: u8| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b' ' | b'-' | b'_' | b'.' | b'/' | b':' | b'=')
        };
        matches!(self.row.name, "pkill" | "pgrep")
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

    /// Whether all that it names are ports of development: `fuser -k 3000/tcp`, `kill-port 3000`.
    fn names_development_ports(&self) -> bool {
        let (ports, switches): (Vec<&Arg>, Vec<&Arg>) =
            self.args.iter().partition(|arg| !arg.text.starts_with('-'));
        let bare = self.row.name == "kill-port";
        let is_port = |arg: &&Arg| {
            let number = arg.text.strip_suffix("/tcp");
            number
                .or_else(|| bare.then_some(arg.text.as_str()))
                .is_some_and(is_development_port)
        };
        !ports.is_empty()
            && ports.iter().all(is_port)
            && switches
                .iter()
                .all(|arg| PORT_SWITCHES.contains(arg.text.as_str()))
    }

    /// Whether `lsof` prints nothing but the numbers of processes on a port of development.
    pub(super) fn lists_development_server(&self) -> bool {
        self.looks_at_development_ports() == Some(true)
    }

    /// Whether `lsof` prints nothing but a table of the processes on a port of development.
    pub(super) fn tables_development_server(&self) -> bool {
        self.looks_at_development_ports() == Some(false)
    }

    /// Returns whether `lsof` prints numbers alone, if it looks at nothing but ports of development.
    fn looks_at_development_ports(&self) -> Option<bool> {
        let mut words = self.args.iter().map(|arg| arg.text.as_str());
        let (mut terse, mut ports) = (false, None);
        while let Some(word) = words.next() {
            if word == "-sTCP:LISTEN" {
                continue;
            }
            let letters = word.strip_prefix('-')?;
            // `-ti:3000`, `-t -i tcp:3000`: what follows the `i` is the address.
            let (switches, address) = letters
                .split_once('i')
                .map_or((letters, None), |(before, after)| (before, Some(after)));
            if !switches.bytes().all(|letter| b"tnP".contains(&letter)) {
                return None;
            }
            terse |= switches.contains('t');
            let Some(address) = address else { continue };
            let address = match address {
                "" => words.next().unwrap_or(""),
                given => given,
            };
            if ports.replace(address).is_some() {
                return None;
            }
        }
        let only_ports = ports.and_then(|address| {
            let (protocol, ports) = address.split_once(':')?;
            matches!(protocol, "" | "tcp" | "TCP").then_some(ports)
        });
        let own = only_ports.is_some_and(|ports| ports.split(',').all(is_development_port));
        own.then_some(terse)
    }
}

/// Whether people run what they develop on a port. A range or a name is none.
fn is_development_port(port: &str) -> bool {
    let number = port.bytes().all(|byte| byte.is_ascii_digit());
    let usual = |port: u16| DEVELOPMENT_PORTS.iter().any(|ports| ports.contains(&port));
    number && port.parse().is_ok_and(usual) && !SERVICE_PORTS.contains(port)
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
