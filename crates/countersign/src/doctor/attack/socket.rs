//! Finds the gateway behind the agents' socket, and speaks to it as an agent without a key.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Pid;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

/// How long the gateway may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much of an answer is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

/// The process that serves the agents' socket, as the kernel knows it.
#[derive(Clone, Debug)]
pub(super) struct Gateway {
    pub(super) socket: PathBuf,
    pub(super) pid: Option<Pid>,
    pub(super) uid: u32,
}

impl Gateway {
    /// Finds who listens at the first of `sockets` that answers.
    pub(super) async fn find(sockets: Vec<PathBuf>) -> Option<Self> {
        for socket in sockets {
            let Ok(stream) = UnixStream::connect(&socket).await else {
                continue;
            };
            let peer = stream.peer_cred().ok()?;
            return Some(Self {
                socket,
                pid: peer.pid().and_then(Pid::from_raw),
                uid: peer.uid(),
            });
        }
        None
    }
}

/// Sends a denial to `path` through `socket` and returns the answer as it came.
pub(super) async fn post(socket: &Path, path: &str) -> Result<String, String> {
    let body = r#"{"choice":"deny"}"#;
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let exchange = async {
        let mut stream = UnixStream::connect(socket).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream
            .take(ANSWER_BYTES_MAX)
            .read_to_end(&mut answer)
            .await?;
        std::io::Result::Ok(answer)
    };
    match tokio::time::timeout(PATIENCE, exchange).await {
        Ok(Ok(answer)) => Ok(String::from_utf8_lossy(&answer).into_owned()),
        Ok(Err(error)) => Err(format!("{}: {}", socket.display(), error.kind())),
        Err(_) => Err(format!("{} does not respond", socket.display())),
    }
}
