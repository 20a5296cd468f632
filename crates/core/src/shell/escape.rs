//! Backslash escapes of `$'…'`, `echo -e` and `printf`.

/// Returns the bytes meant by the escape whose text after the backslash is `rest`, and how many
/// bytes of `rest` it takes.
pub(super) fn ansi_c(rest: &str) -> (Vec<u8>, usize) {
    let Some(first) = rest.chars().next() else {
        return (vec![b'\\'], 0);
    };
    let simple = match first {
        'a' => Some(7),
        'b' => Some(8),
        'e' | 'E' => Some(27),
        'f' => Some(12),
        'n' => Some(b'\n'),
        'r' => Some(b'\r'),
        't' => Some(b'\t'),
        'v' => Some(11),
        '\\' | '\'' | '"' | '?' => u8::try_from(first).ok(),
        _ => None,
    };
    if let Some(byte) = simple {
        return (vec![byte], 1);
    }
    match first {
        '0'..='7' => {
            let (value, length) = number(rest, 8, 3);
            (vec![u8::try_from(value & 0xff).unwrap_or(0)], length)
        }
        'x' => {
            let digits = rest.get(1..).unwrap_or("");
            let braced = digits.starts_with('{');
            let (value, length) = number(digits.trim_start_matches('{'), 16, 2);
            let close = usize::from(braced) * 2;
            if length == 0 {
                (b"\\x".to_vec(), 1)
            } else {
                (
                    vec![u8::try_from(value & 0xff).unwrap_or(0)],
                    1 + length + close,
                )
            }
        }
        'u' | 'U' => {
            let (value, length) = number(
                rest.get(1..).unwrap_or(""),
                16,
                if first == 'u' { 4 } else { 8 },
            );
            let character = char::from_u32(value).unwrap_or('\u{fffd}');
            (character.to_string().into_bytes(), 1 + length)
        }
        'c' => {
            let letter = rest.as_bytes().get(1).copied().unwrap_or(b'@');
            (vec![letter & 0x1f], rest.len().min(2))
        }
        other => {
            let mut bytes = vec![b'\\'];
            bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
            (bytes, other.len_utf8())
        }
    }
}

/// Reads at most `most` digits; returns their value and number.
fn number(text: &str, radix: u32, most: usize) -> (u32, usize) {
    let digits = text
        .chars()
        .take(most)
        .take_while(|digit| digit.is_digit(radix));
    digits.fold((0, 0), |(value, length), digit| {
        (
            value
                .wrapping_mul(radix)
                .wrapping_add(digit.to_digit(radix).unwrap_or(0)),
            length + 1,
        )
    })
}

/// Returns `text` with the escapes of `echo -e` and `printf` carried out.
pub(crate) fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        bytes.extend_from_slice(before.as_bytes());
        let after = after.get(1..).unwrap_or("");
        // `\0nnn` has one digit more here than in `$'…'`.
        let (escaped, length) = match after.strip_prefix('0') {
            Some(digits) => {
                let (value, length) = number(digits, 8, 3);
                (vec![u8::try_from(value & 0xff).unwrap_or(0)], 1 + length)
            }
            None => ansi_c(after),
        };
        bytes.extend_from_slice(&escaped);
        rest = after.get(length..).unwrap_or("");
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns `text` quoted so that a shell reads it as one word.
pub(crate) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
