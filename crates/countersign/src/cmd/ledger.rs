//! `countersign ledger`: verify, export, anchor.

use std::fs::File;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use countersign_core::ledger::checkpoint::Checkpoint;
use countersign_core::ledger::head::parse_kept;
use countersign_core::ledger::{Entry, Verifier};
use countersign_gate::ledger::anchor::Anchor;
use countersign_gate::ledger::verify::{Evidence, LedgerState};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::{Ledger, LedgerCommand};
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::config::Home;
use crate::gateway::{Ground, damaged, lock, user_name};
use crate::show::{count, maybe, print, print_json, text};

/// How often it is said how far it has come.
const TOLD_EVERY: u64 = 10_000;

/// Does what was asked with the ledger.
pub(crate) fn run(args: &Ledger, reach: &Reach) -> Result<ExitCode, Complaint> {
    match &args.command {
        LedgerCommand::Export => export(reach),
        LedgerCommand::Anchor { accept } => anchor(reach, *accept, args.json),
        LedgerCommand::Verify { file, anchor } => {
            let kept = anchor.as_deref().map(kept_elsewhere).transpose()?;
            let state = match file {
                Some(file) => verify_file(file, kept)?,
                None => verify_home(reach, kept)?,
            };
            let code = ExitCode::from(u8::from(!state.ok));
            if args.json {
                return written(print_json(&state.json), code);
            }
            written(print(&state.words), code)
        }
    }
}

/// What verifying came to, for programs and for people.
struct Verified {
    ok: bool,
    json: Value,
    words: String,
}

/// Says what was found, in words. A file has no records beside it.
fn found(state: &LedgerState, records: Option<u64>) -> String {
    let (entries, why) = (state.entries, maybe(state.why.as_deref()));
    if state.ok {
        let records = match records {
            Some(1) => " 1 record matches it.".to_owned(),
            Some(records) => format!(" {records} records match it."),
            None => String::new(),
        };
        let checkpoints = count(state.checkpoints, "signed checkpoint", "signed checkpoints");
        return format!(
            "The ledger is intact: {}, {checkpoints}.{records}\nhead {entries}:{}\n",
            count(entries, "entry", "entries"),
            text(&state.head),
        );
    }
    let Some(first_bad) = state.first_bad else {
        return format!(
            "The {entries} entries of the ledger are intact, but the records differ: {why}.\n"
        );
    };
    format!(
        "The ledger was changed. The first bad entry is {first_bad}: {why}.\n\
         The {entries} entries before it are what they were.\n"
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

fn verify_home(reach: &Reach, kept: Option<Checkpoint>) -> Result<Verified, Complaint> {
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
        Ok(Verified {
            ok: state.ok,
            json: json!(state),
            words: found(&state, Some(state.records)),
        })
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
fn verify_file(file: &Path, kept: Option<Checkpoint>) -> Result<Verified, Complaint> {
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
    let checked = match broken {
        Some(broken) => Err(broken),
        None => verifier.finish(),
    };
    let (state, json) = match checked {
        Ok(good) => {
            let state = LedgerState {
                ok: true,
                entries: good.entries,
                head: good.head.hash.to_string(),
                checkpoints: good.checkpoints,
                ..LedgerState::default()
            };
            let json = json!({
                "ok": true, "entries": state.entries, "head": state.head,
                "checkpoints": state.checkpoints, "first_bad": null, "why": null,
            });
            (state, json)
        }
        Err(broken) => {
            let state = LedgerState {
                entries: count,
                first_bad: Some(broken.seq),
                why: Some(broken.why.to_string()),
                ..LedgerState::default()
            };
            let json = json!({
                "ok": false, "entries": count, "head": null, "checkpoints": null,
                "first_bad": broken.seq, "why": broken.why,
            });
            (state, json)
        }
    };
    Ok(Verified {
        ok: state.ok,
        json,
        words: found(&state, None),
    })
}

/// A page of the ledger, each entry as it came: hashes are over every field, known or not.
#[derive(Deserialize)]
struct RawEntries {
    entries: Vec<Value>,
}

/// Writes every entry of the ledger, one JSON object per line.
fn export(reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let mut after = 0;
    let stdout = std::io::stdout();
    let mut out = stdout.lock();
    loop {
        let page = client.get(&format!("/v1/ledger?after={after}&limit=1000"))?;
        let entries = page.read::<RawEntries>()?.entries;
        let Some(last) = entries.last() else {
            return Ok(ExitCode::SUCCESS);
        };
        let last = Entry::deserialize(last)
            .map_err(|error| Complaint::failed(format!("an entry cannot be read: {error}"), ""))?
            .seq;
        for entry in &entries {
            if let Err(error) = writeln!(out, "{entry}") {
                return written(Err(error), ExitCode::SUCCESS);
            }
        }
        after = last;
    }
}
