//! Keys: who may ask, answer, administer or read.
//!
//! A key's secret is seen once, when it is made; the store has only its hash. People and browsers
//! that are signed in hang on keys: an approver's key bears the name of a person, a browser acts
//! with the key it was signed in by and ends with it.

mod devices;
mod logins;
mod persons;
mod secret;

use std::sync::Arc;

use countersign_core::digest::Digest;
use countersign_core::display::inline;
use countersign_core::id::KeyId;
use countersign_core::place::may_be_vouched;
use countersign_core::status::RecordStatus;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Expect, Kind, Put, Query, Record, StoreError};
use serde::{Deserialize, Serialize};

use crate::GateError;
use crate::base::Base;
use crate::base::cache::{Cache, ended_at};
use crate::base::principal::{Principal, Role};
use crate::base::random::random;
use crate::records::account::Account;
use crate::records::event::{Event, KeyHappening};
use crate::records::retry::retry_on_conflict;
use crate::records::stored::{StoredCall, read, written};
use crate::records::view::Page;

pub use devices::DeviceView;
pub use logins::{LoginView, NewLogin};
pub use persons::PersonView;

/// Longest name of a key or a person, in characters.
pub const NAME_CHARS_MAX: usize = 64;

/// Most audiences a key is made for.
const EXECUTORS_MAX: usize = 16;
/// Longest name of an audience, in bytes.
const EXECUTOR_BYTES_MAX: usize = 256;
/// Most directories one key is bound to.
const WORKSPACES_MAX: usize = 32;

/// What a key is bound to.
#[derive(Clone, Debug, Default)]
pub struct KeyBounds {
    /// Audiences whose tokens it may use besides its own.
    pub executors: Vec<String>,
    /// The only directories its calls may count as their workspace; none: any they claim.
    pub workspaces: Vec<String>,
}

/// A key as it is made: the only time its secret is seen.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NewKey {
    /// The key.
    pub id: String,
    /// Its secret.
    pub key: String,
    /// Its role.
    pub role: Role,
    /// Its name.
    pub name: String,
}

/// A key as people see it.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct KeyView {
    /// The key.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// When it was made, in seconds.
    pub created_at: f64,
    /// Who made it.
    pub created_by: String,
    /// Executors whose tokens it may consume besides its own.
    pub executors: Vec<String>,
    /// The directories its calls may count as their workspace; none: any they claim.
    pub workspaces: Vec<String>,
    /// When it was revoked, in seconds.
    pub revoked_at: Option<f64>,
}

/// The credential cache.
#[derive(Debug)]
pub(crate) struct Credentials {
    by_key: Cache<Digest, Principal>,
    by_login: Cache<Digest, Known>,
    has_approver: Cache<Option<String>, bool>,
    bound: Cache<String, Arc<[String]>>,
    devices: Cache<(), Arc<[devices::Told]>>,
}

/// Who is signed in, and until when.
#[derive(Clone, Debug)]
struct Known {
    principal: Principal,
    until: UnixMillis,
}

impl Default for Credentials {
    fn default() -> Self {
        Self {
            by_key: Cache::until(&["key.revoked"]),
            by_login: Cache::until(&["key.revoked", "login.ended"]),
            has_approver: Cache::until(&[
                "key.created",
                "key.revoked",
                "person.changed",
                "person.removed",
            ]),
            // What a key is bound to is said when it is made and never changes.
            bound: Cache::until(&[]),
            devices: Cache::until(&["device.added", "device.removed", "key.revoked"]),
        }
    }
}

/// A key as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredKey {
    name: String,
    role: Role,
    created_at: UnixMillis,
    created_by: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    executors: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    workspaces: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revoked_at: Option<UnixMillis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revoked_by: Option<String>,
}

/// Who may ask, answer, administer or read.
#[derive(Debug)]
pub struct People {
    base: Arc<Base>,
    cache: Credentials,
}

impl People {
    pub(crate) fn new(base: Arc<Base>) -> Self {
        Self {
            base,
            cache: Credentials::default(),
        }
    }
}

impl People {
    /// Returns whose secret this is.
    pub async fn authenticate(&self, secret: &str) -> Result<Principal, GateError> {
        let hash = secret::hash(secret).ok_or_else(|| unknown("key"))?;
        let (cache, tail) = (&self.cache.by_key, self.base.store.tail());
        if let Some(principal) = cache.get(tail, &hash) {
            return Ok(principal);
        }
        let as_of = ended_at(tail);
        let record = self.live_by_hash(Kind::Key, &hash).await?;
        let record = record.ok_or_else(|| unknown("key"))?;
        let principal = principal(&record, "api")?;
        cache.put(tail, as_of, hash, principal.clone());
        Ok(principal)
    }

