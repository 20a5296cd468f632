//! Explains deceptive addresses: user names before the host, look-alike letters, display names,
//! link texts.

use super::glyph::looks_like;
use super::{Deception, high, low};
use crate::knowledge::names::{
    BUTTONS, DOCUMENT_ENDINGS, HOST_ENDINGS, MAIL_HEADERS, PROGRAM_ENDINGS, SECOND_LEVELS,
};

/// Most addresses of one text that are looked at.
const ADDRESSES_MAX: usize = 64;
/// Longest host looked at, in bytes.
const HOST_BYTES_MAX: usize = 255;

/// A web address in a text.
#[derive(Debug, Clone, Copy)]
struct Url<'a> {
    start: usize,
    host_start: usize,
    user: &'a str,
    host: &'a str,
}

/// Adds what addresses in `text` really say, where that is not plain to see.
pub(super) fn notes(text: &str, found: &mut Vec<String>) {
    for url in urls(text) {
        if !url.user.is_empty() || is_look_alike(url.host) {
            found.push(format!("real host: {}", to_ascii(url.host)));
        }
        found.extend(host_note(url.host));
    }
    for (_, mail) in mails(text) {
        if let Some((_, domain)) = mail.rsplit_once('@') {
            found.extend(host_note(domain));
        }
    }
    for named in display_names(text) {
        if named.matches != NameMatch::Matches {
            found.push(format!("address: {}", named.address));
        }
    }
}

fn host_note(host: &str) -> Option<String> {
    if !host.is_ascii() {
        return Some(format!("host: {}", to_ascii(host)));
    }
    if !host.contains("xn--") {
        return None;
    }
    let read: Vec<String> = host
        .split('.')
        .map(|label| {
            label
                .strip_prefix("xn--")
                .and_then(decode_label)
                .unwrap_or_else(|| label.to_owned())
        })
        .collect();
    Some(format!("host is written: {}", read.join(".")))
}

/// Adds the addresses in `text` that lead elsewhere than they seem to.
pub(super) fn deceptions(text: &str, found: &mut Vec<Deception>) {
    for url in urls(text) {
        let end = url.host_start + url.host.len();
        if url.user.contains('.') || url.user.contains("%2e") {
            found.push(high("url_userinfo", url.start, end));
        } else if is_look_alike(url.host) || is_number(url.host) {
            found.push(low("url_lookalike", url.host_start, end));
        }
        if url.host.split('.').any(is_imitation) {
            found.push(high("homoglyph", url.host_start, end));
        }
    }
    for (at, mail) in mails(text) {
        if mail
            .rsplit_once('@')
            .is_some_and(|(_, domain)| domain.split('.').any(is_imitation))
        {
            found.push(high("homoglyph", at, at + mail.len()));
        }
    }
    for named in display_names(text) {
        match named.matches {
            NameMatch::Matches => {}
            NameMatch::Differs => {
                found.push(low("display_name_mismatch", named.span.0, named.span.1));
            }
            NameMatch::OtherAddress => {
                found.push(high("display_name_mismatch", named.span.0, named.span.1));
            }
        }
    }
    links(text, found);
    headers(text, found);
    extensions(text, found);
}

fn urls(text: &str) -> Vec<Url<'_>> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("://").take(ADDRESSES_MAX) {
        let scheme = text
            .get(..at)
            .unwrap_or_default()
            .bytes()
            .rev()
            .take(16)
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'))
            .count();
        let rest = text.get(at + 3..).unwrap_or_default();
        let length = rest
            .char_indices()
            .find(|(_, c)| {
                c.is_whitespace()
                    || c.is_control()
                    || matches!(
                        c,
                        '/' | '?'
                            | '#'
                            | '"'
                            | '\''
                            | '<'
                            | '>'
                            | ')'
                            | ']'
                            | '|'
                            | '\\'
                            | ','
                            | ';'
                            | '`'
                            | '}'
                            | '{'
                    )
            })
            .map_or(rest.len(), |(end, _)| end);
        let authority = rest.get(..length.min(rest.len())).unwrap_or_default();
        if scheme == 0 || authority.len() > HOST_BYTES_MAX {
            continue;
        }
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let host_start = at + 3 + authority.len() - host.len();
        let host = host
            .split(':')
            .next()
            .unwrap_or_default()
            .trim_end_matches('.');
        found.push(Url {
            start: at - scheme,
            host_start,
            user,
            host,
        });
    }
    found
}

