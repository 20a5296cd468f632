//! Crisis marks on sessions and people, kept until a person clears them.
//!
//! Law 1 holds for a conversation and for whoever is written to: a `session_id` is only what the
//! asker says, so a fresh one, another run or another key changes nothing for the recipient. A mark
//! on a recipient is a record of its own; which spelling is whose is [`countersign_core::recipient`],
//! and the people of the configuration are the same under their name and all their accounts.

use countersign_core::assessment::Assessment;
use countersign_core::call::ToolCall;
use countersign_core::content::crisis::SecondReading;
use countersign_core::digest::Digest;
use countersign_core::display::inline;
use countersign_core::id::KeyId;
use countersign_core::judge::consider;
use countersign_core::ledger::Draft;
use countersign_core::policy::Policy;
use countersign_core::recipient::{normal, normal_recipients};
use countersign_core::status::CrisisStatus;
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Expect, Kind, Put, Query, Record};
use serde::{Deserialize, Serialize};

use crate::GateError;
use crate::base::principal::Principal;
use crate::people::PersonView;
use crate::records::error::invalid;
use crate::records::event::{CrisisCleared, CrisisMarked, Event};
use crate::records::request::Submission;
use crate::records::retry::{busy, retry_on_conflict};
use crate::records::stored::{StoredCall, read, written};
use crate::runs::{BUILTIN, Run};
use crate::sessions::Sessions;
use crate::sessions::second_reader::{self, ReaderView, When};
use crate::sessions::{SessionFacts, answers};

/// Recipients of one call that are looked up. Of more, each counts as marked if anybody is.
const RECIPIENTS_MAX: usize = 32;
/// Longest note on a clearing, in bytes.
const NOTE_BYTES_MAX: usize = 4096;
/// Why a conversation asks.
const OF_SESSION: &str = "a person in crisis was in this conversation";

/// The crisis marks.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CrisisView {
    /// Conversations.
    pub sessions: Vec<MarkedSession>,
    /// People who were written to.
    pub recipients: Vec<MarkedRecipient>,
    /// Models that read again what rules and model neither clear nor hold.
    #[serde(default)]
    pub readers: Vec<ReaderView>,
}

/// A conversation that carries the mark.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MarkedSession {
    /// The session.
    pub session_id: String,
    /// Whose.
    pub key_id: String,
    /// Who talks to the built-in agent there, if it is one of its conversations.
    pub person: Option<String>,
}

/// Somebody who carries the mark.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MarkedRecipient {
    /// Who, in normal form.
    pub recipient: String,
    /// In which session that was seen.
    pub session_id: String,
    /// Whose session.
    pub key_id: String,
    /// The call that showed it, if it was one.
    pub call_id: Option<String>,
    /// When, in seconds.
    pub marked_at: f64,
}

/// Whose mark is to be cleared.
#[derive(Clone, Copy, Debug)]
pub enum Marked<'a> {
    /// A session's; of this key, if several have one of that name.
    Session(&'a str, Option<&'a str>),
    /// A recipient's, however it is written.
    Recipient(&'a str),
}

/// How law 1 applies to one call.
#[derive(Debug)]
pub(crate) struct Concern {
    /// Whether it goes to the very person whose run asks, who then is not the one to look at it.
    pub(crate) reaches_starter: bool,
    /// Whether only its recipient, or who started the run, makes it sensitive.
    is_borrowed: bool,
    /// Whether a run of the built-in agent asks, so that it is known whom the conversation is with.
    has_starter: bool,
    /// What a second reader said, where one was asked.
    pub(crate) second_reading: Option<SecondReading>,
    /// Whom it would write to and who carries no mark yet, with the version of the record.
    unmarked: Vec<(String, Option<u64>)>,
}

impl Concern {
    /// Whether the conversation itself is one with a person in crisis, after all that was judged.
    pub(crate) const fn is_of_session(&self, judged: &Assessment) -> bool {
        judged.crisis_sensitive && !self.is_borrowed
    }

    /// Returns who is to be marked. In a conversation of the built-in agent it is known who is in
    /// crisis; whoever else is written to there is marked only if the message itself says so.
    pub(crate) fn marks(
        self,
        policy: &Policy,
        call: &ToolCall,
        judged: &Assessment,
    ) -> Vec<(String, Option<u64>)> {
        if self.unmarked.is_empty() || !self.is_of_session(judged) {
            return Vec::new();
        }
        let says_so = || {
            let alone = ToolCall {
                replying_to: Vec::new(),
                ..call.clone()
            };
            consider(policy, &alone).0.crisis_sensitive
        };
        if self.has_starter && !says_so() {
            return Vec::new();
        }
        self.unmarked
    }
}

