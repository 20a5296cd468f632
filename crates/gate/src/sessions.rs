//! Session state: workspace, override, crisis mark.
//!
//! A session belongs to a key: the same name under another key is another session. Its first call
//! fixes the workspace; that a person in crisis was in it stays true. Both are told in the ledger,
//! so that whoever remembers the facts looks at them again.

pub mod crisis;
pub mod second_reader;
pub(crate) mod written_files;

use countersign_core::call::Turn;
use countersign_core::command::YOLO_MINUTES_MAX;
use countersign_core::content::crisis::Reading;
use countersign_core::display::inline;
use countersign_core::id::KeyId;
use countersign_core::ledger::Draft;
use countersign_core::status::{CrisisStatus, RecordStatus};
use countersign_core::time::UnixMillis;
use countersign_core::verdict::Mode;
use countersign_store::{Change, Expect, Kind, Put, Query, Record};
use serde::{Deserialize, Serialize};

use std::sync::{Arc, OnceLock};

use crate::GateError;
use crate::base::Base;
use crate::base::cache::{Cache, ended_at};
use crate::base::principal::Principal;
use crate::people::People;
use crate::records::error::invalid;
use crate::records::event::{Event, OverrideEnded, OverrideStarted, SessionHappening};
use crate::records::retry::retry_on_conflict;
use crate::records::stored::{read, written};
use crate::runs::BUILTIN;
use second_reader::SecondReader;

/// Longest override, in minutes.
pub const OVERRIDE_MINUTES_MAX: u32 = YOLO_MINUTES_MAX;
/// Longest reason for an override, in bytes.
pub const REASON_BYTES_MAX: usize = 1024;

/// An override of one session.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct OverrideView {
    /// The session.
    pub session_id: String,
    /// Whose.
    pub key_id: String,
    /// Until when, in seconds; null: none.
    pub until: Option<f64>,
    /// Why.
    pub reason: String,
    /// Whether critical calls run without a question, too. Rules 1 to 4 stand either way.
    pub all: bool,
    /// What it covers, as text.
    pub words: String,
    /// Who gave it.
    pub by: String,
}

/// An override that somebody wants.
#[derive(Clone, Copy, Debug)]
pub struct OverrideRequest<'a> {
    /// For how long.
    pub minutes: u32,
    /// Why.
    pub reason: &'a str,
    /// Whether critical calls run without a question, too.
    pub all: bool,
}

/// The state of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionFacts {
    /// The directory in which ordinary work is no question, fixed by the first call that names one.
    pub(crate) workspace: Option<String>,
    /// Whether a person in crisis was in it.
    pub(crate) crisis: bool,
    /// Until when it runs without questions.
    pub(crate) override_until: Option<UnixMillis>,
    pub(crate) override_reason: String,
    pub(crate) override_by: String,
    /// Whether critical calls run without a question, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) override_all: bool,
    pub(crate) started_at: UnixMillis,
    /// The version of its record, if there is one.
    #[serde(skip)]
    pub(crate) version: Option<u64>,
}

impl SessionFacts {
    /// Returns how its calls are judged at `now`, where nothing else is set.
    pub(crate) fn mode(&self, now: UnixMillis) -> Mode {
        match self.override_until {
            Some(until) if now < until && self.override_all => Mode::Off,
            Some(until) if now < until => Mode::Yolo,
            Some(_) | None => Mode::Enforce,
        }
    }
}

/// Sessions and what is known of them.
#[derive(Debug)]
pub struct Sessions {
    base: Arc<Base>,
    people: Arc<People>,
    cache: Cache<String, SessionFacts>,
    reader: OnceLock<Arc<dyn SecondReader>>,
}

impl Sessions {
    pub(crate) fn new(base: Arc<Base>, people: Arc<People>) -> Self {
        Self {
            base,
            people,
            cache: Cache::until(&[
                "session.started",
                "session.changed",
                "session.override_started",
                "session.override_ended",
                "crisis.cleared",
            ]),
            reader: OnceLock::new(),
        }
    }
}

