//! Opens a gateway's home: configuration, lock, store, signing key, gate.
//!
//! One process at a time works in a home whose state is SQLite: the lock is held as long as the
//! [`Gateway`] lives, and the kernel gives it back when the process ends, however it ends.

pub(crate) mod agent;
pub(crate) mod channels;
pub(crate) mod chats;
pub(crate) mod collect;
pub(crate) mod keys;
mod models;
pub(crate) mod policies;

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_agent::Agent;
use countersign_channels::Channel;
use countersign_core::id::KeyId;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use countersign_gate::base::clock::Clock;
use countersign_gate::base::principal::{Principal, Role};
use countersign_gate::base::signer::Signer;
use countersign_gate::ledger::anchor::{self, Anchor, AnchorError, Found};
use countersign_gate::{Gate, GateError, Parts};
use countersign_store::{Database, StoreError};
use serde_json::Value;

use crate::complaint::Complaint;
use crate::config::settings::{self, Api, StoreChoice};
use crate::config::{self, Home};
use channels::Channels;
use policies::FilePolicies;

/// A home opened for work.
#[derive(Debug)]
pub(crate) struct Gateway {
    pub(crate) gate: Gate,
    pub(crate) agent: Agent,
    /// Whether no other gateway works on the same store.
    pub(crate) is_alone: bool,
    pub(crate) policies: Arc<FilePolicies>,
    pub(crate) api: Api,
    pub(crate) home: Home,
    pub(crate) channels: Channels,
    /// Held while we live; `None` beside another process on the same home and PostgreSQL.
    pub(crate) lock: Option<File>,
}

impl Gateway {
    /// Opens `home` as the one gateway that works in it.
    pub(crate) async fn open(home: Home) -> Result<Self, Complaint> {
        make_private(home.directory())?;
        let values = values(&home)?;
        let choice = settings::store(&values).map_err(|why| {
            let hint = "countersign config set store.url sqlite";
            Complaint::usage(format!("{}: {why}", home.file().display()), hint)
        })?;
        let lock = lock(&home)?;
        if lock.is_none() && choice == StoreChoice::Sqlite {
            return Err(Complaint::failed(
                format!(
                    "another gateway{} is already using {}",
                    whose(&home),
                    home.directory().display()
                ),
                "stop it first, or use another --home; several gateways need `store.url: postgres://…`",
            ));
        }
        let policies = Arc::new(FilePolicies::new(home.clone()));
        let channels = channels::build(&values)?;
        let ground = Ground::open(&home, &choice).await?;
        // Before anything is written: a ledger that is not what it was is not gone on with.
        let anchor = ground.anchor(&home);
        let now = ground.clock.now();
        let found = anchor.begin(&ground.store, now).await;
        if found.map_err(|error| damaged(&error))? == Found::Nothing {
            tracing::info!("the head of the ledger is kept in the home from now on");
        }
        let gate = open_gate(ground, &values, Arc::clone(&policies), channels.all()).await?;
        gate.anchored(anchor);
        announce_people(&gate, &values).await?;
        channels::announce_allowed(&gate, &channels).await?;
        for chat in &channels.chats {
            let begun = gate.begin_listening(chat.name()).await;
            begun.map_err(|error| Complaint::failed(error.to_string(), "see the log"))?;
        }
        let policy = config::load(&home)?;
        let agent = agent::build(&gate, &home, &values, &policy, channels.all())?;
        Ok(Self {
            gate,
            agent,
            is_alone: choice == StoreChoice::Sqlite,
            policies,
            api: settings::api(&values, home.directory()),
            home,
            channels,
            lock,
        })
    }

    /// Returns the key the command line works with, made at the first start, and whose it is.
    /// `None` if the file holds a key that is no longer good: it is not replaced, because somebody
    /// may have revoked it on purpose.
    pub(crate) async fn command_line_key(&self) -> Result<Option<Principal>, Complaint> {
        let file = self.home.command_line_key_file();
        match std::fs::read_to_string(&file) {
            Ok(secret) => match self.gate.authenticate(secret.trim()).await {
                Ok(principal) => Ok(Some(principal)),
                Err(GateError::Store(error)) => Err(unusable(&error)),
                Err(_) => Ok(None),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let made = self
                    .gate
                    .create_key("serve", &user_name(), Role::Admin)
                    .await
                    .map_err(|error| Complaint::failed(error.to_string(), ""))?;
                write_private(&file, &format!("{}\n", made.key))?;
                self.gate
                    .authenticate(&made.key)
                    .await
                    .map(Some)
                    .map_err(|error| Complaint::failed(error.to_string(), ""))
            }
            Err(error) => Err(Complaint::failed(
                format!("cannot read {}: {error}", file.display()),
                "it holds the key of the command line and must belong to you",
            )),
        }
    }
}

