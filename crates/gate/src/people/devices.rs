//! Devices: browsers that a person lets tell them when something waits.
//!
//! A device acts with nobody's rights. It belongs to the key it was turned on with, and is told
//! nothing once that key is revoked or may no longer answer.

use std::sync::Arc;

use countersign_channels::push::Subscription;
use countersign_core::digest::Digest;
use countersign_core::status::RecordStatus;
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Expect, Kind, Put, Query, Record};
use serde::{Deserialize, Serialize};

use super::{checked_name, live, not_found};
use crate::GateError;
use crate::base::cache::ended_at;
use crate::base::principal::Principal;
use crate::people::People;
use crate::records::error::invalid;
use crate::records::event::{DeviceHappening, Event};
use crate::records::retry::retry_on_conflict;
use crate::records::stored::{read, written};
use crate::records::view::Page;

/// Most devices of one person.
const DEVICES_MAX: usize = 20;
/// Hexadecimal digits of an id.
const ID_DIGITS: usize = 32;
/// Who removes a device that its browser has given up.
const SERVICE: &str = "push service";

/// A device, as people see it.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeviceView {
    /// The device: `dev_` and the beginning of the SHA-256 of its endpoint.
    pub id: String,
    /// Its name, such as `Firefox on Android`.
    pub name: String,
    /// Whose it is.
    pub person: String,
    /// The host of its push service.
    pub service: String,
    /// Since when, in seconds.
    pub created_at: f64,
}

/// A device as it is kept. Its key is the record's owner, its person the record's link.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredDevice {
    name: String,
    person: String,
    service: String,
    /// Forgotten when it is removed.
    subscription: Option<Subscription>,
}

/// A device that is told, and whose it is.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) device: String,
    pub(crate) person: String,
}

impl People {
    /// Lets a browser tell `who` when something waits. The same browser again is the same device.
    pub async fn add_device(
        &self,
        who: &Principal,
        name: &str,
        subscription: Subscription,
    ) -> Result<DeviceView, GateError> {
        if !who.role.answers() {
            return Err(GateError::Forbidden(
                "only people who may answer are notified",
            ));
        }
        checked_name(name)?;
        let service = self.base.push.check(&subscription);
        let service = service.map_err(|why| invalid("endpoint", "invalid_subscription", why))?;
        let id = id_of(&subscription.endpoint);
        let device = StoredDevice {
            name: name.to_owned(),
            person: who.name.clone(),
            service,
            subscription: Some(subscription),
        };
        retry_on_conflict(|| async {
            let own = Query {
                link: Some(who.name.clone()),
                ..live(Kind::Device)
            };
            let others = self.base.find_all(own).await?;
            if others.iter().filter(|other| other.id != id).count() >= DEVICES_MAX {
                let message = format!("a person has up to {DEVICES_MAX} devices; remove one first");
                return Err(invalid("endpoint", "too_many_devices", &message));
            }
            let found = self.base.store.get(Kind::Device, &id).await?;
            let now = self.base.clock.now();
            let record = Record {
                status: RecordStatus::Live.word().to_owned(),
                owner: who.key.0.clone(),
                link: who.name.clone(),
                ..Record::new(Kind::Device, id.clone(), now.0, written(&device))
            };
            let view = view(&record)?;
            let event = Event::DeviceAdded(happening(&id, &device, &who.name, now));
            let expect = found.map_or(Expect::Absent, |it| Expect::Version(it.version));
            let change = Change {
                puts: vec![Put { record, expect }],
                entries: vec![event.draft(&id, now)],
            };
            self.unsettle(change).await?;
            Ok(view)
        })
        .await
    }

    /// Returns the devices that are told: an admin sees all, others their own.
    pub async fn devices(&self, who: &Principal) -> Result<Page<DeviceView>, GateError> {
        let query = Query {
            link: (!who.role.administers()).then(|| who.name.clone()),
            ..live(Kind::Device)
        };
        let mut items = Vec::new();
        for record in self.base.find_all(query).await? {
            if self.signed_in(&record.owner).await?.is_some() {
                items.push(view(&record)?);
            }
        }
        Ok(Page { items, next: None })
    }

