//! The MCP servers that the owner's configuration names.
//!
//! Separate because two ways lead to them: the endpoint of the gateway, and a proxy that a client starts by name. Both
//! read the same lines, and a server has the same executor on both.

use std::collections::BTreeMap;

use countersign_core::digest::Digest;
use reqwest::Url;
use serde_json::{Value, json};

use super::http::remote::checked;
use super::{NAME_HINT, may_name_a_server};
use crate::complaint::Complaint;
use crate::config::read::at;

/// Hexadecimal digits that tell one server from another.
const HASH_DIGITS: usize = 12;

/// A server that the configuration names.
#[derive(Debug)]
pub(crate) struct Configured {
    /// Who runs its calls: the same name for another server is another.
    pub(crate) executor: String,
    pub(crate) behind: Behind,
    /// Whether it uses tokens up itself.
    pub(crate) verifies_tokens: bool,
    /// Whether the owner vouches for what it says of its tools.
    pub(crate) is_pinned: bool,
}

/// Where a server is.
#[derive(Debug)]
pub(crate) enum Behind {
    Address {
        url: Url,
        token: Option<String>,
    },
    Program {
        command: Vec<String>,
        /// Variables of this process's environment that it gets.
        variables: BTreeMap<String, String>,
    },
}

/// Returns the names of the servers in a configuration that was checked against the schema.
pub(crate) fn names(values: &Value) -> Vec<String> {
    let named = at(values, "mcp.servers").as_object();
    named
        .into_iter()
        .flatten()
        .map(|(it, _)| it.clone())
        .collect()
}

/// Returns the server `name`; `None` if the configuration does not name it.
pub(crate) fn named(values: &Value, name: &str) -> Result<Option<Configured>, Complaint> {
    let servers = at(values, "mcp.servers").as_object();
    let Some(settings) = servers.and_then(|it| it.get(name)) else {
        return Ok(None);
    };
    if !may_name_a_server(name) {
        let shown = countersign_core::display::inline(name);
        let why = format!("`mcp.servers`: `{shown}` cannot be the name of a server");
        return Err(Complaint::usage(why, NAME_HINT));
    }
    let behind = behind(settings).map_err(|why| {
        let hint = "docs/mcp.md shows how a server is configured";
        let name = countersign_core::display::inline(name);
        Complaint::usage(format!("`mcp.servers.{name}`: {why}"), hint)
    })?;
    let flag = |key: &str| at(settings, key).as_bool() == Some(true);
    Ok(Some(Configured {
        executor: executor(name, settings),
        behind,
        verifies_tokens: flag("verifies_tokens"),
        is_pinned: flag("pinned"),
    }))
}

fn executor(name: &str, settings: &Value) -> String {
    let behind = json!([at(settings, "command"), at(settings, "url")]);
    let hash = Digest::of(behind.to_string().as_bytes()).hex();
    format!("mcp:{name}:{}", hash.get(..HASH_DIGITS).unwrap_or(&hash))
}

fn behind(settings: &Value) -> Result<Behind, String> {
    let texts = |key: &str| -> Vec<String> {
        let list = at(settings, key).as_array();
        let texts = list.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    };
    let (url, command) = (at(settings, "url").as_str(), texts("command"));
    match (url, command.as_slice()) {
        (Some(url), []) => {
            let url = checked(url).map_err(|complaint| complaint.in_one_line())?;
            let token = at(settings, "token_env").as_str().map(variable);
            let token = token.transpose()?;
            Ok(Behind::Address { url, token })
        }
        (None, [_, ..]) => {
            let mut variables = BTreeMap::new();
            for name in texts("env") {
                let value = variable(&name)?;
                variables.insert(name, value);
            }
            Ok(Behind::Program { command, variables })
        }
        (Some(_), [_, ..]) => Err("give `command` or `url`, not both".to_owned()),
        (None, []) => Err("give the `command` or the `url` of the server".to_owned()),
    }
}

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("the environment variable `{name}` is not set"))
}
