//! The MCP servers that the configuration names.

use std::collections::BTreeMap;

use countersign_core::digest::Digest;
use serde_json::{Value, json};

use super::program::Program;
use super::remote::Remote;
use super::{Holds, Server, Servers, Upstream};
use crate::complaint::Complaint;
use crate::config::read::at;
use crate::mcp::http::remote::checked;
use crate::mcp::{NAME_HINT, may_name_a_server};

/// Hexadecimal digits that tell one server from another.
const HASH_DIGITS: usize = 12;

/// Returns the servers of a configuration that was checked against the schema.
pub(crate) fn read(values: &Value) -> Result<Servers, Complaint> {
    let named = at(values, "mcp.servers").as_object();
    let servers = named.into_iter().flatten().map(|(name, settings)| {
        if !may_name_a_server(name) {
            let shown = countersign_core::display::inline(name);
            let why = format!("`mcp.servers`: `{shown}` cannot be the name of a server");
            return Err(Complaint::usage(why, NAME_HINT));
        }
        upstream(settings)
            .map(|upstream| Server {
                name: name.clone(),
                executor: executor(name, settings),
                upstream,
                verifies_tokens: at(settings, "verifies_tokens").as_bool() == Some(true),
                keepers: std::sync::Mutex::default(),
                holds: Holds::default(),
            })
            .map_err(|why| {
                let hint = "docs/mcp.md shows how a server is configured";
                Complaint::usage(format!("`mcp.servers.{name}`: {why}"), hint)
            })
    });
    servers.collect::<Result<_, _>>().map(Servers::new)
}

/// Returns who runs the calls of a server: the same name for another server is another.
fn executor(name: &str, settings: &Value) -> String {
    let behind = json!([at(settings, "command"), at(settings, "url")]);
    let hash = Digest::of(behind.to_string().as_bytes()).hex();
    format!("mcp:{name}:{}", hash.get(..HASH_DIGITS).unwrap_or(&hash))
}

fn upstream(settings: &Value) -> Result<Upstream, String> {
    let texts = |key: &str| -> Vec<String> {
        let list = at(settings, key).as_array();
        let texts = list.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    };
    let (url, command) = (at(settings, "url").as_str(), texts("command"));
    match (url, command.as_slice()) {
        (Some(url), []) => {
            let url = checked(url).map_err(|complaint| complaint.in_one_line())?;
            let token = at(settings, "token_env")
                .as_str()
                .map(variable)
                .transpose()?;
            Remote::new(url, token.as_deref()).map(Upstream::Remote)
        }
        (None, [_, ..]) => {
            let mut variables = BTreeMap::new();
            for name in texts("env") {
                let value = variable(&name)?;
                variables.insert(name, value);
            }
            Ok(Upstream::Program(Program::new(command, variables)))
        }
        (Some(_), [_, ..]) => Err("give `command` or `url`, not both".to_owned()),
        (None, []) => Err("give the `command` or the `url` of the server".to_owned()),
    }
}

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("the environment variable `{name}` is not set"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_servers_have_tools_of_the_same_name() {
        for (name, is_good) in [
            ("crm", true),
            ("crm_2.x-y", true),
            ("a__b", false),
            ("a_", false),
            ("_a", false),
            ("", false),
            ("a b", false),
            ("\u{430}", false),
        ] {
            let url = json!({ "url": "https://mcp.example.org" });
            let values = json!({ "mcp": { "servers": { name: url } } });
            assert_eq!(read(&values).is_ok(), is_good, "{name}");
        }
    }
}
