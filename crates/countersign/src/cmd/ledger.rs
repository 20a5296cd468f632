//! `countersign ledger`: whether the record is what it was.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::ExitCode;

use countersign_core::ledger::Verifier;
use serde_json::{Value, json};

use super::show::{print, print_json, text};
use crate::cli::{Ledger, LedgerCommand};
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::config::Home;
use crate::config::read::at;
use crate::gateway::{self, open_beside};

/// Does what was asked with the ledger.
pub(crate) fn run(args: &Ledger, reach: &Reach) -> Result<ExitCode, Complaint> {
    match &args.command {
        LedgerCommand::Export => export(reach),
        LedgerCommand::Verify { file, json } => {
            let state = match file {
                Some(file) => verify_file(file)?,
                None => verify_home(reach)?,
            };
            let ok = at(&state, "ok") == true;
            let code = ExitCode::from(u8::from(!ok));
            if *json {
                return written(print_json(&state), code);
            }
            let shown = if ok {
                format!(
                    "The ledger is what it was: {} entries, {} signed checkpoints.\nhead {}\n",
                    text(&state, "entries"),
                    text(&state, "checkpoints"),
                    text(&state, "head")
                )
            } else {
                format!(
                    "The ledger was changed. The first bad entry is {}: {}.\n\
                     The {} entries before it are what they were.\n",
                    text(&state, "first_bad"),
                    text(&state, "why"),
                    text(&state, "entries")
                )
            };
            written(print(&shown), code)
        }
    }
}

fn verify_home(reach: &Reach) -> Result<Value, Complaint> {
    let home = Home::new(reach.home.clone())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| Complaint::failed(format!("cannot start: {error}"), ""))?;
    runtime.block_on(async {
        let gate = open_beside(&home).await?;
        let state = gate.verify_ledger(&gateway::owner("command line")).await;
        gate.store().close().await;
        let state = state.map_err(|error| Complaint::failed(error.to_string(), ""))?;
        Ok(json!(state))
    })
}

/// Verifies an exported file without any gateway.
fn verify_file(file: &Path) -> Result<Value, Complaint> {
    let unreadable = |error: std::io::Error| {
        Complaint::usage(format!("cannot read {}: {error}", file.display()), "")
    };
    let mut verifier = Verifier::new(None, None);
    let mut count = 0u64;
    let mut broken = None;
    for line in BufReader::new(File::open(file).map_err(unreadable)?).lines() {
        let line = line.map_err(unreadable)?;
        if line.trim().is_empty() {
            continue;
        }
        if let Err(error) = verifier.take_line(&line) {
            broken = Some(error);
            break;
        }
        count += 1;
    }
    let found = match broken {
        Some(broken) => Err(broken),
        None => verifier.finish(),
    };
    Ok(match found {
        Ok(good) => json!({
            "ok": true, "entries": good.entries, "head": good.head.hash.to_string(),
            "checkpoints": good.checkpoints, "first_bad": null, "why": null,
        }),
        Err(broken) => json!({
            "ok": false, "entries": count, "head": null, "checkpoints": null,
            "first_bad": broken.seq, "why": broken.why,
        }),
    })
}

/// Writes every entry of the ledger, one JSON object per line.
fn export(reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let mut after = 0;
    let stdout = std::io::stdout();
    let mut out = stdout.lock();
    loop {
        let page = client.get(&format!("/v1/ledger?after={after}&limit=1000"))?;
        let entries = at(&page, "entries").as_array().cloned().unwrap_or_default();
        let Some(last) = entries.last().and_then(|entry| at(entry, "seq").as_u64()) else {
            return Ok(ExitCode::SUCCESS);
        };
        for entry in &entries {
            if let Err(error) = writeln!(out, "{entry}") {
                return written(Err(error), ExitCode::SUCCESS);
            }
        }
        after = last;
    }
}
