//! Decides whether a value is plausible as a secret, or a placeholder, a reference or a plain word.

use crate::knowledge::names::{REFERENCE_STARTS, STAND_INS};
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

/// Returns the Shannon entropy of `value` in tenths of a bit per byte.
pub(super) fn entropy(value: &[u8]) -> u16 {
    let mut counts = [0u32; 256];
    for byte in value {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX));
    let bits: f64 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        })
        .sum();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "entropy of bytes lies between 0 and 8 bits"
    )]
    let tenths = (bits * 10.0) as u16;
    tenths
}

/// All of them, looked for in one go.
static STAND_IN_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(STAND_INS.iter())
        .ok()
});

/// Returns whether `value` is a stand-in rather than a credential: documentation words, masks,
/// one letter repeated, or the alphabet counted up.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    // Short words such as `your` occur by chance in long random values, so only telling ones count.
    STAND_IN_WORDS
        .as_ref()
        .is_some_and(|words| words.is_match(value))
        || longest_run(value, 0) >= 6.max(value.len() / 2)
        || longest_run(value, 1) >= 8
}

/// Returns the longest run in which each byte is the one before plus `step`.
fn longest_run(value: &[u8], step: u8) -> usize {
    let mut longest = 0;
    let mut current = 1;
    for pair in value.windows(2) {
        if let [first, second] = pair {
            // Counting up wraps from nine to zero, as people type it.
            let next = if step == 1 && *first == b'9' {
                b'0'
            } else {
                first.wrapping_add(step)
            };
            current = if next == *second { current + 1 } else { 1 };
            longest = longest.max(current);
        }
    }
    longest
}

/// Which letters a value is made of.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four independent facts about a value"
)]
pub(super) struct Made {
    pub(super) lower: bool,
    pub(super) upper: bool,
    pub(super) digit: bool,
    pub(super) symbol: bool,
}

impl Made {
    /// Looks at every byte of `value` once.
    pub(super) fn of(value: &[u8]) -> Self {
        let mut made = Self::default();
        for byte in value {
            match byte {
                b'a'..=b'z' => made.lower = true,
                b'A'..=b'Z' => made.upper = true,
                b'0'..=b'9' => made.digit = true,
                b'-' | b'_' | b'.' => {}
                _ => made.symbol = true,
            }
        }
        made
    }

    /// Returns whether there is any letter.
    pub(super) fn letter(self) -> bool {
        self.lower || self.upper
    }
}

/// Returns whether `value` points at a credential kept elsewhere, or is code, a path or an address.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value);
    let text = text.as_ref();
    // One byte is found faster than two, and most values hold none of these.
    let has = |byte: u8| memchr::memchr(byte, value).is_some();
    REFERENCE_STARTS.iter().any(|start| text.starts_with(start))
        || has(b'{') && (text.contains("${") || text.contains("{{"))
        || has(b'(') && (text.contains("()") || text.ends_with(')'))
        || has(b'v') && (text.contains("env.") || text.contains("environ"))
        || has(b'[') && text.contains("ENV[")
        || is_name(value)
}

/// Returns whether `value` is words joined by `-`, `_`, `.` or `/`, as names of things are.
fn is_name(value: &[u8]) -> bool {
    let mut parts = 0;
    for part in value.split(|byte| matches!(byte, b'-' | b'_' | b'.' | b'/' | b':')) {
        parts += 1;
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        let letters = part
            .iter()
            .filter(|byte| byte.is_ascii_alphabetic())
            .count();
        let word = letters == part.len() && (is_one_case(part));
        let number = digits == part.len() && digits <= 4;
        let word_and_number = part.iter().take(letters).all(u8::is_ascii_alphabetic)
            && digits + letters == part.len()
            && digits <= 2
            && letters >= 2
            && is_one_case(part.get(..letters).unwrap_or_default());
        if !(word || number || word_and_number) {
            return false;
        }
    }
    parts > 0 && value.len() / parts <= 12
}

/// Returns whether letters are all small, all large, or one large followed by small ones.
fn is_one_case(part: &[u8]) -> bool {
    part.iter().skip(1).all(u8::is_ascii_lowercase) || part.iter().all(u8::is_ascii_uppercase)
}

/// Returns whether `value` has the form of a UUID.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Returns whether the last six letters of `body` are the checksum the vendor writes there
/// (CRC-32 of the rest in base 62, as GitHub and npm do).
pub(super) fn has_checksum(body: &[u8]) -> bool {
    let Some((rest, tail)) = body
        .len()
        .checked_sub(6)
        .and_then(|at| body.split_at_checked(at))
    else {
        return false;
    };
    let mut sum = crc32(rest);
    let mut expected = [b'0'; 6];
    for place in expected.iter_mut().rev() {
        let digit = u8::try_from(sum % 62).unwrap_or(0);
        *place = match digit {
            0..=9 => b'0' + digit,
            10..=35 => b'A' + (digit - 10),
            _ => b'a' + (digit - 36),
        };
        sum /= 62;
    }
    expected == tail
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 {
                (sum >> 1) ^ 0xEDB8_8320
            } else {
                sum >> 1
            };
        }
    }
    !sum
}
