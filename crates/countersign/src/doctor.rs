//! `countersign doctor`: checks that the firewall works, from its home to the hook of each agent.
//!
//! Each file looks at one thing and returns lines; [`report`] shows them. Nothing here changes a
//! setting: a line that is not good names the command that repairs it.

pub(crate) mod agents;
pub(crate) mod attack;
mod canary;
mod child;
mod gateway;
mod home;
mod mcp;
mod model;
mod push;
pub(crate) mod report;
mod settings;
mod store;

use crate::client::{Client, Reach};
use crate::complaint::Complaint;
use crate::config::Home;
use crate::hook::adapter::Adapter;
use agents::Wanted;
use report::Report;

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// One agent alone; all of them if none is named.
    pub(crate) agent: Option<&'static Adapter>,
    /// Whether agents are run.
    pub(crate) canary: Canary,
}

/// Whether each agent is run once, to see that it asks its hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Canary {
    /// It is.
    Runs,
    /// Only its settings are read.
    Stays,
}

/// Looks at everything, in the order in which one thing depends on another.
pub(crate) fn examine(reach: &Reach, scope: Scope, report: &mut Report) -> Result<(), Complaint> {
    let home = Home::new(reach.home.clone())?;
    report.add_all(home::check(&home));
    report.add_all(home::check_configuration(&home));
    let client = Client::new(reach);
    let client = gateway::check(client, report);
    report.add_all(store::check(&home));
    if let Some(client) = &client {
        report.add_all(gateway::check_keys(client, &home));
        report.add_all(gateway::check_people(client));
        report.add_all(gateway::check_second_reader(client));
        report.add_all(gateway::check_channels(client));
        report.add_all(push::check(client, &home));
    }
    report.add_all(store::check_spool(&home));
    if scope.agent.is_none() {
        report.add_all(mcp::check(&home));
    }
    let wanted = scope.agent.map_or(Wanted::All, Wanted::Only);
    agents::check(&home, client.as_ref(), wanted, scope.canary, report);
    Ok(())
}