impl Sessions {
    /// Looks for what concerns `call`: marks, and what a second reader makes of it where rules and model are not sure.
    /// Raises `assessment` by them.
    pub(crate) async fn crisis_concern(
        &self,
        who: &Principal,
        submission: &Submission,
        call: &ToolCall,
        session_is_marked: bool,
        assessment: &mut Assessment,
    ) -> Result<Concern, GateError> {
        // What ran already, and what is asked about anyway because of a mark, needs no second reader.
        let second_reading = if session_is_marked || submission.let_run_at.is_some() {
            None
        } else {
            self.second_reading_of(who, call, assessment).await
        };
        second_reader::take(assessment, second_reading, When::BeforeMarks);
        let mut concern = self
            .marks_about(submission, call, session_is_marked, assessment)
            .await?;
        concern.second_reading = second_reading;
        let is_held =
            assessment.crisis_sensitive || second_reading == Some(SecondReading::Unanswered);
        concern.reaches_starter &= is_held;
        second_reader::take(assessment, second_reading, When::BehindMarks);
        Ok(concern)
    }

    async fn marks_about(
        &self,
        submission: &Submission,
        call: &ToolCall,
        session_is_marked: bool,
        assessment: &mut Assessment,
    ) -> Result<Concern, GateError> {
        let names = normal_recipients(call);
        let starter = submission.starter.as_deref();
        let is_own = assessment.crisis_sensitive || session_is_marked;
        let mut concern = Concern {
            reaches_starter: false,
            is_borrowed: !is_own,
            has_starter: starter.is_some(),
            second_reading: None,
            unmarked: Vec::new(),
        };
        if session_is_marked {
            raise(assessment, OF_SESSION.to_owned());
        }
        if names.is_empty() && starter.is_none() {
            return Ok(concern);
        }
        let people = self.people.live_people().await?;
        if let Some(starter) = starter
            && self.marked_as(starter, &people).await?.is_some()
        {
            let reason = "the person who started this run has a crisis mark";
            raise(assessment, reason.to_owned());
        }
        if names.len() > RECIPIENTS_MAX && self.anybody_is_marked().await? {
            let reason = "there are too many recipients to check for crisis marks";
            raise(assessment, reason.to_owned());
        }
        for name in names.iter().take(RECIPIENTS_MAX) {
            if self.marked_as(name, &people).await?.is_some() {
                let reason = format!("{} has a crisis mark", inline(name));
                raise(assessment, reason);
            } else {
                let before = self.base.store.get(Kind::Recipient, &mark_id(name)).await?;
                let version = before.map(|record| record.version);
                concern.unmarked.push((name.clone(), version));
            }
        }
        if let Some(starter) = starter {
            let same = spellings(&normal(starter), &people);
            concern.reaches_starter = names.iter().any(|name| same.contains(name));
        }
        Ok(concern)
    }

    /// Whether `name`, however it is written, carries the mark.
    pub(crate) async fn is_marked(&self, name: &str) -> Result<bool, GateError> {
        let people = self.people.live_people().await?;
        Ok(self.marked_as(name, &people).await?.is_some())
    }

    /// Returns what has to be written so that the person of a conversation carries the mark.
    pub(crate) async fn person_mark(
        &self,
        who: &Principal,
        session: &str,
        person: &str,
        now: UnixMillis,
    ) -> Result<(Put, Draft), GateError> {
        let recipient = normal(person);
        let id = mark_id(&recipient);
        let before = self.base.store.get(Kind::Recipient, &id).await?;
        let mark = MarkedRecipient {
            recipient,
            session_id: session.to_owned(),
            key_id: who.key.0.clone(),
            call_id: None,
            marked_at: now.as_seconds(),
        };
        Ok(marked(&mark, before.map(|record| record.version), now))
    }

