//! Network effects: addresses, hosts, uploads.

use super::Line;
use crate::act::Act;
use crate::follow::value::{Arg, Taint};
use crate::follow::walk::Walk;
use crate::host::{Host, host_kind};
use crate::knowledge::names::{
    DESTROYING_PATH_WORDS, PACKAGE_INDEXES, SERVICE_PORTS, TALKING_SCHEMES,
};
use crate::knowledge::{Effect, HostKind};
use crate::place::below::Look;
use crate::place::{HOLE, is_absolute};
use crate::score::Score;

impl Walk<'_> {
    /// Judges loading from `arg`.
    pub(crate) fn fetches(&mut self, arg: &Arg, program: &str) -> Taint {
        if let Some(path) = file_of(&arg.text) {
            let path = Arg {
                text: path.to_owned(),
                ..arg.clone()
            };
            return self.reads(&path, program);
        }
        self.talks_to(arg, program);
        let reached = Host::of(&arg.text);
        self.guards_host(&reached, arg, program, false);
        self.carried(&reached, arg, program);
        if runs_command(&arg.text) {
            self.note(
                Act::new(Effect::Exec, program.to_owned(), self.here(arg.span))
                    .because("an address that runs a command")
                    .on(arg.shown()),
            );
        }
        let (host, kind) = reached.kind();
        if host.contains('…') && arg.taint.command && arg.taint.data {
            let mut act = Act::new(Effect::NetSend, program.to_owned(), self.here(arg.span))
                .because("puts the output of a command into a host name")
                .on(host.clone());
            act.target = Score::new(600);
            self.note(act);
        }
        let mut act = Act::new(Effect::NetRead, program.to_owned(), self.here(arg.span)).on(host);
        match kind {
            Some((HostKind::Metadata, row)) => {
                act.effect = Effect::Secret;
                act.marks.critical = true;
                act.note = row.what;
                act.target = Score::new(950);
            }
            Some((HostKind::Drop, row)) => {
                act.target = Score::new(500);
                act.note = row.what;
            }
            Some((HostKind::Loopback | HostKind::Registry | HostKind::Firewall, _)) => {}
            Some((HostKind::Private, _)) => act.target = Score::new(100),
            Some((HostKind::Alias, _)) | None => act.target = Score::new(120),
        }
        if arg.taint.secret {
            act = Act::new(Effect::Secret, program.to_owned(), self.here(arg.span))
                .because("puts something secret into a web address")
                .on(act.subject);
            act.marks.outbound = true;
            act.target = Score::ONE;
        }
        self.note(act);
        Taint {
            network: true,
            ..arg.taint
        }
    }

    /// Judges an address by which an approval is looked up or answered: the firewall's, on whichever port
    /// of this machine it listens, or somebody else's.
    pub(crate) fn guards(&mut self, arg: &Arg, program: &str, sends: bool) {
        self.guards_host(&Host::of(&arg.text), arg, program, sends);
    }

    fn guards_host(&mut self, reached: &Host, arg: &Arg, program: &str, sends: bool) {
        if let Some(what) = reached.guarded(sends) {
            let act = Act::new(Effect::Guard, program.to_owned(), self.here(arg.span));
            let (host, _) = reached.kind();
            self.note(
                act.because("reaches an approval system")
                    .on(format!("{host} ({what})")),
            );
        }
    }

    /// Judges the words of a program that opens connections: `nc host port`, `socat - TCP:host:port`.
    pub(crate) fn connects(&mut self, operands: &[&Arg], program: &str) {
        for pair in operands.windows(2) {
            if let [host, port] = pair
                && !port.text.is_empty()
                && port.text.bytes().all(|byte| byte.is_ascii_digit())
            {
                let host = if host.text.contains(':') && !host.text.starts_with('[') {
                    format!("[{}]:{}", host.text, port.text)
                } else {
                    format!("{}:{}", host.text, port.text)
                };
                self.guards(&Arg::literal(host, port.span), program, true);
            }
        }
        for operand in operands {
            let word = operand.text.split(',').next().unwrap_or("");
            let rest = word.split_once(':').map_or(word, |(_, rest)| rest);
            for address in [word, rest] {
                let address = Arg::literal(address, operand.span);
                if is_absolute(&address.text) {
                    self.reads(&address, program);
                } else if address.text.contains(':') {
                    self.guards(&address, program, true);
                }
            }
        }
    }

    /// Judges a search for machines or for open ports of another one.
    pub(super) fn scans(&mut self, line: &Line<'_>) {
        let away = |host: &Arg| !matches!(host_kind(&host.text).1, Some((HostKind::Loopback, _)));
        let operands = &line.read.operands;
        let searches = match line.row.name {
            "nmap" => operands.iter().any(|host| away(host)),
            "ping" | "fping" => {
                line.name == "fping" && line.read.has(&["-g", "--generate"])
                    || operands.iter().any(|host| is_range(&host.text))
            }
            "nc" | "ncat" => {
                let ports = |ports: &&Arg| ports.text.contains(['-', ',']);
                operands.first().is_some_and(|host| away(host))
                    && operands.get(1).is_some_and(ports)
            }
            _ => false,
        };
        if searches {
            let act = Act::new(Effect::Remote, line.row.name, line.span);
            self.note(act.because("searches a network for machines or open ports"));
        }
    }

    /// Judges an address whose words are commands.
    fn talks_to(&mut self, arg: &Arg, program: &str) {
        let scheme = arg.text.split("://").next().unwrap_or("");
        if TALKING_SCHEMES.contains(scheme.to_ascii_lowercase().as_str()) {
            let act = Act::new(Effect::NetSend, program.to_owned(), self.here(arg.span))
                .because("an address whose words are sent to a service as commands")
                .target(Score::new(600));
            self.note(act.on(arg.shown()));
        }
    }

    /// Judges sending to `arg`.
    pub(crate) fn sends_to(&mut self, arg: &Arg, program: &str) {
        self.talks_to(arg, program);
        let reached = Host::of(&arg.text);
        self.guards_host(&reached, arg, program, true);
        self.carried(&reached, arg, program);
        let (host, kind) = reached.kind();
        let span = self.here(arg.span);
        let mut act = Act::new(Effect::NetSend, program.to_owned(), span).on(host);
        match kind {
            Some((HostKind::Loopback | HostKind::Firewall, _)) => {
                // A service under development is the usual reason to send something here.
                act.target = Score::ZERO;
                act.reversal = Score::new(300);
                act.marks.outbound = false;
                if DESTROYING_PATH_WORDS
                    .iter()
                    .any(|word| path_words(&arg.text).any(|part| part.starts_with(word)))
                {
                    act.note = "asks a service on this machine to change or delete something";
                    act.reversal = Score::new(900);
                    act.target = Score::new(400);
                }
            }
            Some((HostKind::Metadata | HostKind::Drop, row)) => {
                act.note = row.what;
                act.target = Score::new(900);
                act.marks.critical = true;
            }
            Some((HostKind::Registry | HostKind::Private | HostKind::Alias, _)) | None => {
                act.target = Score::new(400);
            }
        }
        if arg.taint.secret {
            act.note = "sends something secret";
            act.marks.critical = true;
        }
        self.note(act);
    }

    /// Judges sending the file `arg`.
    pub(crate) fn uploads(&mut self, arg: &Arg, program: &str) {
        let taint = self.reads(arg, program);
        let taint = taint.and(self.reads_tree(arg, &Look::default(), program));
        let mut act = Act::new(Effect::NetSend, program.to_owned(), self.here(arg.span))
            .on(format!("the file {}", arg.shown()));
        act.target = Score::new(400);
        if taint.secret {
            act.note = "sends a file that holds secrets";
            act.marks.critical = true;
            act.target = Score::ONE;
        }
        self.note(act);
    }

    /// Judges sending the text `arg`; `@file` sends a file.
    pub(crate) fn sends(&mut self, arg: &Arg, program: &str) {
        let at = arg
            .text
            .find('@')
            .filter(|at| *at == 0 || arg.text.get(..*at).is_some_and(|name| name.ends_with('=')));
        match at {
            Some(at) if arg.text.len() > at + 1 => {
                let file = arg.after(at + 1);
                if file.text == "-" {
                    self.send_plain(arg, program);
                } else {
                    self.uploads(&file, program);
                }
            }
            _ => self.send_plain(arg, program),
        }
    }

    fn send_plain(&mut self, arg: &Arg, program: &str) {
        let mut act = Act::new(Effect::NetSend, program.to_owned(), self.here(arg.span));
        act.target = Score::new(300);
        if arg.taint.secret {
            act.note = "sends something secret";
            act.target = Score::ONE;
            act.marks.critical = true;
        }
        self.note(act);
    }
}

