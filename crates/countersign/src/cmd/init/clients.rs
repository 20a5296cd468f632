//! `countersign init mcp`: which clients have MCP servers, and what is to be done for each.

use std::fmt::Write as _;

use countersign_core::display::line;

use crate::cli::Init;
use crate::complaint::Complaint;
use crate::init::Place;
use crate::init::mcp::{ROWS, Row, SERVERS, Server, State};
use crate::init::plan::{self, Plan};

/// Whether `args` are about clients that start MCP servers.
pub(super) fn are_meant(args: &Init) -> bool {
    args.agent.is_some_and(|agent| agent.name == SERVERS.name)
}

/// Returns what is to be done for each client, and what a person should know of the others.
pub(super) fn plans(args: &Init, place: &Place) -> Result<(Vec<Plan>, String), Complaint> {
    let rows = ROWS.iter().filter(|row| match args.client {
        Some(client) => client.name() == row.name(),
        None => true,
    });
    let mut plans = Vec::new();
    let mut left_out = String::new();
    for row in rows {
        if args.undo {
            let plan = plan::undo(place, &row.agent)?;
            if args.client.is_some() || !plan.is_done() {
                plans.push(plan);
            }
            continue;
        }
        let servers = row.servers(place)?;
        if !servers.iter().any(can_be_wrapped) {
            if args.client.is_some() {
                return Err(nothing_to_wrap(row, &servers));
            }
            continue;
        }
        match row.seen_by(place) {
            Some(agent) if args.client.is_none() => {
                let name = row.name();
                let _infallible = writeln!(
                    left_out,
                    "The hook of {agent} asks about the calls of its MCP servers already; `countersign init mcp {name}` puts them\nbehind Countersign as well, and asks twice.",
                );
            }
            Some(_) | None => plans.push(plan::set_up(place, &row.agent, None)?),
        }
    }
    if plans.is_empty() && left_out.is_empty() && !args.undo {
        let names: Vec<&str> = ROWS.iter().map(Row::name).collect();
        return Err(Complaint::failed(
            "no known client on this machine, and none in this directory, starts an MCP server",
            format!(
                "start the server as `countersign mcp -- COMMAND` in your client; known are {}",
                names.join(", ")
            ),
        ));
    }
    Ok((plans, left_out))
}

fn can_be_wrapped(server: &Server) -> bool {
    matches!(server.state, State::Direct | State::Wrapped)
}

fn nothing_to_wrap(row: &Row, servers: &[Server]) -> Complaint {
    let is_own = |it: &&Server| it.state == State::Own;
    let others = servers.iter().filter(|it| !is_own(it));
    let names: Vec<String> = others.map(|it| line(&it.name)).collect();
    let hint = if let (Some(own), true) = (servers.iter().find(is_own), names.is_empty()) {
        let name = line(&own.name);
        format!(
            "`{name}` is Countersign itself; for other servers, run this in the project that names them"
        )
    } else if names.is_empty() {
        "run this in the project whose servers you mean".to_owned()
    } else {
        format!(
            "only servers that are started can be; these are not: {}",
            names.join(", ")
        )
    };
    let title = row.agent.title;
    Complaint::failed(
        format!("there is nothing to put behind Countersign among the {title}"),
        hint,
    )
}
