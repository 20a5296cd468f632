//! Decoders for text in another alphabet: base64, base32, hexadecimal and `%41`.
//!
//! Separate because commands, messages and cards decode the same texts and must agree on the result.
//! They accept whatever some tool accepts: both alphabets of base64, blanks, missing padding. The
//! crate `base64` is strict, so it reads and writes only our own data: tokens, keys, seals.

/// Decodes base64 in either alphabet. Blanks are skipped; padding ends a group, and another may follow.
pub(crate) fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let groups = text.split(|byte| *byte == b'=');
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in groups {
        bits(group, 6, base64_value, &mut bytes)?;
    }
    Some(bytes)
}

fn base64_value(letter: u8) -> Option<u8> {
    Some(match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

/// Decodes base32. Blanks are skipped; padding ends a group, and another may follow.
pub(crate) fn base32(text: &[u8]) -> Option<Vec<u8>> {
    let value = |letter| match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'2'..=b'7' => Some(letter - b'2' + 26),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(text.len() / 8 * 5 + 4);
    for group in text.split(|byte| *byte == b'=') {
        bits(group, 5, value, &mut bytes)?;
    }
    Some(bytes)
}

/// Adds the bytes that letters of `width` bits stand for; bits that fill no byte are dropped.
fn bits(
    text: &[u8],
    width: u32,
    value: impl Fn(u8) -> Option<u8>,
    bytes: &mut Vec<u8>,
) -> Option<()> {
    let (mut buffer, mut held) = (0_u32, 0_u32);
    for letter in text.iter().filter(|letter| !letter.is_ascii_whitespace()) {
        buffer = buffer << width | u32::from(value(*letter)?);
        held += width;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(buffer >> held & 0xff).ok()?);
            buffer &= (1 << held) - 1;
        }
    }
    Some(())
}

/// Decodes pairs of hexadecimal digits; blanks are skipped, a digit left over makes it no such text.
pub(crate) fn hexadecimal(text: &[u8]) -> Option<Vec<u8>> {
    let mut digits = text.iter().filter(|digit| !digit.is_ascii_whitespace());
    let mut bytes = Vec::with_capacity(text.len() / 2);
    while let Some(high) = digits.next() {
        bytes.push(hex_byte(*high, *digits.next()?)?);
    }
    Some(bytes)
}

/// Returns the byte of two hexadecimal digits. Unlike `from_str_radix` it takes no sign.
pub(crate) fn hex_byte(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// Returns the byte of the escape `%41` at the start of `text`.
pub(crate) fn percent_byte(text: &[u8]) -> Option<u8> {
    match text {
        [b'%', high, low, ..] => hex_byte(*high, *low),
        _ => None,
    }
}

/// Returns `text` with every `%41` decoded, or nothing where it has no percent sign.
pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if let Some(byte) = percent_byte(rest) {
            bytes.push(byte);
            rest = rest.get(3..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_every_tool_writes_it() {
        for (text, bytes) in [
            ("aGk=", Some(&b"hi"[..])),
            ("aGk", Some(b"hi")),
            ("aG\n k=", Some(b"hi")),
            ("-_8=", Some(b"\xfb\xff")),
            ("+/8=", Some(b"\xfb\xff")),
            // Two encoded files, one behind the other.
            ("YQ==Yg==", Some(b"ab")),
            ("a.b", None),
        ] {
            assert_eq!(base64(text.as_bytes()).as_deref(), bytes, "{text}");
        }
        assert_eq!(base32(b"NBUQ====").as_deref(), Some(&b"hi"[..]));
    }

    #[test]
    fn a_sign_is_no_hexadecimal_digit() {
        assert_eq!(hexadecimal(b"68 69\n").as_deref(), Some(&b"hi"[..]));
        for text in ["6", "+f", "6g", "é1"] {
            assert_eq!(hexadecimal(text.as_bytes()), None, "{text}");
        }
        assert_eq!(percent_decoded("%+f%41%4"), Some("%+fA%4".to_owned()));
        assert_eq!(percent_decoded("plain"), None);
    }
}
