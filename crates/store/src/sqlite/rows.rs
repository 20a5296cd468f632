//! Reads and writes single rows.

use countersign_core::digest::Digest;
use countersign_core::ledger::{Draft, Entry, GENESIS};
use countersign_core::time::UnixMillis;
use rusqlite::types::{ToSql, ToSqlOutput};
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::packs;
use crate::batch::Row;
use crate::query::{COLUMNS, ENTRY_COLUMNS, Value};
use crate::{Kind, Query, Record};

pub(super) fn get(
    connection: &Connection,
    kind: Kind,
    id: &str,
) -> rusqlite::Result<Option<Record>> {
    let sql = format!("SELECT {COLUMNS} FROM records WHERE kind = ?1 AND id = ?2");
    connection
        .prepare_cached(&sql)?
        .query_row(params![kind.word(), id], |row| record(kind, row))
        .optional()?
        .map_or_else(
            || packs::get(connection, kind, id),
            |record| Ok(Some(record)),
        )
}

pub(super) fn find(connection: &Connection, query: &Query) -> rusqlite::Result<Vec<Record>> {
    let statement = query.reading();
    let mut found = connection
        .prepare_cached(&statement.sql)?
        .query_map(params_from_iter(&statement.values), |row| {
            record(query.kind, row)
        })?
        .collect::<rusqlite::Result<_>>()?;
    packs::find(connection, query, &mut found)?;
    Ok(found)
}

pub(super) fn count(connection: &Connection, query: &Query) -> rusqlite::Result<u64> {
    let statement = query.counting();
    let count: u64 = connection
        .prepare_cached(&statement.sql)?
        .query_row(params_from_iter(&statement.values), |row| row.get(0))?;
    Ok(count + packs::count(connection, query)?)
}

pub(super) fn entries(
    connection: &Connection,
    after: u64,
    limit: u32,
) -> rusqlite::Result<Vec<Entry>> {
    let (seen, after) = (after, i64::try_from(after).unwrap_or(i64::MAX));
    let from = format!("SELECT {ENTRY_COLUMNS}, packed FROM ledger WHERE seq > ?1 ORDER BY seq");
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut entries = Vec::new();
    let mut statement = connection.prepare_cached(&from)?;
    let mut rows = statement.query([after])?;
    while entries.len() < most {
        let Some(row) = rows.next()? else { break };
        let said = entry(row)?;
        let pack = row.get_ref(10)?.as_blob_or_null()?;
        match pack.and_then(|pack| packs::unfolded_entries(pack, &said)) {
            // Who verifies the chain finds that what was packed is missing, and where.
            None => entries.push(said),
            Some(several) => entries.extend(several.into_iter().filter(|it| it.seq > seen)),
        }
    }
    entries.truncate(most);
    Ok(entries)
}