/// Whether a host stands for many: `192.0.2.0/24`, `192.0.2.1-254`, or an address that a loop counts
/// through.
fn is_range(host: &str) -> bool {
    let numbers = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
    let masked = host.split_once('/').is_some_and(|(net, bits)| {
        net.bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b':'))
            && bits.bytes().all(|byte| byte.is_ascii_digit())
    });
    let known = host.split(HOLE).next().unwrap_or("");
    let counted = known.len() < host.len() && known.ends_with('.') && numbers(known);
    masked || counted
}

/// Whether reaching an address runs a command: `ext::sh`, `qemu+ssh://h/system?command=x`.
fn runs_command(address: &str) -> bool {
    let scheme = address.split("://").next().unwrap_or("");
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let named = |part: &str| part.starts_with("command=") || part.starts_with("netcat=");
    address.starts_with("ext::")
        || address.starts_with("fd::")
        || scheme.ends_with("+ext")
        || scheme.contains('+') && query.split('&').any(named)
}

/// Whether an address is this machine or a registry everybody uses.
pub(crate) fn is_local_or_registry(address: &str) -> bool {
    matches!(
        host_kind(address).1,
        Some((HostKind::Loopback | HostKind::Registry, _))
    )
}

/// Whether an address is one of this machine.
fn is_loopback(address: &str) -> bool {
    matches!(host_kind(address).1, Some((HostKind::Loopback, _)))
}

