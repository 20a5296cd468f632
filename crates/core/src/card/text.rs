//! Redacts secrets in displayed text to kind and fingerprint; hosts and recipients stay visible.

use std::borrow::Cow;

use crate::content::secrets;
use crate::knowledge::names::SECRET_TELLING_WORDS;

/// Whether secrets are shown as what they are instead of in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redacts {
    /// They are hidden.
    Secrets,
    /// Everything is shown.
    Nothing,
}

/// Returns `text` with its secrets named instead of shown. The host of an address is never hidden:
/// where something goes is what a person decides about.
///
/// Most commands cannot hold a secret, and for those the tables of secrets, which take longer to
/// build than all the rest takes, are not built.
pub fn without_secrets(text: &str, redacts: Redacts) -> Cow<'_, str> {
    let plain = |byte: u8| {
        byte.is_ascii_lowercase()
            || matches!(
                byte,
                b' ' | b'\n'
                    | b'-'
                    | b'.'
                    | b'/'
                    | b'_'
                    | b'~'
                    | b'*'
                    | b'|'
                    | b'&'
                    | b';'
                    | b'<'
                    | b'>'
            )
    };
    let harmless =
        text.bytes().all(plain) && !SECRET_TELLING_WORDS.iter().any(|word| text.contains(word));
    match redacts {
        Redacts::Secrets if !harmless => secrets::redact_around(text, hosts),
        Redacts::Secrets | Redacts::Nothing => Cow::Borrowed(text),
    }
}

/// Returns the value of the argument `name` with its secrets named: a name like `password` makes a
/// secret of a value that alone says nothing.
pub(super) fn value_without_secrets<'v>(
    name: &str,
    value: &'v str,
    redacts: Redacts,
) -> Cow<'v, str> {
    if redacts == Redacts::Nothing || value.is_empty() {
        return Cow::Borrowed(value);
    }
    let lead = format!("{name}: ");
    let whole = format!("{lead}{value}");
    match without_secrets(&whole, redacts).strip_prefix(&lead) {
        Some(shown) => Cow::Owned(shown.to_owned()),
        // Something about the name itself was taken for a secret; then the value stands alone.
        None => without_secrets(value, redacts),
    }
}

/// Returns where the hosts of addresses stand in `text`.
fn hosts(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (at, scheme) in text.match_indices("://") {
        let start = at + scheme.len();
        let rest = text.get(start..).unwrap_or_default();
        let authority = rest
            .find(|letter: char| {
                letter.is_whitespace()
                    || matches!(
                        letter,
                        '/' | '?' | '#' | '"' | '\'' | '`' | '\\' | '<' | '>' | '|' | ')'
                    )
            })
            .map_or(rest, |end| rest.get(..end).unwrap_or_default());
        let user = authority.rfind('@').map_or(0, |sign| sign + 1);
        if user < authority.len() {
            found.push((start + user, start + authority.len()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_named_and_the_host_stays() {
        let token = concat!("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a");
        let rows = [
            (
                "in a header",
                format!("curl -H 'Authorization: token {token}' https://api.example.org/x"),
                "api.example.org",
            ),
            (
                "in the host itself",
                format!("curl https://{token}.evil.example/x"),
                "evil.example",
            ),
            (
                "before the host",
                format!("git clone https://me:{token}@git.example.org/a.git"),
                "git.example.org",
            ),
            (
                "in a database address",
                "psql postgres://app:Tr0ub4dor-3xq9@db.example.org/prod".to_owned(),
                "db.example.org",
            ),
        ];
        for (name, text, host) in rows {
            let shown = without_secrets(&text, Redacts::Secrets);
            assert!(shown.contains(host), "{name}: {shown}");
            assert!(
                name == "in the host itself" || shown.contains("‹secret: "),
                "{name}: {shown}"
            );
            assert_eq!(without_secrets(&text, Redacts::Nothing), text, "{name}");
        }
    }

    #[test]
    fn the_name_of_an_argument_makes_a_secret_of_its_value() {
        let shown = value_without_secrets("password", "hu9Xk2-pq7T", Redacts::Secrets);
        assert!(shown.starts_with("‹secret: "), "{shown}");
        assert_eq!(
            value_without_secrets("city", "Lisbon", Redacts::Secrets),
            "Lisbon"
        );
    }
}
