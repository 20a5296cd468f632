//! A progress bar on standard error, for work that takes seconds.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Time between two strokes of the progress bar.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// Cells of the progress bar.
const PROGRESS_CELLS: u64 = 30;

/// A bar on standard error while a person watches.
pub(super) struct Progress {
    total: u64,
    done: u64,
    drawn: Option<Instant>,
    watched: bool,
}

impl Progress {
    pub(super) fn new(total: u64) -> Self {
        let watched = std::io::stderr().is_terminal();
        Self {
            total: total.max(1),
            done: 0,
            drawn: None,
            watched,
        }
    }

    pub(super) fn advance(&mut self, bytes: u64) {
        self.done += bytes;
        if !self.watched || self.drawn.is_some_and(|at| at.elapsed() < PROGRESS_EVERY) {
            return;
        }
        self.drawn = Some(Instant::now());
        let cells = (self.done * PROGRESS_CELLS / self.total).min(PROGRESS_CELLS);
        let bar: String = (0..PROGRESS_CELLS)
            .map(|cell| if cell < cells { '█' } else { '░' })
            .collect();
        let percent = (self.done * 100 / self.total).min(100);
        let _told = write!(std::io::stderr(), "\r{bar} {percent:>3} %");
    }

    pub(super) fn clear(&self) {
        if self.drawn.is_some() {
            let _told = write!(std::io::stderr(), "\r{}\r", " ".repeat(40));
        }
    }
}