/// Whether an address is a server under development on this machine, and no service that manages something.
pub(super) fn is_own_server(address: &str) -> bool {
    let authority = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or("");
    let port = authority.rsplit(':').next().unwrap_or("");
    is_loopback(address) && !SERVICE_PORTS.contains(port)
}

/// Whether an address is a package index that installers use by default, in so many words: over an
/// encrypted connection, at that host, with no name or port before the path.
pub(crate) fn is_index(address: &str) -> bool {
    let rest = address.strip_prefix("https://").unwrap_or("");
    let host = rest.split('/').next().unwrap_or("");
    PACKAGE_INDEXES.contains(host) && !address.contains(['?', '#', '\\', '@'])
}

/// Returns the path of an address that is a file of this machine: `file:/x`, `file://host/x`.
pub(super) fn file_of(address: &str) -> Option<&str> {
    let (scheme, rest) = address.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let Some(authority) = rest.strip_prefix("//") else {
        return Some(rest);
    };
    // What stands before the path is a host, and no other than this one is reached.
    authority
        .find('/')
        .filter(|at| !authority.get(..*at).unwrap_or("").starts_with(['.', '~']))
        .map_or(Some(authority), |at| authority.get(at..))
}

/// Returns the words of an address's path, in lower case.
fn path_words(address: &str) -> impl Iterator<Item = String> + '_ {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = rest.split_once('/').map_or("", |(_, path)| path);
    path.split(['/', '?', '&', '=', '_', '-', '.'])
        .map(str::to_lowercase)
}