    /// Stops telling a device.
    pub async fn remove_device(&self, who: &Principal, id: &str) -> Result<(), GateError> {
        self.own_device(who, id).await?;
        self.forget(id, &who.name).await
    }

    /// Stops telling a device that its browser has given up.
    pub(crate) async fn forget_device(&self, id: &str) -> Result<(), GateError> {
        self.forget(id, SERVICE).await
    }

    /// Returns where the device `id` of `who` is told. An admin may mean anybody's.
    pub(crate) async fn own_device(
        &self,
        who: &Principal,
        id: &str,
    ) -> Result<Subscription, GateError> {
        let found = self.base.store.get(Kind::Device, id).await?;
        let is_theirs = |it: &Record| who.role.administers() || it.link == who.name;
        let found = found.filter(|it| who.role.answers() && is_theirs(it));
        let device = found.as_ref().map(read::<StoredDevice>).transpose()?;
        let subscription = device.and_then(|device| device.subscription);
        subscription.ok_or_else(|| not_found("device", id))
    }

    /// Returns the devices of people who may answer.
    pub(crate) async fn told(&self) -> Result<Arc<[Told]>, GateError> {
        let (cache, tail) = (&self.cache.devices, self.base.store.tail());
        if let Some(known) = cache.get(tail, &()) {
            return Ok(known);
        }
        let as_of = ended_at(tail);
        let mut told = Vec::new();
        for record in self.base.find_all(live(Kind::Device)).await? {
            let who = self.signed_in(&record.owner).await?;
            if let Some(who) = who.filter(|who| who.role.answers()) {
                told.push(Told {
                    device: record.id,
                    person: who.name,
                });
            }
        }
        let told: Arc<[Told]> = told.into();
        cache.put(tail, as_of, (), Arc::clone(&told));
        Ok(told)
    }

    /// Returns where the device `id` is told, if it is still there.
    pub(crate) async fn subscription(&self, id: &str) -> Result<Option<Subscription>, GateError> {
        let found = self.base.store.get(Kind::Device, id).await?;
        let device = found.as_ref().map(read::<StoredDevice>).transpose()?;
        Ok(device.and_then(|device| device.subscription))
    }

    /// Removes a device, and with it the address and the keys of its browser.
    async fn forget(&self, id: &str, by: &str) -> Result<(), GateError> {
        retry_on_conflict(|| async {
            let found = self.base.store.get(Kind::Device, id).await?;
            let Some(mut record) = found.filter(|it| it.status == RecordStatus::Live.word()) else {
                return Ok(());
            };
            let mut device: StoredDevice = read(&record)?;
            device.subscription = None;
            record.body = written(&device);
            RecordStatus::Removed.word().clone_into(&mut record.status);
            let now = self.base.clock.now();
            let event = Event::DeviceRemoved(happening(id, &device, by, now));
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
}

/// Returns the id of the device at `endpoint`, which stays secret: whoever knows it can send there.
fn id_of(endpoint: &str) -> String {
    let mut hex = Digest::of(endpoint.as_bytes()).hex();
    hex.truncate(ID_DIGITS);
    format!("dev_{hex}")
}

fn view(record: &Record) -> Result<DeviceView, GateError> {
    let device: StoredDevice = read(record)?;
    Ok(DeviceView {
        id: record.id.clone(),
        name: device.name,
        person: device.person,
        service: device.service,
        created_at: UnixMillis(record.at).as_seconds(),
    })
}

fn happening(id: &str, device: &StoredDevice, by: &str, now: UnixMillis) -> DeviceHappening {
    DeviceHappening {
        device_id: id.to_owned(),
        name: device.name.clone(),
        person: device.person.clone(),
        service: device.service.clone(),
        by: by.to_owned(),
        timestamp: now.as_seconds(),
    }
}
