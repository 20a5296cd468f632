//! Accepts connections from the network and the agent socket, with limits on number, headers and
//! time, and a graceful shutdown.

use std::collections::HashMap;
use std::future::ready;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
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

use super::limits::one_address;

/// Connections at once: all questions that may wait, and their readers. Each costs a few kilobytes.
const CONNECTIONS_MAX: usize = 16_384;
/// Headers of one request.
const HEADERS_MAX: usize = 64;
/// Bytes of headers, and of a connection's buffer.
const BUFFER_BYTES_MAX: usize = 32 * 1024;
/// How long a client may keep a place without sending anything whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// For all headers of a request to arrive, counted from when the connection was opened or the
    /// request before it was answered; so an idle connection is kept this long, too. Whoever waits
    /// for an answer, or follows events, has sent its headers.
    headers: Duration,
    /// For agreeing on how to encrypt.
    handshake: Duration,
}

impl Patience {
    /// What a gateway has.
    pub(crate) const USUAL: Self = Self {
        headers: Duration::from_secs(15),
        handshake: Duration::from_secs(10),
    };
}

/// Connections at once from one address of the network, so that no machine can take all places.
/// Who is on this machine shares an address with everybody else there.
const PEER_CONNECTIONS_MAX: usize = CONNECTIONS_MAX / 8;
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
    patience: Patience,
    mut stopping: watch::Receiver<bool>,
) {
    let connections = Connections::new(router, patience);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.wait_for(|it| *it) => break,
        };
        match accepted {
            Ok((stream, address)) => {
                let Some(seat) = connections.seat(address.ip()) else {
                    tracing::debug!(%address, "too many connections from one address");
                    continue;
                };
                // Answers are small and awaited; waiting to fill a packet helps nobody.
                let _told = stream.set_nodelay(true);
                let peer = Peer::Network(address);
                match tls.clone() {
                    None => connections.serve(ready(Ok(stream)), peer, seat).await,
                    Some(tls) => {
                        let opened = encrypted(tls, stream, patience.handshake);
                        connections.serve(opened, peer, seat).await;
                    }
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
    patience: Patience,
    mut stopping: watch::Receiver<bool>,
) {
    let connections = Connections::new(router, patience);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.wait_for(|it| *it) => break,
        };
        match accepted.and_then(|(stream, _)| Ok((stream.peer_cred()?.uid(), stream))) {
            Ok((uid, stream)) => {
                let peer = Peer::Socket { uid };
                connections
                    .serve(ready(Ok(stream)), peer, Seat::free())
                    .await;
            }
            Err(error) => pause(&error).await,
        }
    }
    connections.end().await;
}

async fn encrypted(
    tls: TlsAcceptor,
    stream: TcpStream,
    patience: Duration,
) -> std::io::Result<TlsStream<TcpStream>> {
    tokio::time::timeout(patience, tls.accept(stream)).await?
}

/// Too many open files and the like pass; asking again at once would only heat the machine.
async fn pause(error: &std::io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    tokio::time::sleep(Duration::from_millis(50)).await;
}

struct Connections {
    router: Router,
    patience: Patience,
    peers: Arc<Peers>,
    places: Arc<Semaphore>,
    graceful: GracefulShutdown,
}

impl Connections {
    fn new(router: Router, patience: Patience) -> Self {
        Self {
            router,
            patience,
            peers: Arc::default(),
            places: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            graceful: GracefulShutdown::new(),
        }
    }

    /// Returns a seat for a connection from `address`, if it has not too many.
    fn seat(&self, address: IpAddr) -> Option<Seat> {
        if address.to_canonical().is_loopback() {
            return Some(Seat::free());
        }
        let address = one_address(address);
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = peers.entry(address).or_default();
        if *taken >= PEER_CONNECTIONS_MAX {
            return None;
        }
        *taken += 1;
        drop(peers);
        Some(Seat(Some((Arc::clone(&self.peers), address))))
    }

