//! Which reaction means what. The card says it in its last line, and nothing else means anything.

use countersign_core::approval::Choice;

use crate::face;
use crate::order::{Order, Subject};
use crate::press::Press;

/// Clients put it behind signs that are also letters, and some leave it out.
const AS_EMOJI: char = '\u{fe0f}';

/// Each press and its sign.
const SIGNS: &[(Press, &str)] = &[
    (Press::Choose(Choice::Once), "✅"),
    (Press::Choose(Choice::Session), "🔁"),
    (Press::Choose(Choice::Always), "♾️"),
    (Press::Choose(Choice::Deny), "❌"),
    (Press::DenyNote, "📝"),
    (Press::View, "👀"),
    (Press::Answer(1), "1️⃣"),
    (Press::Answer(2), "2️⃣"),
    (Press::Answer(3), "3️⃣"),
    (Press::Answer(4), "4️⃣"),
    (Press::Answer(5), "5️⃣"),
    (Press::Answer(6), "6️⃣"),
    (Press::Answer(7), "7️⃣"),
    (Press::Answer(8), "8️⃣"),
    (Press::Answer(9), "9️⃣"),
    (Press::Other, "💬"),
    (Press::Revoke, "↩️"),
];

/// The sign of a second yes.
pub(super) const YES: &str = "✅";

/// Returns the sign of a press.
pub(super) fn sign(press: Press) -> &'static str {
    let known = SIGNS.iter().find(|(known, _)| *known == press);
    known.map_or("", |(_, sign)| sign)
}

/// Returns what a reaction means.
pub(super) fn press(key: &str) -> Option<Press> {
    let known = SIGNS.iter().find(|(_, sign)| is_same(sign, key));
    known.map(|(press, _)| *press)
}

/// Whether a reaction shows a sign: as it is written here, without [`AS_EMOJI`], or with one at its end.
pub(super) fn is_same(sign: &str, key: &str) -> bool {
    let (sign, key) = (without_last(sign), without_last(key));
    key == sign || key == sign.replace(AS_EMOJI, "")
}

fn without_last(text: &str) -> &str {
    text.strip_suffix(AS_EMOJI).unwrap_or(text)
}

/// Returns what can be done with a card by reacting to it; empty if nothing can.
pub(super) fn legend(order: &Order, presses: &[Press]) -> String {
    if presses.is_empty() {
        return String::new();
    }
    // The answers of a question stand above, with their numbers.
    let named = |press: &Press| match (&order.what, press) {
        (Subject::Question(_), Press::Answer(_)) => sign(*press).to_owned(),
        (
            _,
            Press::Answer(_)
            | Press::Choose(_)
            | Press::DenyNote
            | Press::View
            | Press::Other
            | Press::Revoke,
        ) => format!("{} {}", sign(*press), face::name(&order.what, *press)),
    };
    let all: Vec<String> = presses.iter().map(named).collect();
    format!("React to this message: {}", all.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_leads_back_to_its_press_and_no_two_are_alike() {
        for (expected, sign) in SIGNS {
            assert_eq!(press(sign), Some(*expected), "{sign}");
            assert_eq!(
                press(&sign.replace(AS_EMOJI, "")),
                Some(*expected),
                "{sign}"
            );
        }
        assert_eq!(press("✅\u{fe0f}"), Some(Press::Choose(Choice::Once)));
        let more = [
            "✅\u{fe0f}\u{fe0f}",
            "\u{fe0f}✅",
            "♾\u{fe0f}\u{fe0f}",
            "1\u{fe0f}\u{fe0f}\u{20e3}",
            "\u{fe0f}\u{fe0f}",
        ];
        for key in more {
            assert_eq!(press(key), None, "{key:?}");
        }
        let rows = ["", "✔", "👍", "✅✅", "✅ ", "once", "1", "❎", "\u{fe0f}"];
        for key in rows {
            assert_eq!(press(key), None, "{key:?}");
        }
    }
}