    /// Makes a key; the secret is returned once and kept only as a hash. `by` is who made it.
    pub async fn create_key(&self, by: &str, name: &str, role: Role) -> Result<NewKey, GateError> {
        self.create_bound_key(by, name, role, &KeyBounds::default())
            .await
    }

    /// Makes a key that is bound to something.
    pub async fn create_bound_key(
        &self,
        by: &str,
        name: &str,
        role: Role,
        bounds: &KeyBounds,
    ) -> Result<NewKey, GateError> {
        checked_name(name)?;
        checked_executors(role, &bounds.executors)?;
        checked_workspaces(role, &bounds.workspaces)?;
        let now = self.base.clock.now();
        let secret = secret::fresh(&format!("cs_{}_", role.word()), random());
        let id = KeyId::fresh(now, random());
        let key = StoredKey {
            name: name.to_owned(),
            role,
            created_at: now,
            created_by: by.to_owned(),
            executors: bounds.executors.clone(),
            workspaces: bounds.workspaces.clone(),
            revoked_at: None,
            revoked_by: None,
        };
        let record = Record {
            status: RecordStatus::Live.word().to_owned(),
            owner: id.0.clone(),
            link: secret.hash.hex(),
            ..Record::new(Kind::Key, id.0.clone(), now.0, written(&key))
        };
        let event = Event::KeyCreated(happening(id.as_str(), &key, by, now));
        retry_on_conflict(|| async {
            let mut change = Change {
                puts: vec![Put {
                    record: record.clone(),
                    expect: Expect::Absent,
                }],
                entries: vec![event.draft(id.as_str(), now)],
            };
            if role.answers() {
                change.puts.push(self.person_kept(name, role, now).await?);
            }
            self.unsettle(change).await
        })
        .await?;
        Ok(NewKey {
            id: id.0,
            key: secret.text,
            role,
            name: name.to_owned(),
        })
    }

    /// Whether the key of `who` was made for `audience`, who runs calls.
    pub(crate) async fn executes(
        &self,
        who: &Principal,
        audience: &str,
    ) -> Result<bool, GateError> {
        let record = self.base.store.get(Kind::Key, who.key.as_str()).await?;
        let Some(record) = record.filter(|record| record.status == RecordStatus::Live.word())
        else {
            return Ok(false);
        };
        let key: StoredKey = read(&record)?;
        Ok(key.executors.iter().any(|executor| executor == audience))
    }

    /// Returns all keys.
    pub async fn keys(&self, who: &Principal) -> Result<Page<KeyView>, GateError> {
        if !who.role.answers() {
            return Err(GateError::Forbidden(
                "only approvers and admins can see keys",
            ));
        }
        let records = self.base.find_all(Query::of(Kind::Key)).await?;
        let items = records.iter().map(key_view).collect::<Result<_, _>>()?;
        Ok(Page { items, next: None })
    }

    /// Returns the name of a key, or its id if it has none.
    pub(crate) async fn name_of_key(&self, id: &str) -> Result<String, GateError> {
        let record = self.base.store.get(Kind::Key, id).await?;
        let key: Option<StoredKey> = record.as_ref().map(read).transpose()?;
        Ok(key.map_or_else(|| id.to_owned(), |key| key.name))
    }

    /// Returns the directories in which calls of `who` may have their workspace; none: in any they
    /// claim. The built-in agent claims nothing: a person names the directory of its run.
    pub(crate) async fn bound_to(
        &self,
        who: &Principal,
        workspace: Option<&str>,
    ) -> Result<Vec<String>, GateError> {
        if who.key == crate::runs::builtin().key {
            return Ok(workspace.map(str::to_owned).into_iter().collect());
        }
        let (cache, tail) = (&self.cache.bound, self.base.store.tail());
        if let Some(bound) = cache.get(tail, who.key.as_str()) {
            return Ok(bound.to_vec());
        }
        let as_of = ended_at(tail);
        let record = self.base.store.get(Kind::Key, who.key.as_str()).await?;
        let key: Option<StoredKey> = record.as_ref().map(read).transpose()?;
        let bound: Arc<[String]> = key.map(|key| key.workspaces).unwrap_or_default().into();
        cache.put(tail, as_of, who.key.0.clone(), Arc::clone(&bound));
        Ok(bound.to_vec())
    }