/// Returns whether a host starts with what looks like another, whole host: `bank.com.evil.net`.
fn is_look_alike(host: &str) -> bool {
    let labels: Vec<&str> = host.split('.').collect();
    // `shop.co.uk` and `name.com.au` end in two labels that belong together.
    let ending = match labels.as_slice() {
        [.., second, last] if last.len() == 2 && SECOND_LEVELS.contains(second) => 3,
        _ => 2,
    };
    let inner = labels.len().saturating_sub(ending);
    labels
        .iter()
        .take(inner)
        .skip(1)
        .any(|label| HOST_ENDINGS.contains(label))
}

/// Returns whether a host is an address written as one number, which hides where it leads.
fn is_number(host: &str) -> bool {
    host.len() >= 8 && (host.bytes().all(|byte| byte.is_ascii_digit()) || host.starts_with("0x"))
}

/// Returns whether a label is made of letters that all look like ASCII ones but are not.
fn is_imitation(label: &str) -> bool {
    !label.is_ascii()
        && label
            .chars()
            .all(|c| c.is_ascii() || looks_like(c).is_some())
}

fn mails(text: &str) -> Vec<(usize, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '%');
    let mut found = Vec::new();
    for (at, _) in text.match_indices('@').take(ADDRESSES_MAX) {
        let head = text.get(..at).unwrap_or_default();
        let start = head
            .char_indices()
            .rev()
            .take(64)
            .take_while(|(_, c)| is_part(*c))
            .last();
        let tail = text.get(at + 1..).unwrap_or_default();
        let end = tail
            .char_indices()
            .take(HOST_BYTES_MAX)
            .find(|(_, c)| !is_part(*c))
            .map_or(tail.len(), |(i, _)| i);
        if let Some((start, _)) = start
            && let Some(mail) = text.get(start..at + 1 + end)
            && tail.get(..end).is_some_and(|domain| domain.contains('.'))
        {
            found.push((start, mail.trim_end_matches('.')));
        }
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameMatch {
    /// The name is in the address.
    Matches,
    /// The address says nothing of the name.
    Differs,
    /// The name is itself an address, and another one.
    OtherAddress,
}

#[derive(Debug)]
struct Named<'a> {
    span: (usize, usize),
    address: &'a str,
    matches: NameMatch,
}

/// Returns every `Name <mailbox@host>` of a text.
fn display_names(text: &str) -> Vec<Named<'_>> {
    let mut found = Vec::new();
    for (at, mail) in mails(text) {
        let Some(head) = text.get(..at).and_then(|head| head.strip_suffix('<')) else {
            continue;
        };
        if !text
            .get(at + mail.len()..)
            .is_some_and(|tail| tail.starts_with('>'))
        {
            continue;
        }
        let name = head
            .rsplit(['\n', ',', ';', ':', '>'])
            .next()
            .unwrap_or_default();
        let start = head.len() - name.len();
        let name = name.trim().trim_matches('"');
        if name.is_empty() {
            continue;
        }
        let address = mail.to_lowercase();
        let matches = if name.contains('@') {
            if name.to_lowercase().contains(&address) {
                NameMatch::Matches
            } else {
                NameMatch::OtherAddress
            }
        } else if name
            .to_lowercase()
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| word.chars().count() >= 3 && address.contains(word))
        {
            NameMatch::Matches
        } else {
            NameMatch::Differs
        };
        found.push(Named {
            span: (start, at + mail.len() + 1),
            address: mail,
            matches,
        });
    }
    found
}

