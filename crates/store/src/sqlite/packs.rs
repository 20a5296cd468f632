//! Packs: appended calls and the entries that tell of them, many in one row, compressed.
//!
//! A row of its own in the table of records costs eight places in indexes and a page of the disk;
//! a call that nobody was asked about is written once, with many others, and hardly ever read. So
//! calls that are appended together share a row, and three short rows say where to look for them.
//! A record lies in a pack or in the table of records, never in both: who changes a packed record
//! takes it out first.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use countersign_core::digest::Digest;
use countersign_core::ledger::{Draft, Entry};
use countersign_core::time::UnixMillis;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::batch::Row;
use crate::{Kind, Order, Query, Record};

/// What one pack holds, at most.
const PACK_ITEMS_MAX: usize = 64;
/// Bytes of a pack before they are compressed; a single record may have more.
const PACK_BYTES_MAX: usize = 256 << 10;
/// Bytes of a body that is packed. A longer one has a row of its own.
const PACKED_BODY_BYTES_MAX: usize = 64 << 10;
/// Between the oldest and the newest record of a pack, at most, in milliseconds.
const PACK_MILLIS_MAX: i64 = 100;
/// Bytes that a pack may claim to unfold to.
const UNFOLDED_BYTES_MAX: usize = PACK_BYTES_MAX + 2 * PACKED_BODY_BYTES_MAX + (1 << 20);

/// The version of every packed record: it was written once.
pub(super) const VERSION: u64 = 1;

/// Tells whether a record that is written may be packed.
pub(super) fn takes(row: &Row<'_>) -> bool {
    let record = row.record;
    row.is_appended
        && (row.was, row.version) == (0, VERSION)
        && record.kind == Kind::Call
        && record.due_at.is_none()
        && record.link.is_empty()
        && record.body.len() <= PACKED_BODY_BYTES_MAX
}

/// Writes new records, packed.
pub(super) fn write(connection: &Connection, records: &[&Record]) -> rusqlite::Result<()> {
    let mut rest = records;
    while let Some(first) = rest.first() {
        let (mut oldest, mut newest, mut bytes) = (first.at, first.at, 0);
        let fits = |record: &&&Record| {
            (oldest, newest) = (oldest.min(record.at), newest.max(record.at));
            bytes += record.body.len();
            newest.saturating_sub(oldest) <= PACK_MILLIS_MAX && bytes <= PACK_BYTES_MAX
        };
        let length = rest.iter().take(PACK_ITEMS_MAX).take_while(fits).count();
        let (pack, behind) = rest.split_at(length.max(1));
        write_pack(connection, pack)?;
        rest = behind;
    }
    Ok(())
}

fn write_pack(connection: &Connection, records: &[&Record]) -> rusqlite::Result<()> {
    let at = records.iter().map(|record| record.at).min().unwrap_or(0);
    connection
        .prepare_cached("INSERT INTO packs (at, records) VALUES (?1, ?2)")?
        .execute(params![at, folded(records.iter().copied())])?;
    let number = connection.last_insert_rowid();
    let mut place = connection.prepare_cached("INSERT INTO packed (id, pack) VALUES (?1, ?2)")?;
    let mut words = BTreeSet::new();
    for record in records {
        place.execute(params![record.id, number])?;
        words.insert(("owner", record.owner.as_str()));
        words.insert(("session", record.session.as_str()));
        words.insert(("run", record.run.as_str()));
    }
    let sql = "INSERT INTO pack_words (word, at, pack) VALUES (?1, ?2, ?3)";
    let mut statement = connection.prepare_cached(sql)?;
    for (column, value) in words {
        statement.execute(params![word(column, value), at, number])?;
    }
    Ok(())
}

