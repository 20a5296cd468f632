//! What a run says while it says it: pieces that are gone once they were said.
//!
//! What is durable is in the ledger; whoever comes late is told the message so far, and goes on
//! from there.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast;

/// Pieces a slow reader may be behind before it is told the message so far instead.
const PIECES_MAX: usize = 256;

/// What a run says now.
#[derive(Debug)]
pub struct Feed {
    so_far: Mutex<String>,
    pieces: broadcast::Sender<Piece>,
}

/// Something a run says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The next part of the message.
    Text(String),
    /// The message is complete, or is begun anew: what was said so far does not count.
    End,
}

/// A reader of a feed.
#[derive(Debug)]
pub struct Reader {
    pieces: broadcast::Receiver<Piece>,
}

impl Default for Feed {
    fn default() -> Self {
        Self {
            so_far: Mutex::default(),
            pieces: broadcast::Sender::new(PIECES_MAX),
        }
    }
}

impl Feed {
    /// Says something.
    pub(crate) fn say(&self, text: &str) {
        let mut so_far = self.lock();
        so_far.push_str(text);
        // Nobody may be listening.
        let _heard = self.pieces.send(Piece::Text(text.to_owned()));
    }

    /// Ends the message.
    pub(crate) fn end(&self) {
        let mut so_far = self.lock();
        so_far.clear();
        let _heard = self.pieces.send(Piece::End);
    }

    /// Returns the message so far, and whoever hears what follows it: no piece is in both, and none
    /// is missed.
    pub fn listen(&self) -> (String, Reader) {
        let so_far = self.lock();
        let pieces = self.pieces.subscribe();
        (so_far.clone(), Reader { pieces })
    }

    fn lock(&self) -> MutexGuard<'_, String> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader {
    /// Returns the next piece; `None` if the run is over. `Err` if so much was missed that the
    /// message so far must be asked for again.
    pub async fn next(&mut self) -> Result<Option<Piece>, Missed> {
        match self.pieces.recv().await {
            Ok(piece) => Ok(Some(piece)),
            Err(broadcast::error::RecvError::Closed) => Ok(None),
            Err(broadcast::error::RecvError::Lagged(_)) => Err(Missed),
        }
    }
}

/// A reader was too slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missed;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_comes_late_hears_everything_once() {
        let feed = Feed::default();
        feed.say("one ");
        let (so_far, mut reader) = feed.listen();
        feed.say("two");
        feed.end();
        assert_eq!(so_far, "one ");
        assert_eq!(reader.next().await, Ok(Some(Piece::Text("two".to_owned()))));
        assert_eq!(reader.next().await, Ok(Some(Piece::End)));
        drop(feed);
        assert_eq!(reader.next().await, Ok(None));
    }
}