/// Adds links whose text says another place than their target: Markdown, chat, HTML, terminal.
fn links(text: &str, found: &mut Vec<Deception>) {
    for (at, _) in text.match_indices("](").take(ADDRESSES_MAX) {
        let label = text
            .get(..at)
            .unwrap_or_default()
            .rsplit('[')
            .next()
            .unwrap_or_default();
        let target = text
            .get(at + 2..)
            .unwrap_or_default()
            .split(')')
            .next()
            .unwrap_or_default();
        let start = at - label.len().min(at);
        add_link(label, target, (start, at + 2 + target.len()), found);
    }
    for (at, _) in text.match_indices("<http").take(ADDRESSES_MAX) {
        let inside = text
            .get(at + 1..)
            .unwrap_or_default()
            .split('>')
            .next()
            .unwrap_or_default();
        if let Some((target, label)) = inside.split_once('|') {
            add_link(label, target, (at, at + 1 + inside.len()), found);
        }
    }
    for (at, _) in text.match_indices("href=").take(ADDRESSES_MAX) {
        let rest = text.get(at + 5..).unwrap_or_default();
        let Some((target, after)) = rest.split_once('>') else {
            continue;
        };
        let label = after.split('<').next().unwrap_or_default();
        let target = target.trim_matches(['"', '\'']);
        add_link(label, target, (at, at + 5 + target.len()), found);
    }
    for (at, _) in text.match_indices("\u{1b}]8;").take(ADDRESSES_MAX) {
        let rest = text.get(at + 4..).unwrap_or_default();
        let target = rest.split(['\u{1b}', '\u{7}']).next().unwrap_or_default();
        if target.contains("://") {
            found.push(high("link_mismatch", at, at + 4 + target.len()));
        }
    }
}

fn add_link(label: &str, target: &str, span: (usize, usize), found: &mut Vec<Deception>) {
    let label = label.trim();
    let host = |address: &str| -> String {
        let address = address.split_once("://").map_or(address, |(_, rest)| rest);
        let authority = address
            .split(['/', '?', '#', ' '])
            .next()
            .unwrap_or_default();
        authority
            .rsplit('@')
            .next()
            .unwrap_or_default()
            .trim_start_matches("www.")
            .to_lowercase()
    };
    let names_place = label.contains("://") || label.starts_with("www.");
    if names_place && host(label) != host(target)
        || BUTTONS.contains(label.to_lowercase().as_str()) && target.contains("://")
    {
        found.push(high("link_mismatch", span.0, span.1));
    }
}

/// Adds header lines behind an address: a field that ought to be one address is more than that.
fn headers(text: &str, found: &mut Vec<Deception>) {
    let Some((first, rest)) = text.split_once(['\n', '\r']) else {
        return;
    };
    let lone = first.contains('@') && !first.trim().contains(char::is_whitespace);
    let rest_start = first.len() + 1;
    if !lone {
        return;
    }
    let second = rest.trim_start_matches(['\n', '\r']).to_ascii_lowercase();
    if MAIL_HEADERS.iter().any(|header| second.starts_with(header)) {
        found.push(high("header_injection", rest_start, text.len()));
    }
}

/// Adds names of programs that pose as documents: `invoice.pdf.exe`, or an ending turned around.
fn extensions(text: &str, found: &mut Vec<Deception>) {
    let mut start = 0;
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '/' | '\\')) {
        let mut endings = word.rsplit('.');
        let last = endings.next().unwrap_or_default().to_ascii_lowercase();
        let second = endings
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        if word.contains('.')
            && PROGRAM_ENDINGS.contains(last.as_str())
            && (word.contains('\u{202e}')
                || endings.next().is_some() && DOCUMENT_ENDINGS.contains(second.as_str()))
        {
            found.push(high("extension_mismatch", start, start + word.len()));
        }
        start += word.len()
            + text
                .get(start + word.len()..)
                .and_then(|rest| rest.chars().next())
                .map_or(0, char::len_utf8);
    }
}

/// Returns a host with every label that is not ASCII in its wire form.
fn to_ascii(host: &str) -> String {
    let labels: Vec<String> = host
        .split('.')
        .map(|label| {
            if label.is_ascii() {
                return label.to_owned();
            }
            let lower = label.to_lowercase();
            encode_label(&lower).map_or(lower, |encoded| format!("xn--{encoded}"))
        })
        .collect();
    labels.join(".")
}

