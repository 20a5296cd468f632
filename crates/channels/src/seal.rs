//! Seals buttons: a code over everything a button means, made with a key of the firewall.
//!
//! The key is random and kept with the firewall's own state; it is derived from nothing a chat or an
//! agent could know. A code is bound to the platform, the server, the place, the question, the
//! choice and the digest of what would run, so that none of them can be exchanged. The code of a
//! dialog is bound to one person and an end as well: it travels through that person's browser.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::digest::Digest;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::press::Press;

/// Bytes of a code; what fits every platform's buttons.
const CODE_BYTES: usize = 16;
/// What a code is made for, so that no other use of the key can be taken for one.
const PURPOSE: &[u8] = b"countersign/v1/button";

/// The key of buttons. Clones are the same key.
#[derive(Clone)]
pub struct Seal(Arc<Zeroizing<[u8; 32]>>);

/// What a button or a dialog is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound<'a> {
    /// What kind of chat.
    pub platform: &'a str,
    /// The server, team or bot.
    pub tenant: &'a str,
    /// Where the card is.
    pub place: &'a str,
    /// The question.
    pub subject: &'a str,
    /// What is pressed.
    pub press: Press,
    /// What would run.
    pub digest: Digest,
    /// For a dialog: whose it is, and until when in Unix seconds.
    pub holder: Option<(&'a str, i64)>,
}

impl Seal {
    /// Returns the seal of this key.
    pub fn new(key: [u8; 32]) -> Self {
        Self(Arc::new(Zeroizing::new(key)))
    }

    /// Returns the code of what is bound.
    pub fn code(&self, bound: &Bound<'_>) -> String {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.0.as_slice()) else {
            // A key of any length is taken, so this does not happen; an empty code proves nothing.
            return String::new();
        };
        let (holder, until) = bound.holder.unwrap_or_default();
        let kind: &[u8] = if bound.holder.is_some() {
            b"dialog"
        } else {
            b"button"
        };
        let parts: [&[u8]; 10] = [
            PURPOSE,
            kind,
            bound.platform.as_bytes(),
            bound.tenant.as_bytes(),
            bound.place.as_bytes(),
            bound.subject.as_bytes(),
            bound.press.word().as_bytes(),
            &bound.digest.0,
            holder.as_bytes(),
            &until.to_be_bytes(),
        ];
        for part in parts {
            // Lengths first, so that nothing can move from one part to the next.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        let bytes: [u8; 32] = mac.finalize().into_bytes().into();
        URL_SAFE_NO_PAD.encode(bytes.get(..CODE_BYTES).unwrap_or_default())
    }

    /// Whether `code` is the code of what is bound; takes as long whatever differs.
    pub fn proves(&self, bound: &Bound<'_>, code: &str) -> bool {
        let expected = self.code(bound);
        !expected.is_empty() && bool::from(expected.as_bytes().ct_eq(code.as_bytes()))
    }
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal(..)")
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::approval::Choice;
    use proptest::prelude::*;

    use super::*;

    fn bound() -> Bound<'static> {
        Bound {
            platform: "mattermost",
            tenant: "https://chat.example.org",
            place: "channel",
            subject: "appr_1",
            press: Press::Choose(Choice::Once),
            digest: Digest([7; 32]),
            holder: None,
        }
    }

    #[test]
    fn a_code_fits_every_platform_and_shows_nothing_of_the_key() {
        let seal = Seal::new([1; 32]);
        assert_eq!(seal.code(&bound()).len(), 22);
        assert_eq!(format!("{seal:?}"), "Seal(..)");
        assert!(seal.proves(&bound(), &seal.code(&bound())));
        assert!(!seal.proves(&bound(), ""), "nothing proves nothing");
        assert!(!Seal::new([2; 32]).proves(&bound(), &seal.code(&bound())));
    }

    #[test]
    fn any_altered_part_breaks_the_code() {
        let seal = Seal::new([1; 32]);
        let code = seal.code(&bound());
        let other = |change: fn(&mut Bound<'static>)| {
            let mut bound = bound();
            change(&mut bound);
            bound
        };
        let rows = [
            ("platform", other(|it| it.platform = "slack")),
            ("tenant", other(|it| it.tenant = "https://evil.example")),
            ("place", other(|it| it.place = "other")),
            ("subject", other(|it| it.subject = "appr_2")),
            (
                "choice",
                other(|it| it.press = Press::Choose(Choice::Always)),
            ),
            ("digest", other(|it| it.digest = Digest([8; 32]))),
            ("holder", other(|it| it.holder = Some(("ana", 1)))),
            (
                "a part moved to the next",
                other(|it| {
                    it.place = "channelappr_1";
                    it.subject = "";
                }),
            ),
        ];
        for (name, altered) in rows {
            assert!(!seal.proves(&altered, &code), "{name}");
        }
        let dialog = Bound {
            holder: Some(("ana", 10)),
            ..bound()
        };
        let code = seal.code(&dialog);
        for (name, holder) in [("person", ("eva", 10)), ("end", ("ana", 11))] {
            let altered = Bound {
                holder: Some(holder),
                ..bound()
            };
            assert!(!seal.proves(&altered, &code), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_two_different_buttons_share_a_code(
            one in "[a-z_|:]{0,6}", two in "[a-z_|:]{0,6}",
            three in "[a-z_|:]{0,6}", four in "[a-z_|:]{0,6}",
        ) {
            let seal = Seal::new([1; 32]);
            let first = Bound { place: &one, subject: &two, ..bound() };
            let second = Bound { place: &three, subject: &four, ..bound() };
            prop_assert_eq!(first == second, seal.code(&first) == seal.code(&second));
        }
    }
}
