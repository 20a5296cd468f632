//! `countersign mcp`: the proxy in front of one server.

mod serve;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::digest::Digest;

use crate::cli::{Mcp, McpCommand};
use crate::client::{Reach, page_of};
use crate::complaint::Complaint;
use crate::config::{self, Home};
use crate::hook;
use crate::mcp::configured::{self, Behind};
use crate::mcp::gatekeeper::{Gatekeeper, Settings};
use crate::mcp::http::remote::Remote;
use crate::mcp::way::Way;
use crate::mcp::{NAME_BYTES_MAX, NAME_HINT, may_name_a_server, stdio};

/// Programs that run another one, whose name says more.
const RUNNERS: &[&str] = &[
    "bun", "bunx", "deno", "docker", "env", "node", "npx", "pipx", "podman", "python", "python3",
    "sh", "bash", "uv", "uvx",
];
/// Hexadecimal digits that tell one command from another.
const HASH_DIGITS: usize = 12;

/// Stands between a client and the server that `args` names.
pub(crate) fn run(args: &Mcp, reach: &Reach) -> Result<ExitCode, Complaint> {
    if let Some(McpCommand::Serve) = args.command {
        return serve::run(reach);
    }
    let home = Home::named_or_usual(reach.home.clone())?;
    let (at, reach) = server_at(args, reach);
    let Target {
        server,
        executor,
        remote,
        command,
        variables,
        verifies_tokens,
    } = match (&at, &args.name) {
        (None, Some(name)) if args.server.is_empty() => of_configuration(name, args, &home)?,
        (_, _) => of_words(args, at.as_deref())?,
    };
    let settings = Settings {
        executor,
        session: args.session.clone().map_or_else(fresh_session, Ok)?,
        server,
        // A server elsewhere does not run in this directory.
        directory: std::env::current_dir().ok().filter(|_| remote.is_none()),
        verifies_tokens,
        progress_every: Duration::from_secs(args.progress),
        page: reach.url.clone().or_else(|| page_of(&home)),
        principal: String::new(),
    };
    let reach = proxy_reach(&reach, &home);
    tell_of_a_missing_key(&reach);
    let gatekeeper = Gatekeeper::new(Arc::new(Way::new(reach)), settings)?;
    match remote {
        Some(remote) => stdio::run_remote(remote, gatekeeper),
        None => stdio::run(&command, &variables, gatekeeper),
    }
}

/// The server to stand in front of.
struct Target {
    server: String,
    executor: String,
    /// Where it is, unless `command` starts it.
    remote: Option<Remote>,
    command: Vec<OsString>,
    variables: Vec<(String, String)>,
    verifies_tokens: bool,
}

/// Returns the server that the command line names.
fn of_words(args: &Mcp, at: Option<&str>) -> Result<Target, Complaint> {
    let hash = match at {
        Some(at) => Digest::of(at.as_bytes()).hex(),
        None => Digest::of(&spelled(&args.server)).hex(),
    };
    let hash = hash.get(..HASH_DIGITS).unwrap_or(&hash);
    let server = match &args.name {
        Some(name) => checked(name)?.to_owned(),
        None => match at {
            Some(at) => format!("{}-{hash}", host_of(at)),
            None => format!("{}-{hash}", derived(&args.server)),
        },
    };
    let remote = at.map(|at| {
        let token = args.token_env.as_deref().map(token).transpose()?;
        Remote::new(at, token.as_deref())
    });
    Ok(Target {
        executor: format!("mcp:{server}:{hash}"),
        server,
        remote: remote.transpose()?,
        command: args.server.clone(),
        variables: Vec::new(),
        verifies_tokens: false,
    })
}