pub(super) fn last(connection: &Connection) -> rusqlite::Result<(u64, Digest)> {
    connection
        .prepare_cached("SELECT seq, hash FROM ledger ORDER BY seq DESC LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, Digest(row.get(1)?))))
        .optional()
        .map(|last| last.unwrap_or((0, GENESIS)))
}

/// Returns the version of a record, or 0 if there is none.
pub(super) fn version(connection: &Connection, kind: Kind, id: &str) -> rusqlite::Result<u64> {
    connection
        .prepare_cached("SELECT version FROM records WHERE kind = ?1 AND id = ?2")?
        .query_row(params![kind.word(), id], |row| row.get(0))
        .optional()?
        .map_or_else(|| packs::version(connection, kind, id), Ok)
}

/// Writes a record in the place of the version that was there; tells whether it still was.
pub(super) fn write(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<bool> {
    // What was packed leaves its pack.
    let is_new = row.was == 0
        || row.was == packs::VERSION
            && packs::take_out(connection, row.record.kind, &row.record.id)?;
    let sql = if is_new {
        "INSERT INTO records (kind, id, version, status, owner, session, run, link, at, due_at, \
         body) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 WHERE ?12 <= 1"
    } else {
        "UPDATE records SET version = ?3, status = ?4, owner = ?5, session = ?6, run = ?7, \
         link = ?8, at = ?9, due_at = ?10, body = ?11 \
         WHERE kind = ?1 AND id = ?2 AND version = ?12"
    };
    let record = row.record;
    let written = connection.prepare_cached(sql)?.execute(params![
        record.kind.word(),
        record.id,
        row.version,
        record.status,
        record.owner,
        record.session,
        record.run,
        record.link,
        record.at,
        record.due_at,
        record.body,
        row.was,
    ])?;
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

/// Writes entries behind the last, several in a row.
pub(super) fn write_packed_entries(
    connection: &Connection,
    entries: &[&Entry],
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO ledger (seq, at, event, owner, run, session, subject, body, previous, \
         hash, packed) VALUES (?1, ?2, '', '', '', '', '', '', ?3, ?4, ?5)";
    let mut rest = entries;
    while !rest.is_empty() {
        let (together, behind) = rest.split_at(packs::entries_together(rest));
        rest = behind;
        match together {
            [] => {}
            [entry] => write_entry(connection, entry)?,
            [.., last] => {
                connection.prepare_cached(sql)?.execute(params![
                    last.seq,
                    last.draft.at.0,
                    last.previous.0,
                    last.hash.0,
                    packs::folded_entries(together),
                ])?;
            }
        }
    }
    Ok(())
}

fn record(kind: Kind, row: &rusqlite::Row<'_>) -> rusqlite::Result<Record> {
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

fn entry(row: &rusqlite::Row<'_>) -> rusqlite::Result<Entry> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Order};

    fn plan(connection: &Connection, query: &Query) -> String {
        let statement = query.reading();
        let sql = format!("EXPLAIN QUERY PLAN {}", statement.sql);
        let steps: Vec<String> = connection
            .prepare(&sql)
            .unwrap()
            .query_map(params_from_iter(&statement.values), |row| row.get(3))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        steps.join("; ")
    }

    #[test]
    fn every_query_reads_by_the_narrowest_index_and_not_the_whole_kind() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("state.db");
        let (_, connection) = super::super::file::Opened::open(&file).unwrap();
        let text = || Some("x".to_owned());
        let all = || Query::of(Kind::Approval);
        #[rustfmt::skip]
        let rows = [
            ("all", all(), "time (kind=?)"),
            ("since", Query { since: Some(1), ..all() }, "time (kind=? AND at>?)"),
            ("a page", Query { behind: Some((1, "x".to_owned())), ..all() }, "time (kind=? AND at>?)"),
            ("status", Query { status: text(), ..all() }, "status (kind=? AND status=?)"),
            ("owner", Query { owner: text(), ..all() }, "owner (kind=? AND owner=?)"),
            ("session", Query { session: text(), ..all() }, "session (kind=? AND session=?)"),
            ("run", Query { run: text(), ..all() }, "run (kind=? AND run=?)"),
            ("link", Query { link: text(), ..all() }, "link (kind=? AND link=?)"),
            ("due", Query { due_by: Some(1), ..all() }, "due (kind=? AND due_at<?)"),
            ("due of a status", Query { due_by: Some(1), status: text(), ..all() }, "due (kind=? AND due_at<?)"),
            ("status of an owner", Query { status: text(), owner: text(), ..all() }, "status (kind=? AND status=?)"),
            ("session of an owner", Query { session: text(), owner: text(), status: text(), ..all() }, "session (kind=? AND session=?)"),
            ("a page of an owner", Query { owner: text(), behind: Some((1, "x".to_owned())), ..all() }, "owner (kind=? AND owner=? AND at>?)"),
            ("everything", Query { link: text(), run: text(), session: text(), owner: text(), status: text(), ..all() }, "link (kind=? AND link=?)"),
        ];
        for (name, query, index) in rows {
            let expected = format!("SEARCH records USING INDEX records_by_{index}");
            let found = plan(&connection, &query);
            assert!(found.starts_with(&expected), "{name}: {found}");
            assert_eq!(
                found.contains("TEMP B-TREE"),
                query.due_by.is_some(),
                "{name}: {found}"
            );
            let query = Query {
                order: Order::NewestFirst,
                ..query
            };
            // A page goes on in the other direction.
            let found = plan(&connection, &query).replace(" at<?", " at>?");
            assert!(
                found.starts_with(&expected),
                "{name}, newest first: {found}"
            );
        }
    }
}
