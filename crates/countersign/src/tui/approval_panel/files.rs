//! Shows how a call would change files, as the gateway compared them with what they hold now.
//!
//! The arguments as sent stand below, complete; this only adds where in the file they fall.

use countersign_gate::records::view::{FileChange, FileChanges};
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use super::change::Columns;
use crate::tui::doc::{Doc, Part};
use crate::tui::theme::Theme;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// Adds the changes of all files to `doc`.
pub(super) fn push(doc: &mut Doc, changes: &FileChanges, columns: Columns, theme: Theme) {
    if changes.files.is_empty() {
        let words = "There is no file of the workspace to compare this call with.";
        doc.push(Part::words("", words, theme.quiet()));
    }
    for file in &changes.files {
        push_file(doc, file, columns, theme);
    }
}

fn push_file(doc: &mut Doc, file: &FileChange, columns: Columns, theme: Theme) {
    let mut say = |words: String| doc.push(Part::words("", &words, theme.heading()));
    let path = &file.path;
    let (before, after) = match (&file.before, &file.after) {
        (_, None) => {
            let why = file.why.as_deref().unwrap_or("it cannot be read");
            say(format!("{path} was not compared: {why}."));
            return;
        }
        (Some(before), Some(after)) if before == after => {
            say(format!("{path} already holds exactly this text."));
            return;
        }
        (Some(before), Some(after)) => {
            say(format!(
                "Change to {path}, compared with the file as it is now"
            ));
            (before.as_str(), after.as_str())
        }
        (None, Some(after)) => {
            say(format!("New file {path}"));
            ("", after.as_str())
        }
    };
    let old: Vec<&str> = before.split('\n').collect();
    let new: Vec<&str> = after.split('\n').collect();
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let lines = Numbered {
        old: &old,
        new: &new,
        width: old.len().max(new.len()).to_string().len(),
    };
    for (number, group) in group_diff_ops(ops, CONTEXT).iter().enumerate() {
        if number > 0 {
            doc.push(Part::with_lead("", "│   ", "⋯", theme.quiet()));
        }
        for op in group {
            match columns {
                Columns::One => lines.push_below(doc, op, theme),
                Columns::Two => lines.push_beside(doc, op, theme),
            }
        }
    }
}

/// The lines of both texts.
struct Numbered<'a> {
    old: &'a [&'a str],
    new: &'a [&'a str],
    /// Cells of the largest number.
    width: usize,
}

impl Numbered<'_> {
    fn before(&self, at: usize) -> String {
        self.line(at, self.old)
    }

    fn after(&self, at: usize) -> String {
        self.line(at, self.new)
    }

    fn line(&self, at: usize, lines: &[&str]) -> String {
        let text = lines.get(at).copied().unwrap_or_default();
        format!("{:>1$} {text}", at + 1, self.width)
    }

    fn push_below(&self, doc: &mut Doc, op: &DiffOp, theme: Theme) {
        if op.tag() == DiffTag::Equal {
            for at in op.new_range() {
                doc.push(Part::with_lead("", "│   ", &self.after(at), theme.plain()));
            }
            return;
        }
        for at in op.old_range() {
            doc.push(Part::with_lead(
                "",
                "│ - ",
                &self.before(at),
                theme.removed(),
            ));
        }
        for at in op.new_range() {
            doc.push(Part::with_lead("", "│ + ", &self.after(at), theme.added()));
        }
    }

    fn push_beside(&self, doc: &mut Doc, op: &DiffOp, theme: Theme) {
        let is_equal = op.tag() == DiffTag::Equal;
        let (mut old, mut new) = (op.old_range(), op.new_range());
        loop {
            let (left, right) = (old.next(), new.next());
            if left.is_none() && right.is_none() {
                return;
            }
            let side = |line: Option<String>, sign: &'static str, style| match line {
                Some(line) if is_equal => ("│   ", line, theme.plain()),
                Some(line) => (sign, line, style),
                None => ("│   ", String::new(), theme.plain()),
            };
            let left = side(left.map(|at| self.before(at)), "│ - ", theme.removed());
            let right = side(right.map(|at| self.after(at)), "│ + ", theme.added());
            doc.push(Part::pair(
                (left.0, &left.1, left.2),
                (right.0, &right.1, right.2),
            ));
        }
    }
}
