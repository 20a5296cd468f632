//! Escapes in texts of the scripting languages.
//!
//! A path stays a path however it is spelt, so each language is read by its own rules: `"\\s"` is `s` in
//! JavaScript, a backslash and `s` in Python, and a blank in Ruby.

use std::iter::Peekable;
use std::str::Chars;

use crate::knowledge::Syntax;

/// The string with its escapes undone; `None` if one of them is not understood.
pub(super) fn undo(syntax: Syntax, body: &str) -> Option<String> {
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
            '\n' => {}
            letter if letter.is_ascii_alphanumeric() => match syntax {
                Syntax::Python | Syntax::JavaScript => {
                    text.push_str(&numbered(syntax, letter, &mut chars)?);
                }
                // What else they know changes letters or stands for signs that no path has.
                Syntax::Ruby | Syntax::Perl if !"abcefklsuvxCEFLMNQU".contains(letter) => {
                    text.push((!letter.is_ascii_digit()).then_some(letter)?);
                }
                Syntax::Php if !"efuvx01234567".contains(letter) => text.extend(['\\', letter]),
                Syntax::Ruby | Syntax::Perl | Syntax::Php | Syntax::Plain => return None,
            },
            other => text.push(other),
        }
    }
    Some(text)
}

/// What an escaped letter or digit stands for in Python and JavaScript.
fn numbered(syntax: Syntax, first: char, chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    let python = syntax == Syntax::Python;
    let character = match first {
        'a' if python => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        'x' => digits(chars, 16, 2)?,
        'u' if !python && chars.peek() == Some(&'{') => {
            chars.next();
            let code: String = chars.by_ref().take_while(|c| *c != '}').collect();
            char::from_u32(u32::from_str_radix(&code, 16).ok()?)?
        }
        'u' => digits(chars, 16, 4)?,
        'U' if python => digits(chars, 16, 8)?,
        'N' if python => return None,
        '0'..='7' => octal(first, chars)?,
        other if python => return Some(format!("\\{other}")),
        other => other,
    };
    Some(character.into())
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
    use super::{Syntax, undo};

    #[test]
    fn each_language_is_read_by_its_own_escapes() {
        use Syntax::{JavaScript, Perl, Php, Plain, Python, Ruby};
        let rows = [
            (Python, r"\x72m -rf \u007e", Some("rm -rf ~")),
            (Python, r"\162\155", Some("rm")),
            (Python, r"\U00000072m", Some("rm")),
            (Python, r"a\tb\n", Some("a\tb\n")),
            (Python, r"\d+\.", Some(r"\d+.")),
            (Python, r".\ssh", Some(r".\ssh")),
            (Python, r"\x7", None),
            (Python, r"\N{DIGIT ONE}", None),
            (Python, r"\ud800", None),
            (Python, r"\u{72}m", None),
            (JavaScript, r"\u{72}m", Some("rm")),
            (JavaScript, r".\ssh/id_r\sa", Some(".ssh/id_rsa")),
            (JavaScript, r".b\ashrc", Some(".bashrc")),
            (JavaScript, r"\U\N\d", Some("UNd")),
            (Ruby, r".g\it", Some(".git")),
            (Ruby, r"r\m", Some("rm")),
            (Ruby, r"\s", None),
            (Ruby, r"\x72", None),
            (Ruby, r"\162", None),
            (Perl, r"\Lid", None),
            (Perl, r"\.\/", Some("./")),
            (Php, r"\d", Some(r"\d")),
            (Php, r"\x72", None),
            (Plain, r"\d", None),
            (Plain, r"\n", Some("\n")),
        ];
        for (syntax, body, want) in rows {
            assert_eq!(undo(syntax, body).as_deref(), want, "{syntax:?} {body}");
        }
    }
}