    /// Returns who talks to the built-in agent in a conversation of its.
    pub(crate) async fn starter_of(
        &self,
        who: &Principal,
        session: &str,
    ) -> Result<Option<String>, GateError> {
        if who.key.as_str() != BUILTIN {
            return Ok(None);
        }
        let Some(lock) = self.base.store.get(Kind::Conversation, session).await? else {
            return Ok(None);
        };
        let run = self.base.store.get(Kind::Run, &lock.link).await?;
        let run: Option<Run> = run.map(|record| read(&record)).transpose()?;
        Ok(run.map(|run| run.starter))
    }

    /// Returns everything that carries the mark.
    pub async fn crisis_marks(&self, who: &Principal) -> Result<CrisisView, GateError> {
        if !who.role.sees_all() {
            return Err(GateError::Forbidden("agents cannot see crisis marks"));
        }
        let mut sessions = Vec::new();
        let query = Query {
            link: Some(CrisisStatus::Marked.word().to_owned()),
            ..Query::of(Kind::Session)
        };
        for record in self.base.find_all(query).await? {
            let key = Principal {
                key: KeyId(record.owner.clone()),
                ..who.clone()
            };
            sessions.push(MarkedSession {
                person: self.starter_of(&key, &record.session).await?,
                session_id: record.session,
                key_id: record.owner,
            });
        }
        let records = self.base.find_all(marked_recipients()).await?;
        let recipients = records.iter().map(read).collect::<Result<_, _>>()?;
        Ok(CrisisView {
            sessions,
            recipients,
            readers: self.readers(),
        })
    }

    /// A person says that the mark need not stay. Who is marked is not the one to say so.
    pub async fn clear_crisis(
        &self,
        who: &Principal,
        whose: Marked<'_>,
        note: Option<&str>,
    ) -> Result<CrisisView, GateError> {
        answers(who)?;
        if note.is_some_and(|note| note.len() > NOTE_BYTES_MAX) {
            let message = "the note is longer than 4 KiB";
            return Err(invalid("note", "note_too_long", message));
        }
        match whose {
            Marked::Session(session, key) => self.clear_session(who, session, key, note).await?,
            Marked::Recipient(name) => self.clear_recipient(who, name, note).await?,
        }
        self.crisis_marks(who).await
    }

    async fn clear_session(
        &self,
        who: &Principal,
        session: &str,
        key: Option<&str>,
        note: Option<&str>,
    ) -> Result<(), GateError> {
        let key = self.key_of_session(key, session).await?;
        let asker = Principal {
            key: key.clone(),
            ..who.clone()
        };
        let person = self.starter_of(&asker, session).await?;
        if person.as_deref() == Some(who.name.as_str()) {
            return Err(not_oneself());
        }
        retry_on_conflict(|| async {
            let before = self.read_session(&key, session).await?;
            if !before.crisis {
                return Err(no_mark(session));
            }
            let facts = SessionFacts {
                crisis: false,
                ..before
            };
            let now = self.base.clock.now();
            let event = Event::CrisisCleared(CrisisCleared {
                session_id: Some(session.to_owned()),
                key_id: Some(key.0.clone()),
                ..cleared_by(who, note, now)
            });
            let entry = Draft {
                owner: key.0.clone(),
                session: session.to_owned(),
                ..event.draft(session, now)
            };
            self.write_session(&key, session, &facts, entry).await
        })
        .await
    }

    async fn clear_recipient(
        &self,
        who: &Principal,
        name: &str,
        note: Option<&str>,
    ) -> Result<(), GateError> {
        let people = self.people.live_people().await?;
        let spellings = spellings(&normal(name), &people);
        if spellings.contains(&normal(&who.name)) {
            return Err(not_oneself());
        }
        retry_on_conflict(|| async {
            let mut change = Change::default();
            for spelling in &spellings {
                let id = mark_id(spelling);
                let found = self.base.store.get(Kind::Recipient, &id).await?;
                let Some(mut record) =
                    found.filter(|record| record.status == CrisisStatus::Marked.word())
                else {
                    continue;
                };
                let expect = Expect::Version(record.version);
                CrisisStatus::Cleared.word().clone_into(&mut record.status);
                change.puts.push(Put { record, expect });
                let now = self.base.clock.now();
                let event = Event::CrisisCleared(CrisisCleared {
                    recipient: Some(spelling.clone()),
                    ..cleared_by(who, note, now)
                });
                change.entries.push(event.draft(spelling, now));
            }
            if change.puts.is_empty() {
                return Err(no_mark(name));
            }
            self.base.store.commit(change).await?;
            Ok(())
        })
        .await
        .map_err(busy("too many concurrent changes of this mark"))
    }