impl Sessions {
    /// Lets a session run without questions about ordinary calls for a while, or about critical ones
    /// either; rules 1 to 4 stand.
    pub async fn start_override(
        &self,
        who: &Principal,
        key: Option<&str>,
        session: &str,
        wanted: OverrideRequest<'_>,
    ) -> Result<OverrideView, GateError> {
        answers(who)?;
        let OverrideRequest {
            minutes,
            reason,
            all,
        } = wanted;
        if !(1..=OVERRIDE_MINUTES_MAX).contains(&minutes) {
            let message = format!("`minutes` is between 1 and {OVERRIDE_MINUTES_MAX}");
            return Err(invalid("minutes", "out_of_range", &message));
        }
        if reason.len() > REASON_BYTES_MAX {
            let message = format!("`reason` is longer than {REASON_BYTES_MAX} bytes");
            return Err(invalid("reason", "too_long", &message));
        }
        let key = self.key_of_session(key, session).await?;
        retry_on_conflict(|| async {
            let now = self.base.clock.now();
            let before = self.read_session(&key, session).await?;
            let until = now.plus(i64::from(minutes) * 60_000);
            let facts = SessionFacts {
                override_until: Some(until),
                override_reason: reason.to_owned(),
                override_by: who.name.clone(),
                override_all: all,
                ..before
            };
            let event = Event::OverrideStarted(OverrideStarted {
                session_id: session.to_owned(),
                key_id: key.0.clone(),
                until: until.as_seconds(),
                reason: reason.to_owned(),
                all: Some(all),
                by: who.name.clone(),
                timestamp: now.as_seconds(),
            });
            let entry = entry(&key, session, &event, now);
            self.write_session(&key, session, &facts, entry).await?;
            Ok(view(&key, session, &facts))
        })
        .await
    }

    /// Ends an override.
    pub async fn end_override(
        &self,
        who: &Principal,
        key: Option<&str>,
        session: &str,
    ) -> Result<OverrideView, GateError> {
        answers(who)?;
        let key = self.key_of_session(key, session).await?;
        retry_on_conflict(|| async {
            let now = self.base.clock.now();
            let before = self.read_session(&key, session).await?;
            let was_live = before.override_until.is_some_and(|until| now < until);
            let facts = SessionFacts {
                override_until: None,
                override_reason: String::new(),
                override_by: String::new(),
                override_all: false,
                ..before
            };
            let event = Event::OverrideEnded(OverrideEnded {
                session_id: session.to_owned(),
                key_id: key.0.clone(),
                by: who.name.clone(),
                timestamp: now.as_seconds(),
            });
            let entry = entry(&key, session, &event, now);
            if was_live {
                self.write_session(&key, session, &facts, entry).await?;
            }
            Ok(view(&key, session, &facts))
        })
        .await
    }

    /// Looks at what was said in a session, and returns whether a person in crisis was in it, now or
    /// ever, or is the one who talks to the built-in agent there. Once seen, that is on disk before
    /// this returns, and stays until a person clears it.
    pub async fn heed(
        &self,
        who: &Principal,
        session: &str,
        said: &[&str],
    ) -> Result<bool, GateError> {
        let facts = self.session_facts(&who.key, session).await?;
        if facts.crisis {
            return Ok(true);
        }
        let person = self.starter_of(who, session).await?;
        if let Some(person) = &person
            && self.is_marked(person).await?
        {
            return Ok(true);
        }
        let turns: Vec<Turn> = said.iter().map(|text| turn(text)).collect();
        match self.read_with_second(who, &turns).await {
            Some(Reading::Held) => {}
            Some(Reading::Clear | Reading::Unsure) => return Ok(false),
            // Held this once: nobody saw a sign, so nobody is marked.
            None => return Ok(true),
        }
        retry_on_conflict(|| async {
            let before = self.read_session(&who.key, session).await?;
            if before.crisis {
                return Ok(true);
            }
            let now = self.base.clock.now();
            let facts = SessionFacts {
                crisis: true,
                ..before
            };
            let event = Event::SessionChanged(happening(&who.key, session, &facts, now));
            let entry = entry(&who.key, session, &event, now);
            let mut change = change_of(&who.key, session, &facts, entry);
            if let Some(person) = &person {
                let (put, entry) = self.person_mark(who, session, person, now).await?;
                change.puts.push(put);
                change.entries.push(entry);
            }
            self.commit_session(change).await?;
            Ok(true)
        })
        .await
    }

