//! Ids: a prefix for the kind, then twenty-six letters that sort by time.
//!
//! The core makes none by itself: time and randomness arrive as arguments.

use serde::{Deserialize, Serialize};

use crate::time::UnixMillis;

/// Crockford's alphabet in small letters: no `i`, `l`, `o`, `u`, so an id survives being read out.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Letters behind the prefix of a whole id.
const LETTERS: usize = 26;
/// Fewest letters behind the prefix that may stand for a whole id.
pub const SHORT_LETTERS_MIN: usize = 4;

macro_rules! ids {
    ($($(#[doc = $doc:literal])* $name:ident = $prefix:literal;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// Returns a new id of this moment. `random` must not be guessable.
            pub fn fresh(now: UnixMillis, random: [u8; 10]) -> Self {
                Self(fresh($prefix, now, random))
            }

            /// Whether `text` is an id of this kind, as its prefix says.
            pub fn is_id(text: &str) -> bool {
                text.strip_prefix($prefix).is_some_and(|rest| rest.starts_with('_'))
            }

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

ids! {
    /// One tool call.
    CallId = "call";
    /// One question put to people.
    ApprovalId = "appr";
    /// One standing permission.
    GrantId = "grant";
    /// One execution of an agent.
    RunId = "run";
    /// One credential: the principal of what is done with it.
    KeyId = "key";
    /// One token.
    TokenId = "tok";
    /// One question an agent asks a person.
    ClarificationId = "clar";
    /// One thing that ran and awaits a look.
    ReviewId = "rev";
    /// One browser that is signed in.
    LoginId = "login";
}

fn fresh(prefix: &str, now: UnixMillis, random: [u8; 10]) -> String {
    let mut bytes = [0u8; 16];
    let millis = now.0.max(0).to_be_bytes();
    // Six bytes of time, ten of randomness: 128 bits are 26 letters of five bits.
    for (to, from) in bytes.iter_mut().zip(millis.iter().skip(2).chain(&random)) {
        *to = *from;
    }
    let number = u128::from_be_bytes(bytes);
    let mut id = String::with_capacity(prefix.len() + 27);
    id.push_str(prefix);
    id.push('_');
    for place in (0..26).rev() {
        let letter = usize::try_from((number >> (5 * place)) & 31).unwrap_or(0);
        id.push(char::from(ALPHABET.get(letter).copied().unwrap_or(b'0')));
    }
    id
}

/// Returns between which moments an id that begins with `text` was made. `None` if `text` is not the
/// beginning of an id: it is whole, too short, or has other letters.
pub fn made_between(text: &str) -> Option<(UnixMillis, UnixMillis)> {
    let (_, letters) = text.split_once('_')?;
    if !(SHORT_LETTERS_MIN..LETTERS).contains(&letters.len()) {
        return None;
    }
    let filled = |fill: u8| {
        let letters = letters.bytes().chain(std::iter::repeat(fill)).take(LETTERS);
        let mut places = letters.map(|letter| ALPHABET.iter().position(|it| *it == letter));
        let number = places.try_fold(0u128, |number, place| {
            Some((number << 5) | u128::try_from(place?).ok()?)
        })?;
        // The last ten bytes are random.
        i64::try_from(number >> 80).ok().map(UnixMillis)
    };
    Some((filled(b'0')?, filled(b'z')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_id_says_when_it_was_made() {
        let now = UnixMillis(1_794_846_430_880);
        let id = ApprovalId::fresh(now, [9; 10]);
        for letters in SHORT_LETTERS_MIN..LETTERS {
            let short = id.as_str().get(.."appr_".len() + letters).unwrap();
            let (from, to) = made_between(short).unwrap();
            assert!(from <= now && now <= to, "{short}: {from:?} {to:?}");
        }
        let exact = id.as_str().get(.."appr_".len() + 12).unwrap();
        assert_eq!(made_between(exact), Some((now, now)));
        for text in [
            "appr_01k",
            "appr_nope!",
            "appr_0ilo",
            "01kz01kz",
            id.as_str(),
        ] {
            assert_eq!(made_between(text), None, "{text}");
        }
    }

    #[test]
    fn ids_sort_by_time_and_keep_every_random_bit() {
        let early = CallId::fresh(UnixMillis(1), [255; 10]);
        let late = CallId::fresh(UnixMillis(2), [0; 10]);
        assert!(early < late, "{early} {late}");
        assert_eq!(early.as_str().len(), "call_".len() + 26);
        let mut other = [255; 10];
        other[9] = 254;
        assert_ne!(early, CallId::fresh(UnixMillis(1), other));
    }

    #[test]
    fn an_id_says_of_which_kind_it_is() {
        let id = ApprovalId::fresh(UnixMillis(1), [7; 10]);
        assert!(ApprovalId::is_id(id.as_str()));
        assert!(!ClarificationId::is_id(id.as_str()));
        for text in ["appr", "approved", "an appr_1", ""] {
            assert!(!ApprovalId::is_id(text), "{text}");
        }
    }
}
