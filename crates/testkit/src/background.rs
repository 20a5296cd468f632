//! Runs a server of a test on a thread of its own until it is dropped.
//!
//! Separate because the scripted model and the relay need the same: tests without a runtime start
//! them, and nothing may wait for them at the end.

use std::io;
use std::net::SocketAddr;

use axum::Router;
use axum::serve::ListenerExt as _;
use tokio::sync::oneshot;

/// A running server. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Background {
    pub(crate) address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

impl Background {
    /// Serves `routes` at a port of this machine, on a thread called `name`.
    pub(crate) fn serve(name: &'static str, routes: Router) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let run = move || {
            runtime.block_on(async {
                let served = async {
                    // Small pieces go out at once, as they do from real servers.
                    let listener = tokio::net::TcpListener::from_std(listener)?
                        .tap_io(|stream| drop(stream.set_nodelay(true)));
                    axum::serve(listener, routes).await
                };
                tokio::select! {
                    ended = served => eprintln!("{name} ended: {ended:?}"),
                    // Fails when the sender is dropped, which is what is waited for.
                    _stopped = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name(name.to_owned());
        thread.spawn(run)?;
        Ok(Self {
            address,
            _stop: stop,
        })
    }
}
