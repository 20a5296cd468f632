//! `countersign keys` and `countersign people`: credentials and approvers.

use std::process::ExitCode;

use countersign_core::display::inline;
use countersign_core::status::RecordStatus;
use countersign_gate::base::principal::Role;
use countersign_gate::people::{KeyBounds, KeyView, NewKey};
use serde_json::json;

use crate::cli::{Keys, KeysCommand, People, PeopleCommand};
use crate::client::segment;
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::config::Home;
use crate::gateway::keys;
use crate::show::{ago, print, print_json, table, text};
use crate::wire::lists::{KeyList, PersonList};
use crate::wire::shown::LoginCode;

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
            // Standard output is the key alone, so that a script can take it.
            let shown = format!("{}\n", made.key);
            (json!(made), shown)
        }
        KeysCommand::List => {
            let answer = Client::new(reach)?.get("/v1/keys")?;
            let shown = list(&answer.read()?);
            (answer.into_json(), shown)
        }
        KeysCommand::Revoke { id } => {
            let answer = Client::new(reach)?.delete(&format!("/v1/keys/{}", segment(id)))?;
            let key: KeyView = answer.read()?;
            let shown = format!("{} is revoked.\n", text(&key.id));
            (answer.into_json(), shown)
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
            let made: LoginCode = client.post("/v1/login/code", &json!({}))?.read()?;
            let url = shown_at.unwrap_or_else(|| client.url());
            let link = format!("{url}/#code={}", made.code);
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

/// Creates a key in the home's own store.
fn create(reach: &Reach, role: &str, name: &str, bounds: &KeyBounds) -> Result<NewKey, Complaint> {
    let role = Role::ALL
        .into_iter()
        .find(|it| it.word() == role)
        .ok_or_else(|| Complaint::usage(format!("`{role}` is not a role"), ""))?;
    keys::create(&Home::new(reach.home.clone())?, role, name, bounds)
}

fn list(list: &KeyList) -> String {
    let rows: Vec<Vec<String>> = list
        .keys
        .iter()
        .map(|it| {
            vec![
                text(&it.id),
                text(&it.name),
                it.role.word().to_owned(),
                names(&it.executors),
                names(&it.workspaces),
                format!("{} by {}", ago(it.created_at), text(&it.created_by)),
                it.revoked_at.map_or_else(
                    || RecordStatus::Live.word().to_owned(),
                    |revoked| format!("revoked {}", ago(revoked)),
                ),
            ]
        })
        .collect();
    if rows.is_empty() {
        return "There are no keys.\n`countersign keys create --role agent --name NAME` creates one.\n"
            .to_owned();
    }
    table(
        &[
            "key",
            "name",
            "role",
            "runs",
            "workspaces",
            "created",
            "state",
        ],
        &rows,
    )
}

/// Returns what a key is bound to.
fn names(bound: &[String]) -> String {
    let bound: Vec<String> = bound.iter().map(|it| inline(it)).collect();
    text(&bound.join(", "))
}

/// Does what was asked with people.
pub(crate) fn people(args: &People, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let (answer, shown) = match &args.command {
        None => {
            let answer = client.get("/v1/people")?;
            let shown = people_list(&answer.read()?);
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
        print_json(answer.json())
    } else {
        print(&shown)
    };
    written(result, ExitCode::SUCCESS)
}

fn people_list(list: &PersonList) -> String {
    let rows: Vec<Vec<String>> = list
        .people
        .iter()
        .map(|it| {
            let accounts: Vec<String> = it.accounts.keys().map(|it| inline(it)).collect();
            vec![text(&it.name), it.roles.join(", "), accounts.join(", ")]
        })
        .collect();
    if rows.is_empty() {
        return "Nobody may answer yet.\n\
                `countersign keys create --role approver --name NAME` lets somebody.\n"
            .to_owned();
    }
    table(&["name", "role", "accounts"], &rows)
}
