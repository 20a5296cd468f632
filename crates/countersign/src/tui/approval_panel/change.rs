//! Shows a file edit as a diff, in one column or two.
//!
//! Nothing of either text is left out, unchanged lines included: whoever allows it has seen it all.

use countersign_core::card::Field;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

use crate::tui::doc::{Doc, Part};
use crate::tui::theme::Theme;

/// Names under which tools take what is to be replaced, and what it is replaced by.
const NAMES: &[(&str, &str)] = &[
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
    ("oldString", "newString"),
    ("search", "replace"),
    ("old", "new"),
];
/// Names under which tools take a change that is written out already.
const WRITTEN_OUT: &[&str] = &["patch", "diff", "unified_diff"];
/// Lines beyond which two texts are shown one below the other: comparing them would take too long.
const LINES_MAX: usize = 4_000;

/// How many columns a change is shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    One,
    Two,
}

/// Which fields of a card are a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) old: usize,
    pub(super) new: usize,
}

/// Returns which of `fields` are a change, if there is one.
pub(super) fn find(fields: &[Field]) -> Option<Change> {
    let place = |name: &str| fields.iter().position(|field| field.name == name);
    NAMES.iter().find_map(|(old, new)| {
        let change = Change {
            old: place(old)?,
            new: place(new)?,
        };
        let lines = |at: usize| fields.get(at).map_or(0, |it| it.text.split('\n').count());
        (lines(change.old) + lines(change.new) <= LINES_MAX).then_some(change)
    })
}

/// Whether `field` is a change that is written out already.
pub(super) fn is_written_out(field: &Field) -> bool {
    let lines = || field.text.split('\n').count();
    WRITTEN_OUT.contains(&field.name.as_str()) && field.code && lines() <= LINES_MAX
}

/// Adds a change that is written out already, line by line.
pub(super) fn push_written_out(doc: &mut Doc, name: &str, field: &Field, theme: Theme) {
    for (number, line) in field.text.split('\n').enumerate() {
        let name = if number == 0 { name } else { "" };
        let style = match line.as_bytes().first() {
            Some(b'+') => theme.added(),
            Some(b'-') => theme.removed(),
            Some(_) | None => theme.plain(),
        };
        doc.push(Part::fenced(name, line, style));
    }
}

impl Change {
    /// Adds the change to `doc`.
    pub(super) fn push(self, doc: &mut Doc, fields: &[Field], columns: Columns, theme: Theme) {
        let lines = |at: usize| -> Vec<&str> {
            fields
                .get(at)
                .map_or_else(Vec::new, |field| field.text.split('\n').collect())
        };
        let (old, new) = (lines(self.old), lines(self.new));
        push_lines(doc, &old, &new, columns, theme);
    }
}

/// Adds how `old` becomes `new`.
pub(super) fn push_texts(doc: &mut Doc, old: &str, new: &str, columns: Columns, theme: Theme) {
    let old: Vec<&str> = old.split('\n').collect();
    let new: Vec<&str> = new.split('\n').collect();
    push_lines(doc, &old, &new, columns, theme);
}

fn push_lines(doc: &mut Doc, old: &[&str], new: &[&str], columns: Columns, theme: Theme) {
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        let (before, after) = sides(&op, old, new);
        match columns {
            Columns::One => push_below(doc, op.tag(), before, after, theme),
            Columns::Two => push_beside(doc, op.tag(), before, after, theme),
        }
    }
}

fn sides<'a>(
    op: &DiffOp,
    old: &'a [&'a str],
    new: &'a [&'a str],
) -> (&'a [&'a str], &'a [&'a str]) {
    (
        old.get(op.old_range()).unwrap_or_default(),
        new.get(op.new_range()).unwrap_or_default(),
    )
}

fn push_below(doc: &mut Doc, tag: DiffTag, before: &[&str], after: &[&str], theme: Theme) {
    if tag == DiffTag::Equal {
        for line in after {
            doc.push(Part::with_lead("", "│   ", line, theme.plain()));
        }
        return;
    }
    for line in before {
        doc.push(Part::with_lead("", "│ - ", line, theme.removed()));
    }
    for line in after {
        doc.push(Part::with_lead("", "│ + ", line, theme.added()));
    }
}

fn push_beside(doc: &mut Doc, tag: DiffTag, before: &[&str], after: &[&str], theme: Theme) {
    for number in 0..before.len().max(after.len()) {
        let (left, right) = (before.get(number), after.get(number));
        let (minus, plus) = if tag == DiffTag::Equal {
            (("│   ", theme.plain()), ("│   ", theme.plain()))
        } else {
            (
                (
                    if left.is_some() { "│ - " } else { "│   " },
                    theme.removed(),
                ),
                (if right.is_some() { "│ + " } else { "│   " }, theme.added()),
            )
        };
        doc.push(Part::pair(
            (minus.0, left.copied().unwrap_or_default(), minus.1),
            (plus.0, right.copied().unwrap_or_default(), plus.1),
        ));
    }
}