    /// Returns the spelling under which `name` carries the mark.
    async fn marked_as(
        &self,
        name: &str,
        people: &[PersonView],
    ) -> Result<Option<String>, GateError> {
        for spelling in spellings(&normal(name), people) {
            let found = self
                .base
                .store
                .get(Kind::Recipient, &mark_id(&spelling))
                .await?;
            if found.is_some_and(|record| record.status == CrisisStatus::Marked.word()) {
                return Ok(Some(spelling));
            }
        }
        Ok(None)
    }

    async fn anybody_is_marked(&self) -> Result<bool, GateError> {
        let query = Query {
            limit: 1,
            ..marked_recipients()
        };
        Ok(!self.base.store.find(query).await?.is_empty())
    }
}

/// Returns what has to be written so that `names` carry the mark because of `call`.
pub(crate) fn crisis_puts(
    call: &StoredCall,
    names: Vec<(String, Option<u64>)>,
    now: UnixMillis,
) -> Vec<(Put, Draft)> {
    let seen = |(recipient, version): (String, Option<u64>)| {
        let mark = MarkedRecipient {
            recipient,
            session_id: call.session.clone(),
            key_id: call.key.0.clone(),
            call_id: Some(call.call_id.0.clone()),
            marked_at: now.as_seconds(),
        };
        marked(&mark, version, now)
    };
    names.into_iter().map(seen).collect()
}

fn raise(assessment: &mut Assessment, reason: String) {
    // What the call itself says is the better reason.
    if !assessment.crisis_sensitive {
        assessment.crisis_sensitive = true;
        assessment.reasons.push(reason);
    }
}

/// Returns every spelling of the person that `name` is one of: their name and their accounts.
fn spellings(name: &str, people: &[PersonView]) -> Vec<String> {
    let mut all = vec![name.to_owned()];
    for person in people {
        let own = person.accounts.values().chain([&person.name]);
        let own: Vec<String> = own.map(|text| normal(text)).collect();
        if own.iter().any(|it| it == name) {
            all.extend(own);
        }
    }
    all.sort_unstable();
    all.dedup();
    all.retain(|it| !it.is_empty());
    all
}

/// Returns the record that carries the mark in place of the one of `version`, and what tells of it.
fn marked(mark: &MarkedRecipient, version: Option<u64>, now: UnixMillis) -> (Put, Draft) {
    let put = Put {
        record: Record {
            status: CrisisStatus::Marked.word().to_owned(),
            owner: mark.key_id.clone(),
            session: mark.session_id.clone(),
            ..Record::new(
                Kind::Recipient,
                mark_id(&mark.recipient),
                now.0,
                written(mark),
            )
        },
        expect: version.map_or(Expect::Absent, Expect::Version),
    };
    let event = Event::CrisisMarked(CrisisMarked {
        recipient: mark.recipient.clone(),
        session_id: mark.session_id.clone(),
        key_id: mark.key_id.clone(),
        call_id: mark.call_id.clone(),
        timestamp: now.as_seconds(),
    });
    let entry = Draft {
        owner: mark.key_id.clone(),
        session: mark.session_id.clone(),
        ..event.draft(&mark.recipient, now)
    };
    (put, entry)
}

fn cleared_by(who: &Principal, note: Option<&str>, now: UnixMillis) -> CrisisCleared {
    CrisisCleared {
        recipient: None,
        session_id: None,
        key_id: None,
        by: who.name.clone(),
        via: who.via.clone(),
        note: note.map(str::to_owned),
        timestamp: now.as_seconds(),
    }
}

fn marked_recipients() -> Query {
    Query {
        status: Some(CrisisStatus::Marked.word().to_owned()),
        ..Query::of(Kind::Recipient)
    }
}

/// Returns the name of the record of `recipient`'s mark: not that of who was written to before.
fn mark_id(recipient: &str) -> String {
    Digest::of(format!("countersign/v1/crisis\0{recipient}").as_bytes()).hex()
}

fn not_oneself() -> GateError {
    GateError::Forbidden("this mark is about you; another person must clear it")
}

fn no_mark(id: &str) -> GateError {
    GateError::NotFound {
        kind: "crisis mark",
        id: id.to_owned(),
    }
}