/// Opens the gate of `home` without becoming its gateway: for commands that work on a home whether
/// or not a gateway runs.
pub(crate) async fn open_beside(home: &Home) -> Result<Gate, Complaint> {
    make_private(home.directory())?;
    let values = values(home)?;
    let choice = settings::store(&values).map_err(|why| Complaint::usage(why, ""))?;
    let policies = Arc::new(FilePolicies::new(home.clone()));
    let ground = Ground::open(home, &choice).await?;
    let compared = ground.anchor(home).compare(&ground.store).await;
    compared.map_err(|error| damaged(&error))?;
    open_gate(ground, &values, policies, Vec::new()).await
}

/// An opened home: the store, the signing key and the clock.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) store: Database,
    pub(crate) signer: Signer,
    pub(crate) clock: Clock,
    /// Whether gateways with other homes write the same state.
    is_shared: bool,
}

impl Ground {
    /// Opens what lies in `home`, and makes what is not there yet.
    async fn open(home: &Home, choice: &StoreChoice) -> Result<Self, Complaint> {
        let store = match choice {
            StoreChoice::Sqlite => Database::sqlite(&database_file(home)).await,
            StoreChoice::Postgres(url) => Database::postgres(url).await,
        };
        let store = store.map_err(|error| unusable(&error))?;
        let seen = last_seen(&store).await.map_err(|error| unusable(&error))?;
        let file = home.directory().join("signing.key");
        let signer = Signer::load_or_create(&file).map_err(|error| {
            Complaint::failed(
                format!("cannot use {}: {error}", file.display()),
                "it holds the signing key and must be readable by you only",
            )
        })?;
        Ok(Self {
            store,
            signer,
            clock: Clock::system(seen),
            is_shared: *choice != StoreChoice::Sqlite,
        })
    }

    /// Opens what lies in `home` to look at its ledger, whatever state that is in. A home without
    /// one gets none.
    pub(crate) async fn of_ledger(home: &Home) -> Result<Self, Complaint> {
        let values = config::values(&home.file())?.unwrap_or(Value::Null);
        let choice = settings::store(&values).map_err(|why| Complaint::usage(why, ""))?;
        if choice == StoreChoice::Sqlite && !database_file(home).exists() {
            let directory = home.directory().display();
            return Err(Complaint::failed(
                format!("there is no ledger in {directory} yet"),
                "`countersign serve` creates one; --home names another home",
            ));
        }
        Self::open(home, &choice).await
    }

    /// Returns where the head of the ledger is kept.
    pub(crate) fn anchor(&self, home: &Home) -> Anchor {
        let file = home.directory().join(anchor::FILE);
        Anchor::new(file, self.signer.clone(), self.is_shared)
    }
}

fn database_file(home: &Home) -> PathBuf {
    home.directory().join("countersign.db")
}

/// The error for a ledger that this home has not seen.
pub(crate) fn damaged(error: &AnchorError) -> Complaint {
    let hint = match error {
        AnchorError::Mismatch(_) => {
            "`countersign ledger verify` says more. If you restored a backup, `countersign ledger anchor --accept` \
             takes the ledger as it is and writes down that you did"
        }
        AnchorError::Store(_) => "is the disk full, or the server down?",
        AnchorError::File { .. } => "is the disk full, or does the home belong to somebody else?",
    };
    Complaint::failed(error.to_string(), hint)
}

async fn open_gate(
    ground: Ground,
    values: &Value,
    policies: Arc<FilePolicies>,
    channels: Vec<Arc<dyn Channel>>,
) -> Result<Gate, Complaint> {
    let parts = Parts {
        store: ground.store,
        clock: ground.clock,
        signer: ground.signer,
        policies,
        settings: settings::gate(values),
        channels,
    };
    Gate::open(parts)
        .await
        .map_err(|error| Complaint::failed(error.to_string(), "see the log for the cause"))
}