/// Returns the version of a packed record, or 0 if there is none.
pub(super) fn version(connection: &Connection, kind: Kind, id: &str) -> rusqlite::Result<u64> {
    if kind != Kind::Call {
        return Ok(0);
    }
    let is_packed = connection
        .prepare_cached("SELECT 1 FROM packed WHERE id = ?1")?
        .exists([id])?;
    Ok(if is_packed { VERSION } else { 0 })
}

/// Returns a packed record.
pub(super) fn get(
    connection: &Connection,
    kind: Kind,
    id: &str,
) -> rusqlite::Result<Option<Record>> {
    if kind != Kind::Call {
        return Ok(None);
    }
    let sql = "SELECT records FROM packs WHERE number = (SELECT pack FROM packed WHERE id = ?1)";
    let pack: Option<Vec<u8>> = connection
        .prepare_cached(sql)?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let Some(pack) = pack else { return Ok(None) };
    let unfolded = unfolded(&pack)?;
    for item in Items(&unfolded) {
        let item = item?;
        if item.id == id {
            return Ok(Some(item.record()));
        }
    }
    Err(unreadable())
}

/// Takes a record out of its pack; tells whether it was there.
pub(super) fn take_out(connection: &Connection, kind: Kind, id: &str) -> rusqlite::Result<bool> {
    if kind != Kind::Call {
        return Ok(false);
    }
    let pack: Option<i64> = connection
        .prepare_cached("DELETE FROM packed WHERE id = ?1 RETURNING pack")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let Some(number) = pack else { return Ok(false) };
    let pack: Vec<u8> = connection
        .prepare_cached("SELECT records FROM packs WHERE number = ?1")?
        .query_row([number], |row| row.get(0))?;
    let unfolded = unfolded(&pack)?;
    let mut left = Vec::new();
    for item in Items(&unfolded) {
        let item = item?;
        if item.id != id {
            left.push(item.record());
        }
    }
    connection
        .prepare_cached("UPDATE packs SET records = ?2 WHERE number = ?1")?
        .execute(params![number, folded(left.iter())])?;
    Ok(true)
}

/// Adds to `found`, which has the first of the table of records, those of the packs, and keeps the
/// first as many as are asked for.
pub(super) fn find(
    connection: &Connection,
    query: &Query,
    found: &mut Vec<Record>,
) -> rusqlite::Result<()> {
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    each(connection, query, |at, items| {
        if found.len() >= limit {
            first_of(found, query, limit);
            // The packs come in the order asked for, by their oldest record.
            let is_done = found.last().is_none_or(|last| match query.order {
                Order::NewestFirst => at.saturating_add(PACK_MILLIS_MAX) < last.at,
                Order::OldestFirst => at > last.at,
            });
            if is_done {
                return Ok(false);
            }
        }
        for item in items {
            let item = item?;
            if item.fits(query) {
                found.push(item.record());
            }
        }
        Ok(true)
    })?;
    first_of(found, query, limit);
    Ok(())
}

/// Returns how many packed records `query` asks for, whatever its limit.
pub(super) fn count(connection: &Connection, query: &Query) -> rusqlite::Result<u64> {
    let mut count = 0;
    each(connection, query, |_, items| {
        for item in items {
            count += u64::from(item?.fits(query));
        }
        Ok(true)
    })?;
    Ok(count)
}

