//! Answers and events of a gateway, for tests: complete, with what a test is about put over it.

use countersign_gate::records::event::Event;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// When everything in a sample happened, in seconds.
pub(crate) const AT: f64 = 1_000.0;
/// The digest of every call in a sample.
const DIGEST: &str = "sha256:40b7bbb5b5d674fcde4e62b900d1f3461e1d7873f484f2acd67901fc110c8ee1";

/// Returns `base` with the fields of `over` put over it, however deep.
pub(crate) fn with(mut base: Value, over: Value) -> Value {
    match (&mut base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                let known = base.remove(&key).unwrap_or_default();
                base.insert(key, with(known, value));
            }
            Value::Object(std::mem::take(base))
        }
        (_, over) => over,
    }
}

/// Reads a sample as `T`.
pub(crate) fn read<T: DeserializeOwned>(sample: Value) -> T {
    let text = sample.to_string();
    serde_json::from_value(sample).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// An event that has these fields.
pub(crate) fn event(over: Value) -> Event {
    let base = json!({
        "approval_id": "appr_1", "call_id": "call_1", "run_id": "run_1", "session_id": "ses_1",
        "clarification_id": "clar_1", "review_id": "rev_1", "tool": "terminal", "tool_call_id": "1",
        "command": "ls", "description": "reads files", "choices": [], "args": null,
        "preview": "ls", "verdict": "ask", "status": "waiting", "risk": "high", "risk_score": 0.5,
        "confidence": 0.9, "side_effect": "read_only", "outbound": false,
        "crisis_sensitive": false, "reasons": [], "digest": DIGEST,
        "arguments_commitment": "sha256:00", "cause": "person", "edited": false, "tier": "T0",
        "question": "Which?", "by": "ana", "via": "page", "model": "m",
        "usage": { "input_tokens": 1, "output_tokens": 1, "total_tokens": 2 },
        "expires_at": AT + 300.0, "timestamp": AT,
    });
    let settled = match over["event"].as_str() {
        Some("clarify.resolved") => json!({ "outcome": "answered" }),
        _ => json!({}),
    };
    read(with(with(base, settled), over))
}

/// A decision that has these fields.
pub(crate) fn decision(over: Value) -> Value {
    let base = json!({
        "outcome": "approved", "cause": "person", "choice": null, "by": null, "via": null,
        "note": null, "at": AT, "grant_id": null, "args": null, "rule": null,
    });
    with(base, over)
}

/// An assessment that has these fields.
pub(crate) fn assessment(over: Value) -> Value {
    let base = json!({
        "tool_name": "terminal", "risk_score": 0.8, "confidence": 0.9, "pattern": "pre_execution_gate",
        "requires_human": true, "reasons": [], "reversible": false, "crisis_sensitive": false,
        "side_effect": "read_only", "outbound": false, "verdict": "ask", "factors": [],
        "findings": [], "rule": { "number": 9, "sentence": "it is critical" },
    });
    with(base, over)
}

/// An approval that has these fields.
pub(crate) fn approval(over: Value) -> Value {
    let choices = json!(["once", "session", "always", "deny"]);
    let base = json!({
        "approval_id": "appr_1", "call_id": "call_1", "run_id": "run_1", "session_id": "ses_1",
        "status": "waiting", "held_until": null, "tool": "terminal", "args": {},
        "command": "rm -rf /srv/www", "description": "deletes files", "choices": choices,
        "assessment": assessment(json!({})), "digest": DIGEST, "created_at": AT,
        "expires_at": AT + 300.0, "decision": null, "scopes": [],
        "card": {
            "approval_id": "appr_1", "title": "Run a shell command", "risk": "high",
            "reasons": ["deletes files"], "tool": "terminal", "command": "rm -rf /srv/www",
            "body": [{ "name": "Command", "text": "rm -rf /srv/www", "code": true }],
            "lineage": [], "explanation": null, "choices": choices, "expires_at": 1_300_000,
            "on_timeout": "If nobody answers in time, it does not run.", "tier": "T0",
            "digest": DIGEST, "outcome": null,
        },
    });
    with(base, over)
}

/// A call with how it was judged, that has these fields.
pub(crate) fn trace(over: Value) -> Value {
    let base = json!({
        "call_id": "call_1", "run_id": "run_1", "session_id": "ses_1", "tool": "terminal",
        "status": "allowed", "verdict": "allow", "assessment": assessment(json!({})),
        "digest": DIGEST, "approval_id": null, "expires_at": null, "decision": null, "token": null,
        "token_expires_at": null, "message": "Allowed.", "created_at": AT, "args": {},
        "command": "ls", "cwd": null, "agent": null, "key_name": "laptop", "policy": "sha256:11aa",
        "outcome": null,
    });
    with(base, over)
}

/// A question of an agent that has these fields.
pub(crate) fn question(over: Value) -> Value {
    let base = json!({
        "clarification_id": "clar_1", "status": "waiting", "question": "Which branch?",
        "choices": ["main", "next"], "session_id": "ses_1", "run_id": "run_1", "answer": null,
        "created_at": AT, "expires_at": AT + 300.0,
    });
    with(base, over)
}

/// What a gateway can do, with these skills of its agent.
pub(crate) fn capabilities(skills: &[(&str, &str, &str)]) -> Value {
    let skills = skills.iter();
    let skills =
        skills.map(|(name, does, asks)| json!({ "name": name, "does": does, "asks": asks }));
    json!({
        "object": "hermes.api_server.capabilities", "platform": "countersign", "model": "m", "version": "0",
        "auth": {}, "features": {}, "endpoints": {}, "skills": skills.collect::<Vec<_>>(),
    })
}

/// A standing permission that has these fields.
pub(crate) fn grant(over: Value) -> Value {
    let base = json!({
        "grant_id": "grant_1", "scope": scope("ls")["scope"], "words": "exactly `ls`",
        "key_id": "key_1", "session_id": null, "expires_at": null, "uses_left": null, "uses": 0,
        "last_used_at": null, "by": "ana", "created_at": AT, "approval_id": "appr_1",
        "live": true,
    });
    with(base, over)
}

/// A key of this role.
pub(crate) fn key(role: &str) -> Value {
    json!({
        "id": "key_1", "name": "laptop", "role": role, "created_at": AT, "created_by": "ana",
        "executors": [], "workspaces": [], "revoked_at": null,
    })
}

/// A permission that may be left, by what it says.
pub(crate) fn scope(words: &str) -> Value {
    json!({
        "scope": {
            "kind": "exact", "tool": "terminal", "arguments": DIGEST, "shown": words, "cwd": null,
            "within": {
                "effects": [], "risk": 0, "side_effect": "read_only", "outbound": false,
                "irreversible": false, "unknown": false,
            },
        },
        "words": words, "matched": null, "of": null, "riskiest": null,
    })
}
