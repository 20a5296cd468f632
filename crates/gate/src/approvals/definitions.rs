//! Definitions of tools: what each was when it was last accepted, and how it has changed since.
//!
//! A server can change what a tool says about itself after people have come to trust it. Grants and
//! tokens are bound to the hash of the definition; this file keeps its words, so that the card of the
//! next call shows what changed. The first definition counts as accepted, and so does a changed one
//! once a person has allowed a call whose card showed the change.
//!
//! Everything here is what the asker says the server said: it can add a line to a card, and nothing else. Of a
//! server that the owner pinned, and that is spoken to by the gateway itself, it is what the server said; while that
//! is the accepted definition, its hints count.

use std::fmt::Write as _;

use countersign_core::card::Definition;
use countersign_core::digest::{Digest, definition};
use countersign_core::ledger::Draft;
use countersign_store::{Change, Expect, Kind, Put, Record};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::GateError;
use crate::approvals::Approvals;
use crate::records::event::{DefinitionChanged, Event};
use crate::records::request::Submission;
use crate::records::stored::{KeptDefinition, Pin, StoredApproval, StoredCall, read, written};
use crate::runs::BUILTIN;

/// What the executor of a call begins with that a proxy for MCP submits.
const MCP: &str = "mcp:";
/// Longest definition whose words are kept, in bytes; of a longer one its hash.
const KEPT_BYTES_MAX: usize = 64 * 1024;
/// Longest difference on a card, in bytes.
const SHOWN_BYTES_MAX: usize = 2 * 1024;

/// What is written down about the definition a call came with.
#[derive(Debug, Default)]
pub(crate) struct NotedDefinition {
    pub(crate) puts: Vec<Put>,
    pub(crate) entries: Vec<Draft>,
}

/// What a card says of the definition of its tool.
#[derive(Debug, Default)]
pub(crate) struct ShownDefinition {
    pub(crate) standing: Definition,
    /// The definition that is accepted by whoever allows the call.
    pub(crate) accepts: Option<Box<KeptDefinition>>,
}

/// Which of the two records of a tool.
#[derive(Clone, Copy, Debug)]
enum Which {
    /// The definition that came last.
    Latest,
    /// The one that was accepted.
    Accepted,
}

impl Approvals {
    /// Returns how the pin of the server stands that `submission` came from. In a conversation with a person in crisis
    /// nobody's word makes anything easier.
    pub(crate) async fn pin_of(
        &self,
        submission: &Submission,
        crisis: bool,
    ) -> Result<Option<Pin>, GateError> {
        let Some(executor) = submission
            .executor
            .as_deref()
            .filter(|_| submission.of_pinned_server)
        else {
            return Ok(None);
        };
        let hash = submission.tool_definition.as_ref().and_then(definition);
        let Some(hash) = hash.filter(|_| !crisis) else {
            return Ok(Some(Pin::Suspended));
        };
        let id = id_of(Which::Accepted, None, executor, &submission.call.tool);
        let Some(record) = self.base.store.get(Kind::Definition, &id).await? else {
            return Ok(Some(Pin::Holds));
        };
        let accepted: KeptDefinition = read(&record)?;
        Ok(Some(if accepted.hash == hash {
            Pin::Holds
        } else {
            Pin::Suspended
        }))
    }

    /// Takes note of the definition `call` came with, and of its change.
    pub(crate) async fn note_definition(
        &self,
        call: &StoredCall,
        definition: Option<&Value>,
    ) -> Result<NotedDefinition, GateError> {
        let mut noted = NotedDefinition::default();
        let Some(kept) = kept(call, definition) else {
            return Ok(noted);
        };
        let id = record_id(call, Which::Latest);
        match self.base.store.get(Kind::Definition, &id).await? {
            None => {
                let first = record_id(call, Which::Accepted);
                noted.puts.push(put(&id, &kept, Expect::Absent));
                noted.puts.push(put(&first, &kept, Expect::Anything));
            }
            Some(record) => {
                let before: KeptDefinition = read(&record)?;
                if before.hash != kept.hash {
                    noted
                        .puts
                        .push(put(&id, &kept, Expect::Version(record.version)));
                    noted.entries.push(changed(call, before.hash, kept.hash));
                }
            }
        }
        Ok(noted)
    }

