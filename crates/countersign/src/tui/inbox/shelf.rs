//! A filterable list whose rows keep their place while it changes.

use super::cursor::{Cursor, Stays};

/// What can stand in such a list.
pub(super) trait Entry {
    /// By what it is known.
    fn id(&self) -> &str;

    /// What a filter looks at.
    fn words(&self) -> Vec<&str>;
}

/// A list.
#[derive(Clone, Debug)]
pub(super) struct Shelf<T> {
    all: Vec<T>,
    filter: Vec<String>,
    /// Which of all are shown, and their names.
    shown: Vec<usize>,
    names: Vec<Option<String>>,
    is_stale: bool,
    pub(super) cursor: Cursor,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            filter: Vec::new(),
            shown: Vec::new(),
            names: Vec::new(),
            is_stale: false,
            cursor: Cursor::default(),
        }
    }
}

impl<T: Entry> Shelf<T> {
    /// Returns everything, shown or not.
    pub(super) fn all(&self) -> &[T] {
        &self.all
    }

    /// Changes everything.
    pub(super) fn change(&mut self) -> &mut Vec<T> {
        self.is_stale = true;
        &mut self.all
    }

    /// Shows only what has all of these words.
    pub(super) fn filter(&mut self, text: &str) {
        self.filter = text.split_whitespace().map(str::to_lowercase).collect();
        self.is_stale = true;
    }

    /// Returns how many are shown.
    pub(super) fn count(&mut self) -> usize {
        self.refresh();
        self.shown.len()
    }

    /// Returns the one in row `number`.
    pub(super) fn row(&mut self, number: usize) -> Option<&T> {
        self.refresh();
        self.shown.get(number).and_then(|at| self.all.get(*at))
    }

    /// Returns the selected one.
    pub(super) fn selected(&mut self) -> Option<&T> {
        self.refresh();
        self.row(self.cursor.index())
    }

    /// Goes up or down.
    pub(super) fn go(&mut self, rows: isize) {
        self.refresh();
        self.cursor.go(rows, &self.names);
    }

    fn refresh(&mut self) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let is_shown = |entry: &T| {
            let words = entry.words();
            let has = |word: &String| words.iter().any(|it| it.to_lowercase().contains(word));
            self.filter.iter().all(has)
        };
        let shown = self.all.iter().enumerate().filter(|(_, it)| is_shown(it));
        self.shown = shown.map(|(at, _)| at).collect();
        let name = |at: &usize| self.all.get(*at).map(|it| it.id().to_owned());
        self.names = self.shown.iter().map(name).collect();
        self.cursor.take_over(&self.names, Stays::OnTop);
    }
}
