//! Live output of a run: partial output; it is not replayed.
//!
//! What is durable is in the ledger; whoever comes late is told the message so far, and goes on
//! from there. Each piece says which entry of the ledger was the last when it was said, so that who
//! follows both hears both in the order in which they happened.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{broadcast, watch};

/// Pieces a slow reader may be behind before it is told the message so far instead.
const PIECES_MAX: usize = 256;

/// What a run says now.
#[derive(Debug)]
pub struct Feed {
    so_far: Mutex<SoFar>,
    pieces: broadcast::Sender<Said>,
    /// Whether answers stay unseen while they are written.
    hushed: AtomicBool,
    /// The number of the ledger's last entry.
    ledger: watch::Receiver<u64>,
}

#[derive(Debug, Default)]
struct SoFar {
    /// Which message of the run it is.
    message: u64,
    text: String,
}

/// Something a run says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The next part of the message.
    Text(String),
    /// All of the message so far, for who came late or was too slow.
    SoFar(String),
    /// A whole message by itself: the notice that stands for a draft nobody has allowed yet.
    Notice(String),
    /// The message is complete, or is begun anew: what was said so far does not count.
    End,
}

#[derive(Clone, Debug)]
struct Said {
    piece: Piece,
    /// The message it belongs to.
    message: u64,
    /// The last entry of the ledger when it was said.
    behind: u64,
}

/// A reader of a feed.
#[derive(Debug)]
pub struct Reader {
    feed: Weak<Feed>,
    pieces: broadcast::Receiver<Said>,
    /// Unread messages.
    next: Option<Said>,
    /// Which message was heard last, and how much of it, in bytes.
    heard: (u64, usize),
}

/// The run is not driven here any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over;

impl Feed {
    /// Returns a feed beside a ledger whose last entry has the number in `ledger`.
    pub(crate) fn new(ledger: watch::Receiver<u64>) -> Self {
        Self {
            so_far: Mutex::default(),
            pieces: broadcast::Sender::new(PIECES_MAX),
            hushed: AtomicBool::new(false),
            ledger,
        }
    }

    /// Says a part of an answer while the model writes it, unless the feed was hushed.
    pub(crate) fn stream(&self, text: &str) {
        if !self.hushed.load(Ordering::SeqCst) {
            self.say(text);
        }
    }

    /// Shows nothing more of answers while they are written: from now on each is a draft that
    /// somebody else looks at first.
    pub(crate) fn hush(&self) {
        self.hushed.store(true, Ordering::SeqCst);
    }

    /// Says something.
    pub(crate) fn say(&self, text: &str) {
        let mut so_far = self.lock();
        so_far.text.push_str(text);
        self.send(Piece::Text(text.to_owned()), so_far.message);
    }

    /// Says a notice, which is a message by itself.
    pub(crate) fn notice(&self, text: &str) {
        self.end();
        let mut so_far = self.lock();
        self.send(Piece::Notice(text.to_owned()), so_far.message);
        self.send(Piece::End, so_far.message);
        so_far.message += 1;
    }

    /// Ends the message.
    pub(crate) fn end(&self) {
        let mut so_far = self.lock();
        // Nothing was said, so nothing ends.
        if so_far.text.is_empty() {
            return;
        }
        so_far.text.clear();
        self.send(Piece::End, so_far.message);
        so_far.message += 1;
    }

    /// Returns whoever hears the message so far and what follows it: nothing twice, and nothing
    /// is missed.
    pub fn listen(self: &Arc<Self>) -> Reader {
        let so_far = self.lock();
        let next = (!so_far.text.is_empty()).then(|| Said {
            piece: Piece::SoFar(so_far.text.clone()),
            message: so_far.message,
            behind: *self.ledger.borrow(),
        });
        Reader {
            feed: Arc::downgrade(self),
            pieces: self.pieces.subscribe(),
            next,
            heard: (so_far.message, 0),
        }
    }

    fn send(&self, piece: Piece, message: u64) {
        let behind = *self.ledger.borrow();
        // Nobody may be listening.
        let _heard = self.pieces.send(Said {
            piece,
            message,
            behind,
        });
    }

