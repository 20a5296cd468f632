//! Normalises hosts: every spelling of an address in one form, and what the tables know about it.
//!
//! `127.1`, `0x7f.1`, `2130706433`, `[::ffff:7f00:1]`, `LOCALHOST.` and `１２７.0.0.1` are one machine. Whoever
//! compares hosts compares them as read here, so that no spelling is judged by its letters.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use unicode_normalization::UnicodeNormalization as _;

use crate::encoding::percent_decoded;
use crate::glob::glob_matches;
use crate::knowledge::{
    HOST_EXACT, HOST_GLOBS, HOST_NETWORKS, HOST_SUFFIX, HOSTS, HostKind, HostRow, ROUTES,
    RouteKind, RouteRow,
};
use crate::place::{HOLE, display, first_name};

/// Longest host looked at, in bytes; no name that can be resolved is longer.
const HOST_BYTES_MAX: usize = 1024;
/// Names of a path that are looked at.
const PATH_NAMES_MAX: usize = 32;
/// The address that stands for every spelling of this machine where a port is looked up.
const THIS_MACHINE: &str = "127.0.0.1";
/// Schemes whose address is read however many slashes follow, and with backslashes for slashes.
const WEB_SCHEMES: &[&str] = &["http", "https", "ws", "wss", "ftp"];

/// An address, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The host and port as they were written, in lower case.
    written: String,
    /// The host in its one form: an address as numbers, a name in lower case without a last dot.
    host: String,
    /// The host where it is a number.
    number: Option<IpAddr>,
    port: Option<String>,
    /// The names of the path, decoded, in lower case.
    path: Vec<String>,
}

impl Address {
    /// Returns the ways in which programs read the address `text`: browsers end a host at a backslash,
    /// others take what stands before an `@` for a user's name whatever is in it.
    fn readings(text: &str) -> Vec<Self> {
        let rest = without_scheme(text);
        let browser = Self::read(rest, &['/', '?', '#', '\\']);
        if rest.contains('\\') {
            return vec![browser, Self::read(rest, &['/', '?', '#'])];
        }
        vec![browser]
    }

    fn read(rest: &str, ends: &[char]) -> Self {
        let end = rest.find(ends).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let written = authority.rsplit('@').next().unwrap_or("").to_lowercase();
        // `http :8080/path` means this machine.
        let written = if written.starts_with(':') && !written.starts_with("::") {
            format!("localhost{written}")
        } else {
            written
        };
        let (name, port) = host_and_port(&written);
        let (host, number) = canonical(name);
        Self {
            port: port.map(|port| match port.trim_start_matches('0') {
                "" => port.to_owned(),
                number => number.to_owned(),
            }),
            host,
            number,
            path: path_names(path),
            written,
        }
    }

    /// Returns host and port as people read them, with the plain form of a host that is spelled strangely.
    fn shown(&self) -> String {
        let written = display(&self.written);
        let plain = self.number.is_some() && !self.written.contains(&self.host);
        if plain {
            format!("{written} ({})", self.host)
        } else {
            written
        }
    }

    /// Returns the row of the host, or of the host with its port.
    fn row(&self) -> Option<&'static HostRow> {
        let named = lookup(&self.host, self.number);
        let behind = match named {
            Some(row) if row.kind == HostKind::Alias => {
                let number = embedded(&self.host).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
                lookup(&number.to_string(), Some(number))
            }
            _ => named,
        };
        // A port says more about this machine than its name; a host nobody knows may be this machine.
        let here = behind.is_some_and(|row| row.kind == HostKind::Loopback) || is_hole(&self.host);
        let name = if here { THIS_MACHINE } else { &self.host };
        let port = self.port.as_deref();
        port.and_then(|port| exact(&format!("{name}:{port}")))
            .and_then(|row| HOSTS.get(usize::from(row)))
            .or(behind.filter(|row| !calms(row.kind)))
            .or(named)
    }

    /// Returns what the path asks for, where it is a question of who may answer what.
    fn route(&self, sends: bool) -> Option<&'static RouteRow> {
        let kind = self.row().map(|row| row.kind);
        let here = matches!(
            kind,
            Some(HostKind::Loopback | HostKind::Firewall | HostKind::Alias)
        );
        ROUTES.iter().find(|row| {
            let asked = match row.kind {
                RouteKind::Public => kind == Some(HostKind::Firewall),
                RouteKind::Ours => here,
                RouteKind::Answers => sends,
                RouteKind::Message => false,
            };
            asked && row.like.iter().any(|like| route_matches(like, &self.path))
        })
    }
}

/// What stands behind an address, in all readings of it.
#[derive(Debug)]
pub(crate) struct Host(Vec<Address>);

impl Host {
    /// Reads the address `text`.
    pub(crate) fn of(text: &str) -> Self {
        Self(Address::readings(text))
    }

