//! Connects to the server and migrates its tables.

use std::str::FromStr as _;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions as _, PgConnection, PgPool};

use super::words;
use crate::failure::Failure;

/// How long it may take to get a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// Connections that read at the same time, with the one that listens.
const READERS_MAX: u32 = 8;

/// The steps that made the tables, in order. Only ever added to.
const MIGRATIONS: &[&str] = &[include_str!(
    "../../migrations/postgres/0001_records_and_ledger.sql"
)];

/// The lock for replicas that start at the same time.
const MIGRATION_LOCK: i64 = 0x636f_756e_7465_7273;

/// How every connection works.
///
/// A replica that hangs between two statements loses its transaction, so that it cannot keep the
/// others from writing. Plans are made for the values at hand: a plan made while the tables were
/// empty would read all of them for ever. What is acknowledged is on disk, whatever the server's
/// default is.
const SETTINGS: &str = "\
    SET lock_timeout = '5s'; \
    SET statement_timeout = '10s'; \
    SET idle_in_transaction_session_timeout = '10s'; \
    SET plan_cache_mode = 'force_custom_plan'; \
    SET client_min_messages = 'warning'; \
    SELECT set_config('synchronous_commit', 'on', false) \
    WHERE current_setting('synchronous_commit') = 'off'";

#[derive(Debug)]
pub(super) struct Server {
    options: PgConnectOptions,
}

impl Server {
    pub(super) fn of(url: &str) -> Result<Self, Failure> {
        let options = PgConnectOptions::from_str(url)
            .map_err(|error| Failure::new("its address cannot be read", error.to_string()))?
            .application_name("countersign");
        Ok(Self { options })
    }

    pub(super) async fn connect(&self) -> Result<PgConnection, Failure> {
        let connecting = async {
            let mut connection = self.options.connect().await?;
            set_up(&mut connection).await?;
            Ok(connection)
        };
        tokio::time::timeout(CONNECT, connecting)
            .await
            .map_err(|_| words::too_slow())?
            .map_err(words::failure)
    }

    pub(super) fn pool(&self) -> PgPool {
        PgPoolOptions::new()
            .max_connections(READERS_MAX)
            .acquire_timeout(CONNECT)
            .after_connect(|connection, _| Box::pin(set_up(connection)))
            .connect_lazy_with(self.options.clone())
    }
}

async fn set_up(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::raw_sql(SETTINGS).execute(connection).await.map(drop)
}

/// Brings the tables up to date; refuses a database that a newer version made.
pub(super) async fn migrate(connection: &mut PgConnection) -> Result<(), Failure> {
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let outcome = migrate_to(connection, known).await;
    let version = outcome.map_err(words::failure)?;
    if version > known {
        return Err(Failure::new(
            "the database was made by a newer version of Countersign",
            format!("schema {version}, known {known}"),
        ));
    }
    Ok(())
}

async fn migrate_to(connection: &mut PgConnection, known: i64) -> sqlx::Result<i64> {
    let mut transaction = sqlx::Connection::begin(connection).await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(MIGRATION_LOCK)
        .execute(&mut *transaction)
        .await?;
    sqlx::raw_sql(
        "CREATE TABLE IF NOT EXISTS schema_version (\
         version BIGINT PRIMARY KEY, at TIMESTAMPTZ NOT NULL DEFAULT now())",
    )
    .execute(&mut *transaction)
    .await?;
    let version: i64 = sqlx::query_scalar("SELECT coalesce(max(version), 0) FROM schema_version")
        .fetch_one(&mut *transaction)
        .await?;
    for (step, number) in MIGRATIONS.iter().zip(1..) {
        if number <= version {
            continue;
        }
        sqlx::raw_sql(*step).execute(&mut *transaction).await?;
        sqlx::query("INSERT INTO schema_version (version) VALUES ($1)")
            .bind(number)
            .execute(&mut *transaction)
            .await?;
    }
    if version <= known {
        // Replicas that have not written for so long are gone.
        sqlx::query("DELETE FROM writers WHERE at < now() - interval '30 days'")
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(version.max(known))
}
