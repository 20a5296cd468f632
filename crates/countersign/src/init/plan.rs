//! What has to change on disk to set an agent up, or to undo that, and doing it.

use std::path::PathBuf;

use countersign_core::digest::Digest;
use countersign_gate::base::principal::Role;
use countersign_gate::people::KeyBounds;

use super::Place;
use super::agents::{Agent, File, Texts};
use super::files::{self, Change};
use super::find::Found;
use super::record::{Kept, Record};
use crate::client::{Client, Reach, segment};
use crate::complaint::Complaint;
use crate::gateway::keys;
use crate::hook;

/// What is to be done for one agent.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The agent.
    pub(crate) agent: &'static Agent,
    /// Its program, if it was found.
    pub(crate) found: Option<Found>,
    /// How it is set up at present.
    pub(crate) state: State,
    /// What happens to its files. Empty: nothing.
    pub(crate) changes: Vec<Change>,
    /// What happens to its key.
    pub(crate) key: KeyStep,
    /// What a person should know before saying yes.
    pub(crate) notes: Vec<String>,
    /// What keeps the hook from working.
    pub(crate) warnings: Vec<String>,
    record: Record,
    direction: Direction,
}

/// How an agent is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// All is as `init` would write it.
    SetUp,
    /// There is something of ours, but not as `init` would write it now.
    Outdated,
    /// There is nothing of ours.
    NotSetUp,
}

impl State {
    /// Returns it in words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::SetUp => "set up",
            Self::Outdated => "outdated",
            Self::NotSetUp => "not set up",
        }
    }
}

/// What happens to an agent's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyStep {
    /// It stays as it is.
    Stays,
    /// It is created.
    Create,
    /// The key with this id is revoked, and its file removed.
    Revoke(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    SetUp,
    Undo,
}

/// Returns where the key of `agent` is kept.
pub(crate) fn key_file(place: &Place, agent: &str) -> PathBuf {
    hook::directory(&place.home).join(format!("{agent}.key"))
}

/// Returns what has to be done to set `agent` up.
pub(crate) fn set_up(
    place: &Place,
    agent: &'static Agent,
    found: Option<Found>,
) -> Result<Plan, Complaint> {
    let files = (agent.files)(place);
    let disk = Disk::read(&files)?;
    let wanted = (agent.with)(place, &disk.texts)?;
    let kept = Record::load(&place.home, agent.name)?;
    let mut record = kept.clone().unwrap_or_default();
    let changes = disk.changes(&files, &wanted);
    for change in &changes {
        let (Some(after), before) = (&change.after, change.before.as_deref()) else {
            continue;
        };
        let original = match record.of(&change.path) {
            None => change.before.clone(),
            Some(it) if before.map(Digest::of) == Some(it.wrote) => it.original(),
            Some(it) if it.original() == change.before => it.original(),
            // Somebody has changed it since; what is theirs is the original from now on.
            Some(_) => stripped(place, agent, &files, &disk, change)?,
        };
        record.keep(Kept::new(&change.path, original.as_deref(), after));
        record.keep_folders(files::missing_folders(&change.path));
    }
    let has_key = !agent.has_key || key_file(place, agent.name).exists();
    let is_there = kept.is_some() || (agent.command)(place, &disk.texts).is_some();
    let state = match (changes.is_empty() && has_key, is_there) {
        (true, _) => State::SetUp,
        (false, true) => State::Outdated,
        (false, false) => State::NotSetUp,
    };
    let version = found.as_ref().and_then(|it| it.version);
    Ok(Plan {
        agent,
        state,
        changes,
        key: if has_key {
            KeyStep::Stays
        } else {
            KeyStep::Create
        },
        notes: Vec::new(),
        warnings: (agent.warnings)(place, &wanted, version),
        found,
        record,
        direction: Direction::SetUp,
    })
}

/// Returns what has to be done to take out of the settings of `agent` what is ours.
pub(crate) fn undo(place: &Place, agent: &'static Agent) -> Result<Plan, Complaint> {
    let record = Record::load(&place.home, agent.name)?;
    let has_record = record.is_some();
    let record = record.unwrap_or_default();
    let mut files = (agent.files)(place);
    // A variable may have named other folders at that time.
    let known = files.clone();
    let elsewhere = record
        .files
        .iter()
        .filter(|it| known.iter().all(|file| file.path != it.path));
    files.extend(elsewhere.map(|it| File {
        path: it.path.clone(),
        mode: 0o600,
    }));
    let disk = Disk::read(&files)?;
    let mut notes = Vec::new();
    let mut changes = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let Some(before) = disk.bytes.get(at).cloned().flatten() else {
            continue;
        };
        let kept = record.of(&file.path);
        let mut change = Change {
            path: file.path.clone(),
            before: Some(before),
            after: None,
            mode: file.mode,
        };
        let now = change.before.as_deref().map(Digest::of);
        match kept {
            Some(it) if now == Some(it.wrote) => change.after = it.original(),
            Some(it) if it.original() == change.before => continue,
            Some(_) if at >= known.len() => {
                let path = file.path.display();
                notes.push(format!(
                    "{path} was changed since; remove Countersign's entries there by hand"
                ));
                continue;
            }
            Some(_) | None => {
                change.after = stripped(place, agent, &known, &disk, &change)?;
                if kept.is_some() && change.after != change.before {
                    let path = file.path.display();
                    notes.push(format!(
                        "{path} was changed since; only Countersign's entries are removed"
                    ));
                }
            }
        }
        if change.after != change.before {
            changes.push(change);
        }
    }
    let has_key = agent.has_key && key_file(place, agent.name).exists();
    let key = record.key.clone().map_or(KeyStep::Stays, KeyStep::Revoke);
    if has_key && key == KeyStep::Stays {
        let file = key_file(place, agent.name);
        notes.push(format!(
            "{} was not created by this command and stays",
            file.display()
        ));
    }
    let state = if has_record || !changes.is_empty() {
        State::Outdated
    } else {
        State::NotSetUp
    };
    Ok(Plan {
        agent,
        found: None,
        state,
        changes,
        key,
        notes,
        warnings: Vec::new(),
        record,
        direction: Direction::Undo,
    })
}

