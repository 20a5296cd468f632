//! The *what led here* view: the message that the run answers, and the calls before this one.

use countersign_core::display::inline;
use countersign_core::time::UnixMillis;
use countersign_gate::history::before::BeforeView;

use crate::tui::doc::{Doc, Part};
use crate::tui::theme::Theme;
use crate::words::{ago, ending};

/// Returns what led to a call; `None`: the gateway has not said it yet.
pub(super) fn page(before: Option<&BeforeView>, now: UnixMillis, theme: Theme) -> Doc {
    let mut doc = Doc::default();
    let Some(before) = before else {
        doc.push(Part::words("", "Looking it up…", theme.quiet()));
        return doc;
    };
    if let Some(message) = &before.message {
        let from = format!("{} said", message.from);
        doc.push(Part::words("", &from, theme.heading()));
        doc.push(Part::fenced("", &message.text, theme.plain()));
        doc.push(Part::words("", " ", theme.plain()));
    }
    let words = if before.calls.is_empty() {
        "This is the first call of its run."
    } else {
        "The calls before, the oldest first"
    };
    doc.push(Part::words("", words, theme.heading()));
    for call in &before.calls {
        let when = ago(UnixMillis::of_seconds(call.call.created_at), now);
        doc.push(Part::fenced("", &inline(&call.command), theme.plain()));
        let how = format!("{} · {when}", ending(call));
        doc.push(Part::words("", &how, theme.quiet()));
    }
    doc
}
