//! Stores what agents wrote to files, so that the content is judged when such a file runs.
//!
//! One record per key, file and content; none is ever changed, so replicas need not agree on an
//! order, and a content that was meant for a file once is never forgotten. Contents may hold
//! secrets: they are kept like the arguments of calls are, and the ledger does not tell of them.

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::call::ToolCall;
use countersign_core::digest::Digest;
use countersign_core::display::inline;
use countersign_core::id::KeyId;
use countersign_core::judge::{Considered, consider_after};
use countersign_core::policy::Policy;
use countersign_core::time::UnixMillis;
use countersign_core::written::{Content, VERSIONS_MAX, Wanted, Written, name, parent};
use countersign_store::{Expect, Kind, Order, Put, Query, Record};
use serde::{Deserialize, Serialize};

use crate::GateError;
use crate::records::request::OnDisk;
use crate::records::stored::{read, written};
use crate::sessions::Sessions;

/// How often a call is judged again because a file it runs names further ones.
const ROUNDS_MAX: usize = 4;
/// Contents that are looked at in one directory, the newest first.
const DIRECTORY_MAX: u32 = 256;
/// Files that are named as a reason.
const NAMED_MAX: usize = 2;

/// A content as it is kept.
#[derive(Serialize, Deserialize)]
struct StoredContent {
    path: String,
    /// All of it; `None` if it is not known.
    content: Option<String>,
    /// Whether a build made it of the project's own sources.
    #[serde(default, skip_serializing_if = "is_false")]
    built: bool,
    /// Whether it was loaded from the network.
    #[serde(default, skip_serializing_if = "is_false")]
    fetched: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that the serializer calls"
)]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// A call as it is looked at with what its key wrote before.
pub(crate) struct Looked {
    /// What was found.
    pub(crate) considered: Considered,
    /// Hashes of the files it runs, where whoever runs it has looked at them.
    pub(crate) digests: Vec<Digest>,
    /// Hash of what the files it runs may hold; `None` if it runs nothing the key wrote.
    pub(crate) held: Option<Digest>,
}

impl Sessions {
    /// Considers `call` with what the same key wrote before, as far as the call runs or changes it.
    /// Where whoever runs the call has looked at the disk, a file holds what is there.
    pub(crate) async fn consider_written(
        &self,
        key: &KeyId,
        policy: &Policy,
        call: &ToolCall,
        bound: &[String],
        on_disk: &[OnDisk],
    ) -> Result<Looked, GateError> {
        let mut known = Written::default();
        let mut asked = BTreeSet::new();
        let mut considered = consider_after(policy, call, bound, Written::default());
        for _ in 0..ROUNDS_MAX {
            let mut is_new = false;
            for wanted in &considered.files.wanted {
                if asked.insert(wanted.clone()) {
                    is_new |= self.look_up(key, wanted, &mut known).await?;
                }
            }
            if !is_new {
                break;
            }
            for file in on_disk {
                // A result of a build is no text that could be read.
                let is = |wanted: &Content| known.at(&file.path).any(|content| content == wanted);
                let built = is(&Content::Built);
                // What was loaded from the network stays that, whatever it is.
                let fetched = is(&Content::Fetched);
                if known.at(&file.path).next().is_some() && !built {
                    known.set(&file.path, Content::from(file.clone()));
                    if fetched {
                        known.add(&file.path, Content::Fetched);
                    }
                }
            }
            considered = consider_after(policy, call, bound, known.clone());
        }
        let runs = &considered.files.runs;
        for path in runs.iter().take(NAMED_MAX) {
            let reason = format!("runs {}, which this agent wrote", inline(path));
            considered.assessment.reasons.push(reason);
        }
        let looked_at = |path: &String| on_disk.iter().find(|file| file.path == *path);
        let digests = runs.iter().filter_map(looked_at).map(|file| file.digest);
        let digests = digests.collect();
        let contents = |path: &String| known.at(path).cloned().collect::<Vec<Content>>();
        let held: Vec<(&String, Vec<Content>)> =
            runs.iter().map(|path| (path, contents(path))).collect();
        let held = (!held.is_empty()).then(|| Digest::of(format!("{held:?}").as_bytes()));
        Ok(Looked {
            considered,
            digests,
            held,
        })
    }

    /// Adds what is kept of `wanted`. Returns whether there was anything.
    async fn look_up(
        &self,
        key: &KeyId,
        wanted: &Wanted,
        known: &mut Written,
    ) -> Result<bool, GateError> {
        let by_link = |link: String, limit: u32| Query {
            owner: Some(key.0.clone()),
            link: Some(link),
            order: Order::NewestFirst,
            limit,
            ..Query::of(Kind::Written)
        };
        let queries = match wanted {
            Wanted::Directory(path) => vec![by_link(link(key, path), DIRECTORY_MAX)],
            Wanted::File(path) => {
                let limit = u32::try_from(VERSIONS_MAX + 1).unwrap_or(u32::MAX);
                let here = Query {
                    status: Some(slot(path)),
                    ..by_link(link(key, parent(path)), limit)
                };
                vec![here, by_link(nowhere(key, path), limit)]
            }
        };
        let mut found = false;
        for query in queries {
            for record in self.base.store.find(query).await? {
                let stored: StoredContent = read(&record)?;
                let content = match stored.content {
                    _ if stored.built => Content::Built,
                    _ if stored.fetched => Content::Fetched,
                    content => content.map_or(Content::Unknown, Content::Exact),
                };
                known.add(&stored.path, content);
                found = true;
            }
        }
        Ok(found)
    }
}

/// Returns the records of what a call writes.
pub(crate) fn written_puts(
    key: &KeyId,
    session: &str,
    writes: &[(String, Content)],
    at: UnixMillis,
) -> Vec<Put> {
    let puts = writes.iter().map(|(path, content)| {
        let built = *content == Content::Built;
        let fetched = *content == Content::Fetched;
        let content = match content {
            Content::Exact(text) => Some(text.clone()),
            Content::Unknown | Content::Built | Content::Fetched => None,
        };
        let is_placed = path.starts_with(['/', '~']);
        let link = if is_placed {
            link(key, parent(path))
        } else {
            nowhere(key, path)
        };
        let stored = StoredContent {
            path: path.clone(),
            content,
            built,
            fetched,
        };
        let body = written(&stored);
        let id = hashed(&["content", key.as_str(), &body]);
        let put = Put {
            record: Record {
                status: slot(path),
                owner: key.0.clone(),
                session: session.to_owned(),
                link,
                ..Record::new(Kind::Written, id.clone(), at.0, body)
            },
            expect: Expect::Anything,
        };
        (id, put)
    });
    // The same content twice is one record.
    let puts: BTreeMap<String, Put> = puts.collect();
    puts.into_values().collect()
}

/// What the files of one directory are found by.
fn link(key: &KeyId, directory: &str) -> String {
    hashed(&["directory", key.as_str(), directory])
}

/// What files are found by that were written without saying from which directory.
fn nowhere(key: &KeyId, path: &str) -> String {
    hashed(&["nowhere", key.as_str(), name(path)])
}

/// What one file of a directory is found by.
fn slot(path: &str) -> String {
    hashed(&["file", path])
}

fn hashed(parts: &[&str]) -> String {
    Digest::of(parts.join("\0").as_bytes()).hex()
}
