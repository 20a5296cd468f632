//! `countersign channels`: which there are, whether one works, and what is wrong with it.

use std::fmt::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::practice::{self, Practice};
use crate::cli::{Channels, ChannelsCommand};
use crate::client::segment;
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::config::read::at;
use crate::show::{print, print_json, table, text};

/// What is said where there are none.
const NONE: &str = "No channels are configured; cards appear in the terminal and on the page.\n\
                    `channels:` in config.yaml names them; the gateway reads it when it starts.\n";

const GOOD: Style = AnsiColor::Green.on_default();
const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Does what the command line says.
pub(crate) fn run(args: &Channels, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    match &args.command {
        None | Some(ChannelsCommand::List) => list(args, &client),
        Some(ChannelsCommand::Test { name, wait }) => test(args, &client, name, *wait),
        Some(ChannelsCommand::Doctor { name }) => doctor(args, &client, name.as_deref()),
    }
}

fn list(args: &Channels, client: &Client) -> Result<ExitCode, Complaint> {
    let channels = client.get("/v1/channels")?;
    if args.json {
        return written(print_json(&channels), ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = named(&channels)
        .map(|channel| {
            vec![
                text(channel, "name"),
                text(channel, "kind"),
                text(channel, "health"),
            ]
        })
        .collect();
    let shown = if rows.is_empty() {
        NONE.to_owned()
    } else {
        table(&["NAME", "KIND", "HEALTH"], &rows)
    };
    written(print(&shown), ExitCode::SUCCESS)
}

fn test(args: &Channels, client: &Client, name: &str, wait: u32) -> Result<ExitCode, Complaint> {
    known(client, name)?;
    let practice = Practice {
        wait,
        agent: "countersign channels test",
        hint: (!args.json).then(|| {
            format!("A practice card was sent. Nothing runs, whatever you answer. Answer it in {name}.\n")
        }),
    };
    let call = practice::put(&practice, client)?;
    let decision = at(&call, "decision");
    let is_answered = matches!(at(&call, "status").as_str(), Some("approved" | "denied"));
    let is_there = is_answered && at(decision, "via").as_str() == Some(name);
    let code = match (is_there, is_answered) {
        (true, _) => ExitCode::SUCCESS,
        (false, true) => ExitCode::from(1),
        (false, false) => ExitCode::from(21),
    };
    let approval = segment(&text(&call, "approval_id"));
    let path = format!("/v1/approvals/{approval}/deliveries");
    let deliveries = client.get(&path)?;
    if args.json {
        let said =
            json!({ "channel": name, "works": is_there, "call": call, "deliveries": deliveries });
        return written(print_json(&said), code);
    }
    let by = text(decision, "by");
    let line = if is_there {
        format!("It works: {by} answered through {name}.\n")
    } else if is_answered {
        format!("{by} answered, but through {}.\n", text(decision, "via"))
    } else {
        let why = at(&deliveries, "deliveries").as_array();
        let why = why.into_iter().flatten().find(|it| it["channel"] == name);
        let why = why.map_or_else(String::new, |it| format!(" ({})", text(it, "why")));
        format!(
            "Nobody answered through {name}{why}. `countersign channels doctor {name}` checks the setup.\n"
        )
    };
    written(print(&line), code)
}

fn doctor(args: &Channels, client: &Client, name: Option<&str>) -> Result<ExitCode, Complaint> {
    let names = match name {
        Some(name) => {
            known(client, name)?;
            vec![name.to_owned()]
        }
        None => named(&client.get("/v1/channels")?)
            .map(|channel| text(channel, "name"))
            .collect(),
    };
    let mut all = Vec::new();
    for name in &names {
        all.push(client.get(&format!("/v1/channels/{}/doctor", segment(name)))?);
    }
    let findings = |channel: &Value| at(channel, "findings").as_array().cloned();
    let is_bad = all
        .iter()
        .filter_map(findings)
        .flatten()
        .any(|finding| at(&finding, "state") == "bad");
    let code = ExitCode::from(u8::from(is_bad));
    if args.json {
        let said = match all.as_slice() {
            [only] if name.is_some() => only.clone(),
            several => json!({ "channels": several }),
        };
        return written(print_json(&said), code);
    }
    let mut shown = if all.is_empty() { NONE } else { "" }.to_owned();
    for channel in &all {
        let _infallible = writeln!(shown, "{}", text(channel, "channel"));
        for finding in findings(channel).into_iter().flatten() {
            shown.push_str(&line(&finding));
        }
    }
    written(print(&shown), code)
}

/// Returns one finding as a person reads it: what, how it is, and what to do.
fn line(finding: &Value) -> String {
    let (style, sign) = match at(finding, "state").as_str() {
        Some("good") => (GOOD, "ok"),
        Some("bad") => (BAD, "bad"),
        Some(_) | None => (DOUBTFUL, "look"),
    };
    let found = text(finding, "found");
    let mut line = format!(
        "  {style}{sign:4}{style:#} {}: {found}\n",
        text(finding, "check")
    );
    if at(finding, "fix")
        .as_str()
        .is_some_and(|fix| !fix.is_empty())
    {
        let _infallible = writeln!(line, "       → {}", text(finding, "fix"));
    }
    line
}

fn named(channels: &Value) -> impl Iterator<Item = &Value> {
    at(channels, "channels").as_array().into_iter().flatten()
}

/// Fails unless there is such a channel.
fn known(client: &Client, name: &str) -> Result<(), Complaint> {
    let channels = client.get("/v1/channels")?;
    let names: Vec<String> = named(&channels).map(|it| text(it, "name")).collect();
    if names.iter().any(|known| known == name) {
        return Ok(());
    }
    let hint = if names.is_empty() {
        "`channels:` in config.yaml names them; the gateway reads it when it starts".to_owned()
    } else {
        format!("there are: {}", names.join(", "))
    };
    Err(Complaint::usage(
        format!("there is no channel `{name}`"),
        hint,
    ))
}
