-- Counters of the whole database: `epoch` of the newest start, `floor` of the log.
CREATE TABLE fact(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO fact VALUES('epoch', 0), ('floor', 0);
-- A source's number is permanent: events of a deleted source can still be found by its id.
CREATE TABLE source_key(key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT;
-- codec: 0 is the plain body.
CREATE TABLE log(
    seq INTEGER PRIMARY KEY, source INTEGER NOT NULL, kind INTEGER NOT NULL,
    codec INTEGER NOT NULL, body BLOB NOT NULL
) STRICT;
CREATE INDEX log_source ON log(source);
CREATE TABLE source(
    key INTEGER PRIMARY KEY REFERENCES source_key(key), url TEXT NOT NULL UNIQUE, body BLOB NOT NULL
) STRICT;
-- Two tables, because hot is 450 bytes and changes at every check, base up to 12 KB and with the content.
CREATE TABLE source_hot(
    key INTEGER PRIMARY KEY REFERENCES source(key) ON DELETE CASCADE, body BLOB NOT NULL
) STRICT;
CREATE TABLE source_base(
    key INTEGER PRIMARY KEY REFERENCES source(key) ON DELETE CASCADE, body BLOB NOT NULL
) STRICT;
CREATE TABLE api_key(
    id TEXT PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL,
    last_used_at INTEGER, body BLOB NOT NULL
) STRICT;
CREATE TABLE signing_key(
    key_id TEXT PRIMARY KEY, seed BLOB NOT NULL, created_at INTEGER NOT NULL, state TEXT NOT NULL
) STRICT;
CREATE TABLE alert(id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE TABLE destination(
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    alert TEXT NOT NULL REFERENCES alert(id) ON DELETE CASCADE, created_at INTEGER NOT NULL, body BLOB NOT NULL
) STRICT;
CREATE INDEX destination_alert ON destination(alert);
CREATE TABLE cursor(name TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
-- event: the event's id, known once the row was claimed.
CREATE TABLE outbox(
    destination INTEGER NOT NULL REFERENCES destination(key) ON DELETE CASCADE, seq INTEGER NOT NULL,
    claimed INTEGER NOT NULL, due INTEGER NOT NULL, first_due INTEGER NOT NULL, attempts INTEGER NOT NULL,
    event TEXT, PRIMARY KEY(destination, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_due ON outbox(destination, claimed, due);
-- number: counts a destination's attempts; the newest 1,000 are kept.
CREATE TABLE attempt(
    destination INTEGER NOT NULL REFERENCES destination(key) ON DELETE CASCADE, number INTEGER NOT NULL,
    body BLOB NOT NULL, PRIMARY KEY(destination, number)
) STRICT, WITHOUT ROWID;
