-- Records: a few columns that are searched, and a body only the gate reads.
CREATE TABLE records (
  kind    TEXT    NOT NULL,
  id      TEXT    NOT NULL,
  version INTEGER NOT NULL,
  status  TEXT    NOT NULL,
  owner   TEXT    NOT NULL,
  session TEXT    NOT NULL,
  run     TEXT    NOT NULL,
  link    TEXT    NOT NULL,
  at      INTEGER NOT NULL,
  due_at  INTEGER,
  body    TEXT    NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT;

CREATE INDEX records_by_time    ON records (kind, at, id);
-- The owner at its end, so that those of one key among all that wait are counted without reading
-- them.
CREATE INDEX records_by_status  ON records (kind, status, at, id, owner) WHERE status <> '';
CREATE INDEX records_by_owner   ON records (kind, owner, at, id) WHERE owner <> '';
CREATE INDEX records_by_session ON records (kind, session, at, id) WHERE session <> '';
CREATE INDEX records_by_run     ON records (kind, run, at, id) WHERE run <> '';
CREATE INDEX records_by_link    ON records (kind, link, at, id) WHERE link <> '';
CREATE INDEX records_by_due     ON records (kind, due_at) WHERE due_at IS NOT NULL;

-- The ledger: append-only, each entry bound to the one before it.
CREATE TABLE ledger (
  seq      INTEGER PRIMARY KEY,
  at       INTEGER NOT NULL,
  event    TEXT    NOT NULL,
  owner    TEXT    NOT NULL,
  run      TEXT    NOT NULL,
  session  TEXT    NOT NULL,
  subject  TEXT    NOT NULL,
  body     TEXT    NOT NULL,
  previous BLOB    NOT NULL,
  hash     BLOB    NOT NULL
) STRICT;

-- Not a defence against whoever owns the file, but against a slip of our own.
CREATE TRIGGER ledger_is_never_changed BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_is_never_shortened BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
