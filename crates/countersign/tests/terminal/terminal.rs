//! A terminal for one test: a program on a real pseudo-terminal, keys, and what stands on the screen.
//!
//! Whoever waits waits for what is on the screen. It is looked at frame by frame, so nothing is ever
//! seen half drawn, and no time is slept away.

use std::io::{Read as _, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::ours;
use crate::support::PATIENCE;

/// What ends a frame: the terminal shows what was drawn since its beginning in one piece.
const FRAME_END: &[u8] = b"\x1b[?2026l";

/// What a program asked of its terminal besides drawing.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    pub(crate) title: String,
    pub(crate) bells: usize,
}

impl vt100::Callbacks for Noted {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.bells += 1;
    }

    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.title = String::from_utf8_lossy(title).into_owned();
    }
}

/// Whether a program draws frames or writes lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draws {
    Frames,
    Lines,
}

/// A program on a terminal.
pub(crate) struct Terminal {
    draws: Draws,
    seen: vt100::Parser<Noted>,
    output: Receiver<Vec<u8>>,
    /// What has come of a frame that is not finished.
    begun: Vec<u8>,
    input: Box<dyn Write + Send>,
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
}

/// How a program is started.
pub(crate) struct Start<'a> {
    pub(crate) program: &'a Path,
    pub(crate) home: &'a Path,
    pub(crate) args: &'a [&'a str],
    pub(crate) variables: &'a [(&'a str, &'a str)],
    pub(crate) columns: u16,
    pub(crate) rows: u16,
    pub(crate) draws: Draws,
}

