//! Signed-in browsers: a one-time code becomes a cookie, which ends with its key.

use countersign_core::id::{KeyId, LoginId};
use countersign_core::status::RecordStatus;
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Expect, Kind, Put, Query, Record};
use serde::{Deserialize, Serialize};

use super::secret;
use super::{Known, live, not_found, principal, unknown};
use crate::GateError;
use crate::base::cache::ended_at;
use crate::base::principal::Principal;
use crate::base::random::random;
use crate::people::People;
use crate::records::event::{Event, LoginEnded, LoginOffered, LoginStarted};
use crate::records::retry::{Conflict, retry_on_conflict};
use crate::records::stored::{read, written};
use crate::records::view::Page;

/// How long a one-time code works.
const CODE_MILLIS: i64 = 10 * 60 * 1000;
/// How long a browser stays signed in.
const LOGIN_MILLIS: i64 = 12 * 60 * 60 * 1000;

/// A browser that was signed in: the only time the secret of its cookie is seen.
#[derive(Debug)]
pub struct NewLogin {
    /// The cookie's secret.
    pub secret: String,
    /// Who is signed in.
    pub principal: Principal,
}

/// A browser that is signed in, as people see it.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LoginView {
    /// The login.
    pub id: String,
    /// Who.
    pub name: String,
    /// Since when, in seconds.
    pub created_at: f64,
    /// Until when, in seconds.
    pub expires_at: f64,
}

/// A code or a login as it is kept. The key is the record's owner, the end its due time.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredLogin {
    name: String,
}

impl People {
    /// Returns a one-time code with which a browser signs in as `key`, for ten minutes.
    pub async fn login_code(&self, key: &KeyId) -> Result<String, GateError> {
        let who = self.signed_in(key.as_str()).await?;
        let who = who.ok_or_else(|| not_found("key", key.as_str()))?;
        if who.role.asks() {
            return Err(GateError::Forbidden("agent keys cannot sign in a browser"));
        }
        let now = self.base.clock.now();
        let code = secret::fresh("", random());
        let hash = code.hash.hex();
        let until = now.plus(CODE_MILLIS);
        let record = login_record(Kind::LoginCode, (&hash, ""), &who, now, until);
        let event = Event::LoginOffered(LoginOffered {
            key_id: key.0.clone(),
            name: who.name.clone(),
            expires_at: until.as_seconds(),
            timestamp: now.as_seconds(),
        });
        let change = Change {
            puts: vec![Put {
                record,
                expect: Expect::Absent,
            }],
            entries: vec![event.draft(key.as_str(), now)],
        };
        self.base.store.commit(change).await?;
        Ok(code.text)
    }

    /// Turns a one-time code into a browser that is signed in: the secret of its cookie.
    pub async fn redeem_login_code(&self, code: &str) -> Result<NewLogin, GateError> {
        let hash = secret::hash(code).ok_or_else(|| unknown("code"))?.hex();
        let now = self.base.clock.now();
        let found = self.base.store.get(Kind::LoginCode, &hash).await?;
        let mut record = found
            .filter(|record| {
                secret::same(&record.id, &hash)
                    && record.status == RecordStatus::Live.word()
                    && !is_over(record, now)
            })
            .ok_or_else(|| unknown("code"))?;
        let who = self.signed_in(&record.owner).await?;
        let who = who.ok_or_else(|| unknown("code"))?;
        RecordStatus::Used.word().clone_into(&mut record.status);
        let cookie = secret::fresh("", random());
        let id = LoginId::fresh(now, random());
        let until = now.plus(LOGIN_MILLIS);
        let login = login_record(
            Kind::Login,
            (id.as_str(), &cookie.hash.hex()),
            &who,
            now,
            until,
        );
        let event = Event::LoginStarted(LoginStarted {
            login_id: id.0.clone(),
            key_id: who.key.0.clone(),
            name: who.name.clone(),
            expires_at: until.as_seconds(),
            timestamp: now.as_seconds(),
        });
        let change = Change {
            puts: vec![
                Put {
                    expect: Expect::Version(record.version),
                    record,
                },
                Put {
                    expect: Expect::Absent,
                    record: login,
                },
            ],
            entries: vec![event.draft(id.as_str(), now)],
        };
        // Whoever lost the race for the code has a code that was used.
        match self.unsettle(change).await {
            Err(error) if error.is_conflict() => return Err(unknown("code")),
            done => done?,
        }
        Ok(NewLogin {
            secret: cookie.text,
            principal: who,
        })
    }

