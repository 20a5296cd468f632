//! `countersign serve`: runs the gateway, prints its address, stops cleanly.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::cli::Serve;
use crate::client;
use crate::complaint::Complaint;
use crate::config::read::at;
use crate::config::{self, Home};
use crate::gateway::Gateway;
use crate::gateway::chats::Desk;
use crate::gateway::collect::collect;
use crate::server::limits::Limits;
use crate::server::listen::Patience;
use crate::server::outer::Entrance;
use crate::server::{App, auth, listen, mcp, metrics, routes};
use crate::telemetry;
use crate::tls::{self, Identity};

/// Files that may be open: a connection for everybody who waits, and some.
const OPEN_FILES_MAX: u64 = 65_536;
/// Longest path a unix socket can have on Linux.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// Runs the gateway until it is told to stop.
pub(crate) fn run(serve: &Serve, home: Option<PathBuf>) -> Result<ExitCode, Complaint> {
    let home = Home::new(home)?;
    let telemetry = telemetry::start(collector(&home).as_deref())?;
    keep_memory_private();
    raise_open_files();
    let address = address(serve)?;
    let tls = match (&serve.tls_cert, &serve.tls_key) {
        (Some(certificate), Some(key)) => Some(tls::identity(certificate, key)?),
        (None, _) | (_, None) => None,
    };
    let runtime = tokio::runtime::Runtime::new().map_err(|error| {
        Complaint::failed(
            format!("cannot start: {error}"),
            "is the machine out of threads?",
        )
    })?;
    let ended = runtime.block_on(gateway(serve, home, address, tls));
    telemetry.stop();
    ended
}

/// Returns where spans are sent. What is wrong with the configuration is said when the gateway opens.
fn collector(home: &Home) -> Option<String> {
    let values = config::values(&home.file()).ok().flatten()?;
    let endpoint = at(&values, "telemetry.otlp.endpoint").as_str()?;
    (!endpoint.is_empty()).then(|| endpoint.to_owned())
}

async fn gateway(
    serve: &Serve,
    home: Home,
    address: SocketAddr,
    tls: Option<Identity>,
) -> Result<ExitCode, Complaint> {
    // Signals are taken from here on, so that a stop during the start is clean, too.
    let stop = stop_signal()?;
    let servers = Arc::new(mcp::settings(
        &config::values(&home.file())?.unwrap_or_default(),
    )?);
    let gateway = Gateway::open(home).await?;
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Complaint::failed(
            format!("cannot listen at {address}: {error}"),
            "use another --listen; port 0 takes any free one",
        )
    })?;
    let address = listener
        .local_addr()
        .map_err(|error| Complaint::failed(format!("cannot listen at {address}: {error}"), ""))?;
    let owner = gateway.command_line_key().await?;
    let code = match &owner {
        Some(owner) => gateway.gate.login_code(&owner.key).await.ok(),
        None => None,
    };
    let (stop_all, stopping) = watch::channel(false);
    let reached = reachable(address);
    let app = app(
        serve,
        &gateway,
        servers,
        [address, reached],
        stopping.clone(),
    );
    let socket = bind_socket(&gateway)?;
    let ran = {
        let (gate, stopped) = (gateway.gate.clone(), stopped(stopping.clone()));
        tokio::spawn(async move { gate.run(stopped).await })
    };
    let driven = {
        let (agent, alone) = (gateway.agent.clone(), gateway.is_alone);
        let stopped = stopped(stopping.clone());
        tokio::spawn(async move { agent.watch(alone, stopped).await })
    };
    let listening = listening(&app, &stopping);
    let collected = gateway.lock.is_some().then(|| {
        let (gate, home) = (gateway.gate.clone(), gateway.home.clone());
        tokio::spawn(collect(gate, home))
    });
    let counted = {
        let app = Arc::clone(&app);
        tokio::spawn(async move { app.metrics.follow(&app.gate).await })
    };
    let network = tokio::spawn(listen::network(
        listener,
        tls.as_ref().map(|tls| tls.acceptor.clone()),
        routes::network(&app),
        Patience::USUAL,
        stopping.clone(),
    ));
    let agents = socket.map(|socket| {
        let router = routes::socket(&app);
        tokio::spawn(listen::socket(socket, router, Patience::USUAL, stopping))
    });
    let [shown, url] = [reached, from_here(address)].map(|it| url(it, tls.as_ref()));
    // So that commands on the same home find this gateway, whatever port it took.
    let left = client::address_file(&gateway.home);
    let trusted = tls.map_or_else(String::new, |tls| format!("{}\n", tls.fingerprint));
    if let Err(error) = std::fs::write(&left, format!("{url}\n{trusted}")) {
        tracing::warn!(%error, "the address could not be left in the home");
    }
    announce(serve, &gateway, &shown, code.as_deref());
    stop.await;
    tracing::info!("stopping");
    let _told = stop_all.send(true);
    let parts = [Some(network), agents, Some(ran), Some(driven)];
    for task in parts.into_iter().flatten().chain(listening) {
        if let Err(error) = task.await {
            tracing::error!(%error, "a part of the gateway failed");
        }
    }
    counted.abort();
    if let Some(collected) = collected {
        collected.abort();
    }
    app.mcp.stop().await;
    close(&gateway, &left).await;
    Ok(ExitCode::SUCCESS)
}