    /// Returns the host as people read it, and what is known about it.
    pub(crate) fn kind(&self) -> (String, Option<(HostKind, &'static HostRow)>) {
        let shown = self.0.first().map(Address::shown).unwrap_or_default();
        let rows: Vec<Option<&'static HostRow>> = self.0.iter().map(Address::row).collect();
        let telling = |row: &&'static HostRow| !calms(row.kind);
        // Where readings differ, only what all of them agree on makes a host harmless.
        let row = rows.iter().flatten().copied().find(telling).or_else(|| {
            let first = rows.first().copied().flatten()?;
            let agrees = |row: Option<&HostRow>| row.is_some_and(|row| row.kind == first.kind);
            rows.iter().all(|row| agrees(*row)).then_some(first)
        });
        (shown, row.map(|row| (row.kind, row)))
    }

    /// Returns what asking for it means for an approval: the firewall, or somebody else's.
    pub(crate) fn guarded(&self, sends: bool) -> Option<&'static str> {
        self.0.iter().find_map(|address| {
            let route = address.route(sends);
            if let Some(route) = route {
                return (route.kind != RouteKind::Public).then_some(route.what);
            }
            let row = address.row()?;
            (row.kind == HostKind::Firewall).then_some(row.what)
        })
    }

    /// Returns what asking for it says to people, whatever the method.
    pub(crate) fn message(&self) -> Option<&'static str> {
        let rows = ROUTES.iter().filter(|row| row.kind == RouteKind::Message);
        let sends = |like: &&str| {
            let (host, path) = first_name(like);
            self.0.iter().any(|address| {
                let named = address.host == host
                    || host
                        .strip_prefix('*')
                        .is_some_and(|end| address.host.ends_with(end));
                named && route_matches(path.unwrap_or("**"), &address.path)
            })
        };
        let mut rows = rows.filter(|row| row.like.iter().any(sends));
        rows.next().map(|row| row.what)
    }

    /// Whether the host is given, at least in part; an address of which nothing is known may be any.
    pub(crate) fn is_given(&self) -> bool {
        let is_given = |address: &Address| !address.host.is_empty() && !is_hole(&address.host);
        self.0.iter().any(is_given)
    }
}

/// Returns the host of an address as people read it, and what is known about it.
pub(crate) fn host_kind(text: &str) -> (String, Option<(HostKind, &'static HostRow)>) {
    Host::of(text).kind()
}

/// Returns the row of a host or of an address.
pub fn row(text: &str) -> Option<&'static HostRow> {
    host_kind(text).1.map(|(_, row)| row)
}

/// Returns the row of what an address asks for; `sends` says whether the call sends something there.
pub fn route(text: &str, sends: bool) -> Option<&'static RouteRow> {
    let readings = Address::readings(text);
    readings.iter().find_map(|address| address.route(sends))
}

/// Whether asking for this address sends a message to people.
pub fn is_message(text: &str) -> bool {
    Host::of(text).message().is_some()
}

/// Whether a kind of host makes a call easier to let through.
const fn calms(kind: HostKind) -> bool {
    match kind {
        HostKind::Loopback | HostKind::Private | HostKind::Registry => true,
        HostKind::Metadata | HostKind::Firewall | HostKind::Drop | HostKind::Alias => false,
    }
}

/// Returns an address without its scheme and the slashes after it.
fn without_scheme(text: &str) -> &str {
    let text = text.trim();
    if let Some((scheme, rest)) = text.split_once(':')
        && WEB_SCHEMES.contains(&scheme.to_ascii_lowercase().as_str())
    {
        return rest.trim_start_matches(['/', '\\']);
    }
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    rest.strip_prefix("//").unwrap_or(rest)
}

/// Takes `host:port`, `[v6]:port`, a bare host or a bare IPv6 address apart.
fn host_and_port(text: &str) -> (&str, Option<&str>) {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, after) = rest.split_once(']').unwrap_or((rest, ""));
        return (host, after.strip_prefix(':'));
    }
    match text.matches(':').count() {
        0 => (text, None),
        1 => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
        _ if ipv6(text).is_some() => (text, None),
        _ => text
            .rsplit_once(':')
            .map_or((text, None), |(host, port)| (host, Some(port))),
    }
}

/// Returns a host in its one form, and as a number where it is one.
fn canonical(host: &str) -> (String, Option<IpAddr>) {
    let host = host
        .get(..host.floor_char_boundary(HOST_BYTES_MAX))
        .unwrap_or(host);
    let decoded = percent_decoded(host);
    let host = decoded.as_deref().unwrap_or(host);
    let plain: String = if host.is_ascii() {
        host.to_lowercase()
    } else {
        let letters = host.nfkc().filter(|letter| !is_ignored(*letter));
        let letters = letters.map(|letter| if letter == '。' { '.' } else { letter });
        letters.flat_map(char::to_lowercase).collect()
    };
    let plain = plain.trim_end_matches('.');
    match ipv4(plain).map(IpAddr::V4).or_else(|| ipv6(plain)) {
        Some(number) => (number.to_string(), Some(number)),
        None => (plain.to_owned(), None),
    }
}

