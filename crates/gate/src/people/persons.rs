//! People: the names answers are recorded under, and their accounts in chats.

use countersign_core::display::inline;
use countersign_core::id::KeyId;
use countersign_core::status::RecordStatus;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Expect, Kind, Put, Record};
use serde::{Deserialize, Serialize};

use super::{NAME_CHARS_MAX, StoredKey, administers, checked_name, live, not_found, revocation};
use crate::GateError;
use crate::base::principal::{Principal, Role};
use crate::people::People;
use crate::records::event::{Event, PersonChanged, PersonRemoved};
use crate::records::retry::retry_on_conflict;
use crate::records::stored::{read, written};
use crate::records::view::Page;

/// Most accounts of one person.
const ACCOUNTS_MAX: usize = 32;
/// Longest account, in characters.
const ACCOUNT_CHARS_MAX: usize = 256;

/// A person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PersonView {
    /// The name answers are recorded under.
    pub name: String,
    /// The roles of the person.
    pub roles: Vec<String>,
    /// Accounts, by channel.
    #[serde(default)]
    pub accounts: std::collections::BTreeMap<String, String>,
}

impl People {
    /// Returns the people who may answer.
    pub async fn list(&self, who: &Principal) -> Result<Page<PersonView>, GateError> {
        if !who.role.answers() {
            return Err(GateError::Forbidden(
                "only approvers and admins can see people",
            ));
        }
        let items = self.live_people().await?;
        Ok(Page { items, next: None })
    }

    /// Adds a person, or changes what is known of one.
    pub async fn put_person(
        &self,
        who: &Principal,
        person: PersonView,
    ) -> Result<PersonView, GateError> {
        administers(who)?;
        checked(&person)?;
        retry_on_conflict(|| async {
            self.accounts_are_free(&person).await?;
            let now = self.base.clock.now();
            let found = self.base.store.get(Kind::Person, &person.name).await?;
            let event = Event::PersonChanged(PersonChanged {
                name: person.name.clone(),
                roles: person.roles.clone(),
                channels: person.accounts.keys().cloned().collect(),
                by: who.name.clone(),
                timestamp: now.as_seconds(),
            });
            let change = Change {
                puts: vec![put(&person, found.as_ref(), now)],
                entries: vec![event.draft(&person.name, now)],
            };
            self.unsettle(change).await
        })
        .await?;
        Ok(person)
    }

    /// Removes a person: nobody answers under that name any more.
    pub async fn remove_person(&self, who: &Principal, name: &str) -> Result<(), GateError> {
        administers(who)?;
        retry_on_conflict(|| async {
            let found = self.base.store.get(Kind::Person, name).await?;
            let mut record = found
                .filter(|record| record.status == RecordStatus::Live.word())
                .ok_or_else(|| not_found("person", name))?;
            RecordStatus::Removed.word().clone_into(&mut record.status);
            let now = self.base.clock.now();
            let event = Event::PersonRemoved(PersonRemoved {
                name: name.to_owned(),
                by: who.name.clone(),
                timestamp: now.as_seconds(),
            });
            let mut change = Change {
                puts: vec![Put {
                    expect: Expect::Version(record.version),
                    record,
                }],
                entries: vec![event.draft(name, now)],
            };
            // A key made meanwhile writes the person, too, so one of the two is tried again.
            for key in self.base.find_all(live(Kind::Key)).await? {
                let stored: StoredKey = read(&key)?;
                if stored.name == name && stored.role.answers() {
                    revocation(&mut change, key, &who.name, now)?;
                }
            }
            self.unsettle(change).await
        })
        .await
    }

    /// Whether a person who may answer can be reached in a chat.
    pub(super) async fn any_reachable_person(
        &self,
        besides: Option<&str>,
    ) -> Result<bool, GateError> {
        let people = self.live_people().await?;
        Ok(people.iter().any(|person| {
            !person.accounts.is_empty() && person.answers() && Some(person.name.as_str()) != besides
        }))
    }