/// Ends what the gateway started, and takes away what it left in the home.
async fn close(gateway: &Gateway, left: &Path) {
    gateway.gate.rest().await;
    gateway.gate.store().close().await;
    let _gone = std::fs::remove_file(left);
    if gateway.lock.is_some() {
        let _gone = std::fs::remove_file(&gateway.api.socket);
    }
}

/// Listens to the chats until the gateway stops.
fn listening(app: &App, stopping: &watch::Receiver<bool>) -> Vec<tokio::task::JoinHandle<()>> {
    app.desks
        .iter()
        .map(|desk| {
            let (desk, stopped) = (desk.clone(), stopped(stopping.clone()));
            tokio::spawn(async move {
                tokio::select! {
                    () = stopped => {}
                    () = desk.listen() => {}
                }
            })
        })
        .collect()
}

/// Returns when the gateway stops.
async fn stopped(mut stopping: watch::Receiver<bool>) {
    // A sender that is gone is a gateway that is gone.
    let _gone = stopping.wait_for(|it| *it).await;
}

fn app(
    serve: &Serve,
    gateway: &Gateway,
    servers: Arc<mcp::Servers>,
    [address, reached]: [SocketAddr; 2],
    stopping: watch::Receiver<bool>,
) -> Arc<App> {
    let api = &gateway.api;
    // Chats call back under the name they were given.
    let hosts: Vec<String> = api
        .hosts
        .iter()
        .cloned()
        .chain(gateway.channels.hosts().map(str::to_owned))
        .chain([reached.to_string()])
        .collect();
    let origins: Vec<String> = api.origins.iter().chain(&serve.origin).cloned().collect();
    Arc::new(App {
        gate: gateway.gate.clone(),
        agent: gateway.agent.clone(),
        policies: Arc::clone(&gateway.policies),
        home: gateway.home.clone(),
        dialect: api.dialect,
        entrance: Entrance::new(address, &hosts, &origins),
        is_encrypted: serve.tls_cert.is_some(),
        limits: Limits::new(api.rate_per_second),
        socket_keys: auth::SocketKeys::default(),
        metrics: metrics::Metrics::default(),
        webhooks: gateway.channels.webhooks.clone(),
        notifiers: gateway.channels.notifiers.clone(),
        desks: desks(gateway),
        web_dir: serve.web_dir.clone(),
        mcp: servers,
        description: OnceLock::new(),
        stopping,
    })
}

fn desks(gateway: &Gateway) -> Vec<Desk> {
    let chats = gateway.channels.chats.iter();
    chats
        .map(|chat| Desk {
            gate: gateway.gate.clone(),
            agent: gateway.agent.clone(),
            chat: Arc::clone(chat),
        })
        .collect()
}

/// Binds the agents' socket. `None` beside another gateway on the same home, or where its path is
/// too long for the kernel.
fn bind_socket(gateway: &Gateway) -> Result<Option<UnixListener>, Complaint> {
    let path: &Path = &gateway.api.socket;
    if gateway.lock.is_none() {
        tracing::warn!("another gateway is using this home and its agent socket");
        return Ok(None);
    }
    if path.as_os_str().len() > SOCKET_PATH_BYTES_MAX {
        let path = path.display();
        tracing::warn!(%path, "no agents' socket: the path is too long; set `api.socket`");
        return Ok(None);
    }
    let failed = |error: std::io::Error| {
        Complaint::failed(
            format!("cannot open the agents' socket {}: {error}", path.display()),
            "set `api.socket` to a path in a directory you may write",
        )
    };
    // We hold the lock, so what lies there is left over from a gateway that was killed.
    match std::fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    let mode = std::fs::Permissions::from_mode(gateway.api.socket_mode);
    std::fs::set_permissions(path, mode).map_err(failed)?;
    Ok(Some(listener))
}

/// Returns an address at which other machines reach a gateway that listens at `address`: for all
/// addresses of this machine, the one it sends from. No packet is sent to find out.
fn reachable(address: SocketAddr) -> SocketAddr {
    if !address.ip().is_unspecified() {
        return address;
    }
    // Addresses for documentation: never ours, and behind the default route.
    let elsewhere = [
        ("0.0.0.0:0", "203.0.113.1:9"),
        ("[::]:0", "[2001:db8::1]:9"),
    ];
    let mut own = elsewhere.into_iter().filter_map(|(from, to)| {
        let socket = UdpSocket::bind(from).ok()?;
        socket.connect(to).ok()?;
        let own = socket.local_addr().ok()?.ip();
        // An IPv4 socket cannot be reached by IPv6.
        let fits = own.is_ipv4() || address.is_ipv6();
        (fits && !own.is_unspecified()).then_some(own)
    });
    own.next().map_or_else(
        || from_here(address),
        |own| SocketAddr::new(own, address.port()),
    )
}