/// Letters that a host may hold and that count for nothing when it is looked up.
const fn is_ignored(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
    )
}

/// Reads an IPv4 address as browsers and resolvers do: one to four numbers, each decimal, octal or
/// hexadecimal, the last one filling what is left.
fn ipv4(host: &str) -> Option<Ipv4Addr> {
    let numbers: Vec<u64> = host.split('.').take(5).map(number).collect::<Option<_>>()?;
    let (last, first) = numbers.split_last()?;
    if first.len() > 3 || first.iter().any(|number| *number > 255) {
        return None;
    }
    let room = 8 * (4 - u32::try_from(first.len()).ok()?);
    if *last >= 1_u64 << room {
        return None;
    }
    let front = first
        .iter()
        .zip([24_u32, 16, 8])
        .fold(0, |sum, (number, shift)| sum | number << shift);
    u32::try_from(front | last).ok().map(Ipv4Addr::from)
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some("") => Some(0),
        Some(hex) if !hex.starts_with('+') => u64::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None if text.starts_with('+') => None,
        None if text.len() > 1 && text.starts_with('0') => u64::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

/// Reads an IPv6 address; one that stands for an IPv4 address is that address.
fn ipv6(host: &str) -> Option<IpAddr> {
    let host = host.split('%').next().unwrap_or(host);
    let address: Ipv6Addr = host.parse().ok()?;
    let [front @ .., high, low] = address.segments();
    let embeds = match front {
        [0, 0, 0, 0, 0, 0] => (high, low) != (0, 0) && (high, low) != (0, 1),
        [0, 0, 0, 0, 0, 0xffff] | [0, 0, 0, 0, 0xffff, 0] | [0x64, 0xff9b, 0, 0, 0, 0] => true,
        _ => false,
    };
    let inner = Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    Some(if embeds {
        IpAddr::V4(inner)
    } else {
        IpAddr::V6(address)
    })
}

/// Returns the address that a name holds: `app.127.0.0.1.nip.io`, `app-127-0-0-1.sslip.io`, `7f000001.nip.io`.
fn embedded(name: &str) -> Option<IpAddr> {
    let labels: Vec<&str> = name.split('.').collect();
    let dotted = labels.windows(4).find_map(|four| {
        let four = four.join(".");
        four.parse::<Ipv4Addr>().ok()
    });
    let dashed = labels.iter().find_map(|label| {
        let parts: Vec<&str> = label.rsplit('-').take(4).collect();
        let parts: Vec<&str> = parts.into_iter().rev().collect();
        parts.join(".").parse::<Ipv4Addr>().ok()
    });
    let colons = || {
        labels.iter().find_map(|label| {
            let address = label.replace('-', ":");
            ipv6(&address).filter(|_| label.contains("--"))
        })
    };
    let hex = || {
        labels.iter().find_map(|label| {
            let digits = label.rsplit('-').next().unwrap_or(label);
            let is_hex = digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let number = is_hex.then(|| u32::from_str_radix(digits, 16).ok())??;
            Some(IpAddr::V4(Ipv4Addr::from(number)))
        })
    };
    dotted
        .or(dashed)
        .map(IpAddr::V4)
        .or_else(colons)
        .or_else(hex)
}

fn is_hole(host: &str) -> bool {
    !host.is_empty() && host.chars().all(|letter| letter == HOLE)
}

fn exact(host: &str) -> Option<u16> {
    sorted(HOST_EXACT, host)
}

fn sorted(table: &'static [(&'static str, u16)], name: &str) -> Option<u16> {
    let at = table
        .binary_search_by(|(known, _)| (*known).cmp(name))
        .ok()?;
    table.get(at).map(|(_, row)| *row)
}

/// Returns the first row for a host.
fn lookup(host: &str, number: Option<IpAddr>) -> Option<&'static HostRow> {
    let whole = exact(host);
    let above = host
        .match_indices('.')
        .filter(|_| number.is_none())
        .filter_map(|(dot, _)| sorted(HOST_SUFFIX, host.get(dot + 1..)?))
        .min();
    let other = if let Some(number) = number {
        let mut networks = HOST_NETWORKS.iter();
        let found = networks.find(|(network, bits, _)| in_network(network, bits, number));
        found.map(|(_, _, row)| *row)
    } else {
        let matches = |glob: &str| glob_matches(glob.as_bytes(), host.as_bytes());
        let found = HOST_GLOBS.iter().find(|(glob, _)| matches(glob));
        found.map(|(_, row)| *row)
    };
    let row = [whole, above, other].into_iter().flatten().min()?;
    HOSTS.get(usize::from(row))
}

