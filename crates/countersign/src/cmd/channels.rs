//! `countersign channels`: list, add, test, diagnose.

mod add;

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use countersign_channels::chat::{Finding, State};
use countersign_channels::platform::Platform;
use countersign_channels::registry::{self, PLATFORMS};
use countersign_core::status::{DeliveryStatus, Status};
use countersign_gate::delivery::DeliveryView;
use countersign_gate::delivery::health::ChannelView;
use countersign_gate::records::view::CallView;
use serde_json::{Value, json};

use super::practice::{self, Practice};
use crate::cli::{Channels, ChannelsCommand};
use crate::client::segment;
use crate::client::{Answer, Client, Reach};
use crate::complaint::{Complaint, written};
use crate::show::{maybe, print, print_json, table, text};
use crate::wire::lists::{ChannelList, DeliveryList};
use crate::wire::shown::Diagnosis;

/// The text for an empty list.
const NONE: &str = "No channels are configured; cards appear in the terminal and on the page.\n\
                    `channels:` in config.yaml names them; the gateway reads it when it starts.\n";

/// How long it takes at most until it is noted that a channel has a card.
const NOTED_WITHIN: Duration = Duration::from_secs(5);
/// How often it is looked for meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(100);

const GOOD: Style = AnsiColor::Green.on_default();
const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Does what the command line says.
pub(crate) fn run(args: &Channels, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = || Client::new(reach);
    match &args.command {
        None | Some(ChannelsCommand::List) => list(args, &client()?),
        Some(ChannelsCommand::Add {
            platform,
            name,
            set,
            wait,
        }) => {
            let wanted = add::Wanted {
                platform,
                name: name.as_deref(),
                set,
                wait: *wait,
            };
            add::add(args, reach, &wanted)
        }
        Some(ChannelsCommand::Test { name, wait }) => test(args, &client()?, name, *wait),
        Some(ChannelsCommand::Manifest {
            platform,
            callback_url,
        }) => manifest(platform, callback_url.as_deref()),
        Some(ChannelsCommand::Doctor { name }) => doctor(args, &client()?, name.as_deref()),
    }
}

/// Prints the description of our app for a platform.
fn manifest(platform: &str, callback_url: Option<&str>) -> Result<ExitCode, Complaint> {
    let known = PLATFORMS.iter().filter(|it| it.manifest.is_some());
    let describes = |it: &&Platform| it.name == platform;
    let manifest = known.clone().find(describes).and_then(|it| it.manifest);
    let Some(manifest) = manifest else {
        let names: Vec<&str> = known.map(|it| it.name).collect();
        let message = format!("`{platform}` takes no description of an app");
        let hint = format!("these do: {}", names.join(", "));
        return Err(Complaint::usage(message, hint));
    };
    let url = callback_url.map(|url| url.trim_end_matches('/'));
    written(print_json(&manifest(url)), ExitCode::SUCCESS)
}

fn list(args: &Channels, client: &Client) -> Result<ExitCode, Complaint> {
    let answer = client.get("/v1/channels")?;
    if args.json {
        return written(print_json(answer.json()), ExitCode::SUCCESS);
    }
    let list: ChannelList = answer.read()?;
    let rows: Vec<Vec<String>> = list
        .channels
        .iter()
        .map(|it| vec![text(&it.name), text(&it.kind), text(&it.health)])
        .collect();
    let shown = if rows.is_empty() {
        NONE.to_owned()
    } else {
        table(&["name", "kind", "health"], &rows)
    };
    written(print(&shown), ExitCode::SUCCESS)
}

