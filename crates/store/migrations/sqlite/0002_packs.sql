-- Calls that nobody was asked about come by the thousand and are hardly ever looked at again. Those
-- that were appended together lie together in one pack, compressed.
CREATE TABLE packs (
  number  INTEGER PRIMARY KEY,
  -- When the oldest of them was made; none was made more than 100 ms later.
  at      INTEGER NOT NULL,
  records BLOB    NOT NULL
) STRICT;
CREATE INDEX packs_by_time ON packs (at, number);

-- In which pack a record lies. One that is changed leaves its pack for the table of records.
CREATE TABLE packed (
  id   TEXT    PRIMARY KEY,
  pack INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Whose records lie in a pack: `owner:…`, `session:…`, `run:…`. An upper limit, since a record may
-- have left.
CREATE TABLE pack_words (
  word TEXT    NOT NULL,
  at   INTEGER NOT NULL,
  pack INTEGER NOT NULL,
  PRIMARY KEY (word, at, pack)
) STRICT, WITHOUT ROWID;

-- The entries that tell of them lie together in the row of the last of them: its columns say
-- nothing but its number, its time and its hash.
ALTER TABLE ledger ADD COLUMN packed BLOB;
