//! Reads and writes single rows.

use countersign_core::digest::Digest;
use countersign_core::ledger::{Draft, Entry, GENESIS};
use countersign_core::time::UnixMillis;
use rusqlite::types::{ToSql, ToSqlOutput};
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};

use crate::query::{COLUMNS, ENTRY_COLUMNS, Value};
use crate::{Expect, Kind, Put, Query, Record};

pub(super) fn get(
    connection: &Connection,
    kind: Kind,
    id: &str,
) -> rusqlite::Result<Option<Record>> {
    let sql = format!("SELECT {COLUMNS} FROM records WHERE kind = ?1 AND id = ?2");
    connection
        .prepare_cached(&sql)?
        .query_row(params![kind.word(), id], |row| record(kind, row))
        .optional()
}

pub(super) fn find(connection: &Connection, query: &Query) -> rusqlite::Result<Vec<Record>> {
    let statement = query.reading();
    connection
        .prepare_cached(&statement.sql)?
        .query_map(params_from_iter(&statement.values), |row| {
            record(query.kind, row)
        })?
        .collect()
}

pub(super) fn count(connection: &Connection, query: &Query) -> rusqlite::Result<u64> {
    let statement = query.counting();
    connection
        .prepare_cached(&statement.sql)?
        .query_row(params_from_iter(&statement.values), |row| row.get(0))
}

pub(super) fn entries(
    connection: &Connection,
    after: u64,
    limit: u32,
) -> rusqlite::Result<Vec<Entry>> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let sql = format!("SELECT {ENTRY_COLUMNS} FROM ledger WHERE seq > ?1 ORDER BY seq LIMIT ?2");
    connection
        .prepare_cached(&sql)?
        .query_map(params![after, limit], entry)?
        .collect()
}

pub(super) fn last(connection: &Connection) -> rusqlite::Result<(u64, Digest)> {
    connection
        .prepare_cached("SELECT seq, hash FROM ledger ORDER BY seq DESC LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, Digest(row.get(1)?))))
        .optional()
        .map(|last| last.unwrap_or((0, GENESIS)))
}

/// Writes a record if what it expects is there; tells whether it was.
pub(super) fn write(connection: &Connection, put: &Put) -> rusqlite::Result<bool> {
    const INSERT: &str = "INSERT INTO records (kind, id, version, status, owner, session, run, \
         link, at, due_at, body) VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let sql = match put.expect {
        Expect::Absent => &format!("{INSERT} ON CONFLICT DO NOTHING"),
        Expect::Anything => &format!(
            "{INSERT} ON CONFLICT (kind, id) DO UPDATE SET version = version + 1, \
             status = ?3, owner = ?4, session = ?5, run = ?6, link = ?7, at = ?8, due_at = ?9, \
             body = ?10"
        ),
        Expect::Version(_) => {
            "UPDATE records SET version = version + 1, \
             status = ?3, owner = ?4, session = ?5, run = ?6, link = ?7, at = ?8, due_at = ?9, \
             body = ?10 WHERE kind = ?1 AND id = ?2 AND version = ?11"
        }
    };
    let record = &put.record;
    let kind = record.kind.word();
    let columns: [&dyn ToSql; 10] = [
        &kind,
        &record.id,
        &record.status,
        &record.owner,
        &record.session,
        &record.run,
        &record.link,
        &record.at,
        &record.due_at,
        &record.body,
    ];
    let mut statement = connection.prepare_cached(sql)?;
    let written = match put.expect {
        Expect::Version(version) => {
            let version = i64::try_from(version).unwrap_or(i64::MAX);
            let columns = columns.into_iter().chain([&version as &dyn ToSql]);
            statement.execute(params_from_iter(columns))?
        }
        Expect::Absent | Expect::Anything => statement.execute(columns)?,
    };
    Ok(written == 1)
}

/// Writes an entry behind the last.
pub(super) fn write_entry(connection: &Connection, entry: &Entry) -> rusqlite::Result<()> {
    let sql = format!(
        "INSERT INTO ledger ({ENTRY_COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
    );
    let draft = &entry.draft;
    connection.prepare_cached(&sql)?.execute(params![
        entry.seq,
        draft.at.0,
        draft.event,
        draft.owner,
        draft.run,
        draft.session,
        draft.subject,
        draft.body,
        entry.previous.0,
        entry.hash.0,
    ])?;
    Ok(())
}

fn record(kind: Kind, row: &Row<'_>) -> rusqlite::Result<Record> {
    Ok(Record {
        kind,
        id: row.get(1)?,
        version: row.get(2)?,
        status: row.get(3)?,
        owner: row.get(4)?,
        session: row.get(5)?,
        run: row.get(6)?,
        link: row.get(7)?,
        at: row.get(8)?,
        due_at: row.get(9)?,
        body: row.get(10)?,
    })
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        seq: row.get(0)?,
        draft: Draft {
            at: UnixMillis(row.get(1)?),
            event: row.get(2)?,
            owner: row.get(3)?,
            run: row.get(4)?,
            session: row.get(5)?,
            subject: row.get(6)?,
            body: row.get(7)?,
        },
        previous: Digest(row.get(8)?),
        hash: Digest(row.get(9)?),
    })
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Text(text) => text.to_sql(),
            Self::Number(number) => number.to_sql(),
        }
    }
}