    fn lock(&self) -> MutexGuard<'_, SoFar> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader {
    /// Returns the next piece if it was said before the entry `number` was in the ledger.
    pub fn before(&mut self, number: u64) -> Option<Piece> {
        if self.next.is_none() {
            self.next = match self.pieces.try_recv() {
                Ok(said) => Some(said),
                Err(broadcast::error::TryRecvError::Lagged(_)) => self.caught_up(),
                Err(
                    broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed,
                ) => None,
            };
        }
        let said = self.next.take_if(|said| said.behind < number)?;
        let bytes = match &said.piece {
            Piece::Text(text) if said.message == self.heard.0 => self.heard.1 + text.len(),
            Piece::Text(text) | Piece::SoFar(text) | Piece::Notice(text) => text.len(),
            Piece::End => self.heard.1,
        };
        self.heard = (said.message, bytes);
        Some(said.piece)
    }

    /// Waits until something is said. It may be dropped at any time without losing anything.
    pub async fn said(&mut self) -> Result<(), Over> {
        while self.next.is_none() {
            self.next = match self.pieces.recv().await {
                Ok(said) => Some(said),
                Err(broadcast::error::RecvError::Closed) => return Err(Over),
                Err(broadcast::error::RecvError::Lagged(_)) => self.caught_up(),
            };
        }
        Ok(())
    }

    /// Returns what a reader that missed pieces needs to hear instead of them.
    fn caught_up(&mut self) -> Option<Said> {
        let feed = self.feed.upgrade()?;
        let so_far = feed.lock();
        self.pieces = feed.pieces.subscribe();
        let (message, bytes) = self.heard;
        let piece = if message == so_far.message {
            Piece::Text(so_far.text.get(bytes..)?.to_owned())
        } else if so_far.text.is_empty() {
            Piece::End
        } else {
            Piece::SoFar(so_far.text.clone())
        };
        Some(Said {
            piece,
            message: so_far.message,
            behind: *feed.ledger.borrow(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed() -> (Arc<Feed>, watch::Sender<u64>) {
        let ledger = watch::Sender::new(0);
        (Arc::new(Feed::new(ledger.subscribe())), ledger)
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    #[tokio::test]
    async fn who_comes_late_hears_everything_once() {
        let (feed, _ledger) = feed();
        feed.say("one ");
        let mut reader = feed.listen();
        feed.say("two");
        feed.end();
        let so_far = Piece::SoFar("one ".to_owned());
        assert_eq!(reader.before(1), Some(so_far));
        assert_eq!(reader.before(1), Some(text("two")));
        assert_eq!(reader.before(1), Some(Piece::End));
        assert_eq!(reader.before(1), None);
        drop(feed);
        assert_eq!(reader.said().await, Err(Over));
    }

    #[tokio::test]
    async fn what_was_said_after_an_entry_is_not_heard_before_it() {
        let (feed, ledger) = feed();
        let mut reader = feed.listen();
        feed.say("before");
        ledger.send_replace(7);
        feed.say("after");
        assert_eq!(reader.said().await, Ok(()));
        assert_eq!(reader.before(7), Some(text("before")));
        assert_eq!(reader.before(7), None, "entry 7 comes first");
        assert_eq!(reader.before(8), Some(text("after")));
    }

    #[tokio::test]
    async fn a_reader_that_was_too_slow_goes_on_where_it_was() {
        let (feed, _ledger) = feed();
        let mut reader = feed.listen();
        feed.say("first ");
        assert_eq!(reader.before(1), Some(text("first ")));
        let mut rest = String::new();
        for number in 0..2 * PIECES_MAX {
            let piece = format!("{number} ");
            feed.say(&piece);
            rest.push_str(&piece);
        }
        assert_eq!(reader.before(1), Some(text(&rest)));
        feed.say("last");
        assert_eq!(reader.before(1), Some(text("last")));
        feed.end();
        for _ in 0..2 * PIECES_MAX {
            feed.say("x");
        }
        let other = "x".repeat(2 * PIECES_MAX);
        assert_eq!(reader.before(1), Some(Piece::SoFar(other)));
    }
}
