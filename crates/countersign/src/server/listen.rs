//! Connections: over the network, and through the agents' socket. Bounded in number, in headers
//! and in time, and ended in an orderly way.

use std::future::ready;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tower::ServiceExt as _;

/// Connections at once: all questions that may wait, and their readers. Each costs a few kilobytes.
const CONNECTIONS_MAX: usize = 16_384;
/// Headers of one request.
const HEADERS_MAX: usize = 64;
/// Bytes of headers, and of a connection's buffer.
const BUFFER_BYTES_MAX: usize = 32 * 1024;
/// How long headers may take to arrive, and how long an idle connection is kept.
const HEADERS_TIME_MAX: Duration = Duration::from_secs(75);
/// How long a client may take to agree on how to encrypt.
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
/// How long requests in progress may take to end when the gateway stops.
const STOP_TIME_MAX: Duration = Duration::from_secs(5);

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A network address.
    Network(SocketAddr),
    /// A user of this machine.
    Socket {
        /// As the kernel says.
        uid: u32,
    },
}

/// Serves `router` to the network until the gateway stops, encrypted if there is something to prove
/// ourselves with.
pub(crate) async fn network(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    mut stopping: watch::Receiver<bool>,
) {
    let connections = Connections::new(router);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.wait_for(|it| *it) => break,
        };
        match accepted {
            Ok((stream, address)) => {
                // Answers are small and awaited; waiting to fill a packet helps nobody.
                let _told = stream.set_nodelay(true);
                let peer = Peer::Network(address);
                match tls.clone() {
                    None => connections.serve(ready(Ok(stream)), peer).await,
                    Some(tls) => connections.serve(encrypted(tls, stream), peer).await,
                }
            }
            Err(error) => pause(&error).await,
        }
    }
    connections.end().await;
}

/// Serves `router` to the agents of this machine until the gateway stops.
pub(crate) async fn socket(
    listener: UnixListener,
    router: Router,
    mut stopping: watch::Receiver<bool>,
) {
    let connections = Connections::new(router);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.wait_for(|it| *it) => break,
        };
        match accepted.and_then(|(stream, _)| Ok((stream.peer_cred()?.uid(), stream))) {
            Ok((uid, stream)) => {
                let peer = Peer::Socket { uid };
                connections.serve(ready(Ok(stream)), peer).await;
            }
            Err(error) => pause(&error).await,
        }
    }
    connections.end().await;
}

async fn encrypted(tls: TlsAcceptor, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
    tokio::time::timeout(HANDSHAKE_TIME_MAX, tls.accept(stream)).await?
}

/// Too many open files and the like pass; asking again at once would only heat the machine.
async fn pause(error: &std::io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    tokio::time::sleep(Duration::from_millis(50)).await;
}

struct Connections {
    router: Router,
    places: Arc<Semaphore>,
    graceful: GracefulShutdown,
}

impl Connections {
    fn new(router: Router) -> Self {
        Self {
            router,
            places: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            graceful: GracefulShutdown::new(),
        }
    }

    /// Serves a connection once `opened` has opened it, beside all the others.
    async fn serve<T>(
        &self,
        opened: impl Future<Output = std::io::Result<T>> + Send + 'static,
        peer: Peer,
    ) where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        // When all places are taken, new connections wait in the kernel's queue.
        let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
            return;
        };
        let service = self.router.clone().map_request(
            move |mut request: hyper::Request<hyper::body::Incoming>| {
                request.extensions_mut().insert(peer);
                request.map(axum::body::Body::new)
            },
        );
        let watcher = self.graceful.watcher();
        tokio::spawn(async move {
            let stream = match opened.await {
                Ok(stream) => stream,
                Err(error) => {
                    tracing::debug!(%error, "a connection was not opened");
                    return;
                }
            };
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADERS_TIME_MAX)
                .max_headers(HEADERS_MAX)
                .max_buf_size(BUFFER_BYTES_MAX)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
            if let Err(error) = watcher.watch(connection).await {
                tracing::trace!(%error, "a connection ended early");
            }
            drop(place);
        });
    }

    async fn end(self) {
        let ended = tokio::time::timeout(STOP_TIME_MAX, self.graceful.shutdown()).await;
        if ended.is_err() {
            tracing::warn!("some requests were still in progress");
        }
    }
}
