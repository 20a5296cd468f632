//! Shows a client the link to a card, where the client says that it can open one.
//!
//! Separate because nothing that comes back from it is consent: the state that a client carries only
//! names the question it asked, and the gateway alone says how that was answered.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::digest::Digest;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::Sha256;

use super::call::{Arguments, Call, STATE_MARK};
use crate::complaint::Complaint;

/// What the ids of the proxy's own requests begin with.
const OWN: &str = "countersign-link-";
/// The name of the proxy's question among those of a server.
const INPUT: &str = "countersign";

/// A link to the card of a question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link<'a> {
    /// Where people find the page.
    pub(super) page: &'a str,
    /// The question.
    pub(super) approval: &'a str,
    /// The tool it is about.
    pub(super) tool: &'a str,
}

impl Link<'_> {
    fn params(&self) -> Value {
        let Self {
            page,
            approval,
            tool,
        } = self;
        json!({
            "mode": "url",
            "url": format!("{}/#/approvals/{approval}", page.trim_end_matches('/')),
            "message": format!(
                "Countersign asks a person about {}. Open the card to answer it there.",
                countersign_core::display::inline(tool)
            ),
        })
    }

    /// Returns the request that shows it to a client with a session.
    pub(super) fn request(&self, states: &States) -> Vec<u8> {
        let mut params = self.params();
        if let Some(params) = params.as_object_mut() {
            params.insert("elicitationId".to_owned(), self.approval.into());
        }
        json!({
            "jsonrpc": "2.0",
            "id": format!("{OWN}{}-{}", states.nonce, self.approval),
            "method": "elicitation/create",
            "params": params,
        })
        .to_string()
        .into_bytes()
    }

    /// Returns the answer that shows it to a client without a session.
    pub(super) fn required(&self, call: &Call, state: &str) -> Vec<u8> {
        let question = json!({ "method": "elicitation/create", "params": self.params() });
        let result = json!({
            "resultType": "input_required",
            "requestState": state,
            "inputRequests": { INPUT: question },
        });
        let id = call.id.get();
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into_bytes()
    }
}

/// Seals the states that clients carry, with a key of this process.
pub(super) struct States {
    key: [u8; 64],
    nonce: String,
}

impl std::fmt::Debug for States {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("States")
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct State {
    principal: String,
    approval: String,
    digest: Digest,
}

impl States {
    pub(super) fn new() -> Result<Self, Complaint> {
        let (mut key, mut nonce) = ([0; 64], [0; 9]);
        getrandom::fill(&mut key)
            .and_then(|()| getrandom::fill(&mut nonce))
            .map_err(|error| Complaint::failed(format!("no randomness: {error}"), ""))?;
        Ok(Self {
            key,
            nonce: URL_SAFE_NO_PAD.encode(nonce),
        })
    }

    /// Returns what tells this process from others.
    pub(super) fn nonce(&self) -> &str {
        &self.nonce
    }

    /// Whether a request of the proxy has the id of this key.
    pub(super) fn is_own(&self, key: &str) -> bool {
        key.strip_prefix("text ")
            .and_then(|id| id.strip_prefix(OWN))
            .is_some_and(|id| id.starts_with(&self.nonce))
    }

    /// Returns the state of a question about `call`.
    pub(super) fn seal(&self, principal: &str, approval: &str, digest: Digest) -> String {
        let state = State {
            principal: principal.to_owned(),
            approval: approval.to_owned(),
            digest,
        };
        let state = serde_json::to_vec(&state).unwrap_or_default();
        let seal = self.mac(&state).finalize().into_bytes();
        let (state, seal) = (URL_SAFE_NO_PAD.encode(state), URL_SAFE_NO_PAD.encode(seal));
        format!("{STATE_MARK}{state}.{seal}")
    }

    /// Returns the question of a state that was sealed here for the same call of the same principal.
    pub(super) fn open(&self, state: &str, principal: &str, digest: Digest) -> Option<String> {
        let (state, seal) = state.strip_prefix(STATE_MARK)?.split_once('.')?;
        let state = URL_SAFE_NO_PAD.decode(state).ok()?;
        let seal = URL_SAFE_NO_PAD.decode(seal).ok()?;
        self.mac(&state).verify_slice(&seal).ok()?;
        let state: State = serde_json::from_slice(&state).ok()?;
        let is_same = state.principal == principal && state.digest == digest;
        is_same.then_some(state.approval)
    }

    fn mac(&self, state: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.key.into());
        mac.update(state);
        mac
    }
}

/// Returns the digest of what a call would do.
pub(super) fn digest(call: &Call) -> Digest {
    let (encoding, arguments) = match &call.arguments {
        Arguments::Canonical(value) => (
            "jcs",
            countersign_core::canonical::canonical(value).unwrap_or_default(),
        ),
        Arguments::Raw(text) => ("raw", text.clone().into_bytes()),
    };
    let extras = call.extras.map(|extras| extras.hex()).unwrap_or_default();
    let mut whole = format!(
        "countersign/v1/mcp\0tools/call\0{}\0{}\0{encoding}\0{extras}\0",
        call.tool.len(),
        call.tool
    )
    .into_bytes();
    whole.extend(arguments);
    Digest::of(&whole)
}
