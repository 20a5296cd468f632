//! Opens or creates the file and migrates its tables.

use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::words;
use crate::failure::Failure;

/// How long another process may hold the file before it counts as locked.
pub(super) const BUSY: Duration = Duration::from_secs(2);

/// The size to which the log is truncated.
const LOG_BYTES_MAX: i64 = 64 << 20;

/// Pages in the log before they are moved to the database. The ends of the indexes change with every
/// batch; the longer the log, the more of that is moved once instead of each time.
const LOG_PAGES: i64 = 4096;

/// The steps that made the tables, in order. Only ever added to.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/sqlite/0001_records_and_ledger.sql"),
    include_str!("../../migrations/sqlite/0002_packs.sql"),
];

/// Says in the file's header whose it is.
const APPLICATION_ID: i64 = 0x4373_676e;

const _: () = assert!(
    rusqlite::ffi::SQLITE_VERSION_NUMBER >= 3_051_003,
    "older versions can corrupt a database whose log is reset while another process writes"
);

/// Which file was opened under a path. A file that was renamed, replaced or deleted meanwhile still
/// takes what is written into it, but nobody will find it there.
#[derive(Clone, Debug)]
pub(super) struct Opened {
    path: PathBuf,
    /// Device and inode. As long as the file is open no other can have the same.
    is: (u64, u64),
}

impl Opened {
    /// Opens the connection that writes, makes the file if it is not there, and remembers which one
    /// it is.
    pub(super) fn open(path: &Path) -> Result<(Self, Connection), Failure> {
        let failed = |error: std::io::Error| {
            Failure::new("the database's file cannot be made", error.to_string())
        };
        create(path).map_err(failed)?;
        let connection = connect(path)?;
        // Asked by its path: opening it a second time, and closing it, would undo SQLite's locks.
        let is = identity(path).map_err(failed)?;
        let path = path.to_owned();
        Ok((Self { path, is }, connection))
    }

    /// Opens the connection that writes once more, on the same file.
    pub(super) fn open_again(&self) -> Result<Connection, Failure> {
        self.check()?;
        let connection = connect(&self.path)?;
        self.check()?;
        Ok(connection)
    }

    /// Fails if the path does not lead to that file any more.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let cause = match identity(&self.path) {
            Ok(found) if found == self.is => return Ok(()),
            Ok(_) => "another file lies there".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(Failure::new(words::MOVED, cause))
    }
}

fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|about| (about.dev(), about.ino()))
}

fn connect(file: &Path) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags).map_err(words::failure)?;
    set_up(&connection).map_err(words::failure)?;
    migrate(&mut connection)?;
    Ok(connection)
}

/// Opens a connection that reads.
pub(super) fn open_for_reading(opened: &Opened) -> Result<Connection, Failure> {
    opened.check()?;
    let file = &opened.path;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let connection = Connection::open_with_flags(file, flags)?;
        connection.busy_timeout(BUSY)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    };
    open().map_err(words::failure)
}

fn create(file: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    let mut directories = DirBuilder::new();
    directories.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        options.mode(0o600);
        directories.mode(0o700);
    }
    if file.exists() {
        return Ok(());
    }
    let parent = file.parent().filter(|it| !it.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    directories.create(parent)?;
    options.open(file)?.sync_all()?;
    // Without this a power failure may take the file away, with all that was acknowledged.
    File::open(parent)?.sync_all()
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Two who make the file at the same time: SQLite does not wait for the other here.
    let end = Instant::now() + BUSY;
    loop {
        let mode = connection
            .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0));
        match mode {
            Ok(_) => break,
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < end =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error),
        }
    }
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES_MAX)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    connection.pragma_update(None, "cache_size", -16_000)
}

fn migrate(connection: &mut Connection) -> Result<(), Failure> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(words::failure)?;
    let number = |name| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let made_by = number("application_id").map_err(words::failure)?;
    let version = number("user_version").map_err(words::failure)?;
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    if made_by != APPLICATION_ID && (made_by != 0 || version != 0) {
        return Err(Failure::new(
            "the file is another program's database",
            format!("application id {made_by}"),
        ));
    }
    if done > MIGRATIONS.len() {
        return Err(Failure::new(
            "the database was made by a newer version of Countersign",
            format!("schema {version}, known {}", MIGRATIONS.len()),
        ));
    }
    if done == MIGRATIONS.len() {
        return Ok(());
    }
    let apply = || {
        for step in MIGRATIONS.iter().skip(done) {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", MIGRATIONS.len())
    };
    apply().map_err(words::failure)?;
    transaction.commit().map_err(words::failure)
}
