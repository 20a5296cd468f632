//! Escapes in texts of Python and JavaScript.
//!
//! Characters that are written as numbers are read as well: a path stays a path however it is spelt.

use std::iter::Peekable;
use std::str::Chars;

/// The string with its escapes undone; `None` if one of them is not understood.
pub(super) fn undo(body: &str) -> Option<String> {
    let mut text = String::with_capacity(body.len());
    let mut chars = body.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next()? {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'a' => text.push('\u{7}'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'v' => text.push('\u{b}'),
            '\n' => {}
            'x' => text.push(digits(&mut chars, 16, 2)?),
            'u' if chars.peek() == Some(&'{') => {
                chars.next();
                let code: String = chars.by_ref().take_while(|c| *c != '}').collect();
                text.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
            }
            'u' => text.push(digits(&mut chars, 16, 4)?),
            'U' => text.push(digits(&mut chars, 16, 8)?),
            first @ '0'..='7' => text.push(octal(first, &mut chars)?),
            '8' | '9' | 'N' | 'c' => return None,
            other => {
                if other.is_ascii_alphabetic() {
                    text.push('\\');
                }
                text.push(other);
            }
        }
    }
    Some(text)
}

fn digits(chars: &mut Peekable<Chars<'_>>, radix: u32, count: usize) -> Option<char> {
    let mut code = 0_u32;
    for _ in 0..count {
        code = code
            .checked_mul(radix)?
            .checked_add(chars.next()?.to_digit(radix)?)?;
    }
    char::from_u32(code)
}

/// One to three octal digits.
fn octal(first: char, chars: &mut Peekable<Chars<'_>>) -> Option<char> {
    let mut code = first.to_digit(8)?;
    for _ in 0..2 {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else {
            break;
        };
        chars.next();
        code = code * 8 + digit;
    }
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::undo;

    #[test]
    fn characters_written_as_numbers_are_read() {
        let rows = [
            (r"\x72m -rf \u007e", Some("rm -rf ~")),
            (r"\162\155", Some("rm")),
            (r"\u{72}m", Some("rm")),
            (r"\U00000072m", Some("rm")),
            (r"a\tb\n", Some("a\tb\n")),
            (r"\d+\.", Some(r"\d+.")),
            (r"\x7", None),
            (r"\N{DIGIT ONE}", None),
            (r"\ud800", None),
        ];
        for (body, want) in rows {
            assert_eq!(undo(body).as_deref(), want, "{body}");
        }
    }
}