    /// Makes a key useless, and every browser that was signed in with it.
    pub async fn revoke_key(&self, who: &Principal, id: &str) -> Result<KeyView, GateError> {
        administers(who)?;
        retry_on_conflict(|| async {
            let record = self.base.store.get(Kind::Key, id).await?;
            let record = record.ok_or_else(|| not_found("key", id))?;
            if record.status == RecordStatus::Revoked.word() {
                return key_view(&record);
            }
            let mut change = Change::default();
            let now = self.base.clock.now();
            let view = revocation(&mut change, record, &who.name, now)?;
            self.unsettle(change).await?;
            Ok(view)
        })
        .await
    }

    /// Whether there is any live approver: a key of that role, or a person with an account in a chat.
    pub async fn has_approver(&self) -> Result<bool, GateError> {
        self.has_approver_besides(None).await
    }

    /// Whether there is any live approver besides `person`.
    pub async fn has_approver_other_than(&self, person: &str) -> Result<bool, GateError> {
        self.has_approver_besides(Some(person.to_owned())).await
    }

    /// Whether there is anybody who may answer the question about `call`.
    pub(crate) async fn has_approver_for(&self, call: &StoredCall) -> Result<bool, GateError> {
        let may = self.base.settings.starter_may_answer;
        let closed_to = call.starter.clone();
        let closed_to = closed_to.filter(|person| call.is_closed_to(person, may));
        self.has_approver_besides(closed_to).await
    }

    async fn has_approver_besides(&self, person: Option<String>) -> Result<bool, GateError> {
        let (cache, tail) = (&self.cache.has_approver, self.base.store.tail());
        if let Some(known) = cache.get(tail, &person) {
            return Ok(known);
        }
        let as_of = ended_at(tail);
        let besides = person.as_deref();
        let answers =
            self.any_answering_key(besides).await? || self.any_reachable_person(besides).await?;
        cache.put(tail, as_of, person, answers);
        Ok(answers)
    }

