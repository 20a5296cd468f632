//! Reads and writes rows, many with one statement.

use std::borrow::Cow;
use std::collections::HashMap;

use countersign_core::digest::Digest;
use countersign_core::ledger::{Draft, Entry};
use countersign_core::time::UnixMillis;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{AssertSqlSafe, PgConnection, PgPool, Postgres, Row as _};

use super::text;
use crate::batch::{Batch, Key, Row};
use crate::query::{COLUMNS, ENTRY_COLUMNS, Statement, Value};
use crate::{Kind, Query, Record};

type Sql<'q> = sqlx::query::Query<'q, Postgres, PgArguments>;

pub(super) async fn get(pool: &PgPool, kind: Kind, id: &str) -> sqlx::Result<Option<Record>> {
    let sql = format!("SELECT {COLUMNS} FROM records WHERE kind = $1 AND id = $2");
    let row = sqlx::query(AssertSqlSafe(sql))
        .bind(kind.word())
        .bind(text::stored(id))
        .fetch_optional(pool)
        .await?;
    row.map(|row| record(kind, &row)).transpose()
}

pub(super) async fn find(pool: &PgPool, query: &Query) -> sqlx::Result<Vec<Record>> {
    let rows = bound(query.reading()).fetch_all(pool).await?;
    rows.iter().map(|row| record(query.kind, row)).collect()
}

pub(super) async fn count(pool: &PgPool, query: &Query) -> sqlx::Result<u64> {
    let row = bound(query.counting()).fetch_one(pool).await?;
    unsigned(row.try_get(0)?)
}

pub(super) async fn entries(pool: &PgPool, after: u64, limit: u32) -> sqlx::Result<Vec<Entry>> {
    let sql = format!("SELECT {ENTRY_COLUMNS} FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2");
    let rows = sqlx::query(AssertSqlSafe(sql))
        .bind(signed(after))
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?;
    rows.iter().map(entry).collect()
}

pub(super) async fn last(pool: &PgPool) -> sqlx::Result<(u64, Digest)> {
    let row = sqlx::query("SELECT seq, hash FROM ledger_head")
        .fetch_one(pool)
        .await?;
    end(&row)
}

/// Begins a transaction that no other writer of the database can overtake, and returns the end of
/// the ledger.
pub(super) async fn begin(connection: &mut PgConnection) -> sqlx::Result<(u64, Digest)> {
    let row = sqlx::raw_sql("BEGIN; SELECT seq, hash FROM ledger_head FOR UPDATE")
        .fetch_one(connection)
        .await?;
    end(&row)
}

/// Returns the versions of those records that are there.
pub(super) async fn versions<'a>(
    connection: &mut PgConnection,
    keys: Vec<Key<'a>>,
) -> sqlx::Result<HashMap<Key<'a>, u64>> {
    let (kinds, ids): (Vec<_>, Vec<_>) = keys
        .iter()
        .map(|(kind, id)| (kind.word(), text::stored(id)))
        .unzip();
    // The places of the keys come back with the versions, so that no name is read twice.
    let rows = sqlx::query(
        "SELECT keys.place, records.version \
         FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS keys (kind, id, place) \
         JOIN records USING (kind, id)",
    )
    .bind(kinds)
    .bind(ids)
    .fetch_all(connection)
    .await?;
    let mut versions = HashMap::with_capacity(rows.len());
    for row in rows {
        let place: i64 = row.try_get(0)?;
        let key = usize::try_from(place - 1)
            .ok()
            .and_then(|place| keys.get(place));
        if let Some(key) = key {
            versions.insert(*key, unsigned(row.try_get(1)?)?);
        }
    }
    Ok(versions)
}

/// Writes the records of a batch; tells whether the versions that were seen were still there.
pub(super) async fn write(connection: &mut PgConnection, batch: &Batch<'_>) -> sqlx::Result<bool> {
    const GIVEN: &str = "unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], \
         $6::text[], $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::text[], \
         $12::bigint[]) AS given (kind, id, version, status, owner, session, run, link, at, \
         due_at, body, was)";
    let (new, changed): (Vec<Row<'_>>, Vec<Row<'_>>) =
        batch.rows.iter().partition(|row| row.was == 0);
    let mut written = 0;
    if !new.is_empty() {
        let sql = format!(
            "INSERT INTO records ({COLUMNS}) SELECT {COLUMNS} FROM {GIVEN} WHERE was = 0 \
             ON CONFLICT DO NOTHING"
        );
        let done = with_rows(sqlx::query(AssertSqlSafe(sql)), &new);
        written += done.execute(&mut *connection).await?.rows_affected();
    }
    if !changed.is_empty() {
        let sql = format!(
            "UPDATE records SET version = given.version, status = given.status, \
             owner = given.owner, session = given.session, run = given.run, link = given.link, \
             at = given.at, due_at = given.due_at, body = given.body FROM {GIVEN} \
             WHERE records.kind = given.kind AND records.id = given.id \
             AND records.version = given.was"
        );
        let done = with_rows(sqlx::query(AssertSqlSafe(sql)), &changed);
        written += done.execute(&mut *connection).await?.rows_affected();
    }
    Ok(usize::try_from(written) == Ok(batch.rows.len()))
}