/// Shows `look` the packs that may hold what `query` asks for, in its order, until it has seen
/// enough.
fn each(
    connection: &Connection,
    query: &Query,
    mut look: impl FnMut(i64, Items<'_>) -> rusqlite::Result<bool>,
) -> rusqlite::Result<()> {
    let has_link = query.link.as_ref().is_some_and(|link| !link.is_empty());
    if query.kind != Kind::Call || query.due_by.is_some() || has_link {
        return Ok(());
    }
    let (mut from, mut to) = (query.since.unwrap_or(i64::MIN), i64::MAX);
    match (&query.behind, query.order) {
        (Some((at, _)), Order::NewestFirst) => to = *at,
        (Some((at, _)), Order::OldestFirst) => from = from.max(*at),
        (None, _) => {}
    }
    let from = from.saturating_sub(PACK_MILLIS_MAX);
    let words = [
        ("run", &query.run),
        ("session", &query.session),
        ("owner", &query.owner),
    ];
    let narrowest = words
        .into_iter()
        .find_map(|(column, value)| Some(word(column, value.as_ref()?)));
    let direction = match query.order {
        Order::OldestFirst => "ASC",
        Order::NewestFirst => "DESC",
    };
    let sql = match narrowest {
        None => format!(
            "SELECT at, records FROM packs WHERE at BETWEEN ?1 AND ?2 AND ?3 IS NULL \
             ORDER BY at {direction}, number {direction}"
        ),
        Some(_) => format!(
            "SELECT pack_words.at, records FROM pack_words CROSS JOIN packs ON number = pack \
             WHERE pack_words.at BETWEEN ?1 AND ?2 AND word = ?3 \
             ORDER BY pack_words.at {direction}, pack {direction}"
        ),
    };
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![from, to, narrowest])?;
    while let Some(row) = rows.next()? {
        let unfolded = unfolded(row.get_ref(1)?.as_blob()?)?;
        if !look(row.get(0)?, Items(&unfolded))? {
            break;
        }
    }
    Ok(())
}

/// Sorts `found` and keeps the first `limit`.
fn first_of(found: &mut Vec<Record>, query: &Query, limit: usize) {
    let place = |a: &Record, b: &Record| -> Ordering { (a.at, &a.id).cmp(&(b.at, &b.id)) };
    match query.order {
        Order::OldestFirst => found.sort_by(place),
        Order::NewestFirst => found.sort_by(|a, b| place(b, a)),
    }
    found.truncate(limit);
}

fn word(column: &str, value: &str) -> String {
    format!("{column}:{value}")
}

/// Returns how many of the first `entries` share a row.
pub(super) fn entries_together(entries: &[&Entry]) -> usize {
    let mut bytes = 0;
    let fits = |entry: &&&Entry| {
        bytes += entry.draft.body.len();
        bytes <= PACK_BYTES_MAX
    };
    entries
        .iter()
        .take(PACK_ITEMS_MAX)
        .take_while(fits)
        .count()
        .max(1)
}

/// Returns entries that follow each other as one row keeps them.
pub(super) fn folded_entries(entries: &[&Entry]) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 << 16);
    for (index, entry) in entries.iter().enumerate() {
        if index == 0 {
            out.extend_from_slice(&entry.seq.to_le_bytes());
            out.extend_from_slice(&entry.previous.0);
        }
        let draft = &entry.draft;
        out.extend_from_slice(&draft.at.0.to_le_bytes());
        let texts = [
            &draft.event,
            &draft.owner,
            &draft.run,
            &draft.session,
            &draft.subject,
            &draft.body,
        ];
        for text in texts {
            put_text(&mut out, text);
        }
        out.extend_from_slice(&entry.hash.0);
    }
    lz4_flex::compress_prepend_size(&out)
}

/// Returns the entries of a row; `None` if they cannot be read, or the last is not what the columns
/// of the row say it is.
pub(super) fn unfolded_entries(pack: &[u8], said: &Entry) -> Option<Vec<Entry>> {
    let unfolded = unfolded(pack).ok()?;
    let mut bytes = Bytes(&unfolded);
    let mut read = || -> Option<Vec<Entry>> {
        let mut seq = u64::from_le_bytes(bytes.take()?);
        let mut previous = Digest(bytes.take()?);
        let mut entries = Vec::new();
        while !bytes.0.is_empty() {
            let draft = Draft {
                at: UnixMillis(i64::from_le_bytes(bytes.take()?)),
                event: bytes.text()?.to_owned(),
                owner: bytes.text()?.to_owned(),
                run: bytes.text()?.to_owned(),
                session: bytes.text()?.to_owned(),
                subject: bytes.text()?.to_owned(),
                body: bytes.text()?.to_owned(),
            };
            let hash = Digest(bytes.take()?);
            entries.push(Entry {
                seq,
                previous,
                hash,
                draft,
            });
            (seq, previous) = (seq.checked_add(1)?, hash);
        }
        Some(entries)
    };
    let place = |entry: &Entry| (entry.seq, entry.draft.at, entry.previous, entry.hash);
    read().filter(|entries| entries.last().map(place) == Some(place(said)))
}