fn test(args: &Channels, client: &Client, name: &str, wait: u32) -> Result<ExitCode, Complaint> {
    let kind = known(client, name)?;
    let tells_only = registry::notifier(&kind).is_some();
    let practice = Practice {
        wait,
        agent: "countersign channels test",
        hint: (!args.json).then(|| {
            let answer = if tells_only {
                format!("{name} tells you of it; open the link and answer on the page.")
            } else {
                format!("Answer it in {name}.")
            };
            format!("A practice card was sent. Nothing runs, whatever you answer. {answer}\n")
        }),
    };
    let answer = practice::put(&practice, client)?;
    let call: CallView = answer.read()?;
    let is_answered = matches!(call.status, Status::Approved | Status::Denied);
    let decision = call.decision.as_ref().filter(|_| is_answered);
    let via = decision.and_then(|it| it.via.as_deref());
    let approval = segment(call.approval_id.as_deref().unwrap_or_default());
    let path = format!("/v1/approvals/{approval}/deliveries");
    let (deliveries, list) = told(client, &path, name)?;
    // Nobody answers where people are only told.
    let is_there = if tells_only {
        is_answered
            && list
                .deliveries
                .iter()
                .any(|it| it.channel == name && is_told(it))
    } else {
        via == Some(name)
    };
    let code = match (is_there, is_answered) {
        (true, _) => ExitCode::SUCCESS,
        (false, true) => ExitCode::from(1),
        (false, false) => ExitCode::from(21),
    };
    if args.json {
        let (call, deliveries) = (answer.json(), deliveries.json());
        let said =
            json!({ "channel": name, "works": is_there, "call": call, "deliveries": deliveries });
        return written(print_json(&said), code);
    }
    let by = maybe(decision.and_then(|it| it.by.as_deref()));
    let line = if is_there && tells_only {
        format!("It works: {name} told people, and {by} answered.\n")
    } else if is_there {
        format!("It works: {by} answered through {name}.\n")
    } else if is_answered {
        format!("{by} answered, but through {}.\n", maybe(via))
    } else {
        let why = list.deliveries.iter().find(|it| it.channel == name);
        let why = why.map_or_else(String::new, |it| format!(" ({})", maybe(it.why.as_deref())));
        format!(
            "Nobody answered through {name}{why}. `countersign channels doctor {name}` checks the setup.\n"
        )
    };
    written(print(&line), code)
}

/// Returns where a card was delivered. An answer may come before it is noted that a channel has it.
fn told(client: &Client, path: &str, name: &str) -> Result<(Answer, DeliveryList), Complaint> {
    let since = Instant::now();
    loop {
        let deliveries = client.get(path)?;
        let list: DeliveryList = deliveries.read()?;
        let mut there = list.deliveries.iter().filter(|it| it.channel == name);
        let is_under_way = there.any(|it| it.status == DeliveryStatus::Trying);
        if !is_under_way || since.elapsed() > NOTED_WITHIN {
            return Ok((deliveries, list));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Whether people were told of a card.
fn is_told(delivery: &DeliveryView) -> bool {
    match delivery.status {
        DeliveryStatus::Delivered | DeliveryStatus::Settled => true,
        DeliveryStatus::Trying | DeliveryStatus::Failed => false,
    }
}

fn doctor(args: &Channels, client: &Client, name: Option<&str>) -> Result<ExitCode, Complaint> {
    let names = match name {
        Some(name) => {
            known(client, name)?;
            vec![name.to_owned()]
        }
        None => channels(client)?.into_iter().map(|it| it.name).collect(),
    };
    let mut answers = Vec::new();
    for name in &names {
        answers.push(client.get(&format!("/v1/channels/{}/doctor", segment(name)))?);
    }
    let all: Vec<Diagnosis> = answers.iter().map(Answer::read).collect::<Result<_, _>>()?;
    let mut findings = all.iter().flat_map(|it| &it.findings);
    let is_bad = findings.any(|finding| finding.state == State::Bad);
    let code = ExitCode::from(u8::from(is_bad));
    if args.json {
        let several: Vec<&Value> = answers.iter().map(Answer::json).collect();
        let said = match several.as_slice() {
            [only] if name.is_some() => (*only).clone(),
            several => json!({ "channels": several }),
        };
        return written(print_json(&said), code);
    }
    let mut shown = if all.is_empty() { NONE } else { "" }.to_owned();
    for channel in &all {
        let _infallible = writeln!(shown, "{}", text(&channel.channel));
        for finding in &channel.findings {
            shown.push_str(&line(finding));
        }
    }
    written(print(&shown), code)
}

/// Returns one finding as a person reads it: what, how it is, and what to do.
fn line(finding: &Finding) -> String {
    let (style, sign) = match finding.state {
        State::Good => (GOOD, "ok"),
        State::Bad => (BAD, "bad"),
        State::Doubtful => (DOUBTFUL, "look"),
    };
    let (check, found) = (text(&finding.check), text(&finding.found));
    let mut line = format!("  {style}{sign:4}{style:#} {check}: {found}\n");
    if !finding.fix.is_empty() {
        let _infallible = writeln!(line, "       → {}", text(&finding.fix));
    }
    line
}

fn channels(client: &Client) -> Result<Vec<ChannelView>, Complaint> {
    let list: ChannelList = client.get("/v1/channels")?.read()?;
    Ok(list.channels)
}

/// Returns the kind of a channel; fails unless there is one of this name.
fn known(client: &Client, name: &str) -> Result<String, Complaint> {
    let all = channels(client)?;
    if let Some(known) = all.iter().find(|it| it.name == name) {
        return Ok(known.kind.clone());
    }
    let names: Vec<String> = all.iter().map(|it| text(&it.name)).collect();
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