/// Writes the entries of a batch, the new end of the ledger, and which batch of which writer it is.
pub(super) async fn write_entries(
    connection: &mut PgConnection,
    batch: &Batch<'_>,
    writer: &str,
    number: i64,
) -> sqlx::Result<()> {
    let sql = format!(
        "WITH head AS (UPDATE ledger_head SET seq = $11, hash = $12), \
         mark AS (INSERT INTO writers (id, batch, at) VALUES ($13, $14, now()) \
         ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, at = excluded.at) \
         INSERT INTO ledger ({ENTRY_COLUMNS}) SELECT * FROM unnest($1::bigint[], $2::bigint[], \
         $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bytea[], \
         $10::bytea[])"
    );
    let entries: Vec<&Entry> = batch.entries().collect();
    let texts = |part: fn(&Draft) -> &String| -> Vec<Cow<'_, str>> {
        let part = |entry: &&'_ Entry| text::stored(part(&entry.draft)).into_owned().into();
        entries.iter().map(part).collect()
    };
    let numbers =
        |part: fn(&Entry) -> i64| -> Vec<i64> { entries.iter().map(|entry| part(entry)).collect() };
    let hashes = |part: fn(&Entry) -> &Digest| -> Vec<&[u8]> {
        entries
            .iter()
            .map(|entry| part(entry).0.as_slice())
            .collect()
    };
    sqlx::query(AssertSqlSafe(sql))
        .bind(numbers(|entry| signed(entry.seq)))
        .bind(numbers(|entry| entry.draft.at.0))
        .bind(texts(|draft| &draft.event))
        .bind(texts(|draft| &draft.owner))
        .bind(texts(|draft| &draft.run))
        .bind(texts(|draft| &draft.session))
        .bind(texts(|draft| &draft.subject))
        .bind(texts(|draft| &draft.body))
        .bind(hashes(|entry| &entry.previous))
        .bind(hashes(|entry| &entry.hash))
        .bind(signed(batch.end.0))
        .bind(batch.end.1.0.as_slice())
        .bind(writer)
        .bind(number)
        .execute(connection)
        .await?;
    Ok(())
}

/// Returns the last batch of a writer. Waits until no other transaction of it is under way.
pub(super) async fn last_batch(
    connection: &mut PgConnection,
    writer: &str,
) -> sqlx::Result<Option<i64>> {
    begin(connection).await?;
    let batch = sqlx::query_scalar("SELECT batch FROM writers WHERE id = $1")
        .bind(writer)
        .fetch_optional(&mut *connection)
        .await?;
    sqlx::raw_sql("ROLLBACK").execute(connection).await?;
    Ok(batch)
}

fn with_rows<'q>(sql: Sql<'q>, rows: &[Row<'_>]) -> Sql<'q> {
    let texts = |part: fn(&Record) -> &str| -> Vec<String> {
        let part = |row: &Row<'_>| text::stored(part(row.record)).into_owned();
        rows.iter().map(part).collect()
    };
    let numbers = |part: fn(&Row<'_>) -> i64| -> Vec<i64> { rows.iter().map(part).collect() };
    sql.bind(texts(|record| record.kind.word()))
        .bind(texts(|record| &record.id))
        .bind(numbers(|row| signed(row.version)))
        .bind(texts(|record| &record.status))
        .bind(texts(|record| &record.owner))
        .bind(texts(|record| &record.session))
        .bind(texts(|record| &record.run))
        .bind(texts(|record| &record.link))
        .bind(numbers(|row| row.record.at))
        .bind(
            rows.iter()
                .map(|row| row.record.due_at)
                .collect::<Vec<Option<i64>>>(),
        )
        .bind(texts(|record| &record.body))
        .bind(numbers(|row| signed(row.was)))
}

fn bound(statement: Statement) -> Sql<'static> {
    let mut sql = sqlx::query(AssertSqlSafe(statement.sql));
    for value in statement.values {
        sql = match value {
            Value::Text(value) => sql.bind(text::stored(&value).into_owned()),
            Value::Number(value) => sql.bind(value),
        };
    }
    sql
}

fn record(kind: Kind, row: &PgRow) -> sqlx::Result<Record> {
    let text = |column: usize| row.try_get::<&str, _>(column).map(text::read);
    Ok(Record {
        kind,
        id: text(1)?,
        version: unsigned(row.try_get(2)?)?,
        status: text(3)?,
        owner: text(4)?,
        session: text(5)?,
        run: text(6)?,
        link: text(7)?,
        at: row.try_get(8)?,
        due_at: row.try_get(9)?,
        body: text(10)?,
    })
}

fn entry(row: &PgRow) -> sqlx::Result<Entry> {
    let text = |column: usize| row.try_get::<&str, _>(column).map(text::read);
    Ok(Entry {
        seq: unsigned(row.try_get(0)?)?,
        draft: Draft {
            at: UnixMillis(row.try_get(1)?),
            event: text(2)?,
            owner: text(3)?,
            run: text(4)?,
            session: text(5)?,
            subject: text(6)?,
            body: text(7)?,
        },
        previous: digest(row.try_get(8)?)?,
        hash: digest(row.try_get(9)?)?,
    })
}

fn end(row: &PgRow) -> sqlx::Result<(u64, Digest)> {
    Ok((unsigned(row.try_get(0)?)?, digest(row.try_get(1)?)?))
}

fn digest(bytes: Vec<u8>) -> sqlx::Result<Digest> {
    <[u8; 32]>::try_from(bytes)
        .map(Digest)
        .map_err(|_| sqlx::Error::Decode("a hash has 32 bytes".into()))
}

/// No count of ours comes near the end of `i64`.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> sqlx::Result<u64> {
    u64::try_from(number).map_err(|error| sqlx::Error::Decode(error.into()))
}