    /// Returns the record that says there is a person of this name, who may at least do what
    /// `role` may.
    pub(super) async fn person_kept(
        &self,
        name: &str,
        role: Role,
        now: UnixMillis,
    ) -> Result<Put, GateError> {
        let found = self.base.store.get(Kind::Person, name).await?;
        let known = found
            .as_ref()
            .filter(|record| record.status == RecordStatus::Live.word());
        let mut person = match known {
            Some(record) => read(record)?,
            None => PersonView {
                name: name.to_owned(),
                ..PersonView::default()
            },
        };
        if known.is_none() {
            person.roles.push(role.word().to_owned());
        }
        Ok(put(&person, found.as_ref(), now))
    }

    /// Returns who answers with `account` of `channel`. Who is not a listed approver is nobody.
    pub async fn principal_of_account(
        &self,
        channel: &str,
        account: &str,
        tier: Tier,
    ) -> Result<Principal, GateError> {
        let people = self.live_people().await?;
        let person = people.into_iter().find(|person| {
            person.accounts.get(channel).is_some_and(|it| it == account) && person.answers()
        });
        let person = person.ok_or(GateError::Forbidden("this account may not answer"))?;
        Ok(Principal {
            key: KeyId(format!("person:{}", person.name)),
            name: person.name,
            role: Role::Approver,
            via: channel.to_owned(),
            tier,
        })
    }

    /// Returns everybody who is there.
    pub(crate) async fn live_people(&self) -> Result<Vec<PersonView>, GateError> {
        let records = self.base.find_all(live(Kind::Person)).await?;
        let people: Result<Vec<PersonView>, _> = records.iter().map(read).collect();
        Ok(people?)
    }

    /// An account that belonged to two people would answer in either's name.
    async fn accounts_are_free(&self, person: &PersonView) -> Result<(), GateError> {
        for other in self.live_people().await? {
            let taken = |(channel, account): (&String, &String)| {
                other.name != person.name && other.accounts.get(channel) == Some(account)
            };
            if person.accounts.iter().any(taken) {
                return Err(invalid(
                    "accounts",
                    "account_taken",
                    format!("an account already belongs to `{}`", other.name),
                ));
            }
        }
        Ok(())
    }
}

fn put(person: &PersonView, found: Option<&Record>, now: UnixMillis) -> Put {
    Put {
        record: Record {
            status: RecordStatus::Live.word().to_owned(),
            ..Record::new(
                Kind::Person,
                person.name.clone(),
                found.map_or(now.0, |record| record.at),
                written(person),
            )
        },
        expect: found.map_or(Expect::Absent, |record| Expect::Version(record.version)),
    }
}

impl PersonView {
    /// Whether the person is a listed approver.
    pub fn answers(&self) -> bool {
        Role::ALL
            .iter()
            .any(|role| role.answers() && self.roles.iter().any(|word| word == role.word()))
    }
}

fn checked(person: &PersonView) -> Result<(), GateError> {
    checked_name(&person.name)?;
    for word in &person.roles {
        let known = |role: &Role| !role.asks() && role.word() == word;
        if !Role::ALL.iter().any(known) {
            return Err(invalid(
                "roles",
                "invalid_role",
                format!("`{}` is not a role of people", inline(word)),
            ));
        }
    }
    let fits = |text: &str, max: usize| {
        let length = text.chars().count();
        (1..=max).contains(&length) && inline(text) == text
    };
    let well_formed = |(channel, account): (&String, &String)| {
        fits(channel, NAME_CHARS_MAX) && fits(account, ACCOUNT_CHARS_MAX)
    };
    if person.accounts.len() > ACCOUNTS_MAX || !person.accounts.iter().all(well_formed) {
        return Err(invalid(
            "accounts",
            "invalid_account",
            format!("a person has up to {ACCOUNTS_MAX} accounts of visible characters"),
        ));
    }
    Ok(())
}

fn invalid(param: &'static str, code: &'static str, message: String) -> GateError {
    GateError::Invalid {
        param,
        code,
        message,
    }
}
