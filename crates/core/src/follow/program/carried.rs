//! Detects data in a URL: data of this machine, a credential, an encoded text, a message.
//!
//! Whoever is asked for an address learns all of it, so what stands in it is sent, whatever the method is
//! called. Where data comes from is followed by `Taint::data`; where it goes decides whether that matters.

use super::Line;
use crate::act::Act;
use crate::content::secrets;
use crate::encoding::{base64, hexadecimal};
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::{Walk, is_secret_name, mark_of_name};
use crate::host::{Host, host_kind};
use crate::knowledge::names::{SERVICE_HOSTS, VERSION_FILES};
use crate::knowledge::{ANSWERS, Effect, HostKind, Reader, Role};
use crate::score::Score;

/// Shortest encoded text that is not there by chance, in bytes of its code.
const CODE_BYTES_MIN: usize = 32;
/// Longest address that only names something, in bytes.
const ADDRESS_BYTES_MAX: usize = 2 * 1024;
/// How much data in an address weighs.
const DATA: Score = Score::new(600);
/// Options in which a service expects the credential it gave out; anywhere else it is given away.
const CREDENTIAL_PLACES: &[&str] = &["-H", "--header", "--proxy-header", "-b", "--cookie"];

impl Walk<'_> {
    /// Judges what the address `arg` carries, which is asked for or sent to.
    pub(super) fn carried(&mut self, reached: &Host, arg: &Arg, program: &str) {
        let (host, kind) = reached.kind();
        let kind = kind.map(|(kind, _)| kind);
        let act =
            |effect| Act::new(effect, program.to_owned(), self.here(arg.span)).on(host.clone());
        let mut acts = Vec::new();
        if let Some(what) = reached.message() {
            acts.push(act(Effect::Message).because(what));
        }
        let stays = matches!(
            kind,
            Some(HostKind::Loopback | HostKind::Private | HostKind::Firewall)
        );
        if !stays && !secrets::scan(&arg.text).is_empty() {
            let mut act = act(Effect::Secret)
                .because("puts a credential into an address")
                .target(Score::ONE);
            act.marks.outbound = true;
            acts.push(act);
        }
        if leaves(kind) && reached.is_given() {
            let why = if arg.vague() && arg.taint.data {
                "puts data of this machine into an address"
            } else if arg.text.len() > ADDRESS_BYTES_MAX {
                "an address so long that it carries data"
            } else if says_something(&arg.text) {
                "puts an encoded text into an address"
            } else {
                ""
            };
            if !why.is_empty() {
                acts.push(act(Effect::NetSend).because(why).target(DATA));
            }
        }
        for act in acts {
            self.note(act);
        }
    }

    /// Judges data in what goes along with a request: headers, cookies, names of users and programs.
    pub(super) fn goes_along(&mut self, line: &Line<'_>) {
        if stays_near(line) {
            return;
        }
        for hit in &line.read.hits {
            let Some((role, value)) = hit.meaning().filter(|(_, value)| value.vague()) else {
                continue;
            };
            let goes = matches!(role, Role::Text | Role::Name | Role::Password | Role::Send);
            let belongs = role == Role::Password || CREDENTIAL_PLACES.contains(&hit.name);
            let given_away = value.taint.secret && is_given_to_another(value.taint, line);
            if goes && (value.taint.secret && !belongs || given_away) {
                self.leak(line.row, line.span);
            }
            if goes && value.taint.data {
                let act = Act::new(Effect::NetSend, line.row.name, self.here(value.span))
                    .because("sends data of this machine along with a request");
                self.note(act.on(hit.name).target(DATA));
            }
        }
    }

    /// Judges the variable `name` of the environment that goes along with a request.
    pub(super) fn variable_goes_along(&mut self, name: &str, line: &Line<'_>) {
        if is_secret_name(name) {
            self.leak(line.row, line.span);
        }
        let act = Act::new(Effect::NetSend, line.row.name, line.span)
            .because("sends a variable of the environment along with a request");
        self.note(act.on(name).target(DATA));
    }
}

/// Whether all addresses of a command are of this machine, its network or a host everybody uses.
pub(super) fn stays_near(line: &Line<'_>) -> bool {
    let by_option = line.read.hits.iter().filter_map(|hit| match hit.meaning() {
        Some((Role::Url | Role::UrlSend, value)) => Some(value),
        _ => None,
    });
    let operands = line.read.operands.iter().copied();
    let addresses: Vec<&Arg> = operands.chain(by_option).collect();
    !addresses.is_empty() && !addresses.iter().any(|address| is_far(address))
}