fn folded<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 << 16);
    for record in records {
        out.extend_from_slice(&record.at.to_le_bytes());
        let texts = [
            &record.id,
            &record.status,
            &record.owner,
            &record.session,
            &record.run,
            &record.body,
        ];
        for text in texts {
            put_text(&mut out, text);
        }
    }
    lz4_flex::compress_prepend_size(&out)
}

fn unfolded(pack: &[u8]) -> rusqlite::Result<Vec<u8>> {
    let claimed = Bytes(pack).take().map(u32::from_le_bytes);
    let claimed = claimed.and_then(|it| usize::try_from(it).ok());
    claimed
        .filter(|claimed| *claimed <= UNFOLDED_BYTES_MAX)
        .and_then(|_| lz4_flex::decompress_size_prepended(pack).ok())
        .ok_or_else(unreadable)
}

fn unreadable() -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, "a pack cannot be read".into())
}

/// A length is written in four bytes; what is packed is far shorter.
fn put_text(out: &mut Vec<u8>, text: &str) {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// The records of a pack.
struct Items<'a>(&'a [u8]);

/// A record in a pack.
struct Item<'a> {
    at: i64,
    id: &'a str,
    status: &'a str,
    owner: &'a str,
    session: &'a str,
    run: &'a str,
    body: &'a str,
}

impl<'a> Iterator for Items<'a> {
    type Item = rusqlite::Result<Item<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let mut bytes = Bytes(self.0);
        let mut read = || {
            Some(Item {
                at: i64::from_le_bytes(bytes.take()?),
                id: bytes.text()?,
                status: bytes.text()?,
                owner: bytes.text()?,
                session: bytes.text()?,
                run: bytes.text()?,
                body: bytes.text()?,
            })
        };
        let item = read().ok_or_else(unreadable);
        // What cannot be read has no next.
        self.0 = if item.is_ok() { bytes.0 } else { &[] };
        Some(item)
    }
}

impl Item<'_> {
    fn fits(&self, query: &Query) -> bool {
        let same = |asked: &Option<String>, is: &str| asked.as_deref().is_none_or(|it| it == is);
        let is_behind = query.behind.as_ref().is_none_or(|(at, id)| {
            let place = (self.at, self.id).cmp(&(*at, id.as_str()));
            match query.order {
                Order::OldestFirst => place.is_gt(),
                Order::NewestFirst => place.is_lt(),
            }
        });
        same(&query.status, self.status)
            && same(&query.owner, self.owner)
            && same(&query.session, self.session)
            && same(&query.run, self.run)
            && query.since.is_none_or(|since| self.at >= since)
            && is_behind
    }

    fn record(&self) -> Record {
        Record {
            kind: Kind::Call,
            id: self.id.to_owned(),
            version: VERSION,
            status: self.status.to_owned(),
            owner: self.owner.to_owned(),
            session: self.session.to_owned(),
            run: self.run.to_owned(),
            link: String::new(),
            at: self.at,
            due_at: None,
            body: self.body.to_owned(),
        }
    }
}

