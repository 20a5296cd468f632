//! Chat threads: which session a thread belongs to, which messages were read, and which run was
//! answered.

use countersign_store::{Change, Expect, Kind, Order, Put, Query, Record, StoreError};
use serde::{Deserialize, Serialize};

use crate::GateError;
use crate::base::principal::Principal;
use crate::base::random::random_id;
use crate::records::retry::{Conflict, busy, retry_on_conflict};
use crate::records::stored::{read, written};
use crate::runs::BUILTIN;
use crate::runs::Runs;

/// Said when a conversation changes too fast.
const BUSY: &str = "too many concurrent changes of this conversation";

/// A person's conversation in one place of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The channel's name.
    pub channel: String,
    /// The place, in the channel's own words.
    pub place: String,
    /// Whose it is.
    pub person: String,
    /// The session it is.
    pub session: String,
    /// The last run that was started in it.
    pub run: Option<String>,
    /// The last run whose end was told there.
    pub told: Option<String>,
    /// The model that was chosen for its runs.
    pub model: Option<String>,
}

/// What is kept of it besides.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct StoredThread {
    place: String,
    person: String,
    /// The last message that was heard, and when by the chat's clock.
    heard: String,
    heard_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// Of a whole channel: how far it was heard, in the chat's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

impl Runs {
    /// Notes that `who` said something, and returns the conversation; `None` if this message was
    /// heard before.
    pub async fn hear(
        &self,
        who: &Principal,
        place: &str,
        message: &str,
        at: i64,
    ) -> Result<Option<Thread>, GateError> {
        retry_on_conflict(|| async {
            let known = self.thread_record(who, place).await?;
            let mut stored = match &known {
                Some(record) => read(record)?,
                None => StoredThread::default(),
            };
            if known.is_some() && (stored.heard == message || at < stored.heard_at) {
                return Ok(None);
            }
            stored = StoredThread {
                place: place.to_owned(),
                person: who.name.clone(),
                heard: message.to_owned(),
                heard_at: at,
                told: stored.told,
                model: stored.model,
                cursor: None,
            };
            let record = known.as_ref();
            let session = record.map_or_else(fresh_session, |it| it.session.clone());
            let run = record.map_or_else(String::new, |it| it.run.clone());
            let put = self.thread_put(who, &stored, session, run, record);
            Ok(Some(thread(&self.write_thread(put).await?)?))
        })
        .await
        .map_err(busy(BUSY))
    }

    /// Returns the conversation of `who` there, if there is one.
    pub async fn thread(&self, who: &Principal, place: &str) -> Result<Option<Thread>, GateError> {
        let record = self.thread_record(who, place).await?;
        record.as_ref().map(thread).transpose()
    }

    /// Begins another conversation in the same place. The one before is kept under its session: a
    /// run of it may be under way, and its questions still belong here.
    pub async fn renew_thread(&self, who: &Principal, place: &str) -> Result<(), GateError> {
        retry_on_conflict(|| async {
            let Some(mut record) = self.thread_record(who, place).await? else {
                return Ok(());
            };
            let past = Put {
                record: Record {
                    id: format!("{}\n{}", record.id, record.session),
                    version: 0,
                    ..record.clone()
                },
                expect: Expect::Absent,
            };
            record.session = fresh_session();
            let put = Put {
                expect: Expect::Version(record.version),
                record,
            };
            self.write_threads(vec![past, put]).await
        })
        .await
        .map_err(busy(BUSY))
    }

    /// Notes which run goes on in the conversation.
    pub async fn note_thread_run(
        &self,
        who: &Principal,
        place: &str,
        run: &str,
    ) -> Result<(), GateError> {
        self.change_thread(who, place, |record, _| run.clone_into(&mut record.run))
            .await
    }

    /// Notes which model answers in the conversation from now on.
    pub async fn note_thread_model(
        &self,
        who: &Principal,
        place: &str,
        model: &str,
    ) -> Result<(), GateError> {
        self.change_thread(who, place, |_, stored| {
            stored.model = Some(model.to_owned());
        })
        .await
    }

    /// Notes that the end of a run was told in the conversation it was started in, which may have
    /// been renewed since.
    pub async fn note_thread_told(&self, channel: &str, run: &str) -> Result<(), GateError> {
        retry_on_conflict(|| async {
            let mut puts = Vec::new();
            for mut record in self.records_of_run(channel, run).await? {
                let mut stored: StoredThread = read(&record)?;
                stored.told = Some(run.to_owned());
                record.body = written(&stored);
                puts.push(Put {
                    expect: Expect::Version(record.version),
                    record,
                });
            }
            self.write_threads(puts).await
        })
        .await
        .map_err(busy(BUSY))
    }

