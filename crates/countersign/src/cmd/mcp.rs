//! `countersign mcp`: the proxy in front of one server.

mod serve;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::digest::Digest;

use crate::cli::{Mcp, McpCommand};
use crate::client::{Reach, page_of};
use crate::complaint::Complaint;
use crate::config::Home;
use crate::hook;
use crate::mcp::gatekeeper::{Gatekeeper, Settings};
use crate::mcp::stdio;
use crate::mcp::way::Way;

/// Programs that run another one, whose name says more.
const RUNNERS: &[&str] = &[
    "bun", "bunx", "deno", "docker", "env", "node", "npx", "pipx", "podman", "python", "python3",
    "sh", "bash", "uv", "uvx",
];
/// Longest name of a server, in bytes.
const NAME_BYTES_MAX: usize = 64;
/// Hexadecimal digits that tell one command from another.
const HASH_DIGITS: usize = 12;

/// Stands between a client and the server that `args` names.
pub(crate) fn run(args: &Mcp, reach: &Reach) -> Result<ExitCode, Complaint> {
    if let Some(McpCommand::Serve) = args.command {
        return serve::run(reach);
    }
    let home = Home::named_or_usual(reach.home.clone())?;
    let hash = Digest::of(&spelled(&args.server)).hex();
    let hash = hash.get(..HASH_DIGITS).unwrap_or(&hash);
    let server = match &args.name {
        Some(name) => checked(name)?.to_owned(),
        None => format!("{}-{hash}", derived(&args.server)),
    };
    let settings = Settings {
        executor: format!("mcp:{server}:{hash}"),
        session: args.session.clone().map_or_else(fresh_session, Ok)?,
        server,
        directory: std::env::current_dir().ok(),
        verifies_tokens: false,
        progress_every: Duration::from_secs(args.progress),
        page: reach.url.clone().or_else(|| page_of(&home)),
        principal: String::new(),
    };
    let gatekeeper = Gatekeeper::new(Arc::new(Way::new(proxy_reach(reach, &home))), settings)?;
    stdio::run(&args.server, &[], gatekeeper)
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
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-';
    let name: String = name
        .chars()
        .map(|it| if is_plain(it) { it } else { '-' })
        .take(NAME_BYTES_MAX / 2)
        .collect();
    name
}

/// Returns `name` if a server may have it. It stands inside names of tools, so two underscores would
/// make one server's tool look like another's.
fn checked(name: &str) -> Result<&str, Complaint> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    let is_good = !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && name.chars().all(is_plain)
        && !name.contains("__");
    if is_good {
        return Ok(name);
    }
    let hint = "use up to 64 letters, digits, `-`, `.` and single `_`";
    let shown = countersign_core::display::inline(name);
    Err(Complaint::usage(
        format!("`{shown}` cannot be the name of a server"),
        hint,
    ))
}

fn fresh_session() -> Result<String, Complaint> {
    let mut random = [0; 8];
    getrandom::fill(&mut random)
        .map_err(|error| Complaint::failed(format!("no randomness: {error}"), ""))?;
    Ok(format!("mcp-{:016x}", u64::from_be_bytes(random)))
}