/// Whether an address lies in a network.
fn in_network(network: &str, bits: &str, address: IpAddr) -> bool {
    let (Ok(network), Ok(bits)) = (network.parse::<IpAddr>(), bits.parse::<u32>()) else {
        return false;
    };
    let (network, address, width) = match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let wide = |address: Ipv4Addr| u128::from(u32::from(address));
            (wide(network), wide(address), 32)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            (u128::from(network), u128::from(address), 128)
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
    };
    let open = width - bits.min(width);
    network.checked_shr(open).unwrap_or(0) == address.checked_shr(open).unwrap_or(0)
}

/// Returns the names of a path as a server reads them.
fn path_names(path: &str) -> Vec<String> {
    let path = path.split(['?', '#']).next().unwrap_or("");
    let decoded = percent_decoded(path);
    let path = decoded.as_deref().unwrap_or(path);
    let mut names: Vec<String> = Vec::new();
    for name in path.split(['/', '\\']).take(4 * PATH_NAMES_MAX) {
        match name.split(';').next().unwrap_or("") {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name.to_lowercase()),
        }
    }
    names.truncate(PATH_NAMES_MAX);
    names
}

/// Whether a path is one of a route's: `*` stands for one name, `**` for any number of them.
fn route_matches(like: &str, path: &[String]) -> bool {
    let names: Vec<&str> = like.split('/').filter(|name| !name.is_empty()).collect();
    let matches = |names: &[&str], path: &[String]| {
        names.len() == path.len()
            && names.iter().zip(path).all(|(name, given)| {
                given.contains(HOLE) || glob_matches(name.as_bytes(), given.as_bytes())
            })
    };
    match names.as_slice() {
        ["**"] => true,
        // Anywhere a name must be spelled out, or a path of holes would be every route.
        ["**", rest @ ..] => {
            let spelled = |path: &[String]| path.iter().any(|name| rest.contains(&name.as_str()));
            let from = path.len().checked_sub(rest.len());
            let tail = from.and_then(|from| path.get(from..));
            tail.is_some_and(|tail| spelled(tail) && matches(rest, tail))
        }
        [front @ .., "**"] => path
            .get(..front.len())
            .is_some_and(|path| matches(front, path)),
        names => matches(names, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_an_address_is_that_address() {
        for (spelling, plain) in [
            ("127.1", "127.0.0.1"),
            ("0x7f.1", "127.0.0.1"),
            ("0177.0.0.01", "127.0.0.1"),
            ("2130706433", "127.0.0.1"),
            ("017700000001", "127.0.0.1"),
            ("0x7F000001", "127.0.0.1"),
            ("127.0.0.1.", "127.0.0.1"),
            ("[::ffff:127.0.0.1]", "127.0.0.1"),
            ("[::ffff:7f00:1]", "127.0.0.1"),
            ("[0:0:0:0:0:0:0:1]", "::1"),
            ("[::1%25lo]", "::1"),
            ("0", "0.0.0.0"),
            ("１２７。0。0。1", "127.0.0.1"),
            ("%31%32%37.1", "127.0.0.1"),
            ("LOCALHOST.", "localhost"),
            ("ⓛocal\u{ad}host", "localhost"),
            ("256.0.0.1", "256.0.0.1"),
            ("127.0.0.1.example.org", "127.0.0.1.example.org"),
            ("0x7g", "0x7g"),
        ] {
            let address = Address::readings(&format!("http://{spelling}:80/"));
            assert_eq!(
                address.first().map(|found| found.host.as_str()),
                Some(plain)
            );
        }
    }

    #[test]
    fn the_host_is_the_one_that_is_reached() {
        for (address, host) in [
            ("http://127.0.0.1@example.org/", "example.org"),
            ("http://example.org#@127.0.0.1/", "example.org"),
            ("http:/127.1", "127.0.0.1"),
            ("http:\\\\127.1\\x", "127.0.0.1"),
            ("//127.1/x", "127.0.0.1"),
            ("127.1:8750/x", "127.0.0.1"),
            (":8080/x", "localhost"),
            ("::1", "::1"),
            ("git@example.org:a/b.git", "example.org"),
        ] {
            let found = Address::readings(address);
            assert_eq!(found.first().map(|found| found.host.as_str()), Some(host));
        }
    }

    #[test]
    fn two_readings_of_one_address_both_count() {
        let address = "http://example.org\\@127.0.0.1:8750/v1/keys";
        assert!(Host::of(address).guarded(false).is_some());
        assert!(host_kind("http://localhost\\@example.org/").1.is_none());
        assert!(host_kind("http://example.org\\@localhost/").1.is_none());
    }
}
