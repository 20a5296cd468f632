//! The cursor of a list. Changes around it move neither the row nor its position on screen.

/// What stays where it is when rows come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stays {
    /// The selected row, on its line of the screen.
    InPlace,
    /// The top of the list, while it is in view: that is where new rows come.
    OnTop,
}

/// The selected row and the part of the list that is on the screen.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    /// Which row is selected, by its name.
    name: Option<String>,
    index: usize,
    /// The first row on the screen.
    offset: usize,
    /// Whether rows came or went since the last key. Until the next one nothing moves.
    is_held: bool,
}

impl Cursor {
    /// Returns the number of the selected row.
    pub(super) const fn index(&self) -> usize {
        self.index
    }

    /// Returns the name of the selected row.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Takes over a list that has changed. A row without a name cannot be selected.
    pub(super) fn take_over(&mut self, names: &[Option<String>], stays: Stays) {
        let before = self.index;
        let found = self.name.as_ref().and_then(|name| {
            let is_it = |it: &Option<String>| it.as_ref() == Some(name);
            names.iter().position(is_it)
        });
        self.index = match found {
            Some(index) => index,
            None => nearest(names, before).unwrap_or(0),
        };
        self.name = names.get(self.index).cloned().flatten();
        let shows_top = stays == Stays::OnTop && self.offset == 0;
        if found.is_some() && self.index != before && !shows_top {
            self.offset = (self.offset + self.index).saturating_sub(before);
            self.is_held = true;
        }
    }

    /// Knows the selected row by another name from now on.
    pub(super) fn rename(&mut self, name: &str) {
        self.name = Some(name.to_owned());
    }

    /// Goes `rows` down, or up, to a row that can be selected.
    pub(super) fn go(&mut self, rows: isize, names: &[Option<String>]) {
        let last = names.len().saturating_sub(1);
        let wanted = self.index.saturating_add_signed(rows).min(last);
        let found = if rows < 0 {
            let mut before = names.iter().enumerate().take(wanted + 1);
            let found = before.rfind(|(_, name)| name.is_some());
            found
                .map(|(index, _)| index)
                .or_else(|| nearest(names, wanted))
        } else {
            nearest(names, wanted)
        };
        self.index = found.unwrap_or(0);
        self.name = names.get(self.index).cloned().flatten();
        self.is_held = false;
    }

    /// Returns which of `rows` rows are on a screen of this height.
    pub(super) fn window(&mut self, height: usize, rows: usize) -> std::ops::Range<usize> {
        if self.index < self.offset {
            self.offset = self.index;
        }
        if self.index >= self.offset + height {
            self.offset = (self.index + 1).saturating_sub(height);
        }
        if !self.is_held {
            self.offset = self.offset.min(rows.saturating_sub(height));
            // A heading right above the first row is shown with it.
            if self.index == 1 && height > 1 {
                self.offset = 0;
            }
        }
        self.offset..rows.min(self.offset + height)
    }
}

/// Returns the row with a name that is nearest to `index`, the later of two.
fn nearest(names: &[Option<String>], index: usize) -> Option<usize> {
    let can_be = |(_, name): &(usize, &Option<String>)| name.is_some();
    let later = names.iter().enumerate().skip(index).find(can_be);
    let mut before = names.iter().enumerate().take(index);
    let found = later.or_else(|| before.rfind(can_be));
    found.map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Cursor {
        /// Selects the row called `name`.
        fn select(&mut self, name: &str, names: &[Option<String>]) {
            let index = names
                .iter()
                .position(|it| it.as_deref() == Some(name))
                .unwrap();
            let rows = index.cast_signed() - self.index.cast_signed();
            self.go(rows, names);
        }
    }

    fn names(text: &str) -> Vec<Option<String>> {
        let name = |word: &str| (word != "-").then(|| word.to_owned());
        text.split(' ').map(name).collect()
    }

    #[test]
    fn what_comes_before_the_selected_row_does_not_move_it_on_the_screen() {
        let mut cursor = Cursor::default();
        let before = names("- a b c d e");
        cursor.take_over(&before, Stays::InPlace);
        cursor.select("c", &before);
        assert_eq!(cursor.window(4, before.len()), 0..4);
        let after = names("- a new b c d e");
        cursor.take_over(&after, Stays::InPlace);
        assert_eq!(cursor.name(), Some("c"));
        assert_eq!(cursor.window(4, after.len()), 1..5, "it stays on line 3");
        let gone = names("- b c d e");
        cursor.take_over(&gone, Stays::InPlace);
        assert_eq!(cursor.name(), Some("c"));
    }

    #[test]
    fn new_rows_are_seen_where_they_come() {
        let mut cursor = Cursor::default();
        cursor.take_over(&names("b c"), Stays::OnTop);
        cursor.take_over(&names("a b c"), Stays::OnTop);
        assert_eq!(cursor.name(), Some("b"));
        assert_eq!(cursor.window(2, 3), 0..2);
    }

    #[test]
    fn headings_are_stepped_over_and_the_ends_hold() {
        let list = names("- a - b");
        let mut cursor = Cursor::default();
        cursor.take_over(&list, Stays::InPlace);
        assert_eq!(cursor.name(), Some("a"), "the first that can be selected");
        let rows = [
            (1, "b"),
            (1, "b"),
            (-1, "a"),
            (-1, "a"),
            (99, "b"),
            (-99, "a"),
        ];
        for (rows, wanted) in rows {
            cursor.go(rows, &list);
            assert_eq!(cursor.name(), Some(wanted), "{rows}");
        }
    }

    #[test]
    fn the_place_of_a_row_that_is_gone_is_kept() {
        let mut cursor = Cursor::default();
        let list = names("a b c");
        cursor.take_over(&list, Stays::InPlace);
        cursor.select("b", &list);
        cursor.take_over(&names("a c"), Stays::InPlace);
        assert_eq!(cursor.name(), Some("c"));
        cursor.take_over(&names("a"), Stays::InPlace);
        assert_eq!(cursor.name(), Some("a"));
        cursor.take_over(&[], Stays::InPlace);
        assert_eq!(cursor.name(), None);
    }
}
