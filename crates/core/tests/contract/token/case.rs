//! One vector, and how to sign anything for one.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use countersign_core::canonical::canonical;
use countersign_core::digest::{Action, Digest, Encoding, context};
use countersign_core::token::PublicKey;
use ed25519_dalek::{Signer as _, SigningKey};
use serde_json::{Value, json};

/// The time of most vectors.
pub(crate) const NOW: i64 = 1_790_000_000;

/// One vector: what a verifier is handed, what it is about to do, and what it must say.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) token: String,
    pub(crate) keys: Vec<Value>,
    pub(crate) now: i64,
    pub(crate) expected: Value,
    /// The vector that the same verifier was handed before.
    pub(crate) after: Option<String>,
    /// `ok` or the code of the refusal.
    pub(crate) result: String,
}

impl Case {
    /// Returns the vector in which the call is made that the token is for.
    pub(crate) fn new(name: &str, token: &str, result: &str) -> Self {
        Self {
            name: name.to_owned(),
            token: token.to_owned(),
            keys: vec![PublicKey::new(key().verifying_key()).jwk()],
            now: NOW,
            expected: Call::default().expected(),
            after: None,
            result: result.to_owned(),
        }
    }

    /// Returns it at another time.
    pub(crate) fn at(self, now: i64) -> Self {
        Self { now, ..self }
    }

    /// Returns it with another call about to be made.
    pub(crate) fn doing(self, expected: Value) -> Self {
        Self { expected, ..self }
    }

    /// Returns it with one member of the call about to be made changed; null takes it away.
    pub(crate) fn but(mut self, member: &str, value: Value) -> Self {
        let expected = self.expected.as_object_mut().unwrap();
        if value.is_null() {
            expected.shift_remove(member);
        } else {
            expected.insert(member.to_owned(), value);
        }
        self
    }

    /// Returns it as one line of the file, in ASCII: what lines are is not the same everywhere.
    pub(crate) fn line(&self) -> String {
        let mut row = json!({
            "name": self.name,
            "token": self.token,
            "jwks": {"keys": self.keys},
            "now": self.now,
            "expected": self.expected,
        });
        if let Some(after) = &self.after {
            row["after"] = json!(after);
        }
        row["result"] = json!(self.result);
        let mut line = String::new();
        for letter in row.to_string().chars() {
            if letter.is_ascii() && letter != '\u{7f}' {
                line.push(letter);
            } else {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    write!(line, "\\u{unit:04x}").unwrap();
                }
            }
        }
        line
    }
}

/// The call a token is for.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) executor: String,
    pub(crate) session: String,
    pub(crate) agent: String,
    pub(crate) arguments: Value,
    pub(crate) raw: Option<Vec<u8>>,
    pub(crate) cwd: Option<String>,
    pub(crate) attachments: Vec<Digest>,
    pub(crate) definition: Option<Digest>,
}

impl Default for Call {
    fn default() -> Self {
        Self {
            tool: "send_message".to_owned(),
            executor: "tool:send_message".to_owned(),
            session: "ses-1".to_owned(),
            agent: "key_01".to_owned(),
            arguments: json!({"to": "ana", "text": "I will be late", "copies": 2}),
            raw: None,
            cwd: Some("/home/dev/project".to_owned()),
            attachments: Vec::new(),
            definition: None,
        }
    }
}

impl Call {
    /// Returns the default call with other arguments.
    pub(crate) fn with(arguments: Value) -> Self {
        Self {
            arguments,
            ..Self::default()
        }
    }

    /// Returns what a verifier that is about to make this call knows.
    pub(crate) fn expected(&self) -> Value {
        let mut expected = json!({
            "audience": self.executor,
            "tool": self.tool,
            "session": self.session,
            "agent": self.agent,
        });
        match &self.raw {
            Some(raw) => expected["arguments_raw"] = json!(STANDARD.encode(raw)),
            None => expected["arguments"] = self.arguments.clone(),
        }
        if let Some(cwd) = &self.cwd {
            expected["cwd"] = json!(cwd);
        }
        if !self.attachments.is_empty() {
            expected["attachments"] = self.attachments.iter().map(Digest::hex).collect();
        }
        expected
    }

    /// Returns the claims of a token for this call.
    pub(crate) fn claims(&self) -> Value {
        let (encoding, arguments) = match &self.raw {
            Some(raw) => (Encoding::Raw, raw.clone()),
            None => (Encoding::Jcs, canonical(&self.arguments).unwrap()),
        };
        let action = Action {
            tool: &self.tool,
            tool_definition: self.definition,
            encoding,
            arguments: &arguments,
            context: &context(self.cwd.as_deref(), &self.executor, &self.attachments),
            session: &self.session,
            agent: &self.agent,
        };
        json!({
            "v": 1,
            "iss": "countersign",
            "aud": self.executor,
            "sub": "appr_01",
            "jti": "tok_01",
            "iat": NOW - 10,
            "nbf": NOW - 10,
            "exp": NOW + 110,
            "tool": self.tool,
            "tdh": self.definition.unwrap_or(Digest([0; 32])).hex(),
            "enc": encoding.word(),
            "adg": action.digest().hex(),
            "ses": self.session,
            "agt": self.agent,
            "apr": {"who": "ana", "channel": "web", "tier": "T1"},
            "tier": "T1",
            "pol": Digest::of(b"policy").hex(),
        })
    }

    /// Returns the token for this call.
    pub(crate) fn token(&self) -> String {
        signed(&self.claims())
    }
}

/// The key that signs.
pub(crate) fn key() -> SigningKey {
    SigningKey::from_bytes(&[1; 32])
}

/// Another key, which some verifiers know too.
pub(crate) fn second_key() -> SigningKey {
    SigningKey::from_bytes(&[2; 32])
}

/// Returns the header of a token by `key`.
pub(crate) fn header(key: &SigningKey) -> Value {
    json!({"alg": "EdDSA", "kid": PublicKey::new(key.verifying_key()).kid, "typ": "countersign+jwt"})
}

/// Returns a token with these claims, whatever they are.
pub(crate) fn signed(claims: &Value) -> String {
    signed_bytes(&canonical_text(&header(&key())), &canonical_text(claims))
}

/// Returns a token with this header, whatever it is.
pub(crate) fn signed_under(header: &Value) -> String {
    signed_bytes(
        &canonical_text(header),
        &canonical_text(&Call::default().claims()),
    )
}

/// Returns a token of these bytes, with a good signature.
pub(crate) fn signed_bytes(header: &[u8], claims: &[u8]) -> String {
    let text = format!("{}.{}", encoded(header), encoded(claims));
    let signature = key().sign(text.as_bytes()).to_bytes();
    format!("{text}.{}", encoded(&signature))
}

pub(crate) fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the canonical form, or the nearest thing to it for a value that has none.
pub(crate) fn canonical_text(value: &Value) -> Vec<u8> {
    canonical(value).unwrap_or_else(|_| value.to_string().into_bytes())
}