/// Returns an address at which this machine reaches a gateway that listens at `address`.
const fn from_here(address: SocketAddr) -> SocketAddr {
    let loopback = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
    };
    SocketAddr::new(loopback, address.port())
}

fn url(address: SocketAddr, tls: Option<&Identity>) -> String {
    let scheme = if tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{address}")
}

fn announce(serve: &Serve, gateway: &Gateway, url: &str, code: Option<&str>) {
    let login_url = code.map(|code| format!("{url}/#code={code}"));
    let text = if serve.json {
        format!(
            "{}\n",
            serde_json::json!({ "url": url, "login_url": login_url })
        )
    } else {
        let sign_in = login_url.map_or_else(
            || {
                "The key in cli.key is no longer valid. `countersign keys create --role admin` creates another.\n"
                    .to_owned()
            },
            |link| format!("Open {link} to answer in a browser (works once, for ten minutes).\n"),
        );
        format!(
            "countersign listening on {url}\n\n{sign_in}\
             Agents ask at {url}/v1/calls, or through {}.\n\
             Next: `countersign try` shows a practice card; `countersign keys create --role agent --name NAME`\n\
             creates a key for an agent.\n",
            gateway.api.socket.display()
        )
    };
    let mut stdout = std::io::stdout().lock();
    let told = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    // Whoever started us may have gone; the gateway is needed all the same.
    if let Err(error) = told {
        tracing::warn!(%error, "nobody reads where we listen");
    }
}

fn address(serve: &Serve) -> Result<SocketAddr, Complaint> {
    let text = &serve.listen;
    let wrong = |why: &str| {
        Complaint::usage(
            format!("`--listen {text}`: {why}"),
            "give an address and a port: 127.0.0.1:8750",
        )
    };
    let address = text
        .to_socket_addrs()
        .map_err(|_| wrong("not an address"))?
        .next()
        .ok_or_else(|| wrong("not an address"))?;
    let in_the_clear = serve.tls_cert.is_none() && !serve.allow_public;
    if !address.ip().is_loopback() && in_the_clear {
        return Err(Complaint::usage(
            format!(
                "{address} is reachable from other machines, and keys would be sent unencrypted"
            ),
            "give --tls-cert and --tls-key, put a TLS proxy in front of 127.0.0.1, or use --allow-public on a trusted network",
        ));
    }
    Ok(address)
}

/// Returns a future that ends when the process is told to stop.
fn stop_signal() -> Result<impl Future<Output = ()>, Complaint> {
    let failed =
        |error: std::io::Error| Complaint::failed(format!("cannot handle signals: {error}"), "");
    let mut terminated = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupted = signal(SignalKind::interrupt()).map_err(failed)?;
    Ok(async move {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
    })
}

/// Other processes of the same user must not read keys out of our memory, and no core file may hold
/// them.
fn keep_memory_private() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!(%error, "other processes of this user can read our memory");
        }
    }
}

/// Everybody who waits has a connection, and the usual limit of open files is a thousand.
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let possible = limit.maximum.unwrap_or(u64::MAX).min(OPEN_FILES_MAX);
    if limit.current.is_none_or(|current| current >= possible) {
        return;
    }
    let raised = Rlimit {
        current: Some(possible),
        maximum: limit.maximum,
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "fewer connections can be held than there could be");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_never_names_all_addresses() {
        for listens in [
            "0.0.0.0:8750",
            "[::]:8750",
            "127.0.0.1:8750",
            "192.0.2.7:8750",
        ] {
            let address: SocketAddr = listens.parse().unwrap();
            for shown in [reachable(address), from_here(address)] {
                assert!(!shown.ip().is_unspecified(), "{listens}: {shown}");
                assert_eq!(shown.port(), 8750, "{listens}");
                let is_named = !address.ip().is_unspecified();
                assert!(!is_named || shown == address, "{listens}: {shown}");
            }
        }
        assert!(from_here("0.0.0.0:1".parse().unwrap()).ip().is_loopback());
    }

    #[test]
    fn other_machines_reach_it_only_encrypted_or_if_that_is_meant() {
        let serve = |listen: &str, tls: bool, allow_public| Serve {
            listen: listen.to_owned(),
            json: false,
            tls_cert: tls.then(|| PathBuf::from("gate.pem")),
            tls_key: tls.then(|| PathBuf::from("gate.key")),
            allow_public,
            origin: Vec::new(),
            web_dir: None,
        };
        let rows = [
            ("this machine", serve("127.0.0.1:0", false, false), true),
            (
                "others, in the clear",
                serve("0.0.0.0:0", false, false),
                false,
            ),
            ("others, by IPv6", serve("[::]:0", false, false), false),
            ("others, meant", serve("0.0.0.0:0", false, true), true),
            ("others, encrypted", serve("0.0.0.0:0", true, false), true),
        ];
        for (name, serve, expected) in rows {
            assert_eq!(address(&serve).is_ok(), expected, "{name}");
        }
    }
}