    /// Returns what the card of `call` says of the definition of its tool.
    pub(crate) async fn show_definition(
        &self,
        call: &StoredCall,
        definition: Option<&Value>,
    ) -> Result<ShownDefinition, GateError> {
        let Some(kept) = kept(call, definition) else {
            let is_of_server = call.executor.starts_with(MCP) && definition.is_none();
            return Ok(ShownDefinition {
                standing: if is_of_server {
                    Definition::NotListed
                } else {
                    Definition::Unsaid
                },
                accepts: None,
            });
        };
        let id = record_id(call, Which::Accepted);
        let Some(record) = self.base.store.get(Kind::Definition, &id).await? else {
            return Ok(ShownDefinition::default());
        };
        let accepted: KeptDefinition = read(&record)?;
        if accepted.hash == kept.hash {
            return Ok(ShownDefinition::default());
        }
        Ok(ShownDefinition {
            standing: Definition::Changed {
                since: accepted.at,
                difference: difference(&accepted.text, &kept.text),
            },
            accepts: Some(Box::new(kept)),
        })
    }

    /// Remembers a changed definition as accepted, after a person allowed a call whose card showed the
    /// change. Lost in a crash, the change is shown again.
    pub(crate) fn accept_definition(&self, stored: &StoredApproval) {
        let Some(kept) = &stored.definition else {
            return;
        };
        let id = record_id(&stored.call, Which::Accepted);
        let change = Change {
            puts: vec![put(&id, kept, Expect::Anything)],
            entries: Vec::new(),
        };
        if let Err(error) = self.base.store.append(change) {
            tracing::warn!(%error, "an accepted definition is not remembered");
        }
    }
}

/// Returns what the card of `stored` said of the definition, without its words.
pub(super) fn said_of(stored: &StoredApproval) -> Definition {
    match &stored.definition {
        Some(kept) => Definition::Changed {
            since: kept.at,
            difference: String::new(),
        },
        None if stored.call.executor.starts_with(MCP) && stored.call.tool_definition.is_none() => {
            Definition::NotListed
        }
        None => Definition::Unsaid,
    }
}

/// Returns the definition as it is kept; `None` if there is none, or it is one of our own tools.
fn kept(call: &StoredCall, definition: Option<&Value>) -> Option<KeptDefinition> {
    let hash = call.tool_definition.filter(|_| call.key.0 != BUILTIN)?;
    let text = serde_json::to_string_pretty(definition?).unwrap_or_default();
    let text = if text.len() <= KEPT_BYTES_MAX {
        text
    } else {
        format!("{hash}, {} bytes, too long to keep", text.len())
    };
    Some(KeptDefinition {
        hash,
        text,
        at: call.at,
    })
}

fn put(id: &str, kept: &KeptDefinition, expect: Expect) -> Put {
    Put {
        record: Record::new(Kind::Definition, id, kept.at.0, written(kept)),
        expect,
    }
}

/// The same tool of another server, or of another key, has a record of its own. What a pinned server says the gateway
/// hears itself, so there all keys share one: a new key does not make a changed definition a first one.
fn record_id(call: &StoredCall, which: Which) -> String {
    let key = call.pin.is_none().then_some(call.key.0.as_str());
    id_of(which, key, &call.executor, &call.tool)
}

fn id_of(which: Which, key: Option<&str>, executor: &str, tool: &str) -> String {
    let which = match which {
        Which::Latest => "latest",
        Which::Accepted => "accepted",
    };
    // None of the three can hold a NUL: control characters are refused in names. No key is empty.
    let key = key.unwrap_or_default();
    let id = format!("countersign/v1/definition\0{which}\0{key}\0{executor}\0{tool}");
    Digest::of(id.as_bytes()).hex()
}

fn changed(call: &StoredCall, was: Digest, is: Digest) -> Draft {
    let event = Event::DefinitionChanged(DefinitionChanged {
        tool: call.tool.clone(),
        executor: call.executor.clone(),
        key_id: call.key.0.clone(),
        call_id: call.call_id.0.clone(),
        was: was.to_string(),
        now: is.to_string(),
        timestamp: call.at.as_seconds(),
    });
    Draft {
        owner: call.key.0.clone(),
        session: call.session.clone(),
        ..event.draft(&call.call_id.0, call.at)
    }
}

/// Returns the lines that were taken out and put in, in their order, shortened.
fn difference(before: &str, after: &str) -> String {
    let mut shown = String::new();
    let mut left_out = 0;
    for change in TextDiff::from_lines(before, after).iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Equal => continue,
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        let line = change.value().trim_end_matches('\n');
        if shown.len() + line.len() > SHOWN_BYTES_MAX || left_out > 0 {
            left_out += 1;
            continue;
        }
        let _infallible = writeln!(shown, "{sign} {line}");
    }
    if left_out > 0 {
        let _infallible = writeln!(shown, "… {left_out} more changed lines");
    }
    shown.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_what_changed_alone_and_says_what_it_leaves_out() {
        assert_eq!(difference("a\nb\nc", "a\nx\nc"), "- b\n+ x");
        let long = "y".repeat(SHOWN_BYTES_MAX);
        assert_eq!(
            difference("a", &format!("a\nb\n{long}\nc")),
            "- a\n+ a\n+ b\n… 2 more changed lines"
        );
    }
}