    /// Returns the sessions with a live override.
    pub async fn overrides(&self, who: &Principal) -> Result<Vec<OverrideView>, GateError> {
        if !who.role.sees_all() {
            return Err(GateError::Forbidden("agents cannot see overrides"));
        }
        let query = Query {
            status: Some(RecordStatus::Overridden.word().to_owned()),
            ..Query::of(Kind::Session)
        };
        let now = self.base.clock.now();
        let mut live = Vec::new();
        for record in self.base.find_all(query).await? {
            let facts: SessionFacts = read(&record)?;
            if facts.override_until.is_some_and(|until| now < until) {
                live.push(view(&KeyId(record.owner), &record.session, &facts));
            }
        }
        Ok(live)
    }

    /// Returns what is known of a session; nothing if it is new.
    pub(crate) async fn session_facts(
        &self,
        key: &KeyId,
        session: &str,
    ) -> Result<SessionFacts, GateError> {
        let (cache, tail) = (&self.cache, self.base.store.tail());
        let id = record_id(key, session);
        if let Some(facts) = cache.get(tail, &id) {
            return Ok(facts);
        }
        let as_of = ended_at(tail);
        let facts = self.read_session(key, session).await?;
        cache.put(tail, as_of, id, facts.clone());
        Ok(facts)
    }

    /// Returns what has to be written so that `after` is known of the session instead of `before`:
    /// nothing, if it is the same.
    pub(crate) fn session_put(
        &self,
        key: &KeyId,
        session: &str,
        before: &SessionFacts,
        after: &SessionFacts,
    ) -> Option<(Put, Draft)> {
        let event = match before.version {
            None => Event::SessionStarted,
            Some(_) if before != after => Event::SessionChanged,
            Some(_) => return None,
        };
        let now = self.base.clock.now();
        let event = event(happening(key, session, after, now));
        let entry = entry(key, session, &event, now);
        Some((put(key, session, after, now), entry))
    }

    /// Looks at a session again before anything is believed of it.
    pub(crate) fn forget_session(&self, key: &KeyId, session: &str) {
        self.cache.drop_one(&record_id(key, session));
    }

    pub(crate) async fn read_session(
        &self,
        key: &KeyId,
        session: &str,
    ) -> Result<SessionFacts, GateError> {
        let id = record_id(key, session);
        let Some(record) = self.base.store.get(Kind::Session, &id).await? else {
            return Ok(SessionFacts::default());
        };
        let facts: SessionFacts = read(&record)?;
        Ok(SessionFacts {
            version: Some(record.version),
            ..facts
        })
    }

    pub(crate) async fn write_session(
        &self,
        key: &KeyId,
        session: &str,
        facts: &SessionFacts,
        entry: Draft,
    ) -> Result<(), GateError> {
        self.commit_session(change_of(key, session, facts, entry))
            .await
    }

    async fn commit_session(&self, change: Change) -> Result<(), GateError> {
        let entries = self.base.store.commit(change).await?;
        self.cache
            .forget(entries.last().map_or(0, |entry| entry.seq));
        Ok(())
    }

    async fn is_conversation(&self, session: &str) -> Result<bool, GateError> {
        let found = self.base.store.get(Kind::Conversation, session).await?;
        Ok(found.is_some())
    }

