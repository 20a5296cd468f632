//! `countersign keys` and `countersign people`: who may ask and who may answer.

use std::process::ExitCode;

use countersign_gate::GateError;
use countersign_gate::base::principal::Role;
use countersign_gate::people::KeyBounds;
use serde_json::{Value, json};

use crate::cli::{Keys, KeysCommand, People, PeopleCommand};
use crate::client::segment;
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::config::Home;
use crate::config::read::at;
use crate::gateway::open_beside;
use crate::show::{ago, print, print_json, table, text};

/// Does what was asked with keys.
pub(crate) fn run(args: &Keys, reach: &Reach) -> Result<ExitCode, Complaint> {
    let (answer, shown) = match &args.command {
        KeysCommand::Create {
            role,
            name,
            executor,
            workspace,
        } => {
            let bounds = KeyBounds {
                executors: executor.clone(),
                workspaces: workspace.clone(),
            };
            let made = create(reach, role, name, &bounds)?;
            let key = text(&made, "key");
            // Standard output is the key alone, so that a script can take it.
            (made, format!("{key}\n"))
        }
        KeysCommand::List => {
            let answer = Client::new(reach)?.get("/v1/keys")?;
            let shown = list(&answer);
            (answer, shown)
        }
        KeysCommand::Revoke { id } => {
            let answer = Client::new(reach)?.delete(&format!("/v1/keys/{}", segment(id)))?;
            (answer, format!("{} is revoked.\n", segment(id)))
        }
        KeysCommand::Login => {
            // The home's gateway makes the code; `--url` says where a browser finds that gateway.
            let (client, shown_at) = match &reach.url {
                Some(url) if reach.key_file.is_none() => (
                    Client::new(&Reach {
                        url: None,
                        ..reach.clone()
                    })?,
                    Some(url.trim_end_matches('/').to_owned()),
                ),
                Some(_) | None => (Client::new(reach)?, None),
            };
            let answer = client.post("/v1/login/code", &json!({}))?;
            let url = shown_at.unwrap_or_else(|| client.url());
            let link = format!("{url}/#code={}", text(&answer, "code"));
            let shown = format!("{link}\n");
            (json!({"login_url": link}), shown)
        }
    };
    let result = if args.json {
        print_json(&answer)
    } else {
        print(&shown)
    };
    written(result, ExitCode::SUCCESS)
}

/// Makes a key in the home's own database: whoever can write there is its admin anyway.
fn create(reach: &Reach, role: &str, name: &str, bounds: &KeyBounds) -> Result<Value, Complaint> {
    let role = Role::ALL
        .into_iter()
        .find(|it| it.word() == role)
        .ok_or_else(|| Complaint::usage(format!("`{role}` is not a role"), ""))?;
    let home = Home::new(reach.home.clone())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| Complaint::failed(format!("cannot start: {error}"), ""))?;
    runtime.block_on(async {
        let gate = open_beside(&home).await?;
        let made = gate
            .create_bound_key("command line", name, role, bounds)
            .await;
        gate.store().close().await;
        let made = made.map_err(|error| {
            if let GateError::Invalid { message, .. } = error {
                return Complaint::usage(message, "see --help");
            }
            let hint = "is the disk full, or does the home belong to somebody else?";
            Complaint::failed(error.to_string(), hint)
        })?;
        Ok(json!({"id": made.id, "key": made.key, "role": made.role.word(), "name": made.name}))
    })
}

fn list(answer: &Value) -> String {
    let rows: Vec<Vec<String>> = at(answer, "keys")
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| {
            vec![
                text(it, "id"),
                text(it, "name"),
                text(it, "role"),
                names(it, "executors"),
                names(it, "workspaces"),
                format!("{} by {}", ago(it, "created_at"), text(it, "created_by")),
                match at(it, "revoked_at").as_f64() {
                    Some(_) => format!("revoked {}", ago(it, "revoked_at")),
                    None => "live".to_owned(),
                },
            ]
        })
        .collect();
    if rows.is_empty() {
        return "There are no keys.\n`countersign keys create --role agent --name NAME` creates one.\n"
            .to_owned();
    }
    table(
        &["key", "name", "role", "runs", "workspaces", "made", "state"],
        &rows,
    )
}

/// Returns what a key is bound to.
fn names(key: &Value, list: &str) -> String {
    let bound = at(key, list).as_array().into_iter().flatten();
    let bound: Vec<String> = bound
        .filter_map(Value::as_str)
        .map(countersign_core::display::inline)
        .collect();
    if bound.is_empty() {
        "-".to_owned()
    } else {
        bound.join(", ")
    }
}

/// Does what was asked with people.
pub(crate) fn people(args: &People, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let (answer, shown) = match &args.command {
        None => {
            let answer = client.get("/v1/people")?;
            let shown = people_list(&answer);
            (answer, shown)
        }
        Some(PeopleCommand::Set {
            name,
            role,
            account,
        }) => {
            let mut accounts = serde_json::Map::new();
            for pair in account {
                let (channel, id) = pair.split_once('=').ok_or_else(|| {
                    let hint = "such as --account mattermost=USERID";
                    Complaint::usage(format!("`{pair}` is not CHANNEL=ACCOUNT"), hint)
                })?;
                accounts.insert(channel.to_owned(), json!(id));
            }
            let body = json!({"name": name, "roles": role, "accounts": accounts});
            let answer = client.post("/v1/people", &body)?;
            (answer, "Done.\n".to_owned())
        }
        Some(PeopleCommand::Remove { name }) => {
            let answer = client.delete(&format!("/v1/people/{}", segment(name)))?;
            (answer, "Removed.\n".to_owned())
        }
    };
    let result = if args.json {
        print_json(&answer)
    } else {
        print(&shown)
    };
    written(result, ExitCode::SUCCESS)
}

fn people_list(answer: &Value) -> String {
    let rows: Vec<Vec<String>> = at(answer, "people")
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| {
            let roles: Vec<&str> = at(it, "roles")
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let accounts: Vec<String> = at(it, "accounts")
                .as_object()
                .into_iter()
                .flatten()
                .map(|(channel, _)| countersign_core::display::inline(channel))
                .collect();
            vec![text(it, "name"), roles.join(", "), accounts.join(", ")]
        })
        .collect();
    if rows.is_empty() {
        return "Nobody may answer yet.\n\
                `countersign keys create --role approver --name NAME` lets somebody.\n"
            .to_owned();
    }
    table(&["name", "may", "accounts"], &rows)
}
