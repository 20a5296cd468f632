//! Serves routes in a thread of its own until it is stopped, and cuts every connection then.
//!
//! Separate because the strict servers of all platforms need the same: they can be stopped in the
//! middle of what they do and started again at the same port.

use std::convert::Infallible;
use std::io;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::oneshot;
use tower::ServiceExt as _;

/// Marks an answer that is never sent: the connection ends without a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut;

impl Cut {
    /// Returns such an answer.
    pub(crate) fn response() -> Response {
        let mut response = Response::new(Body::empty());
        response.extensions_mut().insert(Self);
        response
    }
}

/// Routes that are served.
#[derive(Debug)]
pub(crate) struct Serving {
    stop: oneshot::Sender<()>,
    thread: std::thread::JoinHandle<()>,
}

impl Serving {
    /// Serves `routes` at `listener`, in a thread called `name`.
    pub(crate) fn start(
        name: &'static str,
        listener: std::net::TcpListener,
        routes: Router,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let run = move || {
            runtime.block_on(async move {
                tokio::select! {
                    ended = accept(listener, routes) => eprintln!("{name} ended: {ended:?}"),
                    // Fails when the server is dropped, which is what is waited for.
                    _stopped = stopped => {}
                }
            });
            // Dropping the runtime drops every connection, in the middle of what it did.
        };
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(run)?;
        Ok(Self { stop, thread })
    }

    /// Stops it and returns once it has.
    pub(crate) fn stop(self) {
        // The thread may have ended by itself.
        let _told = self.stop.send(()).is_ok();
        let _ended = self.thread.join().is_ok();
    }
}

async fn accept(listener: std::net::TcpListener, routes: Router) -> io::Result<Infallible> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let routes = routes.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let routes = routes.clone();
                async move {
                    let answer = routes.oneshot(request.map(Body::new)).await;
                    let Ok(answer) = answer;
                    if answer.extensions().get::<Cut>().is_some() {
                        // An error here ends the connection without a word.
                        return Err(io::Error::from(io::ErrorKind::ConnectionAborted));
                    }
                    Ok(answer)
                }
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .with_upgrades();
            // A client that goes away, or is cut off, ends its connection and nothing else.
            let _ended = connection.await.is_ok();
        });
    }
}