    async fn any_answering_key(&self, besides: Option<&str>) -> Result<bool, GateError> {
        for record in self.base.find_all(live(Kind::Key)).await? {
            let key: StoredKey = read(&record)?;
            if key.role.answers() && Some(key.name.as_str()) != besides {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the live record of `kind` that is kept for this hash.
    async fn live_by_hash(&self, kind: Kind, hash: &Digest) -> Result<Option<Record>, StoreError> {
        let link = hash.hex();
        let query = Query {
            link: Some(link.clone()),
            limit: 1,
            ..live(kind)
        };
        let found = self.base.store.find(query).await?;
        Ok(found
            .into_iter()
            .find(|record| secret::same(&record.link, &link)))
    }

    /// Writes `change` and forgets what it may have changed.
    async fn unsettle(&self, change: Change) -> Result<(), GateError> {
        let entries = self.base.store.commit(change).await?;
        let seq = entries.last().map_or(0, |entry| entry.seq);
        self.cache.by_key.forget(seq);
        self.cache.by_login.forget(seq);
        self.cache.has_approver.forget(seq);
        self.cache.devices.forget(seq);
        Ok(())
    }
}

/// Adds to `change` that the live key in `record` is revoked.
fn revocation(
    change: &mut Change,
    mut record: Record,
    by: &str,
    now: UnixMillis,
) -> Result<KeyView, GateError> {
    let mut key: StoredKey = read(&record)?;
    key.revoked_at = Some(now);
    key.revoked_by = Some(by.to_owned());
    RecordStatus::Revoked.word().clone_into(&mut record.status);
    record.body = written(&key);
    let event = Event::KeyRevoked(happening(&record.id, &key, by, now));
    change.entries.push(event.draft(&record.id, now));
    let view = key_view(&record);
    change.puts.push(Put {
        expect: Expect::Version(record.version),
        record,
    });
    view
}

/// Returns what the record of a key says, to be held against the ledger.
pub(crate) fn key_account(record: &Record) -> Option<Account> {
    let key: StoredKey = read(record).ok()?;
    let ended = if key.revoked_at.is_some() {
        RecordStatus::Revoked.word()
    } else {
        ""
    };
    Some(Account {
        begun: format!("{} {}", key.role.word(), key.name),
        ended: ended.to_owned(),
        used: String::new(),
    })
}

/// Returns what the ledger says of a key that `by` has made or revoked.
fn happening(id: &str, key: &StoredKey, by: &str, now: UnixMillis) -> KeyHappening {
    let unless_empty = |list: &Vec<String>| Some(list.clone()).filter(|list| !list.is_empty());
    KeyHappening {
        key_id: id.to_owned(),
        name: key.name.clone(),
        role: key.role,
        by: by.to_owned(),
        executors: unless_empty(&key.executors),
        workspaces: unless_empty(&key.workspaces),
        timestamp: now.as_seconds(),
    }
}

fn key_view(record: &Record) -> Result<KeyView, GateError> {
    let key: StoredKey = read(record)?;
    Ok(KeyView {
        id: record.id.clone(),
        name: key.name,
        role: key.role,
        created_at: key.created_at.as_seconds(),
        created_by: key.created_by,
        executors: key.executors,
        workspaces: key.workspaces,
        revoked_at: key.revoked_at.map(UnixMillis::as_seconds),
    })
}

/// Returns who acts with the key in `record`. What a way in can prove is for the way in to say.
fn principal(record: &Record, via: &str) -> Result<Principal, GateError> {
    let key: StoredKey = read(record)?;
    Ok(Principal {
        key: KeyId(record.id.clone()),
        name: key.name,
        role: key.role,
        via: via.to_owned(),
        tier: Tier::T0,
    })
}

/// A name is printed on cards and in the ledger, so it is what it looks like.
fn checked_name(name: &str) -> Result<(), GateError> {
    let length = name.chars().count();
    if length == 0 || length > NAME_CHARS_MAX || name.trim() != name || inline(name) != name {
        return Err(GateError::Invalid {
            param: "name",
            code: "invalid_name",
            message: format!("a name is 1 to {NAME_CHARS_MAX} visible characters"),
        });
    }
    Ok(())
}

/// Only who asks runs calls. What is named is a token's audience, word for word.
fn checked_executors(role: Role, executors: &[String]) -> Result<(), GateError> {
    let wrong = |message: String| GateError::Invalid {
        param: "executors",
        code: "invalid_executor",
        message,
    };
    if !executors.is_empty() && !role.asks() {
        let message = "only agent keys can have an executor";
        return Err(wrong(message.to_owned()));
    }
    let is_good = |name: &String| {
        !name.is_empty() && name.len() <= EXECUTOR_BYTES_MAX && inline(name) == *name
    };
    if executors.len() > EXECUTORS_MAX || !executors.iter().all(is_good) {
        return Err(wrong(format!(
            "an executor is the audience of a token, such as `tool:send_email`; at most {EXECUTORS_MAX}"
        )));
    }
    Ok(())
}

/// A key is bound to directories that can be told apart from others: written out from the root.
fn checked_workspaces(role: Role, workspaces: &[String]) -> Result<(), GateError> {
    let problem = |message: String| GateError::Invalid {
        param: "workspaces",
        code: "invalid_workspace",
        message,
    };
    if !workspaces.is_empty() && !role.asks() {
        let message = "only agent keys can be bound to workspaces";
        return Err(problem(message.to_owned()));
    }
    if workspaces.len() > WORKSPACES_MAX {
        return Err(problem(format!(
            "a key can be bound to at most {WORKSPACES_MAX} workspaces"
        )));
    }
    for workspace in workspaces {
        if !may_be_vouched(workspace) || inline(workspace) != *workspace {
            return Err(problem(format!(
                "`{}` cannot be a workspace: write a directory out from `/`; a home, a system \
                 directory or all of `/tmp` never counts as one",
                inline(workspace)
            )));
        }
    }
    Ok(())
}

fn administers(who: &Principal) -> Result<(), GateError> {
    if who.role.administers() {
        Ok(())
    } else {
        Err(GateError::Forbidden("only admins can do this"))
    }
}

fn live(kind: Kind) -> Query {
    Query {
        status: Some(RecordStatus::Live.word().to_owned()),
        ..Query::of(kind)
    }
}

/// Whose secret it is not must not be told, so the secret is not repeated.
fn unknown(kind: &'static str) -> GateError {
    not_found(kind, "")
}

fn not_found(kind: &'static str, id: &str) -> GateError {
    GateError::NotFound {
        kind,
        id: id.to_owned(),
    }
}
