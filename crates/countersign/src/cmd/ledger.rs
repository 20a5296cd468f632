//! `countersign ledger`: whether the record is what it was.

use std::fs::File;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use countersign_core::ledger::Verifier;
use countersign_core::ledger::checkpoint::Checkpoint;
use countersign_core::ledger::head::parse_kept;
use countersign_gate::ledger::anchor::Anchor;
use countersign_gate::ledger::verify::Evidence;
use serde_json::{Value, json};

use crate::cli::{Ledger, LedgerCommand};
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::config::Home;
use crate::config::read::at;
use crate::gateway::{Ground, damaged, lock, user_name};
use crate::show::{print, print_json, text};

/// How often it is said how far it has come.
const TOLD_EVERY: u64 = 10_000;

/// Does what was asked with the ledger.
pub(crate) fn run(args: &Ledger, reach: &Reach) -> Result<ExitCode, Complaint> {
    match &args.command {
        LedgerCommand::Export => export(reach),
        LedgerCommand::Anchor { accept, json } => anchor(reach, *accept, *json),
        LedgerCommand::Verify { file, anchor, json } => {
            let kept = anchor.as_deref().map(kept_elsewhere).transpose()?;
            let state = match file {
                Some(file) => verify_file(file, kept)?,
                None => verify_home(reach, kept)?,
            };
            let ok = at(&state, "ok") == true;
            let code = ExitCode::from(u8::from(!ok));
            if *json {
                return written(print_json(&state), code);
            }
            written(print(&found(&state, ok)), code)
        }
    }
}

/// Says what was found, in words.
fn found(state: &Value, ok: bool) -> String {
    if ok {
        let records = match at(state, "records").as_u64() {
            Some(records) => format!(" {records} records match it."),
            None => String::new(),
        };
        return format!(
            "The ledger is intact: {entries} entries, {} signed checkpoints.{records}\nhead {entries}:{}\n",
            text(state, "checkpoints"),
            text(state, "head"),
            entries = text(state, "entries"),
        );
    }
    if at(state, "first_bad").is_null() {
        return format!(
            "The {} entries of the ledger are intact, but the records differ: {}.\n",
            text(state, "entries"),
            text(state, "why"),
        );
    }
    format!(
        "The ledger was changed. The first bad entry is {}: {}.\n\
         The {} entries before it are what they were.\n",
        text(state, "first_bad"),
        text(state, "why"),
        text(state, "entries")
    )
}

/// Reads a head that a person kept: in a file, or as it was printed.
fn kept_elsewhere(given: &str) -> Result<Checkpoint, Complaint> {
    let path = Path::new(given);
    let text = if path.is_file() {
        std::fs::read_to_string(path)
            .map_err(|error| Complaint::usage(format!("cannot read {given}: {error}"), ""))?
    } else {
        given.to_owned()
    };
    parse_kept(&text).map_err(|_| {
        Complaint::usage(
            "`--anchor` is neither a ledger head nor a file with one",
            "give the output of `countersign ledger anchor`, or a file with it",
        )
    })
}

fn verify_home(reach: &Reach, kept: Option<Checkpoint>) -> Result<Value, Complaint> {
    let home = Home::new(reach.home.clone())?;
    runtime()?.block_on(async {
        let ground = Ground::of_ledger(&home).await?;
        let anchor = ground.anchor(&home);
        let evidence = Evidence {
            store: &ground.store,
            signer: &ground.signer,
            now: ground.clock.machine(),
            anchor: Some(&anchor),
            kept,
            progress: tell_progress,
        };
        let state = evidence.verify().await;
        ground.store.close().await;
        let state = state.map_err(|error| Complaint::failed(error.to_string(), ""))?;
        Ok(json!(state))
    })
}

/// Says on a terminal how far it has come.
fn tell_progress(done: u64, of: u64) {
    let mut stderr = std::io::stderr().lock();
    if of < TOLD_EVERY || !stderr.is_terminal() {
        return;
    }
    let end = if done >= of { "\r\u{1b}[K" } else { "" };
    // Nobody who looks at it minds if it cannot be written.
    let _told = write!(stderr, "\r{done} of {of}{end}");
}

/// Prints the head of the ledger, to be kept elsewhere, or takes the ledger as it is.
fn anchor(reach: &Reach, accept: bool, json: bool) -> Result<ExitCode, Complaint> {
    let home = Home::new(reach.home.clone())?;
    let (head, signed) = runtime()?.block_on(async {
        let ground = Ground::of_ledger(&home).await?;
        let anchor = ground.anchor(&home);
        let now = ground.clock.now();
        let done = if accept {
            take_as_it_is(&home, &anchor, &ground).await
        } else {
            let compared = anchor.compare(&ground.store).await;
            compared.map(drop).map_err(|error| damaged(&error))
        };
        let head = match done {
            Ok(()) => {
                let head = anchor.signed_head(&ground.store, now).await;
                head.map_err(|error| Complaint::failed(error.to_string(), ""))
            }
            Err(complaint) => Err(complaint),
        };
        ground.store.close().await;
        head
    })?;
    let printed = if json {
        print_json(&signed)
    } else {
        print(&format!("{}\n", head.last.text()))
    };
    written(printed, ExitCode::SUCCESS)
}

async fn take_as_it_is(home: &Home, anchor: &Anchor, ground: &Ground) -> Result<(), Complaint> {
    // Held until it is done: a gateway that works keeps the head itself.
    let Some(_alone) = lock(home)? else {
        return Err(Complaint::failed(
            "a gateway is using this home",
            "stop the gateway first",
        ));
    };
    let (now, by) = (ground.clock.now(), user_name());
    let accepted = anchor.accept(&ground.store, now, &by).await;
    accepted.map(drop).map_err(|error| damaged(&error))
}

fn runtime() -> Result<tokio::runtime::Runtime, Complaint> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| Complaint::failed(format!("cannot start: {error}"), ""))
}

/// Verifies an exported file without any gateway.
fn verify_file(file: &Path, kept: Option<Checkpoint>) -> Result<Value, Complaint> {
    let unreadable = |error: std::io::Error| {
        Complaint::usage(format!("cannot read {}: {error}", file.display()), "")
    };
    let mut verifier = Verifier::new(None, kept);
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
