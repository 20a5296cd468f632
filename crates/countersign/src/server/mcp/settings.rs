//! The MCP servers behind this gateway, as the configuration names them.

use serde_json::Value;

use super::program::Program;
use super::remote::Remote;
use super::{Holds, Server, Servers, Upstream};
use crate::complaint::Complaint;
use crate::mcp::configured::{Behind, Configured, named, names};

/// Returns the servers of a configuration that was checked against the schema.
pub(crate) fn read(values: &Value) -> Result<Servers, Complaint> {
    let mut servers = Vec::new();
    for name in names(values) {
        if let Some(configured) = named(values, &name)? {
            servers.push(server(name, configured)?);
        }
    }
    Ok(Servers::new(servers))
}

fn server(name: String, configured: Configured) -> Result<Server, Complaint> {
    let upstream = match configured.behind {
        Behind::Address { url, token } => {
            let remote = Remote::new(url, token.as_deref()).map_err(|why| {
                let hint = "docs/mcp.md shows how a server is configured";
                Complaint::usage(format!("`mcp.servers.{name}`: {why}"), hint)
            })?;
            Upstream::Remote(remote)
        }
        Behind::Program { command, variables } => {
            Upstream::Program(Program::new(command, variables))
        }
    };
    Ok(Server {
        name,
        executor: configured.executor,
        upstream,
        verifies_tokens: configured.verifies_tokens,
        is_pinned: configured.is_pinned,
        keepers: std::sync::Mutex::default(),
        holds: Holds::default(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