// Punycode as in RFC 3492, section 6; its constants.
const BASE: u32 = 36;
const THRESHOLD_MIN: u32 = 1;
const THRESHOLD_MAX: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const FIRST_BIAS: u32 = 72;
const FIRST_CODE: u32 = 128;
const LABEL_CHARS_MAX: usize = 63;

fn adapt(delta: u32, points: u32, first: bool) -> u32 {
    let mut delta = if first { delta / DAMP } else { delta / 2 };
    delta += delta / points;
    let mut k = 0;
    while delta > (BASE - THRESHOLD_MIN) * THRESHOLD_MAX / 2 {
        delta /= BASE - THRESHOLD_MIN;
        k += BASE;
    }
    k + (BASE - THRESHOLD_MIN + 1) * delta / (delta + SKEW)
}

fn threshold(k: u32, bias: u32) -> u32 {
    k.saturating_sub(bias).clamp(THRESHOLD_MIN, THRESHOLD_MAX)
}

fn encode_label(label: &str) -> Option<String> {
    let points: Vec<u32> = label.chars().map(u32::from).collect();
    if points.len() > LABEL_CHARS_MAX {
        return None;
    }
    let mut output: String = label.chars().filter(char::is_ascii).collect();
    let basic = u32::try_from(output.len()).ok()?;
    let total = u32::try_from(points.len()).ok()?;
    if basic > 0 {
        output.push('-');
    }
    let (mut code, mut delta, mut bias, mut handled) = (FIRST_CODE, 0u32, FIRST_BIAS, basic);
    while handled < total {
        let next = points
            .iter()
            .copied()
            .filter(|point| *point >= code)
            .min()?;
        delta = delta.checked_add((next - code).checked_mul(handled + 1)?)?;
        code = next;
        for point in &points {
            if *point < code {
                delta = delta.checked_add(1)?;
            }
            if *point == code {
                let mut rest = delta;
                let mut k = BASE;
                loop {
                    let t = threshold(k, bias);
                    if rest < t {
                        break;
                    }
                    output.push(digit(t + (rest - t) % (BASE - t))?);
                    rest = (rest - t) / (BASE - t);
                    k += BASE;
                }
                output.push(digit(rest)?);
                bias = adapt(delta, handled + 1, handled == basic);
                delta = 0;
                handled += 1;
            }
        }
        delta += 1;
        code += 1;
    }
    Some(output)
}

fn digit(value: u32) -> Option<char> {
    char::from_digit(if value < 26 { value + 10 } else { value - 26 }, BASE)
        .filter(|_| value < BASE)
}

fn decode_label(label: &str) -> Option<String> {
    if label.len() > LABEL_CHARS_MAX || !label.is_ascii() {
        return None;
    }
    let (basic, extended) = label.rsplit_once('-').unwrap_or(("", label));
    let mut output: Vec<char> = basic.chars().collect();
    let (mut code, mut at, mut bias) = (FIRST_CODE, 0u32, FIRST_BIAS);
    let mut letters = extended.chars();
    while !letters.as_str().is_empty() {
        let before = at;
        let mut weight = 1u32;
        let mut k = BASE;
        loop {
            let letter = letters.next()?.to_digit(BASE)?;
            let value = if letter < 10 {
                letter + 26
            } else {
                letter - 10
            };
            at = at.checked_add(value.checked_mul(weight)?)?;
            let t = threshold(k, bias);
            if value < t {
                break;
            }
            weight = weight.checked_mul(BASE - t)?;
            k += BASE;
        }
        let length = u32::try_from(output.len()).ok()? + 1;
        bias = adapt(at - before, length, before == 0);
        code = code.checked_add(at / length)?;
        at %= length;
        output.insert(usize::try_from(at).ok()?, char::from_u32(code)?);
        at += 1;
    }
    Some(output.into_iter().collect())
}
