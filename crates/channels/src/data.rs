//! The text that a button carries where there is little room for it, and that a prompt for words carries.
//!
//! Telegram lets a button carry 64 bytes, Discord 100. A hostile client may send any text, so its form is
//! fixed and its content sealed. The digest of the call has no room; the gate knows it, and it is sealed.

use countersign_core::id::{ApprovalId, ClarificationId};

use crate::press::{Press, Proof};

/// Most bytes of a button, on the platform that gives the least room.
#[cfg(test)]
const DATA_BYTES_MAX: usize = 64;
/// Letters of an id behind its prefix, and of a code.
const ID_LETTERS: usize = 26;
const CODE_LETTERS: usize = 22;
/// Digits of a moment.
const UNTIL_DIGITS: usize = 7;
/// Moments are written to this base.
const BASE: u32 = 36;

/// What a button means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Data {
    pub(crate) subject: String,
    pub(crate) press: Press,
    pub(crate) proof: Proof,
}

impl Data {
    /// Returns it as a button carries it. `None` for what no button carries.
    pub(crate) fn written(&self) -> Option<String> {
        let (kind, letters) = match self.subject.split_once('_')? {
            ("appr", letters) => ('a', letters),
            ("clar", letters) => ('c', letters),
            _ => return None,
        };
        let letter = self.press.letter();
        match &self.proof {
            Proof::Button { code } => Some(format!("1{kind}{letters}{letter}{code}")),
            Proof::Dialog { code, until } => {
                let until = digits(*until);
                Some(format!("2{kind}{letters}{letter}{until}{code}"))
            }
            Proof::OnCard | Proof::Typed => None,
        }
    }

    /// Reads what a button carries.
    pub(crate) fn read(text: &str) -> Option<Self> {
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let version = text.get(..1)?;
        let letters = text.get(2..2 + ID_LETTERS)?;
        let subject = match text.get(1..2)? {
            "a" => format!("appr_{letters}"),
            "c" => format!("clar_{letters}"),
            _ => return None,
        };
        let rest = text.get(2 + ID_LETTERS..)?;
        let (letter, rest) = rest.split_at_checked(1)?;
        let press = Press::of_letter(letter.chars().next()?)?;
        let proof = match version {
            "1" => Proof::Button { code: code(rest)? },
            "2" => {
                let (until, rest) = rest.split_at_checked(UNTIL_DIGITS)?;
                Proof::Dialog {
                    until: i64::from_str_radix(until, BASE).ok()?,
                    code: code(rest)?,
                }
            }
            _ => return None,
        };
        let is_question = ApprovalId::is_id(&subject) || ClarificationId::is_id(&subject);
        is_question.then_some(Self {
            subject,
            press,
            proof,
        })
    }
}

fn code(text: &str) -> Option<String> {
    (text.len() == CODE_LETTERS).then(|| text.to_owned())
}

/// Returns a moment in as many digits as every moment has.
fn digits(mut number: i64) -> String {
    let base = i64::from(BASE);
    let mut digits = Vec::new();
    for _ in 0..UNTIL_DIGITS {
        let digit = u32::try_from(number.rem_euclid(base)).unwrap_or(0);
        digits.push(char::from_digit(digit, BASE).unwrap_or('0'));
        number /= base;
    }
    digits.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use countersign_core::approval::Choice;

    use super::*;

    #[test]
    fn a_button_fits_and_is_read_as_it_was_written() {
        let code = "x".repeat(CODE_LETTERS);
        let until = 2_500_000_000;
        let proofs = [
            Proof::Button { code: code.clone() },
            Proof::Dialog { code, until },
        ];
        for proof in proofs {
            for prefix in ["appr", "clar"] {
                let data = Data {
                    subject: format!("{prefix}_{}", "0".repeat(ID_LETTERS)),
                    press: Press::Choose(Choice::Always),
                    proof: proof.clone(),
                };
                let text = data.written().unwrap();
                assert!(text.len() <= DATA_BYTES_MAX, "{text}");
                assert_eq!(Data::read(&text), Some(data), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_button_of_ours_is_nothing() {
        let id = "0".repeat(ID_LETTERS);
        let code = "x".repeat(CODE_LETTERS);
        let rows = [
            String::new(),
            "1".to_owned(),
            "🙂".repeat(20),
            format!("3a{id}o{code}"),
            format!("1x{id}o{code}"),
            format!("1a{id}?{code}"),
            format!("1a{id}o{code}x"),
            format!("1a{id}o"),
            format!("2a{id}o!!!!!!!{code}"),
        ];
        for text in rows {
            assert_eq!(Data::read(&text), None, "{text}");
        }
    }
}