    /// Serves a connection once `opened` has opened it, beside all the others.
    async fn serve<T>(
        &self,
        opened: impl Future<Output = std::io::Result<T>> + Send + 'static,
        peer: Peer,
        seat: Seat,
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
        let patience = self.patience;
        tokio::spawn(async move {
            let _held = (place, seat);
            let stream = match opened.await {
                Ok(stream) => stream,
                Err(error) => {
                    tracing::debug!(%error, "a connection was not opened");
                    return;
                }
            };
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(patience.headers)
                .max_headers(HEADERS_MAX)
                .max_buf_size(BUFFER_BYTES_MAX)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
            if let Err(error) = watcher.watch(connection).await {
                tracing::trace!(%error, "a connection ended early");
            }
        });
    }

    async fn end(self) {
        let ended = tokio::time::timeout(STOP_TIME_MAX, self.graceful.shutdown()).await;
        if ended.is_err() {
            tracing::warn!("some requests were still in progress");
        }
    }
}

/// How many connections each address of the network has.
type Peers = Mutex<HashMap<IpAddr, usize>>;

/// One connection among those of its address; free again when it is dropped.
struct Seat(Option<(Arc<Peers>, IpAddr)>);

impl Seat {
    /// Returns a seat that is not counted.
    const fn free() -> Self {
        Self(None)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some((peers, address)) = &self.0 else {
            return;
        };
        let mut peers = peers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = peers.get_mut(address) {
            *taken = taken.saturating_sub(1);
            if *taken == 0 {
                peers.remove(address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const SHORT: Patience = Patience {
        headers: Duration::from_millis(100),
        handshake: Duration::from_millis(100),
    };
    /// How long anything may take before a test fails; generous, because machines are busy.
    const LONG: Duration = Duration::from_mins(1);

    /// Serves a route that answers late, and returns where, with what keeps it running.
    async fn served() -> (SocketAddr, watch::Sender<bool>) {
        let late = || async {
            tokio::time::sleep(SHORT.headers * 5).await;
            "late"
        };
        let router = Router::new()
            .route("/late", get(late))
            .route("/echo", post(|body: String| async { body }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopping) = watch::channel(false);
        tokio::spawn(network(listener, None, router, SHORT, stopping));
        (address, stop)
    }

    /// Returns what the server says before it closes the connection, having been sent `text`.
    async fn until_closed(address: SocketAddr, text: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut said = String::new();
        // A connection that is reset is closed, too.
        let _ended = tokio::time::timeout(LONG, stream.read_to_string(&mut said))
            .await
            .unwrap_or_else(|_| panic!("still open after {text:?}"));
        said
    }

    #[tokio::test]
    async fn who_sends_nothing_whole_loses_the_connection() {
        let (address, _stop) = served().await;
        for text in [
            "",
            "GE",
            "GET /late HTTP/1.1\r\n",
            "GET /late HTTP/1.1\r\nhost: x\r\n",
        ] {
            let said = until_closed(address, text).await;
            assert!(!said.contains("200 OK"), "{text:?}: {said}");
        }
    }

    #[tokio::test]
    async fn who_waits_for_an_answer_keeps_it_and_then_loses_an_idle_one() {
        let (address, _stop) = served().await;
        let said = until_closed(address, "GET /late HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(said.contains("200 OK") && said.ends_with("late"), "{said}");
    }

    #[tokio::test]
    async fn one_address_of_the_network_cannot_take_all_places() {
        let connections = Connections::new(Router::new(), SHORT);
        let far: IpAddr = "192.0.2.7".parse().unwrap();
        let same: IpAddr = "::ffff:192.0.2.7".parse().unwrap();
        let mut seats: Vec<Seat> = (1..PEER_CONNECTIONS_MAX)
            .map(|_| connections.seat(far).unwrap())
            .collect();
        seats.push(connections.seat(same).unwrap());
        assert!(connections.seat(far).is_none());
        assert!(connections.seat("192.0.2.8".parse().unwrap()).is_some());
        assert!(connections.seat("127.0.0.1".parse().unwrap()).is_some());
        seats.pop();
        assert!(connections.seat(same).is_some());
    }
}