impl Terminal {
    pub(crate) fn start(start: &Start<'_>) -> Self {
        let size = size(start.columns, start.rows);
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(start.program);
        command.args(start.args);
        command.env_clear();
        command.env("TERM", "xterm-256color");
        for (name, value) in ours::variables(start.home) {
            command.env(name, value);
        }
        for (name, value) in start.variables {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (tell, output) = channel();
        std::thread::spawn(move || {
            let mut piece = vec![0; 64 * 1024];
            // At the end of the program reading fails or gives nothing.
            while let Ok(length @ 1..) = reader.read(&mut piece) {
                if tell.send(piece[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        let (rows, columns) = (count(start.rows), count(start.columns));
        Self {
            draws: start.draws,
            seen: vt100::Parser::new_with_callbacks(rows, columns, 0, Noted::default()),
            output,
            begun: Vec::new(),
            input: pair.master.take_writer().unwrap(),
            master: pair.master,
            child,
        }
    }

    /// Presses keys, as the bytes a terminal sends for them.
    pub(crate) fn press(&mut self, keys: &str) {
        self.input.write_all(keys.as_bytes()).unwrap();
        self.input.flush().unwrap();
    }

    /// Gives the window another size.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.seen.set_size(count(rows), count(columns));
        self.master.resize(size(columns, rows)).unwrap();
    }

    /// Waits until the screen looks as wanted.
    pub(crate) fn wait_for(&mut self, what: &str, is_there: impl Fn(&Seen<'_>) -> bool) {
        let since = Instant::now();
        loop {
            self.take_all();
            if is_there(&Seen(self.seen.screen())) {
                return;
            }
            let left = PATIENCE.saturating_sub(since.elapsed());
            match self.output.recv_timeout(left) {
                Ok(piece) => self.take(&piece),
                Err(error) => panic!("{what}: it never came ({error})\n{}", self.screen()),
            }
        }
    }

    /// Waits until `text` stands on the screen.
    pub(crate) fn shows(&mut self, text: &str) {
        self.wait_for(text, |seen| seen.text().contains(text));
    }

    /// Waits until `text` stands below the last `above` on the screen.
    pub(crate) fn shows_below(&mut self, above: &str, text: &str) {
        self.wait_for(text, |seen| {
            let shown = seen.text();
            let below = shown.rsplit_once(above).map(|(_, below)| below);
            below.is_some_and(|below| below.contains(text))
        });
    }

    /// Waits until `text` stands nowhere on the screen.
    pub(crate) fn shows_no(&mut self, text: &str) {
        self.wait_for(text, |seen| !seen.text().contains(text));
    }

    /// Waits until the choice `label` is there and can be made.
    pub(crate) fn armed(&mut self, label: &str) {
        self.wait_for(label, |seen| seen.is_armed(label));
    }

    /// Allows the critical call whose card has the keys: its number, then Enter.
    pub(crate) fn allows_critical(&mut self) {
        self.armed("1. Allow once");
        self.press("1");
        self.shows("This call is critical.");
        self.armed("1. Allow once");
        self.press("\r");
    }

    /// Returns what stands on the screen now.
    pub(crate) fn screen(&mut self) -> String {
        self.take_all();
        Seen(self.seen.screen()).text()
    }

    /// Returns the screen itself.
    pub(crate) fn seen(&self) -> Seen<'_> {
        Seen(self.seen.screen())
    }

    /// Returns what the program asked of the terminal.
    pub(crate) fn noted(&self) -> &Noted {
        self.seen.callbacks()
    }

    /// Waits for the end of the program and returns its exit code.
    pub(crate) fn ends(&mut self) -> u32 {
        let since = Instant::now();
        while let Ok(piece) = self.output.recv_timeout(PATIENCE) {
            self.take(&piece);
            assert!(since.elapsed() < PATIENCE, "it does not end");
        }
        let rest = std::mem::take(&mut self.begun);
        self.seen.process(&rest);
        self.child.wait().unwrap().exit_code()
    }

    /// Returns the process.
    pub(crate) fn process(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    fn take_all(&mut self) {
        while let Ok(piece) = self.output.try_recv() {
            self.take(&piece);
        }
    }

    fn take(&mut self, piece: &[u8]) {
        self.begun.extend_from_slice(piece);
        let end = match self.draws {
            Draws::Lines => Some(self.begun.len()),
            Draws::Frames => {
                let mut frames = self.begun.windows(FRAME_END.len());
                let last = frames.rposition(|it| it == FRAME_END);
                last.map(|at| at + FRAME_END.len())
            }
        };
        if let Some(end) = end {
            let rest = self.begun.split_off(end);
            let done = std::mem::replace(&mut self.begun, rest);
            self.seen.process(&done);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already.
        let _gone = self.child.kill();
        let _waited = self.child.wait();
    }
}

/// A screen, as a person sees it.
pub(crate) struct Seen<'a>(&'a vt100::Screen);

impl Seen<'_> {
    /// Returns its rows.
    pub(crate) fn rows(&self) -> Vec<String> {
        let (_, columns) = self.0.size();
        let rows = self.0.rows(0, columns.get());
        rows.map(|row| row.trim_end().to_owned()).collect()
    }

    /// Returns its text.
    pub(crate) fn text(&self) -> String {
        self.rows().join("\n")
    }

    /// Returns the row with `text` in it.
    pub(crate) fn row_with(&self, text: &str) -> Option<String> {
        self.rows().into_iter().find(|row| row.contains(text))
    }

    /// Whether the choice `label` is drawn as one that can be made: not dim.
    pub(crate) fn is_armed(&self, label: &str) -> bool {
        self.cell_of(label).is_some_and(|cell| !cell.dim())
    }

    /// Whether anything is drawn in a colour.
    pub(crate) fn has_colour(&self) -> bool {
        let plain = vt100::Color::Default;
        self.cells()
            .any(|cell| cell.fgcolor() != plain || cell.bgcolor() != plain)
    }

    /// Whether the program has the whole screen.
    pub(crate) fn is_full_screen(&self) -> bool {
        self.0.alternate_screen()
    }

    fn cells(&self) -> impl Iterator<Item = &vt100::Cell> {
        let (rows, columns) = self.0.size();
        let places =
            (0..rows.get()).flat_map(move |row| (0..columns.get()).map(move |at| (row, at)));
        places.filter_map(|(row, column)| self.0.cell(row, column))
    }

    /// Returns the first cell of `text`.
    fn cell_of(&self, text: &str) -> Option<&vt100::Cell> {
        let (rows, columns) = self.0.size();
        (0..rows.get()).find_map(|row| {
            let cells = (0..columns.get()).map(|column| self.0.cell(row, column));
            let cells: Vec<&vt100::Cell> = cells.collect::<Option<_>>()?;
            let letters: Vec<&str> = cells.iter().map(|cell| cell.contents()).collect();
            let wanted: Vec<String> = text.chars().map(String::from).collect();
            let is_here = |window: &[&str]| {
                let mut pairs = window.iter().zip(&wanted);
                pairs.all(|(one, other)| one == other || (one.is_empty() && other == " "))
            };
            let at = letters.windows(wanted.len()).position(is_here)?;
            cells.get(at).copied()
        })
    }
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize {
        rows,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    }
}

fn count(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}
