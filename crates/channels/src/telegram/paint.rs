//! Renders a card as a Telegram message: text, entities and a keyboard.

use countersign_core::approval::Choice;
use serde_json::{Value, json};

use crate::data::Data;
use crate::face;
use crate::order::{Order, Shown, Subject};
use crate::press::{Press, Proof};
use crate::rich::{Rich, card};
use crate::seal::Bound;

/// Longest message, in UTF-16 code units.
pub(super) const UNITS_MAX: usize = 4096;
/// How much of a card that does not fit is shown, in characters; no character is more than two units.
const CUT_CHARS: &[usize] = &[1400, 700, 300];

/// Where a card is painted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Canvas<'a> {
    /// Which bot.
    pub(super) tenant: &'a str,
    /// The id of the place.
    pub(super) place: &'a str,
}

/// A card as it is sent.
#[derive(Clone, Debug)]
pub(super) struct Painted {
    pub(super) text: Rich,
    pub(super) keyboard: Value,
    pub(super) shown: Shown,
}

/// Paints what `order` says.
pub(super) fn paint(order: &Order, canvas: Canvas<'_>) -> Painted {
    let fits = |text: &Rich| text.units() <= UNITS_MAX;
    let (text, shown) = card::written(order, CUT_CHARS, fits);
    let presses = face::presses(order, shown);
    Painted {
        text,
        keyboard: keyboard(&presses, order, canvas),
        shown,
    }
}

/// Returns the buttons: those of a card two in a row, the answers of a question one.
fn keyboard(presses: &[Press], order: &Order, canvas: Canvas<'_>) -> Value {
    let in_row = match order.what {
        Subject::Card(_) => 2,
        Subject::Question(_) => 1,
    };
    let rows: Vec<Vec<Value>> = presses
        .chunks(in_row)
        .map(|row| {
            let row = row.iter();
            row.filter_map(|press| button(*press, order, canvas))
                .collect()
        })
        .collect();
    json!({ "inline_keyboard": rows })
}

fn button(press: Press, order: &Order, canvas: Canvas<'_>) -> Option<Value> {
    let code = order.seal.code(&bound(press, order, canvas, None));
    let data = Data {
        subject: order.what.id().to_owned(),
        press,
        proof: Proof::Button { code },
    };
    let mut button = json!({
        "text": face::name(&order.what, press),
        "callback_data": data.written()?,
    });
    if let (Some(button), Some(style)) = (button.as_object_mut(), style(press)) {
        button.insert("style".to_owned(), json!(style));
    }
    Some(button)
}

/// Returns what a button is bound to; with a holder, what one person is asked for.
pub(super) fn bound<'a>(
    press: Press,
    order: &'a Order,
    canvas: Canvas<'a>,
    holder: Option<(&'a str, i64)>,
) -> Bound<'a> {
    Bound {
        platform: super::NAME,
        tenant: canvas.tenant,
        place: canvas.place,
        subject: order.what.id(),
        press,
        digest: order.what.digest(),
        holder,
    }
}

const fn style(press: Press) -> Option<&'static str> {
    match press {
        Press::Choose(Choice::Once) => Some("success"),
        Press::Choose(Choice::Deny) | Press::DenyNote => Some("danger"),
        Press::Choose(Choice::Session | Choice::Always)
        | Press::View
        | Press::Answer(_)
        | Press::Other
        | Press::Revoke => None,
    }
}
