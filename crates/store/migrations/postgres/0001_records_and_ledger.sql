-- Records: a few columns that are searched, and a body only the gate reads. Texts are compared byte
-- by byte, as SQLite does.
CREATE TABLE records (
  kind    TEXT   COLLATE "C" NOT NULL,
  id      TEXT   COLLATE "C" NOT NULL,
  version BIGINT NOT NULL,
  status  TEXT   COLLATE "C" NOT NULL,
  owner   TEXT   COLLATE "C" NOT NULL,
  session TEXT   COLLATE "C" NOT NULL,
  run     TEXT   COLLATE "C" NOT NULL,
  link    TEXT   COLLATE "C" NOT NULL,
  at      BIGINT NOT NULL,
  due_at  BIGINT,
  body    TEXT   COLLATE "C" NOT NULL,
  PRIMARY KEY (kind, id)
);

CREATE INDEX records_by_time    ON records (kind, at, id);
-- With the owner, so that those of one key among all that wait are counted without reading them.
CREATE INDEX records_by_status  ON records (kind, status, at, id) INCLUDE (owner) WHERE status <> '';
CREATE INDEX records_by_owner   ON records (kind, owner, at, id) WHERE owner <> '';
CREATE INDEX records_by_session ON records (kind, session, at, id) WHERE session <> '';
CREATE INDEX records_by_run     ON records (kind, run, at, id) WHERE run <> '';
CREATE INDEX records_by_link    ON records (kind, link, at, id) WHERE link <> '';
CREATE INDEX records_by_due     ON records (kind, due_at) WHERE due_at IS NOT NULL;

-- The ledger: append-only, each entry bound to the one before it.
CREATE TABLE ledger (
  seq      BIGINT PRIMARY KEY,
  at       BIGINT NOT NULL,
  event    TEXT   COLLATE "C" NOT NULL,
  owner    TEXT   COLLATE "C" NOT NULL,
  run      TEXT   COLLATE "C" NOT NULL,
  session  TEXT   COLLATE "C" NOT NULL,
  subject  TEXT   COLLATE "C" NOT NULL,
  body     TEXT   COLLATE "C" NOT NULL,
  previous BYTEA  NOT NULL,
  hash     BYTEA  NOT NULL
);

-- Not a defence against whoever owns the database, but against a slip of our own.
CREATE FUNCTION ledger_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$;
CREATE TRIGGER ledger_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger
  FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();

-- The end of the ledger. Whoever writes anything locks this row first, so batches of several
-- replicas follow each other, and entries become visible in the order of their numbers.
CREATE TABLE ledger_head (
  single BOOLEAN PRIMARY KEY DEFAULT true CHECK (single),
  seq  BIGINT NOT NULL,
  hash BYTEA  NOT NULL
);
INSERT INTO ledger_head (seq, hash) VALUES (0, decode(repeat('00', 32), 'hex'));

-- The last batch of each replica: who lost the connection while committing looks here whether it
-- was committed.
CREATE TABLE writers (
  id    TEXT   PRIMARY KEY,
  batch BIGINT NOT NULL,
  at    TIMESTAMPTZ NOT NULL
);