    /// Returns who a browser is signed in as.
    pub async fn authenticate_login(&self, secret: &str) -> Result<Principal, GateError> {
        let hash = secret::hash(secret).ok_or_else(|| unknown("login"))?;
        let now = self.base.clock.now();
        let (cache, tail) = (&self.cache.by_login, self.base.store.tail());
        let remembered = cache.get(tail, &hash);
        if let Some(Known { principal, until }) = remembered {
            return if now < until {
                Ok(principal)
            } else {
                Err(unknown("login"))
            };
        }
        let as_of = ended_at(tail);
        let found = self.live_by_hash(Kind::Login, &hash).await?;
        let record = found
            .filter(|record| !is_over(record, now))
            .ok_or_else(|| unknown("login"))?;
        let principal = self.signed_in(&record.owner).await?;
        let principal = principal.ok_or_else(|| unknown("login"))?;
        let known = Known {
            principal: principal.clone(),
            until: UnixMillis(record.due_at.unwrap_or_default()),
        };
        cache.put(tail, as_of, hash, known);
        Ok(principal)
    }

    /// Returns the browsers that are signed in: an admin sees all, others their own.
    pub async fn logins(&self, who: &Principal) -> Result<Page<LoginView>, GateError> {
        let now = self.base.clock.now();
        let query = Query {
            owner: (!who.role.administers()).then(|| who.key.0.clone()),
            ..live(Kind::Login)
        };
        let mut items = Vec::new();
        for record in self.base.find_all(query).await? {
            if is_over(&record, now) || self.signed_in(&record.owner).await?.is_none() {
                continue;
            }
            items.push(LoginView {
                name: read::<StoredLogin>(&record)?.name,
                created_at: UnixMillis(record.at).as_seconds(),
                expires_at: UnixMillis(record.due_at.unwrap_or_default()).as_seconds(),
                id: record.id,
            });
        }
        Ok(Page { items, next: None })
    }

    /// Signs a browser out.
    pub async fn revoke_login(&self, who: &Principal, id: &str) -> Result<(), GateError> {
        retry_on_conflict(|| async {
            let found = self.base.store.get(Kind::Login, id).await?;
            let mut record = found
                .filter(|record| who.role.administers() || record.owner == who.key.0)
                .ok_or_else(|| not_found("login", id))?;
            if record.status != RecordStatus::Live.word() {
                return Ok(());
            }
            RecordStatus::Ended.word().clone_into(&mut record.status);
            let now = self.base.clock.now();
            let event = Event::LoginEnded(LoginEnded {
                login_id: id.to_owned(),
                key_id: record.owner.clone(),
                by: who.name.clone(),
                timestamp: now.as_seconds(),
            });
            let change = Change {
                puts: vec![Put {
                    expect: Expect::Version(record.version),
                    record,
                }],
                entries: vec![event.draft(id, now)],
            };
            self.unsettle(change).await
        })
        .await
    }

    /// Signs the browser out whose cookie this is.
    pub async fn end_login(&self, who: &Principal, secret: &str) -> Result<(), GateError> {
        let hash = secret::hash(secret).ok_or_else(|| unknown("login"))?;
        match self.live_by_hash(Kind::Login, &hash).await? {
            Some(record) => self.revoke_login(who, &record.id).await,
            None => Ok(()),
        }
    }

    /// Returns who acts with this key in a browser, if it is live.
    pub(super) async fn signed_in(&self, key: &str) -> Result<Option<Principal>, GateError> {
        let found = self.base.store.get(Kind::Key, key).await?;
        let live = found.filter(|record| record.status == RecordStatus::Live.word());
        live.map(|record| principal(&record, "page")).transpose()
    }
}

/// Time ends what is due now.
fn is_over(record: &Record, now: UnixMillis) -> bool {
    record.due_at.is_none_or(|due| due <= now.0)
}

fn login_record(
    kind: Kind,
    (id, link): (&str, &str),
    who: &Principal,
    now: UnixMillis,
    until: UnixMillis,
) -> Record {
    Record {
        status: RecordStatus::Live.word().to_owned(),
        owner: who.key.0.clone(),
        link: link.to_owned(),
        due_at: Some(until.0),
        ..Record::new(
            kind,
            id.to_owned(),
            now.0,
            written(&StoredLogin {
                name: who.name.clone(),
            }),
        )
    }
}