    /// Returns whose session this is. Without a key the name must belong to one key only.
    pub(crate) async fn key_of_session(
        &self,
        key: Option<&str>,
        session: &str,
    ) -> Result<KeyId, GateError> {
        if let Some(key) = key {
            let id = KeyId(key.to_owned());
            let is_known = self.read_session(&id, session).await?.version.is_some()
                || self.base.store.get(Kind::Key, key).await?.is_some()
                || key == BUILTIN && self.is_conversation(session).await?;
            return is_known.then_some(id).ok_or_else(|| GateError::NotFound {
                kind: "key",
                id: key.to_owned(),
            });
        }
        let query = Query {
            session: Some(session.to_owned()),
            limit: 2,
            ..Query::of(Kind::Session)
        };
        let found = self.base.store.find(query).await?;
        match found.as_slice() {
            [] => Err(GateError::NotFound {
                kind: "session",
                id: session.to_owned(),
            }),
            [one] => Ok(KeyId(one.owner.clone())),
            [..] => {
                let message = "several keys have a session with this name; name the key as well";
                Err(invalid("session_id", "ambiguous_session", message))
            }
        }
    }
}

pub(crate) fn answers(who: &Principal) -> Result<(), GateError> {
    if who.role.answers() {
        Ok(())
    } else {
        Err(GateError::Forbidden("only approvers can do this"))
    }
}

/// A key has no line break in it, so the first one ends the key.
fn record_id(key: &KeyId, session: &str) -> String {
    format!("{key}\n{session}")
}

fn change_of(key: &KeyId, session: &str, facts: &SessionFacts, entry: Draft) -> Change {
    Change {
        puts: vec![put(key, session, facts, entry.at)],
        entries: vec![entry],
    }
}

fn put(key: &KeyId, session: &str, facts: &SessionFacts, now: UnixMillis) -> Put {
    let started_at = match facts.version {
        None => now,
        Some(_) => facts.started_at,
    };
    let facts = SessionFacts {
        started_at,
        ..facts.clone()
    };
    let is_overridden = facts.override_until.is_some();
    Put {
        record: Record {
            status: if is_overridden {
                RecordStatus::Overridden.word()
            } else {
                ""
            }
            .to_owned(),
            owner: key.0.clone(),
            session: session.to_owned(),
            link: if facts.crisis {
                CrisisStatus::Marked.word()
            } else {
                ""
            }
            .to_owned(),
            ..Record::new(
                Kind::Session,
                record_id(key, session),
                started_at.0,
                written(&facts),
            )
        },
        expect: facts.version.map_or(Expect::Absent, Expect::Version),
    }
}

fn happening(
    key: &KeyId,
    session: &str,
    facts: &SessionFacts,
    now: UnixMillis,
) -> SessionHappening {
    SessionHappening {
        session_id: session.to_owned(),
        key_id: key.0.clone(),
        workspace: facts.workspace.as_deref().map(inline),
        crisis_sensitive: facts.crisis,
        timestamp: now.as_seconds(),
    }
}

fn entry(key: &KeyId, session: &str, event: &Event, now: UnixMillis) -> Draft {
    Draft {
        owner: key.0.clone(),
        session: session.to_owned(),
        ..event.draft(session, now)
    }
}

const fn in_words(all: bool) -> &'static str {
    if all {
        "runs without questions, including critical calls"
    } else {
        "runs without questions, except about critical calls"
    }
}

fn view(key: &KeyId, session: &str, facts: &SessionFacts) -> OverrideView {
    OverrideView {
        session_id: session.to_owned(),
        key_id: key.0.clone(),
        until: facts.override_until.map(UnixMillis::as_seconds),
        reason: facts.override_reason.clone(),
        all: facts.override_all,
        words: in_words(facts.override_all).to_owned(),
        by: facts.override_by.clone(),
    }
}

fn turn(text: &str) -> Turn {
    Turn {
        from: String::new(),
        text: text.to_owned(),
    }
}
