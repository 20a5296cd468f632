//! Matches names against globs: one loop for the shell's signs and for patterns with stars only.
//!
//! Separate because paths, hosts, options and the owner's rules all match names. The loop remembers
//! only the last star, so its time is bounded by the product of the two lengths.

/// Whether `name` has a sign of the shell's globs.
pub(crate) fn is_glob(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.any(|byte| matches!(byte, b'*' | b'?' | b'['))
}

/// Matches a glob of the shell: `*`, `?` and `[…]`, which stands for any one byte.
pub(crate) fn glob_matches(glob: &[u8], text: &[u8]) -> bool {
    matches(glob, text, |glob, byte| match glob {
        [b'?', ..] => Some(1),
        [b'[', class @ ..] => {
            let close = class.iter().skip(1).position(|byte| *byte == b']');
            close.map(|close| close + 3)
        }
        [letter, ..] if *letter == byte => Some(1),
        _ => None,
    })
}

/// Matches a pattern in which only `*` is a sign, as owners write them in their rules.
pub(crate) fn star_matches(pattern: &str, text: &str) -> bool {
    matches(pattern.as_bytes(), text.as_bytes(), |pattern, byte| {
        (pattern.first() == Some(&byte)).then_some(1)
    })
}

/// Matches `text` against `glob`, whose stars stand for any bytes. `step` returns how many bytes of the
/// glob the next byte of the text uses up.
fn matches(glob: &[u8], text: &[u8], step: impl Fn(&[u8], u8) -> Option<usize>) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(seen) {
        let rest = glob.get(at..).unwrap_or(&[]);
        if rest.first() == Some(&b'*') {
            at += 1;
            star = Some((at, seen));
        } else if let Some(used) = step(rest, *byte) {
            at += used;
            seen += 1;
        } else if let Some((after, from)) = star {
            at = after;
            seen = from + 1;
            star = Some((after, seen));
        } else {
            return false;
        }
    }
    let rest = glob.get(at..).unwrap_or(&[]);
    rest.iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything_and_nothing() {
        for (pattern, text, fits) in [
            ("", "", true),
            ("*", "", true),
            ("a*", "a", true),
            ("a*a", "a", false),
            ("a*b*c", "axbxbc", true),
            ("a*b*c", "axbxb", false),
            ("*.example.org", "www.example.org", true),
            ("mail_*", "mail", false),
            ("ä*", "äö", true),
        ] {
            assert_eq!(star_matches(pattern, text), fits, "{pattern} {text}");
            assert_eq!(glob_matches(pattern.as_bytes(), text.as_bytes()), fits);
        }
    }

    #[test]
    fn other_signs_count_only_in_globs_of_the_shell() {
        for (pattern, text) in [("?b", "ab"), ("[a-c]b", "ab"), ("x[]]y", "x]y")] {
            assert!(glob_matches(pattern.as_bytes(), text.as_bytes()));
            assert!(!star_matches(pattern, text), "{pattern}");
            assert!(star_matches(pattern, pattern), "{pattern}");
        }
    }
}