/// Returns who acts when a home's own files or command line do: whoever can write there is its
/// admin anyway.
pub(crate) fn owner(name: &str) -> Principal {
    Principal {
        key: KeyId("owner".to_owned()),
        name: name.to_owned(),
        role: Role::Admin,
        via: "home".to_owned(),
        tier: Tier::T0,
    }
}

/// The people of the configuration file are the owner's word, so they hold from the start on.
async fn announce_people(gate: &Gate, values: &Value) -> Result<(), Complaint> {
    let owner = owner("config.yaml");
    let failed = |error: GateError| Complaint::failed(error.to_string(), "see the log");
    let people = settings::people(values);
    if people.is_empty() {
        return Ok(());
    }
    let known = gate.people(&owner).await.map_err(failed)?.items;
    for person in people {
        if !known.contains(&person) {
            gate.put_person(&owner, person).await.map_err(failed)?;
        }
    }
    Ok(())
}

fn values(home: &Home) -> Result<Value, Complaint> {
    // A file that cannot be judged under must not start a gateway that would refuse everything.
    config::load(home)?;
    Ok(config::values(&home.file())?.unwrap_or(Value::Null))
}

/// Returns the time of the last entry: the gate's time never goes back behind it.
async fn last_seen(store: &Database) -> Result<UnixMillis, StoreError> {
    let (last, _) = store.last().await?;
    let entries = store.entries(last.saturating_sub(1), 1).await?;
    Ok(entries.last().map_or(UnixMillis(0), |entry| entry.draft.at))
}

pub(crate) fn lock(home: &Home) -> Result<Option<File>, Complaint> {
    let path = lock_file(home);
    let failed = |error: std::io::Error| {
        Complaint::failed(
            format!("cannot lock {}: {error}", path.display()),
            "does the directory belong to you, and is the disk writable?",
        )
    };
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {
            // So that whoever comes second can say who was first.
            let pid = std::process::id();
            let told = file.set_len(0).and_then(|()| writeln!(&file, "{pid}"));
            told.map_err(failed)?;
            Ok(Some(file))
        }
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Returns which process holds the lock of `home`, and where it listens, as far as it left that.
fn whose(home: &Home) -> String {
    let pid = std::fs::read_to_string(lock_file(home)).ok();
    let pid = pid.and_then(|pid| pid.trim().parse::<u32>().ok());
    let address = crate::client::page_of(home);
    let parts = [pid.map(|pid| format!("pid {pid}")), address];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.as_slice() {
        [] => String::new(),
        parts => format!(" ({})", parts.join(", ")),
    }
}

fn lock_file(home: &Home) -> PathBuf {
    home.directory().join("gateway.lock")
}

/// Makes `directory` if it is not there, for its owner alone.
fn make_private(directory: &Path) -> Result<(), Complaint> {
    let is_new = !directory.exists();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(|error| {
            Complaint::failed(
                format!("cannot create {}: {error}", directory.display()),
                "use another --home",
            )
        })?;
    if !is_new {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(directory).map(|it| it.permissions().mode());
        if mode.is_ok_and(|mode| mode & 0o077 != 0) {
            // Keys and the database lie here. Who may not change the directory's mode does not own
            // it, and is told so by what fails next.
            let _closed =
                std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o700));
        }
    }
    Ok(())
}

fn write_private(file: &Path, text: &str) -> Result<(), Complaint> {
    let written = OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(file)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
    written.map_err(|error| {
        Complaint::failed(
            format!("cannot write {}: {error}", file.display()),
            "is the disk full?",
        )
    })
}

/// Returns the name of the user we run as: the first answer to a card is recorded under it.
pub(crate) fn user_name() -> String {
    let uid = rustix::process::getuid().as_raw().to_string();
    let of_uid = |line: &str| {
        let mut parts = line.split(':');
        let name = parts.next()?;
        (parts.nth(1)? == uid).then(|| name.to_owned())
    };
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let environment = || std::env::var("USER").ok().filter(|name| !name.is_empty());
    users
        .lines()
        .find_map(of_uid)
        .or_else(environment)
        .unwrap_or_else(|| "owner".to_owned())
}

fn unusable(error: &StoreError) -> Complaint {
    tracing::error!(?error, "the store cannot be opened");
    Complaint::failed(
        format!("the database cannot be used: {error}"),
        "is the disk full, is the file from another program, or is the server down?",
    )
}
