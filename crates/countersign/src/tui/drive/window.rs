//! Terminal setup and restore, whatever ends the program.

use std::io::{BufWriter, Stdout, Write as _, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use countersign_core::display::inline;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::style::Print;
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    SetTitle, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute, queue};
use ratatui::layout::{Position, Rect};
use ratatui::{Frame, Terminal};

/// Remembers the window's name, and gives it back; who does not know it ignores it.
const KEEP_TITLE: &str = "\u{1b}[22;0t";
const RESTORE_TITLE: &str = "\u{1b}[23;0t";
/// Room for one frame, in bytes: it leaves in one piece.
const FRAME_BYTES: usize = 64 * 1024;

/// Whether the terminal is ours.
static IS_OPEN: AtomicBool = AtomicBool::new(false);
static GIVES_BACK_ON_PANIC: Once = Once::new();

/// The terminal, taken over. It is given back when this is dropped.
#[derive(Debug)]
pub(super) struct Window {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
}

impl Window {
    /// Takes the terminal over.
    pub(super) fn open() -> std::io::Result<Self> {
        GIVES_BACK_ON_PANIC.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                before(panic);
            }));
        });
        IS_OPEN.store(true, Ordering::SeqCst);
        let opened = take().and_then(|()| {
            let out = BufWriter::with_capacity(FRAME_BYTES, stdout());
            Terminal::new(CrosstermBackend::new(out))
        });
        match opened {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// Takes the terminal over again, after the program was stopped and somebody else had it.
    pub(super) fn reopen(&mut self) -> std::io::Result<()> {
        disable_raw_mode()?;
        take()?;
        // Clearing would ask the terminal where its cursor is, and the answer would be read as keys.
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// Draws one frame. A terminal that can shows it in one piece.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> std::io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.draw(draw)?;
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)
    }

    /// Names the window.
    pub(super) fn title(&mut self, title: &str) -> std::io::Result<()> {
        execute!(self.terminal.backend_mut(), SetTitle(inline(title)))
    }

    /// Rings once.
    pub(super) fn bell(&mut self) -> std::io::Result<()> {
        execute!(self.terminal.backend_mut(), Print('\u{7}'))
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        give_back();
    }
}

fn take() -> std::io::Result<()> {
    enable_raw_mode()?;
    execute!(
        stdout(),
        Print(KEEP_TITLE),
        EnterAlternateScreen,
        EnableBracketedPaste,
        cursor::Hide
    )
}

/// Gives the terminal back, once. There is nothing to be done about a terminal that is gone.
fn give_back() {
    if !IS_OPEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let _given_back = execute!(
        stdout(),
        EndSynchronizedUpdate,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show,
        Print(RESTORE_TITLE)
    );
    let _cooked = disable_raw_mode();
    let _flushed = stdout().flush();
}
