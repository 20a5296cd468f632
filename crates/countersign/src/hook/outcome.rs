//! Reports what came of a call that the gateway decided about.
//!
//! The hook after a call is another process than the one before it. What joins them is a file with
//! the gateway's id of the call, named by the agent's own id of it, or by tool and arguments where the
//! agent has none.

use std::path::PathBuf;

use countersign_core::digest::Digest;
use reqwest::Method;
use serde_json::json;

use super::adapter::{Ran, Wish};
use super::{Hook, create_private, sweep};
use crate::client::{Client, segment};
use crate::complaint::Complaint;

/// Notes that the call `wish` is the gateway's call `id`. A note that cannot be written costs the
/// report, nothing else.
pub(super) fn expect(hook: &Hook, wish: &Wish, id: &str) {
    let file = file(hook, wish);
    if let Some(directory) = file.parent() {
        let _created = create_private(directory);
        sweep(directory);
    }
    let _noted = std::fs::write(file, id);
}

/// Reports `ran`, if the gateway knows of the call.
pub(super) fn report(hook: &Hook, ran: &Ran) -> Result<(), Complaint> {
    let file = file(hook, &ran.wish);
    let Ok(id) = std::fs::read_to_string(&file) else {
        return Ok(());
    };
    let _gone = std::fs::remove_file(file);
    let client = Client::new(&hook.reach())?;
    let path = format!("/v1/calls/{}/outcome", segment(&id));
    let body = json!({
        "failed": ran.failed,
        "duration_millis": ran.duration_millis,
        "exit_code": ran.exit_code,
    });
    client.block_on(async {
        let sent = client.send(Method::POST, &path, Some(&body)).await?;
        sent.done().map(drop)
    })
}

fn file(hook: &Hook, wish: &Wish) -> PathBuf {
    let call = match &wish.id {
        Some(id) => format!("id\0{id}"),
        None => format!("call\0{}\0{}", wish.tool, wish.args),
    };
    let name = format!("{}\0{}\0{call}", hook.adapter.name, wish.session);
    let name = Digest::of(name.as_bytes()).hex();
    hook.directory().join("calls").join(name)
}