/// Whether a credential goes to a host that its name does not speak for: one of another service, or of
/// anybody where the name says nothing. A name inside a host says nothing either: whoever owns
/// `evil.example` may call a host of it `github.evil.example`.
pub(super) fn is_given_to_another(taint: Taint, line: &Line<'_>) -> bool {
    let service = usize::from(taint.service).checked_sub(1);
    let domains = service.map(|at| {
        SERVICE_HOSTS
            .get(at)
            .map_or(&[][..], |(_, domains)| domains)
    });
    if domains.is_none() && taint.owner == 0 {
        return false;
    }
    let by_option = line.read.hits.iter().filter_map(|hit| match hit.meaning() {
        Some((Role::Url | Role::UrlSend, value)) => Some(value),
        _ => None,
    });
    let mut addresses = line.read.operands.iter().copied().chain(by_option);
    addresses.any(|address| {
        let host = host_kind(&address.text).0.to_ascii_lowercase();
        let belongs = match domains {
            Some(domains) => domains.iter().any(|domain| lies_in(&host, domain)),
            None => owner_names(&host).any(|name| mark_of_name(name) == taint.owner),
        };
        is_far(address) && !address.vague() && !belongs
    })
}

/// Whether a host is a domain or lies in it.
fn lies_in(host: &str, domain: &str) -> bool {
    let front = host.strip_suffix(domain);
    front.is_some_and(|front| front.is_empty() || front.ends_with('.'))
}

/// Returns the names in the part of a host that its owner has registered: `acme` and `api` of `x.acme-api.co.uk`.
fn owner_names(host: &str) -> impl Iterator<Item = &str> {
    let mut labels = host.rsplit('.').skip(1);
    let first = labels.next().unwrap_or("");
    // `co.uk` and its like are nobody's.
    let registered = if matches!(first, "co" | "com" | "org" | "net" | "gov" | "edu" | "ac") {
        labels.next().unwrap_or(first)
    } else {
        first
    };
    std::iter::once(registered).chain(registered.split('-'))
}

/// Whether what is sent to an address leaves the hands of those who work here.
pub(super) fn is_far(address: &Arg) -> bool {
    leaves(host_kind(&address.text).1.map(|(kind, _)| kind))
}

/// Whether what is sent to a host of this kind leaves the hands of those who work here.
const fn leaves(kind: Option<HostKind>) -> bool {
    match kind {
        Some(HostKind::Loopback | HostKind::Private | HostKind::Registry | HostKind::Firewall) => {
            false
        }
        Some(HostKind::Metadata | HostKind::Drop | HostKind::Alias) | None => true,
    }
}

/// Whether a piece of an address is an encoded text. Numbers and names of things, which look alike, decode
/// to bytes that nobody can read.
fn says_something(address: &str) -> bool {
    let is_code =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '+');
    let pieces = address.split(|letter: char| !is_code(letter));
    let is_text = |decoded: Option<Vec<u8>>| {
        let text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
        decoded.is_some_and(|bytes| bytes.iter().all(text))
    };
    pieces
        .filter(|piece| piece.len() >= CODE_BYTES_MIN)
        .any(|piece| is_text(base64(piece.as_bytes())) || is_text(hexadecimal(piece.as_bytes())))
}

/// Whether a file holds a version and nothing else.
pub(super) fn is_version_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    VERSION_FILES.contains(name)
}

/// Whether what a command prints is what another command prints that it starts.
pub(super) fn hands_on(line: &Line<'_>) -> bool {
    line.read.command.is_some()
        || matches!(
            line.row.reader,
            Some(Reader::Shell | Reader::Eval | Reader::Xargs | Reader::Source)
        )
}

/// Whether a command is one of `answers.toml`.
pub(super) fn is_answer(line: &Line<'_>) -> bool {
    ANSWERS.contains(line.name) || ANSWERS.contains(line.row.name)
}

/// Whether what a command prints is data of this machine: what it read, or what it found out itself. The
/// programs of `answers.toml` find out nothing that is worth hiding.
pub(super) fn tells(line: &Line<'_>, does: Effect, stream: &Stream) -> bool {
    let hands_on = hands_on(line);
    let harmless = is_answer(line);
    let reads = |role: Option<(Role, &Arg)>| matches!(role, Some((Role::Read, _)));
    if harmless && !hands_on {
        return line.read.hits.iter().any(|hit| reads(hit.meaning()));
    }
    let passes_on = line.stdin.connected
        || does == Effect::Compute
        || does != Effect::Inspect
            && line.row.reader != Some(Reader::Find)
            && line.row.has_operand(Role::Read)
            && !line.read.operands.is_empty();
    if hands_on || passes_on {
        return stream.taint.data;
    }
    !stream.taint.network || stream.taint.data
}