    /// Whether the end of a run was told where it was started.
    pub async fn is_told(&self, channel: &str, run: &str) -> Result<bool, GateError> {
        let records = self.records_of_run(channel, run).await?;
        for record in &records {
            let stored: StoredThread = read(record)?;
            if stored.told.as_deref() == Some(run) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn records_of_run(&self, channel: &str, run: &str) -> Result<Vec<Record>, StoreError> {
        let query = Query {
            link: Some(channel.to_owned()),
            run: Some(run.to_owned()),
            ..Query::of(Kind::Thread)
        };
        self.base.store.find(query).await
    }

    /// Returns the conversations of a channel in which a run is under way or its end was not told,
    /// one of each run.
    pub async fn threads_untold(&self, channel: &str) -> Result<Vec<Thread>, GateError> {
        let query = Query {
            link: Some(channel.to_owned()),
            ..Query::of(Kind::Thread)
        };
        let records = self.base.find_all(query).await?;
        let mut untold: Vec<Thread> = Vec::new();
        for record in &records {
            let thread = thread(record)?;
            let is_untold = thread.run.is_some() && thread.run != thread.told;
            if is_untold && untold.iter().all(|known| known.run != thread.run) {
                untold.push(thread);
            }
        }
        Ok(untold)
    }

    /// Notes that a channel is listened to from now on, unless it was before: what is said while
    /// nobody listens is read when somebody does again.
    pub async fn begin_listening(&self, channel: &str) -> Result<(), GateError> {
        let stored = StoredThread {
            heard_at: self.base.clock.machine().0,
            ..StoredThread::default()
        };
        let put = Put {
            record: Record {
                owner: BUILTIN.to_owned(),
                link: channel.to_owned(),
                ..Record::new(
                    Kind::Thread,
                    channel.to_owned(),
                    self.base.clock.now().0,
                    written(&stored),
                )
            },
            expect: Expect::Absent,
        };
        match self.write_thread(put).await {
            // Another gateway has noted it already.
            Err(error) if error.is_conflict() => Ok(()),
            noted => noted.map(drop),
        }
    }

    /// Notes how far a channel was heard, in the chat's own words.
    pub async fn note_cursor(&self, channel: &str, cursor: &str) -> Result<(), GateError> {
        self.change_record(channel, |_, stored| {
            stored.cursor = Some(cursor.to_owned());
        })
        .await
    }

    /// Returns how far a channel was heard.
    pub async fn cursor(&self, channel: &str) -> Result<Option<String>, GateError> {
        let record = self.base.store.get(Kind::Thread, channel).await?;
        let stored: Option<StoredThread> = record.as_ref().map(read).transpose()?;
        Ok(stored.and_then(|stored| stored.cursor))
    }

    /// Returns when something was last heard in a channel, by the chat's clock.
    pub async fn heard_at(&self, channel: &str) -> Result<Option<i64>, GateError> {
        let query = Query {
            link: Some(channel.to_owned()),
            order: Order::NewestFirst,
            ..Query::of(Kind::Thread)
        };
        let records = self.base.store.find(query).await?;
        let stored: Vec<StoredThread> = records.iter().map(read).collect::<Result<_, _>>()?;
        Ok(stored.iter().map(|it| it.heard_at).max())
    }

    /// Returns the place in `channel` where `session` goes on.
    pub(crate) async fn thread_of(
        &self,
        channel: &str,
        session: &str,
    ) -> Result<Option<String>, GateError> {
        let query = Query {
            link: Some(channel.to_owned()),
            session: Some(session.to_owned()),
            owner: Some(BUILTIN.to_owned()),
            limit: 1,
            ..Query::of(Kind::Thread)
        };
        let found = self.base.store.find(query).await?;
        let stored: Option<StoredThread> = found.first().map(read).transpose()?;
        Ok(stored.map(|stored| stored.place))
    }

    async fn thread_record(
        &self,
        who: &Principal,
        place: &str,
    ) -> Result<Option<Record>, StoreError> {
        self.base.store.get(Kind::Thread, &id(who, place)).await
    }

    async fn change_thread(
        &self,
        who: &Principal,
        place: &str,
        change: impl Fn(&mut Record, &mut StoredThread),
    ) -> Result<(), GateError> {
        self.change_record(&id(who, place), change).await
    }

    async fn change_record(
        &self,
        id: &str,
        change: impl Fn(&mut Record, &mut StoredThread),
    ) -> Result<(), GateError> {
        retry_on_conflict(|| async {
            let known = self.base.store.get(Kind::Thread, id).await?;
            let Some(mut record) = known else {
                return Ok(());
            };
            let mut stored: StoredThread = read(&record)?;
            change(&mut record, &mut stored);
            record.body = written(&stored);
            let put = Put {
                expect: Expect::Version(record.version),
                record,
            };
            self.write_thread(put).await.map(drop)
        })
        .await
        .map_err(busy(BUSY))
    }

    fn thread_put(
        &self,
        who: &Principal,
        stored: &StoredThread,
        session: String,
        run: String,
        known: Option<&Record>,
    ) -> Put {
        Put {
            record: Record {
                owner: BUILTIN.to_owned(),
                session,
                run,
                link: who.via.clone(),
                ..Record::new(
                    Kind::Thread,
                    id(who, &stored.place),
                    self.base.clock.now().0,
                    written(stored),
                )
            },
            expect: known.map_or(Expect::Absent, |it| Expect::Version(it.version)),
        }
    }

    async fn write_thread(&self, put: Put) -> Result<Record, GateError> {
        let record = put.record.clone();
        self.write_threads(vec![put]).await?;
        Ok(record)
    }

    async fn write_threads(&self, puts: Vec<Put>) -> Result<(), GateError> {
        let change = Change {
            puts,
            entries: Vec::new(),
        };
        self.base.store.commit(change).await?;
        Ok(())
    }
}

/// One conversation per person and place.
fn id(who: &Principal, place: &str) -> String {
    format!("{}\n{place}\n{}", who.via, who.name)
}

fn thread(record: &Record) -> Result<Thread, GateError> {
    let stored: StoredThread = read(record)?;
    Ok(Thread {
        channel: record.link.clone(),
        place: stored.place,
        person: stored.person,
        session: record.session.clone(),
        run: Some(record.run.clone()).filter(|run| !run.is_empty()),
        told: stored.told,
        model: stored.model,
    })
}

fn fresh_session() -> String {
    let bytes: [u8; 16] = random_id();
    format!("ses_{:032x}", u128::from_be_bytes(bytes))
}