/// Returns the server that the owner's configuration describes under `name`.
fn of_configuration(name: &str, args: &Mcp, home: &Home) -> Result<Target, Complaint> {
    let name = checked(name)?;
    let values = config::values(&home.file())?.unwrap_or_default();
    let Some(found) = configured::named(&values, name)? else {
        return Err(Complaint::usage(
            format!("there is no server `{name}` in `mcp.servers` of the configuration"),
            "describe it there, or put its command behind `--`: `countersign mcp -- COMMAND`",
        ));
    };
    if args.token_env.is_some() {
        return Err(Complaint::usage(
            "`--token-env` belongs to a server that `--url` names",
            format!("set `mcp.servers.{name}.token_env` in the configuration"),
        ));
    }
    let (remote, command, variables) = match found.behind {
        Behind::Address { url, token } => {
            let remote = Remote::new(url.as_str(), token.as_deref())?;
            (Some(remote), Vec::new(), BTreeMap::new())
        }
        Behind::Program { command, variables } => {
            let command = command.into_iter().map(OsString::from).collect();
            (None, command, variables)
        }
    };
    Ok(Target {
        server: name.to_owned(),
        executor: found.executor,
        remote,
        command,
        variables: variables.into_iter().collect(),
        verifies_tokens: found.verifies_tokens,
    })
}

/// Returns the address of the server, if it has one, and how the gateway is reached. Without a command,
/// `--url` is the server's: there is nothing else to speak to.
fn server_at(args: &Mcp, reach: &Reach) -> (Option<String>, Reach) {
    let mut reach = reach.clone();
    let at = args.server.is_empty().then(|| reach.url.take());
    (at.flatten(), reach)
}

/// Returns the token in the environment variable `name`.
fn token(name: &str) -> Result<String, Complaint> {
    std::env::var(name).map_err(|_| {
        let name = countersign_core::display::inline(name);
        Complaint::usage(
            format!("the environment variable `{name}` is not set"),
            "set it to the token of the server, in the settings of the client that starts this",
        )
    })
}

/// Returns a readable name for a server at an address.
fn host_of(at: &str) -> String {
    let url = reqwest::Url::parse(at).ok();
    let host = url.as_ref().and_then(|url| url.host_str());
    plain(host.unwrap_or("server"))
}

/// Returns how the gateway is reached: as hooks do it, so no variable of the environment counts, which
/// a project that is worked on could set.
fn proxy_reach(reach: &Reach, home: &Home) -> Reach {
    let own = hook::directory(home).join("mcp.key");
    Reach {
        home: Some(home.directory().to_owned()),
        url: reach.url.clone(),
        key_file: Some(reach.key_file.clone().unwrap_or(own)),
        asks_for_agent: true,
    }
}

/// Says at once on standard error, which clients keep in a log, that no call will run. Without it, only the
/// model would learn that, and only when it calls a tool.
fn tell_of_a_missing_key(reach: &Reach) {
    let Some(file) = reach.key_file.as_deref().filter(|it| !it.exists()) else {
        return;
    };
    let file = file.display();
    Complaint::failed(
        format!("there is no key file {file}, so no tool call will run"),
        "`countersign keys create --role agent --name mcp` prints a key to put there",
    )
    .report();
}

/// Returns a command as bytes in which no two commands are the same.
fn spelled(command: &[OsString]) -> Vec<u8> {
    let words = command.iter().map(|word| word.as_encoded_bytes());
    words.collect::<Vec<_>>().join(&0)
}

/// Returns a readable name for a server that was given none.
fn derived(command: &[OsString]) -> String {
    let stem = |word: &OsStr| {
        let stem = Path::new(word).file_stem().unwrap_or(word);
        stem.to_string_lossy().into_owned()
    };
    let mut stems = command
        .iter()
        .filter(|word| !word.as_encoded_bytes().starts_with(b"-"))
        .map(|word| stem(word))
        .filter(|stem| !RUNNERS.contains(&stem.as_str()) && stem != "run");
    let name = stems.next().unwrap_or_else(|| "server".to_owned());
    plain(&name)
}

fn plain(name: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-';
    name.chars()
        .map(|it| if is_plain(it) { it } else { '-' })
        .take(NAME_BYTES_MAX / 2)
        .collect()
}

/// Returns `name` if a server may have it.
fn checked(name: &str) -> Result<&str, Complaint> {
    if may_name_a_server(name) {
        return Ok(name);
    }
    let shown = countersign_core::display::inline(name);
    Err(Complaint::usage(
        format!("`{shown}` cannot be the name of a server"),
        NAME_HINT,
    ))
}

fn fresh_session() -> Result<String, Complaint> {
    let mut random = [0; 8];
    getrandom::fill(&mut random)
        .map_err(|error| Complaint::failed(format!("no randomness: {error}"), ""))?;
    Ok(format!("mcp-{:016x}", u64::from_be_bytes(random)))
}
