//! What the dialogs of a card say, the same on every chat that has dialogs.

use crate::order::{COVERS, Order, Subject};
use crate::press::Press;

/// The words of a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wording {
    /// The title, short.
    pub(crate) title: &'static str,
    /// What stands above everything else; empty if nothing does.
    pub(crate) introduction: &'static str,
    /// What the choice would cover, which follows it; safe to show.
    pub(crate) covers: String,
    /// What is to be entered; `None` if nothing is.
    pub(crate) entry: Option<Entry>,
    /// The button that sends it off.
    pub(crate) submit: &'static str,
}

/// Something to be entered in a dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its name.
    pub(crate) name: &'static str,
    /// What happens with it.
    pub(crate) help: &'static str,
    /// Whether it may stay empty.
    pub(crate) is_optional: bool,
}

/// Returns what the dialog of `press` says: in it a person writes, or confirms with what would be
/// covered.
pub(crate) fn wording(order: &Order, press: Press) -> Wording {
    let entry = |name, help, is_optional| Entry {
        name,
        help,
        is_optional,
    };
    match press {
        Press::Choose(_) => Wording {
            title: "Allow permanently?",
            introduction: "This call is critical. From now on calls like it run without asking:",
            covers: covers(order).to_owned(),
            entry: None,
            submit: "Allow permanently",
        },
        Press::DenyNote => Wording {
            title: "Deny with a note",
            introduction: "",
            covers: String::new(),
            entry: Some(entry(
                "Note",
                "Sent to the agent. You can deny without a note.",
                true,
            )),
            submit: "Deny",
        },
        Press::Other | Press::Answer(_) | Press::View | Press::Revoke => Wording {
            title: "Your answer",
            introduction: "",
            covers: String::new(),
            entry: Some(entry(
                "Answer",
                "Sent to the agent. It permits nothing.",
                false,
            )),
            submit: "Answer",
        },
    }
}

/// Returns what *session* and *always* would cover, as the card says it.
fn covers(order: &Order) -> &str {
    let covers = match &order.what {
        Subject::Card(card) => card.lineage.iter().find(|field| field.name == COVERS),
        Subject::Question(_) => None,
    };
    covers.map_or("", |field| field.text.as_str())
}
