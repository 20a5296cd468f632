//! Decides about a call: alone where that is safe, otherwise by asking the gateway.

use countersign_core::assessment::SideEffect;
use countersign_core::call::ToolCall;
use countersign_core::judge::consider_after;
use countersign_core::verdict::{Verdict, verdict};
use countersign_core::written::Written;
use serde_json::{Value, json};

use super::adapter::{Answer, Wish};
use super::{Hook, ask, conversation, spool};
use crate::client::Client;
use crate::complaint::Complaint;
use crate::config::whole_policy;

/// What this process may decide by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alone {
    /// The call changes nothing and is allowed whatever happened before.
    Allows,
    /// The same, but it changes something that the gateway should know before later calls; it runs
    /// without the gateway only while that is away.
    AllowsIfAway,
    /// A person, or what the session did before, may have a say.
    Nothing,
}

/// Decides about `wish`.
pub(super) fn decide(hook: &Hook, wish: &Wish) -> Result<Answer, Complaint> {
    let said = conversation::recall(hook, &wish.session);
    let call = ToolCall {
        tool: wish.tool.clone(),
        args: wish.args.clone(),
        cwd: wish.cwd.clone(),
        workspace: wish.workspace.clone().or_else(|| wish.cwd.clone()),
        replying_to: said,
        ..ToolCall::default()
    };
    let alone = alone(hook, &call)?;
    let mut body = body(hook, &call, &wish.session, wish.part.as_deref());
    if let Some(fields) = body.as_object_mut()
        && !hook.adapter.takes_changes(wish)
    {
        fields.insert("takes_changes".to_owned(), false.into());
    }
    if alone == Alone::Allows {
        spool::add(hook, body, false)?;
        return Ok(Answer::Allow);
    }
    match Client::new(&hook.reach()).and_then(|client| ask::ask(hook, &client, wish, &body)) {
        Err(complaint) if complaint.is_unreachable() && alone == Alone::AllowsIfAway => {
            spool::add(hook, body, true)?;
            Ok(Answer::Allow)
        }
        asked => asked,
    }
}

/// Judges `call` by the rules of its directory, as if nothing had happened before.
fn alone(hook: &Hook, call: &ToolCall) -> Result<Alone, Complaint> {
    let Some(policy) = whole_policy(&hook.home, call.cwd.as_deref())? else {
        return Ok(Alone::Nothing);
    };
    let considered = consider_after(&policy, call, &[], Written::default());
    let ruling = verdict(&considered.assessment, &considered.situation);
    if ruling.verdict != Verdict::Allow || !considered.stands_alone() {
        return Ok(Alone::Nothing);
    }
    let changes_nothing = considered.assessment.side_effect == SideEffect::ReadOnly
        && considered.files.writes.is_empty();
    Ok(if changes_nothing {
        Alone::Allows
    } else {
        Alone::AllowsIfAway
    })
}

/// Returns the body of the request that submits `call`.
fn body(hook: &Hook, call: &ToolCall, session: &str, part: Option<&str>) -> Value {
    let agent = match part {
        Some(part) => format!("{} ({part})", hook.adapter.name),
        None => hook.adapter.name.to_owned(),
    };
    let turns = call.replying_to.iter();
    let turns: Vec<Value> = turns
        .map(|turn| json!({ "from": turn.from, "text": turn.text }))
        .collect();
    json!({
        "tool": call.tool,
        "args": call.args,
        "session_id": session,
        "agent": agent,
        "cwd": call.cwd,
        "workspace": call.workspace,
        "replying_to": turns,
    })
}
