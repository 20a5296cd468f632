//! The digest of a call, to which decisions and tokens are bound.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::Digest as _;

use crate::canonical::{canonical, write_text};
use crate::encoding::hexadecimal;

/// Domain separation: prefixed to the hashed bytes, so no other hash of the project can be reused.
const DOMAIN: &[u8] = b"countersign/v1/action\0";

/// SHA-256, in hexadecimal with its name in front where it is written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

/// How the arguments were turned into bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// RFC 8785 of a strict subset.
    Jcs,
    /// As they came.
    Raw,
}

impl Encoding {
    /// Returns the word used on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Jcs => "jcs",
            Self::Raw => "raw",
        }
    }
}

/// Everything a decision is bound to.
#[derive(Clone, Copy, Debug)]
pub struct Action<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Hash of the tool's definition, if one was given.
    pub tool_definition: Option<Digest>,
    /// How `arguments` were made.
    pub encoding: Encoding,
    /// The arguments.
    pub arguments: &'a [u8],
    /// Where and by whom it is run; see [`context`].
    pub context: &'a [u8],
    /// The session.
    pub session: &'a str,
    /// The principal that asked: the id of its key.
    pub agent: &'a str,
}

impl Action<'_> {
    /// Returns the digest. Every part has its length in front, so no two different actions run
    /// together to the same bytes.
    pub fn digest(&self) -> Digest {
        let definition = self.tool_definition.map_or([0; 32], |digest| digest.0);
        let mut hash = sha2::Sha256::new();
        hash.update(DOMAIN);
        let parts: [&[u8]; 7] = [
            self.tool.as_bytes(),
            &definition,
            self.encoding.word().as_bytes(),
            self.arguments,
            self.context,
            self.session.as_bytes(),
            self.agent.as_bytes(),
        ];
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Digest(hash.finalize().into())
    }
}

/// Returns the context of an action as it is hashed: the canonical form of
/// `{"attachments":[sha256 …],"cwd":… or null,"executor":…}`.
pub fn context(cwd: Option<&str>, executor: &str, attachments: &[Digest]) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    out.extend_from_slice(b"{\"attachments\":[");
    for (index, attachment) in attachments.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_text(&mut out, &attachment.hex());
    }
    out.extend_from_slice(b"],\"cwd\":");
    match cwd {
        Some(cwd) => write_text(&mut out, cwd),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"executor\":");
    write_text(&mut out, executor);
    out.push(b'}');
    out
}

/// Returns the hash of a tool's definition, if it has a canonical form.
pub fn definition(definition: &Value) -> Option<Digest> {
    canonical(definition).ok().map(|bytes| Digest::of(&bytes))
}

impl Digest {
    /// Returns the plain SHA-256 of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// Returns the digest as 64 hexadecimal digits.
    pub fn hex(&self) -> String {
        let digits = self.digits();
        std::str::from_utf8(&digits).unwrap_or_default().to_owned()
    }

    fn digits(&self) -> [u8; 64] {
        let digit = |value: u8| value + if value < 10 { b'0' } else { b'a' - 10 };
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            if let [high, low] = pair {
                (*high, *low) = (digit(byte >> 4), digit(byte & 15));
            }
        }
        digits
    }

    /// Returns the digest written as 64 hexadecimal digits, with or without its name in front.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix("sha256:").unwrap_or(text);
        let bytes = text.as_bytes();
        if bytes.len() != 64 || bytes.iter().any(u8::is_ascii_uppercase) {
            return None;
        }
        hexadecimal(bytes)?.try_into().ok().map(Self)
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("sha256:")?;
        f.write_str(std::str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a SHA-256 digest"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_context_is_the_canonical_form_of_what_it_says() {
        let rows: &[(Option<&str>, &str, &[Digest])] = &[
            (None, "tool:x", &[]),
            (Some("/a \"b\"\n\u{e9}"), "tool:\u{1f600}", &[]),
            (Some(""), "", &[Digest([7; 32]), Digest::of(b"x")]),
        ];
        for (cwd, executor, attachments) in rows {
            let hashes: Vec<String> = attachments.iter().map(Digest::hex).collect();
            let value = json!({ "cwd": cwd, "executor": executor, "attachments": hashes });
            let expected = canonical(&value).unwrap();
            assert_eq!(context(*cwd, executor, attachments), expected, "{value}");
        }
    }

    #[test]
    fn a_digest_is_written_as_it_is_read() {
        let digest = Digest::of(b"countersign");
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!(digest.to_string(), format!("sha256:{}", digest.hex()));
        assert!(digest.hex().bytes().all(|it| it.is_ascii_hexdigit()));
    }
}