/// Bytes that are read from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(u32::from_le_bytes(self.take()?)).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(number: i64) -> Record {
        Record {
            kind: Kind::Call,
            id: format!("call_{number}"),
            version: VERSION,
            status: "allowed".to_owned(),
            owner: "key_a".to_owned(),
            session: format!("s{}", number % 3),
            run: String::new(),
            link: String::new(),
            at: number * 10,
            due_at: None,
            body: format!("{{\"n\":{number}}}"),
        }
    }

    fn opened() -> (tempfile::TempDir, Connection) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("state.db");
        let (_, connection) = super::super::file::Opened::open(&file).unwrap();
        (directory, connection)
    }

    fn number_of_packs(connection: &Connection) -> usize {
        let count = |row: &rusqlite::Row<'_>| row.get(0);
        connection
            .query_row("SELECT count(*) FROM packs", [], count)
            .unwrap()
    }

    #[test]
    fn a_pack_spans_a_moment_and_holds_a_bounded_number() {
        let (_directory, connection) = opened();
        let far: Vec<Record> = (0..30).map(record).collect();
        write(&connection, &far.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(number_of_packs(&connection), 3, "eleven in each");
        let near: Vec<Record> = (100..300)
            .map(|number| Record {
                at: 0,
                ..record(number)
            })
            .collect();
        write(&connection, &near.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(number_of_packs(&connection), 3 + 4);
        for record in far.iter().chain(&near) {
            let kept = get(&connection, Kind::Call, &record.id).unwrap();
            assert_eq!(kept.as_ref(), Some(record));
        }
    }

    #[test]
    fn what_is_found_first_comes_from_packs_that_overlap() {
        let (_directory, connection) = opened();
        let (even, odd): (Vec<i64>, Vec<i64>) = (0..40).partition(|number| number % 2 == 0);
        for numbers in [odd, even] {
            let records: Vec<Record> = numbers.into_iter().map(record).collect();
            write(&connection, &records.iter().collect::<Vec<_>>()).unwrap();
        }
        for (order, expected) in [
            (Order::OldestFirst, (0..7).collect::<Vec<i64>>()),
            (Order::NewestFirst, (33..40).rev().collect()),
        ] {
            let query = Query {
                order,
                limit: 7,
                ..Query::of(Kind::Call)
            };
            let mut found = Vec::new();
            find(&connection, &query, &mut found).unwrap();
            let expected: Vec<Record> = expected.into_iter().map(record).collect();
            assert_eq!(found, expected, "{order:?}");
        }
    }

    #[test]
    fn a_record_leaves_its_pack_once_and_the_others_stay() {
        let (_directory, connection) = opened();
        let records: Vec<Record> = (0..5).map(record).collect();
        write(&connection, &records.iter().collect::<Vec<_>>()).unwrap();
        assert!(take_out(&connection, Kind::Call, "call_2").unwrap());
        assert!(!take_out(&connection, Kind::Call, "call_2").unwrap());
        assert_eq!(version(&connection, Kind::Call, "call_2").unwrap(), 0);
        assert_eq!(count(&connection, &Query::of(Kind::Call)).unwrap(), 4);
    }

    #[test]
    fn a_damaged_pack_is_an_error_and_nothing_worse() {
        let (_directory, connection) = opened();
        let records: Vec<Record> = (0..5).map(record).collect();
        let good = folded(records.iter());
        let entry = Entry::seal(Draft::default(), 1, Digest([0; 32]));
        write(&connection, &records.iter().collect::<Vec<_>>()).unwrap();
        let damages: [(&str, Vec<u8>); 4] = [
            ("nothing", Vec::new()),
            ("cut", good.iter().take(good.len() / 2).copied().collect()),
            ("claims too much", [0xff; 40].to_vec()),
            ("says nothing", lz4_flex::compress_prepend_size(b"garbage")),
        ];
        for (name, damaged) in damages {
            connection
                .execute("UPDATE packs SET records = ?1", [&damaged])
                .unwrap();
            let got = get(&connection, Kind::Call, "call_1");
            assert!(got.is_err(), "{name}: {got:?}");
            let counted = count(&connection, &Query::of(Kind::Call));
            assert!(counted.is_err(), "{name}: {counted:?}");
            assert!(unfolded_entries(&damaged, &entry).is_none(), "{name}");
        }
    }
}