/// Returns what `change` would be if only our entries went.
fn stripped(
    place: &Place,
    agent: &Agent,
    files: &[File],
    disk: &Disk,
    change: &Change,
) -> Result<Option<Vec<u8>>, Complaint> {
    let count = files.len();
    let texts: Texts = disk.texts.iter().take(count).cloned().collect();
    let left = (agent.without)(place, &texts)?;
    let at = files.iter().position(|file| file.path == change.path);
    let left = at.and_then(|at| left.into_iter().nth(at)).flatten();
    Ok(left.map(String::into_bytes))
}

impl Plan {
    /// Whether there is nothing to do.
    pub(crate) fn is_done(&self) -> bool {
        let has_left = self.direction == Direction::Undo && self.state != State::NotSetUp;
        self.changes.is_empty() && self.key == KeyStep::Stays && !has_left
    }

    /// Returns how the agent is set up once it is done.
    pub(crate) const fn outcome(&self) -> State {
        match self.direction {
            Direction::SetUp => State::SetUp,
            Direction::Undo => State::NotSetUp,
        }
    }

    /// Returns the texts of the agent's files as they are now.
    pub(crate) fn current_texts(&self, place: &Place) -> Result<Texts, Complaint> {
        Disk::read(&(self.agent.files)(place)).map(|disk| disk.texts)
    }

    /// Does it. Returns what could not be done and does not matter to the rest.
    pub(crate) fn carry_out(&mut self, place: &Place) -> Result<Vec<String>, Complaint> {
        match self.direction {
            Direction::SetUp => self.write(place).map(|()| Vec::new()),
            Direction::Undo => self.restore(place),
        }
    }

    fn write(&mut self, place: &Place) -> Result<(), Complaint> {
        if self.key == KeyStep::Create {
            self.record.key = Some(create_key(place, self.agent.name)?);
        }
        // Before the files: whoever is interrupted can undo.
        self.record.save(&place.home, self.agent.name)?;
        files::write(&self.changes)
    }

    fn restore(&self, place: &Place) -> Result<Vec<String>, Complaint> {
        files::write(&self.changes)?;
        for folder in self.record.folders.iter().rev() {
            // One that holds something by now stays.
            let _gone = std::fs::remove_dir(folder);
        }
        let mut left = Vec::new();
        if let KeyStep::Revoke(id) = &self.key {
            if let Err(complaint) = revoke_key(place, id) {
                let why = complaint.message();
                left.push(format!(
                    "the key could not be revoked ({why}); later: `countersign keys revoke {id}`"
                ));
            }
            let file = key_file(place, self.agent.name);
            if let Err(error) = std::fs::remove_file(&file)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                left.push(format!("{} could not be removed: {error}", file.display()));
            }
        }
        Record::remove(&place.home, self.agent.name);
        Ok(left)
    }
}

/// Creates the key of `agent` and returns its id.
fn create_key(place: &Place, agent: &str) -> Result<String, Complaint> {
    let made = keys::create(&place.home, Role::Agent, agent, &KeyBounds::default())?;
    let file = key_file(place, agent);
    let written = hook::create_private(&hook::directory(&place.home))
        .and_then(|()| files::write_private(&file, format!("{}\n", made.key).as_bytes()));
    written.map_err(|error| {
        let hint = "nothing was changed; is the disk full, or the home not yours?";
        Complaint::failed(format!("cannot write {}: {error}", file.display()), hint)
    })?;
    Ok(made.id)
}

/// Revokes a key at the home's gateway, or in the home itself if none runs.
fn revoke_key(place: &Place, id: &str) -> Result<(), Complaint> {
    let reach = Reach {
        home: Some(place.home.directory().to_owned()),
        ..Reach::default()
    };
    let asked =
        Client::new(&reach).and_then(|client| client.delete(&format!("/v1/keys/{}", segment(id))));
    match asked {
        Ok(_) => Ok(()),
        Err(_) => keys::revoke(&place.home, id),
    }
}

/// The files of an agent as they are.
#[derive(Debug)]
struct Disk {
    bytes: Vec<Option<Vec<u8>>>,
    texts: Texts,
}

impl Disk {
    fn read(files: &[File]) -> Result<Self, Complaint> {
        let mut disk = Self {
            bytes: Vec::new(),
            texts: Texts::new(),
        };
        for file in files {
            let bytes = files::read(&file.path)?;
            let text = bytes.clone().map(String::from_utf8).transpose();
            let text = text.map_err(|_| {
                let hint = "fix the file, then run this again; nothing was written";
                let path = file.path.display();
                Complaint::failed(format!("{path} is not valid UTF-8"), hint)
            })?;
            disk.bytes.push(bytes);
            disk.texts.push(text);
        }
        Ok(disk)
    }

    /// Returns what makes the files as they are `wanted`.
    fn changes(&self, files: &[File], wanted: &Texts) -> Vec<Change> {
        let all = files.iter().zip(&self.bytes).zip(wanted);
        let changes = all.map(|((file, before), after)| Change {
            path: file.path.clone(),
            before: before.clone(),
            after: after.clone().map(String::into_bytes),
            mode: file.mode,
        });
        changes.filter(|it| it.before != it.after).collect()
    }
}
