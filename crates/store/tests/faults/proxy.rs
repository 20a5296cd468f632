//! Stands between the store and PostgreSQL and loses the connection at the worst moment.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

/// A commit on the wire: a simple query, its length and its text.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

/// What is lost of the next commit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lose {
    Nothing,
    /// The server never hears of it.
    Request,
    /// The server commits, and nobody hears of it.
    Answer,
}

pub(crate) struct Proxy {
    directory: tempfile::TempDir,
    lose: Arc<AtomicU8>,
}

impl Proxy {
    /// Stands before the server whose socket is in this folder.
    pub(crate) fn new(server: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join(".s.PGSQL.5432")).unwrap();
        let server = PathBuf::from(server).join(".s.PGSQL.5432");
        let lose = Arc::new(AtomicU8::new(Lose::Nothing as u8));
        let losing = Arc::clone(&lose);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if let Ok(server) = UnixStream::connect(&server).await {
                    tokio::spawn(relay(client, server, Arc::clone(&losing)));
                }
            }
        });
        Self { directory, lose }
    }

    pub(crate) fn directory(&self) -> String {
        self.directory.path().display().to_string()
    }

    pub(crate) fn lose_next(&self, what: Lose) {
        self.lose.store(what as u8, Ordering::SeqCst);
    }

    pub(crate) fn has_lost(&self) -> bool {
        self.lose.load(Ordering::SeqCst) == Lose::Nothing as u8
    }
}

/// Passes bytes both ways until one side ends, or a commit is to be lost.
async fn relay(mut client: UnixStream, mut server: UnixStream, lose: Arc<AtomicU8>) {
    let (mut upwards, mut downwards) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = client.read(&mut upwards) => {
                let Some(bytes) = read.ok().and_then(|count| upwards.get(..count)) else { return };
                if bytes.is_empty() {
                    return;
                }
                let loses = if bytes == COMMIT {
                    lose.swap(Lose::Nothing as u8, Ordering::SeqCst)
                } else {
                    Lose::Nothing as u8
                };
                if loses == Lose::Request as u8 || server.write_all(bytes).await.is_err() {
                    return;
                }
                if loses == Lose::Answer as u8 {
                    // The answer is read, so it was committed, and not passed on.
                    drop(server.read(&mut downwards).await);
                    return;
                }
            }
            read = server.read(&mut downwards) => {
                let Some(bytes) = read.ok().and_then(|count| downwards.get(..count)) else { return };
                if bytes.is_empty() || client.write_all(bytes).await.is_err() {
                    return;
                }
            }
        }
    }
}
